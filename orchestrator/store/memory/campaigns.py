"""Studies as submitted, in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

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
from orchestrator.contracts.designs import Design
from orchestrator.contracts.errors import ConflictError, NotFoundError
from orchestrator.contracts.findings import ConfigurationPage
from orchestrator.contracts.jobs import OPEN
from orchestrator.contracts.jobs import State as JobState
from orchestrator.contracts.runs import Validity
from orchestrator.store.memory import samples, transitions, views
from orchestrator.store.memory.progress import progress
from orchestrator.store.memory.tables import CampaignRow, JobRow, SettingRow, Tables, transaction
from orchestrator.store.memory.versions import version
from orchestrator.store.rules import no_configuration, places_of

UNHELD = frozenset({JobState.QUEUED, JobState.OFFERED})


class Campaigns:
    """See `ports.Campaigns`."""

    def __init__(self, tables: Tables, act: Act | None = None) -> None:
        self.tables = tables
        self._act = act

    @transaction
    def submit(self, submission: Submission) -> tuple[Campaign, bool]:
        first = self._with_key(submission.idempotency_key)
        if first is not None:
            if first.submission.digest != submission.digest:
                key = submission.idempotency_key
                raise ConflictError(f"idempotency key {key!r} belongs to campaign {first.id}, which is another study")
            return views.campaign(first), False
        _check(self.tables, submission)
        row = self._build(submission)
        self.tables.campaigns[row.id] = row
        self.tables.settings |= {setting.id: setting for setting in row.settings}
        self.tables.jobs |= {job.id: job for job in row.jobs}
        self._audit(Deed.CAMPAIGN_SUBMITTED, row)
        self.tables.notify()
        return views.campaign(row), True

    @transaction
    def get(self, campaign_id: int) -> Campaign:
        return views.campaign(self.tables.campaign(campaign_id))

    @transaction
    def all(self) -> list[Campaign]:
        return [views.campaign(row) for _, row in sorted(self.tables.campaigns.items(), reverse=True)]

    @transaction
    def study(self, campaign_id: int) -> Submission:
        return replace(self.tables.campaign(campaign_id).submission, jobs=())

    @transaction
    def design(self, campaign_id: int) -> Design:
        return self.tables.campaign(campaign_id).submission.design

    @transaction
    def progress(self, campaign_id: int) -> Progress:
        return progress(self.tables, self.tables.campaign(campaign_id))

    @transaction
    def pause(self, campaign_id: int) -> Campaign:
        row = self._running(campaign_id)
        row.paused = True
        for job in row.jobs:
            if job.state is JobState.OFFERED:
                transitions.queue(self.tables, job)
        self._audit(Deed.CAMPAIGN_PAUSED, row)
        return views.campaign(row)

    @transaction
    def resume(self, campaign_id: int) -> Campaign:
        row = self._running(campaign_id)
        row.paused = False
        self._audit(Deed.CAMPAIGN_RESUMED, row)
        self.tables.notify()
        return views.campaign(row)

    @transaction
    def cancel(self, campaign_id: int) -> Campaign:
        row = self.tables.campaign(campaign_id)
        if row.state is not State.CANCELLED:
            self._cancel(self._running(campaign_id))
            self._audit(Deed.CAMPAIGN_CANCELLED, row)
        return views.campaign(row)

    @transaction
    def give_up(self, campaign_id: int, reason: str) -> int:
        unheld = [job for job in self.tables.campaign(campaign_id).jobs if job.state in UNHELD]
        for job in unheld:
            transitions.set_aside(self.tables, job, reason)
        return len(unheld)

    @transaction
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
        row = self.tables.campaign(campaign_id)
        wanted = places_of(campaign_id, row.submission.design.factors, levels or {})
        found = [
            one
            for one in views.configurations(row, after)
            if verdict in (None, one.verdict) and mode in (None, one.mode) and views.has_levels(one, wanted)
        ]
        return found[:limit]

    @transaction
    def version(self, campaign_id: int) -> str:
        return views.version(self.tables.campaign(campaign_id))

    @transaction
    def configuration(self, campaign_id: int, setting_id: int, mode: str) -> ConfigurationPage:
        page = views.page(self.tables.campaign(campaign_id), setting_id, mode)
        if page is None:
            raise NotFoundError(no_configuration(campaign_id, setting_id, mode))
        return page

    @transaction
    def export(self, campaign_id: int) -> Iterator[ExportRow]:
        return iter(list(views.export(self.tables.campaign(campaign_id))))

    @transaction
    def invalid_reasons(self, campaign_id: int) -> dict[str, int]:
        runs = self.tables.campaign(campaign_id).runs
        reasons = Counter(row.run.reason or "unknown" for row in runs if row.validity is Validity.INVALID)
        return dict(reasons.most_common())

    @transaction
    def events(
        self, campaign_id: int | None = None, *, before: int | None = None, after: int = 0, limit: int = 100
    ) -> list[Event]:
        told = (event for event in reversed(self.tables.events) if campaign_id in (None, event.campaign_id))
        return [event for event in told if after < event.id and (before is None or event.id < before)][:limit]

    def _cancel(self, row: CampaignRow) -> None:
        for job in row.jobs:
            if job.state in OPEN:
                transitions.cancel(self.tables, job)
        row.state, row.ended_at = State.CANCELLED, self.tables.now()
        samples.analyse_what_grew(self.tables, row)
        self.tables.tell(EventKind.CAMPAIGN_CANCELLED, f"campaign {row.id} cancelled", campaign_id=row.id)

    def _audit(self, what: Deed, row: CampaignRow) -> None:
        self.tables.audit(self._act, what, f"campaign {row.id}")

    def _with_key(self, key: str | None) -> CampaignRow | None:
        if key is None:
            return None
        return next((row for row in self.tables.campaigns.values() if row.submission.idempotency_key == key), None)

    def _running(self, campaign_id: int) -> CampaignRow:
        row = self.tables.campaign(campaign_id)
        if row.state is not State.RUNNING:
            raise ConflictError(f"campaign {campaign_id} has ended ({row.state}): it can no longer be changed")
        return row

    def _build(self, submission: Submission) -> CampaignRow:
        """All rows of a campaign, none of them in the tables yet."""
        row = CampaignRow(id=self.tables.new_id(), submission=submission, created_at=self.tables.now())
        known = submission.analysis_versions or [(submission.analysis_options, "")]
        row.versions = [
            version(place + 1, options, why, known[0][0], row.created_at) for place, (options, why) in enumerate(known)
        ]
        row.analysis_version = submission.analysis_version
        row.settings = [
            SettingRow(id=self.tables.new_id(), campaign=row, setting=setting) for setting in submission.design.settings
        ]
        by_ordinal = {setting.setting.ordinal: setting for setting in row.settings}
        for planned in sorted(submission.jobs, key=lambda planned: planned.position):
            setting = by_ordinal[planned.setting]
            job = JobRow(id=self.tables.new_id(), campaign=row, setting=setting, planned=planned, own=planned.node)
            setting.jobs.append(job)
            row.jobs.append(job)
        row.members = {job.own for job in row.jobs if job.own is not None}
        return row


def _check(tables: Tables, submission: Submission) -> None:
    """Refuse what the ledger cannot hold, before anything of it is stored."""
    if submission.parent_id is not None and submission.parent_id not in tables.campaigns:
        raise ConflictError(f"campaign {submission.parent_id}, named as parent, is not there")
    ordinals = {setting.ordinal for setting in submission.design.settings}
    unknown = {job.setting for job in submission.jobs} - ordinals
    if unknown:
        raise ConflictError(f"a job names setting {min(unknown)}, which the design does not have")
    doubled = [position for position, times in Counter(job.position for job in submission.jobs).items() if times > 1]
    if doubled:
        raise ConflictError(f"several jobs stand at position {min(doubled)}")
