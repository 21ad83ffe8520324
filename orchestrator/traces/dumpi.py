"""DUMPI traces: the binary files of SST, as far as arrivals at collectives need them, and the text of dumpi2ascii.

A file is a lead-in, a stream of calls, and an index at its end that tells where the parts are; numbers are big-endian.
A call is its number, a mask of what is told, times, and arguments whose size depends on the call: a call whose
arguments are not known here ends the reading with its number, rather than with a guess.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from orchestrator.contracts.errors import TableError
from orchestrator.traces.arrivals import Call, trace_of
from orchestrator.traces.imported import Imported

MAGIC = b"\xff\xaa\xddDUMPI"
STATUS, CPU, WALL, THREAD, COUNTERS = 0x03, 0x04, 0x08, 0x40, 0x80
TIMES = struct.Struct(">HIHI")

# Call number -> name and arguments: i 4 bytes, c handle of 2 bytes (communicator, type, group), o operation of 1 byte,
# r a list of requests or numbers (its length, 4 bytes each), s a list of statuses, w a list of words (4-byte lengths).
CALLS: dict[int, tuple[str, str]] = {
    0: ("MPI_Send", "iciic"),
    1: ("MPI_Recv", "iciics"),
    3: ("MPI_Bsend", "iciic"),
    4: ("MPI_Ssend", "iciic"),
    5: ("MPI_Rsend", "iciic"),
    8: ("MPI_Isend", "iciici"),
    9: ("MPI_Ibsend", "iciici"),
    10: ("MPI_Issend", "iciici"),
    11: ("MPI_Irsend", "iciici"),
    12: ("MPI_Irecv", "iciici"),
    13: ("MPI_Wait", "is"),
    15: ("MPI_Request_free", "i"),
    18: ("MPI_Waitall", "irs"),
    23: ("MPI_Probe", "iics"),
    26: ("MPI_Send_init", "iciici"),
    30: ("MPI_Recv_init", "iciici"),
    31: ("MPI_Start", "i"),
    32: ("MPI_Startall", "ir"),
    33: ("MPI_Sendrecv", "iciiiciics"),
    52: ("MPI_Barrier", "c"),
    53: ("MPI_Bcast", "icic"),
    58: ("MPI_Allgather", "icicc"),
    60: ("MPI_Alltoall", "icicc"),
    62: ("MPI_Reduce", "icoic"),
    65: ("MPI_Allreduce", "icoc"),
    67: ("MPI_Scan", "icoc"),
    72: ("MPI_Comm_group", "cc"),
    76: ("MPI_Group_incl", "circ"),
    80: ("MPI_Group_free", "c"),
    81: ("MPI_Comm_size", "ci"),
    82: ("MPI_Comm_rank", "ci"),
    84: ("MPI_Comm_dup", "cc"),
    85: ("MPI_Comm_create", "ccc"),
    86: ("MPI_Comm_split", "ciic"),
    87: ("MPI_Comm_free", "c"),
    122: ("MPI_Wtime", ""),
    123: ("MPI_Wtick", ""),
    124: ("MPI_Init", "w"),
    125: ("MPI_Finalize", ""),
}
COLLECTIVES = frozenset({
    "MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv", "MPI_Allgather",
    "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Reduce", "MPI_Allreduce",
    "MPI_Reduce_scatter", "MPI_Scan", "MPI_Exscan",
})  # fmt: skip
NUMBERED = re.compile(r"(.*)-(\d+)\.(?:bin|txt)")
ENTERING = re.compile(r"(MPI_\w+) entering at walltime (\d+)\.(\d+)")
COMMUNICATOR = re.compile(r"MPI_Comm comm=(\d+)")
TOLD = re.compile(r"(MPI_\w+) called (\d+) times")


def read(path: Path) -> Imported:
    """All ranks of the trace that this file (.meta, .bin, or .txt of dumpi2ascii) belongs to. Raises TableError."""
    by_rank: list[list[Call]] = []
    counts: Counter[str] = Counter()
    for file in _files(path):
        calls, told = of_text(file) if file.suffix == ".txt" else of_binary(file)
        by_rank.append(calls)
        counts.update(told)
    return trace_of(path, by_rank, counts)


def _files(path: Path) -> list[Path]:
    """One file a rank, in their order."""
    stem, suffix = path.with_suffix(""), ".bin"
    if path.suffix != ".meta":
        match = NUMBERED.fullmatch(path.name)
        if match is None:
            raise TableError(f"{path}: the files of a DUMPI trace are named as in {path.stem}-0000{path.suffix}")
        stem, suffix = path.with_name(match[1]), path.suffix
    found = sorted(stem.parent.glob(f"{_literal(stem.name)}-[0-9]*{suffix}"), key=_rank)
    if not found:
        raise TableError(f"{path}: no file {stem.name}-0000{suffix} is beside it")
    return found


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _rank(file: Path) -> int:
    return int(file.stem.rpartition("-")[2])


def of_binary(path: Path) -> tuple[list[Call], Counter[str]]:
    """The collectives of one rank, and how often each call was made, checked against the file's own counts."""
    try:
        data = path.read_bytes()
        header, body, footer = _index(data)
        calls = list(_calls(data, body, header))
    except (OSError, struct.error, IndexError, ValueError) as error:
        raise TableError(f"{path}: not a DUMPI trace that can be read: {error}") from error
    counts = Counter(call.name for call in calls)
    for number, (name, _) in CALLS.items():
        (told,) = struct.unpack_from(">I", data, footer + 8 + 4 * number)
        if told != counts[name]:
            raise TableError(f"{path}: holds {counts[name]} calls of {name}, but says that there were {told}")
    return [call for call in calls if call.name in COLLECTIVES], counts


