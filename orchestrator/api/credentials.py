"""Whose request is this? Secrets become tokens of the ledger; wrong guesses are counted by address."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from orchestrator.contracts.access import Token, digest
from orchestrator.store.ports import Access

REMEMBERED_S = 2.0
"""A token found in the ledger is believed for so long: a revocation takes effect within this time."""
REMEMBERED = 1000
GUESSES = 10
"""Wrong secrets from one address within `GUESS_WINDOW_S` before it is told to wait."""
GUESS_WINDOW_S = 60.0
ADDRESSES = 10_000


class Holders:
    """Finds the token behind a secret, and asks the ledger at most once in `REMEMBERED_S` for each."""

    def __init__(self, access: Access, clock: Callable[[], float] = time.monotonic) -> None:
        self._access = access
        self._clock = clock
        self._found: OrderedDict[str, tuple[Token, float]] = OrderedDict()

    def remembered(self, secret: str) -> Token | None:
        """The token found a moment ago, without a look at the ledger."""
        token, at = self._found.get(digest(secret), (None, 0.0))
        return token if self._clock() - at < REMEMBERED_S else None

    def of(self, secret: str) -> Token | None:
        """The token in force, itself or behind a sign-in. Raises UnavailableError when the ledger is away."""
        known = self.remembered(secret)
        if known is not None:
            return known
        key = digest(secret)
        token = self._access.holder(key)
        self._found.pop(key, None)
        if token is not None:
            self._found[key] = (token, self._clock())
            if len(self._found) > REMEMBERED:
                self._found.popitem(last=False)
        return token

    def forget(self, secret: str) -> None:
        """A sign-in has ended."""
        self._found.pop(digest(secret), None)


class Guesses:
    """Wrong secrets of late, by address; as many addresses as fit, the oldest forgotten first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    def count(self, address: str) -> None:
        """One more."""
        times = self._wrong.pop(address, deque(maxlen=GUESSES))
        times.append(self._clock())
        self._wrong[address] = times
        if len(self._wrong) > ADDRESSES:
            self._wrong.popitem(last=False)

    def wait_s(self, address: str) -> float:
        """How long this address has to wait before it may try again; 0: it may."""
        times = self._wrong.get(address)
        if times is None or len(times) < GUESSES:
            return 0.0
        return max(0.0, times[0] + GUESS_WINDOW_S - self._clock())
