"""What was told and observed about runs, packed: as JSON it would take ten times the space of the values themselves.

The runs of one block say the same things with other numbers. What they say is kept once, as JSON with zeros for
numbers; the numbers are kept exactly, in decimal, column by column, highest bytes first, so that DEFLATE finds what
repeats. DEFLATE also knows beforehand the words that our engines and nodes use. 40 numbers a run take about 90 bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

FORMAT = b"\x01"
"""The first byte: how the rest is to be read. Ledgers keep what they hold, so a new format gets a new number."""
BINARY = 7
"""In place of a number of decimals: columns with more than six are kept as they are in memory."""
EXACT = 2.0**53
"""Whole numbers below this are floats without a loss."""
NUMBER_BYTES = 8
LEVEL = 6
"""Of DEFLATE: 3 takes 3 % more space in nearly the same time, 9 takes 2 % less in a longer one."""
_NUMBERS = frozenset({int, float})
_json = json.JSONEncoder(separators=(",", ":")).encode

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
    return pack_blocks([records])[0]


def pack_blocks(blocks: Sequence[Sequence[Mapping[str, Any]]]) -> list[bytes]:
    """As `pack` does, a block at a time; those whose first records look alike are worked out together."""
    alike: dict[str, list[int]] = {}
    for place, block in enumerate(blocks):
        alike.setdefault(_wording(block[0]) if block else "", []).append(place)
    packed: dict[int, bytes] = {}
    for wording, places in alike.items():
        packed.update(zip(places, _of_one_wording(wording, [blocks[place] for place in places]), strict=True))
    return [packed[place] for place in range(len(blocks))]


def _of_one_wording(wording: str, blocks: Sequence[Sequence[Mapping[str, Any]]]) -> list[bytes]:
    """Blocks whose first records say this; where others say something else, the block is packed by itself."""
    columns: list[Sequence[float]] = []
    if not wording or not _into_columns([record for block in blocks for record in block], columns):
        return [_mixed(blocks[0])] if len(blocks) == 1 else [pack(block) for block in blocks]
    sizes = [len(block) for block in blocks]
    return [
        _written([wording], [0] * len(block), [body]) if body[0] is not None else _as_json(block)
        for block, body in zip(blocks, _packed_columns(columns, sizes), strict=True)
    ]


def _mixed(records: Sequence[Mapping[str, Any]]) -> bytes:
    """Records that differ in more than their numbers: by what they say, in turn."""
    wordings: dict[str, list[Mapping[str, Any]]] = {}
    kinds = []
    for record in records:
        wordings.setdefault(wording := _wording(record), []).append(record)
        kinds.append([*wordings].index(wording))
    bodies = []
    for alike in wordings.values():
        columns: list[Sequence[float]] = []
        if not _into_columns(alike, columns):
            return _as_json(records)
        bodies += _packed_columns(columns, [len(alike)])
    return _as_json(records) if any(digits is None for digits, _ in bodies) else _written([*wordings], kinds, bodies)


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


def _into_columns(records: Sequence[Mapping[str, Any]], columns: list[Sequence[float]]) -> bool:
    """Append the numbers of all records, member by member; False when the records differ in anything else."""
    keys = tuple(records[0])
    if any(tuple(record) != keys for record in records):
        return False
    for members in zip(*map(dict.values, records), strict=True):  # type: ignore[arg-type]  # what comes of JSON
        kinds = set(map(type, members))
        if kinds <= _NUMBERS:
            columns.append(members)
        elif kinds == {dict}:
            if not _into_columns(members, columns):
                return False
        elif len(kinds) > 1 or members.count(members[0]) < len(members):
            return False
    return True


def _as_json(records: Sequence[Mapping[str, Any]]) -> bytes:
    return _written([*map(_json, records)], [*range(len(records))], [("", b"")] * len(records))


def _written(shapes: list[str], kinds: list[int], bodies: Sequence[tuple[str | None, bytes]]) -> bytes:
    decimals = _json([digits for digits, _ in bodies])
    head = f'{{"shapes":[{",".join(shapes)}],"kinds":{_json(kinds)},"decimals":{decimals}}}\n'
    packer = zlib.compressobj(LEVEL, wbits=-zlib.MAX_WBITS, zdict=_WORDS)
    return FORMAT + packer.compress(b"".join([head.encode(), *(body for _, body in bodies)])) + packer.flush()


def _wording(record: Mapping[str, Any]) -> str:
    """All that a record says, with zeros for its numbers."""
    return _json(_without_numbers(record))


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


def _packed_columns(columns: Sequence[Sequence[float]], sizes: Sequence[int]) -> list[tuple[str | None, bytes]]:
    """By block of so many records: a digit for each column, its decimals; its numbers without points, by byte plane.

    None instead of the digits when a number is so large that a float might not hold it.
    """
    if not columns:
        return [("", b"")] * len(sizes)
    numbers = np.array(columns, dtype=np.float64)
    starts = np.cumsum([0, *sizes[:-1]])
    is_exact = np.abs(numbers) < EXACT
    exact = np.logical_and.reduceat(is_exact.all(axis=0), starts)
    decimals, whole = _scaled(np.where(is_exact, numbers, 0.0), starts, np.array(sizes))
    planes = whole.astype(">i8").view(np.uint8).reshape(*numbers.shape, NUMBER_BYTES).transpose(0, 2, 1)
    return [
        ("".join(map(str, digits)), planes[:, :, start : start + size].tobytes()) if fits else (None, b"")
        for digits, start, size, fits in zip(decimals.T.tolist(), starts.tolist(), sizes, exact.tolist(), strict=True)
    ]


def _scaled(
    numbers: np.ndarray[Any, np.dtype[np.float64]], starts: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, np.dtype[np.int64]]]:
    """Of each column and block, the fewest decimals that hold its numbers; and each number without its point."""
    decimals = np.full((len(numbers), len(sizes)), BINARY)
    whole = numbers.copy().view(np.int64)
    for digits in range(BINARY):
        left = np.flatnonzero((decimals == BINARY).any(axis=1))
        if not left.size:
            break
        scaled = np.rint(numbers[left] * 10.0**digits)
        holds = (scaled / 10.0**digits == numbers[left]) & (np.abs(scaled) < EXACT)
        settled = np.logical_and.reduceat(holds, starts, axis=1) & (decimals[left] == BINARY)
        decimals[left] = np.where(settled, digits, decimals[left])
        columns, records = np.nonzero(np.repeat(settled, sizes, axis=1))
        whole[left[columns], records] = scaled[columns, records]
    return decimals, whole


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
