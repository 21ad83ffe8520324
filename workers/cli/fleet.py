"""`modescope fleet`: nodes over SSH."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from workers.fleet import Machine
    from workers.remote import Session

FILE = click.argument("inventory", type=click.Path(path_type=Path, dir_okay=False))
DRY_RUN = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")


@click.group()
def fleet() -> None:
    """Compare, install, start and stop nodes over SSH.

    INVENTORY is a YAML file: `database_url:` and `redis_url:` as the nodes reach them, `defaults:` for all nodes, and
    `nodes: {m01: {host: 10.0.0.1}}`. Host keys have to be in known_hosts.
    """


@fleet.command()
@FILE
def check(inventory: Path) -> None:
    """Compare the facts of all nodes: a table of what differs."""
    from workers import provision

    found = _on_all(inventory, provision.facts, dry_run=False, said=lambda _: "answers")
    differing = [name for name in next(iter(found.values()), {}) if len({facts[name] for facts in found.values()}) > 1]
    if not differing:
        click.echo(f"{len(found)} nodes: no fact differs")
    for name in differing:
        click.echo(f"{name}:")
        for node, facts in found.items():
            click.echo(f"  {node:<16} {facts[name]}")
    _end_badly_if_missing(inventory, found)


@fleet.command("provision")
@FILE
@DRY_RUN
@click.option("--wheel", type=click.Path(path_type=Path, exists=True), help="Default: built from this checkout.")
def provision_(inventory: Path, dry_run: bool, wheel: Path | None) -> None:
    """Install the package, IOzone, the root helper and the agent's unit; what is there already is left."""
    import tempfile

    from workers import fleet as file
    from workers import provision

    nodes = file.load(inventory)
    with tempfile.TemporaryDirectory() as folder:
        built = wheel or provision.build_wheel(Path(folder))
        act = partial(provision.provision, fleet=nodes, wheel=built)
        done = _on_all(inventory, act, dry_run=dry_run, said=lambda _: "would be ready" if dry_run else "ready")
    _end_badly_if_missing(inventory, done)


@fleet.command()
@FILE
@DRY_RUN
def start(inventory: Path, dry_run: bool) -> None:
    """Start the agents."""
    from workers import provision

    _end_badly_if_missing(inventory, _on_all(inventory, provision.start, dry_run=dry_run))


@fleet.command()
@FILE
@DRY_RUN
def stop(inventory: Path, dry_run: bool) -> None:
    """Stop the agents; a run in flight may end, for at most a minute."""
    from workers import provision

    _end_badly_if_missing(inventory, _on_all(inventory, provision.stop, dry_run=dry_run))


@fleet.command()
@FILE
def status(inventory: Path) -> None:
    """Say on which nodes the agent runs."""
    from workers import provision

    said: Callable[[Any], str] = lambda runs: "runs" if runs else "does not run"  # noqa: E731
    _end_badly_if_missing(inventory, _on_all(inventory, provision.running, dry_run=False, said=said))


@fleet.command()
@FILE
@DRY_RUN
def drain(inventory: Path, dry_run: bool) -> None:
    """Give the nodes no more work; they end the jobs they hold. `modescope node reinstate NAME` lets them back."""
    from orchestrator.contracts.errors import NotFoundError
    from orchestrator.store.postgres import PostgresStore
    from workers import fleet as file

    nodes = file.load(inventory)
    store = PostgresStore(nodes.database_url)
    for machine in nodes.machines:
        if dry_run:
            click.echo(f"{machine.name}: would be drained")
            continue
        try:
            held = store.nodes.drain(machine.name).job_id
            click.echo(f"{machine.name}: draining" + ("" if held is None else f", job {held} is still at work"))
        except NotFoundError as unknown:
            click.echo(f"{machine.name}: {unknown}", err=True)
    store.close()


def _on_all(
    inventory: Path, act: Callable[[Session], Any], *, dry_run: bool, said: Callable[[Any], str] = str
) -> dict[str, Any]:
    """Act on all nodes at once, a line as each ends; node -> what came of it, without those that failed."""
    from workers import fleet as file
    from workers import remote

    machines = file.load(inventory).machines
    results: dict[str, Any] = {}
    ended = 0

    def on_one(machine: Machine) -> Any:
        with remote.session(machine, dry_run=dry_run, say=lambda what: click.echo(f"{machine.name}: {what}")) as at:
            return act(at)

    def told(machine: Machine, result: object) -> None:
        nonlocal ended
        ended += 1
        failed = isinstance(result, Exception)
        line = str(result) if failed else said(result)
        click.echo(f"[{ended}/{len(machines)}] {machine.name}: {line}", err=failed)
        if not failed:
            results[machine.name] = result

    remote.everywhere(machines, on_one, told)
    return {machine.name: results[machine.name] for machine in machines if machine.name in results}


def _end_badly_if_missing(inventory: Path, done: dict[str, Any]) -> None:
    from workers import fleet as file

    if len(done) < len(file.load(inventory).machines):
        click.get_current_context().exit(1)
