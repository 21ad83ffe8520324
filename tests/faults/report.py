"""The table: fault, rounds, lost, doubled, seconds to recover."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.faults.rounds import Outcome

HEAD = ("fault", "rounds", "runs", "lost", "doubled", "superseded", "measured again", "recovers in s", "bar", "verdict")


def table(outcomes: Sequence[Outcome]) -> str:
    """Markdown, one row a fault, the worst recovery of all its strikes."""
    names = list(dict.fromkeys(outcome.fault for outcome in outcomes))
    rows = [HEAD, *(_row([outcome for outcome in outcomes if outcome.fault == name]) for name in names)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def complaints(outcomes: Sequence[Outcome]) -> list[str]:
    """What went wrong, round by round."""
    return [
        f"{outcome.fault}, seed {outcome.seed}: {what}" for outcome in outcomes for what in outcome.findings.complaints
    ]


def write(outcomes: Sequence[Outcome], path: Path) -> None:
    """Everything, for machines."""
    path.write_text(json.dumps([asdict(outcome) | {"passed": outcome.passed} for outcome in outcomes], indent=1) + "\n")


def _row(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    findings = [outcome.findings for outcome in outcomes]
    took_s = [took_s for outcome in outcomes for took_s in outcome.recovery_s]
    within_s = outcomes[0].within_s
    return (
        outcomes[0].fault,
        str(len(outcomes)),
        str(sum(outcome.runs for outcome in outcomes)),
        str(sum(found.lost for found in findings)),
        str(sum(found.doubled for found in findings)),
        str(sum(found.superseded for found in findings)),
        str(sum(found.superseded + found.unrecorded for found in findings)),
        f"{max(took_s):.1f}" if took_s else "-",
        f"{within_s:g}" if within_s is not None else "-",
        "ok" if all(outcome.passed for outcome in outcomes) else "FAILED",
    )
