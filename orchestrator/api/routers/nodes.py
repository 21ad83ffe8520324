"""Nodes: who can do the work."""

from __future__ import annotations

from fastapi import APIRouter

from orchestrator.api.access import Ledger, may
from orchestrator.api.models import Page
from orchestrator.contracts.access import Scope
from orchestrator.contracts.nodes import Node

router = APIRouter(prefix="/nodes", tags=["nodes"], dependencies=[may(Scope.READ)])


@router.get("")
def all_nodes(store: Ledger) -> Page[Node]:
    """Every node ever heard of, by name."""
    return Page(items=tuple(store.nodes.all()))


@router.post("/{name}/reinstate", dependencies=[may(Scope.OPERATE)])
def reinstate(name: str, store: Ledger) -> Node:
    """Let a quarantined or draining node work again."""
    return store.nodes.reinstate(name)
