"""`deploy/install-iozone` on a fake root: what it changes in apt's sources, and that a second run changes nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "deploy" / "install-iozone"
SOURCES = """\
Types: deb
# a comment with main in it
URIs: http://example.invalid/mirror
Suites: bookworm bookworm-updates
Components: main contrib

Types: deb
URIs: http://example.invalid/tools
Suites: stable-tools
Components: main
"""
LIST = """\
# deb http://example.invalid/mirror bookworm main
deb [signed-by=/k.gpg] http://example.invalid/mirror bookworm main
deb http://example.invalid/mirror bookworm-security main non-free
deb http://example.invalid/pg bookworm-pgdg main
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A Debian with one source of each format, and an apt-get that writes down how it is called."""
    folder = tmp_path / "etc/apt/sources.list.d"
    folder.mkdir(parents=True)
    (tmp_path / "etc/os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    (folder / "debian.sources").write_text(SOURCES)
    (folder.parent / "sources.list").write_text(LIST)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n')
    (programs / "id").write_text("#!/bin/sh\necho 0\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    for tool in ("awk", "cat", "cmp", "mktemp", "rm"):
        (programs / tool).symlink_to(
            next(path for path in (Path("/usr/bin", tool), Path("/bin", tool)) if path.exists())
        )
    return tmp_path


def install(root: Path) -> str:
    environment = {"PATH": str(root / "bin"), "MODESCOPE_APT_ROOT": str(root)}
    done = subprocess.run(["/bin/sh", str(SCRIPT)], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_component_is_enabled_for_this_release_only(root: Path) -> None:
    install(root)
    assert (root / "etc/apt/sources.list.d/debian.sources").read_text() == SOURCES.replace(
        "main contrib", "main contrib non-free"
    )
    assert (root / "etc/apt/sources.list").read_text() == LIST.replace(
        "mirror bookworm main\ndeb http://example.invalid/mirror bookworm-security",
        "mirror bookworm main non-free\ndeb http://example.invalid/mirror bookworm-security",
    )
    assert (root / "calls").read_text().splitlines() == ["update", "install --yes --no-install-recommends iozone3"]


def test_a_second_run_changes_nothing_and_says_so(root: Path) -> None:
    install(root)
    before = (root / "etc/apt/sources.list").read_text()
    assert install(root).count("nothing to do") == 2
    assert (root / "etc/apt/sources.list").read_text() == before


def test_ubuntu_has_it_in_multiverse(root: Path) -> None:
    (root / "etc/os-release").write_text("ID=ubuntu\nVERSION_CODENAME=bookworm\n")
    install(root)
    assert "main contrib multiverse\n" in (root / "etc/apt/sources.list.d/debian.sources").read_text()


def test_an_iozone_that_is_here_is_enough(root: Path) -> None:
    (root / "bin/iozone").symlink_to("/bin/true")
    assert "is here already" in install(root)
    assert not (root / "calls").exists()


def test_another_user_is_told_to_be_root(root: Path) -> None:
    (root / "bin/id").write_text("#!/bin/sh\necho 1000\n")
    with pytest.raises(subprocess.CalledProcessError) as raised:
        install(root)
    assert raised.value.returncode == 2
    assert "run this as root" in raised.value.stderr


def test_it_names_no_host() -> None:
    assert "://" not in SCRIPT.read_text()
    assert os.access(SCRIPT, os.X_OK)
