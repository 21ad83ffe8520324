"""How often a part that keeps dying is started again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

MOST = 5
WITHIN_S = 60.0
FIRST_DELAY_S = 0.5


@dataclass(slots=True)
class Restarts:
    """The deaths of one part in the last minute."""

    _deaths: deque[float] = field(default_factory=deque)

    def delay_s(self, now_s: float) -> float | None:
        """It died at `now_s` (monotonic): how long to wait before it is started again; None: give up.

        The delay doubles with every death in the last minute.
        """
        self._deaths.append(now_s)
        while self._deaths[0] <= now_s - WITHIN_S:
            self._deaths.popleft()
        if len(self._deaths) > MOST:
            return None
        return float(FIRST_DELAY_S * 2 ** (len(self._deaths) - 1))
