"""The `design` part of a study: a union of factorial blocks, minus exclusions (DESIGN 13: nothing is evaluated)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from orchestrator.contracts import designs
from orchestrator.contracts.engines import IO_FACTORS
from orchestrator.design.parts import Level, Levels, Modes, Part, WrongError, in_short, nearest

COUNTED = frozenset({*IO_FACTORS, "frequency_khz"})
"""Factors whose levels are whole numbers, from 1."""

COLUMNS = frozenset(
    {"mode", "control", "replicate", "throughput", "throughput_kbps", "node", "job", "block", "position"}
    | {"started_at", "valid", "reason", "iter", "subiter", "runtime", "time"}
)
"""Columns of an export, and those `modescope fit` does not take for labels: no factor may be called so."""


class Relation(StrEnum):
    """What a factor may have to be to another factor of its setting, or to a number."""

    MULTIPLE_OF = "multiple_of"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"

    def holds(self, left: float, right: float) -> bool:
        """Whether `left` stands in this relation to `right`."""
        match self:
            case Relation.MULTIPLE_OF:
                return left % right == 0 if right else left == 0
            case Relation.AT_MOST:
                return left <= right
            case Relation.AT_LEAST:
                return left >= right


def check_factor_names(names: Iterable[str]) -> None:
    """Raise ValueError for a name that no factor may have."""
    for name in names:
        if not re.fullmatch(r"[A-Za-z_]\w{0,62}", name, re.ASCII):
            raise ValueError(f"{in_short(name)} is no name for a factor: use letters, digits and underscores")
        if name in COLUMNS:
            raise ValueError(f"a factor cannot be called {name!r}: tables have a column of that name")


def _levels(levels: dict[str, tuple[designs.Level, ...]]) -> dict[str, tuple[designs.Level, ...]]:
    if not levels:
        raise ValueError("a block without factors; name at least one")
    check_factor_names(levels)
    for factor in COUNTED & levels.keys():
        for level in levels[factor]:
            if not isinstance(level, int) or level < 1:
                raise WrongError(factor, what=f"{in_short(level)} is not a whole number from 1")
    return levels


class Block(Part):
    """Every combination of its levels that keeps its constraints, each with its modes."""

    levels: Annotated[dict[str, Levels], AfterValidator(_levels)]
    modes: Modes | None = None
    """None: those that the engine measures of itself."""
    constraints: dict[str, dict[Relation, Level]] = Field(default_factory=dict)
    """Factor -> relation -> another factor, or a number: `file_size_kb: {multiple_of: record_size_kb}`."""

    @property
    def combinations(self) -> int:
        """How many settings it has before constraints and exclusions."""
        return math.prod(map(len, self.levels.values()))

    @model_validator(mode="after")
    def _constraints_compare_numbers(self) -> Self:
        for factor, relations in self.constraints.items():
            for relation, other in relations.items():
                for operand in (factor, other):
                    problem = self._problem_of(operand, relation)
                    if problem is not None:
                        raise WrongError("constraints", factor, relation, what=problem)
        return self

    def _problem_of(self, operand: designs.Level, relation: Relation) -> str | None:
        if isinstance(operand, str) and operand not in self.levels:
            return f"unknown factor {in_short(operand)}{nearest(operand, self.levels)}"
        values = self.levels[operand] if isinstance(operand, str) else (operand,)
        wanted, kinds = ("whole numbers", int) if relation is Relation.MULTIPLE_OF else ("numbers", int | float)
        return None if all(isinstance(value, kinds) for value in values) else f"{operand} is not only {wanted}"


class Factorial(Part):
    """Blocks, of which a setting may be in several and counts once; and what is taken out of them again."""

    factors: tuple[str, ...]
    """Their order is the order of columns; the last one varies fastest. Default: as in the first block."""
    blocks: tuple[Block, ...]
    exclusions: tuple[dict[str, Levels], ...] = ()
    """Partial assignments, factor (or `mode`) -> levels: whatever agrees with all of one is taken out."""

    @model_validator(mode="before")
    @classmethod
    def _order_of_first_block(cls, given: Any) -> Any:
        match given:
            case {"factors": _}:
                return given
            case {"blocks": [{"levels": Mapping() as levels}, *_]}:
                return {**given, "factors": list(levels)}
            case {"blocks": _}:
                return {**given, "factors": []}
        return given

    @model_validator(mode="after")
    def _factors_agree(self) -> Self:
        check_factor_names(self.factors)
        if len(set(self.factors)) < len(self.factors):
            raise WrongError("factors", what="one is listed twice")
        for number, block in enumerate(self.blocks):
            for factor in block.levels:
                if factor not in self.factors:
                    raise WrongError(
                        "blocks", number, "levels", factor, what=f"unknown factor{nearest(factor, self.factors)}"
                    )
            for factor in self.factors:
                if factor not in block.levels:
                    raise WrongError("blocks", number, "levels", what=f"factor {factor!r} is missing")
        for factor in self.factors:
            if len({isinstance(level, str) for level in self.levels_of(factor)}) > 1:
                raise WrongError("blocks", what=f"{factor} has numbers and texts as levels; use one kind")
        return self

    @model_validator(mode="after")
    def _exclusions_name_levels(self) -> Self:
        known = {factor: set(self.levels_of(factor)) for factor in self.factors}
        for number, exclusion in enumerate(self.exclusions):
            if not exclusion:
                raise WrongError("exclusions", number, what="it names nothing, and would take out everything")
            for factor, levels in exclusion.items():
                if factor == "mode":
                    continue
                if factor not in known:
                    what = f"unknown factor{nearest(factor, (*self.factors, 'mode'))}"
                    raise WrongError("exclusions", number, factor, what=what)
                for level in levels:
                    if level not in known[factor]:
                        what = f"{in_short(level)} is no level of any block"
                        raise WrongError("exclusions", number, factor, what=what)
        return self

    def levels_of(self, factor: str) -> tuple[designs.Level, ...]:
        """The levels of a factor over all blocks, each once, in the order they come."""
        return tuple(dict.fromkeys(level for block in self.blocks for level in block.levels[factor]))