def _index(data: bytes) -> tuple[int, int, int]:
    """Where the header, the stream and the footer begin."""
    if data[:8] != MAGIC:
        raise ValueError("it does not begin as one")
    if MAGIC not in data[-72:]:
        raise ValueError("its index is missing: the file was cut")
    header, body, footer, _ = struct.unpack(">4Q", data[-32:])
    if not 8 <= body <= header <= footer < len(data):
        raise ValueError("its index is damaged")
    return header, body, footer


def _calls(data: bytes, body: int, end: int) -> Iterator[Call]:
    _, bias_s = struct.unpack_from(">ii", data, body)
    place = body + 8
    while place < end - 2:  # the last number says that the stream ends
        number, mask = struct.unpack_from(">HB", data, place)
        place += 3 + (2 if mask & THREAD else 0) + (TIMES.size if mask & CPU else 0)
        if not mask & WALL:
            raise ValueError("calls have no wall time: arrivals are not known")
        seconds, nanoseconds, _, _ = TIMES.unpack_from(data, place)
        place += TIMES.size
        if mask & COUNTERS:
            place += 1 + 16 * data[place]
        if number not in CALLS:
            raise ValueError(
                f"call number {number} at byte {place} is not known here; its text (dumpi2ascii) can be read"
            )
        name, arguments = CALLS[number]
        communicator, place = _passed(data, place, arguments)
        yield Call(name=name, communicator=communicator, entered_s=bias_s + seconds + nanoseconds / 1e9)
    if place != end - 2:
        raise ValueError(f"the stream ends at byte {place}, not at {end - 2}")


def _passed(data: bytes, place: int, arguments: str) -> tuple[int, int]:
    """The last handle among the arguments (of a collective, its communicator), and the byte behind them."""
    handle = 0
    for kind in arguments:
        if kind == "c":
            (handle,) = struct.unpack_from(">H", data, place)
            place += 2
        elif kind == "o":
            place += 1
        elif kind == "i":
            place += 4
        else:
            (count,) = struct.unpack_from(">i", data, place)
            place = _behind_list(data, place + 4, kind, count)
    return handle, place


def _behind_list(data: bytes, place: int, kind: str, count: int) -> int:
    if kind == "r":
        return place + 4 * count
    if kind == "s":
        return place + 14 * count  # bytes, source, cancelled, error, tag
    for _ in range(count):
        (length,) = struct.unpack_from(">i", data, place)
        place += 4 + length
    return place


def of_text(path: Path) -> tuple[list[Call], Counter[str]]:
    """The collectives of one rank in the text of dumpi2ascii, and its counts."""
    calls: list[Call] = []
    counts: Counter[str] = Counter()
    name, entered_s = "", 0.0
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            if entering := ENTERING.match(line):
                name, entered_s = entering[1], float(f"{entering[2]}.{entering[3]}")
            elif (communicator := COMMUNICATOR.match(line)) and name in COLLECTIVES:
                calls.append(Call(name=name, communicator=int(communicator[1]), entered_s=entered_s))
                name = ""
            elif (told := TOLD.match(line)) and int(told[2]):
                counts[told[1]] += int(told[2])
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: cannot be read: {error}") from error
    if not counts:
        raise TableError(f"{path}: not the text of dumpi2ascii: no line tells how often a call was made")
    return calls, counts
