"""Criticality: who is late, who is labelled, what is learnt, and that nothing leaks from labels into predictions."""

from __future__ import annotations

import json
import timeit
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from analysis import criticality as c
from analysis.arrays import Array, Flags
from analysis.criticality import history, logistic, scaling, scores, splits
from analysis.errors import BadOptionsError, BadSampleError
from tests.benchmarks.generated_trace import generate

RNG = np.random.default_rng(7)
ALL_LAGS = len(c.LAGS)


def trace(arrival_s: object, settings: list[int] | None = None, **more: bool) -> c.Trace:
    arrivals = np.array(arrival_s, dtype=np.float64)
    collectives, ranks = arrivals.shape
    of = settings or [0] * collectives
    return c.Trace(
        settings=tuple(f"s{number}" for number in range(max(of) + 1)),
        collectives=tuple(map(str, range(collectives))),
        ranks=tuple(map(str, range(ranks))),
        setting_of=np.array(of),
        arrival_s=arrivals,
        **more,
    )


def test_slack_is_how_long_before_the_last_rank_one_arrives() -> None:
    made = trace([[1.0, 3.0, 2.0], [9.0, 8.0, np.nan]])
    assert made.slack_s.tolist()[0] == [2.0, 0.0, 1.0]
    assert made.imbalance_s.tolist() == [2.0, 1.0]
    assert np.isnan(made.slack_s[1, 2])


def test_a_rank_is_critical_below_a_quarter_of_the_imbalance() -> None:
    made = trace([[0.0, 1.0, 0.75, 0.76]])
    assert c.critical(made, c.Rule()).tolist() == [[False, True, False, True]]
    assert c.critical(made, c.Rule(share=1.0)).tolist() == [[False, True, True, True]]
    assert not c.critical(trace([[1.0, 1.0]]), c.Rule()).any()


def test_the_slow_set_has_the_share_of_ranks_rounded_up_ties_by_rank() -> None:
    late = trace([[5.0, 5.0, 5.0, 1.0]])
    assert c.slow_sets(late, 0.05).sum() == 1
    assert c.slow_sets(late, 0.5).tolist() == [[True, True, False, False]]
    assert c.slow_sets(late, 0.5, ties="all").tolist() == [[True, True, True, False]]
    assert c.slow_sets(trace(RNG.random((3, 20))), 0.05).sum(axis=1).tolist() == [1, 1, 1]
    with pytest.raises(BadOptionsError):
        c.slow_sets(late, 0.0)


def slow_reference(arrival_s: Array, share: float) -> Flags:
    """Sort everybody, latest first, lower ranks first; take the first ceil(share R)."""
    slow = np.zeros(arrival_s.shape, dtype=bool)
    for row, line in enumerate(arrival_s):
        there = [rank for rank in range(len(line)) if not np.isnan(line[rank])]
        there.sort(key=lambda rank: (-line[rank], rank))
        slow[row, there[: int(np.ceil(round(share * len(there), 9)))]] = True
    return slow


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_table_one_agrees_with_sorting_and_counting(share: float) -> None:
    arrivals = np.round(RNG.random((40, 23)), 1)  # many ties
    arrivals[RNG.random((40, 23)) < 0.1] = np.nan
    made = trace(arrivals, [0] * 25 + [1] * 15)
    slow = c.slow_sets(made, share)
    assert (slow == slow_reference(arrivals, share)).all()
    found = c.of_sets(made, slow)
    always = sometimes = pairs = 0
    for rows in (slice(0, 25), slice(25, 40)):
        for rank in range(23):
            there = ~np.isnan(arrivals[rows, rank])
            pairs += int(there.any())
            sometimes += int(slow[rows, rank].any())
            always += int(there.any() and slow[rows, rank][there].all())
    assert (found.ranks, found.always, found.sometimes) == (pairs, always, sometimes)
    assert found.sometimes_only == sometimes - always


