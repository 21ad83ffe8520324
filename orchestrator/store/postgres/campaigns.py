"""Studies as submitted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, cast

import psycopg
from sqlalchemy import Connection, func, insert, null, select, text, update

from orchestrator.contracts.access import Act, Deed
from orchestrator.contracts.campaigns import (
    Campaign,
    Configuration,
    Event,
    EventKind,
    ExportRow,
    Progress,
    State,
    Submission,
)
from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.errors import ConflictError, NotFoundError
from orchestrator.contracts.findings import ConfigurationPage
from orchestrator.contracts.jobs import OPEN
from orchestrator.contracts.rounds import Growth
from orchestrator.store.models import AnalysisVersion as VersionRow
from orchestrator.store.models import Campaign as CampaignRow
from orchestrator.store.models import CampaignNode, Job, Node
from orchestrator.store.models import Event as EventRow
from orchestrator.store.models import Setting as SettingRow
from orchestrator.store.postgres import audit, export, progress, rows, versions
from orchestrator.store.postgres.archive import refuse_archived
from orchestrator.store.postgres.connection import Database
from orchestrator.store.rules import no_campaign, no_configuration, places_of

MANY_JOBS = 10_000
"""So many are made known to the planner at once: autovacuum would take a minute to come by."""
_LONG = frozenset({"study", "engine_options", "node_options", "analysis_options", "controls"})
"""Columns that may be long, and that no list shows."""
_SHOWN = select(
    *(column for column in CampaignRow.__table__.columns if column.name not in _LONG),
    func.jsonb_exists(CampaignRow.study, "canaries").label("has_canaries"),
)


class PostgresCampaigns:
    """Campaigns, their settings, and what became of them."""

    def __init__(self, database: Database, act: Act | None = None) -> None:
        self._database = database
        self._act = act

    def submit(self, submission: Submission) -> tuple[Campaign, bool]:
        """Store a campaign with its settings and jobs, all or nothing; True when it is new."""
        earlier = self._submitted_before(submission)
        if earlier is not None:
            return earlier, False
        try:
            with self._database.writing() as connection:
                campaign_id = connection.execute(
                    insert(CampaignRow).returning(CampaignRow.id), _row(submission)
                ).scalar_one()
                connection.execute(insert(VersionRow), versions.submitted(campaign_id, submission))
                _copy_settings(connection, campaign_id, submission.design)
                _copy_jobs(connection, campaign_id, submission)
                if len(submission.jobs) >= MANY_JOBS:
                    connection.execute(text("ANALYZE settings, jobs"))
                self._audit(connection, Deed.CAMPAIGN_SUBMITTED, campaign_id)
        except ConflictError:
            earlier = self._submitted_before(submission)  # another request with this key came first
            if earlier is None:
                raise
            return earlier, False
        return self.get(campaign_id), True

    def get(self, campaign_id: int) -> Campaign:
        """Raises NotFoundError."""
        with self._database.calling() as connection:
            return _known(connection, campaign_id)

    def all(self) -> list[Campaign]:
        """Newest first."""
        with self._database.calling() as connection:
            found = connection.execute(_SHOWN.order_by(CampaignRow.id.desc()))
            return [rows.campaign(row) for row in found]

    def study(self, campaign_id: int) -> Submission:
        """What was submitted, without its jobs."""
        with self._database.reading() as connection:
            _factors_in_ledger(connection, campaign_id)
            row = connection.execute(select(CampaignRow.__table__).where(CampaignRow.id == campaign_id)).one()
        return Submission(
            name=row.name,
            study=row.study,
            design=self.design(campaign_id),
            replicates=row.replicates,
            engine=row.engine,
            engine_options=row.engine_options,
            node_options=row.node_options,
            analysis_options=row.analysis_options,
            placement=row.placement,
            on_lost_node=row.on_lost_node,
            max_tries=row.max_tries,
            controls=row.controls,
            jobs=(),
            digest=row.digest,
            idempotency_key=row.idempotency_key,
            parent_id=row.parent_id,
            growth=None if row.growth is None else Growth(**row.growth),
        )

    def design(self, campaign_id: int) -> Design:
        """Its settings in order."""
        query = select(SettingRow.__table__).where(SettingRow.campaign_id == campaign_id).order_by(SettingRow.ordinal)
        with self._database.reading() as connection:
            factors = _factors_in_ledger(connection, campaign_id)
            return Design(factors=factors, settings=tuple(_setting(row) for row in connection.execute(query)))

    def progress(self, campaign_id: int) -> Progress:
        """Counters; costs the same at any number of runs."""
        with self._database.calling() as connection:
            return progress.progress(connection, _known(connection, campaign_id))

    def pause(self, campaign_id: int) -> Campaign:
        """Nothing new is claimed; agents stop before their next run."""
        return self._set_paused(campaign_id, paused=True)

    def resume(self, campaign_id: int) -> Campaign:
        """Undo `pause`."""
        return self._set_paused(campaign_id, paused=False)

    def cancel(self, campaign_id: int) -> Campaign:
        """Open jobs become cancelled; runs made so far stay."""
        with self._database.writing() as connection:
            ended = connection.execute(
                update(CampaignRow)
                .where(CampaignRow.id == campaign_id, CampaignRow.state == State.RUNNING)
                .values(state=State.CANCELLED, ended_at=func.clock_timestamp())
            )
            if ended.rowcount:
                connection.execute(
                    update(Job)
                    .where(Job.campaign_id == campaign_id, Job.state.in_(OPEN))
                    .values(state="cancelled", node_id=None, session_id=None, token=None, lease_until=None)
                )
                connection.execute(select(func.analyse_what_grew(campaign_id)))
                connection.execute(select(func.tell("campaign_cancelled", "cancelled", campaign_id, None)))
                self._audit(connection, Deed.CAMPAIGN_CANCELLED, campaign_id)
        campaign = self.get(campaign_id)
        if campaign.state is not State.CANCELLED:
            raise ConflictError(f"campaign {campaign_id} has already ended: it is {campaign.state}")
        return campaign

    def give_up(self, campaign_id: int, reason: str) -> int:
        """Set every job aside that nobody holds."""
        with self._database.writing() as connection:
            found: int = connection.execute(select(func.give_up(campaign_id, reason))).scalar_one()
        return found

    def configurations(
        self,
        campaign_id: int,
        *,
        verdict: str | None = None,
        mode: str | None = None,
        levels: Mapping[str, str] | None = None,
        after: tuple[int, str] | None = None,
        limit: int | None = None,
    ) -> list[Configuration]:
        """In order of setting and mode: those behind `after` (ordinal, mode), with these levels."""
        with self._database.reading() as connection:
            wanted = places_of(campaign_id, _factors_in_ledger(connection, campaign_id), levels or {})
            return export.configurations(
                connection, campaign_id, verdict=verdict, mode=mode, wanted=wanted, after=after, limit=limit
            )

    def version(self, campaign_id: int) -> str:
        """Another text whenever a run has come in or an analysis has moved since."""
        with self._database.reading() as connection:
            found = export.version(connection, campaign_id)
        if found is None:
            raise NotFoundError(no_campaign(campaign_id))
        return found

    def configuration(self, campaign_id: int, setting_id: int, mode: str) -> ConfigurationPage:
        """One configuration with its fit and its runs."""
        with self._database.reading() as connection:
            _factors_in_ledger(connection, campaign_id)
            page = export.page(connection, campaign_id, setting_id, mode)
        if page is None:
            raise NotFoundError(no_configuration(campaign_id, setting_id, mode))
        return page

    def export(self, campaign_id: int) -> Iterator[ExportRow]:
        """Every run, a row per mode, streamed."""
        with self._database.reading() as connection:
            _factors_in_ledger(connection, campaign_id)
        return self._export(campaign_id)

    def _export(self, campaign_id: int) -> Iterator[ExportRow]:
        with self._database.streaming() as connection:
            yield from export.rows(connection, campaign_id)

    def invalid_reasons(self, campaign_id: int) -> dict[str, int]:
        """Reason -> number of invalid runs."""
        with self._database.reading() as connection:
            _factors_in_ledger(connection, campaign_id)
            return export.invalid_reasons(connection, campaign_id)

    def events(
        self, campaign_id: int | None = None, *, before: int | None = None, after: int = 0, limit: int = 100
    ) -> list[Event]:
        """Newest first: those with an id smaller than `before` and larger than `after`."""
        query = select(EventRow.__table__, Node.name).outerjoin(Node, Node.id == EventRow.node_id)
        query = query.where(EventRow.id > after)
        if campaign_id is not None:
            query = query.where(EventRow.campaign_id == campaign_id)
        if before is not None:
            query = query.where(EventRow.id < before)
        with self._database.calling() as connection:
            found = connection.execute(query.order_by(EventRow.id.desc()).limit(limit)).all()
        return [_event(row) for row in found]

    def _set_paused(self, campaign_id: int, *, paused: bool) -> Campaign:
        change = update(CampaignRow).where(CampaignRow.id == campaign_id, CampaignRow.state == State.RUNNING)
        with self._database.writing() as connection:
            changed = connection.execute(change.values(paused=paused)).rowcount
            if paused and changed:  # an offer nobody may claim would take up a place on its node
                offered = update(Job).where(Job.campaign_id == campaign_id, Job.state == "offered")
                connection.execute(offered.values(state="queued", node_id=None, offered_at=None))
            if changed:
                what = Deed.CAMPAIGN_PAUSED if paused else Deed.CAMPAIGN_RESUMED
                self._audit(connection, what, campaign_id)
            connection.execute(select(func.pg_notify("modescope", "jobs")))
        campaign = self.get(campaign_id)
        if not changed:
            raise ConflictError(f"campaign {campaign_id} has already ended: it is {campaign.state}")
        return campaign

    def _audit(self, connection: Connection, what: Deed, campaign_id: int) -> None:
        audit.write(connection, self._act, what, f"campaign {campaign_id}")

    def _submitted_before(self, submission: Submission) -> Campaign | None:
        key = submission.idempotency_key
        if key is None:
            return None
        query = _SHOWN.where(CampaignRow.idempotency_key == key)
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is not None and row.digest != submission.digest:
            raise ConflictError(f"the idempotency key {key!r} was used for another study, campaign {row.id}")
        return None if row is None else rows.campaign(row)


def _known(connection: Connection, campaign_id: int) -> Campaign:
    row = connection.execute(_SHOWN.where(CampaignRow.id == campaign_id)).one_or_none()
    if row is None:
        raise NotFoundError(no_campaign(campaign_id))
    return rows.campaign(row)


def _factors_in_ledger(connection: Connection, campaign_id: int) -> tuple[str, ...]:
    """Of a campaign whose settings and runs are here. Raises NotFoundError, or ConflictError when they are archived."""
    query = select(CampaignRow.factors, CampaignRow.archive).where(CampaignRow.id == campaign_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(no_campaign(campaign_id))
    refuse_archived(campaign_id, row.archive)
    return tuple(row.factors)


def _row(submission: Submission) -> dict[str, Any]:
    return {
        "name": submission.name,
        "parent_id": submission.parent_id,
        "study": dict(submission.study),
        "digest": submission.digest,
        "idempotency_key": submission.idempotency_key,
        "factors": list(submission.design.factors),
        "engine": submission.engine,
        "engine_options": dict(submission.engine_options),
        "node_options": dict(submission.node_options),
        "analysis_options": dict(submission.analysis_options),
        "controls": {name: dict(options) for name, options in submission.controls.items()},
        "analysis_version": submission.analysis_version,
        "placement": submission.placement,
        "on_lost_node": submission.on_lost_node,
        "replicates": submission.replicates,
        "max_tries": submission.max_tries,
        "setting_count": len(submission.design.settings),
        "configuration_count": submission.design.configuration_count,
        "expected_runs": submission.design.run_count(submission.replicates),
        "growth": null() if submission.growth is None else asdict(submission.growth),
    }


def _cursor(connection: Connection) -> psycopg.Cursor[Any]:
    """The driver's own cursor: SQLAlchemy has no COPY."""
    return cast(psycopg.Connection[Any], connection.connection.driver_connection).cursor()


