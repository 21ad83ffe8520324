"""Attribution finds what was planted, leaves alone what is chance, and says both in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import attribution, mixture
from analysis.attribution import Invocation, Runs
from analysis.attribution.changes import changes
from analysis.attribution.dependence import dependence, intraclass
from analysis.attribution.invocation import processes_that_took_part
from analysis.attribution.runs import codes
from analysis.attribution.shuffles import shuffles
from analysis.errors import AnalysisError

OPTIONS = mixture.Options(families=("normal",), max_components=3)
NODES, JOBS, PER_JOB = 4, 16, 8
N = JOBS * PER_JOB


def laid_out(slow: np.ndarray, *, seed: int = 1, temperature: np.ndarray | None = None) -> Runs:
    """A sample of 128 runs on four nodes in jobs of eight; those that are slow lie five deviations lower."""
    rng = np.random.default_rng(seed)
    number = np.arange(N)
    return Runs(
        values=np.where(slow, 1000.0, 1200.0) + rng.normal(0, 40, N),
        nodes=tuple(f"m{job % NODES + 1:02}" for job in number // PER_JOB),
        jobs=tuple(str(job) for job in number // PER_JOB),
        sessions=tuple(f"m{job % NODES + 1:02}" for job in number // PER_JOB),
        numbers={} if temperature is None else {"temperature": temperature},
    )


def explained(runs: Runs, invocation: Invocation | None = None) -> attribution.Explanation:
    """By a fixed generator."""
    selection = mixture.select(runs.values, options=OPTIONS)
    rng = np.random.default_rng(5)
    return attribution.explain(runs, selection, options=OPTIONS, rng=rng, invocation=invocation)


def node_of(number: np.ndarray) -> np.ndarray:
    return number // PER_JOB % NODES


def test_a_slow_node_is_named_and_the_modes_lie_between_nodes() -> None:
    found = explained(laid_out(node_of(np.arange(N)) == 2))
    assert found.label is not None
    assert found.label.where == "between nodes"
    assert [one.name for one in found.named] == ["node"]
    assert found.sentence.startswith("node m03 produces only the slow mode (100 % of runs; 0 %")


def test_two_slow_nodes_are_named_together() -> None:
    found = explained(laid_out(node_of(np.arange(N)) % 2 == 0))
    assert "nodes m01 and m03 produce only" in found.sentence or "nodes m02 and m04 produce only" in found.sentence


def test_a_hot_run_is_slow_within_its_node() -> None:
    temperature = np.random.default_rng(2).normal(60, 5, N)
    found = explained(laid_out(temperature > 64, temperature=temperature))
    assert found.label is not None
    assert found.label.where == "within node"
    assert [one.name for one in found.named] == ["temperature"]
    assert "runs with temperature above 6" in found.sentence


def test_a_change_on_the_way_lies_over_time() -> None:
    found = explained(laid_out(np.arange(N) >= 70))
    assert found.label is not None
    assert found.label.where == "over time"
    assert "from run 71 on there is only the slow mode" in found.sentence
    assert [change.at for change in found.drift] == [70]


def test_a_cold_start_is_told_by_the_place_in_the_job() -> None:
    found = explained(laid_out(np.arange(N) % PER_JOB == 0))
    assert [one.name for one in found.named] == ["place in job"]
    assert "the first run of a job has only the slow mode" in found.sentence


def test_without_its_warm_up_a_job_has_one_mode() -> None:
    runs = laid_out(np.arange(N) % PER_JOB == 0).without_warm_up(1)
    assert runs.n == N - JOBS
    assert mixture.select(runs.values, options=OPTIONS).density_modes == 1


def test_chance_is_not_explained() -> None:
    found = explained(laid_out(np.random.default_rng(3).random(N) < 0.4))
    assert found.label is not None
    assert found.label.where == "within node"
    assert not found.named
    assert found.sentence == "nothing that was observed predicts the mode of a run"


def test_jobs_that_choose_their_mode_by_chance_are_no_node_effect() -> None:
    slow = np.random.default_rng(7).random(JOBS) < 0.4
    found = explained(laid_out(np.repeat(slow, PER_JOB)))
    assert not found.named
    assert found.dependence.by_job is not None
    assert found.dependence.by_job.low > 0.5
    assert found.dependence.effective_n < 2 * JOBS
    assert "runs of a job share their mode" in found.sentence


def test_clustered_runs_tell_less_about_quantiles_than_a_bootstrap_of_runs_says() -> None:
    slow = np.random.default_rng(7).random(JOBS) < 0.4
    errors = explained(laid_out(np.repeat(slow, PER_JOB))).quantiles
    assert [one.q for one in errors] == [0.1, 0.5, 0.9]
    assert errors[1].by_job > 1.5 * errors[1].by_run


def test_independent_runs_keep_all_their_worth() -> None:
    found = explained(laid_out(np.zeros(N, dtype=bool)))
    assert found.label is None
    assert found.dependence.effective_n == N
    assert not found.quantiles
    assert found.sentence == "one mode; its runs look independent"


def test_a_sample_of_unknown_places_is_explained_by_what_there_is() -> None:
    runs = Runs(values=laid_out(np.arange(N) >= 70).values)
    found = explained(runs)
    assert [one.name for one in found.named] == ["order of runs"]
    assert found.dependence.by_job is None


def test_the_explanation_is_the_same_for_the_same_seed() -> None:
    runs = laid_out(node_of(np.arange(N)) == 2)
    assert explained(runs).as_dict() == explained(runs).as_dict()


def test_a_run_that_is_slow_in_all_modes_is_told_from_one_that_is_not() -> None:
    slow = np.random.default_rng(3).random(N) < 0.4
    rng = np.random.default_rng(4)
    others = {"writers": np.where(slow, 800, 900) + rng.normal(0, 20, N), "rewriters": rng.normal(900, 20, N)}
    shared = {one.mode: one for one in explained(laid_out(slow), Invocation(others=others)).shared}
    assert shared["writers"].slow_too
    assert not shared["rewriters"].slow_too


def test_one_slow_process_of_eight_took_part() -> None:
    slow = np.arange(40) % 4 == 0
    one_of_eight = np.where(slow, 100 - 80 / 8, 100.0)
    assert processes_that_took_part(one_of_eight, np.where(slow, 20.0, 95.0), slow) == pytest.approx(1 / 8)
    all_of_them = np.where(slow, 20.0, 100.0)
    assert processes_that_took_part(all_of_them, all_of_them, slow) == pytest.approx(1.0)


def test_the_intraclass_correlation_is_that_of_the_analysis_of_variance() -> None:
    """Shrout and Fleiss (1979), table 2: six targets, four judges, ICC(1,1) = .17."""
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
    found = intraclass(ratings.ravel(), np.repeat(np.arange(6), 4))
    assert found is not None
    assert found.value == pytest.approx(0.17, abs=0.005)
    assert found.low < 0 < found.value < found.high


def test_what_nodes_do_is_no_correlation_of_jobs_within_nodes() -> None:
    runs = laid_out(node_of(np.arange(N)) == 2)
    jobs, nodes = codes(runs.jobs)[0], codes(runs.nodes)[0]
    marginal, within = intraclass(runs.values, jobs), intraclass(runs.values, jobs, strata=nodes)
    assert marginal is not None
    assert within is not None
    assert marginal.low > 0.5
    assert within.low < 0.1


def test_runs_that_follow_each_other_are_correlated() -> None:
    walk = np.cumsum(np.random.default_rng(1).normal(size=200))
    found = dependence(Runs(values=walk))
    assert found.lag_one is not None
    assert found.lag_one > 0.8


def test_shuffled_blocks_stay_whole_and_in_their_stratum() -> None:
    blocks, strata = np.repeat([0, 1, 2, 3], 3), np.repeat([0, 0, 1, 1], 3)
    for order in shuffles(blocks, 50, np.random.default_rng(1), strata=strata):
        assert sorted(order) == list(range(12))
        assert all(strata[order] == strata)
        assert all(np.diff(order.reshape(4, 3), axis=1).ravel() == 1)


def test_changes_are_found_where_they_are_and_nowhere_else() -> None:
    rng = np.random.default_rng(1)
    steps = rng.normal(0, 1, 150) + np.repeat([0, 2, 1], 50) * 2
    assert [change.at for change in changes(steps, np.arange(150), rng)] == pytest.approx([50, 100], abs=3)
    found = [changes(rng.normal(size=100), np.arange(100), rng) for _ in range(40)]
    assert sum(map(bool, found)) <= 2


def test_a_fit_of_other_runs_is_refused() -> None:
    runs = laid_out(np.arange(N) >= 70)
    selection = mixture.select(runs.values[1:], options=OPTIONS)
    with pytest.raises(AnalysisError, match="the fit is of 127 runs, and there are 128"):
        attribution.explain(runs, selection, options=OPTIONS, rng=np.random.default_rng(1))


def test_columns_of_another_length_are_refused() -> None:
    with pytest.raises(AnalysisError, match="temperature: 2 entries for 3 runs"):
        Runs(values=np.arange(3.0), numbers={"temperature": np.arange(2.0)})
