"""What a study amounts to before it is submitted: counts, duration, and what a person may not have meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from typing import Any

from orchestrator.contracts.designs import Design
from orchestrator.contracts.engines import CommandOptions, IozoneOptions, ReplayOptions
from orchestrator.contracts.preparation import Frequency, Preparation
from orchestrator.design import duration
from orchestrator.design.expand import expand, survivors
from orchestrator.design.study import Study

ENOUGH_JOBS = 5
"""Jobs a setting: with fewer, what a node or an hour does to a sample cannot be told from the setting itself."""

Shortfalls = Callable[[Preparation], list[tuple[str, str]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """A study in numbers. Controls are played, not measured: only `controls` and `seconds_per_node` know of them."""

    name: str
    engine: str
    levels: dict[str, int]
    """Factor -> how many levels."""
    modes: dict[str, int]
    """Mode -> how many settings measure it."""
    settings: int
    configurations: int
    controls: tuple[str, ...]
    replicates: int
    invocations: int
    jobs: int
    jobs_per_setting: int
    nodes: int
    seconds_per_node: float
    """Estimated, when the nodes share the work evenly."""
    space_kb: int | None
    """The most that one invocation writes; None where the design has no sizes."""
    warnings: tuple[str, ...]
    """What spoils the result."""
    notes: tuple[str, ...]
    """What may not be meant."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        return asdict(self)


def summarise(study: Study, *, nodes: int | None = None) -> Summary:
    """Count and estimate, without asking anybody; `nodes` defaults to those the study is pinned to, or one."""
    design = expand(study)
    measured = [setting for setting in design.settings if setting.control is None]
    sharing = nodes or len(study.placement.nodes) or 1
    each = sharing if study.placement.kind == "lockstep" else 1  # every node does everything
    return Summary(
        name=study.name,
        engine=study.engine.name,
        levels={factor: len(study.design.levels_of(factor)) for factor in design.factors},
        modes=dict(Counter(mode for setting in measured for mode in setting.modes)),
        settings=len(measured),
        configurations=sum(len(setting.modes) for setting in measured),
        controls=tuple(study.controls),
        replicates=study.replicates,
        invocations=len(measured) * study.replicates * each,
        jobs=len(measured) * study.jobs_per_setting * each,
        jobs_per_setting=study.jobs_per_setting * each,
        nodes=sharing,
        seconds_per_node=duration.total_s(study, design) * each / sharing,
        space_kb=_space_kb(design),
        warnings=tuple(_warnings(study)),
        notes=tuple(_notes(study)),
    )


def here(preparation: Preparation) -> list[tuple[str, str]] | None:
    """What this machine cannot set, each with the line of YAML that runs the study all the same.

    None: the part that knows (`workers`, found by its entry point) is not installed.
    """
    for found in entry_points(group="modescope.abilities", name="here"):
        try:
            shortfalls: Shortfalls = found.load()
        except (ImportError, AttributeError):
            return None
        return shortfalls(preparation)
    return None


def _space_kb(design: Design) -> int | None:
    if not {"threads", "file_size_kb"} <= set(design.factors):
        return None
    threads, size = design.factors.index("threads"), design.factors.index("file_size_kb")
    written = (int(s.levels[threads]) * int(s.levels[size]) for s in design.settings if s.control is None)
    return max(written, default=0)


def _warnings(study: Study) -> Iterator[str]:
    if study.jobs_per_setting < ENOUGH_JOBS:
        yield (
            f"{study.jobs_per_setting} jobs a setting, fewer than {ENOUGH_JOBS}: a drift of the node can look like a"
            f" density mode; write `replicates_per_job: {max(1, study.replicates // ENOUGH_JOBS)}`"
        )
    for number, block in enumerate(study.design.blocks):
        if not any(True for _ in survivors(block, study.design)):
            yield f"design.blocks[{number}] adds nothing: its constraints leave no setting"


def _notes(study: Study) -> Iterator[str]:
    if study.order.kind == "as_listed":
        yield "order: as_listed: a drift of the node falls on neighbouring settings; `order: randomised` spreads it"
    if study.placement.kind == "by_rate":
        yield "placement: by_rate: fast nodes do more of everything: their runs weigh more in every sample"
    if study.placement.kind == "lockstep":
        yield "placement: lockstep: every node does all replicates, and idles in each round until the slowest is ready"
    if study.canaries is not None:
        runs = study.canaries.times * study.canaries.runs
        told = len(study.canaries.levels(study.design.factors))
        yield f"canaries: every node measures {told} of the settings {runs} times, instead of as often as the others"
    yield from _unset_factors(study)
    options = study.engine.options
    if isinstance(options, IozoneOptions) and options.settle_s is None and "settle_s" not in study.design.factors:
        yield "with small files IOzone's own pauses are most of the duration; `settle_s: 0` in `engine` drops them"


def _unset_factors(study: Study) -> Iterator[str]:
    """Factors whose levels nobody applies: they label the runs, no more. A replay looks samples up by all of them;
    which of them a program takes is known to the node's inventory."""
    if isinstance(study.engine.options, ReplayOptions | CommandOptions):
        return
    used = {*study.engine.options.required_factors, *study.engine.options.overridden_by_factors}
    for factor in study.design.factors:
        if factor == "frequency_khz" and study.node.frequency is Frequency.AS_IS:
            yield "frequency_khz only labels runs: write `frequency: pinned` in `node` to set it"
        elif factor != "frequency_khz" and factor not in used:
            yield f"factor {factor!r} only labels runs: engine {study.engine.name} does not read it"
