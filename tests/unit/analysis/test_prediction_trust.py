"""What predictions rest on, and where not to trust them, on a small planted design."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("sklearn")

from analysis.prediction import Evaluation, Samples, Split, evaluate
from analysis.prediction.importance import Importance, Shuffling
from analysis.prediction.trust import edge_rows, floor, levels

ROWS = [(str(t), c, m) for t in (1, 2, 4, 8, 16) for c in ("red", "blue") for m in ("read", "write", "append")]
RUNS = 40


def drawn(row: tuple[str, ...], rng: np.random.Generator) -> np.ndarray:
    """Threads decide, colours do not, and what is appended is anywhere."""
    off = rng.normal(0, 1.5) if row[2] == "append" else 0.0
    return 1e5 * float(row[0]) * np.exp(off + 0.2 * rng.standard_normal(RUNS))


@pytest.fixture(scope="module")
def samples() -> Samples:
    rng = np.random.default_rng(5)
    return Samples(names=("threads", "colour", "mode"), rows=ROWS, values=[drawn(row, rng) for row in ROWS])


@pytest.fixture(scope="module")
def shuffling(samples: Samples) -> Shuffling:
    return Shuffling(samples=samples)


@pytest.fixture(scope="module")
def found(samples: Samples, shuffling: Shuffling) -> Evaluation:
    return evaluate(samples, Split(kind="folds", value="3"), trees=5, look=shuffling)


@pytest.fixture(scope="module")
def importances(found: Evaluation, shuffling: Shuffling) -> tuple[Importance, ...]:
    assert len(found.errors) == len(ROWS)
    return shuffling.importances()


def test_what_decides_comes_first_and_what_decides_nothing_loses_nothing(importances: tuple[Importance, ...]) -> None:
    lost = {one.factor: one for one in importances}
    assert importances[0].factor == "threads"
    assert lost["threads"].lost_r2 > 0.3
    assert abs(lost["colour"].added_ks) < 0.1 < lost["threads"].added_ks


def test_levels_that_are_predicted_worst_are_doubted(samples: Samples, found: Evaluation) -> None:
    of = {(one.factor, one.level): one for one in levels(samples, found.errors)}
    assert "times the distance of all" in of["mode", "append"].doubt
    assert of["mode", "read"].doubt == ""
    assert len(of["mode", "append"].ks) == 10


def test_the_ends_of_numbers_are_edges_and_names_have_none(samples: Samples, found: Evaluation) -> None:
    assert {(one.factor, one.level) for one in levels(samples, found.errors) if one.at_edge} == {
        ("threads", "1"),
        ("threads", "16"),
    }
    assert {ROWS[row][0] for row in edge_rows(samples)} == {"1", "16"}


def test_levels_of_which_few_were_left_out_are_not_judged(samples: Samples, found: Evaluation) -> None:
    assert levels(samples, found.errors[:4]) == ()


def test_a_sample_is_that_far_from_where_it_was_drawn(samples: Samples) -> None:
    rng = np.random.default_rng(2)
    ranks = np.arange(RUNS + 1) / RUNS
    drawn_from = np.sort(rng.random((2000, RUNS)), axis=1)
    apart = np.maximum(ranks[1:] - drawn_from, drawn_from - ranks[:-1]).max(axis=1)
    assert floor(samples) == pytest.approx(float(np.mean(apart)), rel=0.06)
    assert floor(samples) == pytest.approx(0.8687 / math.sqrt(RUNS), rel=1e-3)
