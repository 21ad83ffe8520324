"""What may be known of a job when it starts, as a table of features; each carries when it is known.

`Memory` is told of jobs that have ended, and asked about requests: it never sees the outcome of the job it is asked
about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analysis.arrays import Array, Flags
from analysis.log_prediction.history import History, Past
from analysis.log_prediction.jobs import Jobs, Known, Outcome, Request, Subject
from analysis.log_prediction.timeline import timeline

MEMORY = 60  # ended jobs of a file system, and of the others, that are looked at
DECAYS_S = (600.0, 3600.0, 6 * 3600.0, 2 * 86400.0, 10 * 86400.0)
DOUBT = 0.3  # jobs without surprise that are added: an old surprise counts little
ALIKE = 0.995  # of two measured columns that correlate so much one is enough
DAY_S = 86400.0


@dataclass(frozen=True, kw_only=True)
class Feature:
    """The name of a feature, and when it is known."""

    name: str
    known: Known


@dataclass(frozen=True, kw_only=True)
class Features:
    """A row for each job; NaN where nothing is known."""

    columns: tuple[Feature, ...]
    values: Array  # (n, columns)
    weighted: Array  # (n,): the weighted history, a logarithm; NaN before any job has ended
    spread: Array  # (n,): sd of what it missed by lately


class _Surprise(NamedTuple):
    """By how much a job that has ended missed its history."""

    end_s: float
    missed: float
    direction: str
    program: str
    file_system: str


class Memory:
    """What jobs that have ended leave behind."""

    def __init__(self) -> None:
        self._history = History()
        self._surprises: dict[str, list[_Surprise]] = {}
        self._everywhere: list[_Surprise] = []
        self._last_of_key: dict[tuple[str, ...], Array] = {}
        self._last_of_file_system: dict[str, tuple[float, Array]] = {}

    def remember(self, request: Request, outcome: Outcome, end_s: float, foreseen: float) -> None:
        """A job has ended; `foreseen` is what its history said when it started, NaN where there was none."""
        self._history.add(request.key, outcome.log_throughput, end_s)
        self._last_of_key[request.key] = outcome.measured
        self._last_of_file_system[request.file_system] = (end_s, outcome.measured)
        if np.isfinite(foreseen):
            missed = outcome.log_throughput - foreseen
            surprise = _Surprise(end_s, missed, request.direction, _program(request), request.file_system)
            here = self._surprises.setdefault(request.file_system, [])
            for kept in (here, self._everywhere):
                kept.append(surprise)
                del kept[: -3 * MEMORY]

    def past(self, request: Request) -> tuple[int, Past] | None:
        """See `History.of`."""
        return self._history.of(request.key)

    def surroundings(self, request: Request) -> list[float]:
        """Surprises on the same file system, then on all others; in the order of `_surrounding_names`."""
        here = self._surprises.get(request.file_system, [])[-MEMORY:]
        elsewhere = [one for one in self._everywhere if one.file_system != request.file_system][-MEMORY:]
        lately = [one.missed for one in here if request.start_s - one.end_s < 1800]
        told = [min(lately, default=0.0), float(len(lately))]
        return [*_surprises(here, request), *_surprises(elsewhere, request), *told]

    def last_row(self, request: Request, subjects: Flags) -> tuple[float, Array]:
        """Age of the file system's last row, and the measured columns: the key's, or the file system's where told."""
        nothing = np.full(subjects.shape, np.nan)
        end_s, of_file_system = self._last_of_file_system.get(request.file_system, (np.nan, nothing))
        of_key = self._last_of_key.get(request.key, nothing)
        return request.start_s - end_s, np.where(subjects, of_file_system, of_key)


def features(jobs: Jobs, training: Flags) -> Features:
    """The features of all jobs; which measured columns are alike is decided on the training jobs, (n,)."""
    kept = _distinct(jobs, training)
    of_file_system = np.array([one is Subject.FILE_SYSTEM for one in jobs.measured_subjects], dtype=bool)
    levels = [sorted({key[part] for key in jobs.keys}) for part in range(len(jobs.key_names))]
    columns = _columns(jobs, kept, levels)
    memory, rows = Memory(), np.full((len(jobs), len(columns)), np.nan)
    weighted, spread = np.full(len(jobs), np.nan), np.full(len(jobs), np.nan)
    for place, request, ended in timeline(jobs):
        for one, asked, outcome in ended:
            memory.remember(asked, outcome, float(jobs.end_s[one]), float(weighted[one]))
        known = memory.past(request)
        if known is None:
            continue
        weighted[place], spread[place] = known[1].weighted, np.sqrt(known[1].variance)
        age_s, measured = memory.last_row(request, of_file_system)
        rows[place] = [
            *request.declared,
            *_indicators(request, levels),
            *_calendar(request.start_s),
            *_of_history(*known, start_s=request.start_s),
            *memory.surroundings(request),
            np.log1p(age_s),
            *_squeezed(measured)[kept],
        ]
    return Features(columns=columns, values=rows, weighted=weighted, spread=spread)


