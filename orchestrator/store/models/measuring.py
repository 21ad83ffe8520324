"""Tables of campaigns, their settings and jobs, the nodes that work on them, and runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Identity, Integer, text
from sqlalchemy.dialects.postgresql import REAL
from sqlalchemy.orm import Mapped, mapped_column

from orchestrator.store.models.base import Base, big, small


class Ledger(Base):
    """Which database this is; one row."""

    __tablename__ = "ledger"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    reconciled_at: Mapped[datetime]
    functions_digest: Mapped[str | None]


class Node(Base):
    """A machine that measures."""

    __tablename__ = "nodes"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    state: Mapped[str]
    reason: Mapped[str | None]
    session_id: Mapped[int | None]
    seen_at: Mapped[datetime | None]
    offline_since: Mapped[datetime | None]
    strikes: Mapped[int] = mapped_column(small)
    struck_job_id: Mapped[int | None] = mapped_column(big)
    engines: Mapped[dict[str, Any]]
    facts: Mapped[dict[str, Any]]
    spool_runs: Mapped[int] = mapped_column(server_default=text("0"))


class Session(Base):
    """One life of an agent on one boot of its node."""

    __tablename__ = "sessions"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    key: Mapped[UUID]
    node_id: Mapped[int]
    boot_id: Mapped[str]
    version: Mapped[str]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class Campaign(Base):
    """A study as submitted."""

    __tablename__ = "campaigns"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    parent_id: Mapped[int | None]
    state: Mapped[str] = mapped_column(server_default=text("'running'"))
    paused: Mapped[bool] = mapped_column(server_default=text("false"))
    study: Mapped[dict[str, Any]]
    digest: Mapped[str]
    idempotency_key: Mapped[str | None]
    factors: Mapped[list[str]]
    engine: Mapped[str]
    engine_options: Mapped[dict[str, Any]]
    node_options: Mapped[dict[str, Any]]
    analysis_options: Mapped[dict[str, Any]]
    controls: Mapped[dict[str, Any]]
    placement: Mapped[str]
    on_lost_node: Mapped[str]
    replicates: Mapped[int]
    max_tries: Mapped[int] = mapped_column(small)
    setting_count: Mapped[int]
    configuration_count: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    first_claim_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    missing: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    expected_runs: Mapped[int | None]
    growth: Mapped[dict[str, Any] | None]
    analysis_version: Mapped[int] = mapped_column(server_default=text("1"))
    archived_at: Mapped[datetime | None]
    archive: Mapped[dict[str, Any] | None]


class Setting(Base):
    """One choice of all factors but `mode`; `levels` are in the order of the campaign's factors."""

    __tablename__ = "settings"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    campaign_id: Mapped[int]
    ordinal: Mapped[int]
    levels: Mapped[list[Any]]
    modes: Mapped[list[str]]
    control: Mapped[str | None]
    valid_runs: Mapped[int] = mapped_column(server_default=text("0"))
    replicates: Mapped[int | None]


class Job(Base):
    """A setting and a contiguous range of replicates; `contracts.jobs` says how it moves."""

    __tablename__ = "jobs"
    id: Mapped[int] = mapped_column(big, Identity(always=True), primary_key=True)
    campaign_id: Mapped[int]
    setting_id: Mapped[int]
    block: Mapped[int]
    position: Mapped[int]
    first_replicate: Mapped[int]
    replicates: Mapped[int]
    pinned_node_id: Mapped[int | None]
    """The only node that may have it, as the study says (pinned) or as it was dealt (balanced)."""
    state: Mapped[str]
    node_id: Mapped[int | None]
    session_id: Mapped[int | None]
    token: Mapped[UUID | None]
    attempt: Mapped[int]
    lease_until: Mapped[datetime | None]
    offered_at: Mapped[datetime | None]
    reason: Mapped[str | None]
    failures: Mapped[int] = mapped_column(small, server_default=text("0"))
    done_at: Mapped[datetime | None]
    round: Mapped[int | None]
    round_begun: Mapped[bool | None]
    ready_at: Mapped[datetime | None]
    start_at: Mapped[datetime | None]


class CampaignNode(Base):
    """A node that has a share of a campaign's jobs, or had one until it was lost."""

    __tablename__ = "campaign_nodes"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    node_id: Mapped[int] = mapped_column(primary_key=True)
    lost_at: Mapped[datetime | None]


class JobCount(Base):
    """Jobs by campaign and state, kept by a trigger; a count is the sum of its slots."""

    __tablename__ = "job_counts"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(primary_key=True)
    slot: Mapped[int] = mapped_column(small, primary_key=True)
    jobs: Mapped[int]


class JobFailure(Base):
    """One failed attempt."""

    __tablename__ = "job_failures"
    id: Mapped[int] = mapped_column(big, Identity(always=True), primary_key=True)
    job_id: Mapped[int] = mapped_column(big)
    attempt: Mapped[int]
    node_id: Mapped[int]
    kind: Mapped[str]
    reason: Mapped[str]
    at: Mapped[datetime]


class EngineBuild(Base):
    """An engine and its version, named once."""

    __tablename__ = "engine_builds"
    id: Mapped[int] = mapped_column(small, Identity(always=True), primary_key=True)
    name: Mapped[str]
    version: Mapped[str]


class Run(Base):
    """One benchmark invocation; never overwritten."""

    __tablename__ = "runs"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    job_id: Mapped[int]
    setting_id: Mapped[int] = mapped_column(Integer)
    replicate: Mapped[int]
    session_id: Mapped[int]
    sequence: Mapped[int]
    previous_setting_id: Mapped[int | None]
    telemetry_id: Mapped[int | None]
    elapsed_s: Mapped[float] = mapped_column(REAL)
    settle_s: Mapped[float | None] = mapped_column(REAL)
    attempt: Mapped[int] = mapped_column(small)
    try_number: Mapped[int] = mapped_column(small)
    engine_build_id: Mapped[int] = mapped_column(small)
    exit_status: Mapped[int | None] = mapped_column(small)
    validity: Mapped[str]
    reason: Mapped[str]
    """Empty for a valid run."""
    values: Mapped[list[float]]


class Telemetry(Base):
    """What was told and observed about the runs of one block; `store.telemetry` reads it."""

    __tablename__ = "telemetry"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    campaign_id: Mapped[int]
    packed: Mapped[bytes]


class Share(Base):
    """What a node did for a campaign, in all."""

    __tablename__ = "shares"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    node_id: Mapped[int] = mapped_column(primary_key=True)
    valid: Mapped[int] = mapped_column(big)
    invalid: Mapped[int] = mapped_column(big)
    superseded: Mapped[int] = mapped_column(big)


class Pace(Base):
    """Valid runs of a node for a campaign in one slice of ten seconds."""

    __tablename__ = "paces"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    slice: Mapped[datetime] = mapped_column(primary_key=True)
    node_id: Mapped[int] = mapped_column(primary_key=True)
    valid: Mapped[int]


class Round(Base):
    """What was decided at the end of a round of a campaign that grows."""

    __tablename__ = "rounds"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    decided_at: Mapped[datetime]
    settings: Mapped[int]
    runs: Mapped[int]
    record: Mapped[dict[str, Any]]
