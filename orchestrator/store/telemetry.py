"""What was told and observed about runs, packed: as JSON it would take ten times the space of the values themselves.

The runs of one block say the same things with other numbers. What they say is kept once, as JSON with zeros for
numbers; the numbers are kept exactly, in decimal, column by column, highest bytes first, so that DEFLATE finds what
repeats. DEFLATE also knows beforehand the words that our engines and nodes use. 40 numbers a run take about 90 bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

FORMAT = b"\x01"
"""The first byte: how the rest is to be read. Ledgers keep what they hold, so a new format gets a new number."""
BINARY = 7
"""In place of a number of decimals: columns with more than six are kept as they are in memory."""
EXACT = 2.0**53
"""Whole numbers below this are floats without a loss."""
NUMBER_BYTES = 8
LEVEL = 3
"""Of DEFLATE: 6 takes half as long again for 2 % less."""
_NUMBERS = frozenset({int, float})

_OTHER_WORDS = (
    "runs_since_trim bytes_since_trim dram_j package-0_j own_page_faults own_context_switches sectors_written "
    "sectors_read major_page_faults page_faults context_switches cache-misses cache-references instructions cycles "
    "cpu-migrations context-switches task-clock trim rapl perf proc output shared true after_run sampled powersave "
    "performance schedutil as_is xfs fio_bandwidth_kbps"
)
_MODES = ("initial_writers", "rewriters", "readers", "re-readers", "random_readers", "random_writers")
_USUAL = {
    "sequence": 0,
    "details": {
        mode: {"parent_kbps": 0, "min_kbps": 0, "max_kbps": 0, "avg_kbps": 0, "min_xfer_kb": 0} for mode in _MODES
    },
    "observed": {
        "frequency": "pinned", "file_system": "ext4", "governor": "userspace", "dirty_kb": 0, "writeback_kb": 0,
        "start_temperature_c": 0, "waited_s": 0, "wanted_khz": 0, "frequency_khz": 0,
        "frequency_source": "aperf_mperf", "temperature_c": 0, "foreign_cpus": 0, "foreign_kbps": 0,
        "kernel_errors": [], "free_kb": 0, "warm": ["readers", "re-readers", "random_readers"],
    },
}  # fmt: skip
_USUAL_HEAD = {"shapes": [_USUAL], "kinds": [0] * 10, "decimals": ["0" + "22220" * 6 + "000300000300"]}
_WORDS = (_OTHER_WORDS + json.dumps(_USUAL_HEAD, separators=(",", ":"))).encode()
"""What DEFLATE refers to, the likeliest last. A part of the format: never changed."""


def pack(records: Sequence[Mapping[str, Any]]) -> bytes:
    """JSON-able mappings in few bytes; quickest and smallest when they differ in their numbers alone."""
    shapes: list[_Shape] = []
    kinds = []
    for record in records:
        keys: list[tuple[str, ...]] = []
        leaves: list[Any] = []
        _flatten(record, keys, leaves)
        types = list(map(type, leaves))
        kind = next((kind for kind, shape in enumerate(shapes) if shape.fits(keys, types, leaves)), len(shapes))
        if kind == len(shapes):
            shapes.append(_Shape(record, keys, types, leaves))
        shapes[kind].rows.append(list(compress(leaves, shapes[kind].is_number)))
        kinds.append(kind)
    columns = [_packed_columns(shape.rows) for shape in shapes]
    if any(decimals is None for decimals, _ in columns):
        return _written([*records], [*range(len(records))], [("", b"")] * len(records))
    return _written([_without_numbers(shape.first) for shape in shapes], kinds, columns)


def unpack(packed: bytes) -> list[dict[str, Any]]:
    """The mappings in their order; a whole number comes back as int, also where it was a float.

    Raises ValueError for a format that this version does not know.
    """
    if packed[:1] != FORMAT:
        raise ValueError(f"telemetry of format {packed[0]}; this version of Modescope reads format {FORMAT[0]}")
    text, _, body = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_WORDS).decompress(packed[1:]).partition(b"\n")
    head = json.loads(text)
    rows: list[Iterator[list[float]]] = []
    for kind, decimals in enumerate(head["decimals"]):
        count = head["kinds"].count(kind)
        size = len(decimals) * count * NUMBER_BYTES
        rows.append(_unpacked_rows(body[:size], count, decimals))
        body = body[size:]
    shapes, decimals = head["shapes"], head["decimals"]
    return [_with_numbers(shapes[k], iter(next(rows[k]))) if decimals[k] else shapes[k] for k in head["kinds"]]


class _Shape:
    """What some records have in common: all but their numbers."""

    def __init__(self, first: Any, keys: list[tuple[str, ...]], types: list[type], leaves: list[Any]) -> None:
        self.first = first
        self.rows: list[list[float]] = []
        self._keys = keys
        self._types = types
        self.is_number = [one in _NUMBERS for one in types]
        self._is_other = [one not in _NUMBERS for one in types]
        self._others = list(compress(leaves, self._is_other))

    def fits(self, keys: list[tuple[str, ...]], types: list[type], leaves: list[Any]) -> bool:
        """Is this a record of the same shape?"""
        return types == self._types and keys == self._keys and list(compress(leaves, self._is_other)) == self._others


def _flatten(record: Mapping[str, Any], keys: list[tuple[str, ...]], leaves: list[Any]) -> None:
    """Members that are no mappings, in order, and the keys of every mapping."""
    keys.append(tuple(record))
    members = record.values()
    if dict not in map(type, members):
        leaves.extend(members)
        return
    for member in members:
        if type(member) is dict:
            _flatten(member, keys, leaves)
        else:
            leaves.append(member)


def _written(shapes: list[Any], kinds: list[int], columns: Sequence[tuple[str | None, bytes]]) -> bytes:
    head = {"shapes": shapes, "kinds": kinds, "decimals": [decimals for decimals, _ in columns]}
    packer = zlib.compressobj(LEVEL, wbits=-zlib.MAX_WBITS, zdict=_WORDS)
    text = json.dumps(head, separators=(",", ":")).encode()
    return FORMAT + packer.compress(b"".join([text, b"\n", *(body for _, body in columns)])) + packer.flush()


def _without_numbers(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_numbers(member) if type(member) is dict else 0 if type(member) in _NUMBERS else member
        for key, member in record.items()
    }


def _with_numbers(shape: Mapping[str, Any], numbers: Iterator[float]) -> dict[str, Any]:
    return {
        key: _with_numbers(member, numbers)
        if type(member) is dict
        else next(numbers)
        if type(member) is int
        else member
        for key, member in shape.items()
    }


def _packed_columns(rows: list[list[float]]) -> tuple[str | None, bytes]:
    """A digit for each column, its decimals, and its numbers, so many times ten, a byte plane after the other.

    None instead of the digits when a number is so large that a float might not hold it.
    """
    columns = np.array(rows, dtype=np.float64).T
    if not (np.abs(columns) < EXACT).all():
        return None, b""
    decimals = np.full(len(columns), BINARY)
    whole = columns.copy().view(np.int64)
    left, digits = np.arange(len(columns)), 0
    while left.size and digits < BINARY:
        scaled = np.rint(columns[left] * 10.0**digits)
        fits = ((scaled / 10.0**digits == columns[left]) & (np.abs(scaled) < EXACT)).all(axis=1)
        decimals[left[fits]] = digits
        whole[left[fits]] = scaled[fits]
        left, digits = left[~fits], digits + 1
    planes = whole.astype(">i8").view(np.uint8).reshape(*columns.shape, NUMBER_BYTES)
    return "".join(map(str, decimals.tolist())), planes.transpose(0, 2, 1).tobytes()


def _unpacked_rows(body: bytes, count: int, decimals: str) -> Iterator[list[float]]:
    if not decimals:
        return iter([[]] * count)
    planes = np.frombuffer(body, np.uint8).reshape(len(decimals), NUMBER_BYTES, count).transpose(0, 2, 1)
    whole = np.ascontiguousarray(planes).view(">i8")[..., 0].astype(np.int64)
    columns = [_unscaled(column, int(digits)) for column, digits in zip(whole, decimals, strict=True)]
    return (list(row) for row in zip(*columns, strict=True))


def _unscaled(column: np.ndarray[Any, np.dtype[np.int64]], digits: int) -> list[float]:
    if digits == BINARY:
        return list(column.view(np.float64).tolist())
    return list(column.tolist()) if digits == 0 else list((column / 10.0**digits).tolist())
