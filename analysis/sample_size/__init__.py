"""How precisely quantiles are known after n runs, and how many runs a target asks for (docs/sample-size.md)."""

from analysis.sample_size.adaptive import Plan, Step, grow
from analysis.sample_size.answer import Answer, Question, answer_each, of_candidates, of_model, of_runs
from analysis.sample_size.candidates import Candidates, choose
from analysis.sample_size.confirm import confirm
from analysis.sample_size.dependent import inflation
from analysis.sample_size.enough import RESAMPLES, Need, interval, need, rounded
from analysis.sample_size.order_statistics import order_interval
from analysis.sample_size.precision import Precision, of_fit, of_sample
from analysis.sample_size.target import (
    ESTIMATORS,
    SCALES,
    Centre,
    Estimator,
    Scale,
    Target,
    centre_of_fit,
    centre_of_sample,
    sizes,
)

__all__ = [
    "ESTIMATORS",
    "RESAMPLES",
    "SCALES",
    "Answer",
    "Candidates",
    "Centre",
    "Estimator",
    "Need",
    "Plan",
    "Precision",
    "Question",
    "Scale",
    "Step",
    "Target",
    "answer_each",
    "centre_of_fit",
    "centre_of_sample",
    "choose",
    "confirm",
    "grow",
    "inflation",
    "interval",
    "need",
    "of_candidates",
    "of_fit",
    "of_model",
    "of_runs",
    "of_sample",
    "order_interval",
    "rounded",
    "sizes",
]
