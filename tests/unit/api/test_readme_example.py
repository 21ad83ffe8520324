"""The README's script does what it says, with pandas where it is installed and with the csv module elsewhere."""

from __future__ import annotations

import csv
import importlib.util
import io
import re
import sys
import threading
import types
from pathlib import Path

import pytest

from tests.unit.api.conftest import TOKEN
from tests.unit.measured import STUDY, Laboratory

README = Path(__file__).parents[3] / "README.md"


def _script() -> str:
    (found,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    return str(found)


@pytest.fixture
def _some_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("pandas") is None:
        plain = types.ModuleType("pandas")
        plain.read_csv = lambda file: list(csv.DictReader(io.TextIOWrapper(file)))  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pandas", plain)


@pytest.mark.usefixtures("_some_pandas")
def test_the_script_submits_waits_and_reads_what_was_measured(
    address: str,
    laboratory: Laboratory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "mine.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODESCOPE_URL", address)
    monkeypatch.setenv("MODESCOPE_TOKEN", TOKEN)
    script = threading.Thread(target=exec, args=(compile(_script(), "README.md", "exec"), {}))
    script.start()
    with laboratory.store.tables.changed:
        laboratory.store.tables.changed.wait_for(laboratory.store.campaigns.all, timeout=60)
    laboratory.work_off()
    script.join(timeout=60)
    assert not script.is_alive()
    assert capsys.readouterr().out.startswith("complete 300 [((1024, 16, 2), 'readers', 'two peaks at")
