"""The page of one configuration, and that of one run."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from orchestrator.contracts.campaigns import Configuration
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory


@pytest.fixture
def laboratory(store: MemoryStore) -> Laboratory:
    """One with a study that is measured and analysed."""
    found = Laboratory(store)
    found.submit()
    found.work_off()
    return found


@pytest.fixture
def flagged(laboratory: Laboratory) -> Configuration:
    """A configuration with two modes."""
    campaign = laboratory.store.campaigns.all()[0]
    found = laboratory.store.campaigns.configurations(campaign.id, verdict="multimodal", mode="readers")
    return found[0]


def path(found: Configuration) -> str:
    return f"/campaigns/{found.campaign_id}/configurations/{found.setting_id}/{found.mode}"


def test_the_page_tells_in_tables_what_its_charts_show(browser: httpx.Client, flagged: Configuration) -> None:
    page = unescape(browser.get(path(flagged)).text)
    assert flagged.sentence is not None
    for told in (
        flagged.sentence,
        "Density modes",
        "Components, ",
        "All 4 fits",
        "standard error",
        "By node",
        "local-1",
    ):
        assert told in page


def test_shares_of_density_modes_and_of_their_runs_belong_together(store: MemoryStore, flagged: Configuration) -> None:
    from orchestrator.web.content.configuration import gather

    content = gather(store, flagged.campaign_id, flagged.setting_id, flagged.mode)
    assert sum(mode.runs for mode in content.modes) == 60
    assert sum(mode.share for mode in content.modes) == pytest.approx(1)
    assert all(abs(mode.runs / 60 - mode.share) < 0.03 for mode in content.modes)


def test_curves_hold_what_the_charts_draw(browser: httpx.Client, flagged: Configuration) -> None:
    found = browser.get(f"/api/v1{path(flagged)}/curves").json()
    shape = found["shape"]
    assert (found["unit"], sum(shape["counts"]), len(found["runs"])) == ("GB/s", 60, 60)
    assert len(shape["places"]) == len(shape["density"]) == len(shape["cumulative"])
    assert len(shape["components"]) == flagged.components
    assert shape["cumulative"] == sorted(shape["cumulative"])


def test_four_times_the_runs_halve_the_standard_error(browser: httpx.Client, flagged: Configuration) -> None:
    found = browser.get(f"/api/v1{path(flagged)}/curves").json()
    median = next(one for one in found["quantiles"] if one["q"] == 0.5)
    here, fourfold = found["sizes"].index(60), found["sizes"].index(240)
    assert median["by_size"][here] == pytest.approx(median["standard_error"])
    assert median["by_size"][fourfold] == pytest.approx(median["standard_error"] / 2)


def test_the_page_says_how_many_runs_are_enough(browser: httpx.Client, flagged: Configuration) -> None:
    enough = browser.get(f"/api/v1{path(flagged)}/curves").json()["enough"]
    asked = browser.get(f"/api/v1{path(flagged)}/sample-size").json()
    page = unescape(browser.get(path(flagged)).text)
    assert (enough["n"], enough["met"]) == (asked["n"], asked["met"])
    told = f"{enough['n']} runs" if enough["met"] else "not within 900 runs"
    assert f"<strong>{told}</strong>" in page or "runs there are</strong>" in page


def test_a_sample_size_is_told_for_the_target_that_is_asked(browser: httpx.Client, flagged: Configuration) -> None:
    asked = {"quantiles": [0.25, 0.5], "target": 0.5, "scale": "sd", "quantile_from": "fit", "max_n": 5000}
    found = browser.get(f"/api/v1{path(flagged)}/sample-size", params=asked).json()
    assert [one["q"] for one in found["quantiles"]] == [0.25, 0.5]
    assert (found["runs"], found["max_n"], found["met"]) == (60, 5000, True)
    assert found["sizes"] == sorted({1, 2, 5, 10, 20, 50, 60, 100, 200, 500, 1000, 2000, 5000, found["n"]})
    here = found["sizes"].index(60)
    median = found["quantiles"][1]
    assert median["gamma"][here] == pytest.approx(median["standard_error"] / median["value"])
    assert median["low"] < median["value"] < median["high"]


def test_the_page_of_a_sample_size_shows_its_interval_and_the_runs_there_are(
    browser: httpx.Client, flagged: Configuration
) -> None:
    answer = browser.get(f"{path(flagged)}/sample-size")
    page = unescape(answer.text)
    low, high = re.findall(r"80 % interval: ([\d,]+) to ([\d,]+)", page)[0]
    assert 60 <= int(low.replace(",", "")) <= int(high.replace(",", ""))
    assert "now: 60" in page
    assert "CONFIRM" in page
    again = browser.get(f"{path(flagged)}/sample-size", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304


def test_the_interval_of_a_sample_size_is_told_where_it_is_asked_for(
    browser: httpx.Client, flagged: Configuration
) -> None:
    asked = browser.get(f"/api/v1{path(flagged)}/sample-size?resamples=10").json()
    assert 60 <= asked["n_low"] <= asked["n_high"]
    assert browser.get(f"/api/v1{path(flagged)}/sample-size").json()["n_low"] is None


@pytest.mark.parametrize("wrong", ["quantiles=1", "quantiles=", "target=0", "max_n=3", "scale=mean"])
def test_a_target_without_sense_is_refused(browser: httpx.Client, flagged: Configuration, wrong: str) -> None:
    answer = browser.get(f"/api/v1{path(flagged)}/sample-size?{wrong}")
    assert 400 <= answer.status_code < 500
    assert answer.json()["detail"]


def test_a_re_run_stands_beside_the_first(
    browser: httpx.Client, laboratory: Laboratory, flagged: Configuration
) -> None:
    child = laboratory.rerun_flagged(flagged.campaign_id)
    laboratory.work_off()
    page = browser.get(path(flagged)).text
    assert "Measured again" in page
    assert f"{child.id}, re-run" in page
    (again,) = laboratory.store.findings.repeats(flagged.campaign_id, flagged.setting_id, flagged.mode)
    assert f"{flagged.campaign_id}, first measured" in browser.get(path(again)).text


def test_values_are_there_as_csv(browser: httpx.Client, flagged: Configuration) -> None:
    answer = browser.get(f"{path(flagged)}/values.csv")
    lines = answer.text.splitlines()
    assert answer.headers["content-type"].startswith("text/csv")
    assert (len(lines), lines[0].split(",")[:3]) == (61, ["replicate", "value", "node"])


def test_a_run_is_a_page_of_its_own(browser: httpx.Client, flagged: Configuration) -> None:
    run = browser.get(f"/api/v1{path(flagged)}").json()["runs"][7]
    page = browser.get(f"/campaigns/{flagged.campaign_id}/runs/{run['id']}").text
    assert "Nothing was observed" in page
    assert "initial_writers" in page
    assert browser.get(f"/campaigns/{flagged.campaign_id + 1}/runs/{run['id']}").status_code == 404


def test_a_control_says_that_it_was_never_measured(browser: httpx.Client, laboratory: Laboratory) -> None:
    (campaign,) = laboratory.store.campaigns.all()
    control = laboratory.store.campaigns.configurations(campaign.id)[-1]
    assert "It was never measured" in browser.get(path(control)).text


def test_before_its_analysis_a_configuration_tells_how_far_its_sample_is(
    browser: httpx.Client, store: MemoryStore
) -> None:
    campaign = Laboratory(store).submit()
    first = store.campaigns.configurations(campaign.id)[0]
    page = browser.get(path(first)).text
    assert "0 of 60 valid runs" in page
    assert "No run of this setting is in yet" in page
    assert browser.get(f"/api/v1{path(first)}/curves").json()["shape"] is None


@pytest.mark.parametrize("where", ["/configurations/99999/readers", "/configurations/1/no-mode", "/runs/no-uuid"])
def test_what_is_not_there_is_an_error_page(browser: httpx.Client, flagged: Configuration, where: str) -> None:
    answer = browser.get(f"/campaigns/{flagged.campaign_id}{where}")
    assert answer.status_code in (404, 422)
    assert 'role="alert"' in answer.text


def test_what_explains_the_modes_is_asked_for_by_a_link(browser: httpx.Client, flagged: Configuration) -> None:
    assert f'href="{path(flagged)}/explanation"' in browser.get(path(flagged)).text
    page = unescape(browser.get(f"{path(flagged)}/explanation").text)
    for told in ("within node", "all runs are of one node", "order of runs", "correlation within a job", "of 60"):
        assert told in page


def test_the_api_explains_a_configuration_and_says_when_it_has_not_changed(
    browser: httpx.Client, flagged: Configuration
) -> None:
    address = f"/api/v1{path(flagged)}/explanation"
    answer = browser.get(address)
    assert answer.json()["label"]["where"] == "within node"
    assert browser.get(address, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert browser.get(address, params={"discard": 5}).json()["n"] == 50


def test_what_is_not_fitted_cannot_be_explained(browser: httpx.Client, store: MemoryStore) -> None:
    campaign = Laboratory(store).submit()
    found = store.campaigns.configurations(campaign.id)[0]
    answer = browser.get(f"/api/v1{path(found)}/explanation")
    assert answer.status_code == 409
    assert "not fitted yet" in answer.json()["detail"]
