"""What canaries say of nodes whose truth is known: equal nodes, one that is slow, one that becomes slow."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from analysis.equivalence import MARGIN, NodeFound, Scores, compare_nodes

NODES = tuple(f"n{k + 1:02d}" for k in range(12))
PLANTED = NODES[4]
RUNS, RUN_SD = 3, 0.03


@dataclass(frozen=True, kw_only=True)
class Case:
    """One node is `slow` by this share, from the beginning or (`late`) from the middle on."""

    name: str
    visit_sd: float = 0.01
    slow: float = 0.0
    late: bool = False


CASES = (
    Case(name="equal nodes"),
    Case(name="equal nodes, visits vary by 3 %", visit_sd=0.03),
    Case(name="one is 3 % slow (within the margin)", slow=0.03),
    Case(name="one is 5 % slow (at the margin)", slow=0.05),
    Case(name="one is 8 % slow", slow=0.08),
    Case(name="one is 8 % slow, visits vary by 3 %", slow=0.08, visit_sd=0.03),
    Case(name="one becomes 8 % slow half-way", slow=0.08, late=True),
)


def scores(case: Case, visits: int, rng: np.random.Generator) -> Scores:
    """One canary of one mode."""
    rows, nodes, names, started = [], [], [], []
    for visit in range(visits):
        for node in NODES:
            is_slow = node == PLANTED and (not case.late or visit >= visits // 2)
            level = np.exp(rng.normal(0, case.visit_sd)) * (1 - case.slow if is_slow else 1.0)
            for run in range(RUNS):
                rows.append([1000 * level * np.exp(rng.normal(0, RUN_SD))])
                nodes.append(node)
                names.append(f"{visit} {node}")
                started.append(1000.0 * visit + run)
    return Scores.of([np.array(rows)], nodes=nodes, visits=names, started_at=started)


def told(case: Case, found: list[tuple[NodeFound, ...]]) -> str:
    """A row of the table."""
    mine = [one for nodes in found for one in nodes if one.node == PLANTED]
    others = [one for nodes in found for one in nodes if one.node != PLANTED]

    def shares(nodes: list[NodeFound]) -> str:
        standings = [sum(one.standing == word for one in nodes) for word in ("equivalent", "different", "undecided")]
        return " / ".join(f"{count / len(nodes):.3f}" for count in standings)

    drifts = [sum(bool(one.drift) for one in nodes) / len(nodes) for nodes in (mine, others)]
    return f"| {case.name} | {shares(mine)} | {shares(others)} | {drifts[0]:.2f} | {drifts[1]:.3f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--visits", type=int, default=12)
    given = parser.parse_args()
    made = f"12 nodes, {given.visits} visits of {RUNS} runs, which vary by 3 %, and visits by 1 %"
    print(f"{made}; margin {MARGIN:.0%}; {given.each} campaigns each")
    print("| case | the node: equivalent / different / undecided | all others | the node: a change | others |")
    print("|---|---|---|---|---|")
    for case in CASES:
        rng = np.random.default_rng(17)
        found = [compare_nodes(scores(case, given.visits, rng), rng=rng) for _ in range(given.each)]
        print(told(case, found), flush=True)


if __name__ == "__main__":
    main()
