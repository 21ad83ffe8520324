"""The agent as a service of its node: by systemd where there is one, else a plain process that a small loop keeps."""

from __future__ import annotations

import shlex

from workers.remote import NodeError, Session

UNIT_NAME = "modescope-agent.service"
STOP_TIMEOUT_S = 100
"""Longer than the agent's own grace for the run in flight, and than the unit's TimeoutStopSec."""


def start(at: Session) -> str:
    """Start the agent, if it does not run; how it is kept running. Raises NodeError."""
    if running(at):
        return "runs already"
    if not at.dry_run and installed_version(at) is None:
        raise NodeError(f"nothing is installed in {at.machine.home}: run `modescope fleet provision`")
    if has_systemd(at):
        at.step(f"start {UNIT_NAME}", False, lambda: at.run("systemctl", "enable", "--now", UNIT_NAME))
        return "started by systemd"
    home = at.machine.home
    loop = shlex.join([*_as_agent(at), "setsid", f"{home}/agent-loop", home, at.machine.name])
    line = f"nohup {loop} </dev/null >>{shlex.quote(f'{home}/agent.log')} 2>&1 &"
    at.step("start the agent", False, lambda: at.shell(line))
    return "started without systemd: a plain process, kept by agent-loop, and gone after a reboot"


def stop(at: Session) -> str:
    """Stop the agent and wait for its end; the run in flight may end, for at most a minute. Raises NodeError."""
    if not running(at):
        return "does not run"
    if has_systemd(at):
        disable = ("systemctl", "disable", "--now", UNIT_NAME)
        at.step(f"stop {UNIT_NAME}, after its run in flight", False, lambda: at.run(*disable))
        return "stopped"
    pid = at.run("cat", pid_file(at)).stdout.strip()
    at.step(f"stop process {pid}, after its run in flight", False, lambda: _end(at, pid))
    return "stopped"


def running(at: Session) -> bool:
    """Is the agent kept running on this node?"""
    if has_systemd(at):  # one that waits to be started again is "activating"
        state = at.run("systemctl", "show", "--property=ActiveState", "--value", UNIT_NAME).stdout.strip()
        return state not in ("inactive", "failed")
    pid = at.run("cat", pid_file(at), check=False).stdout.strip()
    return pid.isdigit() and "agent-loop" in at.run("cat", f"/proc/{pid}/cmdline", check=False).stdout


def installed_version(at: Session) -> str | None:
    """Modescope's version in the node's virtual environment."""
    ask = "from importlib.metadata import version; print(version('modescope'))"
    return at.run(f"{at.machine.home}/venv/bin/python", "-c", ask, check=False).stdout.strip() or None


def has_systemd(at: Session) -> bool:
    """Is the agent kept by systemd on this node?"""
    return at.machine.systemd and at.ok("test", "-d", "/run/systemd/system")


def pid_file(at: Session) -> str:
    """Where agent-loop says which process it is."""
    return f"{at.machine.home}/nodes/{at.machine.name}.pid"


def is_root(at: Session) -> bool:
    """Did we log in as root?"""
    return bool(at.run("id", "-u").stdout.strip() == "0")


def _end(at: Session, pid: str) -> None:
    at.run(*_as_agent(at), "kill", "-TERM", pid)
    waiting = shlex.join(["tail", f"--pid={pid}", "-f", "/dev/null"])
    if at.shell(f"timeout {STOP_TIMEOUT_S} {waiting}", check=False).failed:
        raise NodeError(f"process {pid} does not end within {STOP_TIMEOUT_S} s")


def _as_agent(at: Session) -> tuple[str, ...]:
    """Root's words before a command that the agent's user carries out: it may name no process but its own."""
    user = at.machine.agent_user
    return ("runuser", "-u", user, "--") if is_root(at) and user != "root" else ()
