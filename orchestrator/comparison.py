"""Two tables of samples, matched by their labels and compared: from two files, two campaigns, or one of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import LabelledSample, Table

if TYPE_CHECKING:
    from analysis.comparison import Comparison, FalseDiscovery, Shift

Labels = tuple[str, ...]
Verdicts = Mapping[Labels, str]
Follow = Callable[
    [Iterable[tuple[LabelledSample, LabelledSample]], int], Iterable[tuple[LabelledSample, LabelledSample]]
]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One configuration that both sides measured."""

    labels: Labels
    comparison: Comparison
    false_discovery: FalseDiscovery
    verdict_a: str | None
    verdict_b: str | None
    """None: not judged."""

    def changed(self, level: float) -> bool:
        """The distribution is another one, at this false-discovery rate."""
        return self.false_discovery.ks <= level

    def moved(self, level: float) -> tuple[Shift, ...]:
        """The quantiles that are elsewhere, at this false-discovery rate."""
        both = zip(self.comparison.shifts, self.false_discovery.shifts, strict=True)
        return tuple(shift for shift, q in both if q <= level)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What came of two tables; `label_names` are A's."""

    label_names: tuple[str, ...]
    pairs: tuple[Pair, ...]
    only_a: tuple[Labels, ...]
    only_b: tuple[Labels, ...]
    too_few: tuple[Labels, ...]
    """Both sides have them, one with too few values to compare."""

    def verdicts(self) -> Counter[tuple[str, str]]:
        """How many configurations had which verdict before and after, where both are judged."""
        return Counter(
            (pair.verdict_a, pair.verdict_b) for pair in self.pairs if pair.verdict_a is not None and pair.verdict_b
        )


def compare_tables(
    a: Table,
    b: Table,
    *,
    quantiles: Sequence[float],
    verdicts: tuple[Verdicts, Verdicts] = ({}, {}),
    follow: Follow = lambda pairs, _total: pairs,
) -> Compared:
    """Compare what both have, in A's order; `follow` may show how far it is. Raises TableError and AnalysisError."""
    from analysis.comparison import FEWEST, compare, false_discovery

    of_b = _by_labels(b, as_in=a.label_names)
    shared = [(sample, of_b[sample.labels]) for sample in a.samples if sample.labels in of_b]
    if not shared:
        raise TableError("the two have no configuration in common: the same labels with the same text are needed")
    enough = [pair for pair in shared if min(len(one.values) for one in pair) >= FEWEST]
    if not enough:
        raise TableError(f"no configuration has {FEWEST} runs on both sides: with fewer, nothing can be compared")
    found = [compare(one.values, other.values, quantiles=quantiles) for one, other in follow(enough, len(enough))]
    in_a = {sample.labels for sample in a.samples}
    compared = {one.labels for one, _ in enough}
    return Compared(
        label_names=a.label_names,
        pairs=tuple(
            Pair(
                labels=one.labels,
                comparison=comparison,
                false_discovery=discovery,
                verdict_a=verdicts[0].get(one.labels),
                verdict_b=verdicts[1].get(other.labels),
            )
            for (one, other), comparison, discovery in zip(enough, found, false_discovery(found), strict=True)
        ),
        only_a=tuple(sample.labels for sample in a.samples if sample.labels not in of_b),
        only_b=tuple(labels for labels in of_b if labels not in in_a),
        too_few=tuple(one.labels for one, _ in shared if one.labels not in compared),
    )


def _by_labels(table: Table, *, as_in: tuple[str, ...]) -> dict[Labels, LabelledSample]:
    """The samples of B by their labels in the order of A's. Raises TableError when they have other labels."""
    if set(table.label_names) != set(as_in):
        raise TableError(
            f"the two have different labels ({', '.join(as_in)} and {', '.join(table.label_names)}): "
            "choose common ones with --labels"
        )
    places = [table.label_names.index(name) for name in as_in]
    return {tuple(sample.labels[place] for place in places): sample for sample in table.samples}
