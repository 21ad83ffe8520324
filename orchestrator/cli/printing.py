"""What commands print: JSON of the contracts, or text on a console."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_ELSEWHERE = 200
Item = TypeVar("Item")


def as_json(value: object) -> None:
    """One line of JSON on standard output."""
    from pydantic_core import to_json

    click.echo(to_json(value))


def progress(text: str) -> None:
    """A line on standard error, beside the JSON on standard output."""
    click.echo(text, err=True)


def console() -> Console:
    """Standard output, in the terminal's colours and width; wide enough for any table where it goes elsewhere."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else WIDTH_ELSEWHERE)


def counted(description: str, items: Iterable[Item], total: int) -> Iterator[Item]:
    """The same items, counted in a bar on standard error where that is a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(items, description=description, total=total, console=console, disable=not console.is_terminal)
