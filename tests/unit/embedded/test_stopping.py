"""A request to stop is heard once, whichever signal it comes as."""

from __future__ import annotations

import os
import signal

import pytest

from orchestrator.embedded import stopping


@pytest.mark.parametrize("request_to_stop", stopping.REQUESTS)
def test_a_request_interrupts_and_the_next_does_not(request_to_stop: signal.Signals) -> None:
    with stopping.on_request():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), request_to_stop)
        os.kill(os.getpid(), request_to_stop)


def test_afterwards_signals_mean_what_they_meant() -> None:
    before = [signal.getsignal(number) for number in stopping.REQUESTS]
    with stopping.on_request():
        pass
    assert [signal.getsignal(number) for number in stopping.REQUESTS] == before
