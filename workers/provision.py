"""Install Modescope on a node.

Every step looks before it acts, so that a second run changes nothing; `dry_run` says what would be done. What root runs
later (virtual environment, agent-loop) stays root's: only spool and target folder belong to the agent's user.
"""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.errors import MissingPartError
from workers import service
from workers.fleet import Fleet, Machine
from workers.remote import NodeError, Session

CHECKOUT = Path(__file__).parents[1]
HELPER = "/usr/local/sbin/modescope-root-helper"
SUDOERS = "/etc/sudoers.d/modescope"
TARGETS = "/etc/modescope/targets"
UNIT = f"/etc/systemd/system/{service.UNIT_NAME}"
NEEDED_KB = 700_000
"""Of a virtual environment with everything in it, and what pip unpacks meanwhile."""
_MARK = "modescope.sha256"


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """What is installed: a wheel or source distribution of Modescope, and the versions of everything it needs."""

    file: Path
    constraints: str

    @property
    def digest(self) -> str:
        """Of both."""
        return hashlib.sha256(self.file.read_bytes() + self.constraints.encode()).hexdigest()


def package(file: Path | None, folder: Path) -> Package:
    """The given file, or a wheel of this checkout that is built in `folder`. Raises MissingPartError."""
    return Package(file=file or _build_wheel(folder), constraints=_ours("constraints.txt"))


def provision(at: Session, fleet: Fleet, what: Package) -> str:
    """Install everything an agent needs; whether anything was to do. Raises NodeError."""
    machine = at.machine
    as_root = service.is_root(at)
    if not as_root and machine.agent_user != machine.user:
        raise NodeError(
            f"the agent's user is {machine.agent_user}: log in as root, or set `agent_user: {machine.user}`"
        )
    at.run("sh", "-c", _ours("deploy/check-python"), "check-python", machine.python)
    if as_root and machine.agent_user != "root":
        add = ("useradd", "--system", "--user-group", "--home-dir", machine.home, "--shell", "/usr/sbin/nologin")
        user = machine.agent_user
        at.step(f"add the user {user}", at.ok("id", user), lambda: at.run(*add, user))
    _make_folders(at)
    _install_package(at, what)
    group = at.run("id", "-gn", machine.agent_user, check=False).stdout.strip() or None
    _install_file(at, "agent.env", f"{machine.home}/agent.env", environment(fleet, machine), "640", group=group)
    _install_file(at, "agent-loop", f"{machine.home}/agent-loop", _ours("deploy/modescope-agent-loop"), "755")
    script = ("sh", "-c", _ours("deploy/install-iozone"))
    at.step("install IOzone", at.shell("command -v iozone", check=False).ok, lambda: at.run(*script))
    if as_root and machine.root_helper:
        _install_helper(at)
    if as_root and service.has_systemd(at):
        reload = ("systemctl", "daemon-reload")
        if _install_file(at, "the systemd unit", UNIT, unit(machine), "644") and not at.dry_run:
            at.run(*reload)
    return _outcome(at)


def _outcome(at: Session) -> str:
    if not at.steps:
        return "already there, nothing to do"
    return f"would be ready after {len(at.steps)} steps" if at.dry_run else "ready"


def _make_folders(at: Session) -> None:
    machine = at.machine
    at.step(f"make {machine.home}", at.ok("test", "-d", machine.home), lambda: at.run("mkdir", "-p", machine.home))
    for folder in (f"{machine.home}/nodes", f"{machine.home}/target"):
        owned = at.run("stat", "-c", "%U", folder, check=False).stdout.strip() == machine.agent_user
        make = ("install", "-d", "-o", machine.agent_user, folder)
        at.step(f"make {folder} for {machine.agent_user}", owned, lambda make=make: at.run(*make))  # type: ignore[misc]


