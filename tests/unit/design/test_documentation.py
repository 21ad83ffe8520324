"""The study in docs/study-files.md is a study."""

from __future__ import annotations

from pathlib import Path

from orchestrator.design import study
from orchestrator.design.expand import expand
from orchestrator.design.study import Study

PAGE = Path(__file__).parents[3] / "docs/study-files.md"


def test_the_documented_study_can_be_submitted_and_names_every_key() -> None:
    text = PAGE.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    found = study.load(text, where=PAGE.name)
    assert len(expand(found).settings) == 19
    assert {f"{key}:" for key in Study.model_fields if key != "rerun_of"} <= set(text.split())
