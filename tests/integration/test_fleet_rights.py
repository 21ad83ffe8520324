"""What `modescope fleet` does as root, for real: in a copy of this machine whose files and processes are its own."""

from __future__ import annotations

import os
import pwd
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
from workers import fleet, provision, remote
from workers.fleet import Machine
from workers.provision import SUDOERS

HELPER = "/usr/local/sbin/modescope-root-helper"
USER = "modescope-test"


@pytest.fixture(scope="module")
def copy(require_program: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A machine of its own."""
    if os.geteuid() != 0:
        pytest.skip("a mount namespace needs root")
    for program in ("ssh", "ssh-keygen", "unshare", "visudo"):
        require_program(program)
    with fleet_nodes.throwaway_copy(tmp_path_factory.mktemp("copy"), require_program("sshd")) as site:
        yield site


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as a wheel."""
    return provision.package(None, tmp_path_factory.mktemp("wheel")).file


def owner_and_mode(copy: Site, path: str) -> str:
    return copy.ssh("stat", "-c", "%U:%G:%a", path).stdout.strip()


def test_root_provisions_and_the_agent_measures_as_its_own_user(
    copy: Site, wheel: Path, database_url: str, redis_url: str
) -> None:
    with (
        fleet_nodes.reachable(database_url, redis_url) as urls,
        fleet_nodes.controller(database_url, redis_url),
    ):
        file = copy.write(**urls, agent_user=USER, root_helper=True, systemd=False)
        fleet_nodes.lend_packages(copy)
        done = modescope("fleet", "provision", "--wheel", wheel, file)
        assert done.returncode == 0, done
        for step in (f"add the user {USER}", "the root helper", "its sudoers file", "/etc/modescope/targets"):
            assert step in done.stdout
        again = modescope("fleet", "provision", "--wheel", wheel, file)
        assert again.stdout == "[1/1] n1: already there, nothing to do\n"
        the_files_have_their_owners(copy)
        the_user_may_call_the_helper_and_nothing_else(copy)
        the_agent_measures_as_its_user(copy, file, database_url)
    with pytest.raises(KeyError):
        pwd.getpwnam(USER)
    assert not Path("/etc/sudoers.d/modescope").exists(), "this machine is as it was"


def the_files_have_their_owners(copy: Site) -> None:
    home = str(copy.home)
    assert owner_and_mode(copy, HELPER) == "root:root:755"
    assert owner_and_mode(copy, "/etc/sudoers.d/modescope") == "root:root:440"
    assert owner_and_mode(copy, "/etc/modescope/targets") == "root:root:644"
    assert owner_and_mode(copy, f"{home}/agent.env") == f"root:{USER}:640"
    assert owner_and_mode(copy, f"{home}/venv/bin/modescope") == "root:root:755"
    assert owner_and_mode(copy, home) == "root:root:755", "the agent's user cannot put another program in place"
    assert owner_and_mode(copy, f"{home}/target") == f"{USER}:root:755"
    assert copy.ssh("cat", "/etc/modescope/targets").stdout == f"{home}/target\n"
    assert copy.ssh("visudo", "-c").returncode == 0


def the_user_may_call_the_helper_and_nothing_else(copy: Site) -> None:
    def as_user(line: str) -> subprocess.CompletedProcess[str]:
        return copy.ssh(f"runuser -u {USER} -- {line}")

    asked = as_user(f"sudo -n {HELPER} </dev/null")
    assert (asked.returncode, "modescope-root-helper: the request is not" in asked.stderr) == (1, True), asked
    for line in (f"sudo -n {HELPER} --help", "sudo -n id", "sudo -n -u nobody id"):
        refused = as_user(line)
        assert (refused.returncode, "password is required" in refused.stderr) == (1, True), refused


def the_agent_measures_as_its_user(copy: Site, file: Path, database_url: str) -> None:
    ledger = PostgresStore(database_url)
    started = modescope("fleet", "start", file)
    assert started.returncode == 0, started
    campaign_id = ledger.campaigns.submit(submission(study.load(STUDY, where="it")))[0].id
    wait_for("the job is done", lambda: ledger.campaigns.progress(campaign_id).valid_runs == 2)
    pid = copy.ssh("cat", f"{copy.home}/nodes/n1.pid").stdout.strip()
    assert copy.ssh("stat", "-c", "%U", f"/proc/{pid}").stdout.strip() == USER
    stopped = modescope("fleet", "stop", file)
    assert stopped.stdout.endswith("n1: stopped\n"), stopped
    ledger.close()


def test_a_sudoers_file_that_visudo_refuses_is_not_put_in_place(copy: Site) -> None:
    before = copy.ssh("cat", SUDOERS).stdout
    machine = fleet.load(copy.write("broken.yaml")).machines[0]
    with (
        remote.session(machine) as at,
        pytest.raises(remote.NodeError, match=r"sudoers\.d/modescope: `visudo -c -q -f` refuses it"),
    ):
        at.put("modescope ALL=(root) NOPASSWD ALL\n", SUDOERS, "440", checked_by=("visudo", "-c", "-q", "-f"))
    assert copy.ssh("cat", SUDOERS).stdout == before
    assert copy.ssh("ls", f"{SUDOERS}.new").returncode != 0


def test_systemd_accepts_the_agents_unit(tmp_path: Path, require_program: Callable[[str], Path]) -> None:
    analyse = require_program("systemd-analyze")
    program = tmp_path / "venv/bin/modescope"
    program.parent.mkdir(parents=True)
    program.symlink_to("/bin/true")
    unit = tmp_path / "modescope-agent.service"
    unit.write_text(provision.unit(Machine(name="n1", host="h", agent_user="root", home=str(tmp_path))))
    said = subprocess.run([analyse, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("KillMode=", "KilMode="))
    broken = subprocess.run([analyse, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert "Unknown key 'KilMode'" in broken.stderr, "it does look"
