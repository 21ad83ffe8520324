"""While a run is on, its agent neither wakes up nor speaks; with real PostgreSQL, Redis and Celery."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import bench_node


def test_an_agent_is_silent_while_a_run_is_on(require_program: Callable[[str], Path]) -> None:
    require_program("iozone")
    switches_per_s, network_calls = bench_node.observed()
    assert switches_per_s <= 1.0
    assert network_calls in (0, None), "None: there is no strace to count them with"
