"""One check of a search: its level, thresholds, title and advice."""

import math
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warning", "not applicable"]

TITLES = {
    "LZ01": "label distribution",
    "LZ02": "two-sample test",
    "LZ03": "leakage",
    "LZ04": "permuted labels",
    "LZ05": "stability",
    "LZ06": "rank agreement",
    "LZ07": "boundary of the grid",
    "LZ08": "small classes",
    "LZ09": "risk bound",
    "LZ10": "selection bias",
    "LZ11": "exchangeable rows",
    "LZ12": "label models",
}

# Warnings of these checks go with a larger regret in the diagnostics study, or (LZ11) with a
# violated assumption. The other checks are details.
MAIN_CODES = ("LZ03", "LZ04", "LZ05", "LZ08", "LZ10", "LZ11")

# Checks with measured power that need no additional fit.
WARNING_CODES = ("LZ03", "LZ05", "LZ10")

CV_FINALISTS = "Cross-validate the best candidates: cv_finalists=5."
OTHER_AUGMENTER = 'Use another augmenter, for example augmenter="auto".'


@dataclass(frozen=True)
class Check:
    """Result of one check.

    Parameters
    ----------
    code : "LZ01" to "LZ12"
    level : "ok", "note" (information), "warning" (requires an action) or "not applicable"
    message : what was measured and what it means
    value : the measured value, or None
    advice : what to do, or None

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
    def is_detail(self) -> bool:
        """Whether warnings of this check did not go with worse selections when measured."""
        return self.code not in MAIN_CODES

    @property
    def text(self) -> str:
        """The message, and for a warning the advice."""
        needs_action = self.level == "warning" and self.advice is not None
        return f"{self.message} {self.advice}" if needs_action else self.message


@dataclass(frozen=True)
class Thresholds:
    """Values from which on a check is a note or a warning (None: never).

    Examples
    --------
    >>> from leavezero.diagnostics import Thresholds
    >>> Thresholds(30, 10, low_is_bad=True).level(20)
    'note'
    """

    note: float
    warning: float | None
    low_is_bad: bool = False

    def level(self, value: float) -> Level:
        """Return the level of a measured value."""
        sign = -1.0 if self.low_is_bad else 1.0
        if self.warning is not None and sign * value >= sign * self.warning:
            return "warning"
        return "note" if sign * value >= sign * self.note else "ok"


# Set on one half of the data sets of the diagnostics study and tested on the other half.
THRESHOLDS = {
    "LZ01": Thresholds(0.001, 0.01),  # nats above the expected sampling error
    "LZ02": Thresholds(0.70, None),  # ROC AUC of the classifier of both samples
    "LZ03": Thresholds(0.90, 0.70, low_is_bad=True),  # distance relative to training rows
    "LZ04": Thresholds(0.1, 0.3),  # share of the best candidate's margin above chance
    "LZ05": Thresholds(0.9, 0.5, low_is_bad=True),  # share of resamples in which the best is first
    "LZ06": Thresholds(0.6, None, low_is_bad=True),  # rank correlation
    "LZ07": Thresholds(1.0, None),  # parameters on the boundary
    "LZ08": Thresholds(29, 9, low_is_bad=True),  # rows of the smallest class
    "LZ10": Thresholds(0.2, 0.4),  # selection bias in standard errors
    "LZ12": Thresholds(0.2, None),  # share of the labels
}


def severity(code: str, value: float) -> Level:
    """Return the level of a measured value of the check with this code.

    Parameters
    ----------
    code : str
        Such as "LZ08".
    value : float
        The measured value.

    Examples
    --------
    >>> from leavezero.diagnostics import severity
    >>> severity("LZ08", 5), severity("LZ08", 50)
    ('warning', 'ok')
    """
    return THRESHOLDS[code].level(value)


def measured(code: str, value: float, message: str, advice: str) -> Check:
    """Return a check with the level of its value, and with advice unless it is ok."""
    level = severity(code, value)
    return Check(code, level, message, value, None if level == "ok" else advice)


def not_applicable(code: str, reason: str) -> Check:
    """Return a check that could not be made, with the reason."""
    return Check(code, "not applicable", reason)


def format_score(score: float) -> str:
    """Format a score with four decimals, or with four digits if it is very small or large.

    Parameters
    ----------
    score : float
        Any number.

    Examples
    --------
    >>> from leavezero.diagnostics import format_score
    >>> format_score(0.98765), format_score(-1234567.8), format_score(0.0000123)
    ('0.9877', '-1.235e+06', '1.23e-05')
    """
    four_decimals = score == 0 or not math.isfinite(score) or 1e-3 <= abs(score) < 1e5
    return f"{score:.4f}" if four_decimals else f"{score:.4g}"
