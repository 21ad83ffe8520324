"""Counters of the benchmark by `perf stat`: attached before a run to what it is forked from, inherited by all of it.

Who inherits is decided by who forks, not by whose child it becomes: programs are forked by the launcher, and what is
attached to the agent alone would count nothing of them.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

SOFTWARE = ("task-clock", "context-switches", "cpu-migrations", "page-faults")
FIXED = ("cycles", "instructions")
"""Counted in every run: rates are per cycle."""
USUAL = ("cache-references", "cache-misses")
GROUPS = (
    ("cache-references", "cache-misses", "branches", "branch-misses"),
    ("L1-dcache-loads", "L1-dcache-load-misses", "L1-icache-load-misses", "LLC-loads"),
    ("LLC-load-misses", "dTLB-loads", "dTLB-load-misses", "iTLB-load-misses"),
)
"""With the fixed ones, each fits the counters that a core of x86 has had for fifteen years: nothing is multiplexed."""
WHOLE = 99.5
"""Below this share of the time, perf counted in turns and scaled what it tells."""
ANSWER_S = 5.0
"""How long perf may take to attach, or to print."""


def parse(text: str) -> dict[str, float]:
    """Read what `perf stat -j` printed, a JSON object a line; events that were not counted are left out.

    Where some were multiplexed their values are scaled by perf, and `percent_counted` tells the smallest share of the
    time that one was really counted.
    """
    found: dict[str, float] = {}
    counted = 100.0
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            told = json.loads(line)
            found[str(told["event"]).partition(":")[0]] = float(told["counter-value"])
            counted = min(counted, float(told.get("pcnt-running", 100.0)))
    return found | {"percent_counted": counted} if counted < WHOLE else found


class Perf:
    """One perf a run, asleep from the moment it has answered to the end of the run.

    `rotate`: each run counts the next group of hardware events, beginning anywhere, so that the replicates of a setting
    together count all of them, none in turns with another.
    """

    def __init__(self, forked_from: Callable[[], Sequence[int]], *, rotate: bool = False) -> None:
        self._forked_from = forked_from
        self._program = shutil.which("perf")
        self._groups = GROUPS if rotate else (USUAL,)
        self._next = secrets.randbelow(len(self._groups))  # a job may be one run: its agent begins with any group
        self._perf: subprocess.Popen[str] | None = None

    def begin(self) -> None:
        """Returns when perf counts, or has shown that it cannot."""
        if self._program is None:
            return
        control_read, control_write = os.pipe()
        answer_read, answer_write = os.pipe()
        events = ",".join((*SOFTWARE, *FIXED, *self._groups[self._next]))
        self._next = (self._next + 1) % len(self._groups)
        try:
            pids = ",".join(str(pid) for pid in self._forked_from())
            argv = [self._program, "stat", "-j", "-D", "-1", "-e", events, "-p", pids]
            argv += ["--control", f"fd:{control_read},{answer_write}"]
            self._perf = subprocess.Popen(
                argv,
                env={"PATH": os.defpath, "LC_ALL": "C"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=(control_read, answer_write),
            )
            os.write(control_write, b"enable\n")
            os.close(answer_write)  # so that the end of a perf that cannot count is an answer as well
            answer_write = -1
            counts = bool(select.select([answer_read], [], [], ANSWER_S)[0]) and os.read(answer_read, 1) != b""
        except OSError:
            counts = False
        finally:
            for descriptor in {control_read, control_write, answer_read, answer_write} - {-1}:
                os.close(descriptor)
        if not counts:
            self.close()

    @property
    def counts(self) -> bool:
        """Does it count now?"""
        return self._perf is not None

    def end(self) -> Mapping[str, float]:
        return parse(self._stop())

    def close(self) -> None:
        self._stop()

    def _stop(self) -> str:
        """Interrupt perf and take what it prints; nothing when there is none."""
        perf, self._perf = self._perf, None
        if perf is None:
            return ""
        with perf:
            perf.send_signal(signal.SIGINT)
            try:
                return perf.communicate(timeout=ANSWER_S)[1]
            except subprocess.TimeoutExpired:
                perf.kill()
                return ""
