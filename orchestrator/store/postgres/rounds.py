"""Campaigns that grow in rounds: each decision is one call of a function in migrations/functions/rounds.sql."""

from __future__ import annotations

import json

from sqlalchemy import select, text

from orchestrator.contracts.rounds import Decision, Due, Round
from orchestrator.store.models import Round as Row
from orchestrator.store.postgres.connection import Database

_DUE = text("SELECT campaign_id, number FROM rounds_due()")
_DECIDE = text("""
    SELECT decide_round(:campaign, :number, CAST(:settings AS integer[]), CAST(:replicates AS integer[]),
                        CAST(:record AS jsonb))
""")


class PostgresRounds:
    """Due, decide, look back."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def due(self) -> list[Due]:
        """Rounds that are over and of which nobody has decided what follows."""
        with self._database.reading() as connection:
            return [Due(campaign_id=row.campaign_id, number=row.number) for row in connection.execute(_DUE)]

    def decide(self, campaign_id: int, decision: Decision) -> bool:
        """Do what was decided, whole; False when somebody has decided, or the round is not over."""
        named = {
            "campaign": campaign_id,
            "number": decision.number,
            "settings": list(decision.replicates.keys()),
            "replicates": list(decision.replicates.values()),
            "record": json.dumps(dict(decision.record), allow_nan=False),
        }
        with self._database.writing() as connection:
            return bool(connection.execute(_DECIDE, named).scalar_one())

    def of_campaign(self, campaign_id: int) -> list[Round]:
        """The rounds that have ended, in order."""
        query = select(Row.__table__).where(Row.campaign_id == campaign_id).order_by(Row.number)
        with self._database.reading() as connection:
            return [
                Round(
                    number=row.number,
                    decided_at=row.decided_at.timestamp(),
                    settings=row.settings,
                    runs=row.runs,
                    record=row.record,
                )
                for row in connection.execute(query)
            ]
