"""What verbs of `modescope logs` ask alike: which columns of a table say what, and how to learn from it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

TARGET = "Column of the throughput.  [default: darshan_agg_perf_by_slowest_posix or Throughput]"
TIME = "Column of the start.  [default: darshan_start_time or StartTime]"
END = "Column of the end.  [default: --time's name with end for start; start + walltime]"
KEY = "Columns, comma-separated, coarse to fine.  [default: see `modescope logs evaluate --help`]"


def names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Comma-separated."""
    return None if value is None else tuple(name.strip() for name in value.split(","))


def _share(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not 0 < value < 1:
        raise click.BadParameter("a share between 0 and 1 is needed, as in 0.6")
    return value


def learning(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb TABLE, its columns and how to learn; it gets `table` and `settings`."""

    @click.argument("table", type=click.Path(path_type=Path))
    @click.option("--target", help=TARGET)
    @click.option("--time", help=TIME)
    @click.option("--end", help=END)
    @click.option("--key", callback=names, help=KEY)
    @click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of everything random.")
    @click.option("--processes", type=click.IntRange(1), default=2, show_default=True, help="Threads to learn with.")
    @functools.wraps(command)
    def with_settings(
        *,
        target: str | None,
        time: str | None,
        end: str | None,
        key: tuple[str, ...] | None,
        seed: int,
        processes: int,
        **arguments: Any,
    ) -> Any:
        from orchestrator.job_logs.evaluating import Settings
        from orchestrator.job_logs.jobs import Columns

        columns = Columns(target=target, time=time, end=end, key=key)
        return command(settings=Settings(columns=columns, seed=seed, processes=processes), **arguments)

    return with_settings


train_share = click.option(
    "--train-share", type=float, callback=_share, default=0.6, show_default=True, help="First, by time."
)
