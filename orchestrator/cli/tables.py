"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.table import Table

from orchestrator import words
from orchestrator.contracts.access import AuditLine, Token
from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.campaigns import Campaign, Configuration, NodeShare
from orchestrator.contracts.nodes import Node
from orchestrator.contracts.rates import NodeRate

_COLOURS = {FLAGGED: "bold yellow", "undecided": "cyan"}


def flagged_first(configurations: Iterable[Configuration]) -> list[Configuration]:
    """The flagged ones, then the others, each in the order of the design."""
    return sorted(configurations, key=lambda found: found.verdict != FLAGGED)


def of_configurations(factors: Sequence[str], configurations: Iterable[Configuration]) -> Table:
    """A row per configuration, in the order given; `n` is the number of valid runs. Only the last column gives way."""
    table = _table()
    for factor in factors:
        table.add_column(factor.replace("_", "_\n"), justify="right", no_wrap=True)
    table.add_column("mode", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("components\n× family", no_wrap=True)
    table.add_column("verdict", ratio=1)
    for found in configurations:
        table.add_row(*_cells(len(factors), found), style=_COLOURS.get(found.verdict or ""))
    return table


def of_campaigns(campaigns: Iterable[Campaign]) -> Table:
    """A row per campaign."""
    table = _table()
    for name in ("id", "name", "state", "engine", "configurations", "re-run of", "created"):
        number = name in {"id", "configurations", "re-run of"}
        table.add_column(name.replace("-run", "-run\n"), justify="right" if number else "left", no_wrap=name != "name")
    for campaign in campaigns:
        table.add_row(
            str(campaign.id),
            campaign.name,
            words.state(campaign),
            campaign.engine,
            f"{campaign.configurations:,}",
            "" if campaign.parent_id is None else str(campaign.parent_id),
            _when(campaign.created_at),
        )
    return table


def of_nodes(nodes: Iterable[Node], rates: Iterable[NodeRate] = ()) -> Table:
    """A row per node, with what it can run, how fast it works (95 % interval), and why it may not work."""
    table, known = _table(), {rate.node: rate for rate in rates}
    for name in ("node", "state", "online", "last seen", "job", "runs/min", "engines", "reason"):
        table.add_column(name, overflow="fold")
    for node in nodes:
        table.add_row(
            node.name,
            str(node.state),
            "yes" if node.online else "no",
            "never" if node.seen_s_ago is None else f"{words.duration(node.seen_s_ago)} ago",
            "" if node.job_id is None else str(node.job_id),
            _rate(known.get(node.name)),
            ", ".join(f"{engine} {version}".strip() for engine, version in sorted(node.engines.items())),
            node.reason or "",
        )
    return table


def of_shares(shares: Iterable[NodeShare], rates: Iterable[NodeRate] = ()) -> Table:
    """What each node did for a campaign, and how fast (95 % interval, in runs of average cost)."""
    table, known = _table(), {rate.node: rate for rate in rates}
    for name in ("node", "valid", "invalid", "superseded", "runs/min", ""):
        table.add_column(name, justify="left" if name in {"node", ""} else "right")
    for share in shares:
        online = "" if share.online else "offline"
        table.add_row(
            share.node,
            f"{share.valid:,}",
            f"{share.invalid:,}",
            f"{share.superseded:,}",
            _rate(known.get(share.node)),
            online,
        )
    return table


def of_tokens(tokens: Iterable[Token]) -> Table:
    """Who may use the service."""
    table = _table()
    for name in ("id", "name", "scopes", "made", "until", "last used"):
        table.add_column(name, overflow="fold")
    for token in tokens:
        until = "revoked" if token.revoked_at is not None else _when_or(token.expires_at, "revoked by somebody")
        used = _when_or(token.used_at, "never")
        table.add_row(str(token.id), token.name, ", ".join(token.scopes), _when(token.created_at), until, used)
    return table


def of_audit(lines: Iterable[AuditLine]) -> Table:
    """Who changed what."""
    table = _table()
    for name in ("when", "who", "what", "of", "from"):
        table.add_column(name, overflow="fold")
    for line in lines:
        table.add_row(_when(line.at), line.who, line.what.replace("_", " "), line.subject, line.origin)
    return table


def _rate(rate: NodeRate | None) -> str:
    """`3.1 (2.9 to 3.3)`; nothing where too little is known."""
    if rate is None:
        return ""
    return f"{words.rate(rate.runs_per_s)} ({words.rate(rate.low_per_s)} to {words.rate(rate.high_per_s)})"


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="bold")


def _cells(factor_count: int, found: Configuration) -> list[str]:
    control = found.control is not None
    levels = [""] * factor_count if control else [str(level) for level in found.levels]
    return [
        *levels,
        f"{found.mode}\n(synthetic)" if control else found.mode,
        f"{found.valid_runs:,}",
        "" if found.components is None else f"{found.components} × {found.family}",
        _verdict(found),
    ]


def _verdict(found: Configuration) -> str:
    """`multimodal: two peaks at ...`, or why there is none."""
    if found.verdict is None:
        return f"not fitted: {found.error}" if found.error else "not analysed"
    again = found.confirmation
    return f"{found.verdict}: {found.sentence}" + (f"\n{again.outcome}: {again.sentence}" if again else "")


def _when_or(seconds: float | None, otherwise: str) -> str:
    return otherwise if seconds is None else _when(seconds)


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
