"""What the nodes measure with: a program that logs what it prints, so that the ledger has an independent witness."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

NAME = "logged"
TIMEOUT_S = 5.0
"""Of one run; a lease lasts 15 s longer."""
MODES = ("first", "second")

# Two values of 48 random bits: no two runs print the same, so a run in the ledger names its one line in the log.
# The log is written before anything is printed, by one append, which is atomic.
_SCRIPT = """#!/bin/sh
[ -e {trap} ] && . {trap}
read -r a < /proc/sys/kernel/random/uuid
read -r b < /proc/sys/kernel/random/uuid
first=$((0x${{a%%-*}}${{a##*-????????}})) second=$((0x${{b%%-*}}${{b##*-????????}}))
echo "$1 $first $second" >> {log}
echo "first $first"
echo "second $second"
"""
_INVENTORY = """
reserve_kb: 0
programs:
  logged:
    path: {path}
    arguments: ["{{step}}"]
    metrics:
      first: {{pattern: '^first (\\d+)$', unit: kB/s}}
      second: {{pattern: '^second (\\d+)$', unit: kB/s}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """One line of the log."""

    step: int
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """One node's home, with its program in it."""

    home: Path
    log: Path
    """Shared by all nodes."""

    @property
    def program(self) -> Path:
        return self.home / "program"

    @property
    def trap(self) -> Path:
        """Shell words that the program reads first, where there are any: how a fault reaches into a benchmark."""
        return self.home / "trap"

    def install(self) -> None:
        """Put the program and the inventory that names it into the node's home."""
        self.home.mkdir()
        self.program.write_text(_SCRIPT.format(trap=self.trap, log=self.log))
        self.program.chmod(0o755)
        (self.home / "inventory.yaml").write_text(_INVENTORY.format(path=self.program))


def read_log(log: Path) -> Counter[Printed]:
    """Every invocation so far: what it was asked for, and what it printed."""
    return Counter(
        Printed(step=int(step), values=(float(first), float(second)))
        for step, first, second in (line.split() for line in log.read_text().splitlines())
    )
