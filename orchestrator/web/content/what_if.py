"""What if other nodes worked on a campaign, or another number of replicates was wanted?"""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import words
from orchestrator.contracts.rates import Forecast
from orchestrator.store.ports import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What was asked, and what would be."""

    nodes: int
    replicates: int | None
    sentence: str


def answer(store: Store, campaign_id: int, *, nodes: int, replicates: int | None) -> Answer:
    """The time left if it were so. Raises NotFoundError."""
    from orchestrator.campaigns.forecast import WhatIf, ask  # numbers are loaded when somebody asks

    found = ask(store, campaign_id, WhatIf(nodes=nodes, replicates=replicates))
    return Answer(nodes=nodes, replicates=replicates, sentence=_sentence(found))


def _sentence(found: Forecast) -> str:
    if found.time_left_s is None:
        return f"Nobody can tell: {found.reason}"
    left = words.span(found.time_left_s, found.time_left_low_s, found.time_left_high_s)
    return f"Time left would be {left}, on {words.counted(found.nodes, 'node')}"
