"""A summary as one HTML page that needs nothing else."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from leavezero.report._figures import draw_all
from leavezero.report._svg import number
from leavezero.report._table import table_of

MOST_CANDIDATES = 2_000  # rows of the page's table
_FILES = {"style": "report.css", "script": "report.js"}


def to_html(summary: Mapping[str, Any]) -> str:
    """Return a page that opens from disk, asks the network for nothing, and prints.

    Every text of the summary is escaped, and the page's own policy lets no script run but its
    own. Needs jinja2, which ``pip install leavezero[app]`` brings.

    Parameters
    ----------
    summary : mapping
        What :func:`summarize` returned.

    Returns
    -------
    str

    Examples
    --------
    >>> from leavezero.report import summarize, to_html
    >>> results = {"params": [{"C": "<b>"}, {"C": "x"}], "mean_test_score": [0.8, 0.9]}
    >>> page = to_html(summarize(results, best=1))
    >>> page.startswith("<!doctype html>"), "<b>" in page
    (True, False)
    """
    jinja2, Markup = _tools()
    files = {name: _read(path) for name, path in _FILES.items()}
    return _template(jinja2).render(
        summary=summary,
        table=table_of(summary, MOST_CANDIDATES),
        figures=_marked(draw_all(summary), Markup),
        script_hash=_hash(files["script"]),
        **{name: Markup(text) for name, text in files.items()},
    )


def _tools() -> tuple[Any, Any]:
    """Return jinja2 and the type of text that it does not escape again."""
    try:
        import jinja2  # extra app
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError(
            "The page needs jinja2, which is not installed. Use pip install 'leavezero[app]'."
        ) from error
    return jinja2, Markup


@cache
def _template(jinja2: Any) -> Any:
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    return environment.from_string(_read("report.html.j2"))


def _marked(figures: Any, markup: Any) -> Any:
    """Return drawings, whose texts are escaped already, as markup."""
    if isinstance(figures, dict):
        return {name: _marked(one, markup) for name, one in figures.items()}
    if isinstance(figures, list):
        return [_marked(one, markup) for one in figures]
    return None if figures is None else markup(figures)


@cache
def _read(name: str) -> str:
    folder = resources.files("leavezero.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """Return by what a browser knows the one script that may run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
