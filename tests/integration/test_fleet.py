"""`modescope fleet` against a real sshd: provision, start, one job, drain, stop; and what goes wrong, in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from orchestrator.contracts.errors import InventoryError
from orchestrator.contracts.nodes import Node
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.store.postgres import PostgresStore
from tests.integration import fleet_nodes
from tests.integration.fleet_nodes import Site, free_port, modescope, wait_for
from workers import compare, fleet, provision

STUDY = """
name: one job
design:
  blocks:
    - levels: {threads: [1], file_size_kb: [64], record_size_kb: [4]}
replicates: 2
replicates_per_job: 2
engine: builtin
"""
LONG_STUDY = STUDY.replace("replicates: 2", "replicates: 100000").replace("_per_job: 2", "_per_job: 100000")


@pytest.fixture(scope="module")
def site(require_program: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An sshd on a free loopback port, with a host key and authorised keys of its own."""
    if os.geteuid() != 0:
        pytest.skip("an sshd for other accounts needs root")
    require_program("ssh-keygen")
    with fleet_nodes.this_machine(tmp_path_factory.mktemp("site"), require_program("sshd")) as site:
        yield site


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as a wheel."""
    return provision.package(None, tmp_path_factory.mktemp("wheel")).file


@pytest.fixture
def ready_made(site: Site) -> None:
    """Nothing is fetched over the network: the node's Python finds what this one has."""
    fleet_nodes.lend_packages(site)


@pytest.fixture
def controller(database_url: str, redis_url: str) -> Iterator[None]:
    """What hands out jobs."""
    with fleet_nodes.controller(database_url, redis_url):
        yield


@pytest.fixture
def ledger(database_url: str) -> Iterator[PostgresStore]:
    """What the nodes report to."""
    store = PostgresStore(database_url)
    yield store
    store.close()


def only_node(ledger: PostgresStore) -> Node | None:
    return next(iter(ledger.nodes.all()), None)


@pytest.mark.usefixtures("ready_made", "controller")
def test_a_node_is_provisioned_started_measures_is_drained_and_stopped(
    site: Site, wheel: Path, database_url: str, redis_url: str, ledger: PostgresStore
) -> None:
    file = site.write(database_url=database_url, redis_url=redis_url)
    planned = modescope("fleet", "provision", file, "--wheel", wheel, "--dry-run")
    assert "n1: would install modescope-" in planned.stdout, planned
    assert not (site.home / "agent.env").exists()

    done = modescope("fleet", "provision", file, "--wheel", wheel)
    assert (done.returncode, "[1/1] n1: ready" in done.stdout) == (0, True), done
    assert (site.home / "constraints.txt").read_text() == (fleet_nodes.CHECKOUT / "constraints.txt").read_text()
    assert (site.home / "agent.env").stat().st_mode & 0o777 == 0o640
    again = modescope("fleet", "provision", file, "--wheel", wheel)
    assert again.stdout == "[1/1] n1: already there, nothing to do\n"

    started = modescope("fleet", "start", file)
    assert "[1/1] n1: started without systemd" in started.stdout, started
    try:
        wait_for("the agent reports", lambda: (node := only_node(ledger)) is not None and node.online)
        told = json.loads(modescope("fleet", "status", "--json", file).stdout)["nodes"]["n1"]
        assert told == {"agent": "runs", "version": "0.1.0", "state": "ready", "online": True, "job": None}
        assert "runs already" in modescope("fleet", "start", file).stdout
        campaign_id = ledger.campaigns.submit(submission(study.load(STUDY, where="it")))[0].id
        wait_for("the job is done", lambda: ledger.campaigns.progress(campaign_id).valid_runs == 2)
        assert modescope("fleet", "drain", file).stdout.endswith("n1: drained, holds no job\n")
        assert (node := only_node(ledger)) is not None
        assert node.state == "draining"
    finally:
        stopped = modescope("fleet", "stop", file)
    assert stopped.stdout.endswith("[1/1] n1: stopped\n"), stopped
    assert "does not run" in modescope("fleet", "status", file).stdout
    assert not (site.home / "nodes/n1.pid").exists()
    wait_for("the node is offline", lambda: (node := only_node(ledger)) is not None and not node.online)


