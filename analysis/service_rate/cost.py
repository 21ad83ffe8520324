"""What a run of a setting costs: log-linear in its factors, drawn to the setting's own mean as runs come in.

log cost = prior + intercept + sum of (slope times log of a number, or a level of a word) + the setting's own share +
a residual. Slopes are shrunk (ridge); the setting's share is its mean residual times tau^2 / (tau^2 + sigma^2 / n),
the empirical Bayes estimate; residuals are kept as they came, for their tails are heavy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import Array, Indices
from analysis.errors import BadSampleError

Level = int | float | str
RIDGE = 0.3
"""Prior precision of a slope, in runs."""
UNSEEN_SD = 0.5
"""Standard deviation of log cost around the prior model, before there are runs: a factor of 1.65."""
FEWEST = 4


@dataclass(frozen=True, kw_only=True)
class CostModel:
    """Costs of s settings: the logarithm of the typical seconds of a run, how well it is known, and residuals."""

    log_s: Array
    """(s,) posterior means."""
    sd: Array
    """(s,) their standard deviations."""
    common_sd: float
    """That of an error which all settings share."""
    residuals: Array
    """Of log cost, of the runs so far: what one run adds to its setting."""
    by_factors: Array
    """(s,) the part of `log_s` that the factors tell, without the settings' own shares."""
    own_counts_from: float
    """Runs of a setting that weigh as much as what the factors tell: sigma^2 / tau^2."""

    @property
    def mean_s(self) -> Array:
        """Expected seconds of a run, (s,): the typical cost times the mean of what residuals multiply it with."""
        mean: Array = np.exp(self.log_s + self.sd**2 / 2) * float(np.mean(np.exp(self.residuals)))
        return mean


def prior_only(prior_s: Array, *, sd: float = UNSEEN_SD) -> CostModel:
    """Before the first run: the seconds that a prior model tells, (s,), with its error, half of it shared by all."""
    part = sd / np.sqrt(2)
    return CostModel(
        log_s=np.log(prior_s),
        sd=np.full(len(prior_s), part),
        common_sd=float(part),
        residuals=np.array([-0.1, 0.0, 0.1]),
        by_factors=np.log(prior_s),
        own_counts_from=float("inf"),
    )


def fit(
    settings: Sequence[Mapping[str, Level]],
    ran: Indices,
    cost_s: Array,
    prior_s: Array,
    *,
    kinds: Sequence[str] | None = None,
) -> CostModel:
    """Learn from runs: (n,) index of the setting that each ran, and its seconds. Falls back to the prior below four.

    `kinds`, (s,): what carries a setting out. How far off the prior is for one kind says nothing of another.
    """
    if len(ran) != len(cost_s):
        raise BadSampleError("every run has a setting and a cost")
    if len(cost_s) and not (np.all(np.isfinite(cost_s)) and np.min(cost_s) > 0):
        raise BadSampleError("costs are numbers above 0")
    if len(cost_s) < FEWEST:
        return prior_only(prior_s)
    kind = np.unique(kinds, return_inverse=True)[1] if kinds is not None else np.zeros(len(settings), dtype=np.int64)
    own_level = np.eye(int(np.max(kind)) + 1)[kind]
    features = np.column_stack([own_level, design_matrix(settings)])
    away = np.log(cost_s) - np.log(prior_s)[ran]
    slopes = _ridge(features[ran], away, free=own_level.shape[1])
    model = features @ slopes
    fitted = _with_settings_own(np.log(prior_s) + model, ran, away - model[ran], len(settings))
    unseen = np.bincount(kind[ran], minlength=own_level.shape[1])[kind] == 0
    return replace(fitted, sd=np.where(unseen, np.maximum(fitted.sd, UNSEEN_SD), fitted.sd))


def design_matrix(settings: Sequence[Mapping[str, Level]]) -> Array:
    """(s, f): logarithms of positive numbers (centred, scaled), one column a level of a word but the first."""
    columns = [np.empty((len(settings), 0))]
    for factor in settings[0]:
        levels = [setting[factor] for setting in settings]
        numbers = np.array([level for level in levels if isinstance(level, int | float)], dtype=np.float64)
        if len(numbers) == len(levels) and np.min(numbers) > 0:
            logs = np.log(numbers)
            if np.ptp(logs) > 0:
                columns.append((logs - np.mean(logs)) / np.std(logs))
        else:
            words = sorted({str(level) for level in levels})[1:]
            columns += [np.array([float(str(level) == word) for level in levels]) for word in words]
    return np.column_stack(columns)


def _ridge(features: Array, away: Array, *, free: int) -> Array:
    """Least squares, robust to tails: residuals beyond twice their typical size count less (Huber), five rounds.

    The first `free` columns are levels, which are hardly shrunk.
    """
    weights: Array = np.ones(len(away), dtype=np.float64)
    precision = RIDGE * np.eye(features.shape[1])
    precision[:free, :free] = 1e-6 * np.eye(free)
    slopes: Array = np.zeros(features.shape[1])
    for _ in range(5):
        weighted = features * weights[:, None]
        slopes = np.asarray(np.linalg.solve(features.T @ weighted + precision, weighted.T @ away), dtype=np.float64)
        residual = np.abs(away - features @ slopes)
        typical = max(1.4826 * float(np.median(residual)), 1e-9)
        weights = np.minimum(1.0, 2 * typical / np.maximum(residual, 1e-12)).astype(np.float64)
    return slopes


def _with_settings_own(log_s: Array, ran: Indices, residual: Array, settings: int) -> CostModel:
    """Split what the factors leave into the settings' own shares and the residuals of runs."""
    n = np.bincount(ran, minlength=settings).astype(np.float64)
    own = np.bincount(ran, residual, minlength=settings) / np.maximum(n, 1)
    inner = residual - own[ran]
    degrees = max(len(ran) - int(np.sum(n > 0)), 1)
    sigma2 = float(np.sum(inner**2)) / degrees if len(ran) > np.sum(n > 0) else float(np.var(residual)) / 2
    sigma2 = max(sigma2, 1e-8)
    seen = n > 0
    tau2 = max(float(np.mean(own[seen] ** 2) - np.mean(sigma2 / n[seen])), 0.01 * sigma2)
    trust = tau2 / (tau2 + sigma2 / np.maximum(n, 1)) * seen
    left = residual - (trust * own)[ran]
    return CostModel(
        log_s=log_s + trust * own,
        sd=np.sqrt(tau2 * (1 - trust)),
        common_sd=float(np.sqrt((sigma2 + tau2) / len(ran))),
        residuals=left - float(np.median(left)) if len(left) < FEWEST else left,
        by_factors=log_s,
        own_counts_from=sigma2 / tau2,
    )
