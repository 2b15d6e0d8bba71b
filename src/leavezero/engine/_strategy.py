"""What a strategy and the engine say to each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from leavezero._typing import Ints
from leavezero.engine._plan import Candidate

if TYPE_CHECKING:
    from leavezero.engine._run import Record


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate to be fitted and scored, and its row in the table of results.

    A later trial with the same row takes its place.
    """

    candidate: Candidate
    row: int
    rows: Ints | None = field(default=None, repr=False)  # of the data; None for all
    may_win: bool = True  # fitted as the model that is handed back would be
    round: int = 0  # the last one reached stands in where a search is ended before any may win
    passes: int | None = None  # over the data by partial_fit; None for one fit
    model: Any = field(default=None, repr=False)  # what the passes go on with
    columns: Mapping[str, Any] = field(default_factory=dict)  # more columns of the table


class Strategy(Protocol):
    """Proposes trials, round by round, and is told what came of them."""

    @property
    def n_trials(self) -> int:
        """How many trials there will be at most; for progress and memory."""

    def ask(self) -> Sequence[Trial]:
        """Return the trials of the next round; none at the end."""

    def tell(self, records: "Sequence[Record]") -> None:
        """Hear the records of the last round, in the order of its trials."""


class AllAtOnce:
    """Every candidate in one round, and none twice."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        if not candidates:
            raise ValueError(
                "A search got no candidates: AllAtOnce must be given at least one, got none. "
                "Name a candidate."
            )
        different = dict.fromkeys(candidates)  # equal ones of a planner are one object
        self._left = [Trial(candidate, row) for row, candidate in enumerate(different)]
        self.n_trials = len(self._left)

    def ask(self) -> Sequence[Trial]:
        """Return all trials, once."""
        asked, self._left = self._left, []
        return asked

    def tell(self, records: "Sequence[Record]") -> None:
        """Learn nothing: there is no second round."""