@pytest.mark.usefixtures("ready_made", "controller")
def test_draining_says_who_is_still_at_work_and_stopping_lets_the_run_in_flight_end(
    site: Site, wheel: Path, database_url: str, redis_url: str, ledger: PostgresStore
) -> None:
    file = site.write(database_url=database_url, redis_url=redis_url)
    assert modescope("fleet", "provision", file, "--wheel", wheel).returncode == 0
    assert modescope("fleet", "start", file).returncode == 0
    try:
        campaign_id = ledger.campaigns.submit(submission(study.load(LONG_STUDY, where="it")))[0].id
        wait_for("it measures", lambda: ledger.campaigns.progress(campaign_id).valid_runs > 0)
        assert (node := only_node(ledger)) is not None
        said = modescope("fleet", "status", file).stdout.splitlines()[-2:]
        assert said[0].split() == ["node", "agent", "version", "state", "online", "job"]
        assert said[1].split() == ["n1", "runs", "0.1.0", "ready", "yes", str(node.job_id)]
        another = site.folder / "modescope-0-py3-none-any.whl"
        another.write_bytes(b"another")
        refused = modescope("fleet", "provision", file, "--wheel", another)
        assert "the agent runs, and would be changed under its feet" in one_line(refused)
        drained = modescope("fleet", "drain", "--timeout", "2", file)
        assert f"n1: still at job {node.job_id} after 2 s" in one_line(drained)
        assert f"[0/1 empty, 0 s] n1 is at job {node.job_id}" in drained.stdout
    finally:
        stopped = modescope("fleet", "stop", file)
    assert stopped.returncode == 0, stopped
    assert (node := only_node(ledger)) is not None
    assert (node.job_id, node.online) == (None, False), "the rest of the job is back in the queue"
    assert ledger.campaigns.progress(campaign_id).valid_runs > 0
    assert not any(path.name.startswith("run") for path in (site.home / "target").iterdir())


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
    assert f"2 of 3 nodes answered; 1 of {len(compare.FACTS) + 3} facts differ\n" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()[-3:]]
    assert rows == [["fact", "nodes", "value"], ["python", "n1", version], ["n2", "absent"]]
    told = json.loads(modescope("fleet", "check", "--json", file).stdout)
    assert set(told["nodes"]) == {"n1", "n2"}
    assert set(told["failed"]) == {"n3"}
    assert told["differing"] == [{"fact": "python", "nodes_by_value": {version: ["n1"], "absent": ["n2"]}}]


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_a_wrong_host_key_is_refused(site: Site) -> None:
    other = (site.folder / "another_key.pub").read_text().rpartition(" ")[0]
    (site.folder / "wrong_hosts").write_text(f"[127.0.0.1]:{site.port} {other}\n")
    file = site.write("wrong.yaml", known_hosts=str(site.folder / "wrong_hosts"))
    assert "its host key is not the one in known_hosts" in one_line(modescope("fleet", "check", file))


def test_an_unknown_host_key_is_refused(site: Site) -> None:
    (site.folder / "no_hosts").write_text("")
    file = site.write("unknown.yaml", known_hosts=str(site.folder / "no_hosts"))
    assert "its host key is not in known_hosts" in one_line(modescope("fleet", "check", file))


def test_a_missing_file_of_known_hosts_is_one_line(site: Site) -> None:
    file = site.write("nothing.yaml", known_hosts=str(site.folder / "nothing"))
    assert f"there is no {site.folder / 'nothing'} here" in one_line(modescope("fleet", "check", file))


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


@pytest.mark.usefixtures("ready_made")
def test_a_disk_that_fills_up_on_the_way_is_one_line(
    site: Site, wheel: Path, tmp_path: Path, require_program: Callable[[str], Path]
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run([require_program("mount"), "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], check=False)
    if mounted.returncode != 0:
        pytest.skip("no file system may be mounted here")
    try:
        (small / "venv").mkdir()
        mark = small / "venv/modescope.sha256"  # as if the package were there already
        mark.write_text(provision.package(wheel, tmp_path).digest)
        mark.chmod(0o644)
        with (small / "other").open("wb", buffering=0) as other:
            other.write(b"x" * 4096 * 3)
        full = one_line(modescope("fleet", "provision", site.write("full.yaml", home=str(small)), "--wheel", wheel))
        assert f"{small}/agent.env: cannot be written: No space left on device" in full
    finally:
        subprocess.run([require_program("umount"), small], check=True)


def test_a_ledger_that_does_not_answer_leaves_the_nodes_own_answers(site: Site) -> None:
    done = modescope("fleet", "status", site.write())
    assert "the ledger: the database does not answer" in one_line(done)
    assert done.stdout.splitlines()[-1].split()[:2] == ["n1", "does"]


def test_draining_names_a_node_that_has_never_reported(site: Site, database_url: str) -> None:
    file = site.write(database_url=database_url)
    assert "n1: there is no node 'n1'" in one_line(modescope("fleet", "drain", file))
    assert modescope("fleet", "drain", "--dry-run", file).stdout == "n1: would be drained, holds no job\n"


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
        ("{database_url: d, redis_url: r, nodes: {a: {host: h, agent_user: ALL}}}", "nodes.a.agent_user: 'ALL' is no"),
    ],
)
def test_a_mistake_in_the_fleet_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(text)
    with pytest.raises(InventoryError, match=r"fleet\.yaml: ") as raised:
        fleet.load(file)
    assert said in str(raised.value)
