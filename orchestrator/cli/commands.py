"""A group whose sub-commands are named by entry points: `orchestrator` never imports the packages that bring them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click


class EntryPointGroup(click.Group):
    """Commands of its own, and those that are found by entry point; imported when they are called."""

    def __init__(self, *args: Any, found_in: str, short_helps: Mapping[str, str], **attributes: Any) -> None:
        """`found_in`: the entry points' group; `short_helps`: so that `--help` need not import the commands."""
        super().__init__(*args, **attributes)
        self._found_in = found_in
        self._short_helps = short_helps

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *(found.name for found in entry_points(group=self._found_in))})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for found in entry_points(group=self._found_in, name=cmd_name):
            return _load(found)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self._short_helps.get(name, "")) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _load(found: EntryPoint) -> click.Command:
    command = found.load()
    if not isinstance(command, click.Command):
        raise TypeError(f"entry point {found.value} is not a click command")
    return command
