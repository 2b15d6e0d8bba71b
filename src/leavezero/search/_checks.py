"""What a search is given, checked before anything is drawn or fitted."""

from collections.abc import Sequence
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from leavezero._tables import count_rows, plain
from leavezero._typing import AnyArray, Table
from leavezero.augment import FixedValidationSet
from leavezero.engine import AllAtOnce, Journal, Limits, Record, Strategy

AUTO = "auto"  # as many replicates as the choice needs


def check_estimator_kind(estimator: Any, owner: str, *, own_score: bool = True) -> None:
    """Raise unless the estimator can be fitted, and scored where no metric is given."""
    needed = ("fit", "score") if own_score else ("fit",)
    missing = [name for name in needed if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"estimator of {owner} must have the methods fit and score, and {estimator!r} lacks "
            f"{' and '.join(missing)}. Give a classifier of scikit-learn or one with its methods"
            f"{', or name a metric as scoring' if missing == ['score'] else ''}."
        )


def check_data(
    estimator: Any, X: Table, y: AnyArray | None, owner: str, *, semi_supervised: bool = False
) -> AnyArray:
    """Return y as an array that belongs to the rows of X, or raise.

    Classes stay as they are; the numbers of a regressor become floats, which is how an augmenter
    tells numbers from classes. Labels that semi-supervised candidates learn from are checked when
    it is known which rows have one.
    """
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None. "
            "Give the target of each row of X: without it there is no loss to choose by."
        )
    for name, table in (("X", X), ("y", y)):
        if hasattr(table, "collect") and not hasattr(table, "shape"):
            raise TypeError(
                f"{name} given to {owner} is a {type(table).__name__}, whose rows are not there "
                f"yet. Give {name}.collect()."
            )
    if count_rows(X) == 0:
        raise ValueError(f"X given to {owner} has 0 rows. Give at least two rows of each class.")
    if count_rows(X) == 1:
        raise ValueError(f"X given to {owner} has 1 sample. Give more: one row tells nothing.")
    shape = tuple(getattr(X, "shape", ()))
    if 0 in shape[1:]:
        raise ValueError(
            f"X given to {owner} has 0 feature(s) (shape={shape}) while a minimum of 1 is required."
            " Give at least one column: without any, all candidates say the same."
        )
    check_consistent_length(X, y)
    if sparse.issparse(y):
        raise ValueError(f"y given to {owner} is sparse. Give a dense array: y.toarray().")
    target = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if target.ndim != 2 or target.shape[1] == 1:
        target = column_or_1d(target, warn=True)
    if semi_supervised and target.ndim == 1 and not is_regressor(estimator):
        return target
    assert_all_finite(target, input_name="y")
    if is_regressor(estimator):
        return target.astype(np.float64)
    check_classification_targets(target)
    if is_classifier(estimator) and target.ndim == 1:
        classes = np.unique(target)
        if len(classes) < 2:
            raise ValueError(
                f"y given to {owner} has one class only, {plain(classes[0])!r}. "
                "Give rows of at least two classes: with one there is nothing to choose by."
            )
    return target


def check_error_score(error_score: Any, owner: str) -> None:
    """Raise unless a failed candidate's score is a number or the wish to raise."""
    if error_score == "raise" or isinstance(error_score, Real):
        return
    raise ValueError(
        f'error_score of {owner} must be a number or "raise", got {error_score!r}. '
        "Use numpy.nan to rank failed candidates last."
    )


def check_verbose(verbose: Any, owner: str) -> None:
    """Raise unless verbose is a number of what is to be said."""
    if not isinstance(verbose, Real):
        raise ValueError(
            f"verbose of {owner} must be an int, got {verbose!r}. Use 0 to hear nothing, 1 to 3 to "
            "hear more."
        )


