"""A summary as a few lines of HTML for notebooks, without further dependencies."""

from collections.abc import Mapping
from html import escape
from typing import Any

from leavezero.report._format_value import format_number

_SHOWN_LEVELS = ("warning", "note")  # other checks are only counted


def to_fragment(summary: Mapping[str, Any]) -> str:
    """Return the selected candidate, its margin and the checks as an HTML fragment.

    Parameters
    ----------
    summary : mapping
        The result of :func:`summarize`.

    Returns
    -------
    str

    Examples
    --------
    >>> from leavezero.report import summarize, to_fragment
    >>> table = {"params": [{"C": 1}, {"C": 10}], "mean_test_score": [0.8, 0.9]}
    >>> "<strong>C=10</strong>" in to_fragment(summarize(table, best=1))
    True
    """
    lines = [*_selection_lines(summary), *_check_lines(summary["diagnostics"])]
    return (
        '<div class="leavezero-search" style="border-left: 4px solid currentColor; '
        f'padding: 2px 12px; margin: 6px 0; max-width: 60em;">{"".join(lines)}</div>'
    )


def _selection_lines(summary: Mapping[str, Any]) -> list[str]:
    selection = summary["selection"]
    if selection is None:
        return ["<p>No candidate was selected: refit names no metric.</p>"]
    metric, score = escape(summary["run"]["metric"]), format_number(selection["score"])
    lines = [f"<p><strong>{escape(selection['label'])}</strong>: {metric} {score}</p>"]
    if selection["sentences"]:
        lines.append(f"<p>{escape(' '.join(selection['sentences']))}</p>")
    return lines


def _check_lines(diagnostics: Mapping[str, Any] | None) -> list[str]:
    if diagnostics is None:
        return []
    checks = [check for check in diagnostics["checks"] if check["level"] in _SHOWN_LEVELS]
    checks.sort(key=lambda check: _SHOWN_LEVELS.index(check["level"]))
    items = [
        f"<li><b>{check['level']}</b> {escape(check['code'])} {escape(check['title'])}: "
        f"{escape(check['message'])}</li>"
        for check in checks
    ]
    lines = [f"<ul>{''.join(items)}</ul>"] if items else []
    n_ok = sum(check["level"] == "ok" for check in diagnostics["checks"])
    lines.append(f"<p>{n_ok} checks are ok.</p>")
    if diagnostics["next_step"] is not None:
        lines.append(f"<p><strong>Next step:</strong> {escape(diagnostics['next_step'])}</p>")
    return lines
