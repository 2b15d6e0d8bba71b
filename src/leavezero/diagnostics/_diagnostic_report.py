"""Results of the checks of a search: levels, thresholds, titles, and the report of all."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal

Level = Literal["ok", "note", "warning", "not applicable"]

TITLES = {
    "LZ01": "label distribution",
    "LZ03": "leakage",
    "LZ04": "permuted labels",
    "LZ05": "stability",
    "LZ07": "boundary of the grid",
    "LZ08": "small classes",
    "LZ10": "selection bias",
    "LZ11": "exchangeable rows",
    "LZ12": "label models",
    "LZ13": "held-out scores",
}

# Shown by summary() at every level; the others are details, shown only if they warn.
MAIN_CODES = ("LZ03", "LZ04", "LZ05", "LZ08", "LZ10", "LZ11", "LZ13")

CV_FINALISTS = "Cross-validate the best candidates: cv_finalists=5."
OTHER_AUGMENTER = 'Use another augmenter, for example augmenter="auto".'


@dataclass(frozen=True)
class Check:
    """Result of one check.

    Parameters
    ----------
    code : "LZ01" to "LZ13"
    level : "ok", "note" (information), "warning" (requires an action) or "not applicable"
    message : what was measured and what it means
    value : the measured value, or None, default=None
    advice : what to do, or None, default=None

    Examples
    --------
    >>> from leavezero.diagnostics import Check
    >>> check = Check("LZ08", "ok", "The smallest class has 50 rows.", 50.0)
    >>> check.title, check.is_detail
    ('small classes', False)
    """

    code: str
    level: Level
    message: str
    value: float | None = None
    advice: str | None = None

    @property
    def title(self) -> str:
        """The subject of the check."""
        return TITLES[self.code]

    @property
    def page(self) -> str:
        """The section of the documentation that describes the check."""
        return f"docs/diagnostics.md#{self.code.lower()}-{self.title.replace(' ', '-')}"

    @property
    def is_detail(self) -> bool:
        """Whether ``summary`` leaves the check out unless it warns."""
        return self.code not in MAIN_CODES

    @property
    def text(self) -> str:
        """The message, and for a warning the advice."""
        needs_action = self.level == "warning" and self.advice is not None
        return f"{self.message} {self.advice}" if needs_action else self.message


@dataclass(frozen=True)
class Thresholds:
    """Values from which on a check is a note or a warning (None: never)."""

    note: float
    warning: float | None
    low_is_bad: bool = False

    def level(self, value: float) -> Level:
        """Return the level of a measured value."""
        sign = -1.0 if self.low_is_bad else 1.0
        if self.warning is not None and sign * value >= sign * self.warning:
            return "warning"
        return "note" if sign * value >= sign * self.note else "ok"


# experiments/diagnostics_power.py measures how regret differs with and without a warning.
THRESHOLDS = {
    "LZ01": Thresholds(0.001, 0.01),  # nats above the expected sampling error
    "LZ03": Thresholds(0.90, 0.70, low_is_bad=True),  # distance relative to training rows
    "LZ04": Thresholds(0.1, 0.3),  # share of the best candidate's margin above chance
    "LZ05": Thresholds(0.9, 0.5, low_is_bad=True),  # share of resamples in which the best is first
    "LZ07": Thresholds(1.0, None),  # parameters on the boundary
    "LZ08": Thresholds(29, 9, low_is_bad=True),  # rows of the smallest class
    "LZ10": Thresholds(0.2, 0.4),  # selection bias in standard errors
    "LZ12": Thresholds(0.2, None),  # share of the labels
}


def measured(code: str, value: float, message: str, advice: str) -> Check:
    """Return a check with the level of its value, and with advice unless it is ok."""
    level = THRESHOLDS[code].level(value)
    return Check(code, level, message, value, None if level == "ok" else advice)


class NotApplicableError(Exception):
    """Raised by a check that cannot be made, with the reason."""


def format_score(score: float | None, of: float | None = None) -> str:
    """Format a score with four decimals, or four digits if it is very small or large; None: "-".

    A difference is formatted as the score that it is a difference ``of``.
    """
    if score is None:
        return "-"
    size = abs(score if of is None else of)
    four_decimals = size == 0 or not math.isfinite(size) or 1e-3 <= size < 1e5
    return f"{score:.4f}" if four_decimals else f"{score:.4g}"


# Advice in the order of its cost: first what needs no additional fit.
BY_COST = ("LZ01", "LZ03", "LZ13", "LZ04", "LZ05", "LZ10", "LZ08", "LZ11")


@dataclass(frozen=True, repr=False)
class DiagnosticReport:
    """Results of the checks of one search.

    Parameters
    ----------
    checks : tuple of Check, in the order of their codes
    seconds : the time that the checks took
    n_fits : the number of candidates that were fitted for the checks, default=0

    Examples
    --------
    >>> from leavezero.diagnostics import Check, DiagnosticReport
    >>> small = Check("LZ08", "warning", "The smallest class has 2 rows.", 2.0, "Collect more.")
    >>> labels = Check("LZ01", "ok", "Same label distribution.", 0.0)
    >>> report = DiagnosticReport((labels, small), seconds=0.1)
    >>> report
    DiagnosticReport(2 checks: 1 warning, 0 notes)
    >>> print(report)
    WARNING  LZ08  small classes ... Collect more. (docs/diagnostics.md#lz08-small-classes)
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
        """Return the report as text; ``details`` includes minor checks that do not warn."""
        shown = [check for check in self.checks if details or _is_shown(check)]
        width = max((len(check.title) for check in shown), default=0)
        lines = []
        for check in shown:
            level = {"warning": "WARNING", "not applicable": "-"}.get(check.level, check.level)
            page = f" ({check.page})" if check.level == "warning" else ""
            lines.append(f"{level:7}  {check.code}  {check.title:{width}}  {check.text}{page}")
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
        levels = [check.level for check in self.checks]
        counts = [(levels.count(level), level) for level in ("warning", "note")]
        texts = [f"{n} {level}{'' if n == 1 else 's'}" for n, level in counts]
        return f"DiagnosticReport({len(levels)} checks: {', '.join(texts)})"

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
