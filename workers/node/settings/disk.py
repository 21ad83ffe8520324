"""Settings of the target's disk, and what is done to it before runs: queue scheduler, sync, TRIM, dropped caches."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from orchestrator.contracts.preparation import AS_IS, Cadence
from workers.node.facts.dedicated import Dedicated
from workers.node.settings.steps import Act, Facts, Planned, Refusal, Wanted, Write, already, as_is

PROGRAMS = f"{os.defpath}:/usr/sbin:/sbin"


def queue_scheduler(facts: Facts, wanted: Wanted) -> Iterator[Planned]:
    """In the disk's queue; a partition has none of its own."""
    name = wanted.preparation.queue_scheduler
    if name == AS_IS:
        yield as_is("queue_scheduler")
    elif facts.device is None or name not in facts.device.schedulers:
        offered = "no block device" if facts.device is None else ", ".join(facts.device.schedulers) or "none"
        reason = f"the target's queue has no scheduler {name}; it offers {offered}"
        yield Refusal(setting="queue_scheduler", reason=reason, remedy="queue_scheduler: as_is")
    elif facts.device.scheduler == name:
        yield already("queue_scheduler", name)
    else:
        yield Write(setting="queue_scheduler", path=facts.device.folder / "queue/scheduler", value=name)


def sync(_: Facts, wanted: Wanted) -> Iterator[Planned]:
    """Everything that waits to be written is written."""
    cadence = wanted.preparation.sync
    if cadence is Cadence.NEVER:
        yield as_is("sync")
    else:
        yield Act(setting="sync", cadence=cadence, what="sync when more than 1 MB waits to be written")


def trim(facts: Facts, wanted: Wanted) -> Iterator[Planned]:
    """fstrim of the target's mount point; all of the device that the inventory dedicates to the target, if it does."""
    cadence = wanted.preparation.trim
    if cadence is Cadence.NEVER:
        yield as_is("trim")
    elif facts.dedicated is not None:
        yield _discard(facts.dedicated, cadence)
    elif facts.mount is None or facts.device is None or not facts.device.can_discard:
        kind = "unknown" if facts.mount is None else facts.mount.kind
        reason = f"the target folder cannot be trimmed: its device takes no TRIM (file system: {kind})"
        yield Refusal(setting="trim", reason=reason, remedy="trim: never")
    elif shutil.which("fstrim", path=PROGRAMS) is None:
        reason = "the target folder cannot be trimmed: fstrim is not installed (package util-linux)"
        yield Refusal(setting="trim", reason=reason, remedy="trim: never")
    else:
        yield Act(setting="trim", cadence=cadence, what=f"fstrim {facts.mount.point}")


def _discard(dedicated: Dedicated, cadence: Cadence) -> Planned:
    if dedicated.obstacle is not None:
        reason = f"the device {dedicated.path} cannot be discarded: {dedicated.obstacle}"
        return Refusal(setting="trim", reason=reason, remedy="trim: never")
    return Act(setting="trim", cadence=cadence, what=f"discard all of {dedicated.path} (blkdiscard)")


def drop_caches(facts: Facts, wanted: Wanted) -> Iterator[Planned]:
    """Page cache, dentries and inodes."""
    cadence = wanted.preparation.drop_caches
    if cadence is Cadence.NEVER:
        yield as_is("drop_caches")
    elif not facts.drop_caches.exists():
        reason = f"the page cache cannot be dropped: there is no {facts.drop_caches}"
        yield Refusal(setting="drop_caches", reason=reason, remedy="drop_caches: never")
    else:
        yield Act(setting="drop_caches", cadence=cadence, what=f"write 3 to {facts.drop_caches}")
