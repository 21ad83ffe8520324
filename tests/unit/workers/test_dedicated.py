"""A device that the inventory dedicates: what lsblk says of it, and what a plan makes of that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.contracts.errors import InventoryError, JobFailure
from orchestrator.contracts.preparation import Cadence, Preparation
from tests.unit.workers.machines import DATA, XEON, unpack
from workers.node import abilities, inventory
from workers.node.facts import dedicated, tunable
from workers.node.facts.dedicated import Dedicated
from workers.node.settings.hands import Hands, Own
from workers.node.settings.helper import Helped, Root
from workers.node.settings.order import plan
from workers.node.settings.steps import Act, Facts, Wanted

NEW = Dedicated(name="raw", path=Path("/dev/sda"))
TRIM = Wanted(preparation=Preparation(trim=Cadence.PER_RUN))


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    """A machine whose only disk takes TRIM, and is dedicated."""
    found = tunable.read(unpack(XEON, tmp_path / "root"), Path("/"))
    return replace(found, dedicated=replace(NEW, disk=found.device))


def seen(name: str) -> Dedicated:
    return dedicated.parse((DATA / name).read_text(), NEW)


def refusals(facts: Facts, hands: Hands) -> list[str]:
    return [refusal.reason for refusal in abilities.refused(plan(facts, TRIM), facts, hands)]


def test_an_empty_device_is_discarded_as_often_as_trim_is_asked_for(facts: Facts) -> None:
    (act,) = [step for step in plan(facts, TRIM) if isinstance(step, Act) and step.setting == "trim"]
    assert str(act) == "discard all of /dev/sda (blkdiscard), per_run"
    assert refusals(facts, Helped(())) == []


def test_without_trim_a_dedicated_device_is_left_alone(facts: Facts) -> None:
    steps = plan(facts, Wanted(preparation=Preparation()))
    assert [str(step) for step in steps if step.setting == "trim"] == ["nothing: the study leaves it as it is"]


@pytest.mark.parametrize(
    ("name", "obstacle"),
    [
        ("lsblk-mounted.json", "it is mounted at /"),
        ("lsblk-partitioned.json", "it has parts: /dev/sda1, /dev/sda2"),
        ("lsblk-ext4.json", "it is not empty: it holds ext4"),
    ],
)
def test_a_device_in_use_or_with_something_on_it_is_refused(facts: Facts, name: str, obstacle: str) -> None:
    found = replace(seen(name), disk=facts.device)
    assert refusals(replace(facts, dedicated=found), Helped(())) == [
        f"the device /dev/sda cannot be discarded: {obstacle}"
    ]


def test_a_device_that_takes_no_trim_is_refused(facts: Facts) -> None:
    assert facts.device is not None
    found = replace(NEW, disk=replace(facts.device, discard_max_bytes=0))
    assert found.obstacle == "it takes no TRIM"


@pytest.mark.parametrize("path", [Path("/dev/null"), Path("/dev/no-such-device")])
def test_what_is_no_block_device_is_refused(path: Path) -> None:
    assert dedicated.read(Path("/"), "raw", path).obstacle == "there is no such block device"


def test_only_the_helper_discards_whoever_we_are(facts: Facts) -> None:
    (reason,) = refusals(facts, Own())
    assert "only the root helper does that" in reason
    assert refusals(facts, Root(Path("helper"))) == []
    with pytest.raises(JobFailure, match="only the root helper"):
        Own().discard("raw")


def test_a_device_belongs_to_a_target_of_the_inventory(tmp_path: Path) -> None:
    given = {"targets": {"raw": "/srv/raw"}, "devices": {"raw": "/dev/disk/by-id/nvme-1"}}
    found = inventory.parse(given, home=tmp_path, name="inventory.yaml")
    assert found.raw("raw") == ("raw", Path("/dev/disk/by-id/nvme-1"))
    assert found.raw("default") is None


@pytest.mark.parametrize(
    ("devices", "said"),
    [
        ({"raw": "/dev/sda"}, "devices.raw: is not one of the targets: default"),
        ({"default": "/etc/passwd"}, "'/etc/passwd' is not a device under /dev"),
        ({"default": "/dev/../etc/passwd"}, "is not a device under /dev"),
        ({"default": 7}, "devices: should map names to paths"),
    ],
)
def test_a_wrong_device_is_an_error_that_names_it(devices: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=said):
        inventory.parse({"devices": devices}, home=tmp_path, name="inventory.yaml")
