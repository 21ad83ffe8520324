"""What Celery calls. A task reads the ledger again before it does anything: its message was only a hint."""

from __future__ import annotations

import logging

from celery import signals

from orchestrator import queue
from orchestrator.contracts import tasks
from workers import stop_line
from workers.agent import Agent
from workers.analyse import Analyst

logger = logging.getLogger(__name__)


def serve_node(agent: Agent, redis_url: str) -> None:
    """Be the worker of one node until told to stop."""
    app = queue.celery_app(redis_url)
    app.task(name=tasks.RUN_JOB)(agent.run_job)
    signals.worker_shutting_down.connect(lambda **_: agent.leave(), weak=False)
    agent.start()
    stop_line.listen(redis_url, agent.node, agent.look_up)
    try:
        queue.work(app, tasks.node_queue(agent.node), name=f"agent@{agent.node}", on_idle=agent.idle)
    finally:
        agent.close()


def serve_analysis(analyst: Analyst, redis_url: str) -> None:
    """Be an analysis worker until told to stop."""
    app = queue.celery_app(redis_url)
    app.task(name=tasks.ANALYSE)(analyst.work)
    signals.worker_shutting_down.connect(lambda **_: analyst.leave(), weak=False)
    queue.work(app, tasks.ANALYSIS_QUEUE, name="analysis", on_idle=analyst.work)
