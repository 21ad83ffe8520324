"""A study in lockstep: every replicate is a round, of a job for each node."""

from __future__ import annotations

import pytest

from orchestrator.contracts.errors import StudyError
from orchestrator.design import study
from orchestrator.design.check import summarise
from orchestrator.design.submission import rerun, submission

TEXT = """
name: in step
design:
  blocks:
    - {levels: {threads: [1, 2], file_size_kb: [64], record_size_kb: [16]}, modes: [readers]}
replicates: 10
placement: PLACEMENT
engine: builtin
"""
NODES = ("n1", "n2", "n3")


def in_lockstep(placement: str = "{kind: lockstep, nodes: [n1, n2, n3]}") -> study.Study:
    return study.load(TEXT.replace("PLACEMENT", placement), where="mine.yaml")


def test_a_round_has_a_job_of_one_run_for_each_node() -> None:
    planned = submission(in_lockstep())
    assert (planned.placement, planned.replicates, len(planned.jobs)) == ("lockstep", 30, 60)
    for number in range(20):
        members = [job for job in planned.jobs if job.round == number]
        assert [job.node for job in members] == list(NODES)
        assert len({(job.setting, job.block) for job in members}) == 1
        assert [job.position for job in members] == [3 * number + place for place in range(3)]


def test_every_replicate_of_the_ledger_is_planned_once() -> None:
    planned = submission(in_lockstep())
    for setting in (0, 1):
        jobs = [job for job in planned.jobs if job.setting == setting]
        assert sorted(job.first_replicate for job in jobs) == list(range(30))
        assert {job.replicates for job in jobs} == {1}


def test_a_study_that_names_no_nodes_takes_those_it_is_submitted_to() -> None:
    assert {job.node for job in submission(in_lockstep("lockstep"), nodes=["a", "b"]).jobs} == {"a", "b"}
    with pytest.raises(StudyError, match="lockstep takes at least two nodes; start more agents"):
        submission(in_lockstep("lockstep"), nodes=["a"])


@pytest.mark.parametrize(
    ("placement", "what"),
    [
        ("{kind: lockstep, nodes: [n1]}", "at least two nodes, each named once"),
        ("{kind: lockstep, nodes: [n1, n1]}", "at least two nodes, each named once"),
        ("{kind: balanced, nodes: [n1, n2]}", "name nodes, not balanced"),
        ("{kind: balanced, wait_s: 5}", "only `kind: lockstep` waits, not balanced"),
        ("lockstep\nreplicates_per_job: 2", "in lockstep every run begins with the others: it is 1"),
        ("lockstep\nactive: {first: 0.5}", "lockstep measures as planned"),
    ],
)
def test_what_does_not_go_with_it_is_said(placement: str, what: str) -> None:
    with pytest.raises(StudyError, match=what):
        in_lockstep(placement)


def test_it_is_counted_for_all_of_its_nodes() -> None:
    told = summarise(in_lockstep())
    assert (told.nodes, told.invocations, told.jobs) == (3, 60, 60)
    assert told.seconds_per_node == pytest.approx(summarise(in_lockstep("any")).seconds_per_node)
    assert any("idles in each round" in note for note in told.notes)


def test_a_rerun_compares_runs_and_not_nodes() -> None:
    parent = submission(in_lockstep())
    child = rerun(parent, parent.design, [0], seed=1)
    assert (child.placement, child.replicates) == ("balanced", 30)


def test_by_rate_says_that_it_changes_the_experiment() -> None:
    planned = in_lockstep("by_rate")
    assert submission(planned).placement == "by_rate"
    assert any("their runs weigh more in every sample" in note for note in summarise(planned).notes)


def test_studies_that_say_nothing_of_waiting_keep_their_digest() -> None:
    assert "wait_s" not in in_lockstep("balanced").as_dict()["placement"]
    waiting = in_lockstep("{kind: lockstep, nodes: [n1, n2], wait_s: 5}").as_dict()
    assert waiting["placement"]["wait_s"] == 5.0
    assert study.Study.from_dict(waiting).as_dict() == waiting
