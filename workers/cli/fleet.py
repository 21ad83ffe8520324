"""`modescope fleet`: nodes over SSH."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from workers.fleet import Fleet
    from workers.remote import Session

FILE = click.argument("inventory", type=click.Path(path_type=Path, dir_okay=False))
DRY_RUN = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on standard output, progress on standard error."
)


@click.group()
def fleet() -> None:
    """Compare, install, start, drain and stop nodes over SSH.

    INVENTORY is a YAML file: `database_url:` and `redis_url:` as the nodes reach them, `defaults:` for all nodes, and
    `nodes: {m01: {host: 10.0.0.1}}`. Host keys have to be in known_hosts. Nodes are worked on side by side; one that
    fails does not stop the others, and makes the exit status 1.

    \b
    Example:
      modescope fleet check fleet.yaml
      modescope fleet provision fleet.yaml
      modescope fleet start fleet.yaml
    """


@fleet.command()
@FILE
@JSON
def check(inventory: Path, as_json: bool) -> None:
    """Compare the facts of all nodes: a table of what differs.

    What changes from minute to minute (load, temperature, free space) is not compared.

    Example: modescope fleet check fleet.yaml
    """
    from workers import compare
    from workers.cli import everywhere

    machines = _load(inventory).machines
    outcome = everywhere.act_on(machines, compare.facts, dry_run=False, as_json=as_json, said=lambda _: "answers")
    found = compare.differences(outcome.done)
    compared = len(next(iter(outcome.done.values()), {}))
    outcome.say(f"{len(outcome.done)} of {len(machines)} nodes answered; {len(found)} of {compared} facts differ")
    if found and not as_json:
        everywhere.show(compare.table(found))
    outcome.end(differing=[asdict(difference) for difference in found])


@fleet.command("provision")
@FILE
@DRY_RUN
@JSON
@click.option(
    "--wheel", type=click.Path(path_type=Path, exists=True), help="Or source distribution; built here by default."
)
def provision_(inventory: Path, dry_run: bool, as_json: bool, wheel: Path | None) -> None:
    """Install the package, IOzone, the root helper and the agent's unit; what is there already is left.

    The versions of everything the package needs are those of this checkout's constraints.txt.

    \b
    Example:
      modescope fleet provision --dry-run fleet.yaml
      modescope fleet provision fleet.yaml
    """
    import tempfile

    from workers import provision
    from workers.cli import everywhere

    nodes = _load(inventory)
    with tempfile.TemporaryDirectory() as folder:
        act = partial(provision.provision, fleet=nodes, what=provision.package(wheel, Path(folder)))
        everywhere.act_on(nodes.machines, act, dry_run=dry_run, as_json=as_json).end()


@fleet.command()
@FILE
@DRY_RUN
@JSON
def start(inventory: Path, dry_run: bool, as_json: bool) -> None:
    """Start the agents.

    Example: modescope fleet start fleet.yaml
    """
    from workers import service
    from workers.cli import everywhere

    everywhere.act_on(_load(inventory).machines, service.start, dry_run=dry_run, as_json=as_json).end()


@fleet.command()
@FILE
@DRY_RUN
@JSON
def stop(inventory: Path, dry_run: bool, as_json: bool) -> None:
    """Stop the agents and wait for their end; a run in flight may end, for at most a minute.

    What is left of a job goes back to the queue. `modescope fleet drain` first lets the jobs end.

    Example: modescope fleet stop fleet.yaml
    """
    from workers import service
    from workers.cli import everywhere

    everywhere.act_on(_load(inventory).machines, service.stop, dry_run=dry_run, as_json=as_json).end()


@fleet.command()
@FILE
@JSON
def status(inventory: Path, as_json: bool) -> None:
    """Show for each node whether its agent runs, its version, and its state and job in the ledger.

    Example: modescope fleet status fleet.yaml
    """
    from orchestrator.contracts.errors import UserError
    from workers.cli import everywhere

    nodes = _load(inventory)
    outcome = everywhere.act_on(
        nodes.machines, _agent, dry_run=False, as_json=as_json, said=lambda found: found["agent"]
    )
    try:
        known = _in_ledger(nodes)
    except UserError as away:
        known = {}
        outcome.fail("the ledger", str(away))
    unheard = {"state": None, "online": None, "job": None}
    outcome.done = {name: found | known.get(name, unheard) for name, found in outcome.done.items()}
    if outcome.done and not as_json:
        everywhere.show([("node", "agent", "version", "state", "online", "job"), *map(_row, outcome.done.items())])
    outcome.end()


@fleet.command()
@FILE
@DRY_RUN
@JSON
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(0), default=3600.0, show_default=True, metavar="SECONDS",
    help="How long to wait for the jobs in hand; 0 does not wait.",
)  # fmt: skip
def drain(inventory: Path, dry_run: bool, as_json: bool, timeout_s: float) -> None:
    """Give the nodes no more work, and wait until each has ended the job it holds.

    `database_url` has to be reachable from here. `modescope node reinstate NAME` lets a node back to work.

    Example: modescope fleet drain --timeout 600 fleet.yaml
    """
    from orchestrator.contracts.access import from_here
    from workers import drain as draining
    from workers import wiring
    from workers.cli import everywhere

    nodes = _load(inventory)
    names = [machine.name for machine in nodes.machines]
    outcome = everywhere.Outcome(as_json=as_json)
    with wiring.open_ledger(nodes.database_url) as store:
        if dry_run:
            held = draining.held_jobs(store.nodes, names)
            outcome.done = {name: {"drained": False, "job": held.get(name)} for name in names}
            for name in names:
                outcome.say(f"{name}: would be drained, " + _holds(held.get(name)))
        else:
            theirs = store.on_behalf_of(from_here())
            result = draining.drain(theirs.nodes, names, timeout_s=timeout_s, say=outcome.say)
            outcome.done = {name: {"drained": True, "job": None} for name in result.empty}
            for name in result.empty:
                outcome.say(f"{name}: drained, " + _holds(None))
            for name, job in result.at_work.items():
                outcome.fail(name, f"still at job {job} after {timeout_s:g} s; it gets no other, drain again to wait")
            for name, reason in result.unknown.items():
                outcome.fail(name, reason)
    outcome.end()


def _holds(job: int | None) -> str:
    return "holds no job" if job is None else f"holds job {job}"


def _load(inventory: Path) -> Fleet:
    from workers import fleet as file

    return file.load(inventory)


def _agent(at: Session) -> dict[str, Any]:
    from workers import service

    return {
        "agent": "runs" if service.running(at) else "does not run",
        "version": service.installed_version(at),
    }


def _in_ledger(nodes: Fleet) -> dict[str, dict[str, Any]]:
    from workers import wiring

    with wiring.open_ledger(nodes.database_url) as store:
        return {
            node.name: {"state": str(node.state), "online": node.online, "job": node.job_id}
            for node in store.nodes.all()
        }


def _row(known: tuple[str, dict[str, Any]]) -> tuple[str, ...]:
    name, found = known
    online = {True: "yes", False: "no", None: "-"}[found["online"]]
    job = "-" if found["job"] is None else str(found["job"])
    return (name, found["agent"], found["version"] or "-", found["state"] or "-", online, job)
