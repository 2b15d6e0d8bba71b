"""Which rows of a table are held back, and how the others are dealt into folds."""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from leavezero._typing import AnyArray, Ints
from leavezero.tabular._errors import TableError
from leavezero.tabular._target import MIN_ROWS, Target, Task
from leavezero.tabular._words import counted


@dataclass(frozen=True, eq=False)
class Plan:
    """The rows to learn from with their folds, and the rows held back.

    Examples
    --------
    >>> from leavezero.tabular import Plan
    >>> "outside" in Plan.__dataclass_fields__
    True
    """

    test_share: float
    inside: Ints
    outside: Ints
    folds: KFold | StratifiedKFold
    notices: tuple[str, ...]


def plan_comparison(
    target: Target, n_folds: int = 10, test_share: float = 0.3, seed: int = 0
) -> Plan:
    """Hold rows back and deal the others into folds, or raise where there are too few.

    Parameters
    ----------
    target : Target
        What is to be predicted.
    n_folds : int, default=10
        The folds of the cross validation.
    test_share : float, default=0.3
        The share of the rows that no search sees.
    seed : int, default=0
        Of both draws.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import pandas as pd
    >>> from leavezero.tabular import decide_target, plan_comparison
    >>> target = decide_target(pd.DataFrame({"y": ["a", "b"] * 10}), "y")
    >>> plan_comparison(target, n_folds=7).folds.n_splits
    7
    """
    inside, outside, said = hold_back(target, test_share, seed)
    folds, told = make_folds(target.task, target.values[inside], n_folds, seed)
    return Plan(test_share, inside, outside, folds, (*said, *told))


def hold_back(target: Target, share: float, seed: int) -> tuple[Ints, Ints, list[str]]:
    """Return rows to learn from, rows held back, and what there is to say.

    Parameters
    ----------
    target : Target
        What is to be predicted; classes keep their shares where they have two rows or more.
    share : float
        The share of the rows that is held back.
    seed : int
        Of the draw.

    Returns
    -------
    inside, outside : arrays of int
        Rows that have a target.
    notices : list of str
        How many rows there are of either.

    Examples
    --------
    >>> import pandas as pd
    >>> from leavezero.tabular import decide_target
    >>> from leavezero.tabular._split import hold_back
    >>> target = decide_target(pd.DataFrame({"y": ["a", "b"] * 10}), "y")
    >>> hold_back(target, 0.3, seed=0)[2]
    ['6 of 20 rows are held back to test by; 14 are to learn from.']
    """
    if not 0 < share < 1:
        raise TableError(f"--test-share must be between 0 and 1, got {share:g}. Use 0.3.")
    n_rows = len(target.values)
    n_outside = max(1, round(share * n_rows))
    if n_rows - n_outside < MIN_ROWS:
        raise TableError(
            f"--test-share {share:g} of {n_rows} rows leaves {n_rows - n_outside} to learn from, "
            f"and {MIN_ROWS} are needed. Give more rows, or a smaller share."
        )
    inside, outside = train_test_split(
        np.arange(n_rows), test_size=n_outside, random_state=seed, stratify=_strata(target, share)
    )
    told = (
        f"{n_outside:,} of {counted(n_rows, 'row')} {'is' if n_outside == 1 else 'are'} held back "
        f"to test by; {len(inside):,} are to learn from."
    )
    return np.sort(inside), np.sort(outside), [told]


def make_folds(
    task: Task, y: AnyArray, n_folds: int, seed: int
) -> tuple[KFold | StratifiedKFold, list[str]]:
    """Return shuffled folds, those of classes with their shares, and what there is to say.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.tabular._split import make_folds
    >>> make_folds("classification", np.tile(["a", "b"], 4), 2, seed=0)[0].n_splits
    2
    """
    if task == "regression":
        _refuse_many(n_folds, len(y), "rows to learn from")
        return KFold(n_folds, shuffle=True, random_state=seed), []
    counts = np.unique(y, return_counts=True)[1]
    _refuse_many(n_folds, int(counts.max()), "rows of the largest class")
    told = []
    if counts.min() < n_folds:
        told.append(
            f"The smallest class has {counted(int(counts.min()), 'row')} to learn from, so that "
            f"some of the {n_folds} folds lack it."
        )
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed), told


def _strata(target: Target, share: float) -> AnyArray | None:
    """Return what keeps its shares: classes, of which one with a single row joins the largest."""
    if target.task == "regression":
        return None
    _, codes, counts = np.unique(target.values, return_inverse=True, return_counts=True)
    fewest = round(min(share, 1 - share) * len(codes))
    if len(counts) > fewest:
        return None
    return np.asarray(np.where(counts[codes] < 2, counts.argmax(), codes))


def _refuse_many(n_folds: int, most: int, what: str) -> None:
    if not 2 <= n_folds <= most:
        raise TableError(
            f"--cv must be from 2 to {most}, the {what}, got {n_folds}. "
            "Use fewer folds, or give more rows."
        )
