"""Fit, select by BIC, and what the choice rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Array
from analysis.errors import BadSampleError
from analysis.mixture.families import FAMILIES, NAMES
from analysis.mixture.fit import Fit
from analysis.mixture.options import Options
from analysis.mixture.sample import Sample, read_sample
from analysis.mixture.search import Found, follow, search
from analysis.mixture.starts import sketch_of
from analysis.modality.density import DensityMode
from analysis.modality.dip import dip_p, dip_p_continuous

# A new one whenever results may change: it is stored with them.
VERSION = "1"
# Differences of BIC below this are ties.
BIC_TIE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The best fit of a sample by BIC, and the numbers a verdict rests on. `table` holds every fit.

    `bic_gap` is the BIC of the best fit with one density mode minus that of the best with two or more; None when no
    fit has two. `resolution` is the median width of the cells of the interval likelihood, in the units of x.
    """

    best: Fit
    n: int
    n_distinct: int
    likelihood: str
    resolution: float | None
    modes: tuple[DensityMode, ...]
    bic_gap: float | None
    # Place in `table` of the best fit with two or more density modes.
    multimodal_index: int | None
    dip_p: float
    notice: str | None
    table: tuple[Fit, ...]

    @property
    def components(self) -> int:
        """Number of components of the best fit."""
        return self.best.components

    @property
    def family(self) -> str:
        """Family of the best fit."""
        return self.best.family

    @property
    def bic(self) -> float:
        """BIC of the best fit."""
        return self.best.bic

    @property
    def loglik(self) -> float:
        """Log-likelihood of the best fit."""
        return self.best.loglik

    @property
    def floor_active(self) -> bool:
        """Whether a component of the best fit is as narrow as the floor allows."""
        return self.best.floor_active

    @property
    def density_modes(self) -> int:
        """Number of density modes of the best fit; `modes` says where they are."""
        return len(self.modes)

    @property
    def multimodal_fit(self) -> Fit | None:
        """The best fit with two or more density modes."""
        return None if self.multimodal_index is None else self.table[self.multimodal_index]

    @property
    def bic_weights(self) -> Array:
        """exp(-BIC / 2) of every fit in `table`, normalised to sum to 1."""
        bic = np.array([fit.bic for fit in self.table])
        weight: Array = np.exp(-0.5 * (bic - np.min(bic)))
        return weight / np.sum(weight)

    def pdf(self, x: ArrayLike) -> Array:
        """Density of the best fit."""
        return self.best.pdf(x)

    def cdf(self, x: ArrayLike) -> Array:
        """Distribution function of the best fit."""
        return self.best.cdf(x)

    def quantile(self, q: float) -> float:
        """The q-quantile of the best fit."""
        return self.best.quantile(q)

    def quantile_se(self, q: float) -> float:
        """Standard error of the q-quantile, given the selected model. Raises `NoStandardErrorError`."""
        return self.best.quantile_se(q)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """Random values of the best fit."""
        return self.best.sample(size, rng)

    def brief(self) -> Self:
        """The same selection without the fits that decide nothing: for keeping thousands of them."""
        kept = {self.table.index(self.best): self.best}
        if self.multimodal_index is not None:
            kept[self.multimodal_index] = self.table[self.multimodal_index]
        places = list(kept)
        index = None if self.multimodal_index is None else places.index(self.multimodal_index)
        return replace(self, table=tuple(kept.values()), multimodal_index=index)

    def as_dict(self) -> dict[str, Any]:
        """JSON values; `from_dict` is the inverse. The best fit's numbers stand on top, for whoever stores them."""
        return {
            "components": self.components,
            "family": self.family,
            "bic": self.bic,
            "density_modes": self.density_modes,
            "best": self.table.index(self.best),
            "n": self.n,
            "n_distinct": self.n_distinct,
            "likelihood": self.likelihood,
            "resolution": self.resolution,
            "modes": [{"position": m.position, "height": m.height, "share": m.share} for m in self.modes],
            "bic_gap": self.bic_gap,
            "multimodal_index": self.multimodal_index,
            "dip_p": self.dip_p,
            "notice": self.notice,
            "table": [fit.as_dict() for fit in self.table],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The selection that `as_dict` wrote."""
        table = tuple(Fit.from_dict(row) for row in values["table"])
        modes = tuple(DensityMode(**mode) for mode in values["modes"])
        stored = {field.name: values[field.name] for field in fields(cls)}
        return cls(**{**stored, "best": table[values["best"]], "table": table, "modes": modes})


def fit(x: ArrayLike, family: str, components: int, *, options: Options | None = None) -> Fit:
    """Fit one family with k = `components` to x, shape (n,). Raises `BadSampleError`."""
    chosen = Options() if options is None else options
    sample = read_sample(x, chosen)
    _check_support(sample, (family,))
    if components > sample.n_distinct:
        raise BadSampleError(f"{components} components need as many distinct values; there are {sample.n_distinct}")
    found = search(sample, (family,), components, chosen.floor)
    return _result(sample, family, found[family, components], chosen)


def select(x: ArrayLike, *, options: Options | None = None) -> Selection:
    """Fit every family with 1 to `max_components` components to x, shape (n,); the best by BIC.

    A sample with values <= 0 gets the normal family only, with a notice. Raises `BadSampleError`.
    """
    chosen = Options() if options is None else options
    sample = read_sample(x, chosen)
    return _judge(sample, _fit_all(sample, chosen), _notice(sample), chosen)


def best_fit(x: ArrayLike, *, options: Options | None = None) -> Fit:
    """The fit that `select` chooses for x, shape (n,), without what a verdict needs. Raises `BadSampleError`."""
    chosen = Options() if options is None else options
    table = _fit_all(read_sample(x, chosen), chosen)
    return table[ranked(table, chosen)[0]]


def followed(x: ArrayLike, table: Sequence[Fit], *, options: Options) -> tuple[Fit, ...]:
    """The mixtures in `table` fitted to x, shape (n,), from where they are; `ranked` selects among them.

    For x drawn from the sample that `table` was fitted to, or from a fit of it: a quarter of what the search of
    `best_fit` costs. Left out are those that x does not allow. Raises `BadSampleError`.
    """
    return _follow_all(read_sample(x, options), table, options)


def select_from(x: ArrayLike, table: Sequence[Fit], *, options: Options) -> Selection:
    """What `select` says of x, shape (n,), with the mixtures in `table` followed as in `followed`."""
    sample = read_sample(x, options)
    return _judge(sample, _follow_all(sample, table, options), _notice(sample), options)


def _follow_all(sample: Sample, table: Sequence[Fit], options: Options) -> tuple[Fit, ...]:
    possible = [fit for fit in table if sample.positive or not FAMILIES[fit.family].needs_positive]
    possible = [fit for fit in possible if fit.components <= sample.n_distinct]
    _check_support(sample, [fit.family for fit in possible])
    starts_at = {(fit.family, fit.components): _sketch(fit, sample.unit) for fit in possible}
    found = follow(sample, starts_at, options.floor)
    return tuple(_result(sample, name, found[name, k], options) for name, k in found)


def _sketch(fit: Fit, unit: float) -> Array:
    family = FAMILIES[fit.family]
    location, scale = family.to_kernel(np.array(fit.locations), np.array(fit.scales), unit)
    return sketch_of(family, np.stack([np.array(fit.weights), location, scale]))


def _fit_all(sample: Sample, options: Options) -> tuple[Fit, ...]:
    """Every family that the sample allows with 1 to `max_components` components."""
    families = [name for name in NAMES if name in options.families]
    if not sample.positive:
        families = [name for name in families if not FAMILIES[name].needs_positive]
    _check_support(sample, families)
    found = search(sample, families, options.max_components, options.floor)
    return tuple(_result(sample, name, found[name, k], options) for name, k in sorted(found, key=_table_order))


def _table_order(key: tuple[str, int]) -> tuple[int, int]:
    """By family, then by number of components."""
    return NAMES.index(key[0]), key[1]


def _notice(sample: Sample) -> str | None:
    return None if sample.positive else "values <= 0: only the normal family was fitted"


def _check_support(sample: Sample, families: Sequence[str]) -> None:
    if not families or (not sample.positive and any(FAMILIES[name].needs_positive for name in families)):
        raise BadSampleError(f"the smallest value is {sample.values[0]:g}: only the normal family fits values <= 0")


def _result(sample: Sample, name: str, found: Found, options: Options) -> Fit:
    family = FAMILIES[name]
    weight, kernel_location, kernel_scale = found.theta
    location, scale = family.from_kernel(kernel_location, kernel_scale, sample.unit)
    at_floor = kernel_scale <= found.floor * (1 + 1e-9)
    order = np.lexsort([location, family.mean(location, scale)])
    return Fit(
        family=name,
        weights=tuple(weight[order].tolist()),
        locations=tuple(location[order].tolist()),
        scales=tuple(scale[order].tolist()),
        loglik=found.loglik - sample.n * float(np.log(sample.unit)),
        n=sample.n,
        converged=found.converged,
        iterations=found.iterations,
        at_floor=tuple(at_floor[order].tolist()),
    )


def ranked(table: Sequence[Fit], options: Options) -> list[int]:
    """Places in the table by BIC, the best first; ties towards fewer components, then the order of families.

    Fits that a small sample cannot support are left out.
    """
    best = min(fit.bic for fit in table)

    def key(place: int) -> tuple[float, int, int]:
        fit = table[place]
        return round((fit.bic - best) / BIC_TIE), fit.components, NAMES.index(fit.family)

    return sorted((place for place, fit in enumerate(table) if _supported(fit, options)), key=key)


def _supported(fit: Fit, options: Options) -> bool:
    enough = min(fit.weights) * fit.n >= options.small_n_runs
    return fit.components == 1 or fit.n >= options.small_n or enough


def _judge(sample: Sample, table: tuple[Fit, ...], notice: str | None, options: Options) -> Selection:
    ranking = ranked(table, options)
    best = table[ranking[0]]
    modes = best.density_modes(options)
    other = _first_other(table, ranking, several=len(modes) == 1, options=options)
    one, several = (ranking[0], other) if len(modes) == 1 else (other, ranking[0])
    gap = None if one is None or several is None else table[one].bic - table[several].bic
    return Selection(
        best=best,
        n=sample.n,
        n_distinct=sample.n_distinct,
        likelihood=sample.likelihood,
        resolution=None if sample.cells is None else sample.cells.resolution,
        modes=modes,
        bic_gap=gap,
        multimodal_index=several,
        dip_p=_dip(sample, options),
        notice=notice,
        table=table,
    )


def _first_other(table: Sequence[Fit], ranking: Sequence[int], *, several: bool, options: Options) -> int | None:
    """The best fit that has several density modes, or that has one."""
    for place in ranking[1:]:
        if (table[place].components > 1 or not several) and (len(table[place].density_modes(options)) > 1) == several:
            return place
    return None


def _dip(sample: Sample, options: Options) -> float:
    if sample.cells is None:
        return dip_p_continuous(sample.values, sample.counts)
    rng = np.random.default_rng(options.seed)
    return dip_p(sample.values, sample.counts, sample.cells.lower, sample.cells.upper, rng)
