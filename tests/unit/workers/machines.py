"""Fake machines: the trees in tests/data/facts, unpacked under a temporary root."""

from __future__ import annotations

from pathlib import Path

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
