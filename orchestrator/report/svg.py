"""Just enough SVG: elements as text, escaped; a plot area that maps numbers to places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

Points = Iterable[tuple[float, float]]


def element(name: str, *children: Markup | str, **attributes: float | str) -> Markup:
    """`<name a="b">children</name>`; an underscore in an attribute's name is a hyphen, `class_` is `class`."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _number(value))
        for key, value in attributes.items()
    )
    inside = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, inside)  # noqa: S704 - names are our own


def path(points: Points, *, closed: bool = False, **attributes: float | str) -> Markup:
    """A line through the points."""
    steps = " ".join(f"{'ML'[place > 0]}{x:.1f} {y:.1f}" for place, (x, y) in enumerate(points))
    return element("path", d=f"{steps} Z" if closed else steps, **attributes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Area:
    """A rectangle on the page, and the numbers its edges stand for."""

    left: float
    right: float
    top: float
    bottom: float
    x_low: float
    x_high: float
    y_high: float
    """The lower edge stands for 0."""

    def x(self, value: float) -> float:
        """Where a value lies across."""
        return self.left + (value - self.x_low) / (self.x_high - self.x_low) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Where a value lies upwards."""
        return self.bottom - value / self.y_high * (self.bottom - self.top)


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
