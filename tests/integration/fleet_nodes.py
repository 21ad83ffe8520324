"""Nodes for tests of `modescope fleet`: a real sshd on a free loopback port, on this machine or in a throwaway copy."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

MODESCOPE = (sys.executable, "-m", "orchestrator.cli.main")
CHECKOUT = Path(__file__).parents[2]
# All that happens in it is kept in memory, and gone with its last process.
COPY_OF_THIS_MACHINE = """
set -eu
layers=$1 site=$2 checkout=$3 python=$4 root=$1/root
mount -t tmpfs -o mode=755 tmpfs "$layers"
mkdir "$layers/upper" "$layers/work" "$root"
mount -t overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" overlay "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mkdir "$root/run/sshd"
for folder in "$site" "$checkout"; do
    mkdir -p "$root/$folder"
    mount --bind "$folder" "$root/$folder"
done
for folder in "$checkout" "$python"; do  # the agent's user passes through
    while folder=$(dirname "$folder"); [ "$folder" != / ]; do chmod o+x "$root/$folder"; done
done
exec chroot "$root" "$5" -D -e -f "$site/sshd_config"
"""


@dataclass(frozen=True, kw_only=True)
class Site:
    """A machine with an sshd of its own, and a fleet file that names it."""

    folder: Path
    port: int
    home: Path
    root: Path = Path("/")
    """Where the machine's files are seen from here."""

    def write(
        self, name: str = "fleet.yaml", *, database_url: str = "", redis_url: str = "", **changes: object
    ) -> Path:
        """A fleet file of one node."""
        node = {
            **{"host": "127.0.0.1", "port": self.port, "home": str(self.home), "python": sys.executable},
            **{"user": "root", "agent_user": "root", "root_helper": False, "systemd": False},
            **{"identity_file": str(self.folder / "key"), "known_hosts": str(self.folder / "known_hosts"), **changes},
        }
        urls = {"database_url": database_url or "postgresql://nowhere", "redis_url": redis_url or "redis://nowhere"}
        file = self.folder / name
        file.write_text(yaml.safe_dump({**urls, "nodes": {"n1": node}}))
        return file

    def on(self, path: str | Path) -> Path:
        """A path on the machine, as it is seen from here."""
        return self.root / str(path).lstrip("/")

    def ssh(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program on the machine, as root."""
        how = ("-F", "none", "-i", self.folder / "key", "-o", f"UserKnownHostsFile={self.folder / 'known_hosts'}")
        argv = ["ssh", *how, "-p", str(self.port), "root@127.0.0.1", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Does somebody listen?"""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(what: str, holds: Callable[[], object], *, within_s: float = 120.0) -> None:
    """Until it holds; a failure after `within_s`."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"{what}: not within {within_s} s")
        time.sleep(0.05)  # between two looks


def modescope(*words: str | Path, timeout_s: float = 250.0) -> subprocess.CompletedProcess[str]:
    """The command, as a user calls it."""
    return subprocess.run([*MODESCOPE, *words], capture_output=True, text=True, check=False, timeout=timeout_s)


def make_site(folder: Path, *, home: Path, root: Path = Path("/")) -> Site:
    """Keys and configuration of an sshd."""
    for key in ("key", "host_key", "another_key"):
        subprocess.run(
            [shutil.which("ssh-keygen") or "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key],
            check=True,
        )
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
    return Site(folder=folder, port=port, home=home, root=root)


@contextmanager
def this_machine(folder: Path, sshd: Path) -> Iterator[Site]:
    """An sshd on this machine; only its home folder is touched."""
    site = make_site(folder, home=folder / "home")
    Path("/run/sshd").mkdir(exist_ok=True)
    with _serving(site.port, [sshd, "-D", "-e", "-f", folder / "sshd_config"], folder / "sshd.log"):
        yield site


@contextmanager
def throwaway_copy(folder: Path, sshd: Path) -> Iterator[Site]:
    """This machine once more, whose accounts, files and processes are its own: root's steps are taken for real."""
    layers = folder / "layers"
    layers.mkdir()
    site = make_site(folder, home=Path("/var/lib/modescope"))
    places = (layers, folder, CHECKOUT, Path(sys.executable).resolve(), sshd)
    own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    argv = [*own, "sh", "-c", COPY_OF_THIS_MACHINE, "copy", *places]
    with _serving(site.port, argv, folder / "sshd.log") as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        root = Path(f"/proc/{children[0]}/root")
        yield Site(folder=folder, port=site.port, home=site.home, root=root)


@contextmanager
def _serving(port: int, argv: Sequence[str | Path], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as said, subprocess.Popen(argv, stderr=said, stdout=said) as process:
        try:
            wait_for("sshd answers", lambda: process.poll() is not None or answers(port))
            if process.poll() is not None:
                pytest.skip(f"no such sshd can be had here: {log.read_text().strip()}")
            yield process
        finally:
            process.kill()  # `unshare` ignores SIGTERM; its namespace ends with it


def lend_packages(site: Site) -> None:
    """The node's virtual environment finds what this one has, so that pip fetches nothing over the network."""
    packages = site.on(site.home) / f"venv/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    packages.mkdir(parents=True, exist_ok=True)
    (packages / "checkout.pth").write_text(f"{sysconfig.get_path('purelib')}\n")


@contextmanager
def forwarded(path: Path) -> Iterator[int]:
    """A loopback port that leads to a Unix socket: what another account may reach."""

    def pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the other side is gone

    def carry(client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as service:
            service.connect(str(path))
            back = threading.Thread(target=pump, args=(service, client), daemon=True)
            back.start()
            pump(client, service)
            back.join()

    def serve(listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return  # closed: the test is over
            threading.Thread(target=carry, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(target=serve, args=(listening,), daemon=True)
        accepting.start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()


@contextmanager
def reachable(database_url: str, redis_url: str) -> Iterator[dict[str, str]]:
    """The same database and Redis by loopback ports, as a fleet file names them."""
    address = urlsplit(database_url)
    sockets = Path(parse_qs(address.query)["host"][0])
    with (
        forwarded(sockets / ".s.PGSQL.5432") as database_port,
        forwarded(Path(urlsplit(redis_url).path)) as redis_port,
    ):
        yield {
            "database_url": f"postgresql://{address.username}@127.0.0.1:{database_port}{address.path}",
            "redis_url": f"redis://127.0.0.1:{redis_port}/0",
        }


@contextmanager
def controller(database_url: str, redis_url: str) -> Iterator[None]:
    """What hands out jobs."""
    environment = {**os.environ, "MODESCOPE_DATABASE_URL": database_url, "MODESCOPE_REDIS_URL": redis_url}
    with subprocess.Popen([*MODESCOPE, "controller"], env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()
