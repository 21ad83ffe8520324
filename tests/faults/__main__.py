"""`make faults`: every fault, many rounds, one table."""

from __future__ import annotations

from pathlib import Path

import click

from orchestrator.embedded import stopping
from tests.faults import catalogue, report, rounds
from tests.faults.rounds import Outcome
from tests.faults.system import System


@click.command()
@click.option("--rounds", "how_many", default=3, show_default=True, help="Rounds of each fault.")
@click.option("--only", help="Only faults whose name holds one of these words, comma-separated.")
@click.option("--seed", default=0, show_default=True, help="Of the first round; every round has its own.")
@click.option(
    "--scale", default=1.0, show_default=True, help="How long faults last, as a multiple of the true duration."
)
@click.option("--runs", default=3000, show_default=True, help="Runs in the campaign of a round, about.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every round's figures there.")
def main(*, how_many: int, only: str | None, seed: int, scale: float, runs: int, json_file: Path | None) -> None:
    """Break the service in every way we know, and count what is lost or doubled. Exit status 1 if a round failed."""
    outcomes: list[Outcome] = []
    with stopping.on_request(), System() as system:
        for fault in catalogue.matching(only):
            for number in range(how_many):
                outcome = rounds.play(
                    system, fault, seed=seed + number, number=len(outcomes) + 1, scale=scale, runs=runs
                )
                outcomes.append(outcome)
                click.echo(_line(outcome), err=True)
                if json_file is not None:
                    report.write(outcomes, json_file)
    click.echo(report.table(outcomes))
    if not all(outcome.passed for outcome in outcomes):
        click.echo("\n".join(report.complaints(outcomes)))
        raise SystemExit(1)


def _line(outcome: Outcome) -> str:
    took = ", ".join(f"{took_s:.1f}" for took_s in outcome.recovery_s)
    word = "ok" if outcome.passed else f"FAILED {outcome.findings}"
    return f"{outcome.fault}, seed {outcome.seed}: {outcome.elapsed_s:.0f} s, recovered in ({took}) s: {word}"


if __name__ == "__main__":
    main()
