"""Where ports meet adapters: the only place in `workers` that chooses one."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from orchestrator.settings import Settings
from orchestrator.store import schema
from orchestrator.store.postgres import PostgresStore
from workers.agent import Agent

if TYPE_CHECKING:
    from workers.analyse import Analyst


def open_agent(settings: Settings, node: str) -> Agent:
    """The agent of `node`; it holds one connection, and none while it measures. Raises SchemaError, ConflictError."""
    schema.require_current(settings.database_url)
    store = PostgresStore(settings.database_url, keep=1)
    return Agent(store, node=node, home=settings.home, shared=settings.shares_machine)


def open_analyst(settings: Settings, *, processes: int) -> Analyst:
    """An analysis worker on the ledger."""
    from workers.analyse import Analyst

    schema.require_current(settings.database_url)
    return Analyst(PostgresStore(settings.database_url, keep=1), processes=processes)


def open_ledger(database_url: str) -> closing[PostgresStore]:
    """The ledger, for as long as a command needs it. Raises SchemaError, UnavailableError."""
    schema.require_current(database_url)
    return closing(PostgresStore(database_url, keep=1))
