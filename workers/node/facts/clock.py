"""How right the node's clock is: what chrony says (`chronyc tracking`), else what the kernel was told (adjtimex).

What timedatectl calls synchronized is the kernel's flag, and systemd-timesyncd tells its offset to the kernel: it needs
no parser of its own. How far the database's clock is from this one is measured at every claim, and told with the runs.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass

TIMEX = struct.Struct("@Iqqqqiqqqqqqqqiqqqqqi44x")
"""`struct timex` of a 64-bit Linux (adjtimex(2)): modes, offset, freq, maxerror, esterror, status, ..."""
UNSYNCHRONISED = 0x0040
NANOSECONDS = 0x2000
"""Of the field `status`; without the second, the offset is in microseconds."""
ANSWER_TIMEOUT_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """None: nobody says."""

    source: str
    """chrony or kernel."""
    synchronised: bool
    offset_s: float | None
    """By how much the clock is ahead of true time, as far as its keeper knows; None while nobody keeps it."""
    max_error_s: float | None
    """A bound on that: of root delay and dispersion, or the kernel's maximal error."""


def parse_chrony(text: str) -> Clock | None:
    """Read `chronyc tracking` (chronyc(1)); None when it is something else."""
    fields = {key.strip(): value.split() for key, _, value in (line.partition(":") for line in text.splitlines())}
    try:
        off_s, _, direction, *_ = fields["System time"]
        delay_s, dispersion_s = float(fields["Root delay"][0]), float(fields["Root dispersion"][0])
        offset_s = float(off_s) * {"fast": 1, "slow": -1}[direction]
        synchronised = fields["Leap status"][0] != "Not"
    except (ValueError, LookupError):
        return None
    return Clock(
        source="chrony",
        synchronised=synchronised,
        offset_s=offset_s if synchronised else None,
        max_error_s=delay_s / 2 + dispersion_s if synchronised else None,
    )


def parse_timex(image: bytes) -> Clock | None:
    """Read what adjtimex(2) filled in; None where a long has not 64 bits."""
    if len(image) != TIMEX.size:
        return None
    _, offset, _, most_us, _, status, *_ = TIMEX.unpack(image)
    synchronised = not status & UNSYNCHRONISED
    return Clock(
        source="kernel",
        synchronised=synchronised,
        # What the kernel still has to add to its clock: it is behind by that much.
        offset_s=-offset / (1e9 if status & NANOSECONDS else 1e6) if synchronised else None,
        max_error_s=most_us / 1e6 if synchronised else None,
    )


def read() -> Clock | None:
    """Of this machine."""
    return _of_chrony() or parse_timex(_timex())


def _of_chrony() -> Clock | None:
    program = shutil.which("chronyc", path=f"{os.defpath}:/usr/sbin:/sbin")
    if program is None:
        return None
    argv = [program, "-n", "tracking"]
    try:
        told = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=ANSWER_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_chrony(told.stdout)


def _timex() -> bytes:
    """With `modes` 0 nothing is set, and no right is needed; empty where the C library has no such call."""
    image = ctypes.create_string_buffer(TIMEX.size)
    try:
        answer = ctypes.CDLL(None).adjtimex(image)
    except AttributeError:
        return b""
    return image.raw if answer >= 0 else b""