def test_a_collective_that_one_rank_reaches_says_nothing_of_who_is_slow() -> None:
    made = trace([[1.0, np.nan], [1.0, 2.0], [2.0, 1.0]])
    found = c.of_sets(made, c.slow_sets(made, 0.5))
    assert (found.collectives, found.always, found.sometimes) == (2, 0, 2)


def test_sets_drawn_anew_overlap_as_chance_says_and_constant_sets_wholly() -> None:
    anew = trace(RNG.random((400, 40)))
    found = c.of_sets(anew, c.slow_sets(anew, 0.25))
    assert found.chance == pytest.approx(0.25)
    assert found.overlap[0] == pytest.approx(0.25, abs=0.02)
    same = c.of_sets(anew, np.tile(np.arange(40) < 10, (400, 1)))
    assert (same.overlap == 1).all()
    assert (same.always, same.sometimes, same.never) == (10, 10, 30)
    assert len(found.overlap) == ALL_LAGS


def test_weights_are_those_of_an_independent_search() -> None:
    x = RNG.standard_normal((600, 4))
    y = (x @ [1.0, -0.5, 0.0, 0.2] + RNG.standard_normal(600) > 0.4).astype(float)

    def cost(weights: Array) -> float:
        logit = weights[0] + x @ weights[1:]
        return float(np.sum(np.log1p(np.exp(-logit)) + (1 - y) * logit) + 1.5 * np.sum(weights[1:] ** 2))

    searched = optimize.minimize(cost, np.zeros(5), tol=1e-10).x
    assert logistic.fitted(x, y, ridge=3.0).values == pytest.approx(searched, abs=1e-4)


def test_the_auc_counts_pairs_with_ties_as_half() -> None:
    y, score = RNG.random(60) < 0.3, np.round(RNG.random(60), 1)
    pairs = [(a > b) + 0.5 * (a == b) for a in score[y] for b in score[~y]]
    found = scores.auc(y, score, np.arange(60))
    assert found is not None
    assert found.value == pytest.approx(np.mean(pairs))
    assert scores.auc(np.ones(5, dtype=bool), score[:5], np.arange(5)) is None


def test_the_interval_of_the_auc_holds_one_half_for_noise() -> None:
    holds = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(80), 5)
        y, score = rng.random(400) < 0.3, np.repeat(rng.random(80), 5)
        found = scores.auc(y, score, group)
        assert found is not None
        holds += found.low <= 0.5 <= found.high
    assert holds >= 88


def test_samples_of_one_collective_stay_on_one_side_unless_asked() -> None:
    collective, setting = np.repeat(np.arange(40), 5), np.repeat([0, 1], 100)
    for split in ("collective", "time", "setting"):
        chosen = splits.learnt(split, 0.75, collective, setting, np.random.default_rng(1))  # type: ignore[arg-type]
        assert not set(collective[chosen]) & set(collective[~chosen])
    by_time = splits.learnt("time", 0.6, collective, setting, np.random.default_rng(1))
    assert sorted(set(collective[by_time])) == [*range(12), *range(20, 32)]
    held = list(splits.folds("collective", 10, collective, setting, np.random.default_rng(1)))
    assert np.sum(held, axis=0).tolist() == [1] * 200


@pytest.mark.parametrize(("snr", "low", "high"), [(0.0, 0.42, 0.58), (0.5, 0.84, 1.0), (1.0, 0.93, 1.0)])
def test_counters_tell_as_much_as_was_put_into_them(snr: float, low: float, high: float) -> None:
    made = generate(ranks=16, collectives=800, snr=snr, rng=np.random.default_rng(3))
    examples = c.prepare(made.trace, made.samples, c.Rule())
    plan = c.Plan(split="time", share=0.6, folds=3, boosted=False)
    found = c.evaluate(made.trace, examples, c.Options(), plan)
    assert found.held_back.auc is not None
    assert found.folded is not None
    assert low <= found.held_back.auc.value <= high
    assert low <= found.folded.value <= high
    if snr == 0:
        assert found.held_back.verdict == "no better than chance"
    else:
        assert {one.name for one in found.gains[:3]} == {"c0", "c1", "c2"}
        assert min(one.stability for one in found.gains[:3]) > 0.9
        assert found.held_back.calibration.error < 0.05


