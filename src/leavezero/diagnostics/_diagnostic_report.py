"""The results of all checks of one search, as text, HTML, dict and data frame."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from leavezero.diagnostics._check import Check

# Advice in the order of its cost: first what needs no additional fit.
BY_COST = ("LZ07", "LZ01", "LZ02", "LZ03", "LZ04", "LZ05", "LZ06", "LZ10", "LZ08", "LZ11")


@dataclass(frozen=True, repr=False)
class DiagnosticReport:
    """Results of the checks of one search.

    Parameters
    ----------
    checks : tuple of Check, in the order of their codes
    seconds : the time that the checks took
    n_fits : the number of candidates that were fitted for the checks

    Examples
    --------
    >>> from leavezero.diagnostics import Check, DiagnosticReport
    >>> small = Check("LZ08", "warning", "The smallest class has 2 rows.", 2.0, "Collect more.")
    >>> labels = Check("LZ01", "ok", "Same label distribution.", 0.0)
    >>> report = DiagnosticReport((labels, small), seconds=0.1)
    >>> report
    DiagnosticReport(2 checks: 1 warning, 0 notes)
    >>> print(report)
    WARNING  LZ08  small classes  The smallest class has 2 rows. Collect more.
    Next step: Collect more.
    1 check is in summary(details=True). The checks took 0.1 s and 0 fits.
    """

    checks: tuple[Check, ...]
    seconds: float
    n_fits: int = 0

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __getitem__(self, code: str) -> Check:
        by_code = {check.code: check for check in self.checks}
        if code not in by_code:
            raise KeyError(f"{code!r} is not in this report, which has {', '.join(by_code)}.")
        return by_code[code]

    @property
    def warnings(self) -> tuple[Check, ...]:
        """The checks that require an action."""
        return tuple(check for check in self.checks if check.level == "warning")

    @property
    def next_step(self) -> str | None:
        """The advice with the lowest cost among all warnings; None without warnings."""
        advice = {check.code: check.advice for check in self.warnings if check.advice is not None}
        return next((advice[code] for code in BY_COST if code in advice), None)

    @property
    def cost(self) -> str:
        """The time and the number of fits as a sentence."""
        fits = "1 fit" if self.n_fits == 1 else f"{self.n_fits} fits"
        return f"The checks took {self.seconds:.1f} s and {fits}."

    def summary(self, *, details: bool = False) -> str:
        """Return the report as text, with ``details`` also checks without measured power.

        Their warnings are always included.
        """
        shown = [check for check in self.checks if details or _is_shown(check)]
        width = max((len(check.title) for check in shown), default=0)
        lines = []
        for check in shown:
            level = {"warning": "WARNING", "not applicable": "-"}.get(check.level, check.level)
            lines.append(f"{level:7}  {check.code}  {check.title:{width}}  {check.text}")
        if self.next_step is not None:
            lines.append(f"Next step: {self.next_step}")
        n_hidden = len(self.checks) - len(shown)
        hidden = "1 check is" if n_hidden == 1 else f"{n_hidden} checks are"
        more = f"{hidden} in summary(details=True). " if n_hidden else ""
        return "\n".join([*lines, more + self.cost])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict of JSON values."""
        checks = [asdict(c) | {"title": c.title, "is_detail": c.is_detail} for c in self.checks]
        totals = {"seconds": self.seconds, "n_fits": self.n_fits}
        return {"checks": checks, "next_step": self.next_step, **totals}

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per check."""
        import pandas as pd  # not required to import the package

        columns = ["code", "title", "level", "value", "message", "advice"]
        return pd.DataFrame(self.to_dict()["checks"], columns=columns).set_index("code")

    def to_html(self) -> str:
        """Return an HTML fragment with a table of the checks; details are collapsed."""
        shown = [check for check in self.checks if _is_shown(check)]
        hidden = [check for check in self.checks if not _is_shown(check)]
        more = f"<details><summary>Details</summary>{_table(hidden)}</details>" if hidden else ""
        step = f"<p><strong>Next step:</strong> {escape(self.next_step or '')}</p>"
        return (
            f'<div class="leavezero-diagnostics">{_table(shown)}'
            f"{step if self.next_step else ''}{more}<p>{escape(self.cost)}</p></div>"
        )

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        counts = {
            level: sum(c.level == level for c in self.checks) for level in ("warning", "note")
        }
        texts = [f"{n} {level}{'' if n == 1 else 's'}" for level, n in counts.items()]
        return f"DiagnosticReport({len(self.checks)} checks: {', '.join(texts)})"

    def _repr_html_(self) -> str:
        return self.to_html()


def _is_shown(check: Check) -> bool:
    return not check.is_detail or check.level == "warning"


def _table(checks: list[Check]) -> str:
    rows = "".join(
        f'<tr class="{check.level.replace(" ", "-")}"><td>{check.level}</td>'
        f'<th scope="row">{check.code} {escape(check.title)}</th>'
        f"<td>{escape(check.text)}</td></tr>"
        for check in checks
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Level", "Check", "Result"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
