"""From which figure on a finding is a note, and from which a warning.

Set on one half of the data sets of the regret study and checked on the other (docs/trust.md).
"""

from dataclasses import dataclass

from leavezero.trust._finding import Level


@dataclass(frozen=True)
class Limits:
    """Where a note begins, and where a warning, if ever; of some figures the low ones are bad.

    Examples
    --------
    >>> from leavezero.trust import Limits
    >>> Limits(30, 10, falling=True).level(20)
    'note'
    """

    note: float
    warning: float | None
    falling: bool = False

    def level(self, figure: float) -> Level:
        """Return the level of a figure."""
        sign = -1.0 if self.falling else 1.0
        if self.warning is not None and sign * figure >= sign * self.warning:
            return "warning"
        return "note" if sign * figure >= sign * self.note else "ok"


LIMITS = {
    "LZ01": Limits(0.001, 0.01),  # nats beyond what counting alone gives
    "LZ02": Limits(0.70, None),  # area under the curve of who tells V from the data
    "LZ03": Limits(0.90, 0.70, falling=True),  # distance to the data, beside that of fresh rows
    "LZ04": Limits(0.1, 0.3),  # optimism as a share of what the winner is above chance
    "LZ05": Limits(0.9, 0.5, falling=True),  # share of resamples in which the winner wins
    "LZ06": Limits(0.6, None, falling=True),  # rank correlation of two witnesses
    "LZ07": Limits(1.0, None),  # parameters at the edge
    "LZ08": Limits(29, 9, falling=True),  # rows of the smallest class
    "LZ10": Limits(0.2, 0.4),  # standard errors that the luck on V is worth
    "LZ12": Limits(0.2, None),  # share of the word on V's labels
}


# Whose warnings tell of a larger regret (docs/trust.md); with confirm="auto" they ask for folds.
ALARMS = ("LZ03", "LZ05", "LZ10")


def level_of(code: str, figure: float) -> Level:
    """Return the level of a finding's figure.

    Parameters
    ----------
    code : str
        The finding.
    figure : float
        Its figure, as :class:`Finding` has it.

    Examples
    --------
    >>> from leavezero.trust import level_of
    >>> level_of("LZ08", 5), level_of("LZ08", 50)
    ('warning', 'ok')
    """
    return LIMITS[code].level(figure)
