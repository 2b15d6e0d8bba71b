"""Where the numbers of a column cannot go: beyond zero, or beyond one."""

from dataclasses import dataclass

import numpy as np

from leavezero._typing import Floats


@dataclass(frozen=True, eq=False)
class Borders:
    """The least and the most that columns may hold.

    A column without negative numbers does not go below its least, one without positive numbers
    not above its most, and shares, which are from zero to one, do neither. What has both signs
    may go anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> Borders.of(np.array([[0.5, -1.0, 3.0], [2.0, 1.0, 7.0]])).kept(np.full((1, 3), -5.0))
    array([[ 0.5, -5. ,  3. ]])
    """

    low: Floats
    high: Floats

    @classmethod
    def of(cls, columns: Floats) -> "Borders":
        """Learn the borders from given numbers; missing ones are left out."""
        least, most = np.fmin.reduce(columns, axis=0), np.fmax.reduce(columns, axis=0)
        shares = (least >= 0) & (most <= 1)
        low = np.where(least >= 0, least, -np.inf)
        return cls(low, np.where(shares | (most <= 0), most, np.inf))

    def kept(self, numbers: Floats) -> Floats:
        """Return numbers of such columns, those beyond a border at the border."""
        if np.isinf(self.low).all() and np.isinf(self.high).all():
            return numbers
        return np.clip(numbers, self.low, self.high)
