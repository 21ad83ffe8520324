"""The parts of an embedded service that are Modescope's own: each is a `modescope` command with its environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.embedded.children import Part, Role
from orchestrator.embedded.home import Home

AGENT_GRACE_S = 75.0
"""An agent ends after the run in flight, or after 60 s."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Commands:
    """`modescope` commands as parts of the service in one home."""

    home: Home
    environment: Mapping[str, str]

    def api(self, port: int) -> Part:
        """The REST interface on the loopback device."""
        return self._part(Role.API, "api", "api", "--host", "127.0.0.1", "--port", str(port))

    def controller(self) -> Part:
        """Dispatches and reconciles."""
        return self._part(Role.CONTROLLER, "controller", "controller")

    def agent(self, node: str) -> Part:
        """Carries out jobs as this node."""
        return self._part(Role.AGENT, f"agent-{node}", "agent", "--node", node, grace_s=AGENT_GRACE_S)

    def analysis_worker(self) -> Part:
        """Fits what is complete."""
        return self._part(Role.ANALYSIS, "analysis-worker", "analysis-worker")

    def _part(self, role: Role, name: str, *arguments: str, grace_s: float = 10.0) -> Part:
        return Part(
            role=role,
            name=name,
            command=(sys.executable, "-m", "orchestrator.cli.main", *arguments),
            log=self.home.logs / f"{name}.log",
            environment=self.environment,
            grace_s=grace_s,
        )


def environment(*, home: Path, database_url: str, redis_url: str, token: str) -> dict[str, str]:
    """Ours on top of the caller's; without what would redirect libpq or widen the numeric libraries."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    ours = {
        "MODESCOPE_HOME": str(home),
        "MODESCOPE_DATABASE_URL": database_url,
        "MODESCOPE_REDIS_URL": redis_url,
        "MODESCOPE_TOKEN": token,
        # One thread per process: the parts share the machine with what is measured.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    return {**inherited, **ours}
