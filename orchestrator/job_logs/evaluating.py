"""A table of jobs evaluated: read, predicted by every model, told."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from analysis.log_prediction.evaluation import Evaluation, evaluate
from analysis.log_prediction.published import regressors
from analysis.log_prediction.published.classes import Classes
from analysis.log_prediction.published.procedure import Chosen, Select
from analysis.log_prediction.scores import Score
from orchestrator.cli import files
from orchestrator.contracts.errors import TableError, missing_extra
from orchestrator.job_logs import jobs as from_table
from orchestrator.job_logs.published import PublishedModel, records
from orchestrator.job_logs.table import JobTable

MODELS = ("history", "key_mean", "last_run", "paper", "best")

Report = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the user says about columns, and how to learn."""

    columns: from_table.Columns
    seed: int
    processes: int


@dataclass(frozen=True, kw_only=True)
class How:
    """What is trained on, and which models."""

    train_share: float = 0.6
    with_paper: bool = True
    select: Select = "validation"
    classes: Classes = "none"
    forest: int | None = None  # trees of our model; None: as many as it has, 0: without it


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """A table's evaluation, and what the published procedure chose, by direction and class."""

    table: JobTable
    chosen: from_table.Chosen
    evaluation: Evaluation
    published: dict[str, dict[str, Chosen]]
    unit: str


def require_learning() -> None:
    """Raises MissingPartError without scikit-learn."""
    if find_spec("sklearn") is None:
        raise missing_extra("predictions need scikit-learn", "learning")


def evaluated(table: JobTable, settings: Settings, how: How, *, report: Report) -> Evaluated:
    """Train on the first jobs, predict the others. Raises TableError, AnalysisError."""
    chosen = from_table.jobs_of(table, settings.columns)
    left_out(chosen, report)
    paper = _paper(table, chosen, settings, how, report=report) if how.with_paper else None
    evaluation = evaluate(
        chosen.jobs,
        train_share=how.train_share,
        others={} if paper is None else {"paper": paper},
        forest=how.forest,
        seed=settings.seed,
        processes=settings.processes,
        report=report,
    )
    return Evaluated(
        table=table,
        chosen=chosen,
        evaluation=evaluation,
        published={} if paper is None else paper.chosen,
        unit=from_table.unit_of(settings.columns),
    )


def _paper(
    table: JobTable, chosen: from_table.Chosen, settings: Settings, how: How, *, report: Report
) -> PublishedModel | None:
    """The published procedure; None where the table has none of its features."""
    if "CNN" not in regressors.available():
        report("paper: the convolutional network is left out: torch is not installed (extra `torch`)")
    try:
        known = records(table, chosen)
    except TableError as error:
        report(f"paper: left out: {error}")
        return None
    return PublishedModel(
        records=known,
        select=how.select,
        classes=how.classes,
        seed=settings.seed,
        processes=settings.processes,
        report=report,
        chosen={},
    )


def left_out(chosen: from_table.Chosen, report: Report) -> None:
    """Say how many rows could not be used."""
    if chosen.without_throughput:
        report(f"left out: {chosen.without_throughput} rows without a positive throughput")
    if chosen.without_time:
        report(f"left out: {chosen.without_time} rows without start or end")


def told(found: Evaluated) -> dict[str, Any]:
    """{direction: {file_system: {model: {r2, r2_log, within_r2, n, coverage90}}}}; None where nothing varies."""
    return {
        direction: {
            name: {model: _finite(models[model]) for model in MODELS if model in models}
            for name, models in by_file_system.items()
        }
        for direction, by_file_system in found.evaluation.scores().items()
    }


def _finite(one: Score) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: value if np.isfinite(value) else None for name, value in asdict(one).items()}


def as_table(found: Evaluated) -> Table:
    """The same for the terminal."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "file system", "model", "R²", "R² log", "R² within keys", "in 90 % interval", "jobs"):
        shown.add_column(name, justify="left" if name in {"", "file system", "model"} else "right")
    for direction, by_file_system in told(found).items():
        for file_system, models in by_file_system.items():
            for model, one in models.items():
                numbers = (one["r2"], one["r2_log"], one["within_r2"])
                shares = ("-" if value is None else f"{value:.3f}" for value in numbers)
                cells = (*shares, f"{100 * one['coverage90']:.1f} %", f"{one['n']:,}")
                shown.add_row(direction, file_system, model, *cells, style="bold" if model == "best" else None)
    return shown


def sentences(found: Evaluated) -> Iterator[str]:
    """What was learnt, in words."""
    for direction, by_class in found.published.items():
        for name, one in by_class.items():
            label = direction if name == "all" else f"{direction}, class {name}"
            first = "; ".join(f"{feature} from {', '.join(using)}" for feature, using in one.first_stage.items())
            pair = f"{one.pair[0]} -> {one.pair[1]}"
            yield f"paper, {label}: {pair} of {', '.join(one.features)}" + (f"; {first}" if first else "")
    if found.evaluation.model is not None:
        for direction, trust in found.evaluation.model.trust.items():
            yield f"best, {direction}: {100 * trust:.0f} % of the trees' correction of the history"


def write_predictions(found: Evaluated, out: Path) -> None:
    """A row for each tested job: its row in the table, what was measured, every model's prediction and interval."""
    evaluation = found.evaluation
    text = io.StringIO()
    models = [name for name in MODELS if name in evaluation.predictions]
    writer = csv.writer(text, lineterminator="\n")
    columns = [name for model in models for name in (model, f"{model}_low90", f"{model}_high90")]
    writer.writerow(["row", "start_s", *evaluation.jobs.key_names, "measured", *columns])
    for place in np.flatnonzero(evaluation.tested):
        values = [
            np.exp(ends[place])
            for one in (evaluation.predictions[name] for name in models)
            for ends in (one.middle, one.low, one.high)
        ]
        jobs = evaluation.jobs
        writer.writerow(
            [
                found.chosen.rows[place] + 2,
                f"{jobs.start_s[place]:.0f}",
                *jobs.keys[place],
                f"{jobs.throughput[place]:.6g}",
                *(f"{value:.6g}" for value in values),
            ]
        )
    files.write_whole(out, [text.getvalue().encode()])
