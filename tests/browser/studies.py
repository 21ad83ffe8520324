"""What is measured for these tests: the demo study, or less of it."""

from __future__ import annotations

from orchestrator.design.study import preset_text

_LESS = {
    "name: demo": "name: small demo",
    "file_size_kb: [64, 1024]": "file_size_kb: [64]",
    "record_size_kb: [16, 64]": "record_size_kb: [16]",
    "threads: [1, 2, 4]": "threads: [1, 2]",
    "replicates: 150": "replicates: 60",
}


def small() -> str:
    """Two settings of the demo, beside its control, which is known to be bimodal."""
    study = preset_text("demo")
    for whole, part in _LESS.items():
        assert whole in study, whole
        study = study.replace(whole, part)
    return study
