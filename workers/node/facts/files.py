"""One-value files of /proc and /sys. `0` is a value; a file that is absent, or not for us, is None."""

from __future__ import annotations

from pathlib import Path


def text(path: Path) -> str | None:
    """What the file holds, without the blanks around it."""
    try:
        return path.read_text().strip()
    except OSError:
        return None


def number(path: Path) -> int | None:
    """The whole number that the file holds; None as well when it holds something else ("<unknown>")."""
    try:
        return int(text(path) or "")
    except ValueError:
        return None
