"""A command on all nodes of a fleet file: a line as each ends, what came of each at the end, text or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from workers.fleet import Machine
    from workers.remote import Session


@dataclass(kw_only=True)
class Outcome:
    """What came of each node, in the order of the file."""

    as_json: bool
    done: dict[str, Any] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def say(self, line: str, *, err: bool = False) -> None:
        """A line of progress; with `--json`, standard output is kept for the JSON."""
        click.echo(line, err=err or self.as_json)

    def fail(self, node: str, reason: str) -> None:
        """Something could not be done on a node."""
        self.failed[node] = reason
        self.say(f"{node}: {reason}", err=True)

    def end(self, **more: object) -> None:
        """Print the JSON if it is wanted; exit status 1 if a node failed."""
        if self.as_json:
            click.echo(json.dumps({"nodes": self.done, "failed": self.failed, **more}, indent=2))
        if self.failed:
            raise click.exceptions.Exit(1)


def act_on(
    machines: Sequence[Machine],
    act: Callable[[Session], Any],
    *,
    dry_run: bool,
    as_json: bool,
    said: Callable[[Any], str] = str,
) -> Outcome:
    """Act on all nodes at once; one that fails does not stop the others."""
    from workers import remote

    outcome = Outcome(as_json=as_json)
    results: dict[str, Any] = {}

    def on_one(machine: Machine) -> Any:
        with remote.session(machine, dry_run=dry_run, say=lambda what: outcome.say(f"{machine.name}: {what}")) as at:
            return act(at)

    def told(machine: Machine, result: object) -> None:
        number = f"[{len(results) + len(outcome.failed) + 1}/{len(machines)}]"
        if isinstance(result, Exception):
            outcome.failed[machine.name] = str(result)
            outcome.say(f"{number} {machine.name}: {result}", err=True)
        else:
            results[machine.name] = result
            outcome.say(f"{number} {machine.name}: {said(result)}")

    remote.everywhere(machines, on_one, told)
    outcome.done = {machine.name: results[machine.name] for machine in machines if machine.name in results}
    return outcome


def show(rows: Sequence[Sequence[str]]) -> None:
    """A table whose first row is its head; the last column may be long."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
