"""The figures of a report, drawn from its plain dict as SVG."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from leavezero.report._side_figures import draw_sides
from leavezero.report._svg import (
    WIDTH,
    Scale,
    figure,
    hint,
    number,
    short,
    tag,
    value_below,
    words,
)

MOST_ROWS, MOST_LINES, MOST_POINTS = 15, 300, 1_000
MOST_AXES, MOST_PLOTS, MOST_CELLS = 8, 8, 16

Record = Mapping[str, Any]


def draw_all(summary: Record) -> dict[str, Any]:
    """Return every figure that a summary has data for, as markup.

    Examples
    --------
    >>> from leavezero.report import summarize
    >>> from leavezero.report._figures import draw_all
    >>> results = {"params": [{"C": 1}, {"C": 10}], "mean_test_score": [0.8, 0.9]}
    >>> sorted(draw_all(summarize(results, best=1)))
    ['intervals', 'one', 'parallel', 'sides', 'train', 'two', 'unseen']
    """
    scored = [one for one in summary["candidates"] if one["score"] is not None]
    varied = [p for p in summary["params"] if len(p["values"]) > 1]
    metric = summary["run"]["metric"]
    return {
        "intervals": draw_intervals(scored[:MOST_ROWS], metric),
        "parallel": draw_parallel(scored[:MOST_LINES], varied[:MOST_AXES], metric),
        "one": [draw_one(scored[:MOST_POINTS], p, metric) for p in varied[:MOST_PLOTS]],
        "two": [
            draw_two(scored[:MOST_POINTS], pair, metric)
            for pair in combinations(_most_varied(varied), 2)
        ],
        "train": draw_witnesses(scored[:MOST_POINTS], "train", "training score"),
        "unseen": draw_witnesses(scored[:MOST_POINTS], "unseen", "score on unseen rows"),
        "sides": draw_sides(summary["validation"]),
    }


def draw_intervals(scored: Sequence[Record], metric: str) -> str | None:
    """Return each score with its interval, best first."""
    if not scored:
        return None
    ends = [one.get(end) for one in scored for end in ("low", "high", "score")]
    scale = Scale.with_room([end for end in ends if end is not None], 10, WIDTH - 10)
    step, top = 30.0, 8.0
    height = top + step * len(scored) + 34
    parts = [_rule(scale(tick), top, height - 30) for tick in scale.ticks()]
    for at, one in enumerate(scored):
        parts.append(_interval(one, scale, top + step * at))
    parts += _ticks_below(scale, height - 18, metric)
    return figure(WIDTH, height, f"Scores of the best {len(scored)} with intervals", *parts)


def _interval(one: Record, scale: Scale, y: float) -> str:
    low, high = one.get("low"), one.get("high")
    line = ""
    if low is not None and high is not None:
        line = tag("line", class_="bar", x1=scale(low), x2=scale(high), y1=y + 22, y2=y + 22)
    spread = f", {number(low)} to {number(high)}" if line else ""
    dot = tag("circle", class_="dot", cx=scale(one["score"]), cy=y + 22, r=4)
    said = hint(f"{one['label']}: {number(one['score'])}{spread}")
    label = words(short(one["label"], 52), 10, y + 12, class_="label")
    return tag("g", said, label, line, dot, class_=_kind(one))


def draw_parallel(scored: Sequence[Record], params: Sequence[Record], metric: str) -> str | None:
    """Return a line for each candidate across the parameters and the score."""
    if len(scored) < 2 or not params:
        return None
    top, bottom = 34.0, 250.0
    gap = max(84.0, 560.0 / len(params))
    width = gap * len(params) + 150
    axes = [_places(p, bottom, top) for p in params]
    score = Scale.with_room([one["score"] for one in scored], bottom, top)
    lines = []
    for one in reversed(scored):  # the best on top
        points = [
            f"{60 + gap * at:.0f},{place(one['params'][p['name']]):.1f}"
            for at, (p, place) in enumerate(zip(params, axes, strict=True))
            if p["name"] in one["params"]
        ]
        points.append(f"{60 + gap * len(params):.0f},{score(one['score']):.1f}")
        said = hint(f"{one['label']}: {number(one['score'])}")
        lines.append(tag("polyline", said, points=" ".join(points), class_=f"thread {_kind(one)}"))
    for at, (p, place) in enumerate(zip(params, axes, strict=True)):
        lines.append(_upright(60 + gap * at, short(p["name"], 16), _labels(p), place))
    ticks = [(number(tick), tick) for tick in score.ticks()]
    lines.append(_upright(60 + gap * len(params), short(metric, 16), ticks, score))
    return figure(width, 270, f"Parameters and {metric} of {len(scored)} candidates", *lines)


def _upright(x: float, name: str, labels: Any, place: Callable[[Any], float]) -> str:
    axis = tag("line", class_="axis", x1=x, x2=x, y1=34.0, y2=250.0)
    title = words(name, x, 18, class_="name", text_anchor="middle")
    ticks = [words(text, x + 5, place(value) + 4, class_="tick halo") for text, value in labels]
    return tag("g", axis, title, *ticks)


def draw_one(scored: Sequence[Record], param: Record, metric: str) -> str:
    """Return the scores over the values of one parameter; a line joins the best of each."""
    width, height = WIDTH, 220.0
    place = _places(param, 52, width - 24)
    having = [one for one in scored if param["name"] in one["params"]]
    scale = Scale.with_room([one["score"] for one in having] or [0.0], height - 46, 14)
    parts = [_across(scale(tick), 44, width - 12, number(tick)) for tick in scale.ticks()]
    best: dict[float, float] = {}
    for one in having:
        x, y = place(one["params"][param["name"]]), scale(one["score"])
        best[x] = min(best.get(x, y), y)
    points = " ".join(f"{x:.1f},{best[x]:.1f}" for x in sorted(best))
    parts.append(tag("polyline", points=points, class_="best"))
    parts += [_dot(one, place(one["params"][param["name"]]), scale) for one in reversed(having)]
    parts += [value_below(text, place(v), height - 28) for text, v in _labels(param)]
    parts.append(_name_below(param["name"], width, height))
    return figure(width, height, f"{metric} over {param['name']}", *parts)


def draw_two(scored: Sequence[Record], pair: tuple[Record, Record], metric: str) -> str:
    """Return the best score for each pair of values; the stronger the color, the better."""
    across, up = pair
    width, height = WIDTH, 300.0
    x_of, y_of = _cells(across, 78, width - 12), _cells(up, height - 46, 12)
    best: dict[tuple[Any, ...], Record] = {}
    for one in reversed(scored):  # the better one stays
        if across["name"] in one["params"] and up["name"] in one["params"]:
            place = (_key(one["params"][p["name"]]) for p in pair)
            best[tuple(place)] = one
    scores = [one["score"] for one in best.values()] or [0.0]
    shade = Scale(min(scores), max(scores), 0.08, 1.0)
    parts = [_cell(one, across, up, x_of, y_of, shade) for one in best.values()]
    parts += [value_below(text, x_of(v), height - 28) for text, v in _labels(across)]
    parts += [
        words(short(text, 10), 72, y_of(v) + 4, class_="tick", text_anchor="end")
        for text, v in _labels(up)
    ]
    parts.append(words(short(up["name"], 30), 4, 9, class_="name"))
    parts.append(_name_below(across["name"], width, height))
    return figure(width, height, f"{metric} over {across['name']} and {up['name']}", *parts)


def _cell(one: Record, across: Record, up: Record, x_of: Any, y_of: Any, shade: Scale) -> str:
    x, y = x_of(one["params"][across["name"]]), y_of(one["params"][up["name"]])
    wide, tall = _size(across, 270), _size(up, 242)
    box = tag(
        "rect",
        hint(f"{one['label']}: {number(one['score'])}"),
        class_=f"cell {_kind(one)}",
        x=x - wide / 2,
        y=y - tall / 2,
        width=wide - 1,
        height=tall - 1,
        fill_opacity=f"{shade(one['score']):.2f}",
    )
    if wide < 44 or tall < 14:
        return box
    strong = "on" if shade(one["score"]) > 0.55 else "off"
    text = words(number(one["score"]), x, y + 4, class_=f"tick {strong}", text_anchor="middle")
    return box + text


def draw_witnesses(scored: Sequence[Record], other: str, name: str) -> str | None:
    """Return V's word over another score; on the dashed line both are the same."""
    both = [o for o in scored if o.get(other) is not None and o.get("augmented") is not None]
    if len(both) < 2:
        return None
    width, height = WIDTH, 260.0
    values = [one[key] for one in both for key in (other, "augmented")]
    x_of, y_of = (Scale.with_room(values, *ends) for ends in ((52, width - 12), (height - 46, 12)))
    parts = [_across(y_of(tick), 44, width - 12, number(tick)) for tick in y_of.ticks()]
    ends = x_of.low, x_of.high
    parts.append(_line("same", x_of(ends[0]), y_of(ends[0]), x_of(ends[1]), y_of(ends[1])))
    for one in reversed(both):
        said = hint(f"{one['label']}: {number(one['augmented'])} on V, {number(one[other])} {name}")
        place = {"cx": x_of(one[other]), "cy": y_of(one["augmented"]), "r": 4}
        parts.append(tag("circle", said, class_=f"dot {_kind(one)}", **place))
    parts += [value_below(number(tick), x_of(tick), height - 28) for tick in x_of.ticks()]
    parts.append(_name_below(name, width, height))
    return figure(width, height, f"Score on V over {name}", *parts)


