"""Nodes: who can do the work."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from orchestrator.api import openapi, paging
from orchestrator.api.access import Ledger, may
from orchestrator.api.models import Page
from orchestrator.contracts.access import Scope
from orchestrator.contracts.nodes import Node

router = APIRouter(prefix="/nodes", tags=["nodes"], dependencies=[may(Scope.READ)])
NodeName = Annotated[str, Path(max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]


@router.get("")
def all_nodes(store: Ledger, cursor: paging.Cursor = None, limit: paging.Limit = paging.PAGE) -> Page[Node]:
    """Every node ever heard of, by name."""
    (behind,) = paging.after(cursor, str) or ("",)
    return paging.of_all(store.nodes.all(), limit, lambda node: (node.name,), lambda node: node.name > str(behind))


@router.post("/{name}/drain", dependencies=[may(Scope.OPERATE)], responses=openapi.NOT_FOUND)
def drain(name: NodeName, store: Ledger) -> Node:
    """Give a node no more work; it ends the job it holds."""
    return store.nodes.drain(name)


@router.post("/{name}/reinstate", dependencies=[may(Scope.OPERATE)], responses=openapi.NOT_FOUND)
def reinstate(name: NodeName, store: Ledger) -> Node:
    """Let a quarantined or draining node work again."""
    return store.nodes.reinstate(name)
