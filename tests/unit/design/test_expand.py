"""A design holds every setting once, with the modes of all blocks it is in, minus what is excluded."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.designs import Design
from orchestrator.contracts.engines import SIX_MODES
from orchestrator.contracts.errors import StudyError
from orchestrator.design.expand import expand
from orchestrator.design.study import Study


def study_of(*blocks: dict[str, Any], exclusions: tuple[dict[str, Any], ...] = (), **more: Any) -> Study:
    design = {"blocks": list(blocks), "exclusions": list(exclusions)}
    values = {"name": "x", "design": design, "replicates": 5, "engine": {"name": "replay", "recording": "r"}}
    return Study.from_dict(values | more)


def configurations(design: Design) -> list[tuple[object, ...]]:
    return [(*setting.levels, mode) for setting in design.settings for mode in setting.modes]


def test_the_last_factor_varies_fastest() -> None:
    design = expand(study_of({"levels": {"a": [2, 1], "b": ["x", "y"]}, "modes": ["m"]}))
    assert design.factors == ("a", "b")
    assert [setting.levels for setting in design.settings] == [(2, "x"), (2, "y"), (1, "x"), (1, "y")]
    assert [setting.ordinal for setting in design.settings] == [0, 1, 2, 3]


def test_the_order_of_factors_is_the_studys_own() -> None:
    block = {"levels": {"a": [1, 2], "b": [3]}, "modes": ["m"]}
    values = {"name": "x", "replicates": 1, "engine": {"name": "replay", "recording": "r"}}
    design = expand(Study.from_dict(values | {"design": {"factors": ["b", "a"], "blocks": [block]}}))
    assert [setting.levels for setting in design.settings] == [(3, 1), (3, 2)]


def test_a_setting_in_two_blocks_counts_once_with_the_modes_of_both() -> None:
    design = expand(study_of({"levels": {"a": [1, 2]}, "modes": ["m"]}, {"levels": {"a": [2, 3]}, "modes": ["n", "m"]}))
    assert [(setting.levels, setting.modes) for setting in design.settings] == [
        ((1,), ("m",)),
        ((2,), ("m", "n")),
        ((3,), ("m", "n")),
    ]


def test_modes_stand_in_the_order_in_which_the_engine_runs_them() -> None:
    levels = {"threads": [1], "file_size_kb": [64], "record_size_kb": [4]}
    design = expand(study_of({"levels": levels, "modes": list(reversed(SIX_MODES))}, engine="iozone"))
    assert design.settings[0].modes == SIX_MODES


def test_constraints_compare_with_factors_and_with_numbers() -> None:
    block = {
        "levels": {"a": [1, 2, 3, 4, 6], "b": [2, 3]},
        "modes": ["m"],
        "constraints": {"a": {"multiple_of": "b", "at_least": 3}, "b": {"at_most": 2}},
    }
    assert [setting.levels for setting in expand(study_of(block)).settings] == [(4, 2), (6, 2)]


def test_an_exclusion_with_a_mode_takes_out_that_mode_only() -> None:
    design = expand(
        study_of(
            {"levels": {"a": [1, 2], "b": [1, 2]}, "modes": ["m", "n"]},
            exclusions=({"a": 1, "mode": "m"}, {"a": 2, "b": [2]}, {"a": 1, "b": 2, "mode": ["m", "n"]}),
        )
    )
    assert configurations(design) == [(1, 1, "n"), (2, 1, "m"), (2, 1, "n")]


def test_what_excludes_everything_is_an_error() -> None:
    with pytest.raises(StudyError, match="emptied by the exclusions"):
        expand(study_of({"levels": {"a": [1, 2]}, "modes": ["m"]}, exclusions=({"mode": "m"},)))


def test_controls_come_last_and_have_no_levels() -> None:
    control = {"mixture": "normal:0.5,1,1;0.5,9,1"}
    design = expand(study_of({"levels": {"a": [1]}, "modes": ["m"]}, controls={"known": control}))
    last = design.settings[-1]
    assert (last.ordinal, last.levels, last.modes, last.control) == (1, (), ("control_known",), "known")


some_levels = st.lists(st.integers(1, 6), min_size=1, max_size=4, unique=True)
some_modes = st.lists(st.sampled_from(["m", "n", "o"]), min_size=1, unique=True)
blocks = st.builds(
    lambda a, b, modes: {"levels": {"a": a, "b": b}, "modes": modes}, some_levels, some_levels, some_modes
)


@given(st.lists(blocks, min_size=1, max_size=3))
def test_an_expansion_is_the_union_of_its_blocks(given_blocks: list[dict[str, Any]]) -> None:
    found = configurations(expand(study_of(*given_blocks)))
    wanted = {
        combination
        for block in given_blocks
        for combination in product(block["levels"]["a"], block["levels"]["b"], block["modes"])
    }
    assert len(found) == len(set(found))
    assert set(found) == wanted


@given(st.lists(blocks, min_size=1, max_size=3), st.data())
def test_repeating_a_block_changes_nothing(given_blocks: list[dict[str, Any]], data: st.DataObject) -> None:
    repeated = data.draw(st.sampled_from(given_blocks))
    assert expand(study_of(*given_blocks, repeated)) == expand(study_of(*given_blocks))


@given(blocks)
def test_an_exclusion_is_the_difference_of_sets(block: dict[str, Any]) -> None:
    excluded = block["levels"]["a"][0]
    other = {"levels": {"a": [7], "b": [7]}, "modes": ["m"]}
    whole = configurations(expand(study_of(block, other)))
    without = configurations(expand(study_of(block, other, exclusions=({"a": excluded},))))
    assert without == [found for found in whole if found[0] != excluded]
