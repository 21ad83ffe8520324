"""What IOzone 3.x prints in throughput mode (`-t`, or `-l` and `-u`), read back.

Versions differ in blanks and tabs, in "kB" and "KB", and in extra lines; one text may hold several numbers of
processes, or several invocations one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orchestrator.contracts.errors import OutputError

_NUMBER = r"(\d+(?:\.\d+)?)"
_UNIT = r"k(?:ilo)?b(?:ytes?)?"
_RATE = rf"\s*=\s*{_NUMBER}\s*{_UNIT}/sec\s*"
_BANNER = re.compile(r"\s*iozone: performance test of file i/o\s*", re.IGNORECASE)
_COMPLETE = re.compile(r"\s*iozone test complete\.\s*", re.IGNORECASE)
_SIZES = re.compile(rf"\s*each process writes a (\d+)\s*{_UNIT} file in (\d+)\s*{_UNIT} records\s*", re.IGNORECASE)
_CHILDREN = re.compile(rf"\s*children see throughput for\s+(\d+)\s+(\S.*?){_RATE}", re.IGNORECASE)
_DETAILS = {
    "parent_kbps": re.compile(rf"\s*parent sees throughput for\s+\d+\s+\S.*?{_RATE}", re.IGNORECASE),
    "min_kbps": re.compile(rf"\s*min throughput per process{_RATE}", re.IGNORECASE),
    "max_kbps": re.compile(rf"\s*max throughput per process{_RATE}", re.IGNORECASE),
    "avg_kbps": re.compile(rf"\s*avg throughput per process{_RATE}", re.IGNORECASE),
    "min_xfer_kb": re.compile(rf"\s*min xfer\s*=\s*{_NUMBER}\s*{_UNIT}\s*", re.IGNORECASE),
}
_VALUE_LINE = re.compile(r"\s*(children see|parent sees|(min|max|avg) throughput per|min xfer)\b", re.IGNORECASE)
_AUTO = re.compile(r"^\s*auto mode\s*$|\breclen\b", re.IGNORECASE | re.MULTILINE)
_REPORT = re.compile(r'^"[\w -]+ report"\s*$', re.IGNORECASE | re.MULTILINE)
_NOTHING = "no line 'Children see throughput': not a whole output of IOzone 3.x in throughput mode"


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """One mode of one invocation."""

    mode: str
    """IOzone's own name, blanks to underscores."""
    throughput_kbps: float
    """What the children saw: the sum over processes."""
    threads: int
    file_size_kb: int
    """Per process."""
    record_size_kb: int
    details: Mapping[str, float] = field(default_factory=dict)
    """parent_kbps, min_kbps, max_kbps, avg_kbps (per process), min_xfer_kb: those that were printed."""


def parse(text: str, *, partial: bool = False) -> tuple[Measured, ...]:
    """Every measured mode, in the order of the text; `partial`: whatever is there of an interrupted one.

    Raises OutputError for another kind of IOzone's output, and, unless `partial`, for a text that is not complete.
    """
    reader = _Reader(partial)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.take(number, line)
    if not reader.measured and not (partial and reader.started and not _other_kind(text)):
        raise OutputError(_other_kind(text) or _NOTHING)
    if not reader.complete and not partial:
        raise OutputError("'iozone test complete.' is missing: interrupted output; --partial prints what is there")
    return tuple(reader.measured)


class _Reader:
    """Takes a text line by line and remembers what the next value is about."""

    def __init__(self, partial: bool) -> None:
        self._partial = partial
        self._sizes: tuple[int, int] | None = None
        self.measured: list[Measured] = []
        self.started = False
        self.complete = False

    def take(self, number: int, line: str) -> None:
        if _BANNER.fullmatch(line):
            self._begin_invocation(number)
        elif _COMPLETE.fullmatch(line):
            self.complete = True
        elif sizes := _SIZES.fullmatch(line):
            self._sizes = int(sizes[1]), int(sizes[2])
            self.complete = False
        elif _VALUE_LINE.match(line) and not self._take_value(line):
            self._refuse(number, line)

    def _refuse(self, number: int, line: str) -> None:
        if "ops/sec" in line:
            raise OutputError(f"line {number}: operations a second (-O), not throughput: run IOzone without -O")
        if not self._partial:
            raise OutputError(f"line {number}: incomplete value line {line.strip()!r}; --partial prints what is whole")

    def _begin_invocation(self, number: int) -> None:
        if self.measured and not self.complete and not self._partial:
            raise OutputError(
                f"line {number}: another invocation begins before 'iozone test complete.' of the one above; "
                "--partial prints what is there"
            )
        self._sizes, self.started, self.complete = None, True, False

    def _take_value(self, line: str) -> bool:
        """Whether the line is whole, and where it belongs is known."""
        if children := _CHILDREN.fullmatch(line):
            return self._take_mode(int(children[1]), children[2], float(children[3]))
        for name, pattern in _DETAILS.items():
            if self.measured and (found := pattern.fullmatch(line)):
                last = self.measured[-1]
                self.measured[-1] = replace(last, details={**last.details, name: float(found[1])})
                return True
        return False

    def _take_mode(self, threads: int, name: str, throughput_kbps: float) -> bool:
        if self._sizes is None:
            return False
        file_size_kb, record_size_kb = self._sizes
        self.measured.append(
            Measured(
                mode="_".join(name.lower().split()),
                throughput_kbps=throughput_kbps,
                threads=threads,
                file_size_kb=file_size_kb,
                record_size_kb=record_size_kb,
            )
        )
        return True


def _other_kind(text: str) -> str | None:
    """The name of another kind of IOzone's output, if it is one."""
    if _REPORT.search(text):
        return "IOzone's spreadsheet report (-R), not throughput mode: run IOzone with -t, and keep all it prints"
    if _AUTO.search(text):
        return "IOzone's auto mode (-a), a table without processes: run IOzone in throughput mode (-t)"
    return None
