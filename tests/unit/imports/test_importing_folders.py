"""Results from folders of what benchmarks printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.contracts.errors import OutputError, UserError
from orchestrator.imports import reading
from orchestrator.imports.folders import Pattern
from workers.benchmarks import results

IOZONE = """\tIozone: Performance Test of File I/O
\tRun began: Fri Apr 22 00:04:40 2011

\tEach process writes a 1024 kByte file in 64 kByte records

\tChildren see throughput for  2 initial writers \t=  {write} kB/sec
\tChildren see throughput for  2 readers \t\t=  {read} kB/sec

iozone test complete.
"""
AUTO = f"""\tAuto Mode
              random  random    bkwd   record   stride
   KB  reclen  write rewrite read reread read write read rewrite read fwrite frewrite fread freread
   4       4  {"       ".join(str(number) for number in range(1, 14))}
   8       4      {"  ".join(str(number) for number in range(14, 27))}

iozone test complete.
"""
FIO = {
    "timestamp": 1600000000,
    "global options": {"size": "64m", "bs": "4k"},
    "jobs": [
        {
            "jobname": "a", "job options": {"rw": "randread"}, "elapsed": 10,
            "read": {"io_bytes": 10, "bw_bytes": 2048}, "write": {"io_bytes": 0, "bw_bytes": 0},
        },
        {
            "jobname": "a", "job options": {"rw": "randread"}, "elapsed": 10,
            "read": {"io_bytes": 10, "bw_bytes": 1024}, "write": {"io_bytes": 0, "bw_bytes": 0},
        },
    ],
}  # fmt: skip


def folder_of(root: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = root / "outputs" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "outputs"


def test_a_folder_of_iozone_outputs_is_a_run_a_file(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path,
        m03__ext4_run1=IOZONE.format(write=10, read=20),
        m03__ext4_run2=IOZONE.format(write=11, read=21),
        m04__xfs_run1=IOZONE.format(write=12, read=22),
        m04__notes="buy milk",
        m04__xfs_run9="no output",
    )
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text('files: "{node}/{file_system}_run{replicate}"\n')
    wanted, skipped = reading.read(folder, mapping, None)
    design = wanted.submission.design
    assert design.factors == ("file_system", "threads", "file_size_kb", "record_size_kb")
    assert [(one.levels, one.modes, one.replicates) for one in design.settings] == [
        (("ext4", 2, 1024, 64), ("initial_writers", "readers"), 2),
        (("xfs", 2, 1024, 64), ("initial_writers", "readers"), 1),
    ]
    assert sorted((run.node, run.values, run.started_at) for run in wanted.runs()) == [
        ("m03", (10.0, 20.0), 1303430680.0),
        ("m03", (11.0, 21.0), 1303430680.0),
        ("m04", (12.0, 22.0), 1303430680.0),
    ]
    assert [(count, first) for _, count, first in skipped.as_rows()] == [(1, "m04/notes"), (1, "m04/xfs_run9")]


def test_auto_mode_is_a_setting_a_row() -> None:
    first, second = results.iozone(AUTO)
    assert first.levels == {"threads": 1, "file_size_kb": 4, "record_size_kb": 4}
    assert (first.values["initial_writers"], second.values["stride_readers"]) == (1.0, 22.0)
    assert len(second.values) == 13


def test_auto_mode_without_all_its_tests_cannot_be_read() -> None:
    with pytest.raises(OutputError, match="line 5: 2 values, but auto mode has 13 tests"):
        results.iozone(AUTO.replace("14  15  ", "14  15\n"))


def test_fio_tells_its_bandwidth_by_job_name() -> None:
    (found,) = results.fio("fio: a warning\n" + json.dumps(FIO))
    assert found.levels == {"threads": 2, "file_size_kb": 65536, "record_size_kb": 4}
    assert found.values == {"random_readers": 3.0}
    assert found.started_at == 1600000000 - 10


@pytest.mark.parametrize("text", ["", "{}", '{"jobs": [{}]}', "[" * 100_000, '{"jobs": 3}'])
def test_what_is_not_fios_json_is_an_error(text: str) -> None:
    with pytest.raises(OutputError):
        results.fio(text)


@pytest.mark.parametrize("text", ["a.txt", "{a}{b}", "{a}/{a}", "{mode!r}", "{a.b}", "{0}", "{value}{", "{throughput}"])
def test_a_pattern_that_says_nothing_clear_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="files: "):
        Pattern(text)


def test_signs_of_a_pattern_stand_for_themselves() -> None:
    pattern = Pattern("{node}/[a-z]+/{size}k.txt")
    assert pattern.fields("m03/[a-z]+/64k.txt") == {"node": "m03", "size": "64"}
    assert pattern.fields("m03/abc/64k.txt") is None
    assert pattern.fields("m03/x/[a-z]+/64k.txt") is None


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a=IOZONE.format(write=1, read=2))
    (folder / "b").symlink_to(folder / "a")
    wanted, _ = reading.read(folder, None, None)
    assert len(list(wanted.runs())) == 1


def test_an_unknown_format_names_those_there_are(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text("format: iozon\n")
    with pytest.raises(UserError, match="did you mean 'iozone'"):
        reading.read(folder_of(tmp_path, a=""), mapping, None)
