"""Every load bar of the full study, one benchmark after the other.

make bench-load [ARGS="--only submit,ingest,growth,dispatch,replay,empty,connections --quick"]
"""

from __future__ import annotations

import subprocess
import sys

import click

LEDGER = ("submit", "ingest", "growth")
SYSTEM = ("replay", "empty", "connections")
PARTS = (*LEDGER, "dispatch", *SYSTEM)


@click.command()
@click.option("--only", default=",".join(PARTS), help=f"Some of {', '.join(PARTS)}.")
@click.option("--quick", is_flag=True, help="A small part of everything: does it work?")
def main(only: str, quick: bool) -> None:
    """Run what was asked for; the exit status is that of the first benchmark that failed."""
    wanted = only.split(",")
    if unknown := set(wanted) - set(PARTS):
        raise click.UsageError(f"no such part: {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    statuses = [subprocess.run(words, check=False).returncode for words in _commands(wanted, quick=quick)]
    sys.exit(next((status for status in statuses if status), 0))


def _commands(wanted: list[str], *, quick: bool) -> list[list[str]]:
    ledger = [part for part in LEDGER if part in wanted]
    system = [part for part in SYSTEM if part in wanted]
    asked = {
        "bench_ledger": ["--only", ",".join(ledger)] + ["--quick"] * quick if ledger else None,
        "bench_dispatch": ["--sizes", "6000"] * quick if "dispatch" in wanted else None,
        "bench_system": [*system, *(["--share", "0.01"] if quick else [])] if system else None,
    }
    return [
        [sys.executable, "-m", f"tests.benchmarks.{name}", *words] for name, words in asked.items() if words is not None
    ]


if __name__ == "__main__":
    main()
