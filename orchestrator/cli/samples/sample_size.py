"""`modescope sample-size`: how precisely quantiles are known after n runs, and how many runs a target asks for."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TextIO

import click

from analysis import sample_size as sizes
from analysis.mixture import FAMILY_NAMES, Failure, Fit, Options
from analysis.mixture.options import MAX_COMPONENTS
from orchestrator.cli import printing
from orchestrator.cli.samples import quantiles as quantile_rows
from orchestrator.cli.samples import sample_size_rows
from orchestrator.contracts.errors import StudyError, TableError
from orchestrator.contracts.mixtures import Mixture
from orchestrator.contracts.tables import Table, read_table

DEFAULTS = sizes.Target()
FEWEST = 30
TOLD_N = (10, 40, 150, 250, 900)


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(","))


@click.command(name="sample-size")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--quantiles", callback=quantile_rows.parse, default="0.1,0.9", show_default=True, help="As in 0.1,0.9.")
@click.option("--target", type=float, default=DEFAULTS.share, show_default=True, help="Largest SE, in scales.")
@click.option("--max-n", type=click.IntRange(1), default=DEFAULTS.max_n, show_default=True, help="Largest n.")
@click.option(
    "--scale",
    type=click.Choice(sizes.SCALES),
    default=DEFAULTS.scale,
    show_default=True,
    help="x_0.9 - x_0.1, the quantile itself (the paper), or the sd.",
)
@click.option("--centred", is_flag=True, help="Gamma = SE / (x_q - mean), as in the paper; adds SE / sd to --curve.")
@click.option(
    "--quantile-from",
    "estimator",
    type=click.Choice(sizes.ESTIMATORS),
    help="Whose SE: the fit's quantile or the sample's.  [default: Gamma of the fit's, n enough for either]",
)
@click.option("--family", type=click.Choice(FAMILY_NAMES), help="Force this family.  [default: selected by BIC]")
@click.option("--components", type=click.IntRange(1, MAX_COMPONENTS), help="Force this k.  [default: by BIC]")
@click.option("--likelihood", type=click.Choice(["auto", "point", "interval"]), default="auto", show_default=True)
@click.option("--floor", type=float, default=Options().floor, show_default=True, help="Smallest sigma, in sample sds.")
@click.option("--model", help="Instead of FILE: a known mixture, normal:w,mu,sd;w,mu,sd (see below).")
@click.option("--curve", is_flag=True, help="Gamma at n = 1, 2, 5, 10, ... max-n instead of the summary.")
@click.option("--resamples", type=click.IntRange(0), default=sizes.RESAMPLES, show_default=True, help="Of the pilot.")
@click.option("--seed", type=click.IntRange(0), default=Options().seed, show_default=True, help="Of the resampling.")
@click.option("--processes", type=click.IntRange(1), default=1, show_default=True, help="Processes to fit in.")
@click.option("--labels", callback=_names, help="Label columns, comma-separated.  [default: all that are not values]")
@click.option("--value", help="Column of the values, one run a row.  [default: throughput or throughput_kbps]")
@click.option("--out", type=click.Path(path_type=Path), help="Write the CSV here.  [default: stdout]")
@click.option("--json", "json_wanted", is_flag=True, help="Print one line of JSON; CSV only with --out.")
def sample_size(  # noqa: PLR0917 - one parameter per option of the command
    file: Path | None,
    quantiles: tuple[float, ...],
    target: float,
    max_n: int,
    scale: sizes.Scale,
    centred: bool,
    estimator: sizes.Estimator | None,
    family: str | None,
    components: int | None,
    likelihood: str,
    floor: float,
    model: str | None,
    curve: bool,
    resamples: int,
    seed: int,
    processes: int,
    labels: tuple[str, ...] | None,
    value: str | None,
    out: Path | None,
    json_wanted: bool,
) -> None:
    """How many runs do the quantiles of each configuration in FILE (CSV, plain or .gz) need?

    A mixture is selected for each, and n is the smallest with which the standard error of every quantile is at most
    0.05 (x_0.9 - x_0.1): never below 30 nor the runs there are, and at most --max-n (target: `not within max-n` says
    that this is too few). n_low and n_high are its 80 % interval over draws of the runs, each with its own selection;
    low_ and high_ are 95 % intervals of the quantiles by ranks alone; n_confirm is CONFIRM's n for 1 % of the median,
    empty where the runs there are do not suffice. quantile, se and gamma (SE / x_q) are told at that n.

    \b
    A known mixture, --model FAMILY:w,a,b;w,a,b with weights that sum to 1:
      normal                            a, b = mean and sd of x
      lognormal                         a, b = mean and sd of log x
      weibull, frechet, loglogistic     a, b = location and scale of log x
      gamma                             a, b = shape and scale of x

    \b
    Example:
      modescope sample-size pilot.csv --out sizes.csv
      modescope sample-size pilot.csv --curve --centred --quantiles 0.1,0.5,0.9 --out curves.csv
      modescope sample-size --model 'normal:0.3,100,4;0.7,140,6' --json
    """
    _check_model(file, model, forced=family is not None or components is not None)
    if not curve and max_n < FEWEST:
        raise click.UsageError(f"--max-n must be at least {FEWEST}: with fewer runs no model can be chosen.")
    question = sizes.Question(
        target=sizes.Target(
            quantiles=quantiles, share=target, scale=scale, centred=centred, estimator=estimator, max_n=max_n
        ),
        options=_options(family, likelihood, floor),
        components=components,
        resamples=0 if curve else resamples,
        seed=seed,
    )
    table, found = _answers(file, model, question, labels=labels, value=value, processes=processes)
    _tell_all(table, found, question.target, curve=curve, out=out, json_wanted=json_wanted)


def _tell_all(
    table: Table,
    found: Iterable[sizes.Answer | Failure],
    wanted: sizes.Target,
    *,
    curve: bool,
    out: Path | None,
    json_wanted: bool,
) -> None:
    """CSV, or one line of JSON, or both; what is to be said beside them goes to stderr."""
    layout = sample_size_rows.curve(wanted) if curve else sample_size_rows.summary(wanted)
    with ExitStack() as files:
        write = None if json_wanted and out is None else _writer(files, out, (*table.label_names, *layout.columns))
        told = list(_written(table, found, layout, write))
    if json_wanted:
        printing.as_json({"target": sample_size_rows.told(wanted), "rows": told})
    if not curve:
        _tell_arithmetic()


def _check_model(file: Path | None, model: str | None, *, forced: bool) -> None:
    if (file is None) == (model is None):
        raise click.UsageError("either FILE or --model is needed, and only one of them.")
    if model is not None and forced:
        raise click.UsageError("--model is a mixture of its own: --family and --components force a fit.")


def _options(family: str | None, likelihood: str, floor: float) -> Options:
    families = list(FAMILY_NAMES) if family is None else [family]
    return Options.from_dict({"families": families, "likelihood": likelihood, "floor": floor})


def _answers(
    file: Path | None,
    model: str | None,
    question: sizes.Question,
    *,
    labels: tuple[str, ...] | None,
    value: str | None,
    processes: int,
) -> tuple[Table, Iterator[sizes.Answer | Failure]]:
    """The labels of each configuration, and what is found for it, as it is ready."""
    if file is None:
        return Table(label_names=(), samples=()), iter([sizes.of_model(known_model(model or ""), question.target)])
    table = read_table(file, labels, value=value)
    samples = [sample.values for sample in table.samples]
    found = sizes.answer_each(samples, question, processes=processes)
    return table, printing.counted("fitting", found, len(samples))


def known_model(text: str) -> Fit:
    """The mixture of `--model`. Raises `StudyError`."""
    mixture = Mixture.parse(text, FAMILY_NAMES)
    parts = mixture.components
    if mixture.family == "gamma" and any(one.mean <= 0 for one in parts):
        raise StudyError(f"{text!r}: the shape of a gamma component is positive")
    return Fit(
        family=mixture.family,
        weights=tuple(one.weight for one in parts),
        locations=tuple(one.mean for one in parts),
        scales=tuple(one.standard_deviation for one in parts),
        loglik=0.0,
        n=1,
        converged=True,
        iterations=0,
        at_floor=(False,) * len(parts),
    )


def _written(
    table: Table,
    found: Iterable[sizes.Answer | Failure],
    layout: sample_size_rows.Layout,
    write: Callable[[Sequence[object]], object] | None,
) -> Iterator[dict[str, object]]:
    """Each row, written as it comes; on stderr what failed, what is not within max-n, and the median n."""
    needs = []
    labels = [sample.labels for sample in table.samples] or [()]
    for names, answer in zip(labels, found, strict=True):
        if isinstance(answer, sizes.Answer):
            needs.append(answer.need)
        if not layout.is_curve:
            _tell(names, answer)
        for row in layout.rows(answer):
            if write is not None:
                write((*names, *("" if cell is None else cell for cell in row)))
            yield dict(zip((*table.label_names, *layout.columns), (*names, *row), strict=True))
    if needs and not layout.is_curve:
        beyond = sum(not need.met for need in needs)
        beyond_words = f"; {beyond} not within max-n {needs[0].max_n}" if beyond else ""
        click.echo(
            f"configurations: {len(needs)}; median n: {median(need.n for need in needs):g}{beyond_words}", err=True
        )


def _tell(names: Sequence[str], answer: sizes.Answer | Failure) -> None:
    if isinstance(answer, Failure):
        click.echo(f"{' '.join(names)}: not fitted: {answer.message}", err=True)
    elif not answer.need.met:
        wanted = f"{answer.need.uncapped:,} runs would be needed" if answer.need.uncapped < 10**9 else "no n would do"
        click.echo(f"{' '.join(names) or 'model'}: not within max-n {answer.need.max_n}: {wanted}", err=True)


def _tell_arithmetic() -> None:
    table = ", ".join(f"{100 / n**0.5:.3g} % at {n}" for n in TOLD_N)
    click.echo(f"|Gamma(n)| / |Gamma(1)| is 1 / sqrt(n) for every configuration, no finding: {table}", err=True)


def _writer(files: ExitStack, path: Path | None, header: Sequence[str]) -> Callable[[Sequence[object]], object]:
    stream: TextIO = sys.stdout
    if path is not None:
        try:
            stream = files.enter_context(path.open("w", encoding="utf-8", newline=""))
        except OSError as error:
            raise TableError(f"{path}: cannot be written: {error.strerror}") from error
    write = csv.writer(stream, lineterminator="\n").writerow
    write(header)
    return write
