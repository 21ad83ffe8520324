"""The studies that come with Modescope: the published one, exactly, and the demonstration."""

from __future__ import annotations

import csv
import gzip
import time
from collections import Counter
from pathlib import Path

import pytest

from orchestrator.contracts.designs import Design
from orchestrator.contracts.engines import IozoneOptions
from orchestrator.contracts.preparation import Cadence, Frequency
from orchestrator.design import study
from orchestrator.design.expand import expand

PUBLISHED = Path(__file__).parents[4] / "shared/data/design/xu2020_configurations.csv.gz"


@pytest.fixture(scope="module")
def xu2020() -> Design:
    return expand(study.preset("xu2020"))


def test_the_published_study_has_its_settings_and_configurations(xu2020: Design) -> None:
    assert xu2020.factors == ("frequency_khz", "file_size_kb", "record_size_kb", "threads")
    assert len(xu2020.settings) == 4_080
    assert xu2020.configuration_count == 22_734


def test_the_published_study_has_its_counts_per_mode(xu2020: Design) -> None:
    assert Counter(mode for setting in xu2020.settings for mode in setting.modes) == {
        "initial_writers": 4_080,
        "rewriters": 4_080,
        "readers": 3_741,
        "re-readers": 3_741,
        "random_readers": 3_546,
        "random_writers": 3_546,
    }


def test_the_published_study_has_its_counts_per_frequency(xu2020: Design) -> None:
    settings: Counter[object] = Counter()
    configurations: Counter[object] = Counter()
    for setting in xu2020.settings:
        settings[setting.levels[0]] += 1
        configurations[setting.levels[0]] += len(setting.modes)
    assert settings == {
        **{1_200_000: 468, 1_600_000: 468, 2_000_000: 660, 2_300_000: 693},
        **{2_800_000: 693, 3_200_000: 549, 3_500_000: 549},
    }
    assert configurations == {
        **{1_200_000: 2_808, 1_600_000: 2_808, 2_000_000: 3_192, 2_300_000: 3_414},
        **{2_800_000: 3_924, 3_200_000: 3_294, 3_500_000: 3_294},
    }


def test_the_published_study_is_the_set_that_was_published(xu2020: Design) -> None:
    if not PUBLISHED.exists():
        pytest.skip(f"{PUBLISHED} is not here")
    with gzip.open(PUBLISHED, "rt", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == [*xu2020.factors, "mode"]
    assert set(map(tuple, rows)) == {
        (*map(str, setting.levels), mode) for setting in xu2020.settings for mode in setting.modes
    }


def test_the_published_study_is_blocks_and_exclusions_not_a_list() -> None:
    assert len((study.PRESETS / "xu2020.yaml").read_text(encoding="utf-8").splitlines()) < 80


def test_the_published_study_is_expanded_in_under_a_second() -> None:
    started = time.perf_counter()
    expand(study.preset("xu2020"))
    assert time.perf_counter() - started < 1


def test_the_published_study_asks_for_its_nodes_and_for_iozones_own_pauses() -> None:
    found = study.preset("xu2020")
    assert found.engine.options == IozoneOptions(settle_s=None)
    assert (found.replicates, found.node.frequency, found.node.trim) == (150, Frequency.PINNED, Cadence.PER_RUN)


def test_the_demonstration_is_small_and_holds_one_known_bimodal_control() -> None:
    demo = study.preset("demo")
    design = expand(demo)
    measured = [setting for setting in design.settings if setting.control is None]
    assert (len(measured), sum(len(setting.modes) for setting in measured)) == (12, 72)
    assert (demo.replicates, demo.engine.name, list(demo.controls)) == (150, "builtin", ["bimodal"])
    assert demo.jobs_per_setting >= 5
    assert (demo.node.frequency, demo.node.trim) == (Frequency.AS_IS, Cadence.NEVER)
