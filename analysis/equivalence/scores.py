"""One number a run, comparable over canaries: how far it is from what is usual for its canary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.attribution.runs import Words, codes
from analysis.errors import BadSampleError


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Runs of all canaries in order of start: log ratios to the median of their canary and mode, averaged over modes.

    0.01 is a hundredth above usual. A *visit* is a job: its runs follow each other on one node, and are alike.
    """

    values: Array  # (n,)
    nodes: Words
    visits: Words
    started_at: Array  # (n,), seconds

    @classmethod
    def of(
        cls, tables: Sequence[Array], *, nodes: Sequence[str], visits: Sequence[str], started_at: Sequence[float]
    ) -> Scores:
        """Of one table (runs, modes) a canary, one after the other; the labels are of all their runs.

        Raises `BadSampleError` for values that are not positive: they have no ratio.
        """
        if any(np.any(~(table > 0)) for table in tables):
            raise BadSampleError("canaries are compared by ratios: all values have to be positive")
        ratios = [np.mean(np.log(table / np.median(table, axis=0)), axis=1) for table in tables if len(table)]
        values = np.concatenate(ratios) if ratios else np.empty(0)
        order = np.argsort(np.asarray(started_at, dtype=np.float64), kind="stable")
        return cls(
            values=values[order],
            nodes=tuple(nodes[place] for place in order),
            visits=tuple(visits[place] for place in order),
            started_at=np.asarray(started_at, dtype=np.float64)[order],
        )

    def kept(self, which: Flags) -> Scores:
        """Those of the runs."""
        return Scores(
            values=self.values[which],
            nodes=tuple(node for node, keep in zip(self.nodes, which, strict=True) if keep),
            visits=tuple(visit for visit, keep in zip(self.visits, which, strict=True) if keep),
            started_at=self.started_at[which],
        )

    def of_node(self, node: str) -> Scores:
        """Its runs."""
        return self.kept(np.array([name == node for name in self.nodes], dtype=np.bool_))

    @property
    def visit_codes(self) -> Indices:
        """A number for the visit of each run, (n,)."""
        return codes(self.visits)[0]

    def by_visit(self) -> Array:
        """The median score of each visit, (visits,), in the order of their first runs."""
        places = self.visit_codes
        return np.array([np.median(self.values[places == visit]) for visit in range(len(set(self.visits)))])
