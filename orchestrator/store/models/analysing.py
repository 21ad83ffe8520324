"""Tables of what follows from the samples."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Identity, text
from sqlalchemy.dialects.postgresql import REAL
from sqlalchemy.orm import Mapped, mapped_column

from orchestrator.store.models.base import Base, big, small


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
