"""`modescope fleet` on a node as it comes: a fresh Debian that boots systemd in a container, with its own sshd."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.postgres import PostgresStore
from tests.integration import fleet_nodes
from tests.integration.fleet_nodes import Site, modescope, wait_for
from tests.integration.test_fleet import STUDY
from workers import provision
from workers.service import UNIT_NAME

PACKAGES = "openssh-server,python3,python3-venv,systemd,systemd-sysv,dbus,sudo,ca-certificates"
# Where pip and apt of this machine find their packages; what is not here is not needed here.
LENT = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt", "/opt/wheels", "/opt/pypi", "/opt/pypi-more")


def archive() -> tuple[str, str]:
    """This machine's own Debian archive and release."""
    wanted = ("$(REPO_URI) $(RELEASE)", "Created-By: Packages", "Component: main", "Origin: Debian")
    asked = [shutil.which("apt-get") or "apt-get", "indextargets", "--format", *wanted]
    for line in subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines():
        address, release = line.split()
        if release.isalpha():  # not its updates
            return address, release
    pytest.skip("this machine has no Debian archive to install from")


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], Path]) -> Path:
    """The files of a minimal Debian."""
    if os.geteuid() != 0:
        pytest.skip("a container needs root")
    root = tmp_path_factory.mktemp("debian") / "root"
    address, release = archive()
    argv = [require_program("debootstrap"), "--variant=minbase", f"--include={PACKAGES}", release, root, address]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, timeout=600)
    return root


@pytest.fixture(scope="module")
def node(
    debian: Path, tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], Path]
) -> Iterator[Site]:
    """It has booted, and its sshd answers."""
    folder = tmp_path_factory.mktemp("site")
    site = fleet_nodes.make_site(folder, home=Path("/var/lib/modescope"), root=debian)
    own = (folder / "sshd_config").read_text().replace(str(folder), "/etc/ssh/modescope")
    (debian / "etc/ssh/sshd_config").write_text(own)
    shutil.copytree(folder, debian / "etc/ssh/modescope")
    shutil.copytree("/etc/apt/sources.list.d", debian / "etc/apt/sources.list.d", dirs_exist_ok=True)
    lent = [f"--bind-ro={path}" for path in LENT if Path(path).exists()]
    boot = [require_program("systemd-nspawn"), "--quiet", "--register=no", "--keep-unit", "--resolv-conf=copy-host"]
    argv = [*boot, *lent, f"--directory={debian}", "--machine=modescope-test", "--boot"]
    with (folder / "boot.log").open("wb") as log, subprocess.Popen(argv, stdout=log, stderr=log) as process:
        try:
            wait_for("it boots", lambda: process.poll() is not None or fleet_nodes.answers(site.port), within_s=120)
            if process.poll() is not None:
                pytest.skip(f"systemd cannot boot here: {(folder / 'boot.log').read_text()[-300:]}")
            yield site
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as a wheel."""
    return provision.package(None, tmp_path_factory.mktemp("wheel")).file


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_fresh_debian_becomes_a_node_whose_agent_systemd_keeps(
    node: Site, wheel: Path, database_url: str, redis_url: str
) -> None:
    with (
        fleet_nodes.reachable(database_url, redis_url) as urls,
        fleet_nodes.controller(database_url, redis_url),
    ):
        file = node.write(**urls, agent_user="modescope", root_helper=True, systemd=True, python="python3")
        done = modescope("fleet", "provision", "--wheel", wheel, file, timeout_s=1200)
        assert done.returncode == 0, done
        for step in ("add the user", "install IOzone", "the root helper", "its sudoers file", "the systemd unit"):
            assert step in done.stdout
        again = modescope("fleet", "provision", "--wheel", wheel, file)
        assert again.stdout == "[1/1] n1: already there, nothing to do\n"
        what_is_installed_is_what_is_meant(node)
        systemd_keeps_the_agent(node, file, database_url)


def what_is_installed_is_what_is_meant(node: Site) -> None:
    pinned = (fleet_nodes.CHECKOUT / "constraints.txt").read_text().lower().split()
    there = node.ssh("/var/lib/modescope/venv/bin/python", "-m", "pip", "freeze").stdout.lower().splitlines()
    assert {line for line in there if "==" in line} <= set(pinned)
    assert "Version $Revision: 3" in node.ssh("iozone", "-v").stdout
    assert node.ssh("visudo", "-c").returncode == 0
    verified = node.ssh("systemd-analyze", "verify", "--man=no", UNIT_NAME)
    assert (verified.returncode, verified.stderr) == (0, "")


def systemd_keeps_the_agent(node: Site, file: Path, database_url: str) -> None:
    ledger = PostgresStore(database_url)
    assert "started by systemd" in modescope("fleet", "start", file).stdout
    campaign_id = ledger.campaigns.submit(submission(study.load(STUDY, where="it")))[0].id
    wait_for("the job is done", lambda: ledger.campaigns.progress(campaign_id).valid_runs == 2)
    group = node.ssh("systemctl", "show", "--property=ControlGroup", "--value", UNIT_NAME).stdout
    assert group == f"/modescope.slice/{UNIT_NAME}\n"
    assert modescope("fleet", "drain", file).returncode == 0
    assert modescope("fleet", "stop", file).stdout.endswith("n1: stopped\n")
    assert "does not run" in modescope("fleet", "status", file).stdout
    ledger.close()
