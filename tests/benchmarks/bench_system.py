"""What the whole system costs, each part beside its physical neighbour in the same run.

    make bench-load                                                      # with the ledger's own bars
    python -m tests.benchmarks.bench_system [replay] [empty] [connections] [--share 0.1]

`replay`: the published study played back by 12 agents, against empty tasks through 12 solo Celery workers, a bare COPY
of the run rows, and as many appends to spools. `empty`: /bin/true through the whole system, against HyperQueue.
`connections`: to the database, of 1,000 agents with runs of 20 s. About a quarter of an hour;
`--share 0.1`: four minutes.
"""

from __future__ import annotations

import click

from tests.benchmarks import bars, empty_programs, many_agents, replayed_study

PARTS = {
    "replay": replayed_study.measure,
    "empty": empty_programs.measure,
    "connections": many_agents.measure,
}


@click.command(help=__doc__)
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@click.option("--share", default=1.0, help="Of the study, of the empty programs, and of the agents.")
def main(*, parts: tuple[str, ...], share: float) -> None:
    """One part after the other, all where none is named."""
    bars.tell("system", [line for part in parts or PARTS for line in PARTS[part](share)])


if __name__ == "__main__":
    main()
