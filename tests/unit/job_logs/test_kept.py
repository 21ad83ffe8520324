"""What the service keeps itself, evaluated: logs that were taken in, and runs with their telemetry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("sklearn")

from orchestrator.contracts.runs import Run
from orchestrator.job_logs import kept
from orchestrator.job_logs.evaluating import How
from orchestrator.report import content, page
from orchestrator.store.memory import MemoryStore
from tests.contract.test_store_job_logs import LOG
from tests.unit.job_logs.made_logs import made_logs
from tests.unit.measured import STUDY, Laboratory


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "HOW", How(with_paper=False, forest=5))


class Warm(Laboratory):
    """Its runs follow each other, and tell how warm the node was."""

    def _run(self, *told: Any, **more: Any) -> Run:
        run = super()._run(*told, **more)
        return replace(run, started_at=1.6e9 + run.sequence, observed={"temperature_c": 40.0 + run.sequence % 7})


def measured(laboratory: type[Laboratory]) -> MemoryStore:
    store = MemoryStore(lambda: 1.7e9)
    made = laboratory(store)
    made.submit(STUDY.replace("[normal, lognormal], max_components: 2", "[normal], max_components: 1"))
    made.work_off()
    return store


def with_logs(count: int) -> MemoryStore:
    store = MemoryStore()
    store.job_logs.add_program_logs(made_logs(count))
    return store


def test_runs_that_tell_what_their_nodes_were_like_are_told_beforehand_in_the_report() -> None:
    written = page.render(content.gather(measured(Warm), 1))
    assert "Runs told beforehand" in written
    for part in ("Models beside each other", "Predicted against measured", "Where not to trust it"):
        assert part in written
    assert "modescope logs table --campaign 1" in written


def test_runs_without_telemetry_are_no_source() -> None:
    assert kept.of_campaign(measured(Laboratory), 1) is None


def test_logs_are_evaluated_once_as_long_as_nothing_is_taken_in() -> None:
    store = with_logs(160)
    found = kept.of_logs(store)
    assert found is not None
    assert set(found.evaluation.scores()) == {"read", "write"}
    assert kept.of_logs(store) is found
    store.job_logs.add_program_logs([replace(LOG, digest="new", job_id="new")])
    assert kept.of_logs(store) is not found


def test_of_a_few_logs_nothing_is_told() -> None:
    assert kept.of_logs(with_logs(kept.FEWEST - 1)) is None
