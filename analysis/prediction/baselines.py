"""Predictors from the literature, for comparison: nearest neighbour, and a mesh between the measured points."""

from __future__ import annotations

import numpy as np

from analysis.arrays import Array, Indices
from analysis.prediction.members import Measured

# A mesh in more dimensions has too many simplices to build.
MESH_FACTORS = 5


def nearest_neighbour(measured: Measured, codes: Array) -> Array:
    """The quantiles of the closest measured configuration, in standard deviations of the levels."""
    return np.asarray(measured.quantiles[_closest(measured, measured.factors.scaled(codes))])


def delaunay(measured: Measured, codes: Array) -> Array:
    """Quantiles interpolated linearly on a Delaunay mesh (Lux, Watson, Chang et al., 2018), per choice of names.

    Outside of the mesh, and where there is none, the nearest neighbour's.
    """
    found = nearest_neighbour(measured, codes)
    numeric = measured.factors.numeric
    here, there = measured.codes[:, ~numeric], codes[:, ~numeric]
    for names in np.unique(there, axis=0):
        train = np.flatnonzero(np.all(here == names, axis=1))
        asked = np.flatnonzero(np.all(there == names, axis=1))
        scaled = measured.scaled[train][:, numeric]
        inside = _mesh(scaled, measured.quantiles[train], measured.factors.scaled(codes)[asked][:, numeric])
        if inside is not None:
            known = np.all(np.isfinite(inside), axis=1)
            found[asked[known]] = inside[known]
    return found


def _closest(measured: Measured, points: Array) -> Indices:
    numeric = measured.factors.numeric
    found = []
    for point in points:
        apart = np.where(numeric, measured.scaled - point, 2.0 * (measured.scaled != point))
        found.append(int(np.argmin(np.sum(apart**2, axis=1))))
    return np.array(found)


def _mesh(train: Array, quantiles: Array, points: Array) -> Array | None:
    from scipy.interpolate import LinearNDInterpolator
    from scipy.spatial import QhullError

    varying = np.flatnonzero(np.ptp(train, axis=0) > 0) if len(train) else np.array([], dtype=int)
    others = [at for at in range(train.shape[1]) if at not in varying]
    if not 2 <= len(varying) <= MESH_FACTORS or (others and np.any(points[:, others] != train[0, others])):
        return None
    try:
        mesh = LinearNDInterpolator(train[:, varying], quantiles)
    except QhullError:
        return None
    return np.asarray(mesh(points[:, varying]))
