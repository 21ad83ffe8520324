"""Logs: one line an event, bound to what it is about, and nobody's secret in it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest

from orchestrator import logs
from orchestrator.contracts.errors import UserError

SCRIPT = """
import logging, threading, warnings
from orchestrator import logs
logs.log_to_stderr("agent", node="m01")
log = logging.getLogger("workers.execute")
with logs.bound(job=17), logs.bound(campaign=3, attempt=2):
    {inside}
"""


def said(inside: str, **environment: str) -> str:
    """What a process with this environment writes to standard error."""
    command = [sys.executable, "-c", SCRIPT.format(inside=inside)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return ended.stderr


def test_a_line_is_json_where_nobody_reads_along_and_names_campaign_job_attempt_and_node() -> None:
    line = json.loads(said("log.warning('the lease\\nis short')"))
    del line["at"]
    assert line == {
        "level": "warning", "part": "agent", "event": "the lease is short", "logger": "workers.execute",
        "campaign": 3, "job": 17, "attempt": 2, "node": "m01",
    }  # fmt: skip


def test_text_is_for_people_and_still_one_line() -> None:
    written = said("log.error('it\\nbroke')", MODESCOPE_LOG="text")
    assert written.endswith("error agent: it broke  [campaign=3 job=17 attempt=2 node=m01]\n")
    assert written.count("\n") == 1


@pytest.mark.parametrize(
    ("level", "heard"), [("", ["w"]), ("info", ["w", "i"]), ("error", []), ("debug", ["w", "i", "d", "library"])]
)
def test_it_is_quiet_unless_asked(level: str, heard: list[str]) -> None:
    inside = "log.warning('w'); log.info('i'); log.debug('d'); logging.getLogger('kombu').debug('library')"
    written = said(inside, MODESCOPE_LOG_LEVEL=level)
    assert [json.loads(line)["event"] for line in written.splitlines()] == heard


@pytest.mark.parametrize(
    "inside",
    [
        "log.error('cannot reach postgresql://me:pa%%2Fss@db/x (pa/ss)')",
        "log.error('redis://:r3dis@host does not answer')",
        "log.error('connection failed: password=other user=me')",
        "log.error('Authorization: Bearer t0ken')",
        "log.error('%s', 't0ken')",
        "raise ValueError('postgresql://me:pa%%2Fss@db/x t0ken')",
        "threading.Thread(target=lambda: int('t0ken')).start()",
        "warnings.warn('t0ken')",
    ],
)
@pytest.mark.parametrize("form", ["json", "text"])
def test_no_secret_is_in_a_line_not_even_in_a_traceback(inside: str, form: str) -> None:
    written = said(
        inside.replace("%%", "%"),
        MODESCOPE_LOG=form,
        MODESCOPE_TOKEN="t0ken",  # noqa: S106 - of this test
        MODESCOPE_DATABASE_URL="postgresql://me:pa%2Fss@db/x",
        MODESCOPE_REDIS_URL="redis://:r3dis@host/0",
    )
    assert "***" in written
    assert [secret for secret in ("t0ken", "pa%2Fss", "pa/ss", "r3dis", "other") if secret in written] == []
    assert written.count("\n") == 1


def test_what_is_bound_ends_with_its_block() -> None:
    lines = logs.Lines("agent", {}, as_json=True)
    record = logging.LogRecord("workers", logging.INFO, "", 1, "done", (), None)
    with logs.bound(job=1):
        assert json.loads(lines.format(record))["job"] == 1
    assert "job" not in json.loads(lines.format(record))


@pytest.mark.parametrize("wrong", [{"MODESCOPE_LOG": "xml"}, {"MODESCOPE_LOG_LEVEL": "loud"}])
def test_a_level_or_form_that_does_not_exist_is_refused_in_one_line(wrong: dict[str, str]) -> None:
    with pytest.raises(UserError, match="give one of"):
        logs.log_to_stderr("agent", environment=wrong)


def test_the_last_event_of_a_log_is_its_words() -> None:
    assert logs.last_event('{"level": "error", "event": "no disk"}') == "no disk"
    assert logs.last_event("FATAL:  no disk") == "FATAL:  no disk"
