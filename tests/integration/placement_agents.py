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


def serve(settings: Settings, name: str) -> None:
    """Be the agent of one node; returns when it was told to stop."""
    root = settings.home / "root"
    execute.prepared = functools.partial(execute.prepared, root=root, hands=Kernel())  # type: ignore[assignment]
    tasks.serve_node(wiring.open_agent(settings, name), settings.redis_url)


def main() -> None:
    folder, *names = sys.argv[1:]
    settings = Settings.from_environment()
    log_to_stderr("agent", verbose=False)
    children = []
    for name in names:
        child = os.fork()
        if child == 0:
            serve(replace(settings, home=Path(folder) / name), name)
            sys.exit()
        (Path(folder) / name / "pid").write_text(str(child))
        children.append(child)
    signal.signal(signal.SIGTERM, lambda *_: [os.kill(child, signal.SIGTERM) for child in children])
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
