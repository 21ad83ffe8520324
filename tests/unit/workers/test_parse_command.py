"""`modescope parse iozone`: CSV and JSON, and one line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from orchestrator.contracts.errors import OutputError
from workers.cli.parse import parse

CAPTURED = Path(__file__).parents[2] / "data" / "iozone"
SIX = CAPTURED / "v3.489_2proc_six_modes.txt"


def printed(*arguments: str, text: str | None = None) -> str:
    result = CliRunner().invoke(parse, ["iozone", *arguments], input=text, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_csv_has_one_row_a_mode_with_the_throughputs_of_the_text() -> None:
    header, *rows = printed(str(SIX)).splitlines()
    assert header == "mode,throughput_kbps,threads,file_size_kb,record_size_kb"
    assert rows[0] == "initial_writers,693232.62,2,16,4"
    assert len(rows) == 6


def test_json_has_the_details_as_well() -> None:
    first = json.loads(printed(str(SIX), "--json"))[0]
    assert first["throughput_kbps"] == 693232.62
    assert first["details"]["min_xfer_kb"] >= 0


def test_standard_input_is_read_as_a_hyphen() -> None:
    assert printed("-", text=SIX.read_text()) == printed(str(SIX))


def test_a_part_is_printed_when_asked_for() -> None:
    cut = SIX.read_text()[:1800]
    with pytest.raises(OutputError, match=r"^-: line \d+: incomplete value line"):
        printed("-", text=cut)
    assert printed("-", "--partial", text=cut).splitlines()[1] == "initial_writers,693232.62,2,16,4"


@pytest.mark.parametrize("name", ["missing.txt", "v3.489_auto.txt", "v3.489_R_report.txt"])
def test_a_mistake_names_the_file_in_one_line(name: str) -> None:
    with pytest.raises(OutputError) as raised:
        printed(str(CAPTURED / name))
    assert str(raised.value).startswith(f"{CAPTURED / name}: ")
    assert raised.value.exit_status == 2
