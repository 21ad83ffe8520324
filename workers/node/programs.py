"""Programs that a node's operator lets studies measure with the engine `command`: path, words, environment, metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

KB_PER_S: Mapping[str, float] = {
    "B/s": 1 / 1024,
    "kB/s": 1.0,  # IOzone's: 1024 bytes
    "KiB/s": 1.0,
    "MiB/s": 1024.0,
    "GiB/s": 1024.0**2,
    "MB/s": 1e6 / 1024,
    "GB/s": 1e9 / 1024,
}
"""Unit of a rate -> how many of IOzone's kB/s it is. Other units (s, GFLOPS) stand for themselves."""
PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w{0,62})\}", re.ASCII)
_UNIT = re.compile(r"[A-Za-z0-9%°µ/^*._-]{1,16}")
_NAME = re.compile(r"[\w-]{1,63}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """Where a value stands in what a program prints: exactly one of a pattern and a path."""

    unit: str
    pattern: re.Pattern[str] | None = None
    """With one group: the number."""
    json_path: tuple[str, ...] | None = None
    """Keys, and positions in lists from 0, down from the top of a JSON output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A program with everything about it that a study cannot change."""

    path: Path
    arguments: tuple[str, ...]
    """Words; `{factor}` in a word stands for the level of that factor. No shell sees them."""
    environment: Mapping[str, str]
    metrics: Mapping[str, Metric]
    """By the name that a study lists as a mode."""


def factor(unit: str, wanted: str) -> float | None:
    """By what a value in `unit` is multiplied to be one in `wanted`; None: they are not of one kind."""
    if unit == wanted:
        return 1.0
    if unit in KB_PER_S and wanted in KB_PER_S:
        return KB_PER_S[unit] / KB_PER_S[wanted]
    return None


def parse(given: object) -> dict[str, Program]:
    """The inventory's `programs:`. Raises ValueError saying which key is wrong."""
    return {name: _program(name, said) for name, said in _mapping(given, "programs").items()}


def _program(name: str, given: object) -> Program:
    where = f"programs.{name}"
    said = _mapping(given, where, keys=("path", "arguments", "environment", "metrics"))
    path = said.get("path")
    if not isinstance(path, str) or not path.startswith("/"):
        raise ValueError(f"{where}.path: should be an absolute path, not {path!r}")
    words = said.get("arguments", [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"{where}.arguments: should be a list of words; put numbers in quotes")
    environment = _mapping(said.get("environment", {}), f"{where}.environment")
    if not all(isinstance(value, str) for value in environment.values()):
        raise ValueError(f"{where}.environment: values are texts; put numbers in quotes")
    metrics = _mapping(said.get("metrics"), f"{where}.metrics")
    if not metrics:
        raise ValueError(f"{where}.metrics: name at least one, with its pattern or json, and its unit")
    return Program(
        path=Path(path),
        arguments=tuple(words),
        environment={key: str(value) for key, value in environment.items()},
        metrics={key: _metric(f"{where}.metrics.{key}", value) for key, value in metrics.items()},
    )


def _metric(where: str, given: object) -> Metric:
    said = _mapping(given, where, keys=("pattern", "json", "unit"))
    unit = said.get("unit")
    if not isinstance(unit, str) or not _UNIT.fullmatch(unit):
        raise ValueError(
            f"{where}.unit: {unit!r} is not a unit: one of {', '.join(KB_PER_S)}, or your own, as s or GFLOPS"
        )
    readers: dict[str, Callable[[str], Metric]] = {
        "pattern": lambda text: Metric(unit=unit, pattern=_pattern(where, text)),
        "json": lambda text: Metric(unit=unit, json_path=tuple(text.split("."))),
    }
    chosen = [key for key in readers if isinstance(said.get(key), str)]
    if len(chosen) != 1:
        raise ValueError(f"{where}: give exactly one of pattern and json, as text")
    return readers[chosen[0]](str(said[chosen[0]]))


def _pattern(where: str, text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text, re.MULTILINE)
    except re.error as problem:
        raise ValueError(f"{where}.pattern: {problem}") from problem
    if pattern.groups != 1:
        raise ValueError(f"{where}.pattern: has {pattern.groups} groups; exactly one takes the number")
    return pattern


def _mapping(given: object, where: str, *, keys: tuple[str, ...] | None = None) -> dict[str, object]:
    if not isinstance(given, dict) or not all(isinstance(key, str) and _NAME.fullmatch(key) for key in given):
        raise ValueError(f"{where}: should map names (letters, digits, _ and -) to values")
    for key in given:
        if keys is not None and key not in keys:
            raise ValueError(f"{where}: unknown key {key!r}; known: {', '.join(keys)}")
    return dict(given)
