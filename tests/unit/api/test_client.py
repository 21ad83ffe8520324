"""The client: what it asks beside campaigns, and how a watcher hears of one whose stream does not come through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.cli.campaigns import watch
from orchestrator.client import Client
from orchestrator.contracts.campaigns import Progress
from orchestrator.contracts.errors import ModescopeError, TooManyError, UnavailableError
from tests.unit.measured import STUDY, Laboratory

LARGE = f"threads: {list(range(1, 901))}, file_size_kb: {[4 * n for n in range(1, 101)]}, record_size_kb: [4]"


def test_the_service_says_whether_it_is_ready_and_in_what_numbers(client: Client) -> None:
    assert client.ready().ready
    assert "modescope_event_streams" in client.metrics()


def test_a_study_is_checked_before_it_is_submitted(client: Client) -> None:
    assert client.check("name: half a study").problems
    checked = client.check(STUDY, nodes=2)
    assert checked.summary is not None
    assert (checked.summary.nodes, checked.too_large) == (2, None)


def test_a_design_too_large_to_count_while_writing_is_not_counted(client: Client) -> None:
    study = f"name: large\ndesign: {{blocks: [{{levels: {{{LARGE}}}}}]}}\nreplicates: 5\nengine: builtin\n"
    checked = client.check(study)
    assert (checked.too_large, checked.summary, checked.picture) == (540_000, None, None)


class _Behind:
    """A service whose streams fail as they are told to, before or after so many reports."""

    def __init__(self, client: Client, *failures: tuple[int, ModescopeError]) -> None:
        self._client = client
        self._failures = iter(failures)
        self.asked = 0
        self.followed = 0

    def follow(self, campaign_id: int) -> Iterator[Progress]:
        self.followed += 1
        reports, failure = next(self._failures, (None, None))
        if reports is None:
            yield from self._client.follow(campaign_id)
            return
        for _ in range(reports):
            yield self._client.progress(campaign_id)
        assert failure is not None
        raise failure

    def progress(self, campaign_id: int) -> Progress:
        self.asked += 1
        return self._client.progress(campaign_id)


@pytest.fixture
def finished(laboratory: Laboratory) -> int:
    """A campaign with nothing left to tell but how it ended."""
    campaign = laboratory.submit()
    laboratory.work_off()
    return campaign.id


def test_a_watcher_is_told_and_does_not_ask(client: Client, finished: int) -> None:
    behind = _Behind(client)
    assert watch.watch(behind, finished, None).verdicts_final  # type: ignore[arg-type]
    assert behind.asked == 0


def test_a_stream_that_breaks_off_is_opened_again(client: Client, laboratory: Laboratory) -> None:
    campaign = laboratory.submit()
    behind = _Behind(client, (1, UnavailableError("broken off")))
    reports = watch._reports(behind, campaign.id)  # type: ignore[arg-type]
    assert [next(reports).valid_runs for _ in range(2)] == [0, 0]  # told, then asked while the stream is away
    laboratory.work_off()
    *_, last = reports
    assert last.verdicts_final
    assert (behind.asked, behind.followed) == (1, 2)


@pytest.mark.parametrize("failure", [TooManyError("enough"), UnavailableError("silent")])
def test_a_stream_that_never_speaks_is_replaced_by_asking(
    client: Client, finished: int, failure: ModescopeError
) -> None:
    behind = _Behind(client, (0, failure))
    assert watch.watch(behind, finished, None).verdicts_final  # type: ignore[arg-type]
    assert (behind.asked, behind.followed) == (1, 1)
