"""A submission holds all that makes a campaign; a re-run is a study of its own."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.errors import StudyError
from orchestrator.design import study
from orchestrator.design.expand import expand
from orchestrator.design.study import Study
from orchestrator.design.submission import rerun, submission


@pytest.fixture
def parent() -> Submission:
    return submission(study.preset("demo"), idempotency_key="key")


def test_a_submission_is_complete_and_json_able(parent: Submission) -> None:
    assert (parent.name, parent.engine, parent.placement, parent.replicates) == ("demo", "builtin", "any", 150)
    assert parent.idempotency_key == "key"
    assert parent.engine_options == {"stonewall": True, "target": "default", "timeout_s": 600.0}
    assert parent.analysis_options["max_components"] == 5
    assert parent.controls["bimodal"]["recording"] is None
    assert len(parent.jobs) == 13 * 10
    json.dumps(parent.study, allow_nan=False)


def test_a_rerun_has_the_chosen_settings_in_a_fresh_order(parent: Submission) -> None:
    chosen = [1, 4, 7, 12]
    child = rerun(parent, parent.design, chosen, seed=5, replicates=300, parent_id=8)
    assert [(setting.levels, setting.modes, setting.control) for setting in child.design.settings] == [
        (setting.levels, setting.modes, setting.control)
        for setting in parent.design.settings
        if setting.ordinal in chosen
    ]
    assert [setting.ordinal for setting in child.design.settings] == [0, 1, 2, 3]
    assert (child.replicates, child.parent_id, child.study["rerun_of"]) == (300, 8, "demo")
    assert child.name == "demo (re-run)"
    assert child.digest != parent.digest
    again = rerun(parent, parent.design, chosen, seed=6, replicates=300)
    assert [job.setting for job in again.jobs] != [job.setting for job in child.jobs]


def test_a_rerun_is_a_study_that_can_be_submitted_again(parent: Submission) -> None:
    child = rerun(parent, parent.design, [0, 12], seed=5)
    assert expand(Study.from_dict(child.study)) == child.design
    grandchild = rerun(replace(child, jobs=()), child.design, [0], seed=6)
    assert grandchild.design.settings[0].levels == parent.design.settings[0].levels
    assert grandchild.controls == {}


def test_a_control_may_be_run_again_alone_and_draws_anew(parent: Submission) -> None:
    child = rerun(parent, parent.design, [12], seed=5)
    assert [setting.control for setting in child.design.settings] == ["bimodal"]
    assert child.controls["bimodal"]["mixture"] == parent.controls["bimodal"]["mixture"]
    assert child.controls["bimodal"]["seed"] != parent.controls["bimodal"]["seed"]


@pytest.mark.parametrize("ordinals", [[], [99], [0, 99]])
def test_settings_the_parent_does_not_have_cannot_be_run_again(parent: Submission, ordinals: list[int]) -> None:
    with pytest.raises(StudyError, match="cannot re-run settings"):
        rerun(parent, parent.design, ordinals, seed=5)
