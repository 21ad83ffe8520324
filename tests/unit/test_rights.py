"""What `modescope rights` writes."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from orchestrator import rights
from orchestrator.contracts.errors import UserError

DATABASE = "postgresql://db.example.org/modescope"
REDIS = "rediss://redis.example.org:6379/0?ssl_cert_reqs=required"


def write(folder: Path, *nodes: str) -> dict[str, str]:
    files = rights.write(folder, nodes, database_url=DATABASE, redis_url=REDIS)
    return {file.name: file.read_text() for file in files}


def test_every_part_gets_addresses_of_its_own(tmp_path: Path) -> None:
    files = write(tmp_path, "m01")
    assert set(files) == {"api.env", "analysis.env", "node-m01.env", "roles.sql", "users.acl"}
    assert "MODESCOPE_DATABASE_URL=postgresql://modescope_node_m01:" in files["node-m01.env"]
    assert "ssl_cert_reqs=required'" in files["node-m01.env"]


def test_passwords_stay_when_nodes_come(tmp_path: Path) -> None:
    before = write(tmp_path, "m01")
    after = write(tmp_path, "m02")
    assert after["node-m01.env"] == before["node-m01.env"]
    assert 'GRANT modescope_agent TO "modescope_node_m02"' in after["roles.sql"]


def test_passwords_are_for_the_owner_s_eyes_and_not_in_what_servers_read(tmp_path: Path) -> None:
    files = write(tmp_path / "secrets", "m01")
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "secrets" / "node-m01.env").stat().st_mode) == 0o600
    password = files["node-m01.env"].split(":")[2].partition("@")[0]
    assert password not in files["roles.sql"] + files["users.acl"]


@pytest.mark.parametrize("node", ["m 01", "m01*", 'a"b', "n" * (rights.LONGEST_NODE + 1), ""])
def test_a_name_that_is_no_node_s_is_refused(tmp_path: Path, node: str) -> None:
    with pytest.raises(UserError, match="a node with rights of its own"):
        write(tmp_path, node)


def test_an_address_with_a_password_is_refused_without_showing_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="without user") as told:
        rights.write(tmp_path, [], database_url="postgresql://me:secret@db/modescope", redis_url=REDIS)
    assert "secret" not in str(told.value)


def test_the_verifier_is_that_of_rfc_7677() -> None:
    """Its example: user `user`, password `pencil`; the server's signature key follows from the salted password."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    assert rights.scram_verifier("pencil", salt=salt) == (
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"
        "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )
