"""Long lists in pages: a page ends with the cursor of the next one, which means nothing but to us."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from orchestrator.api.models import LARGEST_PAGE, Page
from orchestrator.contracts.errors import RequestError

Item = TypeVar("Item")
Key = tuple[int | str, ...]
"""Where an item stands in its list's order."""

PAGE = 100
_BIGGEST = 2**62
"""Of the whole numbers in a key: what PostgreSQL's bigint holds."""

Cursor = Annotated[str | None, Query(max_length=1000, description="`next` of the page before this one.")]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="As many items at most.")]


def after(cursor: str | None, *kinds: type[int] | type[str]) -> Key | None:
    """The key that a cursor stands for; None without a cursor. Raises RequestError for what we did not make."""
    if cursor is None:
        return None
    try:
        key = json.loads(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        key = None
    if not isinstance(key, list) or len(key) != len(kinds) or not all(map(_fits, key, kinds)):
        raise RequestError("cursor: not one of this list; begin without it")
    return tuple(key)


def page(items: Sequence[Item], limit: int, key: Callable[[Item], Key]) -> Page[Item]:
    """Of `items`, asked for with one more than `limit`: that one more says whether there is a next page."""
    shown = tuple(items[:limit])
    return Page(items=shown, next=_text(key(shown[-1])) if len(items) > limit else None)


def of_all(items: Iterable[Item], limit: int, key: Callable[[Item], Key], behind: Callable[[Item], bool]) -> Page[Item]:
    """A page of a list that is short enough to be read as a whole: of those that `behind` lets pass."""
    return page([item for item in items if behind(item)], limit, key)


def _text(key: Key) -> str:
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode()


def _fits(part: object, kind: type[int] | type[str]) -> bool:
    if kind is int:
        return isinstance(part, int) and not isinstance(part, bool) and abs(part) < _BIGGEST
    return isinstance(part, str) and part.isprintable()
