"""Campaigns over REST: submitted once, looked at, acted upon, measured again."""

from __future__ import annotations

import csv
import io

import pytest

from orchestrator.client import Client
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError, MissingPartError, NotFoundError, StudyError
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import NODE, STUDY, Laboratory


def test_a_submitted_study_becomes_a_campaign(client: Client) -> None:
    campaign, new = client.submit(STUDY)

    assert new
    assert (campaign.name, campaign.settings, campaign.configurations) == ("two settings", 3, 5)
    assert client.campaign(campaign.id) == campaign
    assert client.campaigns() == (campaign,)


def test_the_same_key_and_study_return_the_first_campaign(client: Client) -> None:
    first, _ = client.submit(STUDY, key="once")
    second, new = client.submit(STUDY, key="once")

    assert not new
    assert second.id == first.id
    assert len(client.campaigns()) == 1


def test_another_study_under_the_same_key_is_a_conflict(client: Client) -> None:
    client.submit(STUDY, key="once")
    with pytest.raises(ConflictError, match="once"):
        client.submit(STUDY.replace("two settings", "another"), key="once")


def test_a_wrong_study_is_refused_and_nothing_is_stored(client: Client) -> None:
    with pytest.raises(StudyError, match=r"^mine\.yaml: ") as refusal:
        client.submit(STUDY.replace("replicates:", "replicats:", 1), where="mine.yaml")

    assert "\n" not in str(refusal.value)
    assert client.campaigns() == ()


def test_a_study_whose_engine_no_node_has_is_refused(client: Client, laboratory: Laboratory) -> None:
    with pytest.raises(MissingPartError, match="no node has 'iozone'") as refusal:
        client.submit(STUDY.replace("engine: builtin", "engine: iozone"))

    assert "\n" not in str(refusal.value)
    assert client.campaigns() == ()


def test_while_no_node_is_known_any_engine_is_accepted(client: Client) -> None:
    _, new = client.submit(STUDY.replace("engine: builtin", "engine: iozone"))
    assert new


def test_pause_resume_and_cancel_show_in_the_campaign(client: Client) -> None:
    campaign, _ = client.submit(STUDY)

    assert client.pause(campaign.id).paused
    assert not client.resume(campaign.id).paused
    assert client.cancel(campaign.id).state is State.CANCELLED
    with pytest.raises(ConflictError):
        client.pause(campaign.id)


def test_cancel_now_reaches_the_nodes_at_work(
    client: Client, store: MemoryStore, laboratory: Laboratory, hints: list[str]
) -> None:
    campaign, _ = client.submit(STUDY)
    (offer, *_) = store.control.dispatch()
    store.jobs.claim(offer.job_id, laboratory.session)

    client.cancel(campaign.id, now=True)

    assert hints == [NODE]


def test_cancel_without_now_disturbs_nobody(client: Client, laboratory: Laboratory, hints: list[str]) -> None:
    campaign, _ = client.submit(STUDY)
    client.cancel(campaign.id)
    assert hints == []


def test_progress_comes_back_as_the_store_gives_it(client: Client, store: MemoryStore, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()

    told = client.progress(campaign.id)

    assert told.campaign == store.campaigns.get(campaign.id)
    assert (told.valid_runs, told.analyses_done, told.verdicts_final) == (180, 5, True)
    assert told.nodes[0].node == NODE


def test_configurations_are_filtered_by_verdict_and_mode(client: Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()

    flagged = client.configurations(campaign.id, verdict="multimodal")
    readers = client.configurations(campaign.id, mode="readers")

    assert [(found.levels, found.mode) for found in flagged] == [((1024, 16, 2), "readers"), ((), "control_bimodal")]
    assert [found.levels for found in readers] == [(64, 16, 2), (1024, 16, 2)]


def test_a_rerun_measures_the_flagged_settings_in_a_child(client: Client, laboratory: Laboratory) -> None:
    parent = laboratory.submit()
    laboratory.work_off()

    child, new = client.rerun(parent.id, flag="multimodal", replicates=40)

    assert new
    assert (child.parent_id, child.settings, child.configurations, child.replicates) == (parent.id, 2, 3, 40)


def test_a_rerun_with_the_same_key_is_made_once(client: Client, laboratory: Laboratory) -> None:
    parent = laboratory.submit()
    laboratory.work_off()

    first, _ = client.rerun(parent.id, flag="multimodal", key="again")
    second, new = client.rerun(parent.id, flag="multimodal", key="again")

    assert (second.id, new) == (first.id, False)


def test_a_rerun_before_the_verdicts_are_final_is_a_conflict(client: Client) -> None:
    campaign, _ = client.submit(STUDY)
    with pytest.raises(ConflictError, match=f"campaign watch {campaign.id}"):
        client.rerun(campaign.id, flag="multimodal")


def test_a_rerun_of_what_nothing_is_says_what_there_is(client: Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()
    with pytest.raises(ConflictError, match=r"'bimodal' \(.*multimodal 2"):
        client.rerun(campaign.id, flag="bimodal")


def test_what_lacks_runs_can_be_repeated(client: Client) -> None:
    campaign, _ = client.submit(STUDY)
    client.cancel(campaign.id)

    child, _ = client.rerun(campaign.id, flag="incomplete")

    assert child.settings == campaign.settings


def test_the_export_has_a_row_per_run_and_mode(client: Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()

    header, *rows = csv.reader(io.StringIO(b"".join(client.export(campaign.id)).decode()))

    assert header == [
        *("file_size_kb", "record_size_kb", "threads", "mode", "replicate", "throughput_kbps"),
        *("node", "job", "block", "position", "started_at", "valid", "reason"),
    ]
    table = [dict(zip(header, row, strict=True)) for row in rows]
    valid = [row for row in table if row["valid"] == "valid"]
    assert len(valid) == 2 * 2 * 60 + 60
    assert len({(row["file_size_kb"], row["mode"], row["replicate"]) for row in valid}) == len(valid)
    assert valid[0]["started_at"] == "2020-09-13T12:26:40.000000+00:00"
    assert {row["file_size_kb"] for row in valid if row["mode"] == "control_bimodal"} == {""}
    failed = [row for row in table if row["valid"] == "invalid"]
    assert {(row["throughput_kbps"], row["reason"]) for row in failed} == {("", "the benchmark ended with status 1")}


def test_throughputs_are_exported_as_they_were_measured(
    client: Client, store: MemoryStore, laboratory: Laboratory
) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()

    exported = csv.DictReader(io.StringIO(b"".join(client.export(campaign.id)).decode()))

    assert [float(row["throughput_kbps"]) for row in exported] == [
        row.value for row in store.campaigns.export(campaign.id)
    ]


def test_a_campaign_that_is_not_there_is_not_found(client: Client) -> None:
    for ask in (client.campaign, client.progress, client.configurations, client.report, client.pause):
        with pytest.raises(NotFoundError, match="7"):
            ask(7)
    with pytest.raises(NotFoundError, match="7"):
        list(client.export(7))


def test_nodes_are_listed_and_reinstated(client: Client, laboratory: Laboratory) -> None:
    (node,) = client.nodes()
    assert node.engines == {"builtin": "1", "replay": "1"}
    assert client.reinstate(NODE).state == "ready"
    with pytest.raises(NotFoundError):
        client.reinstate("nobody")
