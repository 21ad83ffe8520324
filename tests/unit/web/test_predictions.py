"""What a campaign tells of configurations that are not measured yet, as a page and over the API."""

from __future__ import annotations

import httpx
import pytest

pytest.importorskip("sklearn")

from orchestrator.campaigns import prediction_quality, predictions
from orchestrator.contracts.campaigns import Campaign
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory
from workers.analyse import Analyst

STUDY = """
name: begun
design:
  blocks:
    - levels: {file_size_kb: [4, 8, 16, 32, 64, 128, 256, 512, 1024], record_size_kb: [4], threads: [1, 2]}
      modes: [readers]
replicates: 40
replicates_per_job: 40
engine: builtin
analysis: {families: [normal], max_components: 1}
"""


@pytest.fixture
def begun(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """Twelve of eighteen configurations are measured and analysed."""
    monkeypatch.setattr(predictions, "TREES", 5)
    laboratory = Laboratory(store)
    campaign = laboratory.submit(STUDY)
    for _ in range(12):
        assert laboratory.work()
    Analyst(store).work()
    return campaign


def test_the_page_tells_what_is_not_measured_yet(begun: Campaign, browser: httpx.Client) -> None:
    page = browser.get(f"/campaigns/{begun.id}/predictions").text
    assert "6 configurations have no fit yet" in page
    assert "12 of the 12 that have one" in page


def test_the_api_tells_it_for_each_configuration(begun: Campaign, browser: httpx.Client) -> None:
    told = browser.get(f"/api/v1/campaigns/{begun.id}/predictions").json()
    assert (told["measured"], len(told["predicted"])) == (12, 6)
    for one in told["predicted"]:
        assert one["median_low"] <= one["median"] <= one["median_high"]
        assert one["q10"] <= one["median"] <= one["q90"]
        assert 0 <= one["p_multimodal"] <= 1


def test_the_atlas_asks_for_predictions(begun: Campaign, browser: httpx.Client) -> None:
    assert f'data-predictions="/api/v1/campaigns/{begun.id}/predictions"' in browser.get(
        f"/campaigns/{begun.id}/atlas"
    ).text  # fmt: skip


def test_with_nothing_measured_it_says_so(store: MemoryStore, browser: httpx.Client) -> None:
    campaign = Laboratory(store).submit(STUDY)
    assert "nothing can be predicted: 0 configurations are too few" in browser.get(
        f"/campaigns/{campaign.id}/predictions"
    ).text  # fmt: skip
    assert browser.get(f"/api/v1/campaigns/{campaign.id}/predictions").status_code == 409


def test_with_all_measured_nothing_is_left(store: MemoryStore, browser: httpx.Client) -> None:
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    laboratory.work_off()
    assert "nothing is left to predict" in browser.get(f"/campaigns/{campaign.id}/predictions").text


def test_the_page_tells_how_good_predictions_are(
    store: MemoryStore, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prediction_quality, "FEWEST", 15)
    monkeypatch.setattr(prediction_quality, "TREES", 5)
    laboratory = Laboratory(store)
    campaign = laboratory.submit(STUDY)
    laboratory.work_off()
    page = browser.get(f"/campaigns/{campaign.id}/predictions").text
    assert "18 of 18 configurations with a fit were left out" in page
    assert "Where not to trust it" in page
    assert 'aria-label="Predicted over measured medians"' in page
