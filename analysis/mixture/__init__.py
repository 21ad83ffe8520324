"""Mixtures of six families with one to five components: fit, select by BIC, quantiles and their standard errors."""

from analysis.mixture.bootstrap import bootstrap_each, quantile_se_bootstrap, redraw
from analysis.mixture.families import NAMES as FAMILY_NAMES
from analysis.mixture.fit import Fit
from analysis.mixture.many import Failure, select_each, select_many
from analysis.mixture.options import Options
from analysis.mixture.quantiles import check_quantile
from analysis.mixture.selection import VERSION, Selection, fit, select

__all__ = [
    "FAMILY_NAMES",
    "VERSION",
    "Failure",
    "Fit",
    "Options",
    "Selection",
    "bootstrap_each",
    "check_quantile",
    "fit",
    "quantile_se_bootstrap",
    "redraw",
    "select",
    "select_each",
    "select_many",
]
