"""`modescope campaign` and `modescope node` against a live service: what is printed, what a mistake gets."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.main import main
from orchestrator.contracts.campaigns import ExportRow
from orchestrator.store.memory import MemoryStore
from tests.unit.api.conftest import TOKEN
from tests.unit.measured import NODE, STUDY, Laboratory


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Its one line of JSON."""
        return json.loads(self.out)


Modescope = Callable[..., Outcome]


@pytest.fixture
def modescope(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Modescope:
    """Run `modescope` with these arguments."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["modescope", *map(str, arguments)])
        status = main()
        return Outcome(status, *capsys.readouterr())

    return run


@pytest.fixture
def online(modescope: Modescope, address: str, monkeypatch: pytest.MonkeyPatch) -> Modescope:
    """The same, with the service's address and token in the environment."""
    monkeypatch.setenv("MODESCOPE_URL", address)
    monkeypatch.setenv("MODESCOPE_TOKEN", TOKEN)
    return modescope


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    """A small study."""
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def test_a_file_is_submitted_and_shown(online: Modescope, study_file: Path) -> None:
    said = online("campaign", "submit", study_file).out
    assert said == "Campaign 1 'two settings' is submitted: 5 configurations, 180 runs.\n"
    assert "two settings" in online("campaign", "list").out
    shown = online("campaign", "show", 1).out
    assert "(synthetic)" in shown
    assert "not analysed" in shown


def test_a_preset_is_submitted_by_name(online: Modescope) -> None:
    made = online("campaign", "submit", "demo", "--json").json()
    assert (made["name"], made["configurations"], made["expected_runs"]) == ("demo", 73, 1950)


def test_a_key_makes_a_repeated_submit_harmless(online: Modescope, study_file: Path) -> None:
    first = online("campaign", "submit", study_file, "--key", "k", "--json").json()
    again = online("campaign", "submit", study_file, "--key", "k")
    assert again.out.startswith(f"Campaign {first['id']} 'two settings' is there already")


def test_watch_ends_with_the_outcome(online: Modescope, laboratory: Laboratory) -> None:
    laboratory.submit()
    laboratory.work_off()

    watched = online("campaign", "watch", 1)

    assert watched.status == 0
    assert "Campaign 1 'two settings' is complete: 180 of 180 runs valid" in watched.out
    assert "analysed 5/5" in watched.out


def test_a_campaign_that_ends_incomplete_says_why_and_what_repeats_it(
    online: Modescope, store: MemoryStore, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = laboratory.submit()
    row = store.tables.campaigns[campaign.id]
    laboratory.fail_for_good()

    watched = online("campaign", "watch", 1)

    assert row.state == "incomplete"
    assert watched.status == 1
    assert "missing: " in watched.out
    assert "modescope campaign rerun 1 --flag incomplete" in watched.out


def test_the_flagged_come_first(online: Modescope, laboratory: Laboratory) -> None:
    laboratory.submit()
    laboratory.work_off()

    found = online("campaign", "show", 1, "--json").json()["configurations"]

    assert [one["verdict"] for one in found[:2]] == ["multimodal", "multimodal"]
    assert "multimodal" not in {one["verdict"] for one in found[2:]}
    assert [
        one["mode"] for one in online("campaign", "show", 1, "--mode", "readers", "--json").json()["configurations"]
    ]


def test_pause_resume_cancel_speak_json(online: Modescope, study_file: Path) -> None:
    online("campaign", "submit", study_file)
    assert online("campaign", "pause", 1, "--json").json()["paused"] is True
    assert online("campaign", "resume", 1, "--json").json()["paused"] is False
    assert online("campaign", "cancel", 1, "--now", "--json").json()["state"] == "cancelled"


def test_flagged_configurations_are_rerun(online: Modescope, laboratory: Laboratory) -> None:
    laboratory.submit()
    laboratory.work_off()
    said = online("campaign", "rerun", 1, "--flag", "multimodal").out
    assert "a re-run of 1: 3 configurations, 120 runs." in said


def test_export_and_report_are_written_whole(online: Modescope, laboratory: Laboratory, tmp_path: Path) -> None:
    laboratory.submit()
    laboratory.work_off()

    online("campaign", "export", 1, "--out", tmp_path / "runs.csv")
    online("campaign", "report", 1, "--out", tmp_path / "report.html")

    assert (tmp_path / "runs.csv").read_text().count("\n") == 1 + 2 * 2 * 60 + 60
    assert (tmp_path / "report.html").read_text().endswith("</html>\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "runs.csv"]
    assert stat.S_IMODE((tmp_path / "runs.csv").stat().st_mode) & 0o077 == 0o044


def test_an_export_that_fails_leaves_nothing(online: Modescope, tmp_path: Path) -> None:
    failed = online("campaign", "export", 7, "--out", tmp_path / "runs.csv")
    assert failed.status == 2
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_breaks_off_leaves_nothing(
    online: Modescope, store: MemoryStore, laboratory: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory.submit()
    laboratory.work_off()
    whole = list(store.campaigns.export(1))

    def broken(_campaigns: object, campaign_id: int) -> Iterator[ExportRow]:
        yield from whole
        raise RuntimeError("the database went away")

    monkeypatch.setattr(type(store.campaigns), "export", broken)
    failed = online("campaign", "export", 1, "--out", tmp_path / "runs.csv")

    assert (failed.status, failed.err.count("\n")) == (2, 1)
    assert "broke off in the middle" in failed.err
    assert list(tmp_path.iterdir()) == []


def test_nodes_are_listed_and_reinstated(online: Modescope, laboratory: Laboratory) -> None:
    assert NODE in online("node", "list").out
    assert online("node", "reinstate", NODE).out == f"Node {NODE} is ready.\n"


def test_the_home_leads_to_the_service(modescope: Modescope, address: str, tmp_path: Path) -> None:
    (tmp_path / "endpoint.json").write_text(json.dumps({"address": address, "token": TOKEN}))
    assert modescope("campaign", "list", "--home", tmp_path, "--json").json() == []


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["campaign", "show", "7"], "campaign 7"),
        (["campaign", "submit", "no-such-file"], "no-such-file: no such file, and no preset"),
        (["campaign", "rerun", "7", "--flag", "multimodal"], "campaign 7"),
        (["campaign", "export", "7", "--out", "/no/such/folder/x.csv"], "/no/such/folder"),
        (["campaign", "cancel", "none"], "none"),
        (["campaign", "report", "1"], "--out"),
        (["node", "reinstate", "nobody"], "nobody"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(online: Modescope, arguments: list[str], part: str) -> None:
    ended = online(*arguments)
    assert ended.status == 2
    assert ended.err.startswith("modescope: ")
    assert ended.err.count("\n") == 1
    assert part in ended.err
    assert ended.out == ""


def test_a_wrong_study_names_its_file(online: Modescope, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(STUDY.replace("replicates:", "replicats:", 1))
    ended = online("campaign", "submit", path)
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert str(path) in ended.err


def test_without_a_service_one_line_says_what_to_start(modescope: Modescope, tmp_path: Path) -> None:
    ended = modescope("campaign", "list", "--home", tmp_path)
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert f"modescope up --home {tmp_path}" in ended.err


def test_an_address_without_a_token_is_one_line(modescope: Modescope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MODESCOPE_TOKEN", raising=False)
    ended = modescope("campaign", "list", "--url", "http://127.0.0.1:1")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "MODESCOPE_TOKEN" in ended.err


def test_a_garbled_endpoint_file_is_one_line(modescope: Modescope, tmp_path: Path) -> None:
    (tmp_path / "endpoint.json").write_text("{")
    ended = modescope("campaign", "list", "--home", tmp_path)
    assert (ended.status, ended.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "example.org"])  # noqa: S104 - that is the point
def test_the_api_is_not_opened_to_other_hosts_unasked(modescope: Modescope, host: str) -> None:
    ended = modescope("api", "--host", host)
    assert ended.status == 2
    assert "--behind-proxy" in ended.err


def test_every_verb_has_help_with_an_example(modescope: Modescope) -> None:
    from orchestrator.cli.campaigns.campaign import campaign
    from orchestrator.cli.service.node import node

    for group in (campaign, node):
        for verb in group.commands:
            shown = modescope(group.name, verb, "--help").out
            assert "Example: modescope " in shown
            assert "--json" in shown


def test_a_campaign_is_compared_with_its_rerun_and_with_a_file(
    online: Modescope, laboratory: Laboratory, tmp_path: Path
) -> None:
    laboratory.submit()
    laboratory.work_off()
    child = online("campaign", "rerun", 1, "--flag", "multimodal", "--json").json()["id"]
    laboratory.work_off()
    said = online("compare", 1, child, "--json")
    assert said.status == 0, said.err
    found = said.json()
    assert found["compared"] == len(found["configurations"]) > 0
    assert found["only_b"] == []
    assert "multimodal" in {one["verdict_a"] for one in found["configurations"]}

    one = found["configurations"][0]
    file = tmp_path / "file.csv"
    values = ",".join(str(value) for value in range(20))
    file.write_text(
        ",".join([*found["label_names"], *(f"t{i}" for i in range(20))]) + f"\n{','.join(one['labels'])},{values}\n"
    )
    assert online("compare", 1, file, "--no-verdicts", "--json").json()["compared"] == 1


def test_what_goes_with_the_modes_is_told_for_one_and_for_all_that_are_flagged(
    online: Modescope, laboratory: Laboratory
) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()
    (found,) = laboratory.store.campaigns.configurations(campaign.id, verdict="multimodal", mode="readers")
    one = f"{found.setting_id}:readers"
    told = online("campaign", "explain", campaign.id, one).out
    assert f"({one}): within node: " in told
    assert "order of runs: explains" in told
    assert "60 runs tell as much as" in told
    assert online("campaign", "explain", campaign.id).out.count(": within node: ") == 2
    explained = online("campaign", "explain", campaign.id, one, "--json").json()
    assert explained["explanation"]["label"]["where"] == "within node"
    assert online("campaign", "explain", campaign.id, "99:readers").err == (
        f"modescope: campaign {campaign.id} has no configuration 99:readers\n"
    )


def test_a_re_run_is_confirmed_and_its_controls_counted(online: Modescope, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    laboratory.work_off()
    assert online("campaign", "rerun", campaign.id).err.startswith("modescope: say what to measure again")
    wanted = ("--flag", "multimodal", "--level", "file_size_kb=1024", "--json")
    child = online("campaign", "rerun", campaign.id, *wanted).json()["id"]
    laboratory.work_off()
    assert "confirmed: several modes again in 60 new runs" in online("campaign", "show", child).out
    said = online("campaign", "calibration", campaign.id).out
    assert "1 of 1 controls with several modes are flagged" in said
    assert "0 of 0 of these that were measured again were confirmed" in said
