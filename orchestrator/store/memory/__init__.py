"""The store without a database: the same rules, in one process."""

from orchestrator.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
