"""Nodes: their state as people say it, how they differ, drain and resume."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

import httpx
import pytest

from orchestrator.contracts.nodes import Hello, Node, NodeState
from orchestrator.store.memory import MemoryStore
from orchestrator.web.content import nodes
from orchestrator.web.content.nodes import ABSENT, Standing
from tests.unit.measured import NODE, Laboratory
from tests.unit.web.forms import sent

FACTS = {
    "kernel": {"release": "6.1.0-18"},
    "turbo": True,
    "processor": {"model": "Imaginary 9000", "cpus": 0},
    "load": 0.3,
}


def _report(store: MemoryStore, name: str, facts: Mapping[str, object]) -> None:
    store.nodes.hello(Hello(node=name, session=uuid4(), boot_id="9a1b", version="0.1.0", facts=facts))


def _node(**changed: object) -> Node:
    known = {"name": "m01", "state": NodeState.READY, "reason": None, "online": True, "seen_s_ago": 1.0}
    return Node(**{**known, "engines": {}, "facts": {}, "job_id": None, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, Standing.READY),
        ({"job_id": 7}, Standing.RUNNING),
        ({"state": NodeState.DRAINING, "job_id": 7}, Standing.DRAINING),
        ({"state": NodeState.QUARANTINED, "online": False}, Standing.QUARANTINED),
        ({"online": False, "seen_s_ago": 60.0}, Standing.OFFLINE),
        ({"online": False, "seen_s_ago": 3600.0}, Standing.LOST),
        ({"online": False, "seen_s_ago": None}, Standing.AWAITED),
    ],
)
def test_a_state_is_one_word(changed: dict[str, object], said: Standing) -> None:
    assert nodes.standing(_node(**changed)) is said


def test_facts_are_compared_with_what_most_others_say(store: MemoryStore) -> None:
    for name in ("m01", "m02", "m03"):
        _report(store, name, FACTS)
    _report(store, "m04", {**FACTS, "turbo": False, "kernel": {"release": "6.1.0-13"}, "load": 9.0})
    differing = {
        fact.name: (fact.value, fact.common, fact.agreeing) for fact in nodes.one(store, "m04").facts if fact.differs
    }
    assert differing == {"turbo": ("no", "yes", 3), "kernel.release": ("6.1.0-13", "6.1.0-18", 3)}
    assert [line.differing for line in nodes.gather(store)] == [0, 0, 0, 2]


def test_a_fact_that_only_others_have_is_absent_here(store: MemoryStore) -> None:
    _report(store, "m01", {"turbo": True})
    _report(store, "m02", {"turbo": True, "swap_kb": 0})
    facts = {fact.name: (fact.value, fact.common) for fact in nodes.one(store, "m01").facts}
    assert facts == {"turbo": ("yes", "yes"), "swap_kb": (ABSENT, "0")}
    assert {fact.name: fact.common for fact in nodes.one(store, "m02").facts}["swap_kb"] == ABSENT


def test_what_passes_and_what_names_a_disk_is_no_difference(store: MemoryStore) -> None:
    for name, disk, free_kb in (("m01", "a1b2", 10), ("m02", "c3d4", 20)):
        kernel = {"command_line": f"BOOT_IMAGE=/vmlinuz root=UUID={disk} ro quiet"}
        _report(store, name, {"kernel": kernel, "target": {"free_kb": free_kb, "file_system": "ext4"}})
    assert [(fact.name, fact.value) for fact in nodes.one(store, "m01").facts] == [
        ("kernel.command_line", "ro quiet"),
        ("target.file_system", "ext4"),
    ]
    assert [line.differing for line in nodes.gather(store)] == [0, 0]


def test_a_node_alone_differs_from_nobody(store: MemoryStore) -> None:
    _report(store, "m01", FACTS)
    content = nodes.one(store, "m01")
    assert content.others == 0
    assert not any(fact.differs for fact in content.facts)


def test_where_there_is_no_node_the_page_says_how_one_comes(browser: httpx.Client) -> None:
    assert "modescope agent --node NAME" in browser.get("/nodes").text


def test_a_list_shows_what_each_node_does(browser: httpx.Client, store: MemoryStore) -> None:
    laboratory = Laboratory(store)
    laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    page = browser.get("/nodes").text
    assert f'href="/nodes/{NODE}"' in page
    assert 'class="tag ready"' in page
    assert "0.6 %" in page
    assert "180.0" in page


def test_draining_and_resuming_are_forms(browser: httpx.Client, store: MemoryStore) -> None:
    Laboratory(store)
    here = f"/nodes/{NODE}"
    assert sent(browser, here, f"{here}/drain").headers["location"] == here
    assert store.nodes.all()[0].state is NodeState.DRAINING
    assert "It gets no more work" in browser.get(here).text
    sent(browser, here, f"{here}/resume")
    assert store.nodes.all()[0].state is NodeState.READY


def test_a_name_with_signs_in_it_has_a_page_of_its_own(browser: httpx.Client, store: MemoryStore) -> None:
    _report(store, "rack 7<b>&?", FACTS)
    assert 'href="/nodes/rack%207%3Cb%3E%26%3F"' in browser.get("/nodes").text
    page = browser.get("/nodes/rack%207%3Cb%3E%26%3F")
    assert page.status_code == 200
    assert "<b>" not in page.text


def test_a_node_that_is_not_there_is_not_found(browser: httpx.Client) -> None:
    assert browser.get("/nodes/nobody").status_code == 404