def _most_varied(params: Sequence[Record]) -> list[Record]:
    return sorted(params, key=lambda p: -len(p["values"]))[:3]


def _kind(one: Record) -> str:
    return "won" if one["best"] else "near" if one.get("contender") else "other"


def _key(value: Any) -> tuple[str, Any]:
    """Return what tells values apart: 1 and 1.0 are one, 1 and True are two."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number", float(value)
    return type(value).__name__, value


def _places(param: Record, start: float, end: float) -> Callable[[Any], float]:
    """Return where the values of a parameter stand: numbers by size, others one by one."""
    if param["numbers"]:
        return Scale.of(param["values"], start, end)
    return _one_by_one(param, start, end)


def _cells(param: Record, start: float, end: float) -> Callable[[Any], float]:
    """Return the middle of each value's cell; many numbers stand by their size."""
    inset = (end - start) / (2 * _n_cells(param))
    if param["numbers"] and len(param["values"]) > MOST_CELLS:
        return Scale.of(param["values"], start + inset, end - inset)
    return _one_by_one(param, start + inset, end - inset)


def _one_by_one(param: Record, start: float, end: float) -> Callable[[Any], float]:
    keys = [_key(value) for value in param["values"]]
    scale = Scale(0, len(keys) - 1, start, end)
    return lambda value: scale(keys.index(_key(value)))


