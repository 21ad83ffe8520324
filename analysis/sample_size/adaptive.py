"""A sample that grows until its target is met: pilot, fit, top up, refit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analysis.mixture import Options, Selection
from analysis.sample_size.candidates import Candidates, choose
from analysis.sample_size.dependent import inflation
from analysis.sample_size.enough import Need, need, rounded
from analysis.sample_size.target import Target, centre_of_sample

PILOT = 40


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A pilot of every sample, and the target that it grows to."""

    pilot: int
    target: Target

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Plan":
        """From the JSON values of a study's `adaptive` section. Raises `AnalysisError` for what makes no sense."""
        estimator = values["quantile_from"]
        return cls(
            pilot=values["pilot"],
            target=Target(
                quantiles=tuple(values["quantiles"]),
                share=values["target"],
                scale=values["scale"],
                estimator=None if estimator == "either" else estimator,
                max_n=values["max"],
            ),
        )

    def needed(self, x: ArrayLike, selection: Selection, options: Options, jobs: Sequence[str] = ()) -> int:
        """How many runs the target asks for by this selection of x, shape (n,): not capped; at most 10^9.

        More where the runs of `jobs` (n,) are alike.
        """
        found = need(Candidates.of(selection, options), self.target, centre_of_sample(x), x)
        rng = np.random.default_rng(options.seed)
        factor = inflation(x, jobs, self.target.quantiles, rng=rng) if jobs else 1.0
        return rounded(found.times(factor).needed)


@dataclass(frozen=True, kw_only=True)
class Step:
    """A sample of n runs, and what its fit asks for. It is the last where `next_n` is n."""

    n: int
    need: Need

    @property
    def next_n(self) -> int:
        """How many runs there shall be."""
        return self.need.n


def grow(
    runs: Callable[[int], ArrayLike], target: Target, *, pilot: int = PILOT, options: Options | None = None
) -> Iterator[Step]:
    """Fit the first `pilot` runs, then as many as that fit asks for, until they are enough or `target.max_n`.

    `runs(n)` gives the first n runs, shape (n,). Raises `BadSampleError` as `select` does.
    """
    chosen, n = options or Options(), pilot
    while True:
        x = runs(n)
        step = Step(n=n, need=need(choose(x, chosen), target, centre_of_sample(x), x))
        yield step
        if step.next_n <= n:
            return
        n = step.next_n
