"""A fleet whose nodes have users of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers import fleet, provision
from workers.remote import NodeError

FILE = """
database_url: postgresql://modescope_api@db/modescope
redis_url: redis://redis/0
secrets: secrets
nodes: {m01: {host: 10.0.0.11}, m02: {host: 10.0.0.12}}
"""


@pytest.fixture
def nodes(tmp_path: Path) -> fleet.Fleet:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "node-m01.env").write_text("MODESCOPE_DATABASE_URL=of-m01\nMODESCOPE_REDIS_URL=of-m01\n")
    (tmp_path / "fleet.yaml").write_text(FILE)
    return fleet.load(tmp_path / "fleet.yaml")


def test_a_node_gets_the_addresses_of_its_own_user(nodes: fleet.Fleet) -> None:
    lines = provision.environment(nodes, nodes.machines[0]).splitlines()
    assert lines == [
        "MODESCOPE_DATABASE_URL=of-m01",
        "MODESCOPE_REDIS_URL=of-m01",
        "MODESCOPE_HOME=/var/lib/modescope",
    ]


def test_a_node_without_a_user_is_told_how_to_get_one(nodes: fleet.Fleet) -> None:
    with pytest.raises(NodeError, match=r"node-m02\.env cannot be read: run `modescope rights"):
        provision.environment(nodes, nodes.machines[1])
