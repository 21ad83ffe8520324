"""The engine `iozone`: its arguments, and every way in which an invocation can end; the program is a mock on PATH."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from orchestrator.contracts.designs import Level
from orchestrator.contracts.engines import IOZONE_MODES, SIX_MODES, IozoneOptions, options
from orchestrator.contracts.errors import JobFailure, MissingPartError
from orchestrator.contracts.jobs import FailureKind
from workers.benchmarks import iozone
from workers.benchmarks.engines import Bench, available, engine
from workers.benchmarks.port import Failed, Outcome, Stopped, Succeeded, Task, TimedOut, bounded

CAPTURED = Path(__file__).parents[2] / "data" / "iozone" / "v3.489_2proc_six_modes.txt"
SETTING: dict[str, Level] = {"threads": 2, "file_size_kb": 16, "record_size_kb": 4, "colour": "red"}
TASK = Task(setting=SETTING, modes=("readers", "initial_writers"))


@pytest.fixture
def mock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH for finding programs; `says` puts an iozone there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def says(folder: Path, script: str) -> None:
    program = folder / "iozone"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def ran(bench: Bench, **given: object) -> Outcome:
    return engine("iozone", given, bench).run(TASK, 0)


@pytest.mark.parametrize(
    ("modes", "tests"),
    [
        (("initial_writers",), ["0"]),
        (("re-readers",), ["0", "1"]),
        (("random_writers", "rewriters"), ["0", "2"]),
        (SIX_MODES, ["0", "1", "2"]),
        (IOZONE_MODES, ["0", "1", "2", "3", "5", "6", "7", "8", "9", "10"]),
    ],
)
def test_only_the_tests_that_are_needed_are_run_and_writing_always(modes: tuple[str, ...], tests: list[str]) -> None:
    words = iozone.arguments(Task(setting=SETTING, modes=modes), IozoneOptions())
    assert [words[place + 1] for place, word in enumerate(words) if word == "-i"] == tests


def test_arguments_are_sizes_tests_and_one_file_a_process() -> None:
    assert iozone.arguments(TASK, IozoneOptions(stonewall=False)) == (
        *("-t", "2", "-s", "16k", "-r", "4k", "-i", "0", "-i", "1", "-x", "-F", "process.0", "process.1"),
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"threads": 0}, "threads: 0"),
        ({"threads": "2; rm"}, "threads: '2; rm'"),
        ({"file_size_kb": 2.5}, "file_size_kb: 2.5"),
        ({"record_size_kb": True}, "record_size_kb: True"),
        ({"record_size_kb": 32}, "record_size_kb 32 is above file_size_kb 16"),
    ],
)
def test_a_level_that_is_no_size_is_the_studys_fault(bench: Bench, changed: dict[str, int], said: str) -> None:
    with pytest.raises(JobFailure, match=said) as raised:
        engine("iozone", {}, bench).prepare(Task(setting=SETTING | changed, modes=("readers",)))
    assert raised.value.kind == "study"


def test_an_unknown_mode_is_the_studys_fault(bench: Bench) -> None:
    with pytest.raises(JobFailure, match="'strided_readers' is not one of"):
        engine("iozone", {}, bench).prepare(Task(setting=SETTING, modes=("strided_readers",)))


@pytest.mark.parametrize(
    ("option", "flag"),
    [
        ("direct", "-I"),
        ("sync_writes", "-o"),
        ("time_flush", "-e"),
        ("time_close", "-c"),
        ("no_retest", "-+n"),
    ],
)
def test_a_named_option_is_one_flag(option: str, flag: str) -> None:
    assert flag not in iozone.arguments(TASK, IozoneOptions())
    chosen = options("iozone", {option: True})
    assert isinstance(chosen, IozoneOptions)
    assert flag in iozone.arguments(TASK, chosen)


def test_without_retests_there_are_no_rewriters(bench: Bench) -> None:
    with pytest.raises(JobFailure, match="'rewriters' is not one of"):
        engine("iozone", {"no_retest": True}, bench).prepare(Task(setting=SETTING, modes=("rewriters",)))


def test_one_mode_an_invocation_is_one_run_with_all_values(bench: Bench, mock: Path, tmp_path: Path) -> None:
    says(mock, f'echo "$PWD $@" >> {tmp_path}/invoked; cat {CAPTURED}')
    outcome = ran(bench, modes_per_invocation="one")
    assert outcome.elapsed_s > 0
    assert isinstance(outcome, Succeeded)
    assert len(outcome.values) == len(outcome.details) == 2
    invoked = [line.split() for line in (tmp_path / "invoked").read_text().splitlines()]
    assert [[word for flag, word in pairwise(words) if flag == "-i"] for words in invoked] == [["0", "1"], ["0"]]
    assert len({words[0] for words in invoked}) == 2, "each in a folder of its own"


def test_between_one_mode_and_the_next_the_node_is_made_alike_again(bench: Bench, mock: Path) -> None:
    says(mock, f"echo invoked >> {mock}/happened; cat {CAPTURED}")
    iozone = engine("iozone", {"modes_per_invocation": "one"}, bench)
    happened = mock / "happened"

    def note() -> None:
        with happened.open("a") as file:
            file.write("refreshed\n")

    outcome = iozone.run(replace(TASK, between_invocations=note), 0)
    assert isinstance(outcome, Succeeded)
    assert happened.read_text().split() == ["invoked", *["refreshed", "invoked"] * (len(TASK.modes) - 1)]


def test_all_invocations_of_a_run_share_its_time_out(bench: Bench, mock: Path) -> None:
    says(mock, f'case "$*" in *"-i 1"*) cat {CAPTURED};; *) sleep 600;; esac')
    outcome = ran(bench, modes_per_invocation="one", timeout_s=1.0)
    assert isinstance(outcome, TimedOut)
    assert outcome.timeout_s == 1.0
    assert 0.9 < outcome.elapsed_s < 5


def test_a_target_is_a_name_from_the_inventory(bench: Bench, mock: Path, tmp_path: Path) -> None:
    (tmp_path / "hdd").mkdir()
    inventory = replace(bench.inventory, targets={**bench.inventory.targets, "hdd": tmp_path / "hdd"})
    says(mock, f"pwd > {tmp_path}/where; cat {CAPTURED}")
    assert isinstance(ran(replace(bench, inventory=inventory), target="hdd"), Succeeded)
    assert Path((tmp_path / "where").read_text().strip()).parent == tmp_path / "hdd"


@pytest.mark.parametrize("name", ["hdd", "../target", "/etc", "", "default/.."])
def test_a_target_that_the_inventory_does_not_name_is_refused(bench: Bench, name: str) -> None:
    with pytest.raises(JobFailure, match="is not in this node's inventory; there: default") as raised:
        engine("iozone", {"target": name}, bench)
    assert raised.value.kind == "node"


def test_an_option_nobody_knows_is_the_studys_fault(bench: Bench) -> None:
    with pytest.raises(JobFailure, match="unknown option of iozone; did you mean 'settle_s'"):
        engine("iozone", {"settle": 1}, bench)


def test_a_missing_iozone_is_named_and_not_offered(bench: Bench, mock: Path) -> None:
    with pytest.raises(MissingPartError, match="deploy/install-iozone"):
        engine("iozone", {}, bench).version()
    assert set(available(bench)) == {"builtin", "replay"}


def test_the_version_is_what_it_says(bench: Bench, mock: Path) -> None:
    says(mock, "echo 'Version $Revision: 3.999 $'")
    assert engine("iozone", {}, bench).version() == "3.999"
    says(mock, "echo hello")
    with pytest.raises(MissingPartError, match="not IOzone 3"):
        engine("iozone", {}, bench).version()


def test_values_come_in_the_order_of_the_modes_with_their_details(bench: Bench, mock: Path) -> None:
    says(mock, f"cat {CAPTURED}")
    outcome = ran(bench)
    assert isinstance(outcome, Succeeded)
    assert outcome.values == (885274.69, 693232.62)
    assert set(outcome.details) == {"readers", "initial_writers"}
    assert outcome.details["readers"]["min_xfer_kb"] >= 0


def test_it_runs_in_a_folder_of_its_own_which_is_removed(bench: Bench, mock: Path, tmp_path: Path) -> None:
    says(mock, f"pwd > {tmp_path}/where; touch process.0; cat {CAPTURED}")
    assert isinstance(ran(bench), Succeeded)
    where = Path((tmp_path / "where").read_text().strip())
    assert where.parent == bench.target.path
    assert not where.exists()


def test_nothing_of_the_agents_environment_reaches_it(
    bench: Bench, mock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODESCOPE_DATABASE_URL", "postgresql://secret")
    says(mock, f"env > {tmp_path}/environment; cat {CAPTURED}")
    assert isinstance(ran(bench), Succeeded)
    assert "secret" not in (tmp_path / "environment").read_text()


@pytest.mark.parametrize(
    ("script", "reason", "kind"),
    [
        (f"head -c 1800 {CAPTURED}", "iozone's output: ", FailureKind.ENGINE),
        ("echo garbled", "iozone's output: no line 'Children see throughput'", FailureKind.ENGINE),
        (f"sed s/readers/riders/ {CAPTURED}", "iozone's output: no value for readers", FailureKind.ENGINE),
        (
            "echo; echo 'Out of range'; echo; exit 23",
            "iozone ended with exit status 23: Out of range",
            FailureKind.ENGINE,
        ),
        ("kill -9 $$", "iozone ended by a signal: it printed nothing", FailureKind.ENGINE),
        ("echo 'write: No space left on device'; exit 1", "disk full", FailureKind.NODE),
    ],
)
def test_what_goes_wrong_is_a_value_with_its_reason_and_raw_text(
    bench: Bench, mock: Path, script: str, reason: str, kind: FailureKind
) -> None:
    says(mock, script)
    outcome = ran(bench)
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith(reason)
    assert outcome.kind is kind
    assert list(bench.target.path.iterdir()) == []


def test_a_garbled_output_is_kept(bench: Bench, mock: Path) -> None:
    says(mock, "echo garbled")
    outcome = ran(bench)
    assert isinstance(outcome, Failed)
    assert outcome.output == "garbled\n"


def test_a_timeout_is_one(bench: Bench, mock: Path) -> None:
    says(mock, "echo so far; sleep 600")
    outcome = ran(bench, timeout_s=0.3)
    assert isinstance(outcome, TimedOut)
    assert (outcome.timeout_s, outcome.output) == (0.3, "so far\n")
    assert list(bench.target.path.iterdir()) == []


def test_stop_ends_a_run_without_making_it_one(bench: Bench, mock: Path) -> None:
    says(mock, "sleep 600")
    bench.runner.stop.set()
    assert isinstance(ran(bench), Stopped)


def test_a_settle_time_without_a_compiler_is_the_studys_fault(bench: Bench, mock: Path) -> None:
    with pytest.raises(JobFailure, match=r"settle_s: needs a C compiler") as raised:
        engine("iozone", {"settle_s": 0}, bench).prepare(TASK)
    assert raised.value.kind == "study"
    engine("iozone", {}, bench).prepare(TASK)


def test_a_shim_that_cannot_be_loaded_is_never_silent(bench: Bench, mock: Path) -> None:
    says(mock, f"""echo "ERROR: ld.so: object './settle.so' from LD_PRELOAD cannot be preloaded"; cat {CAPTURED}""")
    with pytest.raises(JobFailure, match="cannot load the settle shim"):
        ran(bench)


def test_the_settle_time_that_is_really_used_is_told(bench: Bench) -> None:
    assert engine("iozone", {}, bench).settle_s == 2.0
    assert engine("iozone", {"settle_s": 0}, bench).settle_s == 0
    assert engine("builtin", {}, bench).settle_s is None


def test_a_long_output_keeps_its_beginning_and_its_end() -> None:
    kept = bounded("a" * 50 + "b" * 50, limit=10)
    assert kept == "aaaaa\n[... 90 characters left out ...]\nbbbbb"
    assert bounded("short") == "short"
