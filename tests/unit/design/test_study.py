"""A study file becomes a study with every default filled in, or one line that says what is wrong and where."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts import engines
from orchestrator.contracts.errors import DesignTooLargeError, StudyError
from orchestrator.contracts.preparation import Frequency
from orchestrator.design import document, study
from orchestrator.design.expand import expand
from orchestrator.design.study import Study

MINIMAL = """
name: mine
design:
  blocks:
    - levels: {threads: [1, 2], file_size_kb: [64, 128], record_size_kb: [16]}
replicates: 150
engine: builtin
"""


def mistake(text: str) -> str:
    with pytest.raises(StudyError) as raised:
        study.load(text, where="mine.yaml")
    message = str(raised.value)
    assert message.startswith("mine.yaml: ")
    assert "\n" not in message
    return message.removeprefix("mine.yaml: ")


def test_a_minimal_study_has_every_default() -> None:
    found = study.load(MINIMAL, where="mine.yaml")
    assert found.design.factors == ("threads", "file_size_kb", "record_size_kb")
    assert found.modes == (
        *("initial_writers", "rewriters", "readers", "re-readers", "random_readers", "random_writers"),
    )
    assert (found.order.kind, found.order.seed, found.placement.kind, found.max_tries) == ("randomised", 0, "any", 3)
    assert found.node.frequency is Frequency.AS_IS
    assert found.jobs_per_setting == 15


def test_a_lost_nodes_share_is_given_to_others_unless_the_study_says_to_wait() -> None:
    assert study.load(MINIMAL, where="").on_lost_node == "reassign"
    assert study.load(MINIMAL + "on_lost_node: wait\n", where="").on_lost_node == "wait"
    assert mistake(MINIMAL + "on_lost_node: hope\n") == "on_lost_node: 'hope': should be 'reassign' or 'wait'"


def test_a_study_of_few_replicates_still_has_five_jobs_a_setting() -> None:
    assert study.load(MINIMAL.replace("150", "30"), where="mine.yaml").jobs_per_setting == 5


def test_short_forms_mean_the_same_as_long_ones() -> None:
    short = study.load(MINIMAL + "order: as_listed\nplacement: balanced\n", where="")
    long = study.load(
        MINIMAL.replace("engine: builtin", "engine: {name: builtin}")
        + "order: {kind: as_listed}\nplacement: {kind: balanced}\n",
        where="",
    )
    assert short.digest == long.digest


def test_the_written_out_study_is_the_same_study() -> None:
    for name in study.preset_names():
        found = study.preset(name)
        again = Study.from_dict(json.loads(json.dumps(found.as_dict())))
        assert again.as_dict() == found.as_dict()
        assert again.digest == found.digest


def test_the_digest_tells_studies_apart() -> None:
    assert study.load(MINIMAL, where="").digest != study.load(MINIMAL.replace("150", "151"), where="").digest


def test_the_same_study_on_another_engine_keeps_its_controls() -> None:
    demo = study.preset("demo")
    other = demo.with_engine("iozone", replicates=30, settle_s=0.0)
    assert (other.engine.name, other.replicates, other.jobs_per_setting) == ("iozone", 30, 5)
    assert other.controls == demo.controls
    assert other.as_dict()["design"] == demo.as_dict()["design"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name: mine", "nam: mine", "unknown key 'nam'; did you mean 'name'?"),
        ("levels:", "level:", "design.blocks[0]: unknown key 'level'; did you mean 'levels'?"),
        ("replicates: 150", "", "replicates: is missing"),
        ("150", "many", "replicates: 'many': should be a valid integer"),
        ("150", "1.5", "replicates: 1.5: should be a valid integer"),
        ("150", "0", "replicates: 0: should be greater than or equal to 1"),
        ("[1, 2]", "[]", "design.blocks[0].levels.threads: the list is empty; name at least one"),
        ("[1, 2]", "[1, 1]", "design.blocks[0].levels.threads: 1 is listed twice"),
        ("[1, 2]", "[1.5]", "design.blocks[0].levels.threads: 1.5 is not a whole number from 1"),
        ("[1, 2]", "[two]", "design.blocks[0].levels.threads: 'two' is not a whole number from 1"),
        ("[1, 2]", "[1, yes]", "design.blocks[0].levels.threads[1]: true is a truth value"),
        ("[1, 2]", "[1, .inf]", "design.blocks[0].levels.threads[1]: inf is not a finite number"),
        ("[1, 2]", "[1, 99999999999999999999]", "design.blocks[0].levels.threads[1]: a whole number of this size"),
        ("threads", "mode", "design.blocks[0].levels: a factor cannot be called 'mode'"),
        ("threads", "thread", "design.factors: engine builtin needs 'threads'"),
        ("[16]", "[256]", "design: record_size_kb is above file_size_kb in 4 of 4 settings; write `constraints:"),
        (
            "[16]}",
            "[16]}\n      modes: [reader]",
            "design.blocks[0].modes: unknown mode 'reader'; did you mean 'readers'?",
        ),
        ("[16]}", "[16]}\n  exclusions: [{thread: 1}]", "design.exclusions[0].thread: unknown factor; did you mean"),
        ("[16]}", "[16]}\n  exclusions: [{threads: 3}]", "design.exclusions[0].threads: 3 is no level of any block"),
        ("[16]}", "[16]}\n  exclusions: [{}]", "design.exclusions[0]: it names nothing"),
        ("[16]}", "[16]}\n    - levels: {threads: 1, file_size_kb: 64}", "design.blocks[1].levels: factor 'record"),
        (
            "builtin",
            "buildin",
            "engine: 'buildin' is not one of iozone, fio, builtin, command, replay; did you mean 'builtin'?",
        ),
        ("builtin", "{name: iozone, settle: 0}", "engine.settle: unknown option of iozone; did you mean 'settle_s'?"),
        ("builtin", "{name: iozone, settle_s: -1}", "engine.settle_s: -1 is not of type"),
        (
            "builtin",
            "{name: iozone, modes_per_invocation: few}",
            "engine.modes_per_invocation: 'few' is not one of all, one",
        ),
        (
            "[16]}",
            "[16], target: [1]}",
            "design.blocks[0].levels.target: 1 is not of type str",
        ),
        ("builtin", "builtin\norder: random", "order.kind: 'random': should be 'randomised' or 'as_listed'"),
        (
            "builtin",
            "builtin\nplacement: {kind: any, nodes: [a]}",
            "placement: only `kind: pinned` and `kind: lockstep` name",
        ),
        ("builtin", "builtin\nnode: {frequency: pinned}", "node.frequency: pinned needs the factor 'frequency_khz'"),
        ("builtin", "builtin\nnode: {trim: always}", "node.trim: 'always' is not one of"),
        ("builtin", "builtin\nanalysis: {famlies: [normal]}", "analysis: unknown analysis option 'famlies'"),
        ("builtin", "builtin\ncontrols: {a: {mixture: 'x:1,2,3'}}", "controls.a: mixture: 'x:1,2,3' is not a mixture"),
        ("builtin", "builtin\ncontrols: {a: {recording: r}}", "controls.a: a control is synthetic"),
        ("builtin", "builtin\nname: again", "line 8: key 'name' stands twice"),
        ("builtin", "&b builtin", "line 7: aliases and anchors are not allowed"),
        ("builtin", "!!python/name:os.system x", "line 7: tags are not allowed"),
        ("builtin", "[" * 40 + "]" * 40, "line 7: nested deeper than 12 levels"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(old: str, new: str, expected: str) -> None:
    assert mistake(MINIMAL.replace(old, new)).startswith(expected)


def test_a_factor_overrides_the_option_of_its_name() -> None:
    found = study.load(
        MINIMAL.replace("[16]}", "[16], settle_s: [0, 2], target: [ssd, hdd]}").replace("builtin", "iozone"), where="it"
    )
    options = engines.as_dict(found.engine.options)
    merged = engines.for_setting("iozone", options, {"threads": 1, "settle_s": 0, "target": "hdd"})
    assert engines.options("iozone", merged) == engines.IozoneOptions(settle_s=0, target="hdd")


def test_without_retests_a_study_measures_neither_rewriters_nor_re_readers() -> None:
    text = MINIMAL.replace("builtin", "{name: iozone, no_retest: true}")
    assert study.load(text, where="it").modes == ("initial_writers", "readers", "random_readers", "random_writers")
    assert "unknown mode 'rewriters'" in mistake(text.replace("[16]}", "[16]}\n      modes: [rewriters]"))


def test_a_block_without_modes_does_not_measure_what_another_block_adds() -> None:
    block = "    - levels: {threads: 4, file_size_kb: 64, record_size_kb: 16}\n      modes: [mixed_workload]\n"
    found = study.load(MINIMAL.replace("replicates", block + "replicates").replace("builtin", "iozone"), where="it")
    assert len(found.modes) == 7
    assert {len(setting.modes) for setting in expand(found).settings} == {6, 1}


def test_a_constraint_that_empties_the_design_is_named() -> None:
    with_constraint = MINIMAL.replace("[16]}", "[256]}\n      constraints: {record_size_kb: {at_most: file_size_kb}}")
    assert "emptied by the constraint `record_size_kb: {at_most: file_size_kb}`" in mistake(with_constraint)


def test_a_constraint_compares_numbers() -> None:
    texts = MINIMAL.replace("[16]}", "[16], disk: [ssd]}\n      constraints: {disk: {at_most: 3}}")
    assert mistake(texts) == "design.blocks[0].constraints.disk.at_most: disk is not only numbers"


def test_a_thousand_million_configurations_are_refused_before_they_are_enumerated() -> None:
    many = list(range(1, 1001))
    block = {"levels": {"threads": many, "file_size_kb": many, "record_size_kb": many}, "modes": ["readers"]}
    text = json.dumps({"name": "huge", "design": {"blocks": [block]}, "replicates": 1, "engine": "builtin"})
    with pytest.raises(DesignTooLargeError, match=r"huge.yaml: design: the levels multiply to 1,000,000,000 config"):
        study.load(text, where="huge.yaml")


def test_exclusions_that_would_take_minutes_are_refused() -> None:
    many = list(range(1, 1001))
    design = {"blocks": [{"levels": {"a": many, "b": many}, "modes": ["m"]}], "exclusions": [{"a": 1}] * 30}
    engine = {"name": "replay", "recording": "r"}
    text = json.dumps({"name": "slow", "design": design, "replicates": 1, "engine": engine})
    assert mistake(text).startswith("design.exclusions: too many")


def test_a_key_is_a_word() -> None:
    assert mistake(f"{'x' * 300}: 1") == "the study: a key is longer than 200 characters"
    assert mistake("1: 2") == "line 1: a key has to be a word; put it in quotes"


def test_more_jobs_than_can_be_planned_are_refused() -> None:
    assert "more than 2,000,000 jobs" in mistake(MINIMAL.replace("150", "1000000\nreplicates_per_job: 1"))


def test_a_source_is_a_file_or_a_preset(tmp_path: Any) -> None:
    (tmp_path / "mine.yaml").write_text(MINIMAL)
    assert study.find(str(tmp_path / "mine.yaml")).name == "mine"
    assert study.find("demo").name == "demo"
    with pytest.raises(StudyError, match="no such file, and no preset; presets: demo, xu2020"):
        study.find("nowhere.yaml")
    with pytest.raises(StudyError, match="did you mean 'demo'"):
        study.preset("dem")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyError, match="not a text file in UTF-8"):
        study.find(str(tmp_path / "binary.yaml"))


@given(st.text(max_size=300))
def test_any_text_is_a_study_or_a_study_error(text: str) -> None:
    assert mistake(text)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


def accepted_or_one_line(values: dict[str, Any]) -> None:
    message = ""
    try:
        found = study.load(yaml.safe_dump(values), where="mine.yaml")
        json.dumps(found.as_dict(), allow_nan=False).encode()
    except StudyError as error:
        message = str(error)
    assert "\n" not in message


@given(st.sampled_from(sorted(Study.model_fields)), plain)
def test_any_value_of_any_key_is_accepted_or_a_study_error(key: str, value: object) -> None:
    accepted_or_one_line(yaml.safe_load(MINIMAL) | {key: value})


@given(st.sampled_from(["levels", "modes", "constraints"]), plain)
def test_any_value_in_a_block_is_accepted_or_a_study_error(key: str, value: object) -> None:
    values = yaml.safe_load(MINIMAL)
    values["design"]["blocks"][0][key] = value
    accepted_or_one_line(values)


def test_dates_and_times_stay_text() -> None:
    assert document.read("name: 2020-06-07") == {"name": "2020-06-07"}
