"""One line of a trust report."""

import math
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warning", "not applicable"]

TITLES = {
    "LZ01": "label marginal",
    "LZ02": "realism",
    "LZ03": "leakage",
    "LZ04": "optimism",
    "LZ05": "stability",
    "LZ06": "agreement",
    "LZ07": "edge of the grid",
    "LZ08": "small classes",
    "LZ09": "bound",
    "LZ10": "winner's curse",
    "LZ11": "exchangeable rows",
    "LZ12": "teachers of the winner's kind",
}


@dataclass(frozen=True)
class Finding:
    """What was found about one way in which a score can mislead.

    Parameters
    ----------
    code : str
        "LZ01" to "LZ12".
    level : "ok", "note", "warning" or "not applicable"
        A warning asks for something to be done; a note is worth knowing.
    sentence : str
        What was found, with its figure.
    figure : float or None
        The figure itself; None where there is none.
    advice : str or None
        What to do; None if nothing.

    Examples
    --------
    >>> from leavezero.trust import Finding
    >>> Finding("LZ08", "ok", "The smallest class has 50 rows.", 50.0).title
    'small classes'
    """

    code: str
    level: Level
    sentence: str
    figure: float | None = None
    advice: str | None = None

    @property
    def title(self) -> str:
        """What the finding is about, in two or three words."""
        return TITLES[self.code]


def not_applicable(code: str, why: str) -> Finding:
    """Return the finding that there is nothing to find, and why."""
    return Finding(code, "not applicable", why)


def score_text(figure: float) -> str:
    """Return a score as people read it: four decimals, or four digits where those say nothing.

    Parameters
    ----------
    figure : float
        The score.

    Examples
    --------
    >>> from leavezero.trust import score_text
    >>> score_text(0.98765), score_text(-1234567.8), score_text(0.0000123)
    ('0.9877', '-1.235e+06', '1.23e-05')
    """
    four_decimals = figure == 0 or not math.isfinite(figure) or 1e-3 <= abs(figure) < 1e5
    return f"{figure:.4f}" if four_decimals else f"{figure:.4g}"
