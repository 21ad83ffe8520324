"""`modescope parse`: what a benchmark printed, as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from workers.benchmarks.iozone_text import Measured

COLUMNS = ("mode", "throughput_kbps", "threads", "file_size_kb", "record_size_kb")


@click.group()
def parse() -> None:
    """Read a benchmark's output into CSV."""


@parse.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--partial", is_flag=True, help="Print what is whole of an interrupted output.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the details per process.")
def iozone(file: Path, partial: bool, as_json: bool) -> None:
    """Read what IOzone 3.x printed in throughput mode (-t); - reads standard input.

    Prints one row a mode: `mode,throughput_kbps,threads,file_size_kb,record_size_kb`, the throughput being what the
    children see.

    \b
    Example:
      iozone -t 2 -s 4m -r 64k -i 0 -i 1 | modescope parse iozone -
    """
    from orchestrator.contracts.errors import OutputError
    from workers.benchmarks import iozone_text

    try:
        measured = iozone_text.parse(_text(file), partial=partial)
    except OutputError as problem:
        raise OutputError(f"{file}: {problem}") from problem
    click.echo(_as_json(measured) if as_json else _as_csv(measured), nl=False)


def _text(file: Path) -> str:
    from orchestrator.contracts.errors import OutputError

    try:
        with click.open_file(str(file), encoding="utf-8", errors="replace") as stream:
            text: str = stream.read()
    except OSError as problem:
        raise OutputError(f"cannot be read: {problem.strerror}") from problem
    return text


def _as_csv(measured: tuple[Measured, ...]) -> str:
    """Throughputs with the two decimals that IOzone prints."""
    rows = [
        f"{entry.mode},{entry.throughput_kbps:.2f},{entry.threads},{entry.file_size_kb},{entry.record_size_kb}\n"
        for entry in measured
    ]
    return ",".join(COLUMNS) + "\n" + "".join(rows)


def _as_json(measured: tuple[Measured, ...]) -> str:
    import json
    from dataclasses import asdict

    return json.dumps([asdict(entry) for entry in measured], indent=2) + "\n"
