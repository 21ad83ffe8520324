"""What was found, as sentences that a person can use."""

from collections.abc import Sequence

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.attribution.candidates import ORDER, PLACE_IN_JOB, SESSION
from analysis.attribution.permutation import Tested
from analysis.modality.verdicts import listed, told_in

# A group of which so many runs are in a mode produces only that mode.
ONLY = 0.95
LISTED = 6


def mode_names(positions: Sequence[float], *, unit: str, larger_is_better: bool) -> tuple[str, ...]:
    """`slow` and `fast` for two modes, else the places of the peaks."""
    if len(positions) == 2:
        return ("slow", "fast") if larger_is_better else ("fast", "slow")
    factor, unit = told_in(max(positions), unit)
    return tuple(f"{position / factor:.3g} {unit}" for position in positions)


def sentence(found: Tested, weights: Array, names: Sequence[str]) -> str:
    """What a named candidate does, told of the density mode that it moves most; weights (n, modes)."""
    here, where = _side(found, weights)
    there = ~here
    moved = int(np.argmax(np.abs(_share(weights, here) - _share(weights, there))))
    # Told of the mode that these runs are in, not of one that they are not in.
    if len(names) == 2 and _share(weights, here)[moved] < _share(weights, there)[moved]:
        moved = 1 - moved
    inside, outside = float(_share(weights, here)[moved]), float(_share(weights, there)[moved])
    mode = f"the {names[moved]} mode" if len(names) == 2 else f"the mode at {names[moved]}"
    if inside >= ONLY:
        return f"{where} only {mode} ({_percent(inside)} of runs; {_percent(outside)} of the others)"
    return f"{where} {mode} in {_percent(inside)} of runs (the others in {_percent(outside)})"


def _side(found: Tested, weights: Array) -> tuple[Flags, str]:
    """The runs that it sets apart, and what to call them, with a verb."""
    candidate = found.candidate
    if candidate.groups is None:
        return _beyond(found, candidate.number, weights)
    apart = _apart(candidate.groups, weights)
    labels = [candidate.group_names[group] for group in apart[:LISTED]]
    more = f" and {len(apart) - LISTED} more" if len(apart) > LISTED else ""
    noun = candidate.name + ("s" if len(apart) > 1 and candidate.name in ("node", SESSION) else "")
    verb = "produce" if len(apart) > 1 else "produces"
    here = np.isin(candidate.groups, apart)
    return here, f"{noun} {', '.join(labels) + more if more else listed(labels)} {verb}"


def _apart(groups: Indices, weights: Array) -> list[int]:
    """The smaller of the two sets of groups that differ most in the mode in which groups differ most."""
    size = np.bincount(groups)
    shares = np.stack([np.bincount(groups, column) / size for column in weights.T], axis=1)
    overall = np.mean(weights, axis=0)
    mode = int(np.argmax(size @ (shares - overall) ** 2))
    order = np.argsort(shares[:, mode], kind="stable")
    runs, inside = np.cumsum(size[order])[:-1], np.cumsum((size * (shares[:, mode] - overall[mode]))[order])[:-1]
    best = 1 + int(np.argmax(inside**2 / (runs * (np.sum(size) - runs))))
    low, high = order[:best], order[best:]
    return sorted((low if len(low) < len(high) else high).tolist())


def _beyond(found: Tested, number: Array, weights: Array) -> tuple[Flags, str]:
    split = float(np.median(number)) if found.split is None else found.split
    above = number > split
    name = found.name
    if name == ORDER:
        first = int(np.ceil(split))
        return (above, f"from run {first + 1} on there is") if np.sum(above) <= np.sum(~above) else (
            ~above, f"the first {first} runs have")  # fmt: skip
    if name == PLACE_IN_JOB:
        first = int(np.ceil(split))
        return ~above, f"the first {first} runs of a job have" if first > 1 else "the first run of a job has"
    rare = above if np.sum(above) <= np.sum(~above) else ~above
    word = "above" if rare is above else "below"
    return rare, f"runs with {name} {word} {split:.4g} have"


def _share(weights: Array, which: Flags) -> Array:
    mean: Array = np.mean(weights[which], axis=0)
    return mean


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
