"""Where the multimodality of a configuration lies: within a node, between nodes, or over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.arrays import Array, Indices
from analysis.attribution.candidates import NODE, ORDER, SESSION, TIME_OF_DAY
from analysis.attribution.changes import Change, segments
from analysis.attribution.permutation import Tested
from analysis.attribution.runs import Runs, codes
from analysis.errors import AnalysisError
from analysis.mixture.options import Options
from analysis.mixture.selection import select
from analysis.modality.verdicts import verdict

Where = Literal["within node", "between nodes", "over time", "unresolved"]
OVER_TIME = (SESSION, ORDER, TIME_OF_DAY)
# Where nodes explain no more than this of which mode a run is in, most of it happens within nodes.
MOST_OF_NODES = 0.5


@dataclass(frozen=True, kw_only=True)
class Refit:
    """The verdict on the runs as they would be without something, or on a part of them.

    `kind` is None where they cannot be judged: too few, or nothing varies.
    """

    what: str
    n: int
    kind: str | None
    sentence: str

    @property
    def multimodal(self) -> bool | None:
        """Whether several modes are left; None where that cannot be told."""
        return None if self.kind is None else self.kind == "multimodal"


@dataclass(frozen=True, kw_only=True)
class Label:
    """Where the multimodality lies, why that is said, and what was refitted to tell."""

    where: Where
    reason: str
    refits: tuple[Refit, ...]


def labelled(
    runs: Runs, found: Sequence[Tested], drift: Sequence[Change], *, options: Options, unit: str = "kB/s"
) -> Label:
    """Label the multimodality of `runs`; `found` says what predicts the mode, `drift` where its level changes."""
    several = len(set(runs.nodes)) > 1
    refits = [without_node_medians(runs, options, unit), largest_node(runs, options, unit)] if several else []
    leader = next((one for one in sorted(found, key=_first) if one.named), None)
    if leader is not None and leader.name in OVER_TIME:
        refits.append(without_medians(runs, _periods(runs, leader, drift), leader.name, options, unit))
        if refits[-1].multimodal is False:
            reason = f"without what goes with {_told(leader.name)}, the modes are gone"
            return Label(where="over time", reason=reason, refits=tuple(refits))
    where, reason = _by_node(leader, found, refits) if several else _one_node(leader)
    return Label(where=where, reason=reason, refits=tuple(refits))


def _first(one: Tested) -> int:
    """What is named given nothing else is the strongest."""
    return len(one.given)


def _by_node(leader: Tested | None, found: Sequence[Tested], refits: Sequence[Refit]) -> tuple[Where, str]:
    centred, largest = refits[0], refits[1]
    if largest.multimodal:
        return "within node", f"the runs of {largest.what} alone have several modes"
    if leader is not None and leader.name == NODE and centred.multimodal is False:
        return "between nodes", "without the nodes' medians the modes are gone"
    if leader is not None and leader.name in (NODE, *OVER_TIME):
        return "unresolved", f"{_told(leader.name)} explains a part; without it, modes remain or cannot be judged"
    if centred.multimodal:
        return "within node", "without the nodes' medians the modes remain"
    # With few runs a node its median falls into either mode: what is left without it says little.
    effect = next((one.effect for one in found if one.name == NODE), None)
    if effect is not None and effect <= MOST_OF_NODES:
        return "within node", f"nodes explain {100 * effect:.0f} % of which mode a run is in"
    return "unresolved", "each node has too few runs to tell whether it has several modes of its own"


def _one_node(leader: Tested | None) -> tuple[Where, str]:
    if leader is not None and leader.name in OVER_TIME:
        return "unresolved", f"{_told(leader.name)} explains a part; without it, modes remain or cannot be judged"
    return "within node", "all runs are of one node"


def without_node_medians(runs: Runs, options: Options, unit: str) -> Refit:
    """Refit after the nodes' medians are taken out."""
    return without_medians(runs, codes(runs.nodes)[0], NODE, options, unit)


def without_medians(runs: Runs, groups: Indices, name: str, options: Options, unit: str) -> Refit:
    """Refit after the groups' medians are taken out: as ratios where all values are positive, else as differences."""
    medians = np.array([np.median(runs.values[groups == group]) for group in range(int(np.max(groups)) + 1)])
    overall = float(np.median(runs.values))
    if np.all(runs.values > 0):
        levelled = runs.values / medians[groups] * overall
    else:
        levelled = runs.values - medians[groups] + overall
    return _refit(levelled, f"all runs without the medians by {name}", options, unit)


def largest_node(runs: Runs, options: Options, unit: str) -> Refit:
    """Refit the node that has the most runs."""
    number, names = codes(runs.nodes)
    most = int(np.argmax(np.bincount(number)))
    return _refit(runs.values[number == most], f"node {names[most]}", options, unit)


def _periods(runs: Runs, leader: Tested, drift: Sequence[Change]) -> Indices:
    """The parts in time between which the level is taken out."""
    if leader.candidate.groups is not None:
        return leader.candidate.groups
    if drift or leader.split is None:
        return segments(runs.n, list(drift))
    return (np.arange(runs.n) > leader.split).astype(np.int64)


def _refit(values: Array, what: str, options: Options, unit: str) -> Refit:
    """The same rule, with p for q: nothing else is judged together with it."""
    if len(values) < options.min_n:
        sentence = f"{len(values)} runs are too few to judge"
        return Refit(what=what, n=len(values), kind=None, sentence=sentence)
    try:
        selection = select(values, options=options)
    except AnalysisError as error:
        return Refit(what=what, n=len(values), kind=None, sentence=str(error))
    found = verdict(selection, dip_q=selection.dip_p, options=options, unit=unit)
    return Refit(what=what, n=len(values), kind=found.kind, sentence=found.sentence)


def _told(name: str) -> str:
    return {ORDER: "the order of runs", SESSION: "the session", TIME_OF_DAY: "the time of day"}.get(name, f"the {name}")