def check_n_jobs(n_jobs: Any, owner: str) -> None:
    """Raise unless the number of workers is one that joblib reads as it is meant."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs != 0):
        raise ValueError(
            f"n_jobs of {owner} must be None or an int other than 0, got {n_jobs!r}. Use 2 for two "
            "workers, -1 for one a core."
        )


def scoring_names(scoring: Any) -> list[str] | None:
    """Return the names of the metrics; None for a callable, which tells them when it is called."""
    if callable(scoring):
        return None
    if isinstance(scoring, str):
        return [scoring]
    return ["score"] if scoring is None else list(scoring)


def check_refit(refit: Any, names: list[str] | None, several: bool, owner: str) -> None:
    """Raise unless refit says what the best is; ``names`` are those of the metrics, if known."""
    if isinstance(refit, bool) and not (refit and several):
        return
    if callable(refit) or (isinstance(refit, str) and (names is None or refit in names)):
        return
    if several:
        assert names is not None
        raise ValueError(
            f"refit of {owner} must name one of the metrics {', '.join(names)}, be a callable that "
            f"picks a row of cv_results_, or False, got {refit!r}. For multi-metric scoring, set "
            f"refit={names[0]!r}."
        )
    raise ValueError(
        f"refit of {owner} must be True, False, the metric's name or a callable, got {refit!r}. "
        "Use True: there is one metric."
    )


def check_index(index: Any, records: Sequence[Record], owner: str) -> int:
    """Return the row that a callable refit picked, or raise."""
    n_rows = len(records)
    if not isinstance(index, Integral) or isinstance(index, bool):
        raise TypeError(
            f"refit of {owner} must return an int, a row of cv_results_, got {index!r}."
        )
    if not 0 <= int(index) < n_rows:
        raise IndexError(
            f"refit of {owner} returned {index!r}, and cv_results_ has the rows 0 to {n_rows - 1}."
        )
    lost = _why_no_model(records[int(index)])
    if lost is not None:
        raise ValueError(
            f"refit of {owner} returned row {index}, whose candidate {lost}. Return the row of "
            "another candidate."
        )
    return int(index)


def _why_no_model(record: Record) -> str | None:
    if record.error is not None:
        return f"failed: {record.error.strip().splitlines()[-1].rstrip('.')}"
    pruned = record.trial.passes is not None and not record.trial.may_win
    return "was pruned" if pruned else None


def check_confirm(confirm: Any, refit: Any, owner: str) -> None:
    """Raise unless confirm is a number of candidates, and there is a metric to confirm by."""
    if confirm is None:
        return
    if not is_count(confirm) and not (isinstance(confirm, str) and confirm == "auto"):
        raise ValueError(
            f'confirm of {owner} must be None, "auto" or a positive int, the most candidates that '
            f"get folds, got {confirm!r}. Use 5."
        )
    if callable(refit):
        raise ValueError(
            f"confirm of {owner} decides by a metric, and refit is a callable. Set confirm=None, "
            "or refit to the name of a metric."
        )


def check_auto_replicates(
    n_replicates: Any, strategy: Strategy, *, journal: bool, limits: Limits, owner: str
) -> None:
    """Raise where V is to grow with the need, and models cannot be asked again for that."""
    if not isinstance(n_replicates, str):
        return
    if n_replicates != AUTO:
        raise ValueError(
            f'n_replicates of {owner} must be a positive int or "auto", got {n_replicates!r}.'
        )
    reasons = {
        "proposes its candidates in rounds": not isinstance(strategy, AllAtOnce),
        "has a journal, which keeps scores and no models": journal,
        "has a limit, which ends with a candidate's task": limits.any,
    }
    for reason, holds in reasons.items():
        if holds:
            raise ValueError(
                f'n_replicates of {owner} is "auto", which asks all models again until the best '
                f"is told from the others, and this search {reason}. Give a number, such as 10."
            )


def check_pairwise(estimator: Any, augmenter: Any, owner: str) -> None:
    """Raise where X is a matrix of similarities and V cannot be drawn from it."""
    if get_tags(estimator).input_tags.pairwise and not hasattr(augmenter, "fixed_rows"):
        raise ValueError(
            f"{owner} got an estimator for precomputed similarities, and new rows cannot be drawn "
            "from a matrix of those. Give the features and the kernel's name, or your own rows "
            "with augmenter=FixedValidationSet(X_validation, y_validation)."
        )


def check_own_rows(augmenter: Any, owner: str) -> None:
    """Raise where the user's own validation set is empty."""
    if isinstance(augmenter, FixedValidationSet) and count_rows(augmenter.X) == 0:
        raise ValueError(
            f"augmenter of {owner} is a FixedValidationSet with 0 rows. Give at least one row to "
            "judge candidates by."
        )


def check_journal(journal: Any, random_state: Any, owner: str) -> Journal | None:
    """Return where a search is written down, or raise; only a seed makes one that can go on."""
    if journal is None:
        return None
    if not isinstance(journal, Journal):
        if not isinstance(journal, str | PathLike) or not str(journal):
            raise ValueError(
                f"journal of {owner} must be None, the path of a file or a Journal, got "
                f'{journal!r}. Use "search.sqlite".'
            )
        journal = Journal(journal)
    if not isinstance(random_state, int | np.integer) or isinstance(random_state, bool):
        raise ValueError(
            f"random_state of {owner} must be an int where there is a journal, got "
            f"{random_state!r}: another draw of V would be another search. Use 0."
        )
    return journal


def is_count(value: Any) -> bool:
    """Tell whether a parameter is a positive whole number."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return bool(whole and value >= 1)
