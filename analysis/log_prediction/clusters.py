"""Clusters of jobs by what they did: a Gaussian mixture over features between 0 and 1 (Kim et al., section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import Array
from analysis.errors import BadSampleError

CLUSTERS = 5


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Jobs that did the like."""

    jobs: int
    centre: tuple[float, ...]  # of each feature, between the smallest (0) and the largest (1) of all jobs
    median_throughput: float


def clusters(values: Array, throughput: Array, *, seed: int) -> list[Cluster]:
    """Clusters of jobs, (n, features), NaN where not told; the fastest first. Raises `BadSampleError`.

    A job that does not tell a feature is taken to lie in the middle of the others.
    """
    from sklearn.mixture import GaussianMixture

    if len(values) < 10 * CLUSTERS or not values.shape[1]:
        raise BadSampleError(f"{len(values)} jobs with {values.shape[1]} features are too few for {CLUSTERS} clusters")
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    scaled = np.where(np.isfinite(values), (values - low) / np.where(high > low, high - low, 1.0), np.nan)
    scaled = np.where(np.isfinite(scaled), scaled, np.nanmedian(scaled, axis=0))
    mixture = GaussianMixture(CLUSTERS, random_state=seed, reg_covar=1e-4, n_init=3)
    labels = mixture.fit_predict(scaled)
    found = [
        Cluster(
            jobs=int(np.count_nonzero(labels == label)),
            centre=tuple(np.mean(scaled[labels == label], axis=0).tolist()),
            median_throughput=float(np.median(throughput[labels == label])),
        )
        for label in np.unique(labels)
    ]
    return sorted(found, key=lambda one: -one.median_throughput)
