"""Rows as the ports show them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from orchestrator.contracts.campaigns import Campaign, State


def campaign(row: Any) -> Campaign:
    """A campaign without its counters."""
    return Campaign(
        id=row.id,
        name=row.name,
        state=State(row.state),
        paused=row.paused,
        parent_id=row.parent_id,
        engine=row.engine,
        factors=tuple(row.factors),
        replicates=row.replicates,
        settings=row.setting_count,
        configurations=row.configuration_count,
        expected_runs=row.setting_count * row.replicates if row.expected_runs is None else row.expected_runs,
        created_at=row.created_at.timestamp(),
        ended_at=_timestamp(row.ended_at),
        missing=row.missing,
        archive=None if row.archive is None else row.archive["folder"],
        grows=None if row.growth is None else row.growth["policy"],
        has_canaries=row.has_canaries,
        analysis_version=row.analysis_version,
    )


def _timestamp(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
