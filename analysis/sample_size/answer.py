"""Everything that is told about one sample: selected model, Gamma, n with its interval, and what needs no model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from analysis.errors import AnalysisError
from analysis.mixture import Failure, Fit, Options
from analysis.mixture.many import each
from analysis.mixture.sample import read_sample
from analysis.sample_size.candidates import Candidates, choose
from analysis.sample_size.confirm import confirm
from analysis.sample_size.enough import RESAMPLES, Need, interval, need
from analysis.sample_size.order_statistics import order_interval
from analysis.sample_size.precision import Precision, of_fit, of_sample
from analysis.sample_size.target import Centre, Target, centre_of_fit, centre_of_sample


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of every sample. With 0 `resamples` there are no intervals of n."""

    target: Target
    options: Options = field(default_factory=Options)
    components: int | None = None  # forced; None: as many as BIC selects
    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class WithoutModel:
    """What the runs say by themselves."""

    intervals: tuple[tuple[float | None, float | None], ...]  # of each quantile, 95 %, by ranks
    confirm: int | None  # CONFIRM's n for +- 1 % of the median; None: not within the runs there are


@dataclass(frozen=True, kw_only=True)
class Answer:
    """For one sample, or for a known model (`runs` 0, and nothing that needs runs)."""

    runs: int
    likelihood: str | None
    fit: Fit
    centre: Centre
    precisions: tuple[Precision, ...]  # of the target's quantiles, by its estimator; by the fit where it names none
    need: Need
    interval: tuple[int, int] | None  # 80 %, of the n of the selected mixture
    without_model: WithoutModel | None

    def gammas(self, target: Target, n: int) -> list[float | None]:
        """Gamma_q(n) of every quantile, centred where the target is."""
        return [one.gamma(n, self.centre.mean if target.centred else 0.0) for one in self.precisions]

    @property
    def refused(self) -> str | None:
        """Why there is no standard error."""
        return next((one.refused for one in self.precisions if one.refused is not None), None)


def of_model(model: Fit, target: Target) -> Answer:
    """For a mixture that is known."""
    centre = centre_of_fit(model)
    return Answer(
        runs=0,
        likelihood=None,
        fit=model,
        centre=centre,
        precisions=_precisions(model, target, None),
        need=need(Candidates.known(model), target, centre),
        interval=None,
        without_model=None,
    )


def of_runs(x: ArrayLike, question: Question, *, rng: np.random.Generator) -> Answer:
    """For runs x, shape (n,). Raises `BadSampleError`."""
    candidates = choose(x, question.options, question.components)
    asked, drawn = rng.spawn(2)
    answer = of_candidates(x, candidates, question.target, rng=asked)
    if question.resamples == 0:
        return answer
    found = interval(candidates, question.target, x, rng=drawn, resamples=question.resamples)
    return replace(answer, interval=found)


def of_candidates(x: ArrayLike, candidates: Candidates, target: Target, *, rng: np.random.Generator) -> Answer:
    """For runs x, shape (n,), with the fits there are of them; without the interval of n."""
    centre = centre_of_sample(x)
    return Answer(
        runs=np.size(x),
        likelihood=read_sample(x, candidates.options).likelihood,
        fit=candidates.best,
        centre=centre,
        precisions=_precisions(candidates.best, target, x),
        need=need(candidates, target, centre, x),
        interval=None,
        without_model=WithoutModel(
            intervals=tuple(order_interval(x, q) for q in target.quantiles),
            confirm=confirm(x, rng=rng, max_n=target.max_n),
        ),
    )


def answer_each(samples: Sequence[ArrayLike], question: Question, *, processes: int = 1) -> Iterator[Answer | Failure]:
    """`of_runs` for each sample in order, as they are ready: the same for any number of processes."""
    return each(partial(_attempt, question=question), enumerate(samples), processes, chunk=1)


def _attempt(placed: tuple[int, ArrayLike], *, question: Question) -> Answer | Failure:
    place, x = placed
    try:
        return of_runs(x, question, rng=np.random.default_rng([question.seed, place]))
    except AnalysisError as error:
        return Failure(error=error)


def _precisions(fit: Fit, target: Target, x: ArrayLike | None) -> tuple[Precision, ...]:
    if target.estimator == "sample":
        return tuple(of_sample(fit, q, x) for q in target.quantiles)
    return tuple(of_fit(fit, q) for q in target.quantiles)