def _columns(jobs: Jobs, kept: Flags, levels: list[list[str]]) -> tuple[Feature, ...]:
    indicators = [f"{name}={level}" for name, all_ in zip(jobs.key_names, levels, strict=True) for level in all_]
    subjects = zip(jobs.measured_names, jobs.measured_subjects, kept, strict=True)
    started = [
        "hour",
        "weekday",
        *_HISTORY_NAMES,
        *_surrounding_names(),
        "log_age_of_file_system_row",
        *(
            f"previous {name} of {'file system' if s is Subject.FILE_SYSTEM else 'key'}"
            for name, s, keep in subjects
            if keep
        ),
    ]
    submitted = [Feature(name=name, known=Known.SUBMITTED) for name in (*jobs.declared_names, *indicators)]
    return (*submitted, *(Feature(name=name, known=Known.STARTED) for name in started))


def _program(request: Request) -> str:
    """What is second in a key: the program, where the key has one."""
    return request.key[1] if len(request.key) > 1 else ""


def _indicators(request: Request, levels: list[list[str]]) -> list[float]:
    return [float(part == level) for part, all_ in zip(request.key, levels, strict=True) for level in all_]


def _calendar(start_s: float) -> tuple[float, float]:
    """Hour of the day and day of the week (0: Thursday, as 1 January 1970 was), UTC."""
    return start_s % DAY_S / 3600, start_s // DAY_S % 7


_HISTORY_NAMES = (
    "history", "last_less_history", "mean_less_history", "history_spread", "runs_before", "log_age_of_last",
    "missed_last", "missed_before_last", "missed_least_of_5", "missed_mean_of_10", "key_parts_given_up",
)  # fmt: skip


def _of_history(given_up: int, past: Past, *, start_s: float) -> tuple[float, ...]:
    missed = [0.0, 0.0, *past.missed]
    return (
        past.weighted,
        past.last - past.weighted,
        past.mean - past.weighted,
        float(np.sqrt(past.variance)),
        float(min(past.count, 50)),
        float(np.log1p(start_s - past.last_end_s)),
        missed[-1],
        missed[-2],
        min(missed[-5:]),
        sum(missed) / len(missed),
        float(given_up),
    )


def _surprises(found: list[_Surprise], request: Request) -> list[float]:
    """Decayed means of surprises: all, same direction, other direction, same program; then the last of each."""
    if not found:
        return [0.0] * (4 * len(DECAYS_S)) + [np.nan] * 8
    age = np.array([request.start_s - one.end_s for one in found])
    missed = np.array([one.missed for one in found])
    same = np.array([one.direction == request.direction for one in found])
    program = np.array([one.program == _program(request) for one in found])
    groups = np.stack([np.ones(len(found), dtype=bool), same, ~same, program])
    weight = np.exp(-age[:, None] / np.array(DECAYS_S))
    means = (groups * missed) @ weight / (groups @ weight + DOUBT)
    last = [np.flatnonzero(group)[-1:] for group in groups]
    newest = [(missed[one[0]], np.log1p(age[one[0]])) if len(one) else (np.nan, np.nan) for one in last]
    return [*means.ravel(), *(value for pair in newest for value in pair)]


def _surrounding_names() -> list[str]:
    groups = ("all", "same_direction", "other_direction", "same_program")
    return [
        *(
            f"missed_{where}_{what}"
            for where in ("here", "elsewhere")
            for what in (
                *(f"{group}_{decay:g}s" for group in groups for decay in DECAYS_S),
                *(f"{group}_{last}" for group in groups for last in ("last", "log_age")),
            )
        ),
        "missed_least_in_half_an_hour",
        "jobs_in_half_an_hour",
    ]


def _squeezed(measured: Array) -> Array:
    """sign(x) log(1 + |x|): bytes and percentages side by side."""
    squeezed: Array = np.sign(measured) * np.log1p(np.abs(measured))
    return squeezed


def _distinct(jobs: Jobs, training: Flags) -> Flags:
    """Measured columns that vary in the training period, without those that follow an earlier one."""
    values = _squeezed(jobs.measured[training])
    kept = np.zeros(values.shape[1], dtype=bool)
    chosen: list[Array] = []
    for place, column in enumerate(values.T):
        known = np.isfinite(column)
        if np.count_nonzero(known) < 10 or np.ptp(column[known]) == 0:
            continue
        standard = np.where(known, column - np.mean(column[known]), 0.0)
        standard = standard / np.linalg.norm(standard)
        if all(abs(float(standard @ other)) < ALIKE for other in chosen):
            chosen.append(standard)
            kept[place] = True
    return kept
