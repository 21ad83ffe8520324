"""A part that dies is started again, but not for ever."""

from __future__ import annotations

from orchestrator.embedded.restarts import FIRST_DELAY_S, Restarts


def test_the_delay_doubles_with_every_death() -> None:
    restarts = Restarts()
    assert [restarts.delay_s(now) for now in range(5)] == [FIRST_DELAY_S * factor for factor in (1, 2, 4, 8, 16)]


def test_the_sixth_death_in_a_minute_is_the_last() -> None:
    restarts = Restarts()
    delays = [restarts.delay_s(10.0 * number) for number in range(6)]
    assert delays[-1] is None
    assert None not in delays[:-1]


def test_deaths_far_apart_are_forgotten() -> None:
    restarts = Restarts()
    assert {restarts.delay_s(100.0 * number) for number in range(20)} == {FIRST_DELAY_S}
