"""Every load bar of the full study, one benchmark after the other; then all of them in one table, and as JSON.

make bench-load [ARGS="--only submit,ingest,growth,dispatch,replay,empty,connections --quick"]
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import click

from tests.benchmarks import bars
from tests.benchmarks.bars import Line

LEDGER = ("submit", "ingest", "growth")
SYSTEM = ("replay", "empty", "connections")
PARTS = (*LEDGER, "dispatch", *SYSTEM)


@click.command()
@click.option("--only", default=",".join(PARTS), help=f"Some of {', '.join(PARTS)}.")
@click.option("--quick", is_flag=True, help="A small part of everything: does it work?")
def main(only: str, quick: bool) -> None:
    """Run what was asked for; a benchmark that failed is a bar that is not met, and the others go on."""
    wanted = only.split(",")
    if unknown := set(wanted) - set(PARTS):
        raise click.UsageError(f"no such part: {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    lines = [line for words in _commands(wanted, quick=quick) for line in _run(words)]
    bars.tell("load", lines)
    sys.exit(any(line.met is False and not line.bar for line in lines))


def _commands(wanted: Sequence[str], *, quick: bool) -> list[list[str]]:
    """Name and words of each benchmark; the system's parts by themselves, for each has servers of its own."""
    commands = []
    if ledger := [part for part in LEDGER if part in wanted]:
        commands.append(["bench_ledger", "--only", ",".join(ledger), *(["--quick"] if quick else [])])
    if "dispatch" in wanted:
        commands.append(["bench_dispatch", *(["--sizes", "6000"] if quick else [])])
    small = ["--share", "0.02"] if quick else []
    return commands + [["bench_system", part, *small] for part in SYSTEM if part in wanted]


def _run(words: Sequence[str]) -> list[Line]:
    """Show what the benchmark says while it says it; its last line tells its bars."""
    name, *arguments = words
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for last in process.stdout:
            if not last.startswith('{"benchmark"'):
                print(last, end="", flush=True)
    if process.returncode != 0:
        return [Line(what=" ".join(words), bar="", measured=f"failed with status {process.returncode}", met=False)]
    return bars.told(last)


if __name__ == "__main__":
    main()
