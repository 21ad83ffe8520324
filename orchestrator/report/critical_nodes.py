"""Critical nodes over time, as a small picture: one row a node, one column a part of the campaign's rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from orchestrator.campaigns.criticality import CriticalNode
from orchestrator.report.svg import element

MOST_NODES = 30
WIDTH, LEFT, ROW, BOTTOM = 720.0, 130.0, 18.0, 24.0
LONGEST_NAME = 16


def picture(nodes: Sequence[CriticalNode]) -> Markup | None:
    """An SVG of the nodes that were critical most often; None without any. The darker, the larger the share."""
    shown = nodes[:MOST_NODES]
    if not shown:
        return None
    height = ROW * len(shown) + BOTTOM
    return element(
        "svg",
        element("title", "Share of rounds in which each node was critical, from the first rounds to the last"),
        *(mark for place, node in enumerate(shown) for mark in _row(node, place * ROW)),
        element("text", "first rounds", x=LEFT, y=height - 6, fill="currentColor"),
        element("text", "last rounds", x=WIDTH, y=height - 6, text_anchor="end", fill="currentColor"),
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        font_family="sans-serif",
        font_size="12",
    )


def _row(node: CriticalNode, top: float) -> Iterator[Markup]:
    name = node.node if len(node.node) <= LONGEST_NAME else f"{node.node[: LONGEST_NAME - 1]}…"
    yield element("text", name, x=LEFT - 8, y=top + 13, text_anchor="end", fill="currentColor")
    yield element("rect", x=LEFT, y=top + 1, width=WIDTH - LEFT, height=ROW - 2, style="fill:var(--panel)")
    width = (WIDTH - LEFT) / len(node.over_time)
    for place, share in enumerate(node.over_time):
        if share:
            yield element(
                "rect",
                x=f"{LEFT + place * width:.2f}",
                y=top + 1,
                width=f"{width:.2f}",
                height=ROW - 2,
                style="fill:var(--flag)",
                fill_opacity=f"{share:.2f}",
            )
