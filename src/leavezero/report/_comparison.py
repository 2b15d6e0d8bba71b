"""Two ways of choosing beside what rows held back say, as a figure of its own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leavezero.report._svg import Scale, figure, hint, number, short, tag, value_below, words

Record = Mapping[str, Any]

_WIDTH, _HEIGHT = 560.0, 470.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, _WIDTH - 16, 74.0, _HEIGHT - 56
_KINDS = (("ours", "leave_zero_out"), ("theirs", "cross_validation"))
_STYLE = """
svg { color-scheme: light dark; background: #ffffff; }
text { font: 12px system-ui, sans-serif; fill: #57606a; }
text.name { font-weight: 600; fill: #1b1f24; }
.rule { stroke: #d0d7de; }
.same { stroke: #57606a; stroke-dasharray: 4 4; }
.ours { fill: #0b5cad; fill-opacity: 0.6; }
.theirs { fill: #b35900; fill-opacity: 0.6; }
.ours.won, .theirs.won { fill-opacity: 1; stroke: #1b1f24; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  svg { background: #14171a; }
  text { fill: #9da7b1; }
  text.name { fill: #e6e9ec; }
  .rule { stroke: #3a424a; }
  .same { stroke: #9da7b1; }
  .ours { fill: #6cb2ff; }
  .theirs { fill: #ffb066; }
  .ours.won, .theirs.won { stroke: #e6e9ec; }
}
"""


def draw_comparison(compared: Record) -> str:
    """Return a file of SVG: each candidate's test score over what either way said of it.

    Parameters
    ----------
    compared : mapping
        "metric", "ways" with their "name" and "label", and "candidates" with "label",
        "test_score" and, for each way, its score and whether it chose the candidate.

    Returns
    -------
    str

    Examples
    --------
    >>> from leavezero.report import draw_comparison
    >>> one = {"label": "C=1", "test_score": 0.8, "leave_zero_out_score": 0.9,
    ...        "cross_validation_score": 0.85, "chosen_by_leave_zero_out": True,
    ...        "chosen_by_cross_validation": True}
    >>> ways = [{"name": "leave-zero-out", "label": "C=1"}, {"name": "CV", "label": "C=1"}]
    >>> found = draw_comparison({"metric": "accuracy", "ways": ways, "candidates": [one]})
    >>> found.count("<rect "), found.startswith("<svg ")
    (2, True)
    """
    points = [point for kind in _KINDS for point in _points(compared, *kind)]
    x_of = Scale.with_room([point["said"] for point in points] or [0.0], _LEFT, _RIGHT)
    y_of = Scale.with_room([point["test"] for point in points] or [0.0], _BOTTOM, _TOP)
    points.sort(key=lambda point: point["won"])  # the chosen on top
    drawn = figure(
        _WIDTH,
        _HEIGHT,
        f"{compared['metric']} on rows held back over what each way said",
        tag("style", _STYLE),
        *_legend(compared["ways"]),
        *_axes(x_of, y_of, str(compared["metric"])),
        *(_mark(point, x_of, y_of) for point in points),
    )
    return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


def _points(compared: Record, kind: str, way: str) -> Iterator[dict[str, Any]]:
    for one in compared["candidates"]:
        said, test = one[f"{way}_score"], one["test_score"]
        if said is not None and test is not None:
            won = bool(one[f"chosen_by_{way}"])
            yield {"kind": kind, "said": said, "test": test, "won": won, "label": one["label"]}


def _legend(ways: Sequence[Record]) -> Iterator[str]:
    for at, ((kind, _), way) in enumerate(zip(_KINDS, ways, strict=True)):
        y = 20.0 + 20 * at
        yield _shape(kind, f"{kind} won", 20.0, y - 4, 5.0)
        yield words(short(f"{way['name']} chose {way['label']}", 80), 34, y, class_="name")
    yield words("dashed: the score said is the score on rows held back", 34, 60)


def _axes(x_of: Scale, y_of: Scale, metric: str) -> Iterator[str]:
    for tick in y_of.ticks():
        yield tag("line", class_="rule", x1=_LEFT, x2=_RIGHT, y1=y_of(tick), y2=y_of(tick))
        yield words(number(tick), _LEFT - 6, y_of(tick) + 4, text_anchor="end")
    for tick in x_of.ticks():
        yield tag("line", class_="rule", y1=_TOP, y2=_BOTTOM, x1=x_of(tick), x2=x_of(tick))
        yield value_below(number(tick), x_of(tick), _BOTTOM + 18)
    low, high = max(x_of.low, y_of.low), min(x_of.high, y_of.high)
    if low < high:
        ends = {"x1": x_of(low), "y1": y_of(low), "x2": x_of(high), "y2": y_of(high)}
        yield tag("line", class_="same", **ends)
    middle = (_LEFT + _RIGHT) / 2
    yield words(
        f"{short(metric, 40)} said", middle, _HEIGHT - 12, class_="name", text_anchor="middle"
    )
    turned = f"rotate(-90 14 {(_TOP + _BOTTOM) / 2:.0f})"
    yield words(
        "on rows held back",
        14,
        (_TOP + _BOTTOM) / 2,
        class_="name",
        text_anchor="middle",
        transform=turned,
    )


def _mark(point: Record, x_of: Scale, y_of: Scale) -> str:
    said = hint(f"{point['label']}: {number(point['said'])} said, {number(point['test'])} on test")
    kind = f"{point['kind']} won" if point["won"] else point["kind"]
    radius = 7.0 if point["won"] else 4.0
    return _shape(point["kind"], kind, x_of(point["said"]), y_of(point["test"]), radius, said)


def _shape(kind: str, class_: str, x: float, y: float, radius: float, *said: str) -> str:
    """Return a circle for one way and a square for the other, so that no color is needed."""
    if kind == "ours":
        return tag("circle", *said, class_=class_, cx=x, cy=y, r=radius)
    side = 1.8 * radius
    place = {"x": x - side / 2, "y": y - side / 2, "width": side, "height": side}
    return tag("rect", *said, class_=class_, **place)
