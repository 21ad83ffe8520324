"""The ledger's tables, typed. The history of the schema is in migrations/; a test holds the two to each other."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, Double, Identity, Integer, MetaData, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import BYTEA, JSONB, REAL, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

small = SmallInteger
"""A column type for numbers that stay below 32,768."""

big = BigInteger
"""A column type for numbers of things that a whole study has very many of."""


class Base(DeclarativeBase):
    """All tables; every constraint is named, so that an adapter can say which rule was broken."""

    metadata = MetaData(naming_convention={"pk": "%(table_name)s_pkey"})
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        str: Text,
        datetime: TIMESTAMP(timezone=True),
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        list[str]: ARRAY(Text),
        list[float]: ARRAY(Double),
        float: Double,
        bytes: BYTEA,
    }


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


class NodeRate(Base):
    """How fast a node works on a campaign, in runs of average cost a second, with a 95 % interval."""

    __tablename__ = "node_rates"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    node_id: Mapped[int] = mapped_column(primary_key=True)
    runs_per_s: Mapped[float]
    low_per_s: Mapped[float]
    high_per_s: Mapped[float]
    runs: Mapped[int]
    since: Mapped[datetime]
    at: Mapped[datetime]
    told_at: Mapped[datetime | None]


class CriticalNode(Base):
    """A node that was found to hold up the rounds of a campaign."""

    __tablename__ = "critical_nodes"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    node_id: Mapped[int] = mapped_column(primary_key=True)
    named: Mapped[bool]
    since: Mapped[datetime]
    rounds: Mapped[int]
    critical: Mapped[int]
    chance: Mapped[float]
    differs: Mapped[str | None]
    told_at: Mapped[datetime]


class Forecast(Base):
    """A campaign's rate, and its time left with an 80 % interval, as the controller saw it last."""

    __tablename__ = "forecasts"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    runs_per_s: Mapped[float | None]
    low_per_s: Mapped[float | None]
    high_per_s: Mapped[float | None]
    time_left_s: Mapped[float | None]
    time_left_low_s: Mapped[float | None]
    time_left_high_s: Mapped[float | None]
    nodes: Mapped[int]
    reason: Mapped[str]


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


class Analysis(Base):
    """One configuration's sample, to be fitted or fitted."""

    __tablename__ = "analyses"
    id: Mapped[int] = mapped_column(big, Identity(always=True), primary_key=True)
    campaign_id: Mapped[int]
    setting_id: Mapped[int]
    mode: Mapped[str]
    digest: Mapped[str]
    current: Mapped[bool]
    state: Mapped[str]
    version: Mapped[str | None]
    token: Mapped[UUID | None]
    lease_until: Mapped[datetime | None]
    analysed_at: Mapped[datetime | None]
    error: Mapped[str | None]
    verdict: Mapped[str | None]
    sentence: Mapped[str | None]
    final: Mapped[bool]
    components: Mapped[int | None] = mapped_column(small)
    family: Mapped[str | None]
    bic: Mapped[float | None]
    density_modes: Mapped[int | None] = mapped_column(small)
    bic_gap: Mapped[float | None]
    dip_p: Mapped[float | None]
    dip_q: Mapped[float | None]
    fit_s: Mapped[float | None] = mapped_column(REAL)
    selection: Mapped[dict[str, Any] | None]
    median: Mapped[float | None]
    variation: Mapped[float | None]
    family_bics: Mapped[dict[str, Any] | None]
    confirmation: Mapped[dict[str, Any] | None]
    needed_runs: Mapped[int | None]
    options_version: Mapped[int] = mapped_column(server_default=text("1"))


class AnalysisVersion(Base):
    """One choice of options for a campaign's analysis."""

    __tablename__ = "analysis_versions"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    options: Mapped[dict[str, Any]]
    digest: Mapped[str]
    why: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class RepeatedFlag(Base):
    """A flag that a re-run measured again, until the verdicts of the re-run are final."""

    __tablename__ = "repeated_flags"
    analysis_id: Mapped[int] = mapped_column(big, primary_key=True)
    campaign_id: Mapped[int]
    first_id: Mapped[int] = mapped_column(big)
    dip_q: Mapped[float]
    token: Mapped[UUID | None]
    lease_until: Mapped[datetime | None]
    done: Mapped[bool] = mapped_column(server_default=text("false"))
    confirmation: Mapped[dict[str, Any] | None]


