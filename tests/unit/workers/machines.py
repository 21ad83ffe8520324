"""Fake machines: the trees in tests/data/facts, unpacked under a temporary root."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from workers.node.settings.hands import Own

DATA = Path(__file__).parents[2] / "data/facts"
NAMES = sorted(path.stem for path in DATA.glob("*.tree"))
XEON, VM = "xeon-two-sockets-differing-ranges", "epyc-vm-without-cpufreq"


def unpack(name: str, root: Path) -> Path:
    """Make the files of one tree below `root`."""
    for part in ("\n" + (DATA / f"{name}.tree").read_text()).split("\n@")[1:]:
        head, _, text = part.partition("\n")
        path, _, link = head.partition(" -> ")
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if link:
            (root / path).symlink_to(link)
        else:
            (root / path).write_text(text.rstrip("\n") + "\n")
    return root


def contents(root: Path) -> dict[str, bytes]:
    """Every file of a tree, byte by byte."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


class Kernel(Own):
    """Writes as the kernel takes them: a list keeps its words and moves its brackets, a word ends its line.

    `die_at`: the process is killed in the place of this write, counted from 0.
    """

    def __init__(self, die_at: int | None = None) -> None:
        self.writes: list[tuple[Path, str]] = []
        self._die_at = die_at

    def may_trim(self) -> bool:
        return True

    def write(self, path: Path, value: str) -> None:
        if len(self.writes) == self._die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.writes.append((path, value))
        if path.name == "drop_caches":
            return
        held = path.read_text()
        if "[" in held:
            value = held.replace("[", "").replace("]", "").strip()
            value = " ".join(f"[{word}]" if word == self.writes[-1][1] else word for word in value.split())
        path.write_text(value + "\n")

    def trim(self, mount_point: Path) -> None:
        self.writes.append((mount_point, "trim"))
