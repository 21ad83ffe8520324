"""The same runs analysed with other options."""

from __future__ import annotations

import pytest

from orchestrator.campaigns import reanalysis
from orchestrator.contracts.analyses import OptionChange
from orchestrator.contracts.errors import RequestError
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory


@pytest.fixture(scope="module")
def laboratory() -> Laboratory:
    """With a campaign that is judged; time stands still, however long fits take."""
    made = Laboratory(MemoryStore(lambda: 1.7e9))
    made.submit()
    made.work_off()
    return made


def only(laboratory: Laboratory) -> int:
    return laboratory.store.campaigns.all()[-1].id


def test_a_change_starts_from_the_version_that_is_shown(laboratory: Laboratory) -> None:
    store, campaign_id = laboratory.store, only(laboratory)
    first = reanalysis.change(store, campaign_id, {"max_components": 1}, "one is enough")
    second = reanalysis.change(store, campaign_id, {"families": ["normal"]}, " and only the normal ")
    fewer = OptionChange(submitted=2, here=1)
    assert first.changed == {"max_components": fewer}
    normal = OptionChange(submitted=["normal", "lognormal"], here=["normal"])
    assert second.changed == {"families": normal, "max_components": fewer}
    assert second.why == "and only the normal"
    store.versions.show(campaign_id, 1)


@pytest.mark.parametrize(
    ("changes", "why", "message"),
    [
        ({"max_components": 9}, "more", "must be from 1 to 5"),
        ({"max_component": 3}, "less", "did you mean 'max_components'"),
        ({"max_components": 1}, " ", "why: say"),
        ({}, "nothing", "at least one option"),
    ],
)
def test_what_makes_no_sense_makes_no_version(
    laboratory: Laboratory, changes: dict[str, object], why: str, message: str
) -> None:
    before = laboratory.store.versions.of_campaign(only(laboratory))
    with pytest.raises(RequestError, match=message):
        reanalysis.change(laboratory.store, only(laboratory), changes, why)
    assert laboratory.store.versions.of_campaign(only(laboratory)) == before


def test_a_rerun_is_judged_by_the_options_that_chose_it(laboratory: Laboratory) -> None:
    store = laboratory.store
    campaign = laboratory.submit()
    laboratory.work_off()
    reanalysis.change(store, campaign.id, {"bic_gap": 5}, "to see more")
    laboratory.work_off()
    child = laboratory.rerun_flagged(campaign.id)
    (registered,) = store.versions.of_campaign(child.id)
    assert (registered.options["bic_gap"], registered.exploratory) == (5, False)


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("max_components", "3", 3),
        ("floor", "0.05", 0.05),
        ("likelihood", "point", "point"),
        ("families", "normal, gamma", ["normal", "gamma"]),
        ("floor", "null", "null"),
    ],
)
def test_what_a_person_types_becomes_a_value(option: str, text: str, value: object) -> None:
    assert reanalysis.as_value(option, text) == value
