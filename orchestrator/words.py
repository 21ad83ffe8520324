"""Sentences about campaigns, the same in every command and in the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.contracts.analyses import AnalysisVersion
from orchestrator.contracts.campaigns import Campaign, Configuration, Progress, State
from orchestrator.contracts.engines import IMPORTED
from orchestrator.contracts.rounds import FIXED, Adaptation, Choice


def duration(seconds: float) -> str:
    """`48 s`, `3 min 20 s`, `5 h 07 min`, `3 d 04 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600:02d} h"


def span(seconds: float | None, low_s: float | None, high_s: float | None) -> str:
    """`2 h 10 min (80 %: 1 h 50 min to 2 h 40 min)`; without its interval where there is none."""
    if seconds is None:
        return "not known yet"
    if low_s is None or high_s is None or low_s == high_s:
        return duration(seconds)
    return f"{duration(seconds)} (80 %: {duration(low_s)} to {duration(high_s)})"


def rate(per_s: float) -> str:
    """Runs a minute: `1,242`, `3.1`, `0.31`."""
    per_min = 60 * per_s
    return f"{per_min:,.0f}" if per_min >= 100 else f"{per_min:.1f}" if per_min >= 1 else f"{per_min:.2g}"


def rate_span(per_s: float, low_per_s: float, high_per_s: float) -> str:
    """`3.1 runs/min (2.9 to 3.3)`."""
    return f"{rate(per_s)} runs/min ({rate(low_per_s)} to {rate(high_per_s)})"


def counted(number: int, noun: str) -> str:
    """`1 run`, `12,000 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def state(campaign: Campaign) -> str:
    """Its state, and whether it is paused or archived."""
    if campaign.archive is not None:
        return f"{campaign.state}, archived"
    return "paused" if campaign.paused and campaign.state is State.RUNNING else str(campaign.state)


def small(probability: float) -> str:
    """`0.034`, `< 0.001`."""
    return "< 0.001" if probability < 0.001 else f"{probability:.3f}"


def title(factors: Sequence[str], found: Configuration) -> str:
    """`readers, threads 2, file_size_kb 64`; or the name of a control, marked as what it is."""
    if found.control is not None:
        return f"{found.control} (synthetic control)"
    levels = zip(factors, found.levels, strict=True)
    return ", ".join([found.mode, *(f"{factor} {level}" for factor, level in levels)])


def listed(counts: Mapping[str, int]) -> str:
    """`unimodal 60, multimodal 3`, the most frequent first."""
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def judging(progress: Progress) -> str:
    """What stands between the last fit and the final verdicts; nothing before, and nothing afterwards."""
    fitted = progress.campaign.state is not State.RUNNING and progress.analyses_done == progress.analyses_total
    if progress.verdicts_final or not fitted:
        return ""
    if progress.flags_to_judge == 0:
        return "making verdicts final"
    return f"judged {progress.flags_judged:,}/{progress.flags_to_judge:,} flags by their new runs"


def outcome(progress: Progress) -> str:
    """How a campaign ended: what is there, what is missing and why, and the command that repeats it."""
    campaign = progress.campaign
    took = "" if campaign.engine == IMPORTED else f", in {duration(progress.elapsed_s)}"
    lines = [
        f"Campaign {campaign.id} {campaign.name!r} is {state(campaign)}: "
        f"{progress.valid_runs:,} of {counted(campaign.expected_runs, 'run')} valid"
        f"{f', {progress.invalid_runs:,} invalid' if progress.invalid_runs else ''}{took}."
    ]
    lines += [f"  {counted(count, 'run')} missing: {reason}" for reason, count in campaign.missing.items()]
    if campaign.missing:
        lines.append(f"  Repeat them with `modescope campaign rerun {campaign.id} --flag incomplete`.")
    if campaign.archive is not None:
        lines.append(f"Its rows are in {campaign.archive}.")
    lines += [f"  {node} is offline: its share waits for it." for node in progress.waits_for]
    lines += [f"  {node} was offline for 15 min: others have its share." for node in progress.lost]
    if campaign.analysis_version > 1:
        lines.append(
            f"Exploratory: version {campaign.analysis_version} of its analysis, made after the runs; "
            f"`modescope campaign analyse {campaign.id}` says what was changed and why."
        )
    if progress.verdicts:
        lines.append(f"Verdicts: {listed(progress.verdicts)}.")
    return "\n".join(lines)


def growth(found: Adaptation | Choice | None) -> list[str]:
    """What a campaign that grows has come to; nothing of one that does not."""
    if found is None:
        return []
    return adaptation(found) if isinstance(found, Adaptation) else choice(found)


def choice(found: Choice) -> list[str]:
    """What an active campaign has come to."""
    number = len(found.rounds) + (0 if found.over else 1)
    rounds = f"{counted(number, 'round')}{'' if found.over else ' so far'}"
    if found.measured is None:
        return [f"Active: {rounds}, a part of {counted(found.settings, 'setting')} that fills the space."]
    lines = [f"Active: {rounds}, {found.measured:,} of {counted(found.settings, 'setting')}."]
    left = found.settings - found.measured
    if found.unpredictable is not None:
        lines.append(f"It ended because nothing can be predicted: {found.unpredictable}.")
    elif found.expected_distance is not None:
        lines.append(
            f"Predictions of what was left are expected to be {found.expected_distance:.2f} (Kolmogorov and Smirnov) "
            f"from samples of it; {found.options['good_enough']} is good enough."
        )
    if found.over and left and found.saved_node_hours is not None:
        lines.append(
            f"Saved: {node_hours(found.saved_node_hours)}, by the runs of {counted(left, 'setting')} not measured."
        )
    return lines


def node_hours(hours: float) -> str:
    """`1,240 node hours`, `0.31 node hours`, `3.2 s of node time`."""
    if hours < 0.01:
        return f"{3600 * hours:.2g} s of node time"
    return f"{hours:,.0f} node hours" if hours >= 100 else f"{hours:.3g} node hours"


def adaptation(found: Adaptation) -> list[str]:
    """What an adaptive campaign has come to."""
    number = len(found.rounds) + (0 if found.over else 1)
    rounds = f"{counted(number, 'round')}{'' if found.over else ' so far'}"
    lines = [f"Adaptive: {rounds}, from a pilot of {found.options['pilot']}."]
    if found.reached_median is not None and found.reached_worst is not None:
        at_max = f"; {counted(found.at_max, 'setting')} at the maximum" if found.at_max else ""
        lines.append(
            f"{found.met:,} of {counted(found.configurations, 'configuration')} meet the target{at_max}; standard "
            f"errors are {found.reached_median:.2f} targets in the median, {found.reached_worst:.2f} at most."
        )
        lines.append(
            f"{counted(found.runs, 'run')}, {abs(found.saved_runs):,} {'fewer' if found.saved_runs >= 0 else 'more'} "
            f"than {FIXED} of every setting, which would meet it in {found.fixed_met:,} of {found.configurations:,}."
        )
    return lines


def analysis_version(found: AnalysisVersion) -> str:
    """`version 2, exploratory: max_components 5 -> 3, because they overfit`; `version 1, as submitted`."""
    if not found.exploratory:
        return f"version {found.number}, as submitted, SHA-256 {found.digest[:12]}"
    changes = ", ".join(f"{name} {_value(one.submitted)} -> {_value(one.here)}" for name, one in found.changed.items())
    return f"version {found.number}, exploratory: {changes}, because: {found.why}"


def _value(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
