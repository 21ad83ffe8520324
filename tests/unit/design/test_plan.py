"""Jobs come in complete blocks: every setting once in each, shuffled by the seed."""

from __future__ import annotations

import time
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.errors import StudyError
from orchestrator.design import study
from orchestrator.design.expand import expand
from orchestrator.design.plan import Schedule, plan
from orchestrator.design.sections import Order, Placement


def schedule(replicates: int, per_job: int, order: Order | None = None, placement: Placement | None = None) -> Schedule:
    return SimpleNamespace(
        replicates=replicates,
        replicates_per_job=per_job,
        order=order or Order(),
        placement=placement or Placement(),
    )


def design_of(settings: int) -> Design:
    return Design(
        factors=("a",),
        settings=tuple(Setting(ordinal=ordinal, levels=(ordinal,), modes=("m",)) for ordinal in range(settings)),
    )


@given(st.integers(1, 12), st.integers(1, 40), st.integers(1, 15), st.integers(0, 99), st.booleans())
def test_every_replicate_of_every_setting_is_planned_once(
    settings: int, replicates: int, per_job: int, seed: int, randomised: bool
) -> None:
    order = Order(kind="randomised" if randomised else "as_listed", seed=seed)
    jobs = plan(schedule(replicates, per_job, order), design_of(settings))
    planned = Counter((job.setting, job.first_replicate + k) for job in jobs for k in range(job.replicates))
    assert planned == Counter((setting, k) for setting in range(settings) for k in range(replicates))
    assert [job.position for job in jobs] == list(range(len(jobs)))


@given(st.integers(1, 12), st.integers(0, 99))
def test_a_block_holds_every_setting_once(settings: int, seed: int) -> None:
    jobs = plan(schedule(7, 3, Order(seed=seed)), design_of(settings))
    for block, first, replicates in ((0, 0, 3), (1, 3, 3), (2, 6, 1)):
        inside = jobs[block * settings : (block + 1) * settings]
        assert sorted(job.setting for job in inside) == list(range(settings))
        assert {(job.block, job.first_replicate, job.replicates) for job in inside} == {(block, first, replicates)}


def test_the_seed_decides_the_order() -> None:
    design = design_of(50)
    first, again, other = (plan(schedule(20, 10, Order(seed=seed)), design) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert [job.setting for job in first[:50]] != [job.setting for job in first[50:]]


def test_as_listed_keeps_the_order_of_the_design() -> None:
    jobs = plan(schedule(20, 10, Order(kind="as_listed")), design_of(3))
    assert [(job.block, job.setting) for job in jobs] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


def test_a_pinned_setting_stays_on_one_node_and_nodes_share_evenly() -> None:
    pinned = Placement(kind="pinned", nodes=("n1", "n2", "n3"))
    jobs = plan(schedule(20, 10, placement=pinned), design_of(7))
    homes = {(job.setting, job.node) for job in jobs}
    assert len(homes) == 7
    assert sorted(Counter(node for _, node in homes).values()) == [2, 2, 3]


def test_a_pinned_study_without_nodes_takes_those_it_is_given_or_fails() -> None:
    pinned = schedule(1, 1, placement=Placement(kind="pinned"))
    assert plan(pinned, design_of(1), ["given"])[0].node == "given"
    with pytest.raises(StudyError, match="placement: pinned to no node"):
        plan(pinned, design_of(1))


def test_only_pinned_jobs_name_a_node() -> None:
    assert {job.node for job in plan(schedule(10, 5), design_of(3), ["n1"])} == {None}


def test_the_published_study_is_planned_in_seconds() -> None:
    xu2020 = study.preset("xu2020")
    design = expand(xu2020)
    started = time.perf_counter()
    assert len(plan(xu2020, design)) == 61_200
    assert len(plan(xu2020.model_copy(update={"replicates_per_job": 1}), design)) == 612_000
    assert time.perf_counter() - started < 15  # about 1.3 s on an idle machine
