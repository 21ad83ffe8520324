"""What commands print: JSON of the contracts, or text on a console."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_ELSEWHERE = 200


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
