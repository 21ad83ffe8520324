"""Versions of a campaign's analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select

from orchestrator.contracts.access import Act, Deed
from orchestrator.contracts.analyses import AnalysisVersion, options_digest
from orchestrator.contracts.campaigns import State, Submission
from orchestrator.contracts.errors import ConflictError, NotFoundError
from orchestrator.store.models import AnalysisVersion as Row
from orchestrator.store.models import Campaign as CampaignRow
from orchestrator.store.postgres import audit
from orchestrator.store.postgres.archive import refuse_archived
from orchestrator.store.postgres.connection import Database
from orchestrator.store.rules import changed_options, no_campaign, no_version, same_options, still_running


class PostgresVersions:
    """Look, make, show."""

    def __init__(self, database: Database, act: Act | None = None) -> None:
        self._database = database
        self._act = act

    def of_campaign(self, campaign_id: int) -> list[AnalysisVersion]:
        """In order, the first as submitted."""
        with self._database.reading() as connection:
            shown = connection.execute(
                select(CampaignRow.analysis_version).where(CampaignRow.id == campaign_id)
            ).scalar_one_or_none()
            if shown is None:
                raise NotFoundError(no_campaign(campaign_id))
            return _versions(connection, campaign_id, shown)

    def make(self, campaign_id: int, options: Mapping[str, Any], why: str) -> AnalysisVersion:
        """Analyse its samples anew with these options, and show that."""
        digest = options_digest(options)
        with self._database.writing() as connection:
            known = _changeable(connection, campaign_id)
            same = [one.number for one in known if one.digest == digest]
            if same:
                raise ConflictError(same_options(campaign_id, same[0]))
            number = len(known) + 1
            row = {"campaign_id": campaign_id, "number": number, "options": dict(options), "digest": digest, "why": why}
            connection.execute(insert(Row), row)
            return self._show(connection, campaign_id, number)

    def show(self, campaign_id: int, number: int) -> AnalysisVersion:
        """Show this version."""
        with self._database.writing() as connection:
            if number not in [one.number for one in _changeable(connection, campaign_id)]:
                raise NotFoundError(no_version(campaign_id, number))
            return self._show(connection, campaign_id, number)

    def _show(self, connection: Connection, campaign_id: int, number: int) -> AnalysisVersion:
        connection.execute(select(func.show_version(campaign_id, number)))
        audit.write(connection, self._act, Deed.ANALYSIS_CHANGED, f"campaign {campaign_id}, version {number}")
        return _versions(connection, campaign_id, number)[number - 1]


def submitted(campaign_id: int, submission: Submission) -> list[dict[str, Any]]:
    """The rows of what is submitted: one, but for a campaign that was analysed elsewhere before."""
    known = submission.analysis_versions or [(submission.analysis_options, "")]
    return [
        {"campaign_id": campaign_id, "number": place + 1, "options": dict(options), "why": why,
         "digest": options_digest(options)}
        for place, (options, why) in enumerate(known)
    ]  # fmt: skip


def _changeable(connection: Connection, campaign_id: int) -> list[AnalysisVersion]:
    """Its versions, held until the end of the transaction. Raises NotFoundError, ConflictError."""
    query = select(CampaignRow.state, CampaignRow.archive, CampaignRow.analysis_version)
    row = connection.execute(query.where(CampaignRow.id == campaign_id).with_for_update()).one_or_none()
    if row is None:
        raise NotFoundError(no_campaign(campaign_id))
    refuse_archived(campaign_id, row.archive)
    if row.state == State.RUNNING:
        raise ConflictError(still_running(campaign_id))
    return _versions(connection, campaign_id, row.analysis_version)


def _versions(connection: Connection, campaign_id: int, shown: int) -> list[AnalysisVersion]:
    query = select(Row.__table__).where(Row.campaign_id == campaign_id).order_by(Row.number)
    rows: Sequence[Any] = connection.execute(query).all()
    return [
        AnalysisVersion(
            number=row.number,
            exploratory=row.number > 1,
            options=row.options,
            digest=row.digest,
            changed=changed_options(rows[0].options, row.options),
            why=row.why,
            made_at=row.made_at.timestamp(),
            shown=row.number == shown,
        )
        for row in rows
    ]
