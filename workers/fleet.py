"""The file that names a fleet's nodes: how to reach each, and where its agent finds the service."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import yaml

from orchestrator.contracts.errors import InventoryError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}", re.ASCII)
_TOP = ("database_url", "redis_url", "secrets", "defaults", "nodes")


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """One node, and how to reach it over SSH."""

    name: str
    host: str
    user: str = "root"
    port: int = 22
    identity_file: str | None = None
    known_hosts: str | None = None
    """None: the user's own. A host that is not in it is refused."""
    agent_user: str = "modescope"
    """As whom the agent and its benchmarks run; made if there is none."""
    home: str = "/var/lib/modescope"
    """On the node: virtual environment, inventory, spool, target folder. Only the last two belong to `agent_user`."""
    python: str = "python3"
    """On the node: 3.11 or later."""
    root_helper: bool = True
    """Install the root helper and its sudoers file; needs root."""
    systemd: bool = True
    """False: a plain process, also where there is systemd."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """All nodes of a fleet file."""

    database_url: str
    redis_url: str
    machines: tuple[Machine, ...]
    secrets: Path | None = None
    """A folder of `modescope rights`: each node gets the addresses of its own user. None: those above."""


def load(path: Path) -> Fleet:
    """Read a fleet file. Raises InventoryError naming file and key."""
    try:
        return _parse(yaml.safe_load(path.read_text()), beside=path.parent)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise InventoryError(f"{path}: cannot be read as YAML: {problem}") from problem
    except ValueError as problem:
        raise InventoryError(f"{path}: {problem}") from problem


def _parse(given: object, *, beside: Path) -> Fleet:
    """`beside`: where relative paths begin."""
    said = _mapping(given, "the file", _TOP)
    for key in ("database_url", "redis_url"):
        if not isinstance(said.get(key), str):
            raise ValueError(f"{key}: should be the address that agents on the nodes use")
    nodes = said.get("nodes")
    if not isinstance(nodes, dict) or not nodes:
        raise ValueError("nodes: should map names to `{host: ADDRESS}`")
    kinds = {field.name: str(field.type) for field in fields(Machine) if field.name != "name"}
    defaults = _mapping(said.get("defaults", {}), "defaults", tuple(kinds))
    machines = [
        _machine(name, {**defaults, **_mapping(own, f"nodes.{name}", tuple(kinds))}, kinds)
        for name, own in nodes.items()
    ]
    return Fleet(
        database_url=str(said["database_url"]),
        redis_url=str(said["redis_url"]),
        machines=tuple(machines),
        secrets=beside / str(said["secrets"]) if "secrets" in said else None,
    )


def _machine(name: object, said: Mapping[str, object], kinds: Mapping[str, str]) -> Machine:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"nodes: {name!r} is no name; use letters, digits, dots and hyphens")
    if "host" not in said:
        raise ValueError(f"nodes.{name}: host is missing")
    for key, value in said.items():
        if type(value).__name__ not in kinds[key]:
            raise ValueError(f"nodes.{name}.{key}: {value!r} is not of type {kinds[key]}")
    machine = Machine(name=name, **said)  # type: ignore[arg-type]  # checked against the field types just above
    if not re.fullmatch(r"/[\w./-]+", machine.home, re.ASCII):
        raise ValueError(f"nodes.{name}.home: {machine.home!r} should be an absolute path without blanks")
    if not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}", machine.agent_user, re.ASCII):
        raise ValueError(f"nodes.{name}.agent_user: {machine.agent_user!r} is no user name")
    return machine


def _mapping(given: object, where: str, keys: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(given, dict):
        raise ValueError(f"{where}: should be a mapping of {', '.join(keys)}")
    for key in given:
        if key not in keys:
            raise ValueError(f"{where}: unknown key {key!r}; known: {', '.join(keys)}")
    return dict(given)
