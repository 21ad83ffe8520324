"""Whatever a study says, it cannot leave the target folder, name a device or program, or smuggle an argument."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.designs import Level
from orchestrator.contracts.engines import IO_FACTORS, FioOptions, IozoneOptions
from orchestrator.contracts.errors import JobFailure
from workers.benchmarks import command, fio, iozone
from workers.benchmarks.engines import Bench, engine
from workers.benchmarks.port import Task
from workers.benchmarks.process import Runner
from workers.benchmarks.sizes import Sizes
from workers.benchmarks.stop import Stop
from workers.node.inventory import Inventory
from workers.node.journal import Journal
from workers.node.programs import Metric, Program

NASTY = [
    "-rf",
    "--output=/etc/passwd",
    "/dev/sda",
    "../..",
    "a b",
    "$(id)",
    "`id`",
    ";id",
    "a\nb",
    "a\0b",
    "@f",
    "=",
    "",
]
texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=20))
levels = st.one_of(texts, st.integers(), st.floats(), st.booleans())
PROGRAM = Program(
    path=Path("/opt/stream"),
    arguments=("{a}", "--size={a}", "{b}"),
    environment={},
    metrics={"copy": Metric(unit="kB/s", pattern=re.compile("(x)"))},
)


@pytest.fixture(scope="module")
def quiet_bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A node on which nothing runs."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "target").mkdir()
    inventory = Inventory(targets={"default": folder / "target"}, reserve_kb=0, programs={"stream": PROGRAM})
    return Bench(node="n1", runner=Runner(Journal(folder), Stop()), inventory=inventory, state=folder)


@given(given_levels=st.tuples(levels, levels, levels), mode=st.one_of(texts, st.just("readers")))
def test_iozone_and_fio_get_numbers_or_nothing(given_levels: tuple[Level, Level, Level], mode: str) -> None:
    task = Task(setting=dict(zip(IO_FACTORS, given_levels, strict=True)), modes=(mode,))
    try:
        words = iozone.arguments(task, IozoneOptions(direct=True))
    except JobFailure:
        return
    allowed = r"-[tsriIF]|\d+|\d+k|process\.\d+"
    assert all(re.fullmatch(allowed, word, re.ASCII) for word in words), words
    for word in fio.arguments("readers", Sizes.of(task), FioOptions()):
        assert re.fullmatch(r"--[a-z_-]+=[\w.$]+", word, re.ASCII)


def test_no_study_starts_a_million_processes() -> None:
    setting = {"threads": 1_000_000, "file_size_kb": 4, "record_size_kb": 4}
    with pytest.raises(JobFailure, match="threads: 1000000 is above 65536"):
        Sizes.of(Task(setting=setting, modes=("readers",)))


@given(name=texts, kind=st.sampled_from(["iozone", "fio", "builtin"]))
def test_a_target_is_one_of_the_inventorys_or_refused(quiet_bench: Bench, name: str, kind: str) -> None:
    with pytest.raises(JobFailure, match="is not in this node's inventory"):
        engine(kind, {"target": name}, quiet_bench)


@given(name=texts)
def test_a_program_is_one_of_the_inventorys_or_refused(quiet_bench: Bench, name: str) -> None:
    with pytest.raises(JobFailure, match="is not in this node's inventory"):
        engine("command", {"program": name}, quiet_bench).prepare(Task(setting={}, modes=("copy",)))


@given(a=levels, b=levels)
def test_a_level_is_at_most_part_of_the_word_it_stands_in(a: Level, b: Level) -> None:
    try:
        words = command.arguments(PROGRAM, {"a": a, "b": b})
    except JobFailure:
        return
    assert words == (str(a), f"--size={a}", str(b)), "three words, nothing replaced twice"
    for level in (words[0], words[2]):
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", level, re.ASCII), "no option, no path, no blank"


@pytest.mark.parametrize("level", NASTY)
def test_what_looks_like_an_option_a_path_or_a_shell_is_refused(level: str) -> None:
    with pytest.raises(JobFailure, match="cannot be an argument"):
        command.arguments(PROGRAM, {"a": level, "b": 1})


def test_a_level_is_not_read_as_a_placeholder_again() -> None:
    with pytest.raises(JobFailure, match="cannot be an argument"):
        command.arguments(PROGRAM, {"a": "{b}", "b": "x"})
