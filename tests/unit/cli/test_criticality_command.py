"""`modescope criticality` on files: what is read, refused and told, and that a model does what it did in training."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from orchestrator.cli.criticality.commands import criticality
from orchestrator.contracts.errors import UserError
from tests.benchmarks.generated_trace import COUNTERS, generate


def run(*arguments: object) -> Result:
    return CliRunner().invoke(criticality, [str(argument) for argument in arguments])


def told(*arguments: object) -> dict[str, object]:
    result = run(*arguments, "--json")
    assert result.exception is None, result.exception
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, UserError | ValueError), result.exception
    return str(result.exception)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Twelve ranks, 200 collectives, counters that tell who is slow; two samples each."""
    made = generate(ranks=12, collectives=200, snr=1.0, rng=np.random.default_rng(2), samples=2)
    path = tmp_path / "trace.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["collective", "rank", "arrival_s", *COUNTERS])
        for k, r, values in zip(made.samples.collective, made.samples.rank, made.samples.values, strict=True):
            writer.writerow([k, r, repr(float(made.trace.arrival_s[k, r])), *values.tolist()])
    return path


def test_inconsistency_tells_table_one_and_draws_it(table: Path, tmp_path: Path) -> None:
    plot, rows = tmp_path / "slow.svg", tmp_path / "rows.csv"
    found = told("inconsistency", table, "--plot", plot, "--out", rows)
    assert (found["ranks"], found["collectives"]) == (12, 200)
    sets = found["sets"]
    assert isinstance(sets, list)
    assert [one["set"] for one in sets] == ["last 0.05", "last 0.5", "critical"]
    assert sets[1]["sometimes"] == 12
    assert sets[0]["chance_overlap"] == pytest.approx(1 / 12)
    assert sets[0]["overlap_1"] > sets[0]["chance_overlap"]
    assert plot.read_text().startswith("<svg")
    assert rows.read_text().startswith("set,ranks,collectives,always,sometimes,never")
    exclusive = told("inconsistency", table, "--exclusive")["sets"]
    assert isinstance(exclusive, list)
    assert exclusive[1]["sometimes"] == sets[1]["sometimes"] - sets[1]["always"]


def test_a_trained_model_names_critical_ranks_of_another_table(table: Path, tmp_path: Path) -> None:
    model, named = tmp_path / "model.json", tmp_path / "named.csv"
    worth = told("train", table, "--out", model, "--no-boosted", "--folds", 3)
    assert worth["held_back"]["verdict"] == "better than chance"  # type: ignore[index]
    assert run("predict", table, "--model", model, "--out", named).exit_code == 0
    rows = list(csv.DictReader(named.read_text().splitlines()))
    assert len(rows) == 2400  # one a rank and collective: samples are pooled
    right = [row["critical"] == row["label"] for row in rows if row["label"]]
    assert np.mean(right) > 0.8
    judged = told("evaluate", table, "--model", model)["held_back"]
    assert judged["auc"]["value"] > 0.9  # type: ignore[index]


def test_evaluation_tells_every_figure(table: Path) -> None:
    found = told("evaluate", table, "--no-boosted", "--folds", 2, "--update")
    for figure in ("auc", "balanced_accuracy", "accuracy", "majority", "precision", "recall", "calibration", "buckets"):
        assert found["held_back"][figure] is not None  # type: ignore[index]
    assert found["updated"] is not None
    assert {one["counter"] for one in found["gains"][:3]} == {"c0", "c1", "c2"}  # type: ignore[index]
    text = run("evaluate", table, "--no-boosted", "--folds", 2).stdout
    assert "majority class" in text
    assert "label of the round before" in text


def test_noise_is_called_no_better_than_chance(table: Path) -> None:
    assert "no better than chance" in run(
        "evaluate", table, "--counters", "c8,c9", "--no-boosted", "--folds", 0, "--split", "time"
    ).stdout.splitlines()[1]  # fmt: skip


def test_repeated_runs_become_rounds_by_work_and_throughput(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rng = np.random.default_rng(4)
    lines = ["host,threads,fsize,iter,throughput"]
    for host, slow in (("a", 1.0), ("b", 2.0)):
        lines += [f"{host},4,1024,{k},{1e5 / slow * np.exp(0.3 * rng.standard_normal())}" for k in range(1, 121)]
    path.write_text("\n".join(lines))
    options = ("--rank", "host", "--collective", "iter", "--setting", "threads,fsize", "--throughput", "throughput",
               "--work", "threads,fsize", "--bound-ms", 0, "--from-ms", 0)  # fmt: skip
    found = told("evaluate", path, *options, "--split", "time", "--no-boosted", "--folds", 0)
    assert found["features"][0] == "rate_0.02"  # type: ignore[index]
    assert found["held_back"]["auc"]["value"] > 0.6  # type: ignore[index]
    consecutive = told("inconsistency", path, "--rank", "iter", "--consecutive", 6, "--setting", "host",
                       "--throughput", "throughput")  # fmt: skip
    assert (consecutive["settings"], consecutive["ranks"], consecutive["collectives"]) == (2, 6, 40)


def test_runs_of_a_campaign_become_rounds_in_the_order_of_each_node(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [(k, node, 100 if node == "b" else 200, valid) for k, (node, valid) in enumerate(
        [("a", "True"), ("a", "False"), ("a", "True"), ("b", "True"), ("b", "True"), ("b", "False")])]  # fmt: skip
    path.write_text(
        "threads,mode,replicate,throughput_kbps,node,valid\n"
        + "".join(
            f"1,readers,{k},{'' if valid == 'False' else value},{node},{valid}\n" for k, node, value, valid in rows
        )
    )
    options = ("--rank", "node", "--in-order", "--setting", "threads,mode", "--throughput", "throughput_kbps",
               "--work", "threads", "--bound-ms", 0, "--from-ms", 0)  # fmt: skip
    found = told("inconsistency", path, *options)
    assert (found["ranks"], found["collectives"]) == (2, 2)
    critical = found["sets"][-1]  # type: ignore[index]
    assert (critical["always"], critical["sometimes"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("collective,rank,arrival_s\n", "no values"),
        ("a,b\n1,2\n", "arrival_s"),
        ("collective,rank,arrival_s\n1,0,x\n1,1,2\n", "row 2, column 'arrival_s': 'x'"),
        ("collective,rank,arrival_s\n1,0,1\n1,0,2\n", "two different times"),
        ("collective,rank,arrival_s\n1,0,1\n2,1,2\n", "no collective is reached by two ranks"),
        ("collective,rank,arrival_s\n1,0,1\n1,1\n", "row 3: 2 columns"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    assert message in refused("inconsistency", path)


def test_a_calm_trace_is_told_to_be_calm_and_not_learnt_from(tmp_path: Path) -> None:
    path = tmp_path / "calm.csv"
    path.write_text(
        "collective,rank,slack_s\n" + "".join(f"{k},{r},{0.001 * ((k + r) % 3)}\n" for k in range(9) for r in range(3))
    )
    assert "never reaches 10 ms" in run("inconsistency", path).stdout
    assert "no collective reaches an imbalance of 10 ms" in refused("evaluate", path)
    assert "not a model" in refused("predict", path, "--model", path)
