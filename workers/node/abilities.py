"""What a machine cannot do of what a study asks, and how the study can do without."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from orchestrator import settings
from orchestrator.contracts.preparation import Cadence, Frequency, Preparation
from workers.node import inventory
from workers.node.facts import device, filesystem, frequency

DROP_CACHES = "proc/sys/vm/drop_caches"


def shortfalls(preparation: Preparation, root: Path = Path("/"), target: Path | None = None) -> list[tuple[str, str]]:
    """What this machine cannot do, each with the line under `node:` that makes the study run all the same.

    `target`: the folder to be trimmed; the one of this user's home when it is not given.
    """
    where = target if target is not None else inventory.load(settings.home_from()).targets[inventory.DEFAULT_TARGET]
    return list(_shortfalls(preparation, root, where))


def _shortfalls(preparation: Preparation, root: Path, target: Path) -> Iterator[tuple[str, str]]:
    if preparation.frequency is Frequency.PINNED and (reason := cannot_pin(root)):
        yield reason, "frequency: as_is"
    if preparation.trim is not Cadence.NEVER and (reason := cannot_trim(root, target)):
        yield reason, "trim: never"
    if preparation.drop_caches is not Cadence.NEVER and (reason := cannot_drop_caches(root)):
        yield reason, "drop_caches: never"


def cannot_pin(root: Path) -> str | None:
    """Why the CPU frequency cannot be pinned here; None when it can."""
    scalings = frequency.read(root)
    if not scalings:
        return "the CPU frequency cannot be set: this machine has no cpufreq (most virtual machines have none)"
    if not all(os.access(scaling.folder / "scaling_max_freq", os.W_OK) for scaling in scalings):
        return "the CPU frequency cannot be set: that needs root"
    return None


def cannot_trim(root: Path, target: Path) -> str | None:
    """Why the target's file system cannot be trimmed here; None when it can."""
    mount = filesystem.read(root, target)
    disk = None if mount is None else device.read(root, mount.device)
    if disk is None or not disk.can_discard:
        kind = "unknown" if mount is None else mount.kind
        return f"the target folder {target} cannot be trimmed: its device takes no TRIM (file system: {kind})"
    if shutil.which("fstrim", path=os.defpath + ":/usr/sbin:/sbin") is None:
        return "the target folder cannot be trimmed: fstrim is not installed (package util-linux)"
    return None if os.geteuid() == 0 else "the target folder cannot be trimmed: that needs root"


def cannot_drop_caches(root: Path) -> str | None:
    """Why the page cache cannot be dropped here; None when it can."""
    if os.access(root / DROP_CACHES, os.W_OK):
        return None
    return "the page cache cannot be dropped: that needs root"
