"""`modescope fleet` against a real sshd: provision, start, one job, drain, stop; and what goes wrong, in one line."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from orchestrator.contracts.errors import InventoryError
from orchestrator.contracts.nodes import Node
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.postgres import PostgresStore
from workers import fleet

STUDY = """
name: one job
design:
  blocks:
    - levels: {threads: [1], file_size_kb: [64], record_size_kb: [4]}
replicates: 2
replicates_per_job: 2
engine: builtin
"""
MODESCOPE = (sys.executable, "-m", "orchestrator.cli.main")


@dataclass(frozen=True, kw_only=True)
class Site:
    """A machine with an sshd of its own, and a fleet file that names it."""

    folder: Path
    port: int
    home: Path

    def write(self, name: str = "fleet.yaml", **changes: object) -> Path:
        """A fleet file of one node."""
        node = {
            **{"host": "127.0.0.1", "port": self.port, "home": str(self.home), "python": sys.executable},
            **{"user": "root", "agent_user": "root", "root_helper": False, "systemd": False},
            **{"identity_file": str(self.folder / "key"), "known_hosts": str(self.folder / "known_hosts"), **changes},
        }
        said = {"database_url": "postgresql://nowhere", "redis_url": "redis://nowhere", "nodes": {"n1": node}}
        file = self.folder / name
        file.write_text(yaml.safe_dump(said))
        return file


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(what: str, holds: Callable[[], object], *, within_s: float = 60.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"{what}: not within {within_s} s")
        time.sleep(0.05)  # between two looks


def modescope(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*MODESCOPE, *words], capture_output=True, text=True, check=False, timeout=250)


@pytest.fixture(scope="module")
def site(require_program: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An sshd on a free loopback port, with a host key and authorised keys of its own."""
    if os.geteuid() != 0:
        pytest.skip("an sshd for other accounts needs root")
    sshd = require_program("sshd")
    keygen = require_program("ssh-keygen")
    folder = tmp_path_factory.mktemp("site")
    for key in ("key", "host_key", "another_key"):
        subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    port = free_port()
    host = (folder / "host_key.pub").read_text().rpartition(" ")[0]
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host}\n")
    shutil.copy(folder / "key.pub", folder / "authorized_keys")
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\n"
        f"PidFile {folder}/sshd.pid\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n"
        "PasswordAuthentication no\nSubsystem sftp internal-sftp\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)
    process = subprocess.Popen([sshd, "-D", "-e", "-f", folder / "sshd_config"], stderr=subprocess.DEVNULL)
    wait_for("sshd answers", lambda: answers(port))
    yield Site(folder=folder, port=port, home=folder / "home")
    process.terminate()
    process.wait()


@pytest.fixture
def ready_made(site: Site) -> None:
    """Nothing is fetched over the network: the node's Python finds what this one has."""
    packages = site.home / f"venv/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    packages.mkdir(parents=True)
    (packages / "checkout.pth").write_text(f"{sysconfig.get_path('purelib')}\n")


@pytest.fixture
def controller(database_url: str, redis_url: str) -> Iterator[None]:
    """What hands out jobs."""
    environment = {**os.environ, "MODESCOPE_DATABASE_URL": database_url, "MODESCOPE_REDIS_URL": redis_url}
    process = subprocess.Popen([*MODESCOPE, "controller"], env=environment, stderr=subprocess.DEVNULL)
    yield
    process.terminate()
    process.wait()


@pytest.mark.usefixtures("ready_made", "controller")
def test_a_node_is_provisioned_started_measures_is_drained_and_stopped(
    site: Site, database_url: str, redis_url: str
) -> None:
    file = site.write()
    file.write_text(
        file.read_text().replace("postgresql://nowhere", database_url).replace("redis://nowhere", redis_url)
    )
    store = PostgresStore(database_url)

    def node() -> Node | None:
        return next(iter(store.nodes.all()), None)

    planned = modescope("fleet", "provision", file, "--dry-run")
    assert "n1: would install modescope-" in planned.stdout, planned
    assert not (site.home / "agent.env").exists()

    done = modescope("fleet", "provision", file)
    assert (done.returncode, "[1/1] n1: ready" in done.stdout) == (0, True), done
    assert (site.home / "agent.env").stat().st_mode & 0o777 == 0o600
    wheel = next(site.home.glob("modescope-*.whl"))
    again = modescope("fleet", "provision", file, "--wheel", wheel)
    assert again.stdout == "[1/1] n1: ready\n", "a second run changes nothing"

    started = modescope("fleet", "start", file)
    assert "[1/1] n1: started without systemd" in started.stdout, started
    try:
        wait_for("the agent reports", lambda: (found := node()) is not None and found.online)
        assert modescope("fleet", "status", file).stdout == "[1/1] n1: runs\n"
        assert "runs already" in modescope("fleet", "start", file).stdout
        campaign_id = store.campaigns.submit(submission(study.load(STUDY, where="it")))[0].id
        wait_for("the job is done", lambda: store.campaigns.progress(campaign_id).valid_runs == 2)
        assert "n1: draining" in modescope("fleet", "drain", file).stdout
        assert (found := node()) is not None
        assert found.state == "draining"
    finally:
        stopped = modescope("fleet", "stop", file)
    assert stopped.stdout.endswith("[1/1] n1: stopped\n"), stopped
    assert modescope("fleet", "status", file).stdout == "[1/1] n1: does not run\n"
    assert not (site.home / "agent.pid").exists()
    wait_for("the node is offline", lambda: (found := node()) is not None and not found.online)
    store.close()


