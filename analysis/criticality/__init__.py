"""Who holds everybody up: which ranks are critical, whether they change, and what tells (docs/criticality.md)."""

from analysis.criticality.evaluation import Evaluation, Plan, Quality, evaluate, pooled, quality
from analysis.criticality.examples import OWN_TIME, WINDOW_S, Examples, prepare
from analysis.criticality.frequency import Frequency, frequencies
from analysis.criticality.inconsistency import LAGS, TIES, Inconsistency, Ties, of_sets, slow_sets
from analysis.criticality.labels import Rule, critical, reaches
from analysis.criticality.learning import STANDARDS, Options, Standard, Trained, applied, exported, train
from analysis.criticality.model import BadModelError, Model, from_json
from analysis.criticality.persistence import Persistence, persistent
from analysis.criticality.splits import SPLITS, Split
from analysis.criticality.tellers import Teller, tellers
from analysis.criticality.trace import Samples, Trace

__all__ = [
    "LAGS",
    "OWN_TIME",
    "SPLITS",
    "STANDARDS",
    "TIES",
    "WINDOW_S",
    "BadModelError",
    "Evaluation",
    "Examples",
    "Frequency",
    "Inconsistency",
    "Model",
    "Options",
    "Persistence",
    "Plan",
    "Quality",
    "Rule",
    "Samples",
    "Split",
    "Standard",
    "Teller",
    "Ties",
    "Trace",
    "Trained",
    "applied",
    "critical",
    "evaluate",
    "exported",
    "frequencies",
    "from_json",
    "of_sets",
    "persistent",
    "pooled",
    "prepare",
    "quality",
    "reaches",
    "slow_sets",
    "tellers",
    "train",
]
