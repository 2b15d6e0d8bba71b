"""A summary as a few lines of HTML for a notebook."""

from collections.abc import Mapping
from html import escape
from typing import Any

from leavezero.report._svg import number

_LEVELS = ("warning", "note")  # what is worth a line; the rest is counted


def to_fragment(summary: Mapping[str, Any]) -> str:
    """Return the winner, its margin and the findings, in the notebook's own colors.

    It needs no template engine, so that a notebook shows it with the smallest installation.

    Parameters
    ----------
    summary : mapping
        What :func:`summarize` returned.

    Returns
    -------
    str

    Examples
    --------
    >>> from leavezero.report import summarize, to_fragment
    >>> results = {"params": [{"C": 1}, {"C": 10}], "mean_test_score": [0.8, 0.9]}
    >>> "<strong>C=10</strong>" in to_fragment(summarize(results, best=1))
    True
    """
    lines = [*_choice(summary), *_findings(summary["trust"])]
    return (
        '<div class="leavezero-search" style="border-left: 4px solid currentColor; '
        f'padding: 2px 12px; margin: 6px 0; max-width: 60em;">{"".join(lines)}</div>'
    )


def _choice(summary: Mapping[str, Any]) -> list[str]:
    choice = summary["choice"]
    if choice is None:
        return [_line("No candidate was chosen: no metric was named to choose by.")]
    metric = summary["run"]["metric"]
    head = f"<strong>{escape(choice['label'])}</strong>: {escape(metric)} {number(choice['score'])}"
    return [f"<p>{head}</p>", _line(" ".join(choice["sentences"]))]


def _findings(trust: Mapping[str, Any] | None) -> list[str]:
    if trust is None:
        return []
    told = [finding for finding in trust["findings"] if finding["level"] in _LEVELS]
    told.sort(key=lambda finding: _LEVELS.index(finding["level"]))
    items = "".join(f"<li>{_told(finding)}</li>" for finding in told)
    n_fine = sum(finding["level"] == "ok" for finding in trust["findings"])
    lines = [f"<ul>{items}</ul>" if items else "", _line(f"{n_fine} findings are ok.")]
    if trust["next_step"] is not None:
        lines.append(f"<p><strong>What to do next:</strong> {escape(trust['next_step'])}</p>")
    return lines


def _told(finding: Mapping[str, Any]) -> str:
    title = f"{finding['code']} {finding['title']}"
    return f"<b>{finding['level']}</b> {escape(title)}: {escape(finding['sentence'])}"


def _line(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""
