"""What a report is made from: rows, scores and what drew V."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Ints, Params, Table
from leavezero.augment import ValidationSet


@dataclass(frozen=True, eq=False)
class Ballot:
    """The scores of the candidates that could win; one entry for each.

    Parameters
    ----------
    metric : str
        What they are judged by.
    params : list of dict
        What was set in each.
    scores : array of shape (n_candidates,)
        The final scores.
    splits : array of shape (n_candidates, n_replicates)
        The scores on each replicate of V.
    resampled : array of shape (n_candidates, n_resamples)
        The scores over resamples.
    augmented, unseen : array of shape (n_candidates,)
        What V says, and what rows say that a model has not seen; NaN where one says nothing.
    by_member : array of shape (n_members, n_candidates) or None
        What each member of a portfolio says; None if there is one only.
    best : int
        The position of the winner.
    contenders : tuple of int
        The positions of those that cannot be told from the best.
    corrected : float
        The best score without its luck on V.
    standard_error : float
        Of the best score.
    confirmed : bool
        Whether folds have been asked too.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.trust import Ballot
    >>> scores = np.array([0.8, 0.9])
    >>> ballot = Ballot("accuracy", [{}, {}], scores, scores[:, None], scores[:, None],
    ...                 scores, np.full(2, np.nan), None, 1, (1,), 0.9, 0.01)
    >>> ballot.raw
    0.9
    """

    metric: str
    params: Sequence[Params] = field(repr=False)
    scores: Floats
    splits: Floats = field(repr=False)
    resampled: Floats = field(repr=False)
    augmented: Floats = field(repr=False)
    unseen: Floats = field(repr=False)
    by_member: Floats | None = field(repr=False)
    best: int
    contenders: tuple[int, ...]
    corrected: float
    standard_error: float
    confirmed: bool = False

    @property
    def raw(self) -> float:
        """The winner's score as it was chosen by."""
        return float(self.scores[self.best])


@dataclass(frozen=True)
class Optimism:
    """What V says of candidates that learned permuted labels, and what chance would say.

    Parameters
    ----------
    scores : tuple of float
        Of each candidate on a V that was drawn from the permuted data.
    chances : tuple of float
        The same with the labels of V permuted.

    Examples
    --------
    >>> from leavezero.trust import Optimism
    >>> round(Optimism((0.9, 0.6), (0.5, 0.5)).largest, 3)
    0.4
    """

    scores: tuple[float, ...]
    chances: tuple[float, ...]

    @property
    def largest(self) -> float:
        """How far the most flattered candidate is above chance."""
        gaps = [score - chance for score, chance in zip(self.scores, self.chances, strict=True)]
        return max(gaps)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything that a report looks at.

    Parameters
    ----------
    X, y : table and array
        The given rows.
    classes : array or None
        The classes, sorted; None where the target is numbers or several outputs.
    V : ValidationSet or None
        The validation set; None if candidates were judged by unseen rows alone.
    augmenter : augmenter or None
        What drew it, fitted.
    ballot : Ballot or None
        The scores; None where no metric chose the winner.
    winner : estimator or None
        The chosen model.
    by_auto : bool
        Whether the augmenter is the one that "auto" stands for.
    grouped : bool
        Whether the rows came in groups.
    labeled : array of int or None
        The rows whose label was given, where others have a pseudo label; None for all.
    optimism : Optimism or None
        Scores of candidates that learned permuted labels, if they were asked for.
    seed : int
        Of what the findings draw.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.trust import Evidence
    >>> Evidence(np.zeros((4, 1)), np.array([0, 0, 1, 1]), np.array([0, 1]), None, None).n_given
    4
    """

    X: Table = field(repr=False)
    y: AnyArray = field(repr=False)
    classes: AnyArray | None
    V: ValidationSet | None = field(repr=False)
    augmenter: Any
    ballot: Ballot | None = None
    winner: Any = None
    by_auto: bool = False
    grouped: bool = False
    labeled: Ints | None = field(default=None, repr=False)
    optimism: Optimism | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        shapes = [tuple(np.shape(X)[1:]) for X in (self.X, self.X if self.V is None else self.V.X)]
        if shapes[0] != shapes[1]:
            columns = [shape[0] if len(shape) == 1 else shape for shape in shapes]
            raise ValueError(
                f"X and V of Evidence must have the same columns, got {columns[0]} and "
                f"{columns[1]}. Draw V from the rows of X."
            )

    @property
    def n_given(self) -> int:
        """The number of given rows."""
        return len(self.y)

    @property
    def given_labels(self) -> AnyArray:
        """The targets that were given."""
        return self.y if self.labeled is None else self.y[self.labeled]

    @property
    def own_rows(self) -> bool:
        """Whether V is the user's own and not drawn."""
        return hasattr(self.augmenter, "fixed_rows")

    def label_shares(self) -> tuple[Floats, Floats]:
        """Return the share of each class in the data and in V, weights and soft labels counted.

        Numbers are counted in ten bins with as many given rows each.
        """
        assert self.V is not None
        weights = np.ones(len(self.V)) if self.V.sample_weight is None else self.V.sample_weight
        if self.classes is None:
            edges = np.unique(np.quantile(self.y, np.linspace(0.1, 0.9, 9)))
            own, new = (np.searchsorted(edges, y) for y in (self.y, self.V.y))
            n_bins = len(edges) + 1
        else:
            own, new = (np.searchsorted(self.classes, y) for y in (self.given_labels, self.V.y))
            n_bins = len(self.classes)
        shares = np.bincount(own, minlength=n_bins) / len(own)
        if self.classes is not None and self.V.class_probabilities is not None:
            drawn = np.average(self.V.class_probabilities, axis=0, weights=weights)
        else:
            drawn = np.bincount(new, weights, minlength=n_bins) / weights.sum()
        return shares, drawn
