"""What IOzone printed, read back; captured outputs are in tests/data/iozone/."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.contracts.errors import OutputError
from workers.benchmarks import iozone_text

CAPTURED = Path(__file__).parents[2] / "data" / "iozone"
SHARED = Path(__file__).parents[4] / "shared" / "data" / "iozone_output"
SIX = (CAPTURED / "v3.489_2proc_six_modes.txt").read_text()


def modes(text: str, *, partial: bool = False) -> list[str]:
    return [entry.mode for entry in iozone_text.parse(text, partial=partial)]


def test_six_modes_with_their_sizes_and_details() -> None:
    measured = iozone_text.parse(SIX)
    assert [entry.mode for entry in measured] == [
        "initial_writers",
        "rewriters",
        "readers",
        "re-readers",
        "random_readers",
        "random_writers",
    ]
    assert {(entry.threads, entry.file_size_kb, entry.record_size_kb) for entry in measured} == {(2, 16, 4)}
    for entry in measured:
        assert f"= {entry.throughput_kbps:10.2f} kB/sec" in SIX
        assert set(entry.details) == {"parent_kbps", "min_kbps", "max_kbps", "avg_kbps", "min_xfer_kb"}


def test_several_numbers_of_processes_in_one_text() -> None:
    measured = iozone_text.parse((CAPTURED / "v3.489_1to2proc.txt").read_text())
    assert [(entry.mode, entry.threads) for entry in measured] == [
        (mode, threads) for threads in (1, 2) for mode in ("initial_writers", "rewriters", "readers", "re-readers")
    ]


def test_modes_beyond_the_six_keep_iozones_names() -> None:
    assert {"reverse_readers", "stride_readers", "mixed_workload", "pwrite_writers"} <= set(
        modes((CAPTURED / "v3.489_2proc_more_modes_direct.txt").read_text())
    )


def test_several_invocations_in_one_text() -> None:
    assert modes(SIX + SIX) == modes(SIX) * 2


def test_an_invocation_cut_off_before_the_next_is_refused() -> None:
    cut = SIX.replace("iozone test complete.", "")
    with pytest.raises(OutputError, match="another invocation begins"):
        iozone_text.parse(cut + SIX)
    assert modes(cut + SIX, partial=True) == modes(SIX) * 2


@pytest.mark.parametrize(
    ("change", "to"),
    [("kB/sec", "KB/sec"), ("kByte", "Kbyte"), ("\t", "   "), ("\n", "\r\n"), ("kB/sec", "kB/sec  "), ("\n", "\n \n")],
)
def test_blanks_units_and_line_ends_do_not_matter(change: str, to: str) -> None:
    assert iozone_text.parse(SIX.replace(change, to)) == iozone_text.parse(SIX)


def test_extra_lines_do_not_matter() -> None:
    noisy = "\n".join(f"{line}\nClient 1: host=a" for line in SIX.splitlines())
    assert iozone_text.parse(noisy) == iozone_text.parse(SIX)


def test_zero_is_a_throughput() -> None:
    text = (CAPTURED / "v3.489_1proc_write_no_stonewall.txt").read_text().replace("1638743.12", "0.00")
    assert iozone_text.parse(text)[0].throughput_kbps == 0.0


def test_an_incomplete_text_is_refused_and_read_in_part() -> None:
    cut = SIX[: SIX.index("re-readers")]
    with pytest.raises(OutputError, match="incomplete value line"):
        iozone_text.parse(cut)
    assert modes(cut, partial=True) == ["initial_writers", "rewriters", "readers"]


def test_a_text_without_its_last_line_is_refused() -> None:
    with pytest.raises(OutputError, match=r"test complete.* is missing"):
        iozone_text.parse(SIX.replace("iozone test complete.", ""))


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=len(SIX.rstrip()) - 1))
def test_no_text_cut_anywhere_is_taken_for_a_whole_one(length: int) -> None:
    with pytest.raises(OutputError):
        iozone_text.parse(SIX[:length])


@settings(deadline=None)
@given(st.integers(min_value=SIX.index("Run began"), max_value=len(SIX)))
def test_what_is_there_of_a_cut_text_is_true(length: int) -> None:
    whole = {entry.mode: entry.throughput_kbps for entry in iozone_text.parse(SIX)}
    for entry in iozone_text.parse(SIX[:length], partial=True):
        assert whole[entry.mode] == entry.throughput_kbps


@pytest.mark.parametrize("value", ["nan", "inf", "-1.00", "1e5", "12x.10", ""])
def test_a_garbled_number_is_refused(value: str) -> None:
    number = f"{iozone_text.parse(SIX)[2].throughput_kbps:.2f}"
    with pytest.raises(OutputError, match="incomplete value line"):
        iozone_text.parse(SIX.replace(number, value))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("v3.489_auto.txt", "auto mode"),
        ("v3.489_R_report.txt", "-R"),
        ("v3.489_ops.txt", "-O"),
        ("v3.489_record_too_large.txt", "Children see throughput"),
    ],
)
def test_other_outputs_are_refused_by_name(name: str, said: str) -> None:
    for partial in (False, True):
        with pytest.raises(OutputError, match=said):
            iozone_text.parse((CAPTURED / name).read_text(), partial=partial)


def shared_texts() -> list[Path]:
    return sorted(path for path in SHARED.rglob("*") if path.is_file() and path.name != "SOURCE.txt")


@pytest.mark.skipif(not SHARED.exists(), reason=f"{SHARED} is not here")
def test_every_recorded_text_is_read_or_refused_by_name() -> None:
    for path in shared_texts():
        text = path.read_text()
        if path.name.startswith("throughput"):
            assert len(iozone_text.parse(text)) == 7
        else:
            with pytest.raises(OutputError, match=r"-R" if "-R" in path.name else "auto mode"):
                iozone_text.parse(text)
