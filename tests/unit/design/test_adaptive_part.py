"""A study may leave the number of replicates to its fits."""

from __future__ import annotations

import pytest

from orchestrator.contracts.errors import StudyError
from orchestrator.contracts.rounds import Growth
from orchestrator.design import study
from orchestrator.design.study import Study
from orchestrator.design.submission import rerun, submission

TEXT = """
name: mine
design:
  blocks:
    - levels: {threads: [1, 2], file_size_kb: [64], record_size_kb: [16]}
engine: builtin
adaptive: {pilot: 30, target: 0.1, quantiles: 0.5}
order: {kind: randomised, seed: 5}
"""


def test_an_adaptive_study_begins_with_its_pilot() -> None:
    found = submission(study.load(TEXT, where="mine.yaml"))
    assert (found.replicates, len(found.jobs)) == (30, 2 * 5)
    options = {"pilot": 30, "target": 0.1, "scale": "range", "quantiles": [0.5], "quantile_from": "sample", "max": 900}
    assert found.growth == Growth(policy="adaptive", options=options, replicates_per_job=6, randomised=True, seed=5)


def test_it_is_written_out_and_read_again() -> None:
    found = study.load(TEXT, where="mine.yaml")
    assert Study.from_dict(found.as_dict()).as_dict() == found.as_dict()
    plain = study.load(TEXT.replace("adaptive: {pilot: 30, target: 0.1, quantiles: 0.5}", "replicates: 30"), where="")
    assert "adaptive" not in plain.as_dict(), "the digests of other studies stay as they were"


def test_a_rerun_is_as_large_as_it_was_said_to_be() -> None:
    parent = submission(study.load(TEXT, where="mine.yaml"))
    child = rerun(parent, parent.design, [0], seed=1, replicates=200)
    assert (child.replicates, child.growth) == (200, None)


@pytest.mark.parametrize(
    ("changed", "to", "message"),
    [
        ("pilot: 30", "pilot: 20", "adaptive.pilot: 20: should be greater than or equal to 30"),
        ("pilot: 30", "pilot: 30, max: 30.5", "adaptive.max: 30.5: should be a valid integer"),
        ("pilot: 30", "pilot: 40, max: 39", "adaptive: max: 39 is less than the pilot of 40"),
        ("quantiles: 0.5", "quantiles: [0.5, 0.5]", "adaptive: quantiles: one is named twice"),
        ("quantiles: 0.5", "quantiles: 1", "adaptive.quantiles[0]: 1: should be less than 1"),
        ("target: 0.1", "targets: 0.1", "did you mean 'target'"),
        ("engine: builtin", "engine: builtin\nreplicates: 150", "replicates: an adaptive study begins with its pilot"),
    ],
)
def test_what_makes_no_sense_is_one_line_that_says_where(changed: str, to: str, message: str) -> None:
    with pytest.raises(StudyError) as raised:
        study.load(TEXT.replace(changed, to), where="mine.yaml")
    assert message in str(raised.value)
