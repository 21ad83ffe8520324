"""Many samples, in one process or in several: the same results to the bit."""

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from numpy.typing import ArrayLike

from analysis.errors import AnalysisError
from analysis.mixture.options import Options
from analysis.mixture.selection import Selection, select

CHUNK = 16
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a sample has no selection."""

    error: AnalysisError

    @property
    def message(self) -> str:
        """The reason, in one line."""
        return str(self.error)


def select_many(
    samples: Sequence[ArrayLike],
    *,
    options: Options | None = None,
    processes: int = 1,
    progress: Callable[[int], None] | None = None,
) -> list[Selection | Failure]:
    """A `Selection`, or a `Failure` with its reason, for each sample in order. `progress` gets the number done."""
    results = []
    for result in select_each(samples, options=options, processes=processes):
        results.append(result)
        if progress is not None:
            progress(len(results))
    return results


def select_each(
    samples: Sequence[ArrayLike], *, options: Options | None = None, processes: int = 1
) -> Iterator[Selection | Failure]:
    """The results of `select_many` one by one, in order, as they are ready."""
    yield from each(partial(_attempt, options=Options() if options is None else options), samples, processes)


def each(
    task: Callable[[Item], Result], items: Iterable[Item], processes: int, *, chunk: int = CHUNK
) -> Iterator[Result]:
    """The results of a task for each item, in order, as they are ready; `chunk` items go to a process at a time."""
    if processes == 1:
        yield from map(task, items)
        return
    # Fresh interpreters: a fork would copy the threads and locks of whoever calls.
    # They leave Ctrl-C to it.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_leave_interrupts) as pool:
        try:
            yield from pool.map(task, items, chunksize=chunk)
        except (KeyboardInterrupt, GeneratorExit):
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _attempt(x: ArrayLike, *, options: Options) -> Selection | Failure:
    try:
        return select(x, options=options)
    except AnalysisError as error:
        return Failure(error=error)
