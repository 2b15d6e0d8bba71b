"""All findings about one search, for people and for programs."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from leavezero.trust._finding import Finding, Level

_MARKS: dict[Level, str] = {"ok": "ok", "note": "note", "warning": "WARN", "not applicable": "-"}
# From the cheapest cure to the dearest: what costs no fit comes first.
_CURES = ("LZ07", "LZ01", "LZ02", "LZ03", "LZ04", "LZ05", "LZ06", "LZ10", "LZ08", "LZ11")


@dataclass(frozen=True)
class TrustReport:
    """What the score of a search can be believed for, finding by finding.

    Parameters
    ----------
    findings : tuple of Finding
        In the order of their codes.
    seconds : float
        What the report took.
    n_fits : int
        How many candidates were fitted for it.

    Examples
    --------
    >>> from leavezero.trust import Finding, TrustReport
    >>> small = Finding("LZ08", "warning", "The smallest class has 2 rows.", 2.0, "Use folds.")
    >>> report = TrustReport((small,), seconds=0.1)
    >>> [finding.code for finding in report.warnings], report.next_step
    (['LZ08'], 'Use folds.')
    >>> print(report)
    WARN  LZ08  small classes  The smallest class has 2 rows. Use folds.
    What to do next: Use folds.
    The report took 0.1 s and no fits.
    """

    findings: tuple[Finding, ...]
    seconds: float
    n_fits: int = 0

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, code: str) -> Finding:
        found = {finding.code: finding for finding in self.findings}
        if code not in found:
            raise KeyError(f"{code!r} is no finding of this report. It has {', '.join(found)}.")
        return found[code]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that ask for something to be done."""
        return tuple(finding for finding in self.findings if finding.level == "warning")

    @property
    def next_step(self) -> str | None:
        """The cheapest cure for what is warned of; None if nothing is."""
        cures = {f.code: f.advice for f in self.warnings if f.advice is not None}
        return next((cures[code] for code in _CURES if code in cures), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "findings": [asdict(f) | {"title": f.title} for f in self.findings],
            "next_step": self.next_step,
            "seconds": self.seconds,
            "n_fits": self.n_fits,
        }

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each finding."""
        import pandas as pd  # only where a frame is wanted

        rows = self.to_dict()["findings"]
        columns = ["code", "title", "level", "figure", "sentence", "advice"]
        return pd.DataFrame(rows, columns=columns).set_index("code")

    def __str__(self) -> str:
        width = max(len(finding.title) for finding in self.findings)
        lines = [
            f"{_MARKS[f.level]:4}  {f.code}  {f.title:{width}}  {_with_advice(f)}"
            for f in self.findings
        ]
        if self.next_step is not None:
            lines.append(f"What to do next: {self.next_step}")
        return "\n".join([*lines, self.cost])

    @property
    def cost(self) -> str:
        """What the report took, as a sentence."""
        fits = {0: "no fits", 1: "1 fit"}.get(self.n_fits, f"{self.n_fits} fits")
        return f"The report took {self.seconds:.1f} s and {fits}."

    def to_html(self) -> str:
        """Return an HTML fragment: a table of the findings and what to do next."""
        rows = "".join(_html_row(finding) for finding in self.findings)
        head = "".join(f'<th scope="col">{name}</th>' for name in ("", "Finding", "What was found"))
        step = ""
        if self.next_step is not None:
            step = f"<p><strong>What to do next:</strong> {escape(self.next_step)}</p>"
        return (
            '<div class="leavezero-trust"><table>'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"{step}<p>{escape(self.cost)}</p></div>"
        )

    def _repr_html_(self) -> str:
        return self.to_html()


def _with_advice(finding: Finding) -> str:
    needed = finding.level == "warning" and finding.advice is not None
    return f"{finding.sentence} {finding.advice}" if needed else finding.sentence


def _html_row(finding: Finding) -> str:
    kind = finding.level.replace(" ", "-")
    return (
        f'<tr class="{kind}"><td>{escape(finding.level)}</td>'
        f'<th scope="row">{finding.code} {escape(finding.title)}</th>'
        f"<td>{escape(_with_advice(finding))}</td></tr>"
    )
