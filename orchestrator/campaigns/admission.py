"""Which studies are let in: one that no node can run would only wait."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.errors import MissingPartError
from orchestrator.contracts.nodes import Node


def check_engines(submission: Submission, nodes: Sequence[Node]) -> None:
    """Raise MissingPartError when no known node has an engine the study needs.

    While no node is known at all the study is let in: its nodes may be installed after it.
    """
    wanted = {setting.control is None for setting in submission.design.settings}
    engines = {submission.engine if measured else CONTROL_ENGINE for measured in wanted}
    offered = {engine for node in nodes for engine in node.engines}
    missing = sorted(engines - offered)
    if nodes and missing:
        known = ", ".join(sorted(offered)) or "none at all"
        raise MissingPartError(f"engine: no node has {missing[0]!r}, only {known}; {_remedy(missing[0])}")


CONTROL_ENGINE = "replay"
"""Plays the synthetic controls of every study."""


def _remedy(engine: str) -> str:
    if engine == "iozone":
        return "install it on a node with deploy/install-iozone, or choose another engine"
    return "choose one of these, or start an agent that has it"
