"""A home is used by one service at a time, and by versions that know it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.contracts.errors import HomeError
from orchestrator.embedded import home


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a home keeps outside itself goes to a short folder of this test."""
    with tempfile.TemporaryDirectory(prefix="m-", dir="/var/tmp") as folder:
        monkeypatch.setattr(home, "SYSTEM_DATA", Path(folder))
        monkeypatch.setattr(home, "SHORT", Path(folder))
        yield


def enter(folder: Path) -> home.Home:
    with home.opened(folder, postgres_major=18) as entered:
        return entered


def test_a_new_home_is_private(tmp_path: Path) -> None:
    entered = enter(tmp_path / "deep" / "home")
    assert entered.folder.stat().st_mode & 0o777 == 0o700
    assert entered.logs.is_dir()


def test_the_mode_of_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    enter(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_home_is_found_again(tmp_path: Path) -> None:
    assert enter(tmp_path / "home") == enter(tmp_path / "home")


def test_a_discarded_home_leaves_nothing(tmp_path: Path) -> None:
    entered = enter(tmp_path / "home")
    home.discard(entered.folder)
    assert not entered.folder.exists()
    assert not entered.data.exists()


def test_a_home_in_use_is_not_discarded(tmp_path: Path) -> None:
    with home.opened(tmp_path, postgres_major=18) as entered, pytest.raises(HomeError, match="in use"):
        home.discard(tmp_path)
    assert entered.data.exists()


def test_a_second_service_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    with home.opened(tmp_path, postgres_major=18), pytest.raises(HomeError, match=f"in use by process {os.getpid()}"):
        enter(tmp_path)


def test_a_home_from_a_newer_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home.json").write_text(json.dumps({"format": home.FORMAT + 1, "postgres": 18}))
    with pytest.raises(HomeError, match=f"home format {home.FORMAT + 1}, this one knows {home.FORMAT}"):
        enter(tmp_path)


def test_a_home_of_another_postgresql_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home.json").write_text(json.dumps({"format": home.FORMAT, "postgres": 17}))
    with pytest.raises(HomeError, match="PostgreSQL 17, this Modescope brings 18"):
        enter(tmp_path)


@pytest.mark.parametrize("text", ["", "[1]", "{", "null"])
def test_a_garbled_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "home.json").write_text(text)
    with pytest.raises(HomeError, match=r"home\.json cannot be read"):
        enter(tmp_path)


def test_a_home_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeError, match="Not a directory; give another --home"):
        enter(tmp_path / "file" / "home")


def test_a_long_path_gets_short_sockets_and_keeps_them(tmp_path: Path) -> None:
    entered = enter(tmp_path / ("long" * 25))
    assert len(bytes(entered.sockets)) <= home.LONGEST_SOCKETS
    assert enter(entered.folder).sockets == entered.sockets
