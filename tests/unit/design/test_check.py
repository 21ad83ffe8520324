"""What `design check` says of a study: counts, duration, warnings, and a picture."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint

import pytest

from orchestrator.contracts.designs import Level
from orchestrator.contracts.engines import SIX_MODES, BuiltinOptions, IozoneOptions, ReplayOptions
from orchestrator.contracts.preparation import Preparation
from orchestrator.design import check, duration, picture, study
from orchestrator.design.expand import expand
from orchestrator.design.study import Study

SMALL: Mapping[str, Level] = {"threads": 1, "file_size_kb": 4, "record_size_kb": 4}


def test_the_published_study_in_numbers() -> None:
    found = check.summarise(study.preset("xu2020"), nodes=12)
    assert (found.settings, found.configurations, found.invocations, found.jobs) == (4_080, 22_734, 612_000, 61_200)
    assert found.jobs_per_setting == 15
    assert 12 * 86_400 < found.seconds_per_node < 15 * 86_400
    assert found.space_kb == 64 * 65_536
    assert found.warnings == ()


def test_controls_are_counted_apart() -> None:
    found = check.summarise(study.preset("demo"))
    assert (found.settings, found.invocations, found.jobs, found.controls) == (12, 1_800, 120, ("bimodal",))


@pytest.mark.parametrize(("modes", "seconds"), [(SIX_MODES[:2], 8.04), (SIX_MODES[:4], 12.04), (SIX_MODES, 20.19)])
def test_iozones_own_pauses_are_those_measured(modes: tuple[str, ...], seconds: float) -> None:
    assert duration.invocation_s(IozoneOptions(), SMALL, modes) == pytest.approx(seconds, abs=0.2)


def test_without_pauses_small_invocations_take_fractions_of_a_second() -> None:
    assert duration.invocation_s(IozoneOptions(settle_s=0.0), SMALL, SIX_MODES) < 0.2
    assert duration.invocation_s(BuiltinOptions(), SMALL, SIX_MODES) < 0.05
    assert duration.invocation_s(ReplayOptions(recording="r", run_s=0.5), {}, ("m",)) == 0.5


def test_writing_two_modes_of_a_hundred_gigabytes_takes_as_long_as_recorded() -> None:
    large = {"threads": 64, "file_size_kb": 1_572_864, "record_size_kb": 4}
    assert duration.invocation_s(IozoneOptions(), large, SIX_MODES[:2]) == pytest.approx(652, rel=0.05)


def test_fewer_than_five_jobs_a_setting_are_a_warning() -> None:
    few = study.preset("demo").model_copy(update={"replicates_per_job": 50})
    assert check.summarise(few).warnings == (
        "3 jobs a setting, fewer than 5: a drift of the node can look like a density mode; write "
        "`replicates_per_job: 30`",
    )


def test_a_factor_nobody_applies_is_noted() -> None:
    values = study.preset("demo").as_dict()
    values["design"] = {
        "blocks": [{"levels": {**SMALL, "frequency_khz": 2_000_000, "colour": "red"}}],
    }
    notes = check.summarise(Study.from_dict(values)).notes
    assert any(note.startswith("frequency_khz only labels runs") for note in notes)
    assert any(note.startswith("factor 'colour' only labels runs") for note in notes)


def test_the_picture_groups_levels_that_look_alike() -> None:
    lines = picture.draw(expand(study.preset("xu2020")))
    assert [line for line in lines if line.startswith("frequency_khz")] == [
        "frequency_khz 1.2GHz, 1.6GHz",
        "frequency_khz 2GHz",
        "frequency_khz 2.3GHz",
        "frequency_khz 2.8GHz",
        "frequency_khz 3.2GHz, 3.5GHz",
    ]
    assert lines[3:6] == [
        "     4k 8k 16k 32k 64k 128k 256k 512k 1M 2M 4M 8M 16M",
        "  4k ██ ·· ··· ··· ··· ···· ···· ···· ·· ·· ·· ·· ···",
        " 16k ██ ·· ███ ··· ··· ···· ···· ···· ·· ·· ·· ·· ···",
    ]


def test_a_design_of_one_factor_is_drawn_against_its_modes() -> None:
    values = {
        "name": "x",
        "replicates": 5,
        "engine": {"name": "replay", "recording": "r"},
        "design": {
            "blocks": [{"levels": {"a": [1, 2, 3]}, "modes": ["m", "n"]}],
            "exclusions": [{"a": 2, "mode": "n"}],
        },
    }
    assert picture.draw(expand(Study.from_dict(values)))[1:] == ["  m n", "1 █ █", "2 █ ·", "3 █ █"]


def test_what_this_machine_cannot_set_is_asked_through_the_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    found = EntryPoint(name="here", group="modescope.abilities", value=f"{__name__}:shortfalls")
    monkeypatch.setattr(EntryPoint, "load", lambda _self: shortfalls)
    monkeypatch.setattr(check, "entry_points", lambda **_names: [found])
    assert check.here(Preparation()) == [("trim", "trim: never")]
    monkeypatch.setattr(check, "entry_points", lambda **_names: [])
    assert check.here(Preparation()) is None


def shortfalls(_preparation: Preparation) -> list[tuple[str, str]]:
    return [("trim", "trim: never")]
