"""How good predictions are, as a section of the report and on the page of predictions."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

pytest.importorskip("sklearn")

from orchestrator.campaigns import prediction_quality
from orchestrator.contracts.metrics import THROUGHPUT
from orchestrator.report import content, page
from orchestrator.report.sections import predictions
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory

STUDY = """
name: enough to leave some out
design:
  blocks:
    - levels: {file_size_kb: [4, 8, 16, 32, 64, 128, 256, 512, 1024], record_size_kb: [4], threads: [1, 2]}
      modes: [readers, initial_writers]
replicates: 12
replicates_per_job: 12
engine: builtin
analysis: {families: [normal], max_components: 1}
"""


@pytest.fixture(scope="module")
def measured() -> MemoryStore:
    """Thirty-six configurations, all measured and analysed."""
    store = MemoryStore()
    laboratory = Laboratory(store)
    laboratory.submit(STUDY)
    laboratory.work_off()
    return store


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_quality, "TREES", 5)


def test_the_report_tells_how_good_predictions_are(measured: MemoryStore) -> None:
    written = page.render(content.gather(measured, 1))
    assert "36 of 36 configurations with a fit were left out" in written
    for picture in ("Predicted over measured medians", "Distance added where", "Distances of predictions"):
        assert f'aria-label="{picture}' in written
    assert "Where not to trust it" in written


def test_every_configuration_is_left_out_once(measured: MemoryStore) -> None:
    found = prediction_quality.of_campaign(measured, 1)
    assert found is not None
    assert sorted(error.row for error in found.evaluation.errors) == list(range(36))
    assert {one.factor for one in found.importances} == {"file_size_kb", "threads", "mode"}


def test_it_is_worked_out_once_as_long_as_nothing_changes(measured: MemoryStore) -> None:
    assert prediction_quality.of_campaign(measured, 1) is prediction_quality.of_campaign(measured, 1)


def test_of_a_small_campaign_nothing_is_told() -> None:
    store = MemoryStore()
    laboratory = Laboratory(store)
    laboratory.submit()
    laboratory.work_off()
    assert prediction_quality.of_campaign(store, 1) is None


def test_without_scikit_learn_nothing_is_told(measured: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        prediction_quality, "find_spec", lambda name: None if name == "sklearn" else find_spec(name)
    )  # fmt: skip
    report = content.gather(measured, 1)
    assert "How good predictions are" not in {section.title for section in report.sections}
    assert predictions.of_campaign(measured, 1, THROUGHPUT) is None
