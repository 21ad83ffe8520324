"""The engine `command`: what the inventory says a program is, and what a study can make of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import InventoryError, JobFailure, StudyError
from workers.benchmarks.engines import Bench, available, engine
from workers.benchmarks.port import Failed, Succeeded, Task
from workers.node import inventory

SETTING: dict[str, Level] = {"threads": 2, "size": 16, "flavour": "triad-2"}
METRICS = {"copy": {"pattern": r"^Copy: +(\S+)$", "unit": "MB/s"}, "scale": {"pattern": "Scale (.*)", "unit": "kB/s"}}
PRINTS = 'printf "Copy:   1.5\\nScale 0.0\\n"'


def with_program(bench: Bench, script: str, **said: object) -> Bench:
    """The bench of a node whose inventory names a shell script as the program `stream`."""
    program = bench.target.path.parent / "stream"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    given = {"programs": {"stream": {"path": str(program), "metrics": METRICS, **said}}}
    parsed = inventory.parse(given, home=bench.state, name="inventory.yaml")
    return replace(bench, inventory=replace(bench.inventory, programs=parsed.programs))


def failure(bench: Bench, modes: tuple[str, ...] = ("copy",), program: str = "stream") -> JobFailure:
    with pytest.raises(JobFailure) as raised:
        engine("command", {"program": program}, bench).prepare(Task(setting=SETTING, modes=modes))
    return raised.value


def test_metrics_are_read_with_their_units_in_the_order_of_the_modes(bench: Bench) -> None:
    at = with_program(bench, PRINTS)
    assert available(at)["command"] == "1"
    command = engine("command", {"program": "stream"}, at)
    task = Task(setting=SETTING, modes=("scale", "copy"))
    command.prepare(task)
    outcome = command.run(task, 0)
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.values == (0.0, 1.5e6 / 1024)
    assert outcome.details["copy"] == {"value (MB/s)": 1.5}
    assert list(bench.target.path.iterdir()) == []


def test_levels_become_words_and_the_environment_is_the_inventorys(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "s")
    words = ["-n", "{threads}", "--what={flavour}/{size}", "a b; $HOME"]
    script = f"printf '%s\\n' \"$@\" > {tmp_path}/words; env > {tmp_path}/environment; {PRINTS}"
    at = with_program(bench, script, arguments=words, environment={"OMP_PROC_BIND": "close"})
    assert isinstance(
        engine("command", {"program": "stream"}, at).run(Task(setting=SETTING, modes=("copy",)), 0), Succeeded
    )
    assert (tmp_path / "words").read_text().splitlines() == ["-n", "2", "--what=triad-2/16", "a b; $HOME"]
    environment = (tmp_path / "environment").read_text()
    assert "OMP_PROC_BIND=close" in environment
    assert "SECRET" not in environment


def test_a_json_path_finds_its_number(bench: Bench) -> None:
    metrics = {"copy": {"json": "results.0.rate", "unit": "MiB/s"}}
    at = with_program(bench, """echo '{"results": [{"rate": 2}]}'""", metrics=metrics)
    outcome = engine("command", {"program": "stream"}, at).run(Task(setting=SETTING, modes=("copy",)), 0)
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.values == (2048.0,)


SECONDS = {"solve": {"pattern": r"time (\S+)", "unit": "s"}}


def test_what_is_no_rate_keeps_its_own_unit(bench: Bench) -> None:
    command = engine(
        "command", {"program": "stream", "unit": "s"}, with_program(bench, "echo time 0.25", metrics=SECONDS)
    )
    task = Task(setting=SETTING, modes=("solve",))
    command.prepare(task)
    outcome = command.run(task, 0)
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.values == (0.25,)


def test_a_rate_is_told_in_the_studys_unit(bench: Bench) -> None:
    command = engine("command", {"program": "stream", "unit": "GB/s"}, with_program(bench, PRINTS))
    outcome = command.run(Task(setting=SETTING, modes=("copy",)), 0)
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.values == pytest.approx((0.0015,))


def test_seconds_are_not_taken_for_kilobytes_a_second(bench: Bench) -> None:
    said = str(failure(with_program(bench, "echo time 1", metrics=SECONDS), modes=("solve",)))
    assert said == "metric solve is in s in this node's inventory; write `unit: s` under `engine`"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo nothing", "stream's output: metric copy: its pattern stands 0 times in the output, not once"),
        ("echo Copy: 1; echo Copy: 2", "stream's output: metric copy: its pattern stands 2 times"),
        ("echo Copy: fast", "stream's output: metric copy: 'fast' is not a number from 0 on"),
        ("echo Copy: nan", "stream's output: metric copy: 'nan' is not a number from 0 on"),
        ("echo oh no; exit 3", "stream ended with exit status 3: oh no"),
    ],
)
def test_what_goes_wrong_is_a_failure_with_its_raw_text(bench: Bench, script: str, reason: str) -> None:
    outcome = engine("command", {"program": "stream"}, with_program(bench, script)).run(
        Task(setting=SETTING, modes=("copy",)), 0
    )
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith(reason)
    assert outcome.output


def test_a_program_that_this_node_lacks_is_the_nodes_fault(bench: Bench) -> None:
    at = with_program(bench, PRINTS)
    assert "program 'hpl' is not in this node's inventory; there: stream" in str(failure(at, program="hpl"))
    (bench.target.path.parent / "stream").unlink()
    gone = failure(at)
    assert (gone.kind, "no such program" in gone.reason) == ("node", True)


def test_a_metric_or_factor_that_is_not_there_is_the_studys_fault(bench: Bench) -> None:
    at = with_program(bench, PRINTS, arguments=["{nodes}"])
    assert "mode 'add' is no metric of program 'stream'; its metrics: copy, scale" in str(failure(at, modes=("add",)))
    assert str(failure(at)) == "the program wants a factor 'nodes'"
    with pytest.raises(JobFailure, match=r"engine\.program: is missing"):
        engine("command", {}, at)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"path": "stream"}, "programs.stream.path: should be an absolute path, not 'stream'"),
        ({"arguments": "-n 2"}, "programs.stream.arguments: should be a list of words"),
        ({"arguments": [2]}, "put numbers in quotes"),
        ({"environment": {"A": 1}}, "programs.stream.environment: values are texts"),
        ({"metrics": {}}, "programs.stream.metrics: name at least one"),
        ({"metrics": {"copy": {"pattern": "(", "unit": "kB/s"}}}, "metrics.copy.pattern: missing )"),
        ({"metrics": {"copy": {"pattern": "x", "unit": "kB/s"}}}, "has 0 groups; exactly one takes the number"),
        ({"metrics": {"copy": {"pattern": "(x)", "json": "a", "unit": "kB/s"}}}, "exactly one of pattern and json"),
        ({"metrics": {"copy": {"pattern": "(x)", "unit": "a b"}}}, "unit: 'a b' is not a unit: one of B/s, kB/s"),
        ({"metrics": {"copy": {"pattern": "(x)"}}}, "unit: None is not a unit"),
        ({"shell": True}, "programs.stream: unknown key 'shell'"),
    ],
)
def test_a_mistake_in_the_inventory_is_named_in_one_line(bench: Bench, changed: dict[str, object], said: str) -> None:
    with pytest.raises(InventoryError, match=r"inventory\.yaml: programs") as raised:
        with_program(bench, PRINTS, **changed)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_study_needs_the_name_of_a_program() -> None:
    from orchestrator.contracts import engines

    with pytest.raises(StudyError, match=r"engine\.program: is missing; engine command needs it"):
        engines.options("command", {})
