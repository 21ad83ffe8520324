"""What becomes of runs that the ledger will not have."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.runs import Receipt, Run
from orchestrator.store.memory import MemoryStore
from workers.homecoming import Homecoming
from workers.spool import Spool


def a_run(setting_id: int) -> Run:
    return Run(
        id=uuid.uuid4(),
        campaign_id=1,
        setting_id=setting_id,
        job_id=1,
        attempt=1,
        replicate=0,
        try_number=0,
        session=uuid.uuid4(),
        sequence=1,
        started_at=0.0,
        elapsed_s=0.1,
        engine="builtin",
        engine_version="1",
        exit_status=0,
        values=(1.0,),
        valid=True,
    )


def test_one_run_that_does_not_fit_holds_up_no_other_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, ledger = MemoryStore(), uuid.uuid4()
    taken: list[int] = []

    def record(runs: Sequence[Run]) -> Receipt:
        if any(run.setting_id == 13 for run in runs):
            raise ConflictError("campaign 1 has no setting 13")
        taken.extend(run.setting_id for run in runs)
        return Receipt(valid=tuple(run.id for run in runs))

    monkeypatch.setattr(store.runs, "record", record)
    spool = Spool(tmp_path, ledger)
    homecoming = Homecoming(store, spool, tmp_path / "refused.jsonl")
    for setting_id in (12, 13, 14):
        homecoming.keep(a_run(setting_id))
    assert homecoming.catch_up()
    assert taken == [12, 14]
    assert spool.pending() == []
    (refused,) = (tmp_path / "refused.jsonl").read_text().splitlines()
    assert json.loads(refused)["setting_id"] == 13
    homecoming.close()
