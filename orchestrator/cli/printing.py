"""What commands print: JSON of the contracts, or text on a console."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console


def as_json(value: object) -> None:
    """One line of JSON on standard output."""
    from pydantic_core import to_json

    click.echo(to_json(value))


def console() -> Console:
    """Standard output, with colours and width where it is a terminal."""
    from rich.console import Console

    return Console(highlight=False)
