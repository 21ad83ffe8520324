"""The conditional inference tree, against what its paper says of it (Hothorn, Hornik, Zeileis 2006)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from analysis.counters.inference_tree import (
    ConditionalInferenceTree,
    Leaf,
    Split,
    best_cut,
    bonferroni,
    p_values,
)


def test_mean_and_variance_of_the_statistic_are_those_over_all_permutations() -> None:
    """Equations 1 and 2: conditional on the values, counted out for seven of them."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=7), rng.normal(size=7)
    told = np.array([x @ y[list(order)] for order in itertools.permutations(range(7))])
    n = len(y)
    assert told.mean() == pytest.approx(n * x.mean() * y.mean())
    assert told.var() == pytest.approx(x.var() * y.var() * n**2 / (n - 1))


def test_p_is_that_of_permutations() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 1))
    y = 0.35 * x[:, 0] + rng.normal(size=40)
    centred = x[:, 0] - x.mean()
    seen = abs(centred @ y)
    drawn = np.array([abs(centred @ rng.permutation(y)) for _ in range(20_000)])
    assert p_values(x, y)[0] == pytest.approx(np.mean(drawn >= seen), abs=0.01)


def test_bonferroni_is_the_papers() -> None:
    assert bonferroni(np.array([0.01, 0.5]))[0] == pytest.approx(1 - 0.99**2)


def test_under_independence_a_tree_splits_in_at_most_one_of_twenty_samples() -> None:
    rng = np.random.default_rng(3)
    split = 0
    for _ in range(400):
        tree = ConditionalInferenceTree().fit(rng.normal(size=(60, 5)), rng.normal(size=60))
        split += isinstance(tree.root, Split)
    assert split / 400 <= 0.085


def test_selection_is_not_biased_towards_covariates_with_many_values() -> None:
    """Section 5: under independence each covariate has the smallest p equally often, however many cuts it offers."""
    rng = np.random.default_rng(4)
    first = np.zeros(4)
    for _ in range(1200):
        x = np.column_stack([rng.integers(0, levels, 80) for levels in (2, 4, 10)] + [rng.normal(size=80)])
        first[np.argmin(p_values(x.astype(float), rng.normal(size=80)))] += 1
    expected = 300
    assert np.sum((first - expected) ** 2 / expected) < 16.3  # chi-squared with 3 degrees of freedom at 0.001


def test_the_cut_is_where_the_response_changes() -> None:
    x = np.arange(40.0)
    y = (x > 24).astype(float)
    assert best_cut(x, y, 7) == 24.5
    assert best_cut(np.ones(40), y, 7) is None


def test_a_planted_tree_is_grown_and_no_more() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 6))
    y = 5.0 * (x[:, 2] > 0) + 0.1 * rng.normal(size=200)
    root = ConditionalInferenceTree().fit(x, y).root
    assert isinstance(root, Split)
    assert root.feature == 2
    assert root.at == pytest.approx(0, abs=0.15)
    assert isinstance(root.left, Leaf)
    assert root.left.mean == pytest.approx(0, abs=0.05)


def test_a_response_that_does_not_vary_is_one_leaf() -> None:
    tree = ConditionalInferenceTree().fit(np.random.default_rng(6).normal(size=(50, 3)), np.full(50, 2.0))
    assert tree.root == Leaf(mean=2.0, n=50)
    assert tree.predict(np.zeros((4, 3))).tolist() == [2.0] * 4
