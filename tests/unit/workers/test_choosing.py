"""An active campaign: settings that tell most of the others, until what is left is predicted well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("sklearn")

from analysis.errors import BadSampleError
from orchestrator import words
from orchestrator.campaigns.choice import choice
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError, StudyError
from orchestrator.design import study
from orchestrator.design.submission import submission
from orchestrator.report import content, page
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory
from workers import choosing

STUDY = """
name: chosen
design:
  blocks:
    - levels: {file_size_kb: [4, 8, 16, 32, 64, 128, 256, 512, 1024], record_size_kb: [4], threads: [1, 2, 4]}
      modes: [readers]
replicates: 30
replicates_per_job: 30
engine: builtin
analysis: {families: [normal], max_components: 1}
active: {first: 0.4, batch: 0.1, most: 0.6, good_enough: 0.001}
"""


@pytest.fixture(autouse=True, scope="module")
def _few_trees() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(choosing, "TREES", 5)
        yield


@pytest.fixture(scope="module")
def ended() -> tuple[MemoryStore, int]:
    """Of a study that measures the most it may."""
    return measured(STUDY)


def measured(text: str) -> tuple[MemoryStore, int]:
    """Until it has ended."""
    store = MemoryStore()
    laboratory = Laboratory(store)
    campaign = laboratory.submit(text)
    for _ in range(10):
        laboratory.work_off()
        if store.campaigns.get(campaign.id).state is not State.RUNNING:
            return store, campaign.id
    raise AssertionError(f"still growing: {store.rounds.of_campaign(campaign.id)}")


def test_it_measures_a_part_first_and_then_no_more_than_the_most(ended: tuple[MemoryStore, int]) -> None:
    store, campaign_id = ended
    rounds = store.rounds.of_campaign(campaign_id)
    assert rounds[0].record["measured"] == 11
    assert rounds[-1].settings == 0
    assert rounds[-1].record["measured"] == 16
    assert sum(one.valid_runs > 0 for one in store.campaigns.configurations(campaign_id)) == 16


def test_it_ends_when_predictions_are_good_and_says_what_it_saved() -> None:
    store, campaign_id = measured(STUDY.replace("0.001", "0.99"))
    (last,) = store.rounds.of_campaign(campaign_id)
    assert last.record["left"] == 16
    assert float(str(last.record["saved_node_hours"])) > 0
    assert float(str(last.record["expected_distance"])) <= 0.99


def test_what_it_has_come_to_is_told_in_sentences(ended: tuple[MemoryStore, int]) -> None:
    store, campaign_id = ended
    found = choice(store, campaign_id)
    assert (found.over, found.settings, found.measured) == (True, 27, 16)
    first, second, third = words.growth(found)
    assert first == f"Active: {len(found.rounds)} rounds, 16 of 27 settings."
    assert f"expected to be {found.expected_distance:.2f}" in second
    assert third.startswith("Saved: ")
    assert third.endswith("by the runs of 11 settings not measured.")


def test_in_the_first_round_nothing_is_known_yet() -> None:
    store = MemoryStore()
    found = choice(store, Laboratory(store).submit(STUDY).id)
    assert (found.measured, found.expected_distance, found.saved_node_hours) == (None, None, None)
    assert words.growth(found) == ["Active: 1 round so far, a part of 27 settings that fills the space."]


def test_what_cannot_be_predicted_ends_it_and_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> tuple[list[int], float]:
        raise BadSampleError("no factor varies")

    monkeypatch.setattr(choosing, "_chosen", refuse)
    store, campaign_id = measured(STUDY)
    assert "nothing can be predicted: no factor varies" in words.growth(choice(store, campaign_id))[1]


def test_other_campaigns_have_no_such_account() -> None:
    store = MemoryStore()
    with pytest.raises(ConflictError, match="no `active:`"):
        choice(store, Laboratory(store).submit().id)


def test_the_report_has_a_row_for_each_round(ended: tuple[MemoryStore, int]) -> None:
    store, campaign_id = ended
    written = page.render(content.gather(store, campaign_id))
    assert "Settings that were chosen" in written
    assert "40 % of the settings were measured first" in written


def test_what_is_measured_first_fills_the_space() -> None:
    planned = submission(study.load(STUDY, where="study.yaml"))
    first = [one for one in planned.design.settings if one.replicates is None]
    assert len(planned.jobs) == len(first) == 11
    assert {one.levels[planned.design.factors.index("threads")] for one in first} == {1, 2, 4}


def test_too_few_settings_are_refused() -> None:
    few = STUDY.replace("file_size_kb: [4, 8, 16, 32, 64, 128, 256, 512, 1024]", "file_size_kb: [4, 8]")
    with pytest.raises(StudyError, match="too few to choose among"):
        submission(study.load(few, where="study.yaml"))


def test_a_study_grows_in_one_way() -> None:
    both = STUDY.replace("replicates: 30\nreplicates_per_job: 30", "adaptive: {pilot: 30}")
    with pytest.raises(StudyError, match="write one of both"):
        study.load(both, where="study.yaml")
