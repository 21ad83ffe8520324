"""A campaign's metric is known from its study, and is what reports and verdicts speak of."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.mixture import Options, select
from orchestrator.contracts import engines, metrics
from orchestrator.contracts.errors import StudyError
from orchestrator.contracts.metrics import THROUGHPUT, Metric
from orchestrator.report import histogram, units

RUNTIME = {"program": "hpl", "metric": "runtime", "unit": "s", "larger_is_better": False}


@pytest.mark.parametrize(("engine", "options"), [("iozone", {}), ("builtin", {}), ("command", {"program": "hpl"})])
def test_without_a_word_a_study_measures_throughput(engine: str, options: dict[str, object]) -> None:
    kept = engines.as_dict(engines.options(engine, options))
    assert metrics.of(engine, kept) == THROUGHPUT


def test_a_program_may_measure_something_else() -> None:
    kept = engines.as_dict(engines.options("command", RUNTIME))
    assert metrics.of("command", kept) == Metric(name="runtime", unit="s", larger_is_better=False)
    assert metrics.of("command", kept).label == "runtime (s), smaller is better"


@pytest.mark.parametrize(
    "wrong", [{"unit": "k B"}, {"unit": ""}, {"unit": "<b>"}, {"metric": "x" * 40}, {"metric": "1"}]
)
def test_names_and_units_are_short_words(wrong: dict[str, object]) -> None:
    with pytest.raises(StudyError, match=r"engine\.(unit|metric): .* is too long, or has signs"):
        engines.options("command", RUNTIME | wrong)


def test_a_picture_is_labelled_with_its_metric() -> None:
    sample = np.random.default_rng(1).normal(2000.0, 10.0, 60)
    options = Options(max_components=1)
    metric = Metric(name="runtime", unit="s", larger_is_better=False)
    picture = str(histogram.draw(sample.tolist(), select(sample, options=options), "a sample", metric))
    assert "runtime (s), smaller is better" in picture
    assert "MB/s" not in picture


def test_only_throughputs_are_told_in_larger_units() -> None:
    assert units.fitting(2000.0).name == "MB/s"
    assert units.fitting(2000.0, "s") == units.Unit(name="s", kbps=1.0)
