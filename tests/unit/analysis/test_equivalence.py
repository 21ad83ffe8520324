"""Nodes beside each other, from canaries whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.equivalence import Scores, compare_nodes
from analysis.errors import AnalysisError, BadSampleError

NODES = ("n1", "n2", "n3", "n4")


def canaries(
    rng: np.random.Generator,
    *,
    visits: int = 12,
    slow: float = 1.0,
    drops: float = 1.0,
    visit_sd: float = 0.01,
    run_sd: float = 0.02,
) -> Scores:
    """Two canaries of two modes, 2 runs a visit; n3 is `slow`, n2 drops half-way; visits have levels of their own."""
    nodes, names, started, tables = [], [], [], []
    for canary, usual in enumerate(((100.0, 900.0), (5000.0, 70.0))):
        rows = []
        for visit in range(visits):
            for node in NODES:
                level = np.exp(rng.normal(0, visit_sd)) * (slow if node == "n3" else 1.0)
                level *= drops if node == "n2" and visit >= visits // 2 else 1.0
                for run in range(2):
                    rows.append([level * base * np.exp(rng.normal(0, run_sd)) for base in usual])
                    nodes.append(node)
                    names.append(f"{canary} {visit} {node}")
                    started.append(visit * 1000.0 + canary * 100 + run)
        tables.append(np.array(rows))
    return Scores.of(tables, nodes=nodes, visits=names, started_at=started)


def test_nodes_that_are_alike_are_equivalent() -> None:
    rng = np.random.default_rng(1)
    found = compare_nodes(canaries(rng), rng=rng)
    assert [(one.node, one.standing, one.drift) for one in found] == [(node, "equivalent", ()) for node in NODES]
    assert all(one.low < one.difference < one.high for one in found)


def test_a_slow_node_is_different_and_the_others_are_not_blamed() -> None:
    rng = np.random.default_rng(2)
    found = {one.node: one for one in compare_nodes(canaries(rng, slow=0.9), rng=rng)}
    assert found["n3"].standing == "different"
    assert found["n3"].difference == pytest.approx(-0.1, abs=0.02)
    assert {found[node].standing for node in ("n1", "n2", "n4")} == {"equivalent"}


def test_with_few_visits_nothing_is_decided() -> None:
    rng = np.random.default_rng(3)
    assert {one.standing for one in compare_nodes(canaries(rng, visits=2), rng=rng)} == {"undecided"}


def test_what_is_noisy_is_not_called_equivalent() -> None:
    rng = np.random.default_rng(4)
    found = compare_nodes(canaries(rng, visits=5, visit_sd=0.2), rng=rng)
    assert "equivalent" not in {one.standing for one in found}


def test_a_node_whose_level_drops_has_a_change_where_it_began() -> None:
    rng = np.random.default_rng(5)
    found = {one.node: one for one in compare_nodes(canaries(rng, drops=0.9), rng=rng)}
    (change,) = found["n2"].drift
    assert np.expm1(change.after - change.before) == pytest.approx(-0.1, abs=0.02)
    assert 5000 <= found["n2"].drift_at[0] <= 7000
    assert [one.drift for node, one in found.items() if node != "n2"] == [(), (), ()]


def test_one_node_has_nobody_to_be_compared_with() -> None:
    rng = np.random.default_rng(6)
    alone = canaries(rng).of_node("n1")
    (found,) = compare_nodes(alone, rng=rng)
    assert (found.standing, found.difference) == ("undecided", 0.0)


def test_the_same_generator_gives_the_same_answer() -> None:
    scores = canaries(np.random.default_rng(7))
    again = [compare_nodes(scores, rng=np.random.default_rng(8)) for _ in range(2)]
    assert again[0] == again[1]


def test_what_makes_no_sense_is_refused() -> None:
    rng = np.random.default_rng(9)
    with pytest.raises(AnalysisError, match="margin"):
        compare_nodes(canaries(rng), rng=rng, margin=0)
    with pytest.raises(BadSampleError, match="positive"):
        Scores.of([np.array([[0.0]])], nodes=["n1"], visits=["1"], started_at=[0.0])


def test_one_slow_node_of_three_is_told_from_the_two_that_agree() -> None:
    rng = np.random.default_rng(10)
    scores = canaries(rng, slow=0.9)
    three = scores.kept(np.array([node != "n4" for node in scores.nodes]))
    found = compare_nodes(three, rng=rng)
    assert [one.standing for one in found] == ["equivalent", "equivalent", "different"]


def test_of_two_nodes_that_differ_nobody_can_tell_which_it_is() -> None:
    rng = np.random.default_rng(11)
    scores = canaries(rng, slow=0.9)
    two = scores.kept(np.array([node in ("n1", "n3") for node in scores.nodes]))
    assert [one.standing for one in compare_nodes(two, rng=rng)] == ["different", "different"]
