"""Power of the whole node as a trace of one sample a second: the operator's own command, hwmon, or IPMI DCMI.

The command is a program named `modescope-node-power` on the agent's PATH that prints watts; a study never names one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from workers.node.facts import files

EVERY_S = 1.0
"""The agent wakes up no more often while a benchmark measures."""
ANSWER_S = 5.0
COMMAND = "modescope-node-power"
MOST_SAMPLES = 3600
"""Of a trace that is kept; what comes later counts in mean and extremes only."""
DCMI = re.compile(r"Instantaneous power reading:\s*(\d+(?:\.\d+)?)\s*Watts")
Read = Callable[[], float | None]


def parse_dcmi(text: str) -> float | None:
    """Watts in what `ipmitool dcmi power reading` printed; None where the board measures nothing (it says 0 then)."""
    match = DCMI.search(text)
    watts = None if match is None else float(match[1])
    return watts if watts else None


def parse_watts(text: str) -> float | None:
    """The number that the operator's command printed, alone or ahead of a unit."""
    words = text.split()
    with suppress(IndexError, ValueError):
        watts = float(words[0])
        return watts if 0 < watts < 1e6 else None
    return None


def of_hwmon(root: Path) -> float | None:
    """Watts of all power meters of hwmon (microwatts in power*_average or power*_input) together; None: no meter."""
    found = []
    for folder in sorted((root / "sys/class/hwmon").glob("hwmon*")):
        meters = {path.name.partition("_")[0] for path in folder.glob("power*_*")}
        for meter in sorted(meters):
            read = (files.number(folder / f"{meter}_{kind}") for kind in ("average", "input"))
            microwatts = next((one for one in read if one is not None), None)
            if microwatts is not None:
                found.append(microwatts / 1e6)
    return sum(found) if found else None


def source(root: Path) -> tuple[str, Read] | None:
    """Where this node's power can be read, by what answers first; None: nowhere."""
    candidates: dict[str, Read] = {
        "command": lambda: _printed(COMMAND, [], parse_watts),
        "hwmon": lambda: of_hwmon(root),
        "dcmi": lambda: _printed("ipmitool", ["dcmi", "power", "reading"], parse_dcmi),
    }
    return next(((name, read) for name, read in candidates.items() if read() is not None), None)


class Power:
    """Samples from the first second of a run on; its end takes one more, so that a short run has one as well."""

    def __init__(self, root: Path, *, every_s: float = EVERY_S) -> None:
        self._source = source(root)
        self._every_s = every_s
        self._watts: list[float] = []
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        if self._source is None:
            return
        self._watts = []
        self._over.clear()
        self._thread = threading.Thread(target=self._sample, name="power", daemon=True)
        self._thread.start()

    def end(self) -> Mapping[str, object]:
        """Mean, extremes and the trace in watts; which source."""
        self.close()
        if self._source is None:
            return {}
        self._take()
        if not self._watts:
            return {}
        return {
            "source": self._source[0],
            "mean_w": round(sum(self._watts) / len(self._watts), 2),
            "min_w": min(self._watts),
            "max_w": max(self._watts),
            "samples": len(self._watts),
            "every_s": self._every_s,
            "trace_w": self._watts[:MOST_SAMPLES],
        }

    def close(self) -> None:
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            self._thread = None

    def _sample(self) -> None:
        while not self._over.wait(self._every_s):
            self._take()

    def _take(self) -> None:
        watts = None if self._source is None else self._source[1]()
        if watts is not None:
            self._watts.append(round(watts, 2))


def _printed(program: str, arguments: list[str], read: Callable[[str], float | None]) -> float | None:
    path = shutil.which(program)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, *arguments],
            env={"PATH": os.defpath, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            timeout=ANSWER_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return read(done.stdout) if done.returncode == 0 else None
