"""Real parts for a benchmark: PostgreSQL that syncs, Redis, and Modescope's own processes, in a folder of their own."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.embedded import parts, postgres, redis
from orchestrator.embedded.children import Child, Part, Role, end
from orchestrator.embedded.home import Home
from orchestrator.store import schema
from orchestrator.store.ports import Store
from tests.benchmarks.servers import private_postgres


@dataclass(frozen=True, kw_only=True, slots=True)
class Bed:
    """Servers that run, and what is started on them."""

    folder: Path
    database_url: str
    postgres_pid: int
    redis_url: str
    children: list[Child] = field(default_factory=list)

    @property
    def commands(self) -> parts.Commands:
        """`modescope` commands on these servers."""
        environment = parts.environment(
            home=self.folder, database_url=self.database_url, redis_url=self.redis_url, token=""
        )
        home = Home(folder=self.folder, data=self.folder, sockets=self.folder)
        return parts.Commands(home=home, environment=environment)

    def start(self, part: Part, ready: Callable[[], bool] = lambda: True) -> Child:
        """Start a part, and wait until it is ready; it ends with the bed."""
        child = Child(part)
        self.children.append(child)
        child.wait_until(ready)
        return child

    def start_agents(self, store: Store, count: int) -> list[Child]:
        """Agents that are online, and a controller last in the list."""
        agents = [self.start(self.commands.agent(f"n{number}")) for number in range(count)]
        wait_until(lambda: sum(node.online for node in store.nodes.all()) == count, "agents online", within_s=300)
        return [*agents, self.start(self.commands.controller())]

    def module(self, name: str, *arguments: str) -> Part:
        """A module of these benchmarks as a process of the bed."""
        called = f"{name.rpartition('.')[2]}-{arguments[-1]}"
        return Part(
            role=Role.AGENT,
            name=called,
            command=(sys.executable, "-m", name, *arguments),
            log=self.folder / "logs" / f"{called}.log",
            environment={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )

    def end(self, children: Sequence[Child]) -> None:
        """End some of them before the bed does."""
        end(children)
        for child in children:
            self.children.remove(child)


@contextmanager
def made() -> Iterator[Bed]:
    """A bed with a migrated, empty ledger."""
    with private_postgres() as cluster, tempfile.TemporaryDirectory(prefix="ms-bench-", dir="/var/tmp") as name:
        postgres.create_database(cluster)
        schema.upgrade(cluster.url())
        folder = Path(name)
        (folder / "logs").mkdir()
        (folder / "redis").mkdir(mode=0o700)
        postgres_pid = int((cluster.data / "postmaster.pid").read_text().split()[0])
        redis_url = redis.broker_url(folder / "redis")
        bed = Bed(folder=folder, database_url=cluster.url(), postgres_pid=postgres_pid, redis_url=redis_url)
        try:
            bed.start(redis.part(folder / "redis", folder / "logs/redis.log"), lambda: redis.ready(folder / "redis"))
            yield bed
        finally:
            end(list(reversed(bed.children)))


def wait_until(holds: Callable[[], bool], what: str, *, within_s: float) -> None:
    """Look again and again. Raises TimeoutError."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {within_s:.0f} s")
        time.sleep(0.1)


def resident_kb(pid: int) -> int:
    """Memory of a process that is in RAM."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def cpu_s(pid: int) -> float:
    """Processor time of a process and of all it has started, those that have ended included; 0 when it is gone."""
    used_by: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            used_by[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {pid}
    while more := {one for one, (parent, _) in used_by.items() if parent in family} - family:
        family |= more
    return sum(used_by[one][1] for one in family if one in used_by) / os.sysconf("SC_CLK_TCK")
