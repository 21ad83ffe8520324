"""Nodes: who measures, how they differ, and taking one out of work."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from orchestrator.api.access import Ledger, may
from orchestrator.contracts.access import Scope
from orchestrator.web.content import nodes as content
from orchestrator.web.forms import own_form, see
from orchestrator.web.rendering import page

router = APIRouter(prefix="/nodes", dependencies=[may(Scope.READ)])
OPERATE = [may(Scope.OPERATE), own_form()]
Name = Annotated[str, Path(max_length=200)]


@router.get("")
def nodes(request: Request, store: Ledger) -> Response:
    """All of them."""
    return page(request, "nodes.html", lines=content.gather(store))


@router.get("/{name}")
def node(request: Request, name: Name, store: Ledger) -> Response:
    """One, beside the others."""
    return page(request, "node.html", content=content.one(store, name))


@router.post("/{name}/drain", dependencies=OPERATE)
def drain(name: Name, store: Ledger) -> Response:
    """Give it no more work."""
    return see(f"/nodes/{store.nodes.drain(name).name}")


@router.post("/{name}/resume", dependencies=OPERATE)
def resume(name: Name, store: Ledger) -> Response:
    """Let it work again."""
    return see(f"/nodes/{store.nodes.reinstate(name).name}")
