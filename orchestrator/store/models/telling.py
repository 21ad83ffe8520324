"""Tables of rates, forecasts and events, and of those who may ask."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Identity
from sqlalchemy.orm import Mapped, mapped_column

from orchestrator.store.models.base import Base, big


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