def _n_cells(param: Record) -> int:
    return min(len(param["values"]), 2 * MOST_CELLS)


def _size(param: Record, length: float) -> float:
    return length / _n_cells(param)


def _labels(param: Record, most: int = 6) -> list[tuple[str, Any]]:
    """Return the values that are written beside an axis."""
    values = param["values"]
    every = -(-len(values) // most)
    chosen = list(values[::every])
    if values[-1] not in chosen and every > 1:
        chosen[-1] = values[-1]
    return [(number(v) if param["numbers"] else short(v, 12), v) for v in chosen]


def _dot(one: Record, x: float, scale: Scale) -> str:
    said = hint(f"{one['label']}: {number(one['score'])}")
    return tag("circle", said, class_=f"dot {_kind(one)}", cx=x, cy=scale(one["score"]), r=4)


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return tag("line", class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def _rule(x: float, top: float, bottom: float) -> str:
    return _line("rule", x, top, x, bottom)


def _across(y: float, left: float, right: float, text: str) -> str:
    label = words(text, left - 4, y + 4, class_="tick", text_anchor="end")
    return _line("rule", left, y, right, y) + label


def _name_below(name: str, width: float, height: float) -> str:
    return words(short(name, 50), width / 2, height - 8, class_="name", text_anchor="middle")


def _ticks_below(scale: Scale, y: float, name: str) -> list[str]:
    ticks = [value_below(number(tick), scale(tick), y) for tick in scale.ticks()]
    return [*ticks, words(name, WIDTH / 2, y + 14, class_="name", text_anchor="middle")]
