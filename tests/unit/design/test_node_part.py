"""The `node` part of a study: every key is read, checked and written out again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import StudyError
from orchestrator.contracts.preparation import Bounds, Collector, Preparation, Switch

ALL = {
    "frequency": "pinned",
    "cpus": "0-3,8",
    "governor": "performance",
    "turbo": False,  # what YAML makes of a bare `off`
    "smt": "on",
    "max_wake_us": 0,
    "queue_scheduler": "mq-deadline",
    "sync": "per_job",
    "trim": "per_run",
    "drop_caches": "per_run",
    "settle_timeout_s": 0,
    "collect": ["proc", "rapl", "proc"],
    "bounds": {"max_temperature_c": None, "max_foreign_cpus": 0},
}


def test_every_key_is_read_and_comes_back() -> None:
    found = Preparation.from_dict(ALL)
    assert (found.turbo, found.max_wake_us, found.collect) == (Switch.OFF, 0, (Collector.PROC, Collector.RAPL))
    assert (found.bounds.max_temperature_c, found.bounds.max_foreign_cpus) == (None, 0)
    assert Preparation.from_dict(found.as_dict()) == found
    assert Preparation.from_dict(Preparation().as_dict()) == Preparation()


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"turbo": "maybe"}, "node.turbo: 'maybe' is not one of on, off, as_is"),
        ({"cpus": "0-"}, "list of CPUs"),
        ({"governor": "../../etc"}, "name of a governor"),
        ({"max_wake_us": True}, "microseconds"),
        ({"settle_timeout_s": -1}, "seconds"),
        ({"collect": ["everything"]}, "not one of proc, rapl, perf, perf_rotate, power, trim"),
        ({"bounds": {"min_throughput": 1}}, "node.bounds: unknown key 'min_throughput'"),
        ({"bounds": {"max_foreign_cpus": "many"}}, "no number from 0 on"),
        ({"bounds": 3}, "has to be a mapping"),
        ({"device": "/dev/sda"}, "node: unknown key 'device'"),
    ],
)
def test_a_mistake_ends_in_one_line_with_its_key(given_: dict[str, object], said: str) -> None:
    with pytest.raises(StudyError, match="node") as raised:
        Preparation.from_dict(given_)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@given(st.sampled_from(["cpus", "governor", "queue_scheduler"]), st.text())
def test_no_text_that_is_let_in_leaves_its_folder_or_is_more_than_one_word(key: str, text: str) -> None:
    try:
        Preparation.from_dict({key: text})
    except StudyError:
        return
    assert not set(text) & set("/. \t\n\0;|&$`'\"\\")
    assert not text.startswith("-")


def test_no_bound_looks_at_throughput() -> None:
    assert not any("throughput" in name for name in Bounds().as_dict())
