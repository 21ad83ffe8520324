"""All that is known of why a configuration has several modes, as one frozen value."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from analysis.arrays import Array, Flags, Indices
from analysis.attribution.candidates import candidates, finest_place, held_together
from analysis.attribution.changes import LARGEST_P, Change, changes
from analysis.attribution.dependence import Dependence, dependence, intraclass
from analysis.attribution.invocation import Shared, processes_that_took_part, shared_with
from analysis.attribution.label import Label, labelled
from analysis.attribution.membership import mode_weights
from analysis.attribution.permutation import Ground, Tested, tested
from analysis.attribution.precision import QuantileError, quantile_errors
from analysis.attribution.runs import Runs, codes
from analysis.attribution.sentences import mode_names, sentence
from analysis.errors import AnalysisError
from analysis.mixture.options import Options
from analysis.mixture.selection import Selection

QUANTILES = (0.1, 0.5, 0.9)
# A node with fewer runs is not searched for change points of its own.
FEWEST_OF_NODE = 20


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One circumstance: does it predict the density mode of a run?

    `effect` is the share of the variance of mode membership that it explains, beyond chance. `named`: it explains
    something even where all that is named before it, `given`, is held constant; then `sentence` says what.
    """

    name: str
    p: float
    q: float
    effect: float
    named: bool
    given: tuple[str, ...]
    sentence: str | None


@dataclass(frozen=True, kw_only=True)
class NodeChange:
    """A change point in the runs of one node; `at` counts the runs of that node from 0."""

    node: str
    change: Change


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a configuration may have several modes. `sentence` says what goes with the modes.

    `mode_names` are those of the density modes that `findings` are about; empty, with `label` None, for a fit with
    one. `drift` is over all runs in order of start, `node_drift` over those of each node.
    """

    n: int
    sentence: str
    mode_names: tuple[str, ...]
    label: Label | None
    findings: tuple[Finding, ...]
    dependence: Dependence
    drift: tuple[Change, ...]
    node_drift: tuple[NodeChange, ...]
    quantiles: tuple[QuantileError, ...]
    shared: tuple[Shared, ...] = ()
    processes_share: float | None = None

    @property
    def named(self) -> tuple[Finding, ...]:
        """What explains something, the strongest first."""
        return tuple(sorted((one for one in self.findings if one.named), key=lambda one: len(one.given)))

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class Invocation:
    """What else the same n invocations said: values of other modes, and of the processes of this one."""

    others: Mapping[str, Array]
    process_average: Array | None = None
    process_smallest: Array | None = None


def explain(
    runs: Runs,
    selection: Selection,
    *,
    options: Options | None = None,
    rng: np.random.Generator,
    unit: str = "kB/s",
    larger_is_better: bool = True,
    invocation: Invocation | None = None,
) -> Explanation:
    """Explain the density modes of `selection`, which was fitted to the values of `runs`.

    Raises `AnalysisError` when the selection is of another number of runs.
    """
    if selection.n != runs.n:
        raise AnalysisError(f"the fit is of {selection.n} runs, and there are {runs.n}")
    chosen = Options() if options is None else options
    depends = dependence(runs)
    clustered = depends.by_job is not None and depends.by_job.excludes_zero
    together = held_together(runs) if clustered else np.arange(runs.n)
    drift = tuple(changes(runs.values, together, rng))
    plain = Explanation(
        n=runs.n,
        sentence=_plain(drift, depends),
        mode_names=(),
        label=None,
        findings=(),
        dependence=depends,
        drift=drift,
        node_drift=tuple(_by_node(runs, together, rng)),
        quantiles=quantile_errors(runs.values, codes(runs.jobs)[0], QUANTILES, rng) if clustered else (),
    )
    if selection.density_modes < 2:
        return plain
    weights = mode_weights(selection.best, selection.modes, runs.values)
    names = mode_names([m.position for m in selection.modes], unit=unit, larger_is_better=larger_is_better)
    results = tested(_ground(runs, weights), list(candidates(runs)), rng)
    findings = tuple(_finding(one, weights, names) for one in results)
    label = labelled(runs, results, drift, options=chosen, unit=unit)
    told = replace(plain, sentence=_sentence(findings, depends), mode_names=names, label=label, findings=findings)
    return told if invocation is None else _with_invocation(told, invocation, _slow(weights, larger_is_better))


def _ground(runs: Runs, weights: Array) -> Ground:
    """Jobs keep together where their runs are alike beyond what their node and session make of them."""
    blocks = held_together(runs)
    varying = weights[:, int(np.argmax(np.var(weights, axis=0)))]
    alike = intraclass(varying, blocks, strata=finest_place(runs)) if runs.jobs else None
    return Ground(
        # Two modes say the same of a run: one column will do.
        weights=weights[:, :1] if weights.shape[1] == 2 else weights,
        blocks=blocks if alike is not None and alike.excludes_zero else np.arange(runs.n),
        node=codes(runs.nodes)[0] if runs.nodes else None,
        job=codes(runs.jobs)[0] if runs.jobs else None,
    )


def _by_node(runs: Runs, together: Indices, rng: np.random.Generator) -> list[NodeChange]:
    """Bonferroni over the nodes that have enough runs."""
    number, names = codes(runs.nodes) if len(set(runs.nodes)) > 1 else (np.zeros(0, dtype=np.int64), ())
    searched = [node for node in range(len(names)) if np.sum(number == node) >= FEWEST_OF_NODE]
    return [
        NodeChange(node=names[node], change=change)
        for node in searched
        for change in changes(
            runs.values[number == node], together[number == node], rng, largest_p=LARGEST_P / len(searched)
        )
    ]


def _finding(one: Tested, weights: Array, names: Sequence[str]) -> Finding:
    return Finding(
        name=one.name, p=one.p, q=one.q, effect=one.effect, named=one.named, given=one.given,
        sentence=sentence(one, weights, names) if one.named else None,
    )  # fmt: skip


def _slow(weights: Array, larger_is_better: bool) -> Flags:
    """The runs of the worst mode."""
    worst = weights[:, 0] if larger_is_better else weights[:, -1]
    return np.asarray(worst > 0.5)


def _with_invocation(told: Explanation, invocation: Invocation, slow: Flags) -> Explanation:
    average, smallest = invocation.process_average, invocation.process_smallest
    share = None
    if average is not None and smallest is not None:
        share = processes_that_took_part(average, smallest, slow)
    return replace(told, shared=shared_with(slow, invocation.others), processes_share=share)


def _sentence(findings: Sequence[Finding], depends: Dependence) -> str:
    named = sorted((one for one in findings if one.named), key=lambda one: len(one.given))
    told = "; ".join(one.sentence for one in named if one.sentence is not None)
    if told:
        return told
    if depends.by_job is not None and depends.by_job.value > 0.5 and depends.by_job.excludes_zero:
        return "runs of a job share their mode, and nothing that was observed tells which one"
    return "nothing that was observed predicts the mode of a run"


def _plain(drift: Sequence[Change], depends: Dependence) -> str:
    if drift:
        places = ", ".join(str(change.at + 1) for change in drift)
        return f"one mode; its level changes with run {places}"
    if depends.by_job is not None and depends.by_job.excludes_zero:
        return f"one mode; runs of a job are alike, and tell as much as {depends.effective_n:.0f} independent ones"
    return "one mode; its runs look independent"
