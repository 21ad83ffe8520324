"""A small process that starts programs for the agent, for forking the agent itself costs more than most short runs.

A fork copies page tables, and after it each side copies every page that it touches: 9 ms of CPU time for an agent, half
a millisecond for this process. What it starts are not its own children but the agent's (CLONE_PARENT): the agent waits
for them, what they used counts as the agent's, and they are told when the agent dies.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import signal
import socket
import struct
import sys
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

if __name__ == "__main__":  # run by path, without site-packages: it must stay small
    sys.path.insert(0, str(Path(__file__).parents[2]))

from workers.benchmarks import child
from workers.benchmarks.child import Child

_SYS_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT = 0x00008000
_LINE = 0
"""The launcher's end of the line to its agent."""
_SIZE = struct.Struct("<Q")
_PID = struct.Struct("<q")


class Launcher:
    """The agent's side: starts the process when it is first needed, and again should it have died."""

    def __init__(self) -> None:
        self._line: int | None = None
        self._pid: int | None = None
        self._end: weakref.finalize[[int, int], Launcher] | None = None

    def fork(self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Child:
        """A child of ours that will run the program once it is let go. Raises OSError."""
        if platform.machine() not in _SYS_CLONE:
            return child.fork(lambda: child.execute(tuple(argv), cwd, environment))
        gate_read, gate_write = os.pipe()
        output_read, output_write = os.pipe()
        try:
            pid = self._ask([argv, str(cwd), dict(environment)], [gate_read, output_write])
        except OSError:
            os.close(gate_write)
            os.close(output_read)
            raise
        finally:
            os.close(gate_read)
            os.close(output_write)
        child.wait_until_ready(output_read)
        return Child(pid=pid, gate=gate_write, output=output_read)

    def pid(self) -> int | None:
        """The process, started when there is none; None where the agent forks by itself. Raises OSError."""
        if platform.machine() not in _SYS_CLONE:
            return None
        self._connected()
        return self._pid

    def close(self) -> None:
        """End the process."""
        self._line = None
        if self._end is not None:
            self._end()

    def _ask(self, request: object, descriptors: list[int]) -> int:
        said = json.dumps(request).encode()
        for _ in range(2):
            line = socket.socket(fileno=self._connected())
            try:
                socket.send_fds(line, [_SIZE.pack(len(said))], descriptors)
                line.sendall(said)
                answer = line.recv(_PID.size, socket.MSG_WAITALL)
            except OSError:
                answer = b""
            finally:
                line.detach()
            if len(answer) == _PID.size:
                return int(_PID.unpack(answer)[0])
            self.close()  # it has died; another will do
        raise ChildProcessError("the process that starts programs does not answer")

    def _connected(self) -> int:
        if self._line is None:
            ours, theirs = socket.socketpair()
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", __file__, str(os.getpid())],
                {},
                file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), _LINE)],
                setsid=True,
            )
            theirs.close()
            self._line = ours.detach()
            self._end = weakref.finalize(self, _end, self._line, self._pid)
        return self._line


def _end(line: int, pid: int) -> None:
    """It holds nothing, and what it started is not its own: nobody has to wait until it notices."""
    os.close(line)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _serve(agent: int) -> None:
    """Start what is asked for until the agent hangs up, or dies."""
    gc.disable()
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    child.die_with(agent)
    libc = ctypes.PyDLL(None, use_errno=True)
    number = _SYS_CLONE[platform.machine()]
    with socket.socket(fileno=_LINE) as line:
        while True:
            size, descriptors, _, _ = socket.recv_fds(line, _SIZE.size, 2)
            if len(size) < _SIZE.size:
                return
            argv, cwd, environment = json.loads(_read(line, _SIZE.unpack(size)[0]))
            pid = libc.syscall(number, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
            if pid == 0:
                child.become(agent, partial(child.execute, tuple(argv), Path(cwd), environment), *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            if pid < 0:
                return
            line.sendall(_PID.pack(pid))


def _read(line: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = line.recv(size - len(parts))
        if not part:
            os._exit(1)
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
