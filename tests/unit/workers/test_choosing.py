"""An active campaign: settings that tell most of the others, until what is left is predicted well."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import StudyError
from orchestrator.design import study
from orchestrator.design.submission import submission
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


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "TREES", 5)


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


def test_it_measures_a_part_first_and_then_no_more_than_the_most() -> None:
    store, campaign_id = measured(STUDY)
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
