"""Where ports meet adapters: the only place in `orchestrator` that chooses one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.queue import Publisher
from orchestrator.settings import Settings
from orchestrator.store import schema
from orchestrator.store.ports import Store
from orchestrator.store.postgres import PostgresStore

if TYPE_CHECKING:
    from orchestrator.campaigns.controller import Controller


def open_store(settings: Settings, *, keep: int = 0) -> Store:
    """The ledger, checked to have the schema this code was written for.

    `keep`: connections held open between calls. Raises SchemaError, UnavailableError.
    """
    schema.require_current(settings.database_url)
    return PostgresStore(settings.database_url, keep=keep)


def open_controller(settings: Settings) -> Controller:
    """The controller on the real ledger and the real queue."""
    from orchestrator.campaigns.controller import Controller  # with SciPy, which who opens a ledger alone does without

    return Controller(open_store(settings, keep=1), Publisher(settings.redis_url))
