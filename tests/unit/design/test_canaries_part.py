"""Canaries: settings that every node measures at intervals."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.errors import StudyError
from orchestrator.design import study
from orchestrator.design.submission import rerun, submission

TEXT = """
name: mine
design:
  blocks:
    - levels: {threads: [1, 2, 4], file_size_kb: [64, 128], record_size_kb: [16]}
engine: builtin
replicates: 20
placement: balanced
canaries: {settings: [{threads: 2, file_size_kb: 64, record_size_kb: 16}], times: 5, runs: 3}
"""
NODES = ("n1", "n2", "n3")


def planned(text: str = TEXT) -> Submission:
    return submission(study.load(text, where="mine.yaml"), nodes=NODES)


def test_a_canary_has_a_schedule_of_its_own() -> None:
    found = planned()
    (canary,) = [one for one in found.design.settings if one.replicates is not None]
    assert canary.replicates == 5 * 3 * len(NODES)
    jobs = [job for job in found.jobs if job.setting == canary.ordinal]
    assert [job.replicates for job in jobs] == [3] * 5 * len(NODES)
    assert sorted(job.first_replicate for job in jobs) == list(range(0, 45, 3))
    assert [job.position for job in found.jobs] == list(range(len(found.jobs)))


def test_its_jobs_come_at_intervals_one_for_each_node() -> None:
    found = planned()
    (canary,) = [one.ordinal for one in found.design.settings if one.replicates is not None]
    places = [job.position for job in found.jobs if job.setting == canary]
    begins = places[:: len(NODES)]
    assert places == [begin + offset for begin in begins for offset in range(len(NODES))]
    assert [later - earlier for earlier, later in pairwise(begins)] == [8] * 4


def test_pinned_studies_name_each_node() -> None:
    found = planned(TEXT.replace("balanced", "{kind: pinned, nodes: [a, b]}"))
    (canary,) = [one.ordinal for one in found.design.settings if one.replicates is not None]
    assert Counter(job.node for job in found.jobs if job.setting == canary) == {"a": 5, "b": 5}


def test_a_rerun_has_none() -> None:
    parent = planned()
    assert "canaries" not in rerun(parent, parent.design, [0], seed=1, nodes=NODES).study


@pytest.mark.parametrize(
    ("changed", "to", "message"),
    [
        ("placement: balanced", "placement: any", "canaries: with `any` a node may never measure them"),
        ("{threads: 2, file_size_kb: 64, record_size_kb: 16}", "{threads: 2}", "has to have a level of each factor"),
        ("threads: 2,", "threads: 3,", "canaries.settings: the design has no setting {threads: 3, file_size_kb: 64"),
        ("times: 5", "times: 4", "canaries.times: 4: should be greater than or equal to 5"),
    ],
)
def test_what_makes_no_sense_is_one_line_that_says_where(changed: str, to: str, message: str) -> None:
    with pytest.raises(StudyError) as raised:
        planned(TEXT.replace(changed, to))
    assert message in str(raised.value)


def test_without_any_node_nobody_can_be_planned_for() -> None:
    with pytest.raises(StudyError, match="no node is known yet"):
        submission(study.load(TEXT, where="mine.yaml"))
