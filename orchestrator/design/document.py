"""The text of a study file as plain values, and back: a small, bounded part of YAML, in which nothing can hide."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import yaml

from orchestrator.contracts.errors import StudyError

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 12
MAX_KEY = 200
MAX_WHOLE_NUMBER = 2**53
"""Larger ones do not survive a JSON reader that counts in doubles."""

Path = tuple[str | int, ...]


def read(text: str) -> Mapping[str, Any]:
    """The mapping that a study file holds.

    Raises StudyError for what is not YAML, not a mapping, too large, too deep, or uses aliases, tags or a key twice.
    """
    if len(text) > MAX_CHARACTERS:
        raise StudyError(f"longer than {MAX_CHARACTERS} characters: write blocks and exclusions, not a list")
    try:
        value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader with less
    except _RefusedError as error:
        raise StudyError(f"{_line(error)}{error.problem}") from None
    except yaml.MarkedYAMLError as error:
        raise StudyError(f"{_line(error)}not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a number with thousands of digits
        raise StudyError(f"not YAML: {error}") from None
    if not isinstance(value, dict):
        raise StudyError("a study is a mapping that begins with `name:`")
    _check(value, ())
    return value


def path_of(location: Sequence[str | int]) -> str:
    """A key's place as a person writes it: `design.blocks[1].levels.threads`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return "".join(steps).removeprefix(".")


def write(values: Mapping[str, Any]) -> str:
    """Plain values as the text of a study file; `read` is the inverse."""
    return yaml.dump(dict(values), Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def line_of(text: str, location: Sequence[str | int]) -> int | None:
    """The line, from 1, on which a key stands, or the nearest thing around it that is there; None: it is not YAML.

    `text` is one that `read` has taken: it is bounded.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:
        return None
    if node is None:
        return None
    mark = node.start_mark
    for step in location:
        found = _inside(node, step)
        if found is None:
            break
        mark, node = found
    return mark.line + 1


def _inside(node: yaml.Node, step: str | int) -> tuple[yaml.Mark, yaml.Node] | None:
    """Where a key or an item stands, and its value."""
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark, value) for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step].start_mark, node.value[step]
    return None


class _Dumper(yaml.SafeDumper):
    """Study files have no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


class _RefusedError(yaml.MarkedYAMLError):
    """YAML that a study file may not use."""

    def __init__(self, problem: str, mark: yaml.Mark) -> None:
        super().__init__(problem=problem, problem_mark=mark)


class _Loader(yaml.SafeLoader):
    """Refuses aliases, anchors, tags, depth, and keys that stand twice."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # types-PyYAML leaves it bare
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _RefusedError("aliases and anchors are not allowed; write it out", event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise _RefusedError("tags are not allowed", event.start_mark)
        if self.depth >= MAX_DEPTH:
            raise _RefusedError(f"nested deeper than {MAX_DEPTH} levels", event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:str":
                raise _RefusedError("a key has to be a word; put it in quotes", key.start_mark)
            if key.value in seen:
                raise _RefusedError(f"key {key.value[:MAX_KEY]!r} stands twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


# YAML would read 2020-01-01 as a date and 1:30 as 90: here they stay what they look like, text.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _line(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"line {mark.line + 1}: " if mark is not None else ""


def _check(value: object, place: Path) -> None:
    """No value that JSON, PostgreSQL or a terminal could not carry."""
    match value:
        case dict():
            for key, inner in value.items():
                if len(key) > MAX_KEY:
                    raise StudyError(f"{path_of(place) or 'the study'}: a key is longer than {MAX_KEY} characters")
                _check_text(key, place)
                _check(inner, (*place, key))
        case list():
            for index, inner in enumerate(value):
                _check(inner, (*place, index))
        case str():
            _check_text(value, place)
        case float() if not math.isfinite(value):
            raise StudyError(f"{path_of(place)}: {value} is not a finite number")
        case int() if abs(value) > MAX_WHOLE_NUMBER:
            raise StudyError(f"{path_of(place)}: a whole number of this size is not supported")


def _check_text(text: str, place: Path) -> None:
    if not all(line.isprintable() for line in text.replace("\t", " ").split("\n")):
        raise StudyError(f"{path_of(place) or 'the study'}: holds a character that cannot be printed")