class AnalysisCount(Base):
    """Current analyses by campaign and how far they are, kept by a trigger; a count is the sum of its slots."""

    __tablename__ = "analysis_counts"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(primary_key=True)
    verdict: Mapped[str] = mapped_column(primary_key=True)
    final: Mapped[bool] = mapped_column(primary_key=True)
    slot: Mapped[int] = mapped_column(small, primary_key=True)
    analyses: Mapped[int]


class Round(Base):
    """What was decided at the end of a round of a campaign that grows."""

    __tablename__ = "rounds"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    decided_at: Mapped[datetime]
    settings: Mapped[int]
    runs: Mapped[int]
    record: Mapped[dict[str, Any]]


class ScheduledJob(Base):
    """A job as its scheduler knew it."""

    __tablename__ = "scheduled_jobs"
    job_id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str | None]
    user_name: Mapped[str | None]
    group_name: Mapped[str | None]
    partition: Mapped[str | None]
    state: Mapped[str | None]
    submitted_s: Mapped[float | None]
    started_s: Mapped[float | None]
    ended_s: Mapped[float | None]
    processes: Mapped[int | None]
    nodes: Mapped[int | None]
    time_limit_s: Mapped[float | None]


class ProgramLog(Base):
    """One execution of a program, as Darshan logged it."""

    __tablename__ = "program_logs"
    digest: Mapped[str] = mapped_column(primary_key=True)
    file_name: Mapped[str]
    job_id: Mapped[str]
    program: Mapped[str]
    user_name: Mapped[str]
    started_s: Mapped[float]
    runtime_s: Mapped[float]
    processes: Mapped[int]
    mount: Mapped[str | None]
    osts: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    features: Mapped[dict[str, Any]]


class LogFileSystem(Base):
    """A file system that LMT watched."""

    __tablename__ = "log_file_systems"
    name: Mapped[str] = mapped_column(primary_key=True)
    osts: Mapped[list[str]]
    osss: Mapped[list[str]]


class LogMount(Base):
    """Where programs see a file system."""

    __tablename__ = "log_mounts"
    mount: Mapped[str] = mapped_column(primary_key=True)
    file_system: Mapped[str]


class FileSystemSample(Base):
    """What LMT saw at one instant."""

    __tablename__ = "file_system_samples"
    file_system: Mapped[str] = mapped_column(primary_key=True)
    at_s: Mapped[float] = mapped_column(primary_key=True)
    read_bytes_per_s: Mapped[list[float]] = mapped_column(ARRAY(REAL))
    written_bytes_per_s: Mapped[list[float]] = mapped_column(ARRAY(REAL))
    oss_cpu_percent: Mapped[list[float]] = mapped_column(ARRAY(REAL))
    mds_cpu_percent: Mapped[float] = mapped_column(REAL)
    mds_ops_per_s: Mapped[float] = mapped_column(REAL)


class Event(Base):
    """Something worth telling."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(big, Identity(always=True), primary_key=True)
    at: Mapped[datetime]
    kind: Mapped[str]
    message: Mapped[str]
    campaign_id: Mapped[int | None]
    node_id: Mapped[int | None]


class Token(Base):
    """A bearer token, known by its digest."""

    __tablename__ = "tokens"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    scopes: Mapped[list[str]]
    digest: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]


class SignIn(Base):
    """A browser that showed a token."""

    __tablename__ = "sign_ins"
    digest: Mapped[str] = mapped_column(primary_key=True)
    token_id: Mapped[int]
    expires_at: Mapped[datetime]


class AuditLine(Base):
    """One change that somebody made."""

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(big, Identity(always=True), primary_key=True)
    at: Mapped[datetime]
    who: Mapped[str]
    what: Mapped[str]
    subject: Mapped[str]
    origin: Mapped[str]
