"""From settings that were found to a submission, its jobs, and its runs in the order in which they were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from orchestrator.contracts import engines
from orchestrator.contracts.campaigns import Submission
from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.engines import ImportedOptions
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.contracts.preparation import Preparation
from orchestrator.design.sections import read_analysis
from orchestrator.imports.mapping import Mapping as ColumnMapping
from orchestrator.imports.recording import PlacedRun, Totals, Wanted
from orchestrator.imports.samples import FoundRun, FoundSetting

ORDER_S = 1e-6
"""Between the starts of runs of which no time is told: they stand in their order, at the beginning of 1970."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything there is to record."""

    name: str
    factors: tuple[str, ...]
    settings: Sequence[FoundSetting]
    mapping: ColumnMapping
    source: str
    digest: str

    @cached_property
    def wanted(self) -> Wanted:
        """As the ledger takes it."""
        placed = sorted(_placed(self.settings), key=lambda one: one.run.place)
        position_of = {key: position for position, key in enumerate(dict.fromkeys(one.job for one in placed))}
        jobs = _jobs(placed, position_of)
        runs = list(_runs(placed, position_of))
        return Wanted(
            submission=self._submission(jobs), digest=self.digest, runs=lambda: runs, totals=Totals.of(runs)
        )  # fmt: skip

    def _submission(self, jobs: Sequence[PlannedJob]) -> Submission:
        settings = tuple(
            Setting(ordinal=ordinal, levels=found.levels, modes=found.modes, replicates=found.valid_runs)
            for ordinal, found in enumerate(self.settings)
        )
        study = self._study(settings)
        value = self.mapping.value
        options = ImportedOptions(
            source=self.source,
            sha256=self.digest,
            metric=value.metric,
            unit=value.unit,
            larger_is_better=value.larger_is_better,
        )
        return Submission(
            name=self.name,
            study={**study, "engine": {"name": engines.IMPORTED, **engines.as_dict(options)}},
            design=Design(factors=self.factors, settings=settings),
            replicates=study["replicates"],
            engine=engines.IMPORTED,
            engine_options=engines.as_dict(options),
            node_options=Preparation().as_dict(),
            analysis_options=study["analysis"],
            placement="pinned",
            on_lost_node="wait",
            max_tries=1,
            controls={},
            jobs=jobs,
            digest=self.digest,
            idempotency_key=f"import {self.digest}",
        )

    def _study(self, settings: Sequence[Setting]) -> dict[str, Any]:
        """As a study file would say it, a block a setting."""
        blocks = [
            {
                "levels": {name: [level] for name, level in zip(self.factors, one.levels, strict=True)},
                "modes": list(one.modes),
            }
            for one in settings
        ]
        return {
            "name": self.name,
            "description": self.mapping.description,
            "design": {"factors": list(self.factors), "blocks": blocks},
            "replicates": max(one.replicates or 1 for one in settings),
            "analysis": dict(self.mapping.analysis or read_analysis({})),
        }


_JobKey = tuple[int, int]
"""A setting's ordinal, and which of its blocks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Placed:
    """A run with the replicate it is a try of."""

    run: FoundRun
    job: _JobKey
    replicate: int
    try_number: int


def _placed(settings: Sequence[FoundSetting]) -> Iterator[_Placed]:
    """Valid runs are numbered block by block; one that failed is a try of the next one of its block, or the last."""
    for ordinal, setting in enumerate(settings):
        blocks: dict[tuple[str, str], list[FoundRun]] = {}
        for run in setting.runs:
            blocks.setdefault((run.node, run.job), []).append(run)
        whole = [runs for runs in blocks.values() if any(run.valid for run in runs)]
        whole[0] = [run for runs in blocks.values() if not any(run.valid for run in runs) for run in runs] + whole[0]
        first, tries = 0, Counter[int]()
        for block, runs in enumerate(whole):
            count = sum(run.valid for run in runs)
            passed = 0
            for run in runs:
                replicate = first + min(passed, count - 1)
                yield _Placed(run=run, job=(ordinal, block), replicate=replicate, try_number=tries[replicate])
                tries[replicate] += 1
                passed += run.valid
            first += count


def _jobs(placed: Sequence[_Placed], position_of: Mapping[_JobKey, int]) -> list[PlannedJob]:
    replicates: dict[_JobKey, set[int]] = {}
    node_of: dict[_JobKey, str] = {}
    for one in placed:
        replicates.setdefault(one.job, set()).add(one.replicate)
        if one.run.valid:
            node_of.setdefault(one.job, one.run.node)
    return [
        PlannedJob(
            setting=key[0],
            block=key[1],
            position=position,
            first_replicate=min(replicates[key]),
            replicates=len(replicates[key]),
            node=node_of[key],
        )
        for key, position in position_of.items()
    ]


def _runs(placed: Sequence[_Placed], position_of: Mapping[_JobKey, int]) -> Iterator[PlacedRun]:
    """In the order in which they were made, where the data tell it, else in that of the data."""
    timed = [replace(one, run=replace(one.run, started_at=_time(one.run))) for one in placed]
    for one in sorted(timed, key=lambda one: (one.run.started_at, one.run.place)):
        yield PlacedRun(
            number=one.run.place,
            position=position_of[one.job],
            replicate=one.replicate,
            try_number=one.try_number,
            node=one.run.node,
            started_at=one.run.started_at or 0.0,
            elapsed_s=one.run.elapsed_s or 0.0,
            values=one.run.values,
            valid=one.run.valid,
            reason=one.run.reason,
        )


def _time(run: FoundRun) -> float:
    return run.place * ORDER_S if run.started_at is None else run.started_at