def _install_package(at: Session, what: Package) -> None:
    """The same files are not installed again: their digest is kept beside the virtual environment."""
    home, venv = at.machine.home, f"{at.machine.home}/venv"
    mark, there, pins = f"{venv}/{_MARK}", f"{home}/{what.file.name}", f"{home}/constraints.txt"
    if at.same(mark, what.digest, "644"):
        return
    if service.running(at):
        raise NodeError("the agent runs, and would be changed under its feet: `modescope fleet drain` and `stop` first")
    _check_space(at)

    def install() -> None:
        at.upload(str(what.file), there)
        at.put(what.constraints, pins, "644")
        pip = (f"{venv}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        at.run(*pip, "--no-deps", "--force-reinstall", there)  # a rebuilt wheel may carry the same version
        at.run(*pip, "--constraint", pins, there)
        at.put(what.digest, mark, "644")

    make = (at.machine.python, "-m", "venv", venv)
    at.step("make a virtual environment", at.ok("test", "-e", f"{venv}/pyvenv.cfg"), lambda: at.run(*make))
    at.step(f"install {what.file.name} with the versions of constraints.txt", False, install)


def _check_space(at: Session) -> None:
    """Better said before than in the middle."""
    nearest = f'd={at.machine.home}; while [ ! -d "$d" ]; do d=$(dirname "$d"); done; '
    free_kb = int(at.shell(nearest + 'df --output=avail --block-size=1024 "$d"').stdout.split()[-1])
    if free_kb < NEEDED_KB:
        home = at.machine.home
        raise NodeError(f"disk full: {home} has {free_kb} kB free, and {NEEDED_KB} kB are needed; make room")


def _install_helper(at: Session) -> None:
    """The one program that root lends to the agent's user, and the sudoers rule that lends it."""
    at.run("sh", "-c", 'command -v visudo >/dev/null || { echo "sudo is missing: apt-get install sudo" >&2; exit 1; }')
    _install_file(at, "the root helper", HELPER, _ours("deploy/modescope-root-helper"), "755")
    rule = _ours("deploy/modescope.sudoers").replace("modescope ALL", f"{at.machine.agent_user} ALL")
    _install_file(at, "its sudoers file", SUDOERS, rule, "440", checked_by=("visudo", "-c", "-q", "-f"))

    def list_targets() -> None:
        at.run("mkdir", "-p", str(Path(TARGETS).parent))
        at.put(f"{at.machine.home}/target\n", TARGETS, "644")

    at.step(f"list {at.machine.home}/target in {TARGETS}", at.ok("test", "-e", TARGETS), list_targets)


def _install_file(
    at: Session,
    what: str,
    path: str,
    text: str,
    mode: str,
    *,
    group: str | None = None,
    checked_by: tuple[str, ...] = (),
) -> bool:
    """Put a file of ours in place; was it to do?"""
    same = at.same(path, text, mode)
    put = lambda: at.put(text, path, mode, group=group, checked_by=checked_by)  # noqa: E731
    at.step(f"install {what} ({path})", same, put)
    return not same


def environment(fleet: Fleet, machine: Machine) -> str:
    """What the agent on this node starts with. Raises NodeError where its own user is missing."""
    home = f"MODESCOPE_HOME={shlex.quote(machine.home)}\n"
    if fleet.secrets is not None:
        return _own_addresses(fleet.secrets, machine.name) + home
    values = {"MODESCOPE_DATABASE_URL": fleet.database_url, "MODESCOPE_REDIS_URL": fleet.redis_url}
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items()) + home


def _own_addresses(secrets: Path, node: str) -> str:
    """What `modescope rights` wrote for this node."""
    file = secrets / f"node-{node}.env"
    try:
        return file.read_text()
    except OSError as problem:
        raise NodeError(f"{file} cannot be read: run `modescope rights --out {secrets} ... {node}`") from problem


def unit(machine: Machine) -> str:
    """The systemd unit of this node's agent."""
    text = _ours(f"deploy/{service.UNIT_NAME}")
    for mark, value in {"@USER@": machine.agent_user, "@HOME@": machine.home, "@NODE@": machine.name}.items():
        text = text.replace(mark, value)
    return text


def _build_wheel(folder: Path) -> Path:
    if not (CHECKOUT / "pyproject.toml").exists():
        raise MissingPartError("fleet provision wants --wheel FILE: Modescope does not run from a checkout here")
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(CHECKOUT)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MissingPartError(f"the wheel cannot be built: {done.stderr.strip().splitlines()[-1]}")
    return next(folder.glob("modescope-*.whl"))


def _ours(name: str) -> str:
    try:
        return (CHECKOUT / name).read_text()
    except OSError as problem:
        raise MissingPartError(f"{name} is missing: run `modescope fleet` from a checkout") from problem
