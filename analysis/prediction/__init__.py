"""The throughput distribution of a configuration that was never run (docs/prediction.md)."""

from analysis.prediction.chances import Modality, evidence, flagged
from analysis.prediction.evaluate import Error, Evaluation, Samples, Split, evaluate, figures
from analysis.prediction.predictor import Predictions, Predictor
from analysis.prediction.quantiles import LEVELS

__all__ = [
    "LEVELS",
    "Error",
    "Evaluation",
    "Modality",
    "Predictions",
    "Predictor",
    "Samples",
    "Split",
    "evaluate",
    "evidence",
    "figures",
    "flagged",
]
