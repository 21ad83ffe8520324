"""What an operator says about a node."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.contracts.errors import InventoryError
from workers.node import inventory


def test_without_a_file_there_is_one_target(tmp_path: Path) -> None:
    found = inventory.load(tmp_path)
    assert found.targets == {"default": tmp_path / "target"}
    assert found.recordings == {}


def test_a_file_is_read_and_relative_paths_start_at_home(tmp_path: Path) -> None:
    (tmp_path / "inventory.yaml").write_text(
        "targets: {default: /ssd, hdd: disks/hdd}\nreserve_kb: 0\nrecordings: {xu: xu.csv}\n"
    )
    found = inventory.load(tmp_path)
    assert found.targets == {"default": Path("/ssd"), "hdd": tmp_path / "disks/hdd"}
    assert found.reserve_kb == 0
    assert found.recordings == {"xu": tmp_path / "xu.csv"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target: {}", "unknown key 'target'"),
        ("[]", "should be a mapping"),
        ("targets: /ssd", "targets: should map names to paths"),
        ("targets: {ssd: 1}", "targets: should map names to paths"),
        ("reserve_kb: -1", "reserve_kb: -1"),
        ("reserve_kb: true", "reserve_kb: True"),
        ("{", "cannot be read as YAML"),
    ],
)
def test_a_mistake_is_named_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "inventory.yaml").write_text(text)
    with pytest.raises(InventoryError, match=r"inventory\.yaml: .*") as raised:
        inventory.load(tmp_path)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
