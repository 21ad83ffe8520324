"""Online service rates: what a server does while nothing blocks it, from periods or from completions, one at a time.

    estimator = CountEstimator(period_s=0.01)
    for outcome in estimator.add(time_s=12.34, count=57, blocked=False): ...

Both estimators hold a bounded number of values, whatever the length of the stream.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from analysis.arrays import Array
from analysis.errors import AnalysisError, BadOptionsError
from analysis.service_rate.counts import UnblockedCount, unblocked_count
from analysis.service_rate.moments import Moments
from analysis.service_rate.outcomes import Estimate, NoEstimate, Outcome, PhaseChange
from analysis.service_rate.phases import BATCH, WINDOW_BATCHES, PhaseDetector
from analysis.service_rate.published import Method, Published
from analysis.service_rate.shape import shape
from analysis.service_rate.times import ServiceTime, service_time

REMEMBERED = BATCH * WINDOW_BATCHES
"""Values that an estimate rests on at most; the phase detector looks as far back."""
SETTLED_HALF_WIDTH = 0.2
"""Inter-completion times have settled when the 95 % interval reaches a fifth of the rate to either side."""
FEWEST_COMPLETIONS = 32
WHOLE_SD = 4.0


@dataclass(slots=True)
class _Recent:
    """The values since the last estimate, newest last, and when each came."""

    values: deque[float]
    times_s: deque[float]

    @classmethod
    def nothing(cls) -> "_Recent":
        return cls(deque(maxlen=REMEMBERED), deque(maxlen=REMEMBERED))

    def add(self, value: float, time_s: float) -> None:
        self.values.append(value)
        self.times_s.append(time_s)

    def latest(self, count: int) -> Array:
        return np.array(list(islice(reversed(self.values), count))[::-1])


class CountEstimator:
    """From the count of finished items in each period of `period_s` seconds; an item is `work` units of work."""

    def __init__(self, *, period_s: float, work: float = 1.0, method: Method | None = None) -> None:
        _check_positive(period_s=period_s, work=work)
        self._unit = work / period_s
        self._published = Published(method or Method())
        self._detector = PhaseDetector()
        self._history = _Recent.nothing()
        self._since = 0  # values of the history that came after the last estimate
        self._in_phase = 0  # and after the last change of phase
        self._moments = Moments()
        self._periods = self._kept = self._estimates = 0
        self._time_s = 0.0

    def add(self, *, time_s: float, count: float, blocked: bool) -> list[Outcome]:
        """Take one period. A blocked one says nothing about the server, and is dropped."""
        if not (math.isfinite(count) and count >= 0):
            raise BadOptionsError(f"a count is a number of at least 0, not {count}")
        self._time_s = time_s
        self._periods += 1
        if blocked:
            return []
        self._kept += 1
        self._history.add(count, time_s)
        self._since = min(self._since + 1, REMEMBERED)
        self._in_phase = min(self._in_phase + 1, REMEMBERED)
        settled = self._published.add(count)
        split = self._detector.add(count)
        if split is not None:
            return list(self._begin_phase(split.after_values, split.level_before, split.level_after))
        return [self._estimate()] if settled else []

    def finish(self) -> list[Outcome]:
        """At the end of the stream: the reason, where there was no estimate at all."""
        if self._estimates:
            return []
        return [NoEstimate(time_s=self._time_s, reason=self._why_none())]

    def current(self) -> Outcome:
        """What is known of this phase now, settled or not, without beginning again."""
        counts = self._history.latest(self._in_phase)
        try:
            fitted = unblocked_count(counts)
        except AnalysisError as error:
            return NoEstimate(time_s=self._time_s, reason=str(error))
        return self._as_estimate(fitted, _whole_moments(counts, fitted))

    def _estimate(self) -> Outcome:
        outcome: Outcome
        try:
            fitted = unblocked_count(self._history.latest(self._since))
            self._moments = self._moments.merged(_whole_moments(self._history.latest(self._since), fitted))
            outcome = self._as_estimate(fitted, self._moments)
            self._estimates += 1
        except AnalysisError as error:
            outcome = NoEstimate(time_s=self._time_s, reason=str(error))
        self._published.reset()
        self._since = 0
        return outcome

    def _as_estimate(self, fitted: UnblockedCount, moments: Moments) -> Estimate:
        q_mean = self._published.q_mean
        return Estimate(
            time_s=self._time_s,
            rate=fitted.mean * self._unit,
            low=fitted.low * self._unit,
            high=fitted.high * self._unit,
            rate_published=None if q_mean is None else q_mean * self._unit,
            basis="counts",
            n=fitted.n,
            shape=shape(fitted.dispersion, fitted.n),
            cv2=fitted.dispersion,
            partial_share=fitted.partial_share,
            outlier_share=fitted.outlier_share,
            variance=moments.variance,
            skewness=moments.skewness,
            kurtosis=moments.kurtosis,
        )

    def _begin_phase(self, after: int, before: float, now: float) -> Iterator[Outcome]:
        """Forget the earlier phase, and read again what is known of the new one."""
        began_s = self._history.times_s[-min(after, len(self._history.times_s))]
        yield PhaseChange(time_s=self._time_s, began_s=began_s, ratio=now / before if before > 0 else np.inf)
        earlier = self._since - after
        if earlier > 0:
            reason = f"the rate changed after {earlier} unblocked periods, before the estimate had settled"
            yield NoEstimate(time_s=began_s, reason=reason)
        self._since, self._in_phase = min(self._since, after), after
        self._moments = Moments()
        self._published.reset()
        settled = [self._published.add(count) for count in self._history.latest(self._since)]
        if any(settled):
            yield self._estimate()

    def _why_none(self) -> str:
        if self._periods == 0:
            return "there was no period"
        if self._kept == 0:
            return f"all {self._periods} periods were blocked: nothing is known of how fast the server could go"
        share = 100 * (1 - self._kept / self._periods)
        return f"{self._kept} unblocked periods ({share:.0f} % were blocked) were too few for the estimate to settle"


class TimeEstimator:
    """From inter-completion times, in seconds for `work` units of work each: for servers too slow to count."""

    def __init__(self, *, work: float = 1.0) -> None:
        _check_positive(work=work)
        self._work = work
        self._detector = PhaseDetector()
        self._history = _Recent.nothing()
        self._since = self._in_phase = 0
        self._moments = Moments()
        self._estimates = self._completions = 0
        self._time_s = 0.0

    def add(self, *, time_s: float, service_s: float) -> list[Outcome]:
        """Take the seconds of one service that nothing interrupted, ended at `time_s`."""
        if not (math.isfinite(service_s) and service_s > 0):
            raise BadOptionsError(f"an inter-completion time is a number above 0, not {service_s}")
        self._time_s = time_s
        self._completions += 1
        self._history.add(service_s, time_s)
        self._since = min(self._since + 1, REMEMBERED)
        self._in_phase = min(self._in_phase + 1, REMEMBERED)
        split = self._detector.add(service_s)
        if split is not None:
            return list(self._begin_phase(split.after_values, split.level_before, split.level_after))
        return self._settled() if self._since % BATCH == 0 else []

    def finish(self) -> list[Outcome]:
        """At the end of the stream: the reason, where there was no estimate at all."""
        if self._estimates:
            return []
        reason = (
            f"{self._completions} completions are too few: the interval is wider than a fifth of the rate either way"
        )
        return [NoEstimate(time_s=self._time_s, reason=reason)]

    def current(self) -> Outcome:
        """What is known of this phase now, settled or not, without beginning again."""
        times_s = self._history.latest(self._in_phase)
        try:
            found = service_time(times_s)
        except AnalysisError as error:
            return NoEstimate(time_s=self._time_s, reason=str(error))
        return self._as_estimate(found, _moments(times_s))

    def _settled(self) -> list[Outcome]:
        if self._since < FEWEST_COMPLETIONS:
            return []
        found = service_time(self._history.latest(self._since))
        if found.half_width > SETTLED_HALF_WIDTH:
            return []
        self._moments = self._moments.merged(_moments(self._history.latest(self._since)))
        self._estimates += 1
        self._since = 0
        return [self._as_estimate(found, self._moments)]

    def _as_estimate(self, found: ServiceTime, moments: Moments) -> Estimate:
        return Estimate(
            time_s=self._time_s,
            rate=self._work / found.mean_s,
            low=self._work / found.high_s,
            high=self._work / found.low_s,
            rate_published=None,
            basis="inter-completion times",
            n=found.n,
            shape=shape(found.cv2, found.n),
            cv2=found.cv2,
            partial_share=0.0,
            outlier_share=found.left_out / (found.n + found.left_out),
            variance=moments.variance,
            skewness=moments.skewness,
            kurtosis=moments.kurtosis,
        )

    def _begin_phase(self, after: int, before: float, now: float) -> Iterator[Outcome]:
        began_s = self._history.times_s[-min(after, len(self._history.times_s))]
        yield PhaseChange(time_s=self._time_s, began_s=began_s, ratio=before / now)
        earlier = self._since - after
        if earlier > 0:
            reason = f"the rate changed after {earlier} completions, before the estimate had settled"
            yield NoEstimate(time_s=began_s, reason=reason)
        self._since, self._in_phase = min(self._since, after), after
        self._moments = Moments()


def _whole_moments(counts: Array, fitted: UnblockedCount) -> Moments:
    """Of the counts that can be whole: within four standard deviations of their mean, or the cell around it."""
    reach = max(WHOLE_SD * float(np.sqrt(fitted.dispersion * fitted.mean)), 0.5)
    return _moments(counts[np.abs(counts - fitted.mean) <= reach])


def _moments(values: Array) -> Moments:
    away = values - np.mean(values) if len(values) else values
    return Moments(
        n=len(values),
        mean=float(np.mean(values)) if len(values) else 0.0,
        m2=float(np.sum(away**2)),
        m3=float(np.sum(away**3)),
        m4=float(np.sum(away**4)),
    )


def _check_positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0):
            raise BadOptionsError(f"{name} is a number above 0, not {value}")
