"""Jobs with a known truth: keys with levels of their own, a state of the file system that drifts, and noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.log_prediction.jobs import Jobs, Subject

KEYS = (
    ("write", "ior", "shared", "1", "fs1"),
    ("write", "hacc", "per process", "1", "fs1"),
    ("read", "ior", "shared", "1", "fs1"),
    ("read", "hacc", "per process", "1", "fs1"),
)


def made_jobs(n: int = 400, *, seed: int = 1, state_sd: float = 0.3, noise_sd: float = 0.05) -> Jobs:
    """Jobs in rounds of four, one after the other; a round shares the state of its file system."""
    rng = np.random.default_rng(seed)
    start = 1.5e9 + np.arange(n) // len(KEYS) * 86400.0 + np.arange(n) % len(KEYS) * 100.0
    state = np.repeat(rng.normal(0, state_sd, n // len(KEYS) + 1), len(KEYS))[:n]
    keys = tuple(KEYS[place % len(KEYS)] for place in range(n))
    levels = np.array([8.0 + 0.5 * KEYS.index(key) for key in keys])
    throughput = np.exp(levels + state + rng.normal(0, noise_sd, n))
    return Jobs(
        start_s=start,
        end_s=start + 60.0,
        throughput=throughput,
        keys=keys,
        key_names=("direction", "program", "layout", "partition", "file system"),
        directions=tuple(key[0] for key in keys),
        file_systems=tuple(key[-1] for key in keys),
        declared_names=("processes",),
        declared=np.full((n, 1), 64.0),
        measured_names=("bytes", "fs_load"),
        measured_subjects=(Subject.APPLICATION, Subject.FILE_SYSTEM),
        measured=np.column_stack([rng.uniform(1e9, 2e9, n), rng.uniform(0, 1, n)]),
    )


def with_planted_leak(jobs: Jobs) -> Jobs:
    """The same jobs, with the throughput itself among what is measured."""
    return replace(
        jobs,
        measured_names=(*jobs.measured_names, "fs_planted"),
        measured_subjects=(*jobs.measured_subjects, Subject.FILE_SYSTEM),
        measured=np.column_stack([jobs.measured, jobs.throughput]),
    )


def with_other_futures(jobs: Jobs, place: int) -> Jobs:
    """The same jobs, but whatever had not ended when the job at `place` started came out differently."""
    rng = np.random.default_rng(99)
    changed = ~(jobs.end_s < jobs.start_s[place])
    return replace(
        jobs,
        throughput=np.where(changed, rng.uniform(1, 1e6, len(jobs)), jobs.throughput),
        measured=np.where(changed[:, None], rng.uniform(1, 1e12, jobs.measured.shape), jobs.measured),
    )
