"""What is wrong with the text of a study, and on which line."""

from __future__ import annotations

import pytest

from orchestrator.design.problems import check

RIGHT = """name: a study
design:
  blocks:
    - levels:
        threads: [1, 2]
        file_size_kb: [64]
        record_size_kb: [16]
replicates: 20
engine: {name: builtin}
node: {trim: never}
"""


def _lines(text: str) -> list[tuple[int | None, str]]:
    study, problems = check(text)
    assert study is None
    return [(problem.line, problem.message) for problem in problems]


def test_a_study_that_is_right_has_no_problem() -> None:
    study, problems = check(RIGHT)
    assert study is not None
    assert (study.name, problems) == ("a study", ())


def test_what_is_not_yaml_is_found_on_its_line() -> None:
    ((line, message),) = _lines(RIGHT.replace("replicates: 20", "replicates: [20"))
    assert line == 9
    assert "not YAML" in message


def test_every_wrong_key_is_told_on_its_own_line() -> None:
    text = RIGHT.replace("replicates: 20", "replicates: many").replace("[1, 2]", "[1, 1]")
    assert [line for line, _ in _lines(text)] == [5, 8]


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [("trim: never", "trim: sometimes", 10), ("name: builtin", "name: nothing", 9), ("threads:", "threats:", 2)],
)
def test_a_wrong_word_is_found_where_it_stands(right: str, wrong: str, line: int) -> None:
    ((found, _),) = _lines(RIGHT.replace(right, wrong))
    assert found == line


def test_what_is_missing_is_told_of_the_whole() -> None:
    ((line, message),) = _lines("name: x\nreplicates: 5\nengine: builtin\n")
    assert (line, message) == (1, "design: is missing")


def test_an_empty_text_is_no_study() -> None:
    assert _lines("") == [(None, "a study is a mapping that begins with `name:`")]
