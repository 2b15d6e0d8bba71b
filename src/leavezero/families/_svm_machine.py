"""A support vector machine of two classes, or a regression, and the rows that it stands on."""

from dataclasses import dataclass

from leavezero._typing import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Machine:
    """A machine of two classes, or a regression, with what it was fitted to.

    ``rows`` are its rows, ``coefs`` theirs, ``free`` which of these lie between zero and their
    bound; ``rise`` and ``fall`` as in ``Others``; ``worth`` is how far the score of each may sink
    before the row is lost: infinite if it is lost already, zero in a regression, where every change
    counts; ``bounds`` are those of the coefficients, ``off`` how far each row is from each kink of
    the loss, a column each.
    """

    rows: Ints
    coefs: Floats
    free: Bools
    rise: Floats
    fall: Floats
    worth: Floats
    bounds: Floats
    off: Floats

    @property
    def n_held(self) -> int:
        """How many rows support the machine at their bound."""
        return int(((self.coefs != 0.0) & ~self.free).sum())
