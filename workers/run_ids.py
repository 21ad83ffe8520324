"""Ids of runs: UUIDs that begin with the time, so that the ledger's index of ids grows at its end.

Random ids would each touch a page of their own, in an index that outgrows memory with the years.
"""

from __future__ import annotations

import secrets
import time
from uuid import UUID

_VERSION_7 = 0x7 << 76
_VARIANT = 0b10 << 62
_RANDOM_BITS_ABOVE, _RANDOM_BITS_BELOW = 12, 62


def run_id() -> UUID:
    """RFC 9562, version 7: milliseconds since 1970, then 74 random bits. A clock that is wrong costs order alone."""
    milliseconds = time.time_ns() // 1_000_000
    above, below = divmod(secrets.randbits(_RANDOM_BITS_ABOVE + _RANDOM_BITS_BELOW), 1 << _RANDOM_BITS_BELOW)
    return UUID(int=milliseconds << 80 | _VERSION_7 | above << 64 | _VARIANT | below)
