"""Results from CSV files: what becomes a campaign, what is skipped, and that twice is once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import StudyError, UserError
from orchestrator.design import study
from orchestrator.imports import reading, recording, report
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import NODE, STUDY, Laboratory
from workers.analyse import Analyst

LONG = """threads,size,test,host,iter,start,throughput,ok,why
1,64,read,m03,1,2019-04-27T10:00:00,100.5,yes,
1,64,write,m03,1,2019-04-27T10:00:00,50,yes,
1,64,read,m04,1,2019-04-27T09:00:00,101,yes,
1,64,write,m04,1,2019-04-27T09:00:00,51,yes,
1,64,read,m03,2,2019-04-27T11:00:00,,no,disk full
1,64,write,m03,2,2019-04-27T11:00:00,,no,disk full
4,64,read,m03,1,2019-04-27T12:00:00,200,yes,
4,64,read,m03,2,2019-04-27T12:00:01,fast,yes,
4,64,read,m03,3,2019-04-27T12:00:02,inf,yes,
4,64,read,m 3,4,2019-04-27T12:00:03,7,yes,
"""
MAPPING = """
name: from elsewhere
factors: {threads: threads, size: {name: file_size_kb, times: 1000}}
constants: {media: ssd}
mode: {column: test, names: {read: readers, write: initial_writers}}
value: {column: throughput, times: 2}
node: host
replicate: iter
time: start
valid: {column: ok, values: ["yes"]}
reason: why
analysis: {families: [normal], max_components: 1, min_n: 1}
"""


def written(folder: Path, text: str, mapping: str = MAPPING) -> tuple[Path, Path]:
    (folder / "runs.csv").write_text(text)
    (folder / "mapping.yaml").write_text(mapping)
    return folder / "runs.csv", folder / "mapping.yaml"


def recorded(store: MemoryStore, source: Path, mapping: Path | None = None) -> int:
    wanted, _ = reading.read(source, mapping, None)
    return recording.record(store, wanted)[0].id


def test_runs_keep_values_node_start_and_validity(tmp_path: Path) -> None:
    store = MemoryStore()
    campaign_id = recorded(store, *written(tmp_path, LONG))
    rows = [
        (*row.levels, row.mode, row.value, row.node, row.valid, row.reason)
        for row in store.campaigns.export(campaign_id)
    ]
    assert rows[:4] == [
        (1, 64000, "ssd", "readers", 201.0, "m03", "valid", None),
        (1, 64000, "ssd", "initial_writers", 100.0, "m03", "valid", None),
        (1, 64000, "ssd", "readers", None, "m03", "invalid", "disk full"),
        (1, 64000, "ssd", "initial_writers", None, "m03", "invalid", "disk full"),
    ]
    starts = {row.node: row.started_at for row in store.campaigns.export(campaign_id) if row.value == 202.0}
    assert starts == {"m04": 1556355600.0}


def test_what_is_skipped_is_counted_with_its_reason_and_first_row(tmp_path: Path) -> None:
    wanted, skipped = reading.read(*written(tmp_path, LONG), None)
    told = report.of(wanted, skipped)
    assert [(one["count"], one["first"]) for one in told["skipped"]] == [
        (2, "runs.csv row 9, column 'throughput'"),
        (1, "runs.csv row 11"),
    ]
    assert (told["valid_runs"], told["invalid_runs"], told["nodes"]) == (3, 1, {"m03": 3, "m04": 1})
    assert "nothing is stored" in report.text(told)


def test_samples_of_unequal_size_are_all_complete_and_analysed(tmp_path: Path) -> None:
    text = "threads,mode,throughput\n" + "".join(
        f"{threads},readers,{100 + i % 7 + threads}\n" for threads, n in ((1, 40), (2, 60)) for i in range(n)
    )
    store = MemoryStore()
    campaign_id = recorded(store, written(tmp_path, text)[0])
    store.control.reconcile()
    assert store.campaigns.get(campaign_id).state is State.COMPLETE
    Analyst(store).work()
    judged = store.campaigns.configurations(campaign_id)
    assert [(one.valid_runs, one.final) for one in judged] == [(40, True), (60, True)]


def test_modes_that_were_not_measured_together_are_settings_of_their_own(tmp_path: Path) -> None:
    text = "threads,mode,throughput\n1,readers,1\n1,readers,2\n1,rewriters,3\n1,re-readers,4\n"
    wanted, _ = reading.read(written(tmp_path, text)[0], None, None)
    assert [(one.modes, one.replicates) for one in wanted.submission.design.settings] == [
        (("readers",), 2),
        (("rewriters", "re-readers"), 1),
    ]


def test_a_wide_file_is_read_too_and_compressed(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv.gz"
    path.write_bytes(gzip.compress(b"threads,mode,t1,t2,t3\n1,readers,5,6,7\n2,readers,8,,9\n"))
    wanted, _ = reading.read(path, None, None)
    assert [one.replicates for one in wanted.submission.design.settings] == [3, 2]
    assert [run.values for run in wanted.runs()] == [(5.0,), (6.0,), (7.0,), (8.0,), (9.0,)]


def test_doing_it_twice_changes_nothing(tmp_path: Path) -> None:
    store = MemoryStore()
    source, mapping = written(tmp_path, LONG)
    first = recorded(store, source, mapping)
    before = list(store.campaigns.export(first))
    assert recorded(store, source, mapping) == first
    assert list(store.campaigns.export(first)) == before
    assert len(store.campaigns.all()) == 1


def test_an_interrupted_import_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    source, mapping = written(tmp_path, LONG)
    monkeypatch.setattr(recording, "RUNS_AT_ONCE", 1)
    wanted, _ = reading.read(source, mapping, None)

    def dies(runs: int) -> None:
        if runs == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recording.record(store, wanted, progress=dies)
    campaign, new = recording.record(store, wanted)
    assert not new
    assert len(list(store.campaigns.export(campaign.id))) == 7


def test_another_mapping_of_the_same_data_is_another_campaign(tmp_path: Path) -> None:
    store = MemoryStore()
    source, mapping = written(tmp_path, LONG)
    first = recorded(store, source, mapping)
    mapping.write_text(MAPPING.replace("times: 2", "times: 3"))
    assert recorded(store, source, mapping) != first


def test_nothing_is_handed_out_and_no_agent_is_disturbed(tmp_path: Path) -> None:
    store = MemoryStore()
    laboratory = Laboratory(store)
    text = f"threads,mode,node,throughput\n1,readers,{NODE},5\n1,readers,m03,6\n"
    recorded(store, written(tmp_path, text)[0])
    nodes = {node.name: node.online for node in store.nodes.all()}
    assert nodes == {NODE: True, f"{NODE}.imported": False, "m03": False}
    assert not laboratory.work()


def test_a_node_that_comes_to_bear_an_imported_name_works_as_any_other(tmp_path: Path) -> None:
    store = MemoryStore()
    recorded(store, written(tmp_path, "threads,mode,node,throughput\n1,readers,local-1,5\n")[0])
    laboratory = Laboratory(store)
    laboratory.submit()
    assert laboratory.work()


def test_no_study_may_ask_for_the_engine_imported() -> None:
    with pytest.raises(StudyError, match="engine: 'imported' marks what `modescope import` brought in"):
        study.load(STUDY.replace("engine: builtin", "engine: imported"), where="study.yaml")


def test_what_was_imported_cannot_be_measured_again(tmp_path: Path) -> None:
    from orchestrator.design.submission import rerun

    store = MemoryStore()
    campaign_id = recorded(store, *written(tmp_path, LONG))
    with pytest.raises(StudyError, match="nothing measures with it"):
        rerun(store.campaigns.study(campaign_id), store.campaigns.design(campaign_id), [0], seed=1)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("mode: nope\n", "mode: no column is named 'nope'"),
        ("factors: {thread: threads}\n", "factors: no column is named 'thread'; did you mean 'threads'?"),
        ("factorz: {}\n", "unknown key 'factorz'; did you mean 'factors'?"),
        ("mode: {column: a, constant: b}\n", "mode: give `column` or `constant`, not both"),
        ("value: {times: -1}\n", "value.times: -1: should be greater than 0"),
        ("constants: {mode: x}\n", "a factor cannot be called 'mode'"),
        ("name: &a b\n", "aliases and anchors are not allowed"),
        ("analysis: {familys: [normal]}\n", "familys"),
        ("- a\n", "mapping"),
    ],
)
def test_a_mistake_in_a_mapping_is_one_line(tmp_path: Path, mapping: str, message: str) -> None:
    source, file = written(tmp_path, "threads,mode,throughput\n1,readers,1\n", mapping)
    with pytest.raises(UserError) as raised:
        reading.read(source, file, None)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("threads,throughput\n1,2\n", "no column 'mode'"),
        ("threads,mode\n1,readers\n", "no column is called throughput or throughput_kbps"),
        ("file size,mode,throughput\n1,readers,1\n", "'file size' is no name for a factor"),
        ("threads,mode,throughput\n1,readers,x\n", "nothing to import; a value that is no finite number: 1"),
        ("", "the file is empty"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        reading.read(written(tmp_path, text)[0], None, None)
