"""From blocks and exclusions to settings: every one once, in the order in which the study lists them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from orchestrator.contracts.designs import Design, Level, Setting
from orchestrator.contracts.errors import StudyError
from orchestrator.design.factorial import Block, Factorial, Relation

if TYPE_CHECKING:
    from orchestrator.design.study import Study

Levels = tuple[Level, ...]
Keeps = Callable[[Levels], bool]


def expand(study: Study) -> Design:
    """Enumerate the design: blocks in order, the last factor fastest, then the controls.

    A setting that is in several blocks stands where it came first, with the modes of all of them. Raises StudyError,
    saying what emptied it, when nothing is left.
    """
    modes_of: dict[Levels, set[str]] = {}
    for block in study.design.blocks:
        modes = set(study.modes_of(block))
        for levels in survivors(block, study.design):
            modes_of.setdefault(levels, set()).update(modes)
    _exclude(modes_of, study.design)
    if study.design.blocks and not modes_of:
        raise StudyError(f"design: no setting is left: {_what_emptied(study.design)}")
    _check_sizes(study, modes_of)
    _check_canaries(study, modes_of)
    measured = ((levels, tuple(mode for mode in study.modes if mode in modes)) for levels, modes in modes_of.items())
    settings = [
        Setting(ordinal=ordinal, levels=levels, modes=modes) for ordinal, (levels, modes) in enumerate(measured)
    ]
    controls = [
        Setting(ordinal=ordinal, levels=(), modes=(f"control_{name}",), control=name)
        for ordinal, name in enumerate(study.controls, start=len(settings))
    ]
    return Design(factors=study.design.factors, settings=(*settings, *controls))


def survivors(block: Block, design: Factorial) -> Iterator[Levels]:
    """The combinations of a block that keep its constraints, in the order of the design's factors."""
    keeps = [keep for _, keep in _constraints(block, design.factors)]
    for levels in product(*(block.levels[factor] for factor in design.factors)):
        if all(keep(levels) for keep in keeps):
            yield levels


def _constraints(block: Block, factors: Sequence[str]) -> Iterator[tuple[str, Keeps]]:
    for factor, relations in block.constraints.items():
        for relation, other in relations.items():
            yield f"`{factor}: {{{relation}: {other}}}`", _constraint(relation.holds, factor, other, factors)


def _constraint(holds: Callable[[Any, Any], bool], factor: str, other: Level, factors: Sequence[str]) -> Keeps:
    left = factors.index(factor)
    if not isinstance(other, str):
        return lambda levels: holds(levels[left], other)
    right = factors.index(other)
    return lambda levels: holds(levels[left], levels[right])


def _exclude(modes_of: dict[Levels, set[str]], design: Factorial) -> None:
    """Take out of every setting the modes that an exclusion names (all, where it names none); then empty settings."""
    for exclusion in design.exclusions:
        named = [
            (design.factors.index(factor), set(levels)) for factor, levels in exclusion.items() if factor != "mode"
        ]
        modes = {str(mode) for mode in exclusion.get("mode", ())}
        for levels, left in modes_of.items():
            if all(levels[index] in excluded for index, excluded in named):
                left.difference_update(modes or set(left))
    for levels in [levels for levels, left in modes_of.items() if not left]:
        del modes_of[levels]


def _check_sizes(study: Study, settings: Collection[Levels]) -> None:
    """No I/O benchmark can write records longer than the file: better said now than by every run."""
    if not {"file_size_kb", "record_size_kb"} <= set(study.engine.options.required_factors):
        return
    fits = _constraint(Relation.AT_MOST.holds, "record_size_kb", "file_size_kb", study.design.factors)
    too_long = sum(1 for levels in settings if not fits(levels))
    if too_long:
        raise StudyError(
            f"design: record_size_kb is above file_size_kb in {too_long:,} of {len(settings):,} settings;"
            " write `constraints: {record_size_kb: {at_most: file_size_kb}}` in the block"
        )


def _check_canaries(study: Study, settings: Collection[Levels]) -> None:
    factors = study.design.factors
    for levels in [] if study.canaries is None else study.canaries.levels(factors):
        if levels not in settings:
            told = ", ".join(f"{factor}: {level}" for factor, level in zip(factors, levels, strict=True))
            raise StudyError(f"canaries.settings: the design has no setting {{{told}}}")


def _what_emptied(design: Factorial) -> str:
    """The constraint of each block after which none of its combinations remains; else, the exclusions."""
    return "; ".join(
        f"design.blocks[{number}] is emptied by {_last_straw(block, design)}"
        for number, block in enumerate(design.blocks)
    )


def _last_straw(block: Block, design: Factorial) -> str:
    left = list(product(*(block.levels[factor] for factor in design.factors)))
    for name, keeps in _constraints(block, design.factors):
        left = [levels for levels in left if keeps(levels)]
        if not left:
            return f"the constraint {name}"
    return "the exclusions"
