"""The first runs of a job may be set aside as warm-up: in whatever is analysed, and everywhere marked as such."""

from __future__ import annotations

import re

import pytest

from orchestrator.api.export import as_csv
from orchestrator.bundle import writing
from orchestrator.campaigns.attribution import explained
from orchestrator.contracts import metrics
from orchestrator.contracts.campaigns import WARM_UP
from orchestrator.contracts.errors import StudyError
from orchestrator.design import study
from orchestrator.report import content, page
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import STUDY, Laboratory

DISCARDING = STUDY.replace("max_components: 2}", "max_components: 2, discard: 4}")


@pytest.fixture(scope="module")
def measured() -> tuple[MemoryStore, int]:
    store = MemoryStore()
    laboratory = Laboratory(store)
    campaign = laboratory.submit(DISCARDING)
    laboratory.work_off()
    return store, campaign.id


def test_fits_are_of_the_runs_that_are_left(measured: tuple[MemoryStore, int]) -> None:
    store, campaign_id = measured
    fitted = list(store.analyses.fitted(campaign_id))
    assert {len(one.sample) for one in fitted} == {52}
    assert {one.selection["n"] for one in fitted if one.selection is not None} == {52}


def test_explanations_leave_them_out_unless_asked_not_to(measured: tuple[MemoryStore, int]) -> None:
    store, campaign_id = measured
    flagged = store.campaigns.configurations(campaign_id, verdict="multimodal")[0]
    of = (store, campaign_id, flagged.setting_id, flagged.mode)
    assert explained(*of).n == 52
    assert explained(*of, discard=0).n == 60


def test_export_and_report_say_so(measured: tuple[MemoryStore, int]) -> None:
    store, campaign_id = measured
    known = store.campaigns.study(campaign_id)
    metric = metrics.of(known.engine, known.engine_options)
    text = "".join(as_csv(known.design.factors, metric, store.campaigns.export(campaign_id)))
    assert text.count(WARM_UP) == 2 * 4 * 5  # jobs, runs of each, configurations
    html = page.render(content.gather(store, campaign_id))
    assert "The first 4 valid runs of every job were set aside as warm-up" in re.sub(r"\s+", " ", html)
    assert b"".join(writing.write(store, campaign_id))


def test_a_job_of_nothing_but_warm_up_is_refused() -> None:
    with pytest.raises(StudyError, match=r"analysis.discard: 30 leaves nothing of jobs of 30 runs"):
        study.load(DISCARDING.replace("discard: 4", "discard: 30"), where="study.yaml")


def test_a_study_without_it_is_written_as_before() -> None:
    assert "discard" not in study.load(STUDY, where="study.yaml").as_dict()["analysis"]
