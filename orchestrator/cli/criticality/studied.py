"""From what was asked for on the command line to traces, examples, models and their evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.cli.criticality import told
from orchestrator.cli.criticality.columns import Columns, read
from orchestrator.contracts.errors import TableError, UserError, missing_extra

if TYPE_CHECKING:
    from analysis.criticality import Evaluation, Examples, Model, Options, Rule, Samples, Trace

Given = dict[str, Any]
"""Options by name, as click hands them over."""


def trace_of(given: Given, *, with_counters: bool) -> tuple[Trace, Samples | None]:
    """The file, as a table or as a trace. Raises UserError."""
    from analysis.errors import AnalysisError
    from orchestrator import traces

    path: Path = given["file"]
    if traces.is_log(path):
        raise TableError(f"{path}: a Darshan log holds totals of each rank and no single collective: use inconsistency")
    if traces.is_trace(path):
        return told.imported(path), None
    columns = Columns(
        collective=given["collective"],
        rank=given["rank"],
        setting=given["setting"],
        throughput=given["throughput"],
        work=given["work"] or (),
        consecutive=given["consecutive"],
        in_order=given["in_order"],
        counters=given.get("counters"),
    )
    try:
        return read(path, columns, with_counters=with_counters)
    except AnalysisError as error:
        raise TableError(f"{path}: {error}") from error


def rule_of(given: Given) -> Rule:
    """Which samples are critical, and from which imbalance on."""
    from analysis.criticality import Rule

    return Rule(share=given["share"], bound_s=given["bound_ms"] / 1000, evaluated_s=given["from_ms"] / 1000)


def prepared(trace: Trace, samples: Samples | None, given: Given) -> tuple[Options, Examples]:
    """How to learn, and what from."""
    from analysis import criticality as c

    with_history = given["history"] if given["history"] is not None else samples is None
    options = c.Options(
        rule=rule_of(given),
        per_setting=given["per_setting"],
        standard=given["standard"],
        ridge=given["ridge"],
        seed=given["seed"],
    )
    examples = c.prepare(
        trace,
        samples,
        options.rule,
        window_s=given["window_ms"] / 1000,
        with_history=with_history,
        with_own_time=given["own_time"],
        drift=drift_of(given),
    )
    return options, examples


def drift_of(given: Given) -> int:
    """Consecutive runs that could be in one round all tell what is usual just now."""
    if given["drift"] is not None:
        return int(given["drift"])
    return 0 if given["consecutive"] is None else 2 * int(given["consecutive"]) - 1


def evaluation_of(trace: Trace, examples: Examples, options: Options, given: Given, *, update: bool) -> Evaluation:
    """Train on a part, judge by the rest. Raises UserError without the extra that boosted trees need."""
    from analysis import criticality as c

    plan = c.Plan(
        split=given["split"],
        share=given["learn_share"],
        folds=given["folds"],
        update=update,
        boosted=given["boosted"],
    )
    try:
        return c.evaluate(trace, examples, options, plan)
    except ImportError as error:
        raise missing_extra("boosted trees (--no-boosted does without) need scikit-learn", "learning") from error


def model_in(path: Path) -> Model:
    """A model that `train` has written. Raises UserError."""
    from analysis.criticality import BadModelError, from_json

    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except BadModelError as error:
        raise UserError(f"{path}: {error}") from error


def counters_of(model: Model) -> tuple[str, ...]:
    """The columns that it needs."""
    from analysis.criticality import OWN_TIME

    return tuple(name for name in model.features[: model.counters] if name != OWN_TIME)


def examples_for(trace: Trace, samples: Samples | None, model: Model, rule: Rule) -> Examples:
    """The features that the model wants, in its order."""
    from analysis import criticality as c

    return c.prepare(
        trace,
        samples,
        rule,
        window_s=model.window_s,
        with_history=len(model.features) > model.counters,
        with_own_time=c.OWN_TIME in model.features,
        drift=model.drift,
    )
