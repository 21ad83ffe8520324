"""The report: one whole page that loads nothing, and says what the campaign found."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.campaigns import State
from orchestrator.report import render, section, sections
from orchestrator.report.content import Report, gather
from orchestrator.report.settling import settle_sentence
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import STUDY, Laboratory

VOID = {"meta", "br", "wbr", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Fails on a tag that is not closed where it should be; collects text and references."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.references: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.text += " "
        self.references += [value or "" for name, value in attrs if name in {"src", "href", "srcset", "action", "data"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [], "tags that are never closed"
    reader.text = " ".join(reader.text.split())
    return reader


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    """A campaign that is over, and its re-run."""
    store = MemoryStore()
    laboratory = Laboratory(store)
    laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    laboratory.rerun_flagged(1)
    laboratory.work_off()
    return store


@pytest.fixture(scope="module")
def child_id(store: MemoryStore) -> int:
    """The re-run's."""
    return store.campaigns.all()[0].id


@pytest.fixture(scope="module")
def report(store: MemoryStore) -> Report:
    """All that the page says."""
    return gather(store, 1)


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    """As it is written."""
    return render(report)


def test_the_page_is_well_formed(page: str) -> None:
    assert page.startswith("<!doctype html>\n")
    read(page)


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    reader = read(page)
    assert reader.references == []
    assert not {"script", "link", "img", "iframe", "object"} & set(reader.tags)
    assert not re.search(r"https?:|url\(|@import", page)


def test_it_says_the_numbers_of_the_campaign(page: str, store: MemoryStore) -> None:
    text = read(page).text
    assert "valid runs 180" in text
    assert "flagged multimodal 2" in text
    assert "the benchmark ended with status 1 1" in text
    for found in store.campaigns.configurations(1):
        assert found.sentence is not None
        assert found.sentence in text


def test_every_flagged_configuration_has_its_picture_and_numbers(page: str, store: MemoryStore) -> None:
    reader = read(page)
    flagged = list(store.analyses.fitted(1, verdict=FLAGGED))
    assert page.count('<div class="card') == len(flagged) == 2
    for one in flagged:
        assert one.selection is not None
        assert f"BIC gap {one.selection['bic_gap']:.1f}" in reader.text
    assert "throughput (GB/s)" in reader.text
    assert "runs per bin" in reader.text


def test_a_page_with_too_many_pictures_says_what_it_leaves_out(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.report.sections.flagged.PICTURES", 1)
    page = render(gather(store, 1))
    assert page.count('<div class="card') == 1
    assert "The first 1 of 2;" in read(page).text


def test_the_control_is_marked_and_comes_without_levels(page: str) -> None:
    text = read(page).text
    assert "bimodal synthetic control" in text
    assert "was not measured" in text
    assert "control_bimodal (synthetic)" in text


def test_a_rerun_says_whether_the_verdict_held(page: str, child_id: int) -> None:
    assert read(page).text.count(f"Re-run in campaign {child_id} (60 runs): confirmed several modes again") == 2


def test_the_rerun_names_its_parent(store: MemoryStore, child_id: int) -> None:
    assert "a re-run of campaign 1" in read(render(gather(store, child_id))).text


@pytest.mark.parametrize(
    ("engine", "options", "said"),
    [
        ("iozone", {"settle_s": 0.0}, "Settle time 0 s"),
        ("iozone", {"settle_s": None}, "it sleeps 2 s around each test"),
        ("builtin", {}, "built-in benchmark"),
    ],
)
def test_the_settle_time_is_said(store: MemoryStore, engine: str, options: dict[str, object], said: str) -> None:
    study = replace(store.campaigns.study(1), engine=engine, engine_options=options)
    assert said in (settle_sentence(study) or "")


def test_what_is_missing_is_said_with_the_command_that_repeats_it(report: Report) -> None:
    ended = replace(report.campaign, state=State.INCOMPLETE, missing={"disk <full>": 12})
    text = read(render(replace(report, progress=replace(report.progress, campaign=ended)))).text
    assert "12 of 180 runs are missing: disk <full>." in text
    assert "modescope campaign rerun 1 --flag incomplete" in text


def test_a_section_that_has_nothing_to_say_is_left_out(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(_subject: section.Subject) -> None:
        return None

    monkeypatch.setattr("orchestrator.report.content.IN_ORDER", (silent, sections.reading.gather))
    reader = read(render(gather(store, 1)))
    assert reader.tags.count("h2") == 1
    assert "How to read this" in reader.text


def test_before_anything_is_measured_the_page_stands() -> None:
    store = MemoryStore()
    Laboratory(store).submit()
    text = read(render(gather(store, 1))).text
    assert "None: no configuration shows several density modes so far." in text
    assert "Preliminary." in text


def test_names_from_a_study_cannot_become_markup() -> None:
    store = MemoryStore()
    Laboratory(store).submit(STUDY.replace("two settings", "<script>alert(1)</script>"))
    page = render(gather(store, 1))
    assert "script" not in read(page).tags
    assert "&lt;script&gt;" in page
