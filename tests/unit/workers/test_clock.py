"""How right a clock is: what chrony and the kernel tell, and what they do not."""

from __future__ import annotations

import pytest

from tests.unit.workers.machines import DATA
from workers.node.facts import clock
from workers.node.facts.clock import TIMEX, Clock


def timex(*, offset: int, status: int, most_us: int) -> bytes:
    return TIMEX.pack(0, offset, 0, most_us, 0, status, *(0 for _ in range(8)), 0, *(0 for _ in range(5)), 0)


def said(name: str) -> Clock | None:
    return clock.parse_chrony((DATA / name).read_text())


def test_a_clock_that_chrony_keeps_is_off_by_what_chrony_says() -> None:
    found = said("chronyc-synchronised.txt")
    assert found is not None
    assert (found.source, found.synchronised, found.offset_s) == ("chrony", True, -0.000031625)
    assert found.max_error_s == pytest.approx(0.088264696 / 2 + 0.019378712)


def test_a_chrony_without_servers_knows_no_offset() -> None:
    assert said("chronyc-not-synchronised.txt") == Clock(
        source="chrony", synchronised=False, offset_s=None, max_error_s=None
    )


@pytest.mark.parametrize("text", ["", "506 Cannot talk to daemon\n", "System time     : soon\n"])
def test_a_chrony_that_does_not_run_is_absent(text: str) -> None:
    assert clock.parse_chrony(text) is None


def test_a_kernel_that_nobody_told_the_time_is_not_synchronised() -> None:
    image = bytes.fromhex((DATA / "adjtimex-vm.hex").read_text())
    assert clock.parse_timex(image) == Clock(source="kernel", synchronised=False, offset_s=None, max_error_s=None)


@pytest.mark.parametrize(("status", "offset"), [(0x0001, 250), (0x2001, 250_000)])
def test_a_kernel_that_has_to_catch_up_is_behind(status: int, offset: int) -> None:
    found = clock.parse_timex(timex(offset=offset, status=status, most_us=1500))
    assert found == Clock(source="kernel", synchronised=True, offset_s=-0.00025, max_error_s=0.0015)


def test_a_clock_may_be_off_by_nothing() -> None:
    found = clock.parse_timex(timex(offset=0, status=0x0001, most_us=0))
    assert found is not None
    assert (found.offset_s, found.max_error_s) == (0, 0)


def test_a_shorter_structure_is_not_guessed_at() -> None:
    assert clock.parse_timex(b"\0" * 128) is None


def test_this_machine_says_something() -> None:
    assert clock.read() is not None
