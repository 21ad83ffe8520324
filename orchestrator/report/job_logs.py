"""A page about a table of jobs: predicted against measured, what it rests on, where not to trust it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.errors import AnalysisError
from analysis.log_prediction.clusters import Cluster, clusters
from analysis.log_prediction.evaluation import ALL
from analysis.log_prediction.importance import importances
from analysis.log_prediction.jobs import Key
from analysis.log_prediction.published.selection import correlation
from orchestrator.job_logs import published
from orchestrator.job_logs.evaluating import Evaluated, sentences, told
from orchestrator.report import prediction_pictures as pictures
from orchestrator.report.job_log_pictures import profiles

SHOWN_KEYS = 24  # violins of a direction; those with most jobs
FEW_RUNS = 20
Scores = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float | None]]]]
WIDE_FACTOR = 1.3  # half of the predictions are off by more


@dataclass(frozen=True, kw_only=True)
class OfKey:
    """How one key was predicted."""

    key: Key
    trained: int
    tested: int
    factor: float  # half of the predictions are off by less than this factor
    inside: float  # share in the 90 % interval
    doubt: str  # why not to trust it; empty where nothing speaks against it


@dataclass(frozen=True, kw_only=True)
class OfDirection:
    """Everything about reads, or writes."""

    name: str
    scatter: Markup
    violins: Markup
    importance: Markup | None
    keys: tuple[OfKey, ...]
    correlations: Markup | None
    profiles: Markup | None
    clusters: tuple[Cluster, ...]


@dataclass(frozen=True, kw_only=True)
class Content:
    """What an evaluation found, for the page of a table, the page of the service's logs, a campaign's report."""

    jobs: int
    tested: int
    scores: Scores
    """As `evaluating.told`."""
    sentences: tuple[str, ...]
    directions: tuple[OfDirection, ...]
    place: str | None
    """What the second name of a score is about; None where all are together."""
    unit: str


def content_of(found: Evaluated, *, seed: int, place: str | None = "file system") -> Content:
    """Everything that is shown of an evaluation; it takes seconds. Without `place`, all places together."""
    return Content(
        jobs=len(found.evaluation.jobs),
        tested=int(np.count_nonzero(found.evaluation.tested)),
        scores=_scores(found, every_place=place is not None),
        sentences=tuple(sentences(found)),
        directions=tuple(_directions(found, seed)),
        place=place,
        unit=found.unit,
    )


def _scores(found: Evaluated, *, every_place: bool) -> Scores:
    return {
        direction: {name: models for name, models in by_place.items() if every_place or name == ALL}
        for direction, by_place in told(found).items()
    }


def render(found: Evaluated, *, seed: int, made_at: datetime | None = None) -> str:
    """One HTML page that needs nothing else."""
    environment = Environment(
        loader=PackageLoader("orchestrator.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("job_logs.html").render(
        name=found.table.path.name,
        content=content_of(found, seed=seed),
        made_at=(made_at or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
        version=version("modescope"),
    )


def _directions(found: Evaluated, seed: int) -> Iterator[OfDirection]:
    evaluation = found.evaluation
    best = evaluation.predictions["best"]
    for name in found.evaluation.scores():
        tested = evaluation.tested & evaluation.jobs.of_direction(name) & np.isfinite(best.middle)
        measured = evaluation.jobs.throughput[tested]
        predicted = np.exp(best.middle[tested])
        rng = np.random.default_rng(seed)
        important = {f"{one.kind} ({one.features})": one.lost for one in importances(evaluation, name, rng=rng)}
        keys = _keys(found, name)
        correlations, profile, groups = _section_4(found, name, seed)
        yield OfDirection(
            name=name,
            scatter=pictures.scatter(
                measured, predicted, unit=found.unit, label=f"{name}s: predicted over measured throughput"
            ),
            violins=pictures.violins(
                _errors(found, keys), pictures.RATIOS, label=f"{name}s: predicted / measured, by key"
            ),
            importance=pictures.bars(important, label=f"{name}s: R² lost without") if important else None,
            keys=keys,
            correlations=correlations,
            profiles=profile,
            clusters=groups,
        )


def _keys(found: Evaluated, direction: str) -> tuple[OfKey, ...]:
    evaluation, best = found.evaluation, found.evaluation.predictions["best"]
    jobs = evaluation.jobs
    places: dict[Key, list[int]] = {}
    for place, key in enumerate(jobs.keys):
        if jobs.directions[place] == direction and np.isfinite(jobs.throughput[place]):
            places.setdefault(key, []).append(place)
    rows = []
    for key, members in places.items():
        tested = [one for one in members if evaluation.tested[one] and np.isfinite(best.middle[one])]
        if tested:
            measured = np.log(jobs.throughput[tested])
            factor = float(np.exp(np.median(np.abs(measured - best.middle[tested]))))
            inside = float(np.mean((best.low[tested] <= measured) & (measured <= best.high[tested])))
            trained = len(members) - int(np.count_nonzero(evaluation.tested[members]))
            doubt = _doubt(trained, factor, inside, len(tested))
            rows.append(
                OfKey(key=key[1:], trained=trained, tested=len(tested), factor=factor, inside=inside, doubt=doubt)
            )
    return tuple(sorted(rows, key=lambda one: (not one.doubt, -one.factor)))


def _doubt(trained: int, factor: float, inside: float, tested: int) -> str:
    reasons = [
        f"only {trained} runs to learn from" if trained < FEW_RUNS else "",
        f"half of the predictions are off by more than a factor of {factor:.2f}" if factor > WIDE_FACTOR else "",
        # Three standard errors of a share below 90 %.
        "its intervals are too narrow" if inside < 0.9 - 3 * (0.09 / tested) ** 0.5 else "",
    ]
    return "; ".join(reason for reason in reasons if reason)


def _errors(found: Evaluated, keys: Sequence[OfKey]) -> dict[str, np.ndarray]:
    evaluation, best = found.evaluation, found.evaluation.predictions["best"]
    errors = {}
    differing = [part for part in range(len(keys[0].key)) if len({one.key[part] for one in keys}) > 1] if keys else []
    for one in sorted(keys, key=lambda one: -one.tested)[:SHOWN_KEYS]:
        members = evaluation.tested & np.array([key[1:] == one.key for key in evaluation.jobs.keys])
        members &= np.isfinite(best.middle)
        name = " ".join(one.key[part] for part in differing) or " ".join(one.key)
        errors[name] = best.middle[members] - np.log(evaluation.jobs.throughput[members])
    return errors


def _section_4(found: Evaluated, direction: str, seed: int) -> tuple[Markup | None, Markup | None, tuple[Cluster, ...]]:
    """The analysis of the paper's section 4, of this direction's jobs."""
    rows = np.array(found.chosen.rows)[found.evaluation.jobs.of_direction(direction)]
    throughput = found.evaluation.jobs.throughput[found.evaluation.jobs.of_direction(direction)]
    features = {name: values[rows] for name, (_, values) in published.features(found.table).items()}
    strengths = {name: correlation(values, throughput) for name, values in features.items()}
    strengths = {name: one for name, one in strengths.items() if np.isfinite(one)}
    if not strengths:
        return None, None, ()
    ordered = dict(sorted(strengths.items(), key=lambda pair: -abs(pair[1])))
    bars = pictures.bars(ordered, label=f"{direction}s: correlation with throughput", digits=2)
    try:
        groups = clusters(np.column_stack([features[name] for name in strengths]), throughput, seed=seed)
    except AnalysisError:
        return bars, None, ()
    lines = profiles(list(strengths), [one.centre for one in groups], label=f"{direction}s: clusters of jobs")
    return bars, lines, tuple(groups)