def test_labels_of_a_round_never_reach_its_own_history() -> None:
    made = trace(RNG.random((30, 4)))
    labels, labelled = c.critical(made, c.Rule()), np.ones(30, dtype=bool)
    before = history.of_trace(made, labels, labelled)
    changed = labels.copy()
    changed[17:] = ~changed[17:]
    later = history.of_trace(replace(made, arrival_s=np.where(np.arange(30)[:, None] < 17, made.arrival_s, 1.0)),
                             changed, labelled)  # fmt: skip
    assert (before[:18] == later[:18]).all()


def test_history_finds_a_rank_that_is_late_more_often() -> None:
    late = RNG.random((400, 4)) + np.array([0.0, 0.0, 0.0, 0.4])
    made = trace(late, starts_together=True)
    rule = c.Rule(bound_s=0.0, evaluated_s=0.0)
    examples = c.prepare(made, None, rule, with_history=True)
    plan = c.Plan(split="time", share=0.5, folds=0, boosted=False, update=True)
    found = c.evaluate(made, examples, c.Options(rule=rule), plan)
    assert found.held_back.auc is not None
    assert found.held_back.auc.value > 0.6
    assert found.updated is not None
    own = c.prepare(made, None, rule, with_own_time=True)
    told = c.evaluate(made, own, c.Options(rule=rule), plan).held_back.auc
    assert told is not None
    assert told.value > found.held_back.auc.value + 0.1


