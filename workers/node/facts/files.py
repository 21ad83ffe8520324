"""Small files of /proc and /sys. `0` is a value; a file that is absent, or not for us, is None."""

from __future__ import annotations

from pathlib import Path


def text(path: Path) -> str | None:
    """What the file holds, without the blanks around it."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def number(path: Path) -> int | None:
    """The whole number that the file holds; None as well when it holds something else ("<unknown>")."""
    try:
        return int(text(path) or "")
    except ValueError:
        return None


def words(path: Path) -> tuple[str, ...]:
    """The words of a list that the kernel writes with blanks between; empty when there is none."""
    return tuple((text(path) or "").split())


def chosen(text: str | None) -> str | None:
    """Of a list such as `none [mq-deadline] bfq` the word in brackets; a single word is its own choice."""
    for word in (text or "").split():
        if word.startswith("[") and word.endswith("]"):
            return word[1:-1]
    return text if text and " " not in text else None


def numbers(listed: str) -> tuple[int, ...]:
    """The numbers of a CPU list, `0-3,8` (cpuset(7)). Raises ValueError."""
    found: list[int] = []
    for part in listed.split(",") if listed else []:
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)
