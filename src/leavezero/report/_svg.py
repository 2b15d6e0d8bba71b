"""Elements of SVG as text, escaped, and the scales that place numbers in a figure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH = 360.0  # of a figure that a phone shows as it is
RATIO_OF_LOGS = 50  # between the largest and the smallest value from which on logs are shown


def tag(name: str, *children: str, **attributes: Any) -> str:
    """Return an element; children are markup, attributes are escaped, ``class_`` is class.

    Examples
    --------
    >>> tag("circle", class_="dot", cx=1.234, cy=2)
    '<circle class="dot" cx="1.2" cy="2"/>'
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}>{''.join(children)}</{name}>" if children else f"<{name}{said}/>"


def words(value: Any, x: float, y: float, **attributes: Any) -> str:
    """Return text at a place.

    Examples
    --------
    >>> words("a < b", 0, 10)
    '<text x="0" y="10">a &lt; b</text>'
    """
    return tag("text", escape(str(value)), x=x, y=y, **attributes)


def value_below(text: str, x: float, y: float) -> str:
    """Return a value that is written below an axis."""
    return words(text, x, y, class_="tick", text_anchor="middle")


def hint(value: str) -> str:
    """Return what a pointer and a screen reader are told about an element."""
    return tag("title", escape(value))


def figure(width: float, height: float, title: str, *children: str) -> str:
    """Return a drawing with a name of its own; colors come from the page's style."""
    return tag(
        "svg",
        hint(title),
        *children,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=title,
    )


def short(text: Any, most: int) -> str:
    """Return a text that fits, with an ellipsis for the rest."""
    text = str(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def number(value: float | None) -> str:
    """Return a number with as many digits as a reader uses.

    Examples
    --------
    >>> number(0.123456), number(1e-05), number(100), number(None)
    ('0.1235', '1e-05', '100', '-')
    """
    return "-" if value is None else f"{value:.4g}"


@dataclass(frozen=True)
class Scale:
    """From values to places on an axis.

    Examples
    --------
    >>> scale = Scale.of([1, 10, 100], 0, 10)
    >>> scale.log, scale(10)
    (True, 5.0)
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def of(cls, values: Sequence[float], start: float, end: float, logs: bool = True) -> "Scale":
        """Return a scale that just holds some values, with logs where they span decades."""
        low, high = min(values), max(values)
        return cls(low, high, start, end, logs and low > 0 and high / low >= RATIO_OF_LOGS)

    @classmethod
    def with_room(cls, values: Sequence[float], start: float, end: float) -> "Scale":
        """Return a scale with a little room at both ends."""
        low, high = min(values), max(values)
        room = 0.06 * (high - low) or 0.5 * abs(high) or 0.5
        return cls(low - room, high + room, start, end)

    def __call__(self, value: float) -> float:
        """Return the place of a value; the middle if all values are one."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = 0.5 if high == low else (value - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        """Return round values inside the scale."""
        if self.high == self.low:
            return [self.low]
        if self.log:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return [10.0**power for power in powers[:: max(1, -(-len(powers) // most))]]
        step = round_step((self.high - self.low) / most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [at * step for at in range(first, last + 1)]


def round_step(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten that is not below a number.

    Examples
    --------
    >>> round_step(0.013), round_step(3.0)
    (0.02, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= least * (1 - 1e-9))


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".rstrip("0").rstrip(".") or "0"
    return escape(str(value))
