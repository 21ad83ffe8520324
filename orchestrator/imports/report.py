"""What an import found, as `modescope import` tells it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from orchestrator import words
from orchestrator.imports.recording import Wanted
from orchestrator.imports.values import Skipped

SHOWN = 10


def of(wanted: Wanted, skipped: Skipped) -> dict[str, Any]:
    """JSON-able values: what would be stored, and what not."""
    submission = wanted.submission
    totals = wanted.totals
    sizes = [setting.replicates or submission.replicates for setting in submission.design.settings]
    return {
        "name": submission.name,
        "factors": list(submission.design.factors),
        "settings": len(submission.design.settings),
        "configurations": submission.design.configuration_count,
        "modes": dict(Counter(mode for setting in submission.design.settings for mode in setting.modes)),
        "valid_runs": totals.valid,
        "invalid_runs": sum(totals.invalid.values()),
        "invalid_reasons": dict(totals.invalid),
        "fewest_runs": min(sizes),
        "most_runs": max(sizes),
        "nodes": dict(totals.nodes),
        "skipped": [
            {"reason": reason, "count": count, "first": first} for reason, count, first in skipped.as_rows()
        ],
    }  # fmt: skip


def text(told: dict[str, Any]) -> str:
    """For people; `told` may say besides which campaign came of it."""
    size = f"{told['fewest_runs']:,}"
    if told["most_runs"] != told["fewest_runs"]:
        size += f" to {told['most_runs']:,}"
    lines = [
        _headline(told),
        f"factors         {', '.join(told['factors']) or 'none'}",
        f"modes           {_listed(told['modes'])}",
        f"settings        {told['settings']:,}, that is {words.counted(told['configurations'], 'configuration')}",
        f"runs            {told['valid_runs']:,} valid, {size} of a setting; {told['invalid_runs']:,} invalid",
        f"nodes           {_listed(told['nodes'])}",
    ]
    lines += [f"invalid         {count:,} runs: {reason}" for reason, count in told["invalid_reasons"].items()][:SHOWN]
    lines += [f"skipped         {one['count']:,}: {one['reason']} (first: {one['first']})" for one in told["skipped"]]
    return "\n".join(lines if told["skipped"] else [*lines, "skipped         nothing"])


def _headline(told: dict[str, Any]) -> str:
    if "campaign" not in told:
        return f"Dry run of {told['name']!r}: nothing is stored."
    if told["new"]:
        return (
            f"Imported {told['name']!r} as campaign {told['campaign']}; `modescope campaign watch {told['campaign']}`."
        )
    return f"Imported before, as campaign {told['campaign']}: nothing changed."


def _listed(counts: dict[str, int]) -> str:
    shown = [f"{name} {count:,}" for name, count in list(counts.items())[:SHOWN]]
    return ", ".join(shown + ["..."] * (len(counts) > SHOWN))
