"""The block device below a mount: /sys/dev/block/MAJOR:MINOR, and its wear as smartctl tells it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.node.facts import files

SMARTCTL_TIMEOUT_S = 10.0
LIFE_LEFT = ("Wear_Leveling_Count", "Media_Wearout_Indicator", "SSD_Life_Left")
"""What SATA makers call it; the normalised value falls from 100."""
ANONYMOUS = "0:"
"""How numbers begin that stand for no device (tmpfs, NFS, overlay, btrfs)."""
SECTOR_BYTES = 512
"""Of /sys/block/*/stat and /proc/diskstats, whatever the device's own sectors are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A disk. None where the kernel or the device does not say."""

    name: str
    folder: Path
    model: str | None
    firmware: str | None
    rotational: bool | None
    scheduler: str | None
    schedulers: tuple[str, ...]
    discard_max_bytes: int | None
    """0: takes no TRIM."""
    size_bytes: int | None

    @property
    def can_discard(self) -> bool:
        """Does it take TRIM?"""
        return self.discard_max_bytes is not None and self.discard_max_bytes > 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Wear:
    """How much of an SSD's life is gone."""

    used_percent: int | None
    """May pass 100 (NVMe "percentage used")."""
    written_bytes: int | None


def number_of(root: Path, mounted: str, source: str) -> str:
    """The number of a mount's device: mountinfo's own, but for btrfs, whose subvolumes have numbers of no device."""
    if not mounted.startswith(ANONYMOUS):
        return mounted
    name = (root / source.lstrip("/")).resolve().name
    return files.text(root / "sys/class/block" / name / "dev") or mounted


def read(root: Path, number: str) -> Device | None:
    """The disk with, or below, the device `number` (major:minor); None for a file system without a device."""
    place = (root / "sys/dev/block" / number).resolve()
    folder = place if (place / "queue").exists() else place.parent  # a partition is inside its disk
    if not (folder / "queue").exists():
        return None
    listed = files.text(folder / "queue/scheduler")
    rotational = files.number(folder / "queue/rotational")
    sectors = files.number(folder / "size")
    return Device(
        name=folder.name,
        folder=folder,
        model=files.text(folder / "device/model"),
        firmware=files.text(folder / "device/firmware_rev") or files.text(folder / "device/rev"),
        rotational=None if rotational is None else rotational == 1,
        scheduler=files.chosen(listed),
        schedulers=tuple(word.strip("[]") for word in (listed or "").split()),
        discard_max_bytes=files.number(folder / "queue/discard_max_bytes"),
        size_bytes=None if sectors is None else sectors * SECTOR_BYTES,
    )


def parse_wear(text: str) -> Wear | None:
    """Read what `smartctl --json --attributes` printed; None when it knows nothing of wear."""
    try:
        told = json.loads(text)
    except ValueError:
        return None
    nvme = told.get("nvme_smart_health_information_log", {})
    rows = {row["name"]: row for row in told.get("ata_smart_attributes", {}).get("table", ())}
    written = _times(nvme.get("data_units_written"), 512_000)
    if written is None:
        written = _times(_raw(rows, "Total_LBAs_Written"), told.get("logical_block_size", SECTOR_BYTES))
    used = nvme.get("percentage_used")
    if used is None:
        left = next((rows[name]["value"] for name in LIFE_LEFT if name in rows), None)
        used = None if left is None else 100 - left
    return None if used is None and written is None else Wear(used_percent=used, written_bytes=written)


def wear(device: Device) -> Wear | None:
    """Ask smartctl, where it is installed and may ask the device."""
    program = shutil.which("smartctl", path=f"{os.defpath}:/usr/sbin:/sbin")
    if program is None or os.geteuid() != 0:
        return None
    argv = [program, "--json", "--attributes", f"/dev/{device.name}"]
    try:
        told = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=SMARTCTL_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_wear(told.stdout)


def _raw(rows: dict[str, Any], name: str) -> int | None:
    return rows[name]["raw"]["value"] if name in rows else None


def _times(count: int | None, unit: int) -> int | None:
    return None if count is None else count * unit
