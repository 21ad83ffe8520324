"""What is wrong with the text of a study, each with its line: for whoever is still writing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from orchestrator.contracts.errors import StudyError
from orchestrator.design import document
from orchestrator.design.expand import expand
from orchestrator.design.parts import faults
from orchestrator.design.study import Study

MOST_ENUMERATED = 300_000
"""Configurations that are enumerated in the time in which somebody writes the next word."""
_ON_LINE = re.compile(r"line (\d+): ")
_AT_KEY = re.compile(r"[\w-]+(?:\[\d+\]|\.[\w-]+)*(?=: )")
_STEP = re.compile(r"\[(\d+)\]|([\w-]+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Something that keeps a text from being a study."""

    line: int | None
    """From 1; None where it is about the whole."""
    message: str


def check(text: str) -> tuple[Study | None, tuple[Problem, ...]]:
    """The study, or everything that is wrong with it, in the order of the lines.

    Whether anything is left of a design with more than `MOST_ENUMERATED` configurations is found when it is submitted.
    """
    try:
        study = Study.model_validate(document.read(text))
        if study.most_configurations <= MOST_ENUMERATED:
            expand(study)
    except ValidationError as error:
        return None, tuple(sorted(_problems(text, error), key=lambda problem: problem.line or 0))
    except StudyError as error:
        return None, (_placed(text, str(error)),)
    return study, ()


def _problems(text: str, error: ValidationError) -> Iterator[Problem]:
    found = faults(error)
    for steps, what in found:
        if steps == ["replicates_per_job"] and what == "is missing" and len(found) > 1:
            continue  # it follows from `replicates`, which is what is wrong
        message = f"{document.path_of(steps)}: {what}" if steps else what
        yield Problem(line=document.line_of(text, steps), message=message)


def _placed(text: str, message: str) -> Problem:
    """A message begins with the line, or with the path of the key that is wrong."""
    on_line = _ON_LINE.match(message)
    if on_line is not None:
        return Problem(line=int(on_line[1]), message=message[on_line.end() :])
    at_key = _AT_KEY.match(message)
    if at_key is None:
        return Problem(line=None, message=message)
    steps = [int(number) if number else word for number, word in _STEP.findall(at_key[0])]
    return Problem(line=document.line_of(text, steps), message=message)
