"""The kernel: its release, command line, preemption, extra scheduler and clock source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import files


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """None where the kernel does not say."""

    release: str | None
    preemption: str | None
    """PREEMPT, PREEMPT_DYNAMIC, PREEMPT_RT; None: voluntary or none, which /proc/version does not tell apart."""
    command_line: str | None
    extension_scheduler: str | None
    """The state of sched_ext (enabled, disabled); None: the kernel has its own scheduler only."""
    clock_source: str | None


def read(root: Path) -> Kernel:
    """The kernel of the machine whose files are under `root`."""
    version = files.text(root / "proc/version") or ""
    preemption = re.search(r"\bPREEMPT(_\w+)?\b", version)
    clock = root / "sys/devices/system/clocksource/clocksource0/current_clocksource"
    return Kernel(
        release=files.text(root / "proc/sys/kernel/osrelease"),
        preemption=preemption[0] if preemption else None,
        command_line=files.text(root / "proc/cmdline"),
        extension_scheduler=files.text(root / "sys/kernel/sched_ext/state"),
        clock_source=files.text(clock),
    )
