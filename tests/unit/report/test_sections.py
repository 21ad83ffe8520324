"""The sections of a report: the paper's tables and figures for a campaign, its nodes, its runs, its methods."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
import pytest

from orchestrator.contracts.campaigns import Configuration, State
from orchestrator.contracts.findings import EngineUse
from orchestrator.report import independence, methods, picking
from orchestrator.report.independence import Independence
from orchestrator.report.section import Section, Subject
from orchestrator.report.sections import (
    IN_ORDER,
    controls,
    nodes,
    sample_sizes,
    shapes,
    tables,
    validity,
)
from orchestrator.report.sections import methods as methods_section
from orchestrator.report.threats import threats
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import NODE, Laboratory


def subject_of(store: MemoryStore) -> Subject:
    return Subject(
        store=store,
        progress=store.campaigns.progress(1),
        study=store.campaigns.study(1),
        configurations=tuple(store.campaigns.configurations(1)),
    )


@pytest.fixture(scope="module")
def subject() -> Subject:
    """A campaign that is over: four configurations and a control, one run of 181 invalid."""
    store = MemoryStore()
    laboratory = Laboratory(store)
    laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    return subject_of(store)


@pytest.fixture
def unmeasured() -> Subject:
    """A campaign of which nothing is measured."""
    store = MemoryStore()
    Laboratory(store).submit()
    return subject_of(store)


T = TypeVar("T")


def content(section: Section | None, kind: type[T]) -> T:
    assert section is not None
    assert isinstance(section.content, kind)
    return section.content


def test_the_tables_count_every_fitted_configuration_once_and_no_control(subject: Subject) -> None:
    found = content(tables.gather(subject), tables.Content)
    assert sum(number for counts in found.models.values() for number in counts.values()) == found.summary.analysed == 4
    assert found.single_normal == found.models["normal"][1]
    assert found.several == 1


def test_the_histograms_show_every_shape_that_there_is(subject: Subject) -> None:
    found = content(shapes.gather(subject), shapes.Content)
    assert len(found.samples) == found.fitted == 4
    assert {one.verdict for one in found.samples} == {"unimodal", "multimodal"}


def test_of_many_configurations_the_clearest_of_each_shape_come_first(subject: Subject) -> None:
    flat = next(one for one in subject.configurations if one.verdict == "unimodal")
    many = [replace(flat, ordinal=place, bic_gap=-float(place)) for place in range(20)]
    peaked = replace(flat, ordinal=99, verdict="multimodal", density_modes=3, bic_gap=12.0)
    chosen = shapes.chosen([*many, peaked])
    assert len(chosen) == shapes.PICTURES
    assert peaked in chosen
    assert many[19] in chosen


def test_what_is_looked_at_closely_is_spread_evenly(subject: Subject) -> None:
    one = next(found for found in subject.configurations if found.family and found.control is None)
    many: list[Configuration] = [replace(one, ordinal=place) for place in range(1000)]
    assert [found.ordinal for found in picking.spread(many, 4)] == [0, 250, 500, 750]
    assert picking.spread(many[:3], 4) == tuple(many[:3])


def test_sample_sizes_are_those_of_the_fits(subject: Subject) -> None:
    found = content(sample_sizes.gather(subject), sample_sizes.Content)
    assert (found.looked_at, found.fitted, found.runs) == (4, 4, 60)
    assert 60 <= found.needed[0] <= found.needed[1] <= found.needed[2] <= found.beyond
    assert [row.q for row in found.rows] == [0.1, 0.9]
    assert all(0 < row.low <= row.median <= row.high < 0.1 for row in found.rows)


def test_controls_tell_what_a_flag_is_worth(subject: Subject, unmeasured: Subject) -> None:
    found = content(controls.gather(subject), controls.Content)
    assert [(rate.count, rate.of) for rate in found.rates.values()] == [(1, 1)]
    assert not found.false_flags_known
    assert controls.gather(unmeasured) is None


def test_nodes_are_told_with_what_they_measured_with(subject: Subject) -> None:
    found = content(nodes.gather(subject), nodes.Content)
    assert [(row.share.node, row.engines) for row in found.rows] == [(NODE, "builtin 1, replay 1")]


def test_every_run_is_accounted_for(subject: Subject) -> None:
    found = content(validity.gather(subject), validity.Content)
    assert (found.made, found.valid, found.superseded) == (181, 180, 0)
    assert found.invalid == {"the benchmark ended with status 1": 1}


def test_rare_reasons_are_told_together(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.report.sections.validity.REASONS", 0)
    found = content(validity.gather(subject), validity.Content)
    assert (found.invalid, found.other_reasons, found.other_invalid, found.made) == ({}, 1, 1, 181)


def test_before_a_run_only_what_is_planned_has_sections(unmeasured: Subject) -> None:
    titles = [section.title for gather in IN_ORDER if (section := gather(unmeasured)) is not None]
    assert "Methods and threats to validity" in titles
    assert not {"Nodes", "Validity of runs", "The study in tables", "How many runs are enough"} & set(titles)


def test_methods_are_those_of_the_study(subject: Subject) -> None:
    told = content(methods_section.gather(subject), methods_section.Content)
    assert "2 settings of file_size_kb (64, 1024); record_size_kb (16); threads (2)" in told.paragraphs["Design"]
    assert "Jobs of 30 replicates" in told.paragraphs["Order and placement"]
    assert "2 blocks" in told.paragraphs["Order and placement"]
    assert "page cache dropped: never" in told.paragraphs["State of the nodes"]
    assert "more than 0.5 CPUs kept busy by others" in told.paragraphs["Valid runs"]
    assert told.hashes["study, SHA-256"] == subject.study.digest


def test_threats_are_those_that_the_facts_give_reason_for(subject: Subject) -> None:
    told = " ".join(threats(subject, None, ()))
    assert "One node measured everything" in told
    assert "page cache was not dropped" in told
    assert "order listed" not in told
    ended = replace(subject.campaign, state=State.INCOMPLETE, missing={"disk full": 12})
    study = replace(subject.study, study={**subject.study.study, "order": {"kind": "as_listed"}})
    changed = replace(subject, study=study, progress=replace(subject.progress, campaign=ended))
    told = " ".join(threats(changed, None, ()))
    assert "in the order listed" in told
    assert "12 runs missing" in told


def test_two_versions_of_an_engine_are_a_threat(subject: Subject) -> None:
    one = EngineUse(node=NODE, engine="iozone", version="3.489", runs=5, first_at=0.0, last_at=1.0)
    assert "2 versions of iozone" in " ".join(threats(subject, None, [one, replace(one, version="3.506")]))


def test_an_imported_campaign_claims_nothing_of_its_making(subject: Subject) -> None:
    imported = replace(subject.study, engine="imported", engine_options={})
    assert "are not known" in methods.order(imported)
    assert methods.state(imported) == methods.validity(imported) == ""
    assert "Imported:" in " ".join(threats(replace(subject, study=imported), None, ()))


def test_effective_n_is_told_where_runs_of_a_job_are_alike() -> None:
    told = methods.independence(Independence(looked_at=60, alike=3, share=0.4, lag_one=0.25))
    assert "In 3 of 60 configurations" in told
    assert "effective n is 40% of n" in told


def test_independent_runs_are_found_to_be_so(subject: Subject) -> None:
    found = independence.of(subject)
    assert found is not None
    assert (found.looked_at, found.share if not found.alike else 1.0) == (4, 1.0)
    assert found.lag_one is not None
    assert np.isfinite(found.lag_one)
