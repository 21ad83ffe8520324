"""What a campaign's numbers rest on: versions, and hashes of what was asked."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from orchestrator.contracts.campaigns import Campaign, Submission
from orchestrator.store.ports import Store


def of(store: Store, campaign: Campaign, study: Submission) -> dict[str, Any]:
    """JSON-able values, the same for the same campaign as long as Modescope is: nothing of what nodes are now."""
    from analysis import mixture
    from orchestrator.store import schema

    options = json.dumps(study.analysis_options, sort_keys=True, separators=(",", ":"))
    return {
        "modescope": version("modescope"),
        "schema": schema.newest(),
        "analysis": mixture.VERSION,
        "analysis_options": study.analysis_options,
        "analysis_version": campaign.analysis_version,
        "exploratory": campaign.analysis_version > 1,
        "analysis_options_sha256": hashlib.sha256(options.encode()).hexdigest(),
        "study_sha256": study.digest,
        "engine": study.study.get("engine", study.engine),
        "measured_with": _engines(store, campaign.id),
        "ledger": str(store.ledger),
        "campaign": campaign.id,
        "created_at": _moment(campaign.created_at),
        "ended_at": None if campaign.ended_at is None else _moment(campaign.ended_at),
    }


def _engines(store: Store, campaign_id: int) -> dict[str, dict[str, list[str]]]:
    """Node -> engine -> versions of it that its valid runs were measured with."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in store.findings.engines(campaign_id):
        found.setdefault(one.node, {}).setdefault(one.engine, []).append(one.version)
    return found


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
