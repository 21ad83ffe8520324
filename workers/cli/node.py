"""`modescope node facts | check | prepare | restore`: what this machine is, and the state it is put into."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from orchestrator.contracts.preparation import Preparation

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_study = click.argument("study", required=False, type=click.Path(path_type=Path, dir_okay=False))
_node = click.option("--node", default="local", show_default=True, metavar="NAME", help="Whose journal is used.")


@click.command()
@_json
def facts(as_json: bool) -> None:
    """Show everything about this machine that a measurement may depend on.

    Example: modescope node facts --json
    """
    import json

    import yaml

    from orchestrator import settings
    from workers.node import facts as collected
    from workers.node import inventory

    home = settings.home_from()
    found = collected.collect(inventory.load(home).targets[inventory.DEFAULT_TARGET], _engines(home))
    plain = json.loads(json.dumps(found))
    click.echo(json.dumps(plain, indent=2) if as_json else yaml.safe_dump(plain, sort_keys=False).rstrip())


@click.command()
@_study
@_json
def check(study: Path | None, as_json: bool) -> None:
    """Say what stands in the way of measuring well here, and of what STUDY asks for. Exit status 1 if anything does.

    Example: modescope node check study.yaml
    """
    import json

    from orchestrator import settings
    from workers.node import check as checks
    from workers.node import inventory

    home = settings.home_from()
    found = checks.findings(home, inventory.load(home), _preparation(study))
    if as_json:
        click.echo(json.dumps(found))
    else:
        click.echo("\n".join(found) or "Nothing stands in the way.")
    if found:
        raise click.exceptions.Exit(1)


@click.command()
@_study
@_node
@click.option("--frequency-khz", type=click.IntRange(0), help="The level of the factor, where STUDY pins it.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done, in its order, and why in that order.")
def prepare(study: Path | None, node: str, frequency_khz: int | None, dry_run: bool) -> None:
    """Put this machine into the state that STUDY asks for; `modescope node restore` puts back what was found.

    Example: modescope node prepare --dry-run study.yaml
    """
    from orchestrator import settings
    from workers.node import inventory, lock
    from workers.node import prepare as preparing
    from workers.node.facts import tunable
    from workers.node.restore import Changes
    from workers.node.settings import helper
    from workers.node.settings.order import ORDER
    from workers.node.settings.steps import Wanted

    home, root = settings.home_from(), Path("/")
    own = inventory.load(home)
    target, raw = own.targets[inventory.DEFAULT_TARGET], own.raw(inventory.DEFAULT_TARGET)
    wanted = Wanted(preparation=_preparation(study), frequency_khz=frequency_khz)
    found = tunable.read(root, target, raw)
    for tuning in ORDER:
        click.echo(f"{tuning.name}: ({tuning.why_here})")
        for step in tuning.plan(found, wanted):
            click.echo(f"  {step}")
    if not dry_run:
        state = home / "nodes" / node
        with lock.hold(state):
            preparing.apply(wanted, root, target, Changes(state), helper.chosen(), raw=raw)
        click.echo(f"Set. Put back with: modescope node restore --node {node}")


@click.command()
@_node
def restore(node: str) -> None:
    """Put back what was found before this machine was prepared. A running agent does so by itself.

    Example: modescope node restore
    """
    from orchestrator import settings
    from orchestrator.contracts.errors import ConflictError
    from workers.node import lock
    from workers.node.restore import Changes

    state = settings.home_from() / "nodes" / node
    with lock.hold(state):
        problems = Changes(state).restore()
    if problems:
        raise ConflictError("; ".join(problems))
    click.echo("Everything is as it was found.")


def _preparation(study: Path | None) -> Preparation:
    """The `node` part of a study file; without one, what a study gets that says nothing. Raises StudyError."""
    import yaml

    from orchestrator.contracts.errors import StudyError
    from orchestrator.contracts.preparation import Preparation

    if study is None:
        return Preparation()
    try:
        given: Any = yaml.safe_load(study.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise StudyError(f"{study}: cannot be read as YAML: {problem}") from problem
    part = given.get("node", {}) if isinstance(given, dict) else None
    if not isinstance(part, dict):
        raise StudyError(f"{study}: is no study with a mapping `node:`")
    try:
        return Preparation.from_dict(part)
    except StudyError as problem:
        raise StudyError(f"{study}: {problem}") from problem


def _engines(home: Path) -> dict[str, str]:
    """Benchmarks that can run here, with their versions."""
    from workers.benchmarks import engines
    from workers.benchmarks.engines import Bench
    from workers.benchmarks.process import Runner
    from workers.benchmarks.stop import Stop
    from workers.node import inventory
    from workers.node.journal import Journal

    state = home / "nodes" / "local"
    runner = Runner(Journal(state), Stop())
    return engines.available(Bench(node="local", runner=runner, inventory=inventory.load(home), state=state))
