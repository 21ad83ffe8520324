"""The atlas: its page, and the data that its map draws."""

from __future__ import annotations

import httpx
import pytest

from orchestrator.api import atlas
from orchestrator.contracts.findings import Outcome
from orchestrator.contracts.metrics import THROUGHPUT
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory


@pytest.fixture
def campaign(store: MemoryStore) -> int:
    """A study that is measured and analysed."""
    laboratory = Laboratory(store)
    campaign_id = laboratory.submit().id
    laboratory.work_off()
    return campaign_id


def test_columns_name_levels_by_their_place_in_order_of_size() -> None:
    outcomes = [_outcome((8, "ssd"), "readers"), _outcome((2, "disk"), "readers"), _outcome((16, "ssd"), "writers")]
    found = atlas.of(("threads", "target"), outcomes, THROUGHPUT)
    assert [(axis.name, axis.levels) for axis in found.axes] == [
        ("threads", (2, 8, 16)), ("target", ("ssd", "disk")), ("mode", ("readers", "writers"))
    ]  # fmt: skip
    assert found.places == [[1, 0, 2], [0, 1, 0], [0, 0, 1]]


def test_what_is_not_analysed_is_told_from_what_is() -> None:
    found = atlas.of(("threads",), [_outcome((1,), "readers"), _outcome((1,), "writers", verdict=None)], THROUGHPUT)
    assert (found.verdicts, found.verdict) == (("multimodal",), [0, -1])
    assert (found.components, found.median, found.variation) == ([2, 0], [1235.0, None], [0.1235, None])


def test_the_map_gets_every_configuration_but_controls(browser: httpx.Client, campaign: int) -> None:
    found = browser.get(f"/api/v1/campaigns/{campaign}/atlas").json()
    assert len(found["setting"]) == 4
    assert all(len(column) == 4 for column in found["places"])
    assert all(median > 0 for median in found["median"])
    assert found["unit"] == "kB/s"


def test_the_map_is_compressed_and_sent_again_only_when_it_changed(browser: httpx.Client, campaign: int) -> None:
    first = browser.get(f"/api/v1/campaigns/{campaign}/atlas")
    assert first.headers["content-encoding"] == "gzip"
    again = browser.get(f"/api/v1/campaigns/{campaign}/atlas", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    assert (
        "content-encoding"
        not in browser.get(f"/api/v1/campaigns/{campaign}/atlas", headers={"Accept-Encoding": "identity"}).headers
    )


def test_the_page_has_the_studys_tables(browser: httpx.Client, campaign: int) -> None:
    page = browser.get(f"/campaigns/{campaign}/atlas").text
    assert "sum of best BIC" in page
    assert "lognormal" in page
    assert "By number of components" in page
    assert "<option selected>file_size_kb</option>" in page


def test_a_campaign_without_analyses_says_so(browser: httpx.Client, store: MemoryStore) -> None:
    campaign_id = Laboratory(store).submit().id
    assert "Nothing is analysed yet" in browser.get(f"/campaigns/{campaign_id}/atlas").text
    assert browser.get(f"/api/v1/campaigns/{campaign_id}/atlas").json()["verdict"] == [-1] * 4


def test_no_campaign_no_atlas(browser: httpx.Client) -> None:
    assert browser.get("/campaigns/77/atlas").status_code == 404


def _outcome(levels: tuple[int | str, ...], mode: str, *, verdict: str | None = "multimodal") -> Outcome:
    known = verdict is not None
    return Outcome(
        setting_id=1, levels=levels, mode=mode, verdict=verdict, components=2 if known else None,
        variation=0.12345 if known else None, median=1234.56 if known else None,
    )  # fmt: skip