def _copy_settings(connection: Connection, campaign_id: int, design: Design) -> None:
    into = "COPY settings (campaign_id, ordinal, levels, modes, control, replicates) FROM STDIN"
    with _cursor(connection) as cursor, cursor.copy(into) as copy:
        for setting in design.settings:
            levels = json.dumps(setting.levels)
            kind = (list(setting.modes), setting.control, setting.replicates)
            copy.write_row((campaign_id, setting.ordinal, levels, *kind))


def _copy_jobs(connection: Connection, campaign_id: int, submission: Submission) -> None:
    query = select(SettingRow.ordinal, SettingRow.id).where(SettingRow.campaign_id == campaign_id)
    setting_ids = dict(connection.execute(query).all())
    node_ids = _node_ids(connection, {job.node for job in submission.jobs if job.node is not None})
    if node_ids:
        connection.execute(
            insert(CampaignNode), [{"campaign_id": campaign_id, "node_id": n} for n in node_ids.values()]
        )
    into = (
        "COPY jobs (campaign_id, setting_id, block, position, first_replicate, replicates, pinned_node_id, round,"
        " round_begun) FROM STDIN"
    )
    with _cursor(connection) as cursor, cursor.copy(into) as copy:
        for job in submission.jobs:
            pinned = node_ids[job.node] if job.node is not None else None
            place = (job.block, job.position, job.first_replicate, job.replicates)
            begun = None if job.round is None else False
            copy.write_row((campaign_id, setting_ids[job.setting], *place, pinned, job.round, begun))


def _node_ids(connection: Connection, names: set[str]) -> dict[str, int]:
    """Ids of nodes by name; a pinned node may be named before its agent is first heard of."""
    if not names:
        return {}
    known = set(connection.execute(select(Node.name).where(Node.name.in_(names))).scalars())
    for name in sorted(names - known):
        connection.execute(insert(Node).values(name=name, state="ready", strikes=0, engines={}, facts={}))
    return dict(connection.execute(select(Node.name, Node.id).where(Node.name.in_(names))).all())


def _event(row: Any) -> Event:
    return Event(
        id=row.id,
        at=row.at.timestamp(),
        kind=EventKind(row.kind),
        message=row.message,
        campaign_id=row.campaign_id,
        node=row.name,
    )


def _setting(row: Any) -> Setting:
    return Setting(
        ordinal=row.ordinal,
        levels=tuple(row.levels),
        modes=tuple(row.modes),
        control=row.control,
        replicates=row.replicates,
    )
