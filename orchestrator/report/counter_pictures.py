"""One self-contained page about a comparison of methods: violins of error rates, importance, predicted and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from analysis.arrays import Array
from analysis.counters.comparison import MEAN, MUMMI, STACKED
from analysis.counters.summary import Method, Summary
from orchestrator.report import svg
from orchestrator.report.svg import element

WIDTH, ROW, LEFT = 720.0, 34.0, 170.0
MOST_FEATURES = 12
OUTLIER = 98.0
"""The violins' scale holds this share of all error rates; what is further out stands at its edge."""
POINTS = 60
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #57606a; --fill: #7aa7d9; --edge: #1f5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9aa4af; --fill: #2f5f96; --edge: #8fc1ff; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 760px; padding: 0 1rem; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.fill { fill: var(--fill); stroke: var(--edge); stroke-width: 1; } .line { stroke: var(--soft); stroke-width: 1; }
.middle { stroke: var(--ink); stroke-width: 2; } .point { fill: var(--edge); fill-opacity: .55; }
.soft { fill: var(--soft); } table { border-collapse: collapse; }
td, th { padding: .15rem .8rem .15rem 0; text-align: right; }
td:first-child, th:first-child { text-align: left; }
"""


def page(summaries: Mapping[str, Summary], *, grouped: bool) -> str:
    """HTML with everything in it."""
    head = element(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width">'),
        element("title", "Methods compared"),
        element("style", Markup(STYLE)),  # noqa: S704 - our own
    )
    parts = [part for target, found in summaries.items() for part in _of_target(target, found, grouped=grouped)]
    body = element("body", element("h1", "Methods compared"), *parts)
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def violins(methods: Sequence[Method]) -> Markup:
    """A violin a method of its error rates, with their quartiles; one scale, cut where two in a hundred are outside."""
    every = np.concatenate([one.error_rates for one in methods])
    reach = max(1.0, float(np.percentile(np.abs(every), OUTLIER)))
    area = svg.Area(left=LEFT, right=WIDTH - 20, top=0, bottom=ROW, x_low=-reach, x_high=reach, y_high=1)
    height = ROW * len(methods) + 24
    zero = element("line", class_="line", x1=area.x(0), x2=area.x(0), y1=0, y2=height - 22)
    rows = [part for place, one in enumerate(methods) for part in _violin(one, area, place)]
    marks = [
        element(
            "text",
            f"{value:+.0f} %" if value else "0 %",
            x=area.x(value),
            y=height - 6,
            text_anchor="middle",
            class_="soft",
        )
        for value in (-reach, 0.0, reach)
    ]
    return _picture(height, "Error rates of each method", zero, *rows, *marks)


def bars(method: Method) -> Markup:
    """The features that matter most to a method, with the spread between splits."""
    shown = [one for one in method.importance[:MOST_FEATURES] if one.share > 0]
    most = max((one.share for one in shown), default=1.0)
    rows = []
    for place, one in enumerate(shown):
        top, length = ROW * 0.7 * place, (WIDTH - LEFT - 90) * one.share / most
        spread = "" if np.isnan(one.sd) else f" ± {one.sd:.0%}"
        rows += [
            element("text", one.feature, x=LEFT - 8, y=top + 16, text_anchor="end"),
            element("rect", class_="fill", x=LEFT, y=top + 5, width=max(length, 1.0), height=ROW * 0.7 - 8),
            element("text", f"{one.share:.0%}{spread}", x=LEFT + length + 8, y=top + 16, class_="soft"),
        ]
    return _picture(ROW * 0.7 * max(len(shown), 1) + 6, f"Importance of features, {method.method}", *rows)


def scatter(method: Method) -> Markup:
    """Predicted against measured, both on the log scale, with the line where they are equal."""
    measured, predicted = np.log(method.measured), np.log(np.maximum(method.predicted, 1e-300))
    low, high = float(min(measured.min(), predicted.min())), float(max(measured.max(), predicted.max()))
    high = high if high > low else low + 1
    area = svg.Area(left=70, right=430, top=10, bottom=370, x_low=low, x_high=high, y_high=high - low)
    points = [
        element("circle", class_="point", cx=area.x(x), cy=area.y(y - low), r=3)
        for x, y in zip(measured.tolist(), predicted.tolist(), strict=True)
    ]
    line = element("line", class_="line", x1=area.left, y1=area.bottom, x2=area.right, y2=area.top)
    marks = [
        element("text", f"{np.exp(low):.3g}", x=area.left, y=388, class_="soft"),
        element("text", f"{np.exp(high):.3g}", x=area.right, y=388, text_anchor="end", class_="soft"),
        element("text", "measured", x=250, y=388, text_anchor="middle"),
        element("text", "predicted", x=60, y=190, text_anchor="end"),
    ]
    return _picture(396, f"Predicted against measured, {method.method}", line, *points, *marks)


def _of_target(target: str, found: Summary, *, grouped: bool) -> list[Markup]:
    how = "whole configurations" if grouped else "random samples"
    by_name = {one.method: one for one in found.methods}
    shown = [one for one in found.methods if one.method != MEAN]
    drawn = by_name.get(STACKED, found.best)
    return [
        element("h2", target),
        element(
            "p", f"{found.splits} splits, 80 to 20, {how} held out. Error rate: (prediction - measured) / measured."
        ),
        _table(found),
        element("h3", "Error rates"),
        violins(shown),
        element("h3", "What matters to the stacked ensemble"),
        element("p", f"The ten methods agree by Kendall's W = {found.agreement:.2f} (1: all rank alike)."),
        bars(drawn),
        element("h3", "Predicted against measured"),
        *(scatter(by_name[name]) for name in dict.fromkeys((found.best.method, MUMMI)) if name in by_name),
    ]


def _table(found: Summary) -> Markup:
    names = ("method", "mean abs. error", "median", "lowest", "highest", "weight")
    rows = [element("tr", *(element("th", name) for name in names))]
    for one in found.methods:
        weight = found.weights.get(one.method)
        cells = (
            one.method, f"{one.mean_error_percent:.2f} %", f"{one.median_error_percent:.2f} %",
            f"{one.lowest_percent:+.1f} %", f"{one.highest_percent:+.1f} %", "" if weight is None else f"{weight:.2f}",
        )  # fmt: skip
        rows.append(element("tr", *(element("td", cell) for cell in cells)))
    return element("table", *rows)


def _violin(method: Method, area: svg.Area, place: int) -> list[Markup]:
    middle = ROW * (place + 0.5)
    rates = np.clip(method.error_rates, area.x_low, area.x_high)
    at = np.linspace(float(rates.min()), float(rates.max()), POINTS)
    width = _density(rates, at, narrowest=0.015 * (area.x_high - area.x_low)) * ROW * 0.45
    outline = [(area.x(x), middle - w) for x, w in zip(at.tolist(), width.tolist(), strict=True)]
    outline += [(area.x(x), middle + w) for x, w in zip(at[::-1].tolist(), width[::-1].tolist(), strict=True)]
    low, half, high = (area.x(float(value)) for value in np.percentile(rates, [25, 50, 75]))
    return [
        element("text", method.method, x=LEFT - 8, y=middle + 4, text_anchor="end"),
        svg.path(outline, closed=True, class_="fill"),
        element("line", class_="line", x1=low, x2=high, y1=middle, y2=middle),
        element("line", class_="middle", x1=half, x2=half, y1=middle - 6, y2=middle + 6),
    ]


def _density(rates: Array, at: Array, *, narrowest: float) -> Array:
    """A kernel density with Silverman's width, but wide enough to be seen where many rates are equal; largest 1."""
    spread = min(float(rates.std()), float(np.subtract(*np.percentile(rates, [75, 25])) / 1.34) or np.inf)
    width = max(0.9 * spread * len(rates) ** -0.2, narrowest)
    heights = np.exp(-0.5 * ((at[:, np.newaxis] - rates) / width) ** 2).sum(axis=1)
    found: Array = heights / heights.max()
    return found


def _picture(height: float, title: str, *parts: Markup) -> Markup:
    return element(
        "svg", element("title", title), *parts, viewBox=f"0 0 {WIDTH:.0f} {height:.0f}", role="img", aria_label=title
    )
