"""What `modescope criticality` tells: the same figures as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli.files import write_whole
from orchestrator.cli.printing import as_json
from orchestrator.contracts.errors import UserError

if TYPE_CHECKING:
    from analysis.arrays import Flags
    from analysis.criticality import Evaluation, Examples, Inconsistency, Options, Quality, Rule, Trace
    from analysis.criticality.scores import Auc


def number(value: float | None) -> float | None:
    """JSON has no nan."""
    return None if value is None or isnan(value) else float(value)


def overview(trace: Trace, rule: Rule) -> dict[str, object]:
    """Counts, and how large the imbalance is."""
    import numpy as np

    from analysis.criticality import reaches

    imbalance_ms = trace.imbalance_s * 1000
    return {
        "settings": len(trace.settings),
        "ranks": len(trace.ranks),
        "collectives": len(trace.collectives),
        "labelled_collectives": int(np.sum(reaches(trace.imbalance_s, rule.evaluated_s))),
        "collectives_to_learn_from": int(np.sum(reaches(trace.imbalance_s, rule.bound_s))),
        "median_imbalance_ms": number(float(np.nanmedian(imbalance_ms))),
        "largest_imbalance_ms": number(float(np.nanmax(imbalance_ms))),
    }


def inconsistency_row(name: str, found: Inconsistency, *, exclusive: bool) -> dict[str, object]:
    """A row of Table I."""
    from analysis.criticality import LAGS

    sometimes = found.sometimes_only if exclusive else found.sometimes
    return {
        "set": name,
        "ranks": found.ranks,
        "collectives": found.collectives,
        "always": found.always,
        "sometimes": sometimes,
        "never": found.never,
        "always_share": found.always / found.ranks,
        "sometimes_share": sometimes / found.ranks,
        "chance_overlap": number(found.chance),
        **{f"overlap_{lag}": number(value) for lag, value in zip(LAGS, found.overlap.tolist(), strict=True)},
    }


def plot(path: Path, trace: Trace, slow: Flags, title: str) -> None:
    """Write the picture, as .svg or .html; of several settings, the first. Raises UserError."""
    from orchestrator.report import slow_ranks

    if path.suffix not in (".svg", ".html"):
        raise UserError(f"--plot {path}: the name ends in .svg or .html")
    rows = trace.by_setting()[0]
    if len(trace.settings) > 1:
        title = f"{title}: {trace.settings[0]}"
    svg = slow_ranks.picture(slow[rows], trace.ranks, title)
    write_whole(path, [(slow_ranks.page(svg, title) if path.suffix == ".html" else str(svg)).encode()])


def imported(path: Path) -> Trace:
    """The trace in a file of another tool; what was read is told on stderr. Raises UserError."""
    from orchestrator import traces

    read = traces.read(path)
    click.echo(read.told, err=True)
    return read.trace


def imbalance_of_log(path: Path, *, json_wanted: bool) -> None:
    """All that totals of each rank tell. Raises UserError."""
    from orchestrator.traces import apmpi

    found = apmpi.summary(path)
    if json_wanted:
        as_json(asdict(found))
        return
    for name, words in (("in_mpi_s", "in MPI"), ("in_collectives_s", "in collectives")):
        spent: Mapping[str, float] = getattr(found, name)
        click.echo(
            f"time {words}: least {spent['least']:.4g} s, median {spent['median']:.4g} s, most {spent['most']:.4g} s"
        )
    click.echo(f"ranks: {found.ranks}; the 5 % that waited least, whom others waited for: {found.waited_for}")
    click.echo(
        "totals only: whether these change from collective to collective, and criticality, cannot be told", err=True
    )


def counted(count: int, noun: str) -> str:
    """`1 setting`, `2 settings`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_overview(trace: Trace, rule: Rule) -> None:
    found = overview(trace, rule)
    click.echo(
        f"{counted(len(trace.settings), 'setting')}, {counted(len(trace.ranks), 'rank')}, "
        f"{counted(len(trace.collectives), 'collective')}; imbalance: median "
        f"{found['median_imbalance_ms']:.3g} ms, largest {found['largest_imbalance_ms']:.3g} ms"
    )
    bound_ms = rule.bound_s * 1000
    if found["collectives_to_learn_from"] == 0:
        click.echo(f"never reaches {bound_ms:g} ms of imbalance: no rank is labelled critical, nothing can be learnt")


def print_inconsistency(trace: Trace, rule: Rule, rows: list[dict[str, object]]) -> None:
    """Table I, and how much of a set is left after 1 and 10 collectives."""
    print_overview(trace, rule)
    click.echo(
        f"{'set':<12}{'ranks':>9}{'always':>17}{'sometimes':>17}{'overlap: next':>15}{'10 later':>10}{'chance':>9}"
    )
    for row in rows:
        shares = [f"{row[key]:,} ({100 * float(str(row[f'{key}_share'])):.1f} %)" for key in ("always", "sometimes")]
        overlaps = [_percent(row[key]) for key in ("overlap_1", "overlap_10", "chance_overlap")]
        click.echo(
            f"{row['set']:<12}{row['ranks']:>9,}{shares[0]:>17}{shares[1]:>17}"
            f"{overlaps[0]:>15}{overlaps[1]:>10}{overlaps[2]:>9}"
        )


