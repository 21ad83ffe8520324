"""What benchmarks tell: a line for each bar, as a table and, in the last line, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, kw_only=True)
class Line:
    """One bar: what was measured, what it should be, what came out."""

    what: str
    bar: str
    measured: str
    met: bool | None
    """None: there is no bar."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What it was reckoned from."""


def tell(benchmark: str, lines: Sequence[Line]) -> None:
    """Print them all."""
    table = Table("what", "bar", "measured", "met")
    for line in lines:
        table.add_row(line.what, line.bar, line.measured, {True: "yes", False: "NO", None: "-"}[line.met])
    Console(width=150).print(table)
    print(json.dumps({"benchmark": benchmark, "lines": [asdict(line) for line in lines]}), flush=True)


def told(last_line: str) -> list[Line]:
    """What `tell` printed in another process."""
    return [Line(**line) for line in json.loads(last_line)["lines"]]
