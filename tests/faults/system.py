"""The system under test: every part of Modescope as a process of its own that faults can reach."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from redis import Redis

from orchestrator.client import Client
from orchestrator.embedded import endpoint, parts, postgres, postgres_programs, redis
from orchestrator.embedded.accounts import service_account
from orchestrator.embedded.children import Child, Part, Role, end
from orchestrator.embedded.home import Home
from orchestrator.queue import redis_client
from orchestrator.store import schema
from tests.faults import processes
from tests.faults.ledger import Ledger
from tests.faults.program import Bench
from tests.waiting import wait_for

NODES = ("m1", "m2", "m3", "m4")
MARK = "MODESCOPE_FAULTS"
RESTART_AFTER_S = 0.5
SMALL_DISK = "size=4m"


class System:
    """PostgreSQL, Redis, API, two controllers, four agents and an analysis worker; what dies is started again."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ms-faults-", dir="/var/tmp"))
        self.folder.chmod(0o711)  # root's PostgreSQL runs as somebody else
        self.mark = f"{MARK}={secrets.token_hex(8)}"
        self.log = self.folder / "measured.log"
        self.log.touch()
        self.ledger = Ledger("")  # of no database yet
        self._home = Home(folder=self.folder, data=self.folder, sockets=self.folder)
        self._redis_folder = self.folder / "redis"
        self._parts: dict[str, Part] = {}
        self._children: dict[str, Child] = {}
        self._down: set[str] = set()
        """Parts that a fault keeps from being started again."""
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="keeper", daemon=True)
        self.deaths: list[str] = []
        """Parts that died though nobody had killed them, with how."""

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End everything; nothing is left."""
        self._ended.set()
        self._keeper.join()
        self.ledger.close()
        with self._lock:
            for name in self._children:
                self.tell(name, signal.SIGCONT)
            for role in Role:
                end([child for child in self._children.values() if child.part.role is role])
        processes.tell(self.strays(), signal.SIGKILL)
        if self.disk.is_mount():
            subprocess.run([_tool("umount"), "--lazy", self.disk], check=True)
        shutil.rmtree(self.folder)

    @property
    def disk(self) -> Path:
        """The state folder of the last node, on a small disk of its own where we may mount one."""
        return self.bench(NODES[-1]).home / "nodes" / NODES[-1]

    def bench(self, node: str) -> Bench:
        """A node's home."""
        return Bench(home=self.folder / node, log=self.log)

    def spool(self, node: str) -> Path:
        """What a node measured and has not brought home."""
        return self.bench(node).home / "nodes" / node / "spool.jsonl"

    def pid(self, name: str) -> int:
        """Of a part's process."""
        return self._children[name].pid

    def start(self, name: str, **environment: str) -> None:
        """Start a part that is down; `environment` is added for this life and the following."""
        with self._lock:
            part = self._parts[name]
            self._parts[name] = replace(part, environment={**part.environment, **environment})
            self._down.discard(name)
            if name not in self._children:
                self._children[name] = Child(self._parts[name])

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL, *, stay_down: bool = True) -> None:
        """Signal a part and wait for its end, with every process of its session; it stays down until `start`."""
        with self._lock:
            child = self._children[name]
            self._down.add(name)
        self._forget(name, child, number)
        if not stay_down:
            self.start(name)

    def kill_all(self) -> None:
        """SIGKILL for every process at the same time, as when the power fails; all parts stay down."""
        with self._lock:
            children = dict(self._children)
            self._down |= children.keys()
        backends = processes.descendants(self.pid("postgres"))
        processes.tell([*(child.pid for child in children.values()), *backends, *self.strays()], signal.SIGKILL)
        for name, child in children.items():
            self._forget(name, child, signal.SIGKILL)

    def tell(self, name: str, number: signal.Signals) -> None:
        """SIGSTOP or SIGCONT to a part; to PostgreSQL with all its processes."""
        pid = self.pid(name)
        processes.tell([pid, *(processes.descendants(pid) if name == "postgres" else ())], number)

    def running(self, name: str) -> bool:
        """Is its process there?"""
        return name in self._children and self._children[name].running()

    def strays(self) -> list[int]:
        """Processes of ours that are no part's own."""
        with self._lock:
            known = {child.pid for child in self._children.values()}
        if self.running("postgres"):
            known |= set(processes.descendants(self.pid("postgres")))
        return [pid for pid in processes.belonging_to(self.mark, self.folder) if pid not in known | {os.getpid()}]

    def redis(self) -> Redis:
        """A client of the broker."""
        return redis_client(redis.broker_url(self._redis_folder))

    def client(self) -> Client:
        """A client of the REST interface."""
        return Client(self._endpoint.address, self._endpoint.token)

    @property
    def ours(self) -> tuple[str, ...]:
        """The names of Modescope's own parts, which are not PostgreSQL and Redis; in the order of their start."""
        return tuple(name for name in self._parts if name not in ("postgres", "redis"))

    def use_database(self, name: str) -> None:
        """From their next start on, all parts work with another database of the same server."""
        self.cluster_database = name
        self.ledger.close()
        self.ledger = Ledger(self.cluster.url(name))
        with self._lock:
            for part in self._parts.values():
                if "MODESCOPE_DATABASE_URL" in part.environment:
                    new = {**part.environment, "MODESCOPE_DATABASE_URL": self.cluster.url(name)}
                    self._parts[part.name] = replace(part, environment=new)

    def start_all(self) -> None:
        """Wake what stands still and start what is down, in order; return when everything is at work."""
        for name in list(self._children):
            self.tell(name, signal.SIGCONT)
        self.start("postgres")
        wait_for("postgres", lambda: postgres.ready(self.cluster))
        self.start("redis")
        wait_for("redis", lambda: redis.ready(self._redis_folder))
        for name in self._parts:
            self.start(name)
        self.wait_until_at_work()

    def wait_until_at_work(self) -> None:
        """The interface answers, and every agent of now is online."""
        wait_for("the interface", self._endpoint.answers)
        wait_for("every node online", self.ledger.nodes_online, lambda names: set(names) == set(NODES))

    def _start(self) -> None:
        (self.folder / "logs").mkdir()
        self._redis_folder.mkdir(mode=0o700)
        account = service_account()
        self.cluster = postgres.prepare(
            data=self.folder / "postgres",
            sockets=self.folder / "sockets",
            programs=postgres_programs.usable(account, copy_to=self.folder / "programs"),
            account=account,
        )
        # fsync as in the product; few connections, so that they can be used up.
        server = postgres.part(self.cluster, self.folder / "logs" / "postgres.log", max_connections="40")
        broker = redis.part(self._redis_folder, self.folder / "logs" / "redis.log")
        self._parts = {part.name: part for part in (server, broker)}
        self._keeper.start()
        self.start("postgres")
        wait_for("postgres", lambda: postgres.ready(self.cluster))
        postgres.create_database(self.cluster)
        schema.upgrade(self.cluster.url())
        self._endpoint = endpoint.choose(self.folder / "endpoint.json", None)
        for part in self._our_parts():
            self._parts[part.name] = part
        self.use_database(postgres.DATABASE)
        self._mount_small_disk()
        self.start_all()

    def _our_parts(self) -> list[Part]:
        service = self._commands(self.folder)
        agents = []
        for node in NODES:
            self.bench(node).install()
            agents.append(self._commands(self.bench(node).home).agent(node))
        controllers = [replace(service.controller(), name=f"controller-{number}") for number in (1, 2)]
        return [service.api(self._endpoint.port), *controllers, service.analysis_worker(), *agents]

    def _commands(self, home: Path) -> parts.Commands:
        name, _, value = self.mark.partition("=")
        given = parts.environment(
            home=home,
            database_url=self.cluster.url(),
            redis_url=redis.broker_url(self._redis_folder),
            token=self._endpoint.token,
        )
        return parts.Commands(home=self._home, environment={**given, name: value})

    def _mount_small_disk(self) -> None:
        self.disk.mkdir(parents=True)
        with suppress(FileNotFoundError, subprocess.CalledProcessError):
            words = [_tool("mount"), "-t", "tmpfs", "-o", SMALL_DISK, "modescope", str(self.disk)]
            subprocess.run(words, check=True, capture_output=True)

    def _keep(self) -> None:
        """What systemd would do: start again what died."""
        while not self._ended.wait(0.1):
            with self._lock:
                dead = [
                    (name, child) for name, child in self._children.items()
                    if name not in self._down and not child.running()
                ]  # fmt: skip
            for name, child in dead:
                self.deaths.append(f"{name}: {child.bury()}: {last_line(child.part.log)}")
                with self._lock:
                    del self._children[name]
                self._ended.wait(RESTART_AFTER_S)
                if name not in self._down and not self._ended.is_set():
                    self.start(name)

    def _forget(self, name: str, child: Child, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(child.pid, number)
        if number is signal.SIGKILL:
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGCONT)
        wait_for(f"the end of {name}", lambda: not child.running(), within_s=120)
        child.bury()
        with self._lock:
            self._children.pop(name, None)


def last_line(log: Path) -> str:
    """What a part said last."""
    return (log.read_text(errors="replace").splitlines() or ["it wrote nothing"])[-1]


def _tool(name: str) -> str:
    """Where it is; FileNotFoundError where it is not."""
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(name)
    return found
