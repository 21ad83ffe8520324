"""The facts that settings depend on, cheap enough to be read before and after every change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workers.node.facts import dedicated, device, files, filesystem, frequency
from workers.node.facts.processor import CPUS


@dataclass(frozen=True, kw_only=True, slots=True)
class WakeLimit:
    """How long one CPU may take to wake up (pm_qos): what keeps it out of deep C-states."""

    cpu: int
    path: Path
    text: str
    """Microseconds; `0`: no limit; `n/a`: it may not sleep at all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tunable:
    """A node as far as it can be set."""

    smt: str | None
    smt_path: Path
    turbo: tuple[frequency.Turbo, ...]
    scalings: tuple[frequency.Scaling, ...]
    wake_limits: tuple[WakeLimit, ...]
    device: device.Device | None
    """What benchmarks in this target read and write: the dedicated device, or the one below the target folder."""
    mount: filesystem.Mount | None
    drop_caches: Path
    dedicated: dedicated.Dedicated | None = None
    """The device that the inventory dedicates to this target."""


def read(root: Path, target: Path, raw: tuple[str, Path] | None = None) -> Tunable:
    """Of the machine whose files are under `root`; `raw`: name and path of the target's dedicated device."""
    mount = filesystem.read(root, target)
    own = None if raw is None else dedicated.read(root, *raw)
    below = None if mount is None else device.read(root, device.number_of(root, mount.device, mount.source))
    smt_path = root / CPUS / "smt/control"
    return Tunable(
        smt=files.text(smt_path),
        smt_path=smt_path,
        turbo=frequency.read_turbo(root),
        scalings=frequency.read(root),
        wake_limits=_wake_limits(root),
        device=below if own is None else own.disk,
        mount=mount,
        drop_caches=root / "proc/sys/vm/drop_caches",
        dedicated=own,
    )


def _wake_limits(root: Path) -> tuple[WakeLimit, ...]:
    paths = (root / CPUS).glob("cpu[0-9]*/power/pm_qos_resume_latency_us")
    found = [(int(path.parent.parent.name.removeprefix("cpu")), path) for path in paths]
    texts = [(cpu, path, files.text(path)) for cpu, path in sorted(found)]
    return tuple(WakeLimit(cpu=cpu, path=path, text=text) for cpu, path, text in texts if text is not None)
