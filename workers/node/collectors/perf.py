"""Counters of the benchmark by `perf stat`: attached to this process before a run, inherited by what the run starts."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress

EVENTS = "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,cache-references,cache-misses"
ANSWER_S = 5.0
"""How long perf may take to attach, or to print."""


def parse(text: str) -> dict[str, float]:
    """Read what `perf stat -j` printed, a JSON object a line; events that were not counted are left out."""
    found = {}
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            told = json.loads(line)
            found[str(told["event"]).partition(":")[0]] = float(told["counter-value"])
    return found


class Perf:
    """One perf a run, asleep from the moment it has answered to the end of the run."""

    def __init__(self) -> None:
        self._program = shutil.which("perf")
        self._perf: subprocess.Popen[str] | None = None

    def begin(self) -> None:
        """Returns when perf counts, or has shown that it cannot."""
        if self._program is None:
            return
        control_read, control_write = os.pipe()
        answer_read, answer_write = os.pipe()
        argv = [self._program, "stat", "-j", "-D", "-1", "-e", EVENTS, "-p", str(os.getpid())]
        argv += ["--control", f"fd:{control_read},{answer_write}"]
        try:
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
