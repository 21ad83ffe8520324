"""Re-runs over the wire, and what controls say about flags."""

from __future__ import annotations

import json

import httpx
import pytest

from orchestrator.client import Client
from orchestrator.contracts.campaigns import Campaign
from orchestrator.contracts.confirmations import Outcome
from tests.unit.measured import STUDY, Laboratory


@pytest.fixture
def campaign(laboratory: Laboratory) -> Campaign:
    """Measured and analysed, with a control that has two modes."""
    found = laboratory.submit(STUDY)
    laboratory.work_off()
    return found


def test_a_re_run_by_filter_measures_what_passes_it(client: Client, campaign: Campaign) -> None:
    child, new = client.rerun(campaign.id, mode="readers", levels={"file_size_kb": "64"}, replicates=40)
    assert new
    assert (child.settings, child.replicates) == (1, 40)
    again, _ = client.rerun(campaign.id, flag="multimodal", mode="readers", power=0.8)
    assert again.replicates >= 30
    precise, _ = client.rerun(campaign.id, mode="readers", target=0.05)
    rough, _ = client.rerun(campaign.id, mode="readers", target=0.2)
    assert 30 <= rough.replicates < precise.replicates <= 900


def test_a_re_run_of_picked_configurations_is_confirmed(
    client: Client, campaign: Campaign, laboratory: Laboratory
) -> None:
    flagged = client.configurations(campaign.id, verdict="multimodal", mode="readers")
    child, _ = client.rerun(campaign.id, configurations=[(one.setting_id, one.mode) for one in flagged])
    laboratory.work_off()
    (found,) = client.configurations(child.id, mode="readers")
    assert found.confirmation is not None
    assert found.confirmation.outcome is Outcome.CONFIRMED


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({}, "give a flag"),
        ({"flag": "multimodal", "configurations": [{"setting_id": 1, "mode": "readers"}]}, "give a flag"),
        ({"flag": "multimodal", "hours": 1, "power": 0.8}, "one of replicates, hours, power and target"),
        ({"flag": "multimodal", "nodes": []}, "name at least one"),
        ({"mode": "readers", "levels": {"colour": "red"}}, "no such factor"),
        ({"mode": "writers"}, "no configuration passes this filter"),
    ],
)
def test_a_re_run_that_makes_no_sense_is_refused_with_its_reason(
    http: httpx.Client, campaign: Campaign, wanted: dict[str, object], reason: str
) -> None:
    answer = http.post(f"/api/v1/campaigns/{campaign.id}/rerun", json=wanted)
    assert 400 <= answer.status_code < 500
    assert reason in json.dumps(answer.json())


def test_controls_tell_how_often_flags_are_false(client: Client, campaign: Campaign, laboratory: Laboratory) -> None:
    before = client.calibration(campaign.id)
    assert (before.found.count, before.found.of, before.confirmed.of) == (1, 1, 0)
    assert (before.false_flags.of, before.false_flags.high) == (0, 1.0)
    client.rerun(campaign.id, flag="multimodal")
    laboratory.work_off()
    after = client.calibration(campaign.id)
    assert (after.confirmed.count, after.confirmed.of) == (1, 1)
    assert after.confirmed.low == pytest.approx(0.025, abs=0.001)
