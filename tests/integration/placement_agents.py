"""Agents for a test, each on a fake machine of its own: `python placement_agents.py FOLDER NAME...`, killed by SIGTERM.

One process imports everything, and forks once a node: twelve agents start in the time of one. Each has the home
FOLDER/NAME, and its settings are made in the tree FOLDER/NAME/root in the place of /.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from orchestrator.logs import log_to_stderr
from orchestrator.settings import Settings
from tests.unit.workers.machines import Kernel
from workers import execute, tasks, wiring

COMES_BACK = "comes-back"
"""A file in a node's home: killed, its agent is started anew."""


def serve(settings: Settings, name: str) -> None:
    """Be the agent of one node; returns when it was told to stop."""
    root = settings.home / "root"
    execute.prepared = functools.partial(execute.prepared, root=root, hands=Kernel())  # type: ignore[assignment]
    tasks.serve_node(wiring.open_agent(settings, name), settings.redis_url)


def main() -> None:
    folder, *names = sys.argv[1:]
    settings = Settings.from_environment()
    log_to_stderr("agent", verbose=False)
    children = {begin(settings, Path(folder), name): name for name in names}
    signal.signal(signal.SIGTERM, lambda *_: [os.kill(child, signal.SIGTERM) for child in children])
    while children:
        child, status = os.wait()
        name = children.pop(child)
        if os.WIFSIGNALED(status) and (Path(folder) / name / COMES_BACK).exists():
            children[begin(settings, Path(folder), name)] = name


def begin(settings: Settings, folder: Path, name: str) -> int:
    """Fork the agent of one node; its process id, which is written down."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        serve(replace(settings, home=folder / name), name)
        sys.exit()
    (folder / name / "pid").write_text(str(child))
    return child


if __name__ == "__main__":
    main()