def test_facts_are_compared_and_one_failing_node_does_not_stop_the_others(site: Site) -> None:
    file = site.write()
    said = yaml.safe_load(file.read_text())
    said["nodes"]["n2"] = said["nodes"]["n1"] | {"python": "/nowhere/python3"}
    said["nodes"]["n3"] = said["nodes"]["n1"] | {"port": free_port()}
    file.write_text(yaml.safe_dump(said))
    done = modescope("fleet", "check", file)
    assert done.returncode == 1
    assert "n1: answers" in done.stdout
    assert "n2: answers" in done.stdout
    assert f"n3: 127.0.0.1:{said['nodes']['n3']['port']}: cannot be reached" in done.stderr
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"python:\n  n1               {version}\n  n2               absent\n" in done.stdout
    assert "kernel:" not in done.stdout, "what is the same is not shown"


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_a_wrong_host_key_is_refused(site: Site) -> None:
    other = (site.folder / "another_key.pub").read_text().rpartition(" ")[0]
    (site.folder / "wrong_hosts").write_text(f"[127.0.0.1]:{site.port} {other}\n")
    file = site.write("wrong.yaml", known_hosts=str(site.folder / "wrong_hosts"))
    assert "its host key is not the one in known_hosts" in one_line(modescope("fleet", "status", file))


def test_an_unknown_host_key_is_refused(site: Site) -> None:
    (site.folder / "no_hosts").write_text("")
    file = site.write("unknown.yaml", known_hosts=str(site.folder / "no_hosts"))
    assert "its host key is not in known_hosts" in one_line(modescope("fleet", "status", file))


def test_an_unreachable_node_is_one_line(site: Site) -> None:
    file = site.write("gone.yaml", port=free_port())
    assert "cannot be reached" in one_line(modescope("fleet", "start", file))


def test_a_full_disk_is_one_line(site: Site, tmp_path: Path, require_program: Callable[[str], Path]) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run([require_program("mount"), "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], check=False)
    if mounted.returncode != 0:
        pytest.skip("no file system may be mounted here")
    wheel = tmp_path / "modescope-0-py3-none-any.whl"
    wheel.write_bytes(b"x" * 1_000_000)
    try:
        file = site.write("full.yaml", home=str(small))
        assert "disk full: " in one_line(modescope("fleet", "provision", file, "--wheel", wheel))
    finally:
        subprocess.run([require_program("umount"), small], check=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "the file: should be a mapping"),
        ("{redis_url: r, nodes: {a: {host: h}}}", "database_url: should be the address"),
        ("{database_url: d, redis_url: r}", "nodes: should map names"),
        ("{database_url: d, redis_url: r, nodes: {a: {}}}", "nodes.a: host is missing"),
        ("{database_url: d, redis_url: r, nodes: {a: {host: h, prot: 1}}}", "nodes.a: unknown key 'prot'"),
        ("{database_url: d, redis_url: r, nodes: {a: {host: h, port: x}}}", "nodes.a.port: 'x' is not of type int"),
        ("{database_url: d, redis_url: r, nodes: {'a b': {host: h}}}", "nodes: 'a b' is no name"),
        ("{database_url: d, redis_url: r, nodes: {a: {host: h, home: '/a b'}}}", "nodes.a.home: '/a b' should be"),
    ],
)
def test_a_mistake_in_the_fleet_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(text)
    with pytest.raises(InventoryError, match=r"fleet\.yaml: ") as raised:
        fleet.load(file)
    assert said in str(raised.value)
