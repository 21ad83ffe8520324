"""Compare the facts of nodes: what should be the same everywhere, and is not."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workers.remote import Session

ABSENT = "absent"
_CPU = "/sys/devices/system/cpu"
FACTS: Mapping[str, str] = {
    "system": '. /etc/os-release && echo "$PRETTY_NAME"',
    "kernel": "uname -r",
    # What names this one machine's disks says nothing about its performance.
    "command line": r"sed -E 's/(BOOT_IMAGE|root|resume|initrd|cryptdevice)=[^ ]* ?//g' /proc/cmdline",
    "machine": "uname -m",
    "processor": "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1",
    "microcode": "sed -n 's/^microcode[^:]*: //p' /proc/cpuinfo | head -n 1",
    "processors": "nproc --all",
    "sockets": "sed -n 's/^physical id[^:]*: //p' /proc/cpuinfo | sort -u | wc -l",
    "NUMA nodes": "ls -d /sys/devices/system/node/node[0-9]* | wc -l",
    "memory": "awk '/^MemTotal/ {print int($2 / 1048576 + 0.5) \" GiB\"}' /proc/meminfo",
    "swap": "awk 'NR > 1 {kb += $3} END {print int(kb / 1024 + 0.5) \" MiB\"}' /proc/swaps",
    "huge pages": "cat /sys/kernel/mm/transparent_hugepage/enabled",
    "frequency driver": f"cat {_CPU}/cpu0/cpufreq/scaling_driver",
    "frequencies (kHz)": f"cat {_CPU}/cpu0/cpufreq/cpuinfo_min_freq {_CPU}/cpu0/cpufreq/cpuinfo_max_freq | paste -sd -",
    "governor": f"cat {_CPU}/cpu*/cpufreq/scaling_governor | sort -u | paste -sd ' '",
    "turbo": f"cat {_CPU}/intel_pstate/no_turbo {_CPU}/cpufreq/boost 2>/dev/null | head -n 1",
    "smt": f"cat {_CPU}/smt/control",
    "iozone": "iozone -v | sed -n 's/.*Revision: \\([0-9.]*\\).*/\\1/p'",
    "fio": "fio --version",
}
"""Our own fixed words for the node's shell; what fails is a state of its own.

Not here, because it differs from one minute to the next and says nothing about what a node is: load, temperature, free
space and memory, the clock. `modescope node check` looks at those."""
_DISK = 'lsblk -nslPo TYPE,MODEL,REV,ROTA,SCHED "$(findmnt -nvo SOURCE -T "$d")" | grep -m 1 \'TYPE="disk"\''
TARGET_FACTS: Mapping[str, str] = {
    "target's file system": 'findmnt -no FSTYPE,OPTIONS -T "$d" | tr -s " "',
    "target's disk": f"{_DISK} | sed 's/TYPE=\"disk\" //'",
}
"""Of the folder `$d`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A fact that is not the same everywhere."""

    fact: str
    nodes_by_value: Mapping[str, tuple[str, ...]]
    """Value -> nodes; the value that most nodes have comes first."""


def facts(at: Session) -> dict[str, str]:
    """What should be the same everywhere; what a node has not is told as absent."""
    python = shlex.join([at.machine.python, "-c", "import platform; print(platform.python_version())"])
    # The folder need not be there yet: then it is what it will be made in.
    nearest = f'd={at.machine.home}/target; while [ ! -d "$d" ]; do d=$(dirname "$d"); done; '
    lines = {**FACTS, **{name: nearest + line for name, line in TARGET_FACTS.items()}, "python": python}
    return {name: at.shell(line, check=False).stdout.strip() or ABSENT for name, line in lines.items()}


def differences(facts_by_node: Mapping[str, Mapping[str, str]]) -> list[Difference]:
    """The facts that are not the same on all nodes, in the order in which they are read."""
    found = []
    for fact in next(iter(facts_by_node.values()), {}):
        nodes: dict[str, tuple[str, ...]] = {}
        for node, known in facts_by_node.items():
            nodes[known[fact]] = (*nodes.get(known[fact], ()), node)
        if len(nodes) > 1:
            ordered = sorted(nodes.items(), key=lambda pair: -len(pair[1]))
            found.append(Difference(fact=fact, nodes_by_value=dict(ordered)))
    return found


def table(found: Sequence[Difference]) -> list[tuple[str, str, str]]:
    """Rows of fact, value and nodes; a fact is named once."""
    rows = [("fact", "nodes", "value")]
    for difference in found:
        for number, (value, nodes) in enumerate(difference.nodes_by_value.items()):
            rows.append((difference.fact if number == 0 else "", ", ".join(nodes), value))
    return rows