def _percent(value: object) -> str:
    return f"{100 * value:.1f} %" if isinstance(value, float) else "-"


def auc(found: Auc | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {"value": found.value, "low": number(found.low), "high": number(found.high), "is_chance": found.is_chance}


def quality(found: Quality) -> dict[str, object]:
    """Everything known of predictions on samples held back."""
    calibration = found.calibration
    return {
        "samples": found.samples,
        "collectives": found.collectives,
        "critical": found.critical,
        "auc": auc(found.auc),
        "verdict": found.verdict,
        "balanced_accuracy": number(found.balanced_accuracy),
        "accuracy": found.accuracy,
        "majority": found.majority,
        "precision": number(found.sets.precision),
        "recall": number(found.sets.recall),
        "sets_exact": found.sets.exact,
        "calibration_error": calibration.error,
        "brier": calibration.brier,
        "calibration": [
            {"told": chance, "came_true": true, "samples": samples}
            for chance, true, samples in zip(calibration.told, calibration.came_true, calibration.samples, strict=True)
        ],
        "buckets": [
            {
                "low_ms": bucket.low_s * 1000,
                "high_ms": None if bucket.high_s == float("inf") else bucket.high_s * 1000,
                "samples": bucket.samples,
                "critical": bucket.critical,
                "accuracy": bucket.accuracy,
                "majority": bucket.majority,
            }
            for bucket in found.buckets
        ],
    }


def evaluated(found: Evaluation, examples: Examples) -> dict[str, object]:
    """An evaluation as JSON."""
    return {
        "features": list(examples.features),
        "excluded_periods": examples.excluded,
        "excluded_samples": examples.excluded_samples,
        "held_back": quality(found.held_back),
        "from_lower_bound": quality(found.from_lower_bound),
        "updated": None if found.updated is None else quality(found.updated),
        "cross_validation": {"auc": auc(found.folded), "folds": found.folds},
        "other_models": {name: auc(one) for name, one in found.other_models.items()},
        "gains": [
            {"counter": one.name, "bits": one.bits, "stability": one.stability, "auc_alone": number(one.auc)}
            for one in found.gains
        ],
    }


def excluded(examples: Examples) -> None:
    """What no prediction could be made for, on stderr."""
    if examples.excluded or examples.excluded_samples:
        click.echo(
            f"excluded: {examples.excluded:,} periods shorter than the window, {examples.excluded_samples:,} samples "
            "outside the window",
            err=True,
        )


def print_evaluation(trace: Trace, options: Options, examples: Examples, found: Evaluation) -> None:
    """The figures as text."""
    print_overview(trace, options.rule)
    excluded(examples)
    print_quality("held back", found.held_back, found.from_lower_bound)
    if found.updated is not None:
        click.echo(f"  updated after each round: AUC {_auc_text(found.updated.auc)}")
    if found.folds:
        click.echo(
            f"  cross-validation, {len(found.folds)} folds: AUC {_auc_text(found.folded)}; folds "
            f"{min(found.folds):.3f} to {max(found.folds):.3f}"
        )
    _print_others(found.other_models)
    click.echo("information gain (bits, share of resamples in the top five, AUC alone):")
    for one in found.gains[:5]:
        click.echo(f"  {one.name:<28}{one.bits:>8.4f}{one.stability:>7.2f}{one.auc:>8.3f}")


def _print_others(found: Mapping[str, Auc | None]) -> None:
    click.echo("for comparison, AUC on what was held back:")
    for name, one in found.items():
        click.echo(f"  {name:<32}{_auc_text(one)}")


def print_quality(name: str, found: Quality, lower: Quality | None = None) -> None:
    """What predictions are worth, as text."""
    click.echo(
        f"{name}: {found.samples:,} predictions of {found.collectives:,} collectives, {found.critical:,} critical: "
        f"{found.verdict}"
    )
    click.echo(
        f"  AUC {_auc_text(found.auc)}; balanced accuracy {found.balanced_accuracy:.3f}; accuracy {found.accuracy:.3f} "
        f"(majority class {found.majority:.3f}); calibration error {found.calibration.error:.3f}"
    )
    click.echo(
        f"  sets named: precision {found.sets.precision:.3f}, recall {found.sets.recall:.3f}, "
        f"without a mistake {found.sets.exact:.3f}"
    )
    wider = lower or found
    for bucket in wider.buckets:
        high = "or more" if bucket.high_s == float("inf") else f"to {bucket.high_s * 1000:g}"
        click.echo(
            f"  imbalance {bucket.low_s * 1000:g} {high} ms: {bucket.samples:,} predictions, accuracy "
            f"{bucket.accuracy:.3f}, majority class {bucket.majority:.3f}"
        )


def _auc_text(found: Auc | None) -> str:
    if found is None:
        return "none (all labels are alike)"
    chance = ": no better than chance" if found.is_chance else ""
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f}){chance}"
