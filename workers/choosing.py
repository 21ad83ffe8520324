"""Which settings an active campaign measures next: those that tell most of the others, until predictions are good."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orchestrator.contracts.campaigns import Configuration
from orchestrator.contracts.rounds import Decision, Due, Growth
from orchestrator.store.ports import Store

TREES = 40
MODE = "mode"


def active(store: Store, due: Due, growth: Growth) -> Decision:
    """Another batch of settings, or none when what is left is predicted well, or the most are measured.

    What cannot be predicted, for most settings failed, ends the campaign, and the record says why.
    """
    from analysis.errors import AnalysisError

    every = [one for one in store.campaigns.configurations(due.campaign_id) if one.control is None]
    begun = {one.setting_id for one in every if one.replicates > 0}
    left = [one for one in every if one.setting_id not in begun]
    whole = len({one.setting_id for one in every})
    record: dict[str, object] = {"measured": len(begun), "left": whole - len(begun)}
    if not left:
        return Decision(number=due.number, replicates={}, record=record)
    record["saved_node_hours"] = _saved_node_hours(store, due.campaign_id, begun, whole - len(begun))
    try:
        chosen, expected = _chosen(store, due.campaign_id, every, left, max(1, round(_share(growth, "batch") * whole)))
    except AnalysisError as error:
        return Decision(number=due.number, replicates={}, record=record | {"unpredictable": str(error)})
    record["expected_distance"] = round(expected, 4)
    room = round(_share(growth, "most") * whole) - len(begun)
    if expected <= _share(growth, "good_enough") or room <= 0:
        return Decision(number=due.number, replicates={}, record=record)
    runs = store.campaigns.study(due.campaign_id).replicates
    return Decision(number=due.number, replicates=dict.fromkeys(chosen[:room], runs), record=record)


def _chosen(
    store: Store, campaign_id: int, every: Sequence[Configuration], left: Sequence[Configuration], count: int
) -> tuple[list[int], float]:
    """Setting ids in the order of what they tell, and the mean distance to expect over all that is left."""
    from analysis.prediction import Predictor
    from analysis.prediction.active import choose, expected_distance

    fitted = store.analyses.fitted(campaign_id, whole=False)
    samples = {(one.setting_id, one.mode): one.sample for one in fitted if one.sample}
    known = [one for one in every if (one.setting_id, one.mode) in samples]
    names = (*store.campaigns.get(campaign_id).factors, MODE)
    values = [samples[one.setting_id, one.mode] for one in known]
    predictor = Predictor.fit(names, [_labels(one) for one in known], values, trees=TREES)
    rows = [_labels(one) for one in left]
    # One invocation measures all modes of a setting: enough configurations for `count` settings.
    order = choose(predictor, rows, count * len({one.mode for one in left}))
    found = dict.fromkeys(left[at].setting_id for at in order)
    return list(found)[:count], float(np.mean(expected_distance(predictor, rows)))


def _saved_node_hours(store: Store, campaign_id: int, begun: set[int], left: int) -> float:
    """What the settings that are left would take, each as long as those measured in the mean."""
    spent = store.findings.elapsed_s(campaign_id, begun)
    runs = store.campaigns.study(campaign_id).replicates
    return float(f"{left * runs * np.mean(list(spent.values())) / 3600:.4g}") if spent else 0.0


def _labels(one: Configuration) -> tuple[str, ...]:
    return (*(str(level) for level in one.levels), one.mode)


def _share(growth: Growth, name: str) -> float:
    return float(str(growth.options[name]))
