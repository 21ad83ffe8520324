"""Compare nodes, install Modescope on them, start and stop their agents.

Every step looks before it acts, so that a second run changes nothing; `dry_run` says what would be done.
"""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from orchestrator.contracts.errors import MissingPartError
from workers.fleet import Fleet, Machine
from workers.remote import NodeError, Session

CHECKOUT = Path(__file__).parents[1]
HELPER = "/usr/local/sbin/modescope-root-helper"
SUDOERS = "/etc/sudoers.d/modescope"
UNIT_NAME = "modescope-agent.service"
UNIT = f"/etc/systemd/system/{UNIT_NAME}"
NEEDED_KB = 700_000
"""Of a virtual environment with everything in it, and what pip unpacks meanwhile."""
_MARK = "modescope.sha256"
STOP_TIMEOUT_S = 100
FACTS: Mapping[str, str] = {
    "system": '. /etc/os-release && echo "$PRETTY_NAME"',
    "kernel": "uname -r",
    "machine": "uname -m",
    "processor": "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1",
    "microcode": "sed -n 's/^microcode[^:]*: //p' /proc/cpuinfo | head -n 1",
    "processors": "nproc",
    "memory": "awk '/^MemTotal/ {print int($2 / 1048576 + 0.5) \" GiB\"}' /proc/meminfo",
    "frequency driver": "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
    "governor": "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "smt": "cat /sys/devices/system/cpu/smt/control",
    "command line": "cat /proc/cmdline",
    "swap": "awk 'NR > 1' /proc/swaps | wc -l",
    "iozone": "iozone -v | sed -n 's/.*Revision: \\([0-9.]*\\).*/\\1/p'",
    "fio": "fio --version",
}
"""What should be the same on all nodes: our own fixed words for the node's shell; what fails is a state of its own."""


def facts(at: Session) -> dict[str, str]:
    """What should be the same everywhere; what a node has not is told as absent."""
    python = shlex.join([at.machine.python, "-c", "import platform; print(platform.python_version())"])
    lines = {**FACTS, "python": python}
    return {name: at.shell(line, check=False).stdout.strip() or "absent" for name, line in lines.items()}


def provision(at: Session, fleet: Fleet, wheel: Path) -> None:
    """Install everything an agent needs. Raises NodeError."""
    machine = at.machine
    home, venv = machine.home, f"{machine.home}/venv"
    privileged = at.run("id", "-u").stdout.strip() == "0"
    if privileged and machine.agent_user != "root":
        add = ("useradd", "--system", "--home-dir", home, "--shell", "/usr/sbin/nologin", machine.agent_user)
        at.step(f"add the user {machine.agent_user}", at.ok("id", machine.agent_user), lambda: at.run(*add))
    at.step(f"make {home}", at.ok("test", "-d", home), lambda: at.run("mkdir", "-p", home))
    _check_space(at, wheel)
    make = (machine.python, "-m", "venv", venv)
    at.step("make a virtual environment", at.ok("test", "-e", f"{venv}/pyvenv.cfg"), lambda: at.run(*make))
    _install_package(at, wheel, venv)
    _install_file(at, "agent.env", f"{home}/agent.env", _environment(fleet, machine), "600")
    _install_file(at, "agent-loop", f"{home}/agent-loop", _deployed("modescope-agent-loop"), "755")
    script = _deployed("install-iozone")
    at.step(
        "install IOzone",
        at.shell("command -v iozone", check=False).ok,
        lambda: _run_script(at, script, f"{home}/install-iozone"),
    )
    if privileged and machine.root_helper:
        _install_file(at, "the root helper", HELPER, _deployed("modescope-root-helper"), "755")
        rule = _deployed("modescope.sudoers").replace("modescope ALL", f"{machine.agent_user} ALL")
        _install_file(at, "its sudoers file", SUDOERS, rule, "440")
        at.step(
            "list the targets it may trim", at.ok("test", "-e", "/etc/modescope/targets"), lambda: _list_targets(at)
        )
    if privileged and machine.agent_user != "root":
        owned = at.run("stat", "-c", "%U", home, f"{home}/agent.env", check=False).stdout.split()
        own = ("chown", "-R", f"{machine.agent_user}:", home)
        at.step(f"give {home} to {machine.agent_user}", set(owned) == {machine.agent_user}, lambda: at.run(*own))
    if has_systemd(at):
        _install_file(at, "the systemd unit", UNIT, _unit(machine), "644")
        at.step("reload systemd", at.dry_run, lambda: at.run("systemctl", "daemon-reload"))


def start(at: Session) -> str:
    """Start the agent, if it does not run; how it is kept running."""
    if running(at):
        return "runs already"
    if has_systemd(at):
        at.step("start modescope-agent.service", False, lambda: at.run("systemctl", "enable", "--now", UNIT_NAME))
        return "started by systemd"
    home, name = at.machine.home, at.machine.name
    loop = shlex.join(["setsid", f"{home}/agent-loop", home, name])
    line = f"nohup {loop} </dev/null >>{shlex.quote(f'{home}/agent.log')} 2>&1 &"
    at.step("start the agent", False, lambda: at.shell(line))
    return "started without systemd: a plain process, kept by agent-loop, and gone after a reboot"


