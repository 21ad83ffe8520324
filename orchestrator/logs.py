"""Logs: one line an event, quiet by default, no secrets."""

from __future__ import annotations

import logging
import os
import sys

FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def log_to_stderr() -> None:
    """Send warnings and errors, or what MODESCOPE_LOG asks for (debug, info, warning), to standard error."""
    level = os.environ.get("MODESCOPE_LOG", "warning").upper()
    logging.basicConfig(stream=sys.stderr, level=level, format=FORMAT, force=True)
