"""An agent says whether it is critical from a file and its own counters, and nothing where either is missing."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from analysis import criticality as c
from tests.benchmarks.generated_trace import generate
from workers.criticality import FILE, OwnCriticality, numbers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An agent's folder with a model of ten counters."""
    made = generate(ranks=12, collectives=200, snr=1.0, rng=np.random.default_rng(6))
    examples = c.prepare(made.trace, made.samples, c.Rule())
    trained = c.train(examples, np.ones(len(examples.x), dtype=bool), c.Options())
    model = c.exported(trained, examples, made.trace.settings, options=c.Options(), window_s=0.005, told={})
    (tmp_path / FILE).write_text(model.to_json())
    return tmp_path


def test_a_slow_node_calls_itself_critical_and_a_quick_one_does_not(folder: Path) -> None:
    own = OwnCriticality(folder)
    slow = own.of_run({"c0": 4.0, "c1": 3.0, "c2": 2.0}, {"threads": 4})
    quick = own.of_run({"c0": -0.5, "c1": -0.3, "c2": -0.1}, {"threads": 4})
    assert slow["critical"] is True
    assert quick["critical"] is False
    assert float(str(slow["criticality"])) > float(str(quick["criticality"]))


def test_nothing_is_said_without_a_model_or_without_any_of_its_counters(folder: Path, tmp_path: Path) -> None:
    assert OwnCriticality(folder).of_run({"temperature_c": 40.0}, {}) == {}
    assert OwnCriticality(tmp_path / "elsewhere").of_run({"c0": 1.0}, {}) == {}


def test_a_changed_model_is_told_in_the_log_and_not_used(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = (folder / FILE).read_text().replace('"threshold": 0', '"threshold": 1')
    (folder / FILE).write_text(text)
    with caplog.at_level(logging.ERROR):
        assert OwnCriticality(folder).of_run({"c0": 1.0}, {}) == {}
    assert "checksum" in caplog.text


def test_numbers_inside_others_are_named_after_both() -> None:
    seen = {"a": 1, "b": {"c": 2.5, "d": "text"}, "e": True, "f": None}
    assert dict(numbers(seen)) == {"a": 1.0, "b.c": 2.5}
