"""What was told about runs comes back as it was, in a small part of the space."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.store.telemetry import pack, unpack

DETAILS = ("parent_kbps", "min_kbps", "max_kbps", "avg_kbps", "min_xfer_kb")
MODES = ("initial_writers", "rewriters", "readers", "re-readers", "random_readers", "random_writers")
jsonable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def record(sequence: int, scale: float = 1.0) -> dict[str, Any]:
    """As an agent with IOzone tells it."""
    noise = [round(scale * (1_000_000 + 77_777.77 * math.sin(37 * sequence + place)), 2) for place in range(30)]
    details = {mode: dict(zip(DETAILS, noise[5 * n :], strict=False)) for n, mode in enumerate(MODES)}
    observed = {"frequency": "pinned", "governor": "userspace", "foreign_cpus": 0.013, "kernel_errors": []}
    return {"sequence": sequence, "details": details, "observed": observed}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(st.dictionaries(st.text(), jsonable, max_size=4), max_size=4))
def test_whatever_is_packed_comes_back(records: list[dict[str, Any]]) -> None:
    assert unpack(pack(records)) == records


def test_numbers_come_back_to_the_last_digit() -> None:
    told = [{"a": 0.1, "b": 1 / 3, "c": 2**60, "d": 1e300, "e": -0.5, "f": 81460788.25, "g": 2**53 - 1, "h": -(2**53)}]
    assert unpack(pack(told)) == told


def test_runs_that_differ_in_numbers_alone_take_an_eighth_of_their_json() -> None:
    records = [record(sequence) for sequence in range(10)]
    assert len(pack(records)) < len(json.dumps(records)) / 8


def test_runs_that_say_other_things_may_stand_in_one_block() -> None:
    records = [record(1), {"sequence": 2, "details": {"output": "Segmentation fault\n"}}, record(3)]
    assert unpack(pack(records)) == records


def test_telemetry_of_a_later_version_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="format 2"):
        unpack(b"\x02...")
