"""How a campaign was measured and analysed, in sentences made of its study and its ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.contracts.campaigns import Campaign, Submission
from orchestrator.contracts.engines import IMPORTED
from orchestrator.contracts.findings import EngineUse
from orchestrator.contracts.metrics import Metric
from orchestrator.contracts.preparation import AS_IS, Cadence, Preparation
from orchestrator.contracts.rounds import ACTIVE, ADAPTIVE
from orchestrator.design.sections import Order, Placement
from orchestrator.report.independence import Independence
from orchestrator.report.settling import settle_sentence
from orchestrator.words import counted

LEVELS = 12
"""Of a factor that are listed; of others their number and range."""
HOW_OFTEN = {Cadence.PER_JOB: "before every job", Cadence.PER_RUN: "before every run", Cadence.NEVER: "never"}
BOUNDS = {
    "frequency_tolerance": "a frequency off by more than {0:.0%}",
    "max_temperature_c": "more than {0:g} °C at the end",
    "max_start_temperature_c": "more than {0:g} °C at the start",
    "max_foreign_cpus": "more than {0:g} CPUs kept busy by others",
    "max_foreign_kbps": "more than {0:,.0f} kB/s of others' disk traffic",
    "max_cached_kb": "more than {0:,.0f} kB of file pages cached where the cache is to be dropped",
    "max_kernel_errors": "more than {0:g} new errors in the kernel's log",
    "min_free_kb": "less than {0:,.0f} kB left on the file system",
}
"""What makes a run invalid, by the name of its bound."""


_GROWTH = {ADAPTIVE: " at first, and more in rounds", ACTIVE: " that was chosen, in rounds"}


def design(campaign: Campaign, study: Submission, metric: Metric) -> str:
    """What was measured, and how often."""
    settings = [one for one in study.design.settings if one.control is None]
    modes = list(dict.fromkeys(mode for one in settings for mode in one.modes))
    factors = "; ".join(
        f"{name} ({_levels([one.levels[place] for one in settings])})"
        for place, name in enumerate(study.design.factors)
    )
    controls = len(study.design.settings) - len(settings)
    how = _GROWTH.get(campaign.grows or "", "")
    return (
        f"{counted(sum(len(one.modes) for one in settings), 'configuration')}: {counted(len(settings), 'setting')} of "
        f"{factors or 'no factor'}, in {counted(len(modes), 'mode')} ({', '.join(modes[:LEVELS])}) that come from one "
        f"invocation; {metric.name} in {metric.unit}. {counted(campaign.replicates, 'replicate')} of a setting"
        f"{how}, {campaign.expected_runs:,} runs in all."
        + (f" Beside them {counted(controls, 'synthetic control')} of known truth." if controls else "")
    )


def order(study: Submission) -> str:
    """In which order and where."""
    if study.engine == IMPORTED:
        return "The runs were made elsewhere and imported: their order, and the state of the nodes, are not known."
    per_job, blocks = _blocks(study)
    how = Order.model_validate(study.study.get("order") or {})
    shuffled = {
        "randomised": f"every block is shuffled on its own (seed {how.seed}), so that drift spreads over all settings",
        "as_listed": "in the order of the study: settings and time are confounded",
    }[how.kind]
    placed = Placement.model_validate(study.study.get("placement") or {})
    where = {
        "any": "whichever node was free did a job",
        "balanced": "the jobs of every setting were dealt evenly to the nodes",
        "by_rate": "the jobs of every setting were dealt to the nodes in proportion to how fast they work",
        "pinned": "every setting stayed on one node",
        "lockstep": "every node did every replicate, all nodes at about the same time",
    }[placed.kind]
    return (
        f"Jobs of {counted(per_job, 'replicate')} of one setting, done in a row on one node; "
        f"{counted(blocks, 'block')} that hold every setting once, {shuffled}; {where}. "
        f"An invalid run was repeated until it was valid, {study.max_tries} times in all at most."
    )


def state(study: Submission) -> str:
    """What was done to the nodes, cache and settle time included."""
    if study.engine == IMPORTED:
        return ""
    node = Preparation.from_dict(study.node_options)
    chosen = {"governor": node.governor, "turbo": str(node.turbo), "SMT": str(node.smt)}
    chosen["queue scheduler"] = node.queue_scheduler
    set_to = [f"{name} {value}" for name, value in chosen.items() if value != AS_IS]
    left = [name for name, value in chosen.items() if value == AS_IS]
    sentences = [
        "CPU frequency pinned to the level of its factor." if node.frequency != AS_IS else "CPU frequency as found.",
        f"Set: {', '.join(set_to)}." if set_to else "",
        f"Left as found, and recorded: {', '.join(left)}." if left else "",
        f"Dirty pages written out: {HOW_OFTEN[node.sync]}; page cache dropped: {HOW_OFTEN[node.drop_caches]}; "
        f"disk trimmed: {HOW_OFTEN[node.trim]}.",
        "Files are opened past the page cache (O_DIRECT)." if study.engine_options.get("direct") else "",
        settle_sentence(study) or "",
        "What was changed was put back to what had been found.",
    ]
    return " ".join(one for one in sentences if one)


def validity(study: Submission) -> str:
    """Which runs count: decided by the state of the node, never by the value."""
    if study.engine == IMPORTED:
        return ""
    bounds = Preparation.from_dict(study.node_options).bounds.as_dict()
    told = [text.format(bounds[name]) for name, text in BOUNDS.items() if bounds.get(name) is not None]
    judged = f" A run does not count with {'; '.join(told)}." if told else ""
    return (
        "A run counts when its benchmark ended well and the node was in the state asked for; "
        f"no value was left out for being unusual.{judged}"
    )


def analysis(study: Submission, version: str) -> str:
    """What was fitted, and what is flagged."""
    options: Mapping[str, Any] = study.analysis_options
    discard = options.get("discard", 0)
    aside = f" The first {counted(discard, 'valid run')} of every job were set aside as warm-up." if discard else ""
    families = ", ".join(options["families"])
    return (
        f"Mixtures of 1 to {options['max_components']} components of the families {families} by maximum likelihood "
        f"(no component narrower than {options['floor']:g} standard deviations; interval likelihood where values "
        "repeat, otherwise point); the smallest BIC is selected. Multimodal: the best fit with several density modes "
        f"beats the best with one by a BIC gap of {options['bic_gap']:g} with a dip test's Benjamini-Hochberg q of at "
        f"most {options['dip_q']:g} over the campaign, or by {options['bic_gap_alone']:g} alone.{aside} "
        f"Analysis {version}."
    )


def independence(found: Independence | None) -> str:
    """What runs share, and what that leaves of n."""
    if found is None:
        return ""
    lag = ""
    if found.lag_one is not None:
        lag = f" The correlation of neighbouring runs of a node has a median of {found.lag_one:.2f}."
    looked_at = counted(found.looked_at, "configuration")
    if not found.alike:
        return (
            f"In none of {looked_at} looked at are the runs of a job alike beyond chance (95 % interval of the "
            f"intraclass correlation): effective n is n.{lag}"
        )
    return (
        f"In {found.alike} of {looked_at} looked at the runs of a job are alike (the 95 % interval of their intraclass "
        f"correlation excludes 0); there effective n is {found.share:.0%} of n in the median.{lag}"
    )


def engines(used: Sequence[EngineUse]) -> str:
    """`iozone 3.489 on 12 nodes`: what the valid runs were measured with."""
    nodes: dict[str, set[str]] = {}
    for one in used:
        nodes.setdefault(f"{one.engine} {one.version}", set()).add(one.node)
    return (
        ", ".join(f"{name} on {counted(len(where), 'node')}" for name, where in sorted(nodes.items())) or "nothing yet"
    )


def _blocks(study: Submission) -> tuple[int, int]:
    per_job = study.study.get("replicates_per_job")
    size = per_job if isinstance(per_job, int) else study.replicates
    return size, -(-study.replicates // size)


def _levels(column: Sequence[object]) -> str:
    distinct = list(dict.fromkeys(column))
    if len(distinct) <= LEVELS:
        return ", ".join(str(one) for one in distinct)
    if all(isinstance(one, int | float) for one in distinct):
        numbers = sorted(float(str(one)) for one in distinct)
        return f"{len(distinct)} levels from {numbers[0]:g} to {numbers[-1]:g}"
    return f"{len(distinct)} levels"
