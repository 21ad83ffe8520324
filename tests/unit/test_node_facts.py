"""Facts of nodes are told with units."""

from __future__ import annotations

import pytest

from orchestrator import node_facts


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("device.size_bytes", "274877906944", "275 GB (274,877,906,944 bytes)"),
        ("memory_kb", "24684096", "23.5 GiB (24,684,096 kB)"),
        ("swap_kb", "0", "0 KiB (0 kB)"),
        ("memory_kb", "absent", "absent"),
        ("processor.cpus", "1024", "1024"),
    ],
)
def test_a_fact_whose_name_has_a_unit_is_told_with_it(name: str, value: str, told: str) -> None:
    assert node_facts.told(name, value) == told


def test_in_short_a_fact_leaves_the_exact_number_out() -> None:
    assert node_facts.in_short("memory_kb", "24684096") == "23.5 GiB"
    assert node_facts.in_short("kernel.release", "6.1 (Debian)") == "6.1 (Debian)"


def test_what_passes_is_no_fact_of_a_node() -> None:
    facts = {"load": [1.0], "target": {"free_kb": 1, "in_memory": False}, "frequency": None}
    assert node_facts.flat(facts) == {"frequency": "absent", "target.in_memory": "no"}
