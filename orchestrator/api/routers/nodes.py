"""Nodes: who can do the work."""

from __future__ import annotations

from fastapi import APIRouter

from orchestrator.api.access import Ledger
from orchestrator.api.models import Page
from orchestrator.contracts.nodes import Node

router = APIRouter(prefix="/nodes", tags=["nodes"])


@router.get("")
def all_nodes(store: Ledger) -> Page[Node]:
    """Every node ever heard of, by name."""
    return Page(items=tuple(store.nodes.all()))


@router.post("/{name}/reinstate")
def reinstate(name: str, store: Ledger) -> Node:
    """Let a quarantined or draining node work again."""
    return store.nodes.reinstate(name)
