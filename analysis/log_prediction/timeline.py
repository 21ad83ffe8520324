"""Jobs in the order of their start, each with the jobs that have ended in the meantime."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.log_prediction.jobs import Jobs, Outcome, Request

Ended = tuple[int, Request, Outcome]


def timeline(jobs: Jobs) -> Iterator[tuple[int, Request, list[Ended]]]:
    """Place and request of every job, and the jobs that ended before its start and were not handed out yet.

    A job that ends in the second in which another starts has not ended before it. Jobs without a throughput never end.
    """
    order = [int(place) for place in np.argsort(jobs.end_s, kind="stable") if np.isfinite(jobs.throughput[place])]
    next_to_end = 0
    for place in range(len(jobs)):
        first = next_to_end
        while next_to_end < len(order) and jobs.end_s[order[next_to_end]] < jobs.start_s[place]:
            next_to_end += 1
        ended = [(one, jobs.request(one), jobs.outcome(one)) for one in order[first:next_to_end]]
        yield place, jobs.request(place), ended
