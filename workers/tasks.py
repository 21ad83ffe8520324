"""What Celery calls. A task reads the ledger again before it does anything: its message was only a hint."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from celery import signals

from orchestrator import queue
from orchestrator.contracts import tasks
from workers import stop_line
from workers.agent import REST_S, Agent

if TYPE_CHECKING:
    from workers.analyse import Analyst  # SciPy: an agent, which forks its benchmarks, is half the size without it

logger = logging.getLogger(__name__)

HEARD_EVERY_S = 10.0
"""An idle agent says so; an idle analysis worker looks for work that no hint told it about."""


def serve_node(agent: Agent, redis_url: str) -> None:
    """Be the worker of one node until told to stop."""
    app = queue.celery_app(redis_url)
    app.task(name=tasks.RUN_JOB)(agent.run_job)
    signals.worker_shutting_down.connect(lambda **_: agent.leave(), weak=False)
    agent.start()
    chores = {HEARD_EVERY_S: agent.idle, REST_S: agent.rest}
    stop_line.listen(redis_url, agent.node, agent.look_up)
    try:
        queue.work(app, tasks.node_queue(agent.node), name=f"agent@{agent.node}", chores=chores)
    finally:
        agent.close()


def serve_analysis(analyst: Analyst, redis_url: str) -> None:
    """Be an analysis worker until told to stop."""
    app = queue.celery_app(redis_url)
    app.task(name=tasks.ANALYSE)(analyst.work)
    signals.worker_shutting_down.connect(lambda **_: analyst.leave(), weak=False)
    queue.work(app, tasks.ANALYSIS_QUEUE, name="analysis", chores={HEARD_EVERY_S: analyst.work})
