"""What its operator says about a node: which folders and files a study may name by an alias (DESIGN 13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from orchestrator.contracts.errors import InventoryError
from workers.node import programs
from workers.node.programs import Program

RESERVE_KB = 100 * 1024
DEFAULT_TARGET = "default"
HOME_TARGET = "target"
"""The default target folder, in the home, where the inventory names none."""
_KEYS = ("targets", "reserve_kb", "recordings", "programs", "devices")


@dataclass(frozen=True, kw_only=True, slots=True)
class Inventory:
    """Aliases of one node. A study never names a path."""

    targets: Mapping[str, Path]
    """Alias -> folder in which benchmarks make their files; `default` is always there."""
    reserve_kb: int = RESERVE_KB
    """Space that a benchmark must leave free in its target folder."""
    recordings: Mapping[str, Path] = field(default_factory=dict)
    """Alias -> wide CSV for the engine `replay`."""
    programs: Mapping[str, Program] = field(default_factory=dict)
    """Alias -> what the engine `command` may run."""
    devices: Mapping[str, Path] = field(default_factory=dict)
    """Target -> the device that is dedicated to it: programs measure it raw, and TRIM discards all that is on it."""

    def raw(self, target: str) -> tuple[str, Path] | None:
        """Name and path of the device dedicated to a target, if one is."""
        return (target, self.devices[target]) if target in self.devices else None


def load(home: Path) -> Inventory:
    """Read HOME/inventory.yaml; without one, the only target is HOME/target.

    Raises InventoryError naming the file, the key and what it should be.
    """
    path = home / "inventory.yaml"
    try:
        given = yaml.safe_load(path.read_text())
    except FileNotFoundError:
        given = None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise InventoryError(f"{path}: cannot be read as YAML: {problem}") from problem
    return parse({} if given is None else given, home=home, name=str(path))


def parse(given: object, *, home: Path, name: str) -> Inventory:
    """Check what the file says; relative paths start at `home`. Raises InventoryError."""
    if not isinstance(given, dict):
        raise InventoryError(f"{name}: should be a mapping of {', '.join(_KEYS)}")
    for key in given:
        if key not in _KEYS:
            raise InventoryError(f"{name}: unknown key {key!r}; known: {', '.join(_KEYS)}")
    targets = {DEFAULT_TARGET: home / HOME_TARGET} | _paths(given, "targets", home, name)
    return Inventory(
        targets=targets,
        reserve_kb=_size(given.get("reserve_kb", RESERVE_KB), name),
        recordings=_paths(given, "recordings", home, name),
        programs=_programs(given.get("programs", {}), name),
        devices=_devices(given, targets, home, name),
    )


def _devices(given: Mapping[Any, Any], targets: Mapping[str, Path], home: Path, name: str) -> dict[str, Path]:
    devices = _paths(given, "devices", home, name)
    for target, path in devices.items():
        if target not in targets:
            raise InventoryError(f"{name}: devices.{target}: is not one of the targets: {', '.join(targets)}")
        if not path.is_relative_to("/dev") or ".." in path.parts:
            raise InventoryError(f"{name}: devices.{target}: {str(path)!r} is not a device under /dev")
    return devices


def _paths(given: Mapping[Any, Any], key: str, home: Path, name: str) -> dict[str, Path]:
    aliases = given.get(key, {})
    if not isinstance(aliases, dict) or not all(isinstance(part, str) for pair in aliases.items() for part in pair):
        raise InventoryError(f"{name}: {key}: should map names to paths")
    return {alias: home / path for alias, path in aliases.items()}


def _programs(given: object, name: str) -> dict[str, Program]:
    try:
        return programs.parse(given)
    except ValueError as problem:
        raise InventoryError(f"{name}: {problem}") from problem


def _size(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InventoryError(f"{name}: reserve_kb: {value!r} is not a number of kilobytes")
    return value
