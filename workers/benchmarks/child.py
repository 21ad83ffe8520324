"""The child's side: forked from the agent, cut off from everything the agent holds, gone when the agent is gone."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

_LIBC = ctypes.CDLL(None, use_errno=True)  # loaded before any fork
_PR_SET_PDEATHSIG = 1
_AGENT_DIED = signal.SIGUSR1
_READY = b"r"
_GO = b"g"


@dataclass(frozen=True, kw_only=True, slots=True)
class Child:
    """A forked process that leads its own session, and waits at a gate until it is let go."""

    pid: int
    gate: int
    """Write end: one byte opens it, closing it sends the child away."""
    output: int
    """Read end of the child's standard output and standard error."""

    def let_go(self) -> None:
        """Open the gate."""
        os.write(self.gate, _GO)

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self.gate)
        os.close(self.output)


def fork(action: Callable[[], None]) -> Child:
    """Fork a child that does `action` once it is let go, and exits.

    It has no descriptors but /dev/null and its output and the default signal handlers; its group ends when we die.
    """
    parent = os.getpid()
    gate_read, gate_write = os.pipe()
    output_read, output_write = os.pipe()
    with warnings.catch_warnings():
        # The child takes no lock that a thread of the agent may hold: it closes, and executes or does plain I/O.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.close(gate_write)  # or it would never see the agent close its end
        become(parent, action, gate_read, output_write)
    os.close(gate_read)
    os.close(output_write)
    wait_until_ready(output_read)
    return Child(pid=pid, gate=gate_write, output=output_read)


def wait_until_ready(output: int) -> None:
    """Until the child leads its own session, and waits at its gate."""
    os.read(output, len(_READY))


def execute(argv: tuple[str, ...], cwd: Path, environment: Mapping[str, str]) -> None:
    """Run a program to its end, and end as it did; raises OSError when it cannot be started.

    The program does not replace this process: when the agent dies, somebody must be there to end all of the group
    (IOzone, for one, leaves its children behind).
    """
    os.chdir(cwd)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is for the program, which may want a moment to end
    program = os.posix_spawnp(argv[0], argv, environment, setsigdef=[signal.SIGTERM])
    status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    if status < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(status)


def become(parent: int, action: Callable[[], None], gate: int, output: int) -> NoReturn:
    """Be the child from here on: never returns."""
    status = 1
    try:
        gc.disable()  # a collected connection of the agent would say goodbye on the agent's behalf
        os.setsid()
        _restore_signals()
        _end_group_with(parent)
        os.write(output, _READY)
        if os.read(gate, len(_GO)):
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            action()
            status = 0
    except BaseException as problem:
        os.write(2, "".join(traceback.format_exception_only(problem)).encode())
    finally:
        os._exit(status)


def _end_group_with(parent: int) -> None:
    """Have the kernel tell this process when its parent dies, and then end the whole group."""
    signal.signal(_AGENT_DIED, lambda *_: os.killpg(0, signal.SIGKILL))
    die_with(parent, _AGENT_DIED)


def die_with(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send this process a signal when its parent dies; exit if it has died already."""
    if _LIBC.prctl(_PR_SET_PDEATHSIG, number) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        os._exit(1)


def _restore_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) not in (signal.SIG_DFL, None):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
