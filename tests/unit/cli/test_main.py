"""The root command: quick help, and every mistake in one line."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import click
import pytest

from analysis.errors import AnalysisError
from orchestrator.cli import main
from orchestrator.contracts.errors import ModescopeError, StudyError

HEAVY = {"numpy", "scipy", "sqlalchemy", "alembic", "celery", "fastapi", "httpx", "psycopg", "pydantic", "rich", "yaml"}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """Put an error in: the root command raises it."""
    errors: list[BaseException] = []

    @click.command()
    def command() -> None:
        raise errors.pop()

    monkeypatch.setattr(main, "root", command)
    monkeypatch.setattr(sys, "argv", ["modescope"])
    monkeypatch.delenv("MODESCOPE_DEBUG", raising=False)
    return errors


def test_help_imports_no_heavy_library() -> None:
    code = (
        "import sys\nfrom orchestrator.cli.main import root\n"
        "root.main(['--help'], standalone_mode=False)\nprint(*sys.modules, file=sys.stderr)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(answer.stderr.split()) == set()


@pytest.mark.parametrize("found", entry_points(group=main.COMMAND_GROUP), ids=lambda found: found.name)
def test_the_table_of_short_helps_says_what_the_commands_say(found: object) -> None:
    command = main.root.get_command(click.Context(main.root), found.name)  # type: ignore[attr-defined]  # EntryPoint
    assert command is not None
    assert main.SHORT_HELPS[found.name] == command.get_short_help_str(limit=200)  # type: ignore[attr-defined]


def test_the_table_names_nothing_else() -> None:
    assert set(main.SHORT_HELPS) == {found.name for found in entry_points(group=main.COMMAND_GROUP)}


@pytest.mark.parametrize(
    ("error", "line", "status"),
    [
        (StudyError("study.yaml: no\n  levels"), "study.yaml: no levels", 2),
        (ModescopeError("broken"), "broken", 1),
        (AnalysisError("no numbers"), "no numbers", 2),
        (KeyboardInterrupt(), "interrupted", 130),
        (FileNotFoundError(2, "No such file or directory", "x.csv"), "x.csv: No such file or directory", 1),
        (OSError(28, "No space left on device"), "No space left on device", 1),
    ],
)
def test_an_error_is_one_line(
    failing: list[BaseException],
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    line: str,
    status: int,
) -> None:
    failing.append(error)
    assert main.main() == status
    assert capsys.readouterr().err.strip() == f"modescope: {line}"


def test_a_wrong_option_is_one_line_that_names_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["modescope", "db", "--wrong"])
    assert main.main() == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--wrong" in error
    assert "`modescope db --help`" in error


def test_debugging_keeps_the_traceback(failing: list[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    failing.append(StudyError("no levels"))
    monkeypatch.setenv("MODESCOPE_DEBUG", "1")
    with pytest.raises(StudyError):
        main.main()


def test_a_mistake_of_ours_is_not_hidden(failing: list[BaseException]) -> None:
    failing.append(KeyError("ours"))
    with pytest.raises(KeyError):
        main.main()
