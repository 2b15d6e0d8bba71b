"""A summary as a self-contained HTML page, or as an HTML fragment for notebooks."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from leavezero.diagnostics import format_score
from leavezero.report._plots import import_extra, page_figures
from leavezero.report._summarize import BASELINE, format_number

MAX_CANDIDATES = 2_000  # that are listed
_SCORE_TITLES = {
    "low": "95 % low",
    "high": "95 % high",
    "validation": "validation",
    "loo": "LOO",
    "train": "training",
    "cv": "CV",
}
_OTHER_TITLES = {
    "iter": "round",
    "n_resources": "resources",
    "fit_seconds": "fit, s",
    "score_seconds": "score, s",
}


def to_html(summary: Mapping[str, Any]) -> str:
    """Return a summary as an HTML page that opens from disk, uses no network and can be printed.

    Every text of the summary is escaped, and the content security policy of the page allows no
    other script than its own, which only sorts and filters the table. Requires jinja2 and
    matplotlib (``pip install "leavezero[app]"``).
    """
    jinja2 = import_extra("jinja2", "The HTML report")
    markup = import_extra("markupsafe", "The HTML report").Markup
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": format_number, "score": format_score}
    script = _read("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    figures = {
        part: [(title, markup(svg)) for title, svg in found]
        for part, found in page_figures(summary).items()
    }
    page: str = environment.from_string(_read("report.html.j2")).render(
        summary=summary,
        tables=candidate_tables(summary),
        n_omitted=max(0, len(summary["candidates"]) - MAX_CANDIDATES),
        baseline_name=BASELINE,
        figures=figures,
        style=markup(_read("report.css")),
        script=markup(script),
        script_hash=digest,
    )
    return page


def candidate_tables(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return headings and rows of the candidates of each model type, without empty columns."""
    candidates = summary["candidates"][:MAX_CANDIDATES]
    names = dict.fromkeys(one["type"] for one in candidates)
    return [_table(summary, [one for one in candidates if one["type"] == name]) for name in names]


def _table(summary: Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    known = {name for one in own for name, value in one.items() if value is not None}
    scores, others = (
        {name: title for name, title in titles.items() if name in known}
        for titles in (_SCORE_TITLES, _OTHER_TITLES)
    )
    params = list(dict.fromkeys(name for one in own for name in one["params"]))
    metrics = list(own[0]["metrics"])

    def cells(place: int, one: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        yield _cell(one.get("rank") or place)
        yield from (_cell(one["params"].get(name, "")) for name in params)
        for score in [one["score"], *(one[name] for name in scores), *one["metrics"].values()]:
            yield {"text": format_score(score), "sort": score, "numeric": True}
        yield from (_cell(one[name]) for name in others)

    rows = [
        {"cells": list(cells(place, one)), "kind": "best" if one["best"] else "tied" * one["tied"]}
        for place, one in enumerate(own, start=1)
    ]
    metric = summary["run"]["metric"]
    heads = ["rank", *params, metric, *scores.values(), *metrics, *others.values()]
    return {"name": own[0]["type"], "heads": heads, "rows": rows}


def _cell(value: Any) -> dict[str, Any]:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    text = format_number(value) if numeric else str(value)
    return {"text": text, "sort": value if numeric else None, "numeric": numeric}


def _read(name: str) -> str:
    folder = resources.files("leavezero.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def to_fragment(summary: Mapping[str, Any]) -> str:
    """Return the selected candidate and the checks of a summary as HTML for notebooks."""
    return (
        '<div class="leavezero-search" style="border-left: 4px solid currentColor; '
        f'padding: 2px 12px; margin: 6px 0; max-width: 60em;">{"".join(_fragment(summary))}</div>'
    )


def _fragment(summary: Mapping[str, Any]) -> Iterator[str]:
    selection, diagnostics = summary["selection"], summary["diagnostics"]
    if selection is None:
        yield "<p>No candidate was selected: refit names no metric.</p>"
    else:
        metric, score = escape(summary["run"]["metric"]), format_number(selection["score"])
        yield f"<p><strong>{escape(selection['label'])}</strong>: {metric} {score}</p>"
        if selection["sentences"]:
            yield f"<p>{escape(' '.join(selection['sentences']))}</p>"
    if diagnostics is not None:
        checks = diagnostics["checks"]
        items = [
            f"<li><b>{level}</b> {escape('{code} {title}: {message}'.format(**check))}</li>"
            for level in ("warning", "note")
            for check in checks
            if check["level"] == level
        ]
        if items:
            yield f"<ul>{''.join(items)}</ul>"
        yield f"<p>{sum(check['level'] == 'ok' for check in checks)} checks are ok.</p>"
        if diagnostics["next_step"] is not None:
            yield f"<p><strong>Next step:</strong> {escape(diagnostics['next_step'])}</p>"
