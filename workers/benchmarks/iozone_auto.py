"""What IOzone 3.x prints in auto mode (`-a`): a row a file size and record size, a column a test, one process."""

from __future__ import annotations

import re

from orchestrator.contracts.errors import OutputError
from workers.benchmarks.iozone_text import Measured

MODES = (
    *("initial_writers", "rewriters", "readers", "re-readers", "random_readers", "random_writers", "reverse_readers"),
    *("record_rewriters", "stride_readers", "fwriters", "re-fwriters", "freaders", "re-freaders"),
)
"""Its columns in order, called as in throughput mode; those that throughput mode has not, in its manner."""
_HEADER = re.compile(r"\s*kb\s+reclen\s+write\s+rewrite\s+read\s+reread\s.*", re.IGNORECASE)
_ROW = re.compile(r"\s*\d+(\s+\d+)+\s*")


def is_auto(text: str) -> bool:
    """Does it have such a table?"""
    return any(_HEADER.fullmatch(line) for line in text.splitlines())


def parse(text: str) -> tuple[Measured, ...]:
    """Every cell, in the order of the text; several tables one after the other are several invocations.

    Raises OutputError where rows do not have all columns: which tests were left out cannot be told.
    """
    measured: list[Measured] = []
    in_table = False
    for number, line in enumerate(text.splitlines(), start=1):
        if _HEADER.fullmatch(line):
            in_table = True
        elif in_table and _ROW.fullmatch(line):
            cells = [int(cell) for cell in line.split()]
            if len(cells) != len(MODES) + 2:
                raise OutputError(f"line {number}: {len(cells) - 2} values, but auto mode has {len(MODES)} tests")
            file_size_kb, record_size_kb, *values = cells
            measured += [
                Measured(
                    mode=mode,
                    throughput_kbps=float(value),
                    threads=1,
                    file_size_kb=file_size_kb,
                    record_size_kb=record_size_kb,
                )
                for mode, value in zip(MODES, values, strict=True)
            ]
    return tuple(measured)
