"""The figures of V beside the data, drawn from counts as SVG."""

from collections.abc import Mapping, Sequence
from typing import Any

from leavezero.report._svg import WIDTH, Scale, figure, number, short, tag, value_below, words

Record = Mapping[str, Any]


def draw_sides(validation: Record | None) -> dict[str, Any]:
    """Return V beside the data: the two densities, and a histogram for each class."""
    found: dict[str, Any] = {"densities": [], "histograms": [], "target": None}
    if validation is None:
        return found
    plane = validation.get("projection")
    if plane is not None:
        points = validation.get("points") or {}
        for key, name in (("given", "the data"), ("drawn", "V")):
            found["densities"].append(_density(plane, key, name, points.get(key, ())))
    for one in validation.get("histograms", ()):
        found["histograms"].append(_histogram(one, f"First component, {one['label']}"))
    if validation.get("target") is not None:
        found["target"] = _histogram(validation["target"], "The target")
    return found


def _density(plane: Record, key: str, name: str, points: Sequence[Sequence[float]]) -> str:
    side = 300.0
    x_edges, y_edges = plane["x_edges"], plane["y_edges"]
    x_of = Scale(x_edges[0], x_edges[-1], 6, side - 6)
    y_of = Scale(y_edges[0], y_edges[-1], side - 22, 6)
    most = max(share for which in ("given", "drawn") for row in plane[which] for share in row)
    parts = [tag("rect", class_="ground", x=6, y=6, width=side - 12, height=side - 28)]
    for i, row in enumerate(plane[key]):
        for j, share in enumerate(row):
            if share > 0:
                box = {"x": x_of(x_edges[i]), "y": y_of(y_edges[j + 1])}
                box["width"] = x_of(x_edges[i + 1]) - box["x"]
                box["height"] = y_of(y_edges[j]) - box["y"]
                opacity = f"{0.06 + 0.94 * (share / most) ** 0.5:.2f}"
                parts.append(tag("rect", class_=f"cell {key}", fill_opacity=opacity, **box))
    parts += [tag("circle", class_="row", cx=x_of(x), cy=y_of(y), r=1.5) for x, y in points]
    parts.append(words(name, side / 2, side - 6, class_="name", text_anchor="middle"))
    return figure(side, side, f"Where the rows of {name} lie, in two components", *parts)


def _histogram(one: Record, title: str) -> str:
    width, height = WIDTH, 150.0
    edges, top = one["edges"], max(*one["given"], *one["drawn"], 1e-12)
    x_of = Scale(edges[0], edges[-1], 10, width - 10)
    y_of = Scale(0.0, top, height - 32, 24)
    bars = []
    for at, share in enumerate(one["drawn"]):
        x, y = x_of(edges[at]), y_of(share)
        size = {"width": x_of(edges[at + 1]) - x, "height": y_of(0) - y}
        bars.append(tag("rect", class_="cell drawn", x=x, y=y, fill_opacity="0.55", **size))
    steps = [f"{x_of(edges[0]):.1f},{y_of(0):.1f}"]
    for at, share in enumerate(one["given"]):
        steps += [f"{x_of(edges[at + k]):.1f},{y_of(share):.1f}" for k in (0, 1)]
    steps.append(f"{x_of(edges[-1]):.1f},{y_of(0):.1f}")
    outline = tag("polyline", class_="outline", points=" ".join(steps))
    name = words(short(title, 48), 10, 14, class_="name")
    ticks = [value_below(number(tick), x_of(tick), height - 16) for tick in x_of.ticks()]
    return figure(
        width, height, f"{title}: V filled, the data outlined", *bars, outline, name, *ticks
    )
