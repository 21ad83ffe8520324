"""What `modescope counters` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click
import numpy as np
from rich.table import Table

from analysis.counters import intervals
from analysis.counters.intervals import Interval, Level
from analysis.counters.mummi import Form, Model
from analysis.counters.ranking import Ranked
from analysis.counters.summary import Summary
from analysis.counters.what_if import Change
from orchestrator.cli import printing

MOST = 15
MOST_FEATURES = 10


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One sample that was not learned from."""

    target: str
    labels: Mapping[str, str]
    measured: float
    predicted: float

    @property
    def error_percent(self) -> float:
        """(prediction - measured) / measured x 100 %."""
        return (self.predicted / self.measured - 1) * 100


def tell_model(
    model: Model, known: Mapping[str, Interval], levels: Sequence[Level], forms: Mapping[Form, float],
    predicted: Sequence[Prediction],
) -> None:  # fmt: skip
    """The coefficients of one target, how wrong it is, and where."""
    click.echo(
        f"{model.target}: {formula(model)}; {len(model.terms)} of {len(model.counters)} counters, {model.n} samples; "
        f"mean absolute error {model.mean_error_percent:.2f} % on the samples it was fitted to"
    )
    table = _table("term", "coefficient", "95 %", "share of mean", "unique")
    for name, value in (("intercept", model.intercept), ("frequency", model.frequency_coefficient)):
        table.add_row(name, f"{value:.4g}", _interval(known.get(name)), "", "")
    for term in model.terms:
        cells = (f"{term.coefficient:.4g}", _interval(known.get(term.counter)), f"{term.share:.1%}")
        table.add_row(term.counter, *cells, f"{term.unique:.1%}")
    printing.console().print(table)
    if forms:
        told = ", ".join(f"{form} {error:.2f} %" for form, error in forms.items())
        click.echo(f"mean absolute error by form of the frequency: {told}")
    if better := intervals.better_form(model.form, forms):
        click.echo(f"{model.form} is the wrong shape here ({better} is much nearer); its mean error (95 %) at")
        for level in levels:
            click.echo(f"  {level.frequency_ghz:.2f} GHz: {_level(level)}{'  off' if level.is_off else ''}")
    if predicted:
        rates = np.array([one.error_percent for one in predicted])
        click.echo(
            f"predicted: {len(rates)} samples, mean absolute error {np.mean(np.abs(rates)):.2f} %, "
            f"from {rates.min():+.2f} to {rates.max():+.2f} %"
        )


def formula(model: Model) -> str:
    """`b0 + sum b_i r_i + b / f`."""
    ending = {"1/f": " + b / f", "f^3": " + b f^3", "f": " + b f", "none": ""}[model.form]
    return f"b0 + sum b_i r_i{ending}"


def model_as_dict(
    model: Model, known: Mapping[str, Interval], levels: Sequence[Level], forms: Mapping[Form, float],
    notes: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """For JSON."""
    return {
        "target": model.target,
        "form": model.form,
        "samples": model.n,
        "intercept": model.intercept,
        "frequency_coefficient": model.frequency_coefficient,
        "terms": [asdict(term) for term in model.terms],
        "intervals": {name: asdict(one) for name, one in known.items()},
        "mean_error_percent": model.mean_error_percent,
        "explained": model.explained,
        "forms": forms,
        "better_form": intervals.better_form(model.form, forms),
        "by_frequency": [asdict(level) | {"is_off": level.is_off} for level in levels],
        "notes": notes,
    }


def errors_as_dict(predicted: Sequence[Prediction]) -> dict[str, Any]:
    """For JSON: of the samples that were predicted; nothing where none were."""
    rates = np.array([one.error_percent for one in predicted])
    if not len(rates):
        return {"predicted": None}
    return {
        "predicted": {
            "n": len(rates),
            "mean_error_percent": float(np.mean(np.abs(rates))),
            "lowest_percent": float(rates.min()),
            "highest_percent": float(rates.max()),
            "samples": [asdict(one) | {"error_percent": one.error_percent} for one in predicted],
        }
    }


def tell_ranking(target: str, places: Sequence[Ranked]) -> None:
    """The first counters of one target."""
    table = _table("rank", "counter", "model", "share of mean", "unique", "Spearman", "p", "loading")
    for one in places[:MOST]:
        table.add_row(
            str(one.rank), one.counter, "yes" if one.in_model else "", f"{one.share:.1%}" if one.in_model else "",
            f"{one.unique:.1%}" if one.in_model else "", f"{one.spearman:+.2f}", f"{one.p:.2g}",
            f"{one.loading:.2f} on {one.component}" if one.component else "",
        )  # fmt: skip
    click.echo(f"{target}: {len(places)} counters")
    printing.console().print(table)


def tell_change(counter: str, percent: float, change: Change) -> None:
    """One target of a what-if."""
    if not change.in_model:
        click.echo(f"{change.target}: no change: neither {counter} nor what follows it is in the model")
        return
    click.echo(
        f"{change.target}: {change.change_percent:+.2f} % ({change.low_percent:+.2f} to {change.high_percent:+.2f}), "
        f"from {change.before:.4g} to {change.after:.4g}; if nothing followed {change.alone_percent:+.2f} %"
    )
    for one in change.followers:
        click.echo(f"  {one.counter} follows by {one.change_percent:+.1f} % (Spearman {one.spearman:+.2f})")


def tell_summary(target: str, found: Summary, *, grouped: bool) -> None:
    """The table of methods, what they agree on, and the stack."""
    how = "unseen configurations" if grouped else "random samples"
    click.echo(f"{target}: {found.splits} splits, 80/20, {how} held out; error rates in %")
    table = _table("method", "mean abs.", "se", "median abs.", "lowest", "highest", "weight in the stack")
    for one in found.methods:
        weight = found.weights.get(one.method)
        table.add_row(
            one.method, f"{one.mean_error_percent:.2f}", "" if np.isnan(one.se_percent) else f"{one.se_percent:.2f}",
            f"{one.median_error_percent:.2f}", f"{one.lowest_percent:+.1f}", f"{one.highest_percent:+.1f}",
            "" if weight is None else f"{weight:.2f}",
        )  # fmt: skip
    printing.console().print(table)
    click.echo(f"the ten agree on what matters: Kendall's W {found.agreement:.2f}")
    stack = next(one for one in found.methods if one.method == "stacked")
    told = ", ".join(f"{one.feature} {one.share:.0%}" for one in stack.importance[:MOST_FEATURES])
    click.echo(f"importance in the stack: {told}")


def _level(level: Level) -> str:
    return f"{level.mean_percent:+.1f} % ({level.low_percent:+.1f} to {level.high_percent:+.1f}), n = {level.n}"


def _interval(one: Interval | None) -> str:
    return "" if one is None else f"{one.low:.4g} to {one.high:.4g}"


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(names):
        table.add_column(name, justify="left" if place == 0 or name in {"counter", "95 %"} else "right", no_wrap=True)
    return table
