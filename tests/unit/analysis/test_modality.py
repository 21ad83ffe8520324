"""Density modes, the dip test on ticks, and verdicts."""

from dataclasses import replace

import numpy as np
import pytest

from analysis import mixture, modality
from analysis.modality.dip import dip_p_continuous

OPTIONS = mixture.Options()


def two_peaks(seed=0, n=150):
    rng = np.random.default_rng(seed)
    return 1e6 * np.where(rng.random(n) < 0.38, rng.normal(5.0, 0.1, n), rng.normal(4.1, 0.1, n))


def made(**parameters):
    k = len(parameters["weights"])
    values = {"family": "normal", "loglik": 0.0, "n": 150, "converged": True, "iterations": 0} | parameters
    return mixture.Fit(**({"at_floor": (False,) * k} | values))


def judged(selection, dip_q=0.5, options=OPTIONS, **changes):
    return modality.verdict(replace(selection, **changes), dip_q=dip_q, options=options)


def test_components_are_not_modes():
    """The two components of the paper's example share one peak."""
    fit = made(weights=(0.03977, 0.96023), locations=(1.6023, -0.06634), scales=(2.3462, 0.8376))
    assert len(fit.density_modes()) == 1


def test_modes_have_their_place_height_and_share():
    fit = made(weights=(0.6, 0.4), locations=(4.0, 9.0), scales=(0.5, 0.7))
    low, high = fit.density_modes()
    assert (low.position, high.position) == pytest.approx((4.0, 9.0), abs=1e-3)
    assert (low.share, high.share) == pytest.approx((0.6, 0.4), abs=1e-3)
    assert low.height == pytest.approx(float(fit.pdf(4.0)), rel=1e-4)


@pytest.mark.parametrize("distance", [1.9, 2.1])
def test_two_equal_normals_have_two_peaks_beyond_two_sigma(distance):
    """The textbook's limit: a mixture of equal halves is bimodal when the means are more than 2 sigma apart."""
    fit = made(weights=(0.5, 0.5), locations=(0.0, distance), scales=(1.0, 1.0))
    assert len(fit.density_modes(mixture.Options(min_prominence=0.0))) == (2 if distance > 2 else 1)


def test_a_peak_needs_its_share_and_its_runs():
    small = {"weights": (0.02, 0.98), "locations": (0.0, 9.0), "scales": (0.5, 0.7)}
    assert len(made(**small, n=1000).density_modes()) == 1
    assert len(made(**small, n=1000).density_modes(mixture.Options(min_share=0.01))) == 2
    assert len(made(**small, n=100).density_modes(mixture.Options(min_share=0.01))) == 1


def test_the_dip_test_is_fooled_by_ticks_and_ours_is_not():
    """The negative control: rounded normals are never multimodal, and the plain test always says they are."""
    plain, ours = [], []
    for seed in range(20):
        x = np.round(np.random.default_rng(seed).normal(50, 3, 900))
        found = mixture.select(x, options=mixture.Options(families=("normal",), max_components=1))
        ours.append(found.dip_p)
        plain.append(dip_p_continuous(*np.unique(x, return_counts=True)))
    assert np.mean(np.array(plain) < 0.05) == 1
    assert np.mean(np.array(ours) < 0.05) <= 0.05


def test_q_values_are_benjamini_and_hochbergs():
    assert modality.dip_q_values([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.04 * 4 / 3, 0.04 * 4 / 3, 0.5])
    assert modality.dip_q_values([]) == []


def test_two_peaks_are_told_in_one_sentence_with_their_numbers():
    found = mixture.select(two_peaks())
    verdict = judged(found, dip_q=0.002, bic_gap=41.3)
    assert verdict.kind == "multimodal"
    assert verdict.sentence == "two peaks at 4.1 and 4.98 GB/s holding 68 and 32 % of runs; BIC gap 41; dip q .002"


def test_the_gap_decides_alone_or_with_the_dip_test():
    found = mixture.select(two_peaks())
    assert judged(found, bic_gap=30.0, dip_q=0.9).kind == "multimodal"
    assert judged(found, bic_gap=10.0, dip_q=0.05).kind == "multimodal"
    assert judged(found, bic_gap=29.0, dip_q=0.06).kind == "undecided"
    assert judged(found, bic_gap=9.0, dip_q=0.01).kind == "undecided"
    assert judged(found, bic_gap=9.0, dip_q=0.01, options=mixture.Options(bic_gap=8.0)).kind == "multimodal"


def test_several_components_under_one_peak_are_a_mixture():
    found = mixture.select(two_peaks())
    verdict = judged(found, bic_gap=-3.0)
    assert verdict.kind == "mixture"
    assert "BIC gap -3" in verdict.sentence


def test_one_component_is_unimodal():
    found = mixture.select(np.random.default_rng(0).normal(5e6, 3e5, 150))
    verdict = judged(found)
    assert verdict.kind == "unimodal"
    assert verdict.sentence.startswith("one ")


def test_few_runs_are_undecided():
    verdict = judged(mixture.select(two_peaks(n=29)))
    assert verdict.kind == "undecided"
    assert "29 runs are too few" in verdict.sentence


def test_a_peak_at_the_floor_decides_nothing():
    found = mixture.select(two_peaks())
    held = replace(found.multimodal_fit, at_floor=(True,) * found.multimodal_fit.components)
    table = tuple(held if i == found.multimodal_index else fit for i, fit in enumerate(found.table))
    verdict = judged(found, table=table)
    assert verdict.kind == "undecided"
    assert "narrowest width" in verdict.sentence


def test_other_units_are_told_as_they_are():
    found = mixture.select(two_peaks() / 1e6)
    assert " s holding" in modality.verdict(found, dip_q=0.0, options=OPTIONS, unit="s").sentence


def test_a_verdict_is_json():
    verdict = judged(mixture.select(two_peaks()))
    assert verdict.as_dict() == {"kind": verdict.kind, "sentence": verdict.sentence}
