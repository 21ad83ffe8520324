"""What is measured for these tests: the demo study, or less of it."""

from __future__ import annotations

from orchestrator.design.study import preset_text

_FEWER_RUNS = {"replicates: 150": "replicates: 50", "replicates_per_job: 15": "replicates_per_job: 10"}
_FEWER_SETTINGS = {
    "name: demo": "name: small demo",
    "file_size_kb: [64, 1024]": "file_size_kb: [64]",
    "record_size_kb: [16, 64]": "record_size_kb: [16]",
    "threads: [1, 2, 4]": "threads: [1, 2]",
}


def demo() -> str:
    """All settings of the demo study, for somebody in a hurry."""
    return _edited(_FEWER_RUNS)


def small() -> str:
    """Two settings of the demo, beside its control, which is known to be bimodal."""
    return _edited(_FEWER_RUNS | _FEWER_SETTINGS)


def _edited(changes: dict[str, str]) -> str:
    study = preset_text("demo")
    for old, new in changes.items():
        assert old in study, old
        study = study.replace(old, new)
    return study
