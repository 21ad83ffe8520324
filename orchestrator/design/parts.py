"""What the parts of a study are made of: a model that helps with typing errors, names, levels, modes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    model_validator,
)

from orchestrator.contracts import designs
from orchestrator.design.document import path_of


class Part(BaseModel):
    """A part of a study: frozen, and an unknown key is an error that names the nearest right one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            for key in given:
                if key not in cls.model_fields:
                    raise ValueError(f"unknown key {key!r}{nearest(str(key), cls.model_fields)}")
        return given


class WrongError(ValueError):
    """What is wrong with a key further inside the part that found it."""

    def __init__(self, *steps: str | int, what: str) -> None:
        super().__init__(what)
        self.steps = steps


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the one that was probably meant, or all there are."""
    listed = list(known)
    close = difflib.get_close_matches(word, listed, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(listed)}"


Fault = tuple[list[str | int], str]
"""The path of a key, and what is wrong with it."""


def faults(error: ValidationError) -> list[Fault]:
    """Everything that pydantic found wrong, in its order."""
    return [_fault(found) for found in error.errors(include_url=False)]


def explain(error: ValidationError) -> str:
    """The first thing pydantic found wrong, as `path of the key: what is wrong`."""
    steps, what = faults(error)[0]
    return f"{path_of(steps)}: {what}" if steps else what


def _fault(found: Any) -> Fault:
    steps = [step for step in found["loc"] if step != "[key]"]
    match found:
        case {"ctx": {"error": ValueError() as raised}}:
            steps += getattr(raised, "steps", ())
            what = str(raised)
        case {"type": "missing"}:
            what = "is missing"
        case {"type": "model_type" | "dict_type"}:
            what = f"has to be a mapping, not {in_short(found['input'])}"
        case _:
            advice = found["msg"].replace("Input should", "should").replace("tuple", "list")
            what = f"{in_short(found['input'])}: {advice}"
    return steps, what


def in_short(value: object) -> str:
    """A value as a message shows it: what kind of thing it is, or itself, cut short."""
    match value:
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case None:
            return "nothing"
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _level(value: object) -> designs.Level:
    if isinstance(value, bool):
        raise ValueError(f"{str(value).lower()} is a truth value, no level; put the word in quotes")
    if not isinstance(value, int | float | str):
        raise ValueError(f"a level is a number or a text, not {in_short(value)}")
    if isinstance(value, str) and not (0 < len(value) <= 200 and value.isprintable()):
        raise ValueError("a level that is text has 1 to 200 characters on one line")
    return value


def _mode(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[\w-]{1,63}", value, re.ASCII):
        raise ValueError(f"{in_short(value)} is no name for a mode")
    if value.startswith("control_"):
        raise ValueError(f"{value!r}: names that begin with control_ belong to controls")
    return value


def one_or_many(value: object) -> object:
    """Lets a single value stand for a list of it."""
    return value if isinstance(value, list | tuple) else [value]


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("the list is empty; name at least one")
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"{in_short(value)} is listed twice")
        seen.add(value)
    return values


def _matching(pattern: str, advice: str) -> PlainValidator:
    def check(value: object) -> str:
        if isinstance(value, str) and re.fullmatch(pattern, value):
            return value
        raise ValueError(f"{in_short(value)} is no name; {advice}")

    return PlainValidator(check)


def short_form(key: str) -> BeforeValidator:
    """Lets a single word stand for a mapping with only this key: `engine: iozone`."""
    return BeforeValidator(lambda given: {key: given} if isinstance(given, str) else given)


Level = Annotated[designs.Level, PlainValidator(_level)]
Levels = Annotated[tuple[Level, ...], BeforeValidator(one_or_many), AfterValidator(_each_once)]
Mode = Annotated[str, PlainValidator(_mode)]
Modes = Annotated[tuple[Mode, ...], BeforeValidator(one_or_many), AfterValidator(_each_once)]
Title = Annotated[str, _matching(r"\S[^\n\t]{0,119}", "write 1 to 120 characters on one line")]
NodeName = Annotated[str, _matching(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}", "use letters, digits, dots and hyphens")]
ControlName = Annotated[str, _matching(r"[a-z][a-z0-9_]{0,39}", "use small letters, digits and underscores")]
Seed = Annotated[int, Field(strict=True, ge=0)]
Quantile = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
