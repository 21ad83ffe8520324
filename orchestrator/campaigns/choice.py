"""What an active campaign has come to: how much of it was measured, how well the rest is predicted, hours saved."""

from __future__ import annotations

from typing import Any

from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.rounds import ACTIVE, Choice
from orchestrator.store.ports import Store


def choice(store: Store, campaign_id: int) -> Choice:
    """From the records of its rounds: no row of a configuration is read.

    Raises NotFoundError, and ConflictError where the study is not active.
    """
    campaign = store.campaigns.get(campaign_id)
    options: Any = store.campaigns.study(campaign_id).study.get(ACTIVE)
    if options is None:
        raise ConflictError(f"campaign {campaign_id} does not choose its settings: its study has no `active:`")
    rounds = tuple(store.rounds.of_campaign(campaign_id))
    last = rounds[-1] if rounds else None
    found: Any = {} if last is None else last.record
    return Choice(
        rounds=rounds,
        over=campaign.state is not State.RUNNING,
        options=options,
        settings=campaign.settings if last is None else found["measured"] + found["left"],
        measured=None if last is None else found["measured"] + last.settings,
        expected_distance=found.get("expected_distance"),
        saved_node_hours=found.get("saved_node_hours"),
        unpredictable=found.get("unpredictable"),
    )