def stop(at: Session) -> str:
    """Stop the agent; the run in flight may end, for at most a minute."""
    if not running(at):
        return "does not run"
    if has_systemd(at):
        at.step("stop modescope-agent.service", False, lambda: at.run("systemctl", "disable", "--now", UNIT_NAME))
        return "stopped"
    pid = at.run("cat", f"{at.machine.home}/agent.pid").stdout.strip()
    at.step(f"stop process {pid}", False, lambda: _end(at, pid))
    return "stopped"


def running(at: Session) -> bool:
    """Is the agent kept running on this node?"""
    if has_systemd(at):
        return at.ok("systemctl", "is-active", "--quiet", UNIT_NAME)
    pid = at.run("cat", f"{at.machine.home}/agent.pid", check=False).stdout.strip()
    return pid.isdigit() and b"agent-loop" in at.run("cat", f"/proc/{pid}/cmdline", check=False).stdout.encode()


def has_systemd(at: Session) -> bool:
    """Is the agent kept by systemd on this node?"""
    return at.machine.systemd and at.ok("test", "-d", "/run/systemd/system")


def build_wheel(folder: Path) -> Path:
    """Build the package of this checkout. Raises MissingPartError when there is none, or it cannot be built."""
    if not (CHECKOUT / "pyproject.toml").exists():
        raise MissingPartError("fleet provision wants --wheel FILE: Modescope does not run from a checkout here")
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(CHECKOUT)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MissingPartError(f"the wheel cannot be built: {done.stderr.strip().splitlines()[-1]}")
    return next(folder.glob("modescope-*.whl"))


def _check_space(at: Session, wheel: Path) -> None:
    """Better said before than in the middle. What is installed already needs no more."""
    home = at.machine.home
    if at.same(f"{home}/venv/{_MARK}", _digest(wheel)) or not at.ok("test", "-d", home):
        return
    free_kb = int(at.run("df", "--output=avail", "--block-size=1024", home).stdout.split()[-1])
    if free_kb < NEEDED_KB:
        raise NodeError(f"disk full: {home} has {free_kb} kB free, and {NEEDED_KB} kB are needed; make room")


def _digest(wheel: Path) -> str:
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def _install_package(at: Session, wheel: Path, venv: str) -> None:
    """The same wheel is not installed again: its digest is kept beside the virtual environment."""
    digest = _digest(wheel)
    mark, there = f"{venv}/{_MARK}", f"{at.machine.home}/{wheel.name}"

    def install() -> None:
        try:
            at.connection.put(str(wheel), there)
        except OSError as problem:
            raise NodeError(f"{there}: cannot be written: {at.why_not(there)}") from problem
        pip = (f"{venv}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        at.run(*pip, "--no-deps", "--force-reinstall", there)  # a rebuilt wheel may carry the same version
        at.run(*pip, there)
        at.put(digest, mark, "644")

    at.step(f"install {wheel.name}", at.same(mark, digest), install)


def _install_file(at: Session, what: str, path: str, text: str, mode: str) -> None:
    at.step(f"install {what} ({path})", at.same(path, text), lambda: at.put(text, path, mode))


def _run_script(at: Session, text: str, path: str) -> None:
    at.put(text, path, "755")
    at.run(path)


def _environment(fleet: Fleet, machine: Machine) -> str:
    values = {
        "MODESCOPE_DATABASE_URL": fleet.database_url,
        "MODESCOPE_REDIS_URL": fleet.redis_url,
        "MODESCOPE_HOME": machine.home,
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())


def _list_targets(at: Session) -> None:
    at.run("mkdir", "-p", "/etc/modescope")
    at.put(f"{at.machine.home}/target\n", "/etc/modescope/targets", "644")


def _unit(machine: Machine) -> str:
    unit = _deployed("modescope-agent.service")
    for mark, value in {"@USER@": machine.agent_user, "@HOME@": machine.home, "@NODE@": machine.name}.items():
        unit = unit.replace(mark, value)
    return unit


def _end(at: Session, pid: str) -> None:
    at.run("kill", "-TERM", pid)
    waiting = shlex.join(["tail", f"--pid={pid}", "-f", "/dev/null"])
    if at.shell(f"timeout {STOP_TIMEOUT_S} {waiting}", check=False).failed:
        raise NodeError(f"process {pid} does not end within {STOP_TIMEOUT_S} s")


def _deployed(name: str) -> str:
    try:
        return (CHECKOUT / "deploy" / name).read_text()
    except OSError as problem:
        raise MissingPartError(f"deploy/{name} is missing: run `modescope fleet` from a checkout") from problem