def test_samples_outside_the_window_and_short_periods_are_left_out_and_counted() -> None:
    made = trace([[1.0, 1.1], [1.102, 1.2], [1.3, 1.4]])
    samples = c.Samples(
        names=("x",), values=np.arange(6.0)[:, None], collective=np.array([1, 1, 2, 2, 2, 2]),
        rank=np.array([0, 1, 0, 0, 1, 1]), taken_s=np.array([1.101, 1.101, 1.201, 1.204, 1.203, 1.25]),
    )  # fmt: skip
    found = c.prepare(made, samples, c.Rule())
    assert found.x[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert (found.excluded, found.excluded_samples) == (1, 2)
    cells = c.pooled(found, np.ones(4, dtype=bool), np.array([0.1, 0.2, 0.4, 0.9]), found.collective)
    assert cells.chance.tolist() == pytest.approx([0.1, 0.3, 0.9])


def test_counters_that_repeat_each_other_are_decorrelated_and_missing_ones_usual() -> None:
    shared = RNG.standard_normal(500)
    x = np.column_stack([shared, shared + 0.5 * RNG.standard_normal(500), np.full(500, 3.0)])
    scale = scaling.of_values(x)
    told = scale.apply(x)
    assert abs(np.corrcoef(told[:, :2], rowvar=False)[0, 1]) < 0.3
    assert (scale.plain(np.array([[np.nan, np.nan, 3.0]])) == 0).all()


def test_what_changes_slowly_is_taken_off_over_the_runs_around() -> None:
    slowly = np.arange(50.0)[:, None] * [1.0, -2.0]
    assert scaling.without_drift(slowly, 5)[2:-2] == pytest.approx(0.0)
    assert np.isnan(scaling.without_drift(np.array([[1.0], [np.nan], [3.0]]), 3)).tolist() == [[False], [True], [False]]


def model() -> tuple[c.Model, c.Examples, c.Trained]:
    made = generate(ranks=12, collectives=300, snr=1.0, rng=np.random.default_rng(5))
    examples = c.prepare(made.trace, made.samples, c.Rule())
    trained = c.train(examples, np.ones(len(examples.x), dtype=bool), c.Options())
    exported = c.exported(
        trained, examples, made.trace.settings, options=c.Options(), window_s=0.005, told={"auc": 0.9}
    )
    return exported, examples, trained


def test_a_model_says_the_same_as_a_file_and_as_a_loop_over_counters() -> None:
    exported, examples, trained = model()
    again = c.from_json(exported.to_json())
    assert again == exported
    rows = slice(0, 50)
    expected = trained.chance(examples.x[rows], examples.setting[rows])
    counters = [dict(zip(examples.features, line, strict=True)) for line in examples.x[rows].tolist()]
    assert [again.chance(line, "generated") for line in counters] == pytest.approx(expected)
    assert c.applied(again, examples, ("generated",))[rows] == pytest.approx(expected)
    unknown = c.applied(again, examples, ("another",))
    assert unknown[rows] == pytest.approx(expected)  # its own runs tell what is usual


def test_an_agent_needs_at_most_50_us_for_an_answer() -> None:
    exported, examples, _ = model()
    counters = dict(zip(examples.features, examples.x[0].tolist(), strict=True))
    best_s = min(timeit.repeat(lambda: exported.chance(counters, "generated"), number=200, repeat=9)) / 200
    assert best_s <= 50e-6


@pytest.mark.parametrize("wrong", ["", "[]", "{}", '{"format": "modescope-criticality", "version": 2}'])
def test_text_that_is_no_model_is_refused(wrong: str) -> None:
    with pytest.raises(c.BadModelError):
        c.from_json(wrong)


def test_a_model_that_was_changed_is_refused() -> None:
    body = json.loads(model()[0].to_json())
    body["threshold"] = 0.1
    with pytest.raises(c.BadModelError, match="checksum"):
        c.from_json(json.dumps(body))


def test_what_cannot_be_learnt_is_told_with_its_reason() -> None:
    calm = trace(RNG.random((20, 4)) * 1e-4)
    examples = c.prepare(calm, None, c.Rule(), with_history=True, window_s=0.0)
    with pytest.raises(BadSampleError, match="no collective reaches an imbalance of 10 ms"):
        c.train(examples, np.ones(len(examples.x), dtype=bool), c.Options())
    with pytest.raises(BadSampleError, match="no counter"):
        c.prepare(calm, None, c.Rule())


def drawn(seed: int, favour: float = 0.0) -> tuple[c.Trace, Flags, Flags]:
    """200 rounds of 8 ranks; the first one is later by `favour`."""
    arrivals = np.random.default_rng(seed).exponential(1.0, (200, 8))
    arrivals[:, 0] += favour
    made = trace(arrivals)
    return made, c.critical(made, c.Rule()), np.ones(200, dtype=bool)


def test_a_rank_that_is_critical_more_often_than_chance_stands_out() -> None:
    found = [one for one in c.frequencies(*drawn(1, favour=1.0)) if one is not None]
    assert [one.stands_out for one in found] == [True] + 7 * [False]
    assert found[0].low > found[0].chance
    assert found[0].share == found[0].critical / 200


def test_among_ranks_that_are_alike_hardly_ever_one_stands_out() -> None:
    named = sum(any(one is not None and one.stands_out for one in c.frequencies(*drawn(seed))) for seed in range(40))
    assert named <= 5


def test_a_rank_that_took_no_part_has_no_frequency() -> None:
    made = trace([[1.0, 2.0, np.nan]] * 3)
    found = c.frequencies(made, c.critical(made, c.Rule()), np.ones(3, dtype=bool))
    assert found[2] is None
    assert found[1] is not None
    assert (found[1].share, found[1].chance, found[1].stands_out) == (1.0, 0.5, False)


def test_what_differs_where_a_rank_is_critical_tells_and_noise_does_not() -> None:
    made, critical, rows = drawn(2)
    collective, rank = np.nonzero(~np.isnan(made.arrival_s))
    values = np.column_stack(
        [np.random.default_rng(3).normal(size=1600), -made.arrival_s.ravel(), np.full(1600, np.nan)]
    )
    samples = c.Samples(names=("noise", "less", "unknown"), values=values, collective=collective, rank=rank)
    found = c.tellers(made, samples, critical, rows)
    assert [(one.name, one.tells) for one in found] == [("less", True), ("noise", False)]
    assert found[0].high < 0.2
