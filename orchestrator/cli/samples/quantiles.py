"""What `modescope fit --quantiles` writes: quantiles of the selected fits and their standard errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from analysis.errors import AnalysisError, NoStandardErrorError
from analysis.mixture import Failure, Options, Selection, bootstrap_each, check_quantile
from orchestrator.contracts.tables import LabelledSample

COLUMNS = ("n", "q", "quantile", "se", "se_method", "se_refused")
METHODS = ("delta", "bootstrap")


@dataclass(frozen=True, kw_only=True)
class Request:
    """Which quantiles are wanted, and where their standard errors come from."""

    quantiles: tuple[float, ...]
    method: str
    resamples: int
    seed: int


def parse(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[float, ...]:
    """The numbers of a comma-separated list; empty for None."""
    return () if value is None else tuple(_probability(text.strip()) for text in value.split(","))


def check_together(quantiles: Sequence[float], out: Path | None, method: str | None) -> None:
    """Raises `click.UsageError` for an option that does nothing without another."""
    if method is not None and not quantiles:
        raise click.UsageError("--se needs --quantiles, as in --quantiles 0.1,0.9.")
    if bool(quantiles) != (out is not None):
        raise click.UsageError("--quantiles and --quantiles-out need each other.")


def rows(
    request: Request,
    samples: Sequence[LabelledSample],
    results: Sequence[Selection | Failure],
    options: Options,
    processes: int,
) -> Iterator[tuple[object, ...]]:
    """A row per configuration and quantile, in the order of the file, as they are ready."""
    errors = _standard_errors(request, samples, results, options, processes)
    for sample, result in zip(samples, results, strict=False):
        found = [result.message] * len(request.quantiles) if isinstance(result, Failure) else next(errors)
        for q, error in zip(request.quantiles, found, strict=True):
            value = "" if isinstance(result, Failure) else result.quantile(q)
            se, refused = ("", error) if isinstance(error, str) else (error, "")
            yield (*sample.labels, len(sample.values), q, value, se, request.method, refused)


def _standard_errors(
    request: Request,
    samples: Sequence[LabelledSample],
    results: Sequence[Selection | Failure],
    options: Options,
    processes: int,
) -> Iterator[list[float | str]]:
    """For each selection the standard error of every quantile, or the reason why there is none."""
    if request.method == "delta":
        for result in results:
            if isinstance(result, Selection):
                yield [_by_delta(result, q) for q in request.quantiles]
        return
    chosen = [s.values for s, result in zip(samples, results, strict=False) if isinstance(result, Selection)]
    for found in bootstrap_each(
        chosen,
        request.quantiles,
        seed=request.seed,
        options=options,
        resamples=request.resamples,
        processes=processes,
    ):
        yield [found.message] * len(request.quantiles) if isinstance(found, Failure) else found.tolist()


def _by_delta(selection: Selection, q: float) -> float | str:
    try:
        return selection.quantile_se(q)
    except NoStandardErrorError as error:
        return str(error)


def _probability(text: str) -> float:
    try:
        q = float(text)
        check_quantile(q)
    except AnalysisError as error:
        raise click.BadParameter(f"{error}.") from error
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a number.") from error
    return q
