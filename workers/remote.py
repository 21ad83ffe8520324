"""Nodes over SSH (Fabric): one that answers, what can be done on it, and all of them side by side.

Commands are argument lists, quoted word by word for the node's shell. A host whose key is not known, or differs, is
refused.
"""

from __future__ import annotations

import io
import shlex
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.contracts.errors import ModescopeError, missing_extra
from workers.fleet import Machine

try:
    import fabric
    from invoke.runners import Result
    from paramiko import BadHostKeyException, RejectPolicy, SSHException
    from paramiko.ssh_exception import NoValidConnectionsError
except ImportError as missing:
    raise missing_extra("`modescope fleet` needs Fabric", "fleet") from missing

CONNECT_TIMEOUT_S = 10


class NodeError(ModescopeError):
    """Something could not be done on a node."""


Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Session:
    """A node that answers."""

    machine: Machine
    connection: fabric.Connection
    dry_run: bool
    say: Say
    steps: list[str] = field(default_factory=list)
    """What was done here, or would be."""

    def run(self, *words: str, check: bool = True, timeout_s: float | None = None) -> Result:
        """Run a program. Raises NodeError with its last line."""
        return self.shell(shlex.join(words), check=check, timeout_s=timeout_s)

    def shell(self, line: str, *, check: bool = True, timeout_s: float | None = None) -> Result:
        """A line of our own for the node's shell."""
        done = self.connection.run(line, hide=True, warn=True, in_stream=False, timeout=timeout_s)
        if check and done.failed:
            said = [text for text in (done.stderr + done.stdout).splitlines() if text.strip()]
            full = next((text for text in said if "No space left on device" in text), None)
            raise NodeError(f"{line.split(maxsplit=1)[0]}: {full or (said[-1] if said else 'failed without a word')}")
        return done

    def ok(self, *words: str) -> bool:
        """Does a program end well?"""
        return bool(self.run(*words, check=False).ok)

    def step(self, what: str, done: bool, act: Callable[[], object]) -> None:
        """Do what is not done yet, or say that it would be."""
        if done:
            return
        self.say(f"would {what}" if self.dry_run else what)
        self.steps.append(what)
        if not self.dry_run:
            act()

    def put(self, text: str, path: str, mode: str, *, group: str | None = None, checked_by: Sequence[str] = ()) -> None:
        """Write a file as a whole: beside its place, checked there, then renamed. Nobody else reads it meanwhile."""
        fresh = f"{path}.new"
        self.run("install", "-m", mode, *(() if group is None else ("-g", group)), "/dev/null", fresh)
        self.upload(io.StringIO(text), fresh, meant=path)
        if checked_by and self.run(*checked_by, fresh, check=False).failed:
            self.run("rm", "-f", fresh)
            raise NodeError(f"{path}: `{shlex.join(checked_by)}` refuses it, so it is not put in place")
        self.run("mv", "-f", fresh, path)

    def upload(self, what: io.StringIO | str, path: str, *, meant: str | None = None) -> None:
        """Copy a text, or the file of that name here, onto the node. Raises NodeError, about what `meant` names."""
        try:
            self.connection.put(what, path)
        except OSError as problem:
            raise NodeError(f"{meant or path}: cannot be written: {self._why_not(path)}") from problem

    def same(self, path: str, text: str, mode: str) -> bool:
        """Does the file hold this already, with this mode?"""
        held = self.shell(f"stat -c %a {shlex.quote(path)} && cat {shlex.quote(path)}", check=False)
        return bool(held.ok and held.stdout == f"{mode}\n{text}")

    def _why_not(self, path: str) -> str:
        """SFTP says no more than `Failure`."""
        folder = path.rpartition("/")[0]
        free = self.run("df", "--output=avail", folder, check=False).stdout.split()[-1:]
        return "No space left on device" if free == ["0"] else "the node's SFTP server refuses"


@contextmanager
def session(machine: Machine, *, dry_run: bool = False, say: Say = lambda _: None) -> Iterator[Session]:
    """A connection to a node whose host key is known. Raises NodeError, one line."""
    keys: dict[str, object] = (
        {}
        if machine.identity_file is None
        else {
            "key_filename": str(Path(machine.identity_file).expanduser()),
            "look_for_keys": False,
            "allow_agent": False,
        }
    )
    connection = fabric.Connection(
        machine.host, user=machine.user, port=machine.port, connect_timeout=CONNECT_TIMEOUT_S, connect_kwargs=keys
    )
    connection.client.set_missing_host_key_policy(RejectPolicy())
    where = f"{machine.host}:{machine.port}"
    try:
        if machine.known_hosts is None:
            connection.client.load_system_host_keys()
        else:
            connection.client.load_system_host_keys(str(Path(machine.known_hosts).expanduser()))
        connection.open()
        yield Session(machine=machine, connection=connection, dry_run=dry_run, say=say)
    except BadHostKeyException as problem:
        raise NodeError(
            f"{where}: its host key is not the one in known_hosts; make sure that it is the node"
        ) from problem
    except (NoValidConnectionsError, socket.gaierror, TimeoutError) as problem:
        raise NodeError(f"{where}: cannot be reached: {problem.strerror or problem}") from problem
    except (EOFError, ConnectionError) as problem:
        raise NodeError(f"{where}: the connection broke off") from problem
    except FileNotFoundError as problem:
        raise NodeError(f"{where}: there is no {problem.filename} here") from problem
    except SSHException as problem:
        unknown = "not found in known_hosts" in str(problem)
        raise NodeError(
            f"{where}: its host key is not in known_hosts; add it" if unknown else f"{where}: {problem}"
        ) from problem
    finally:
        connection.close()


def everywhere(
    machines: Sequence[Machine], act: Callable[[Machine], object], told: Callable[[Machine, object], None]
) -> None:
    """Act on all nodes side by side; `told` hears of each as it ends: what came of it, or the ModescopeError."""
    with ThreadPoolExecutor(max_workers=min(32, len(machines))) as pool:
        running = {pool.submit(act, machine): machine for machine in machines}
        for ended in as_completed(running):
            problem = ended.exception()
            if problem is not None and not isinstance(problem, ModescopeError):
                raise problem
            told(running[ended], ended.result() if problem is None else problem)
