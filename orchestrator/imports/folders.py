"""Values out of a folder of what a benchmark printed: the text tells some factors, the path of its file the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import OutputError, UserError
from orchestrator.contracts.results import READERS, Reader, Result
from orchestrator.design.factorial import check_factor_names
from orchestrator.design.parts import nearest
from orchestrator.imports import mapping
from orchestrator.imports.tables import BAD_MODE, BAD_NODE, NODE_NAME, as_time
from orchestrator.imports.values import NODE, Found, Skipped

FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")
OWN_FIELDS = ("node", "job", "replicate", "time", "mode", "_")
"""No factors; `{_}` is whatever stands there."""
LARGEST_BYTES = 64 * 1024 * 1024
"""Of one file."""


class Pattern:
    """Paths with named fields, matched sign by sign: a field is one sign or more, none of them a slash."""

    def __init__(self, text: str) -> None:
        """Raises UserError for a pattern with no field, or with one that no factor may be called after."""
        parts = FIELD.split(text)
        names = parts[1::2]
        twice = [name for name in names if name != "_" and names.count(name) > 1]
        if not names or twice or any(brace in literal for literal in parts[::2] for brace in "{}"):
            what = (
                f"field {twice[0]!r} stands twice" if twice else "write fields in braces, as in '{node}/{threads}t.txt'"
            )
            raise UserError(f"files: {text!r}: {what}")
        if any(not literal for literal in parts[2:-1:2]):
            raise UserError(f"files: {text!r}: two fields with nothing between them")
        self.factors = [name for name in names if name not in OWN_FIELDS]
        try:
            check_factor_names(self.factors)
        except ValueError as error:
            raise UserError(f"files: {error}") from None
        fields = [rf"(?P<{name}>[^/]+?)" if name != "_" else "[^/]+?" for name in names]
        literals = [re.escape(literal) for literal in parts[::2]]
        woven = [piece for pair in zip(literals, [*fields, ""], strict=True) for piece in pair]
        self._expression = re.compile("".join(woven))

    def fields(self, path: str) -> dict[str, str] | None:
        """Field -> text; None where the path is another one."""
        found = self._expression.fullmatch(path)
        return None if found is None else found.groupdict()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    """One result, and what the path of its file says."""

    path: str
    """Below the folder."""
    fields: Mapping[str, str]
    result: Result


def read(folder: Path, wanted: mapping.Mapping, skipped: Skipped) -> tuple[tuple[str, ...], list[Found]]:
    """Factor names, and every value, file by file in the order of their paths. Raises UserError."""
    reader = _reader(wanted.format)
    pattern = None if wanted.files is None else Pattern(wanted.files)
    told = [
        _Told(path=path.relative_to(folder).as_posix(), fields=fields, result=result)
        for path, fields in _files(folder, pattern, skipped)
        for result in _results(folder, path, reader, skipped)
    ]
    names = _factor_names(told, wanted) if told else ()
    return names, [value for one in told for value in _values(one, names, wanted, skipped)]


def files_of(folder: Path) -> list[Path]:
    """Every plain file below a folder, by path; links lead out of it and are not followed."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _reader(named: str | None) -> Reader:
    known = {found.name: found for found in entry_points(group=READERS)}
    name = named or "iozone"
    if name not in known:
        raise UserError(f"format: {name!r} is not one of {', '.join(sorted(known))}{nearest(name, known)}")
    reader: Reader = known[name].load()
    return reader


def _files(folder: Path, pattern: Pattern | None, skipped: Skipped) -> Iterator[tuple[Path, Mapping[str, str]]]:
    for path in files_of(folder):
        fields = {} if pattern is None else pattern.fields(path.relative_to(folder).as_posix())
        if fields is None:
            skipped.add("a file whose path is not as `files` says", str(path.relative_to(folder)))
        else:
            yield path, fields


def _results(folder: Path, path: Path, reader: Reader, skipped: Skipped) -> list[Result]:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise OutputError("larger than 64 MB")
        return list(reader(path.read_text(encoding="utf-8", errors="replace")))
    except OutputError as problem:
        why = re.sub(r"^line [0-9]+: ", "", str(problem))
        skipped.add(f"a file that cannot be read: {why}", str(path.relative_to(folder)))
        return []


def _factor_names(told: Sequence[_Told], wanted: mapping.Mapping) -> tuple[str, ...]:
    """Of the constants, the paths and the texts: those that all texts tell."""
    in_all = [name for name in told[0].result.levels if all(name in one.result.levels for one in told)]
    of_paths = [name for name in told[0].fields if name not in OWN_FIELDS]
    return tuple(dict.fromkeys([*wanted.constants, *of_paths, *in_all]))


def _values(one: _Told, names: Sequence[str], wanted: mapping.Mapping, skipped: Skipped) -> Iterator[Found]:
    fields, result = one.fields, one.result
    try:
        node = _node(fields)
        started_at = as_time(fields["time"]) if "time" in fields else result.started_at
    except ValueError as problem:
        skipped.add(str(problem), one.path, len(result.values))
        return
    for mode, value in result.values.items():
        name = mapping.as_mode(fields.get("mode", mode), wanted.mode)
        if name is None:
            skipped.add(BAD_MODE, one.path)
            continue
        yield Found(
            levels=tuple(_level(factor, one, wanted) for factor in names),
            mode=name,
            value=value * wanted.value.times,
            node=node,
            job=fields.get("job", ""),
            replicate=fields.get("replicate", one.path),  # a file is a run, or several one after the other
            started_at=started_at,
            elapsed_s=result.elapsed_s,
        )


def _node(fields: Mapping[str, str]) -> str:
    node = fields.get("node", NODE)
    if not NODE_NAME.fullmatch(node):
        raise ValueError(BAD_NODE)
    return node


def _level(factor: str, one: _Told, wanted: mapping.Mapping) -> Level:
    if factor in wanted.constants:
        return wanted.constants[factor]
    return mapping.as_level(one.fields[factor]) if factor in one.fields else one.result.levels[factor]
