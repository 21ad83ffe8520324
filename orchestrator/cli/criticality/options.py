"""The options of `modescope criticality`: what a table's columns mean, how to learn, how to judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click


def names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """`a,b` as names; None where nothing is given."""
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


def shares(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[float, ...]:
    """`0.05,0.5` as numbers."""
    try:
        return tuple(float(part) for part in value.split(","))
    except ValueError as error:
        raise click.BadParameter("shares are numbers, as in 0.05,0.5") from error


INPUT = (
    click.argument("file", type=click.Path(path_type=Path)),
    click.option("--collective", callback=names, help="Columns that name a collective.  [default: collective]"),
    click.option("--rank", default="rank", show_default=True, help="Column that names a rank."),
    click.option("--setting", callback=names, help="Columns of the setting.  [default: setting, application]"),
    click.option("--throughput", help="Instead of a time: a column of throughputs; a round took --work / throughput."),
    click.option("--work", callback=names, default="", help="Columns whose product is the work, as in threads,fsize."),
    click.option("--consecutive", type=click.IntRange(2), help="So many consecutive --rank values are one collective."),
    click.option("--in-order", is_flag=True, help="The k-th valid row of a rank in a setting is its round k."),
    click.option("--share", type=float, default=0.25, show_default=True, help="Critical: slack < SHARE x imbalance."),
    click.option("--bound-ms", type=float, default=10.0, show_default=True, help="Learn from this imbalance on."),
    click.option("--from-ms", type=float, default=5.0, show_default=True, help="Label from this imbalance on."),
)
LEARNING = (
    click.option("--counters", callback=names, help="Columns of counters; '' for none.  [default: all other numbers]"),
    click.option("--window-ms", type=float, default=5.0, show_default=True, help="Pool what is read in it."),
    click.option("--history/--no-history", default=None, help="Rates of earlier rounds.  [default: without counters]"),
    click.option("--own-time", is_flag=True, help="Also the rank's own time, which it knows when it is there."),
    click.option("--drift", type=click.IntRange(0), help="Take off the mean of so many samples around each."
                 "  [default: 2 N - 1 with --consecutive N, else none]"),
    click.option("--per-setting", is_flag=True, help="A model for each setting instead of one for all."),
    click.option("--standard", type=click.Choice(["setting", "all"]), default="setting", show_default=True,
                 help="Standardise counters by each setting's own unlabelled runs, or by all."),
    click.option("--ridge", type=float, default=10.0, show_default=True, help="Penalty of the logistic regression."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of splits and resamples."),
)  # fmt: skip
JUDGING = (
    click.option("--split", type=click.Choice(["collective", "setting", "time", "sample"]), default="collective",
                 show_default=True, help="What stays on one side (sample flatters)."),
    click.option("--learn-share", type=click.FloatRange(0.01, 0.99), default=0.75, show_default=True),
    click.option("--folds", type=click.IntRange(0), default=10, show_default=True, help="Of the cross-validation."),
    click.option("--boosted/--no-boosted", default=True, show_default=True, help="Boosted trees as a yardstick."),
)  # fmt: skip
JSON = click.option("--json", "json_wanted", is_flag=True, help="Print one line of JSON.")


def chosen(*options: Iterable[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """One decorator of many."""

    def decorated(command: Any) -> Any:
        for option in reversed([one for group in options for one in group]):
            command = option(command)
        return command

    return decorated
