"""Checks of the parameters and the data of a search."""

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
from leavezero.evaluation import CandidateResult
from leavezero.execution import Checkpoint


def check_parameters(search: Any, estimator: Any, metric_names: list[str] | None) -> None:
    """Raise if a common parameter of a search is invalid.

    ``metric_names`` is None for a callable, whose names are known once it was called.
    """
    owner = type(search).__name__
    required = ("fit",) if search.scoring is not None else ("fit", "score")
    missing = [name for name in required if not hasattr(estimator, name)]
    if missing:
        hint = " Alternatively, set scoring." if missing == ["score"] else ""
        raise TypeError(
            f"estimator of {owner} must have the methods fit and score, {estimator!r} has no "
            f"{' and no '.join(missing)}.{hint}"
        )
    if search.error_score != "raise" and not isinstance(search.error_score, Real):
        raise ValueError(
            f'error_score of {owner} must be a number or "raise", got {search.error_score!r}.'
        )
    if not isinstance(search.verbose, Real):
        raise ValueError(f"verbose of {owner} must be an int, got {search.verbose!r}.")
    if search.n_jobs is not None and (not _is_int(search.n_jobs) or search.n_jobs == 0):
        raise ValueError(
            f"n_jobs of {owner} must be None or an int other than 0, got {search.n_jobs!r}."
        )
    if not (search.loo is False or search.loo in ("auto", "only")):
        raise ValueError(f'loo of {owner} must be "auto", False or "only", got {search.loo!r}.')
    multimetric = not (
        search.scoring is None or isinstance(search.scoring, str) or callable(search.scoring)
    )
    check_refit(search.refit, metric_names, multimetric, owner)
    _check_finalists(search.cv_finalists, search.refit, owner)
    if search.loo != "only":
        _check_augmenter(estimator, search.augmenter, owner)


def metric_names(scoring: Any) -> list[str] | None:
    """Return the names of the metrics; None for a callable."""
    if callable(scoring):
        return None
    if isinstance(scoring, str):
        return [scoring]
    return ["score"] if scoring is None else list(scoring)


def check_refit(refit: Any, names: list[str] | None, multimetric: bool, owner: str) -> None:
    """Raise unless refit determines the best candidate."""
    if isinstance(refit, bool) and not (refit and multimetric):
        return
    if callable(refit) or (isinstance(refit, str) and (names is None or refit in names)):
        return
    if multimetric:
        raise ValueError(
            f"For multi-metric scoring, refit of {owner} must be the name of a metric "
            f"({', '.join(names or [])}), a callable that returns a row of cv_results_, or False, "
            f"got {refit!r}."
        )
    raise ValueError(
        f"refit of {owner} must be True, False, the name of the metric or a callable, got "
        f"{refit!r}."
    )


def _check_finalists(cv_finalists: Any, refit: Any, owner: str) -> None:
    if cv_finalists is None:
        return
    if not is_count(cv_finalists) and not (
        isinstance(cv_finalists, str) and cv_finalists == "auto"
    ):
        raise ValueError(
            f'cv_finalists of {owner} must be None, "auto" or a positive int, got {cv_finalists!r}.'
        )
    if callable(refit):
        raise ValueError(
            f"cv_finalists of {owner} selects by a metric and cannot be used with a callable refit."
        )


def _check_augmenter(estimator: Any, augmenter: Any, owner: str) -> None:
    if get_tags(estimator).input_tags.pairwise and not hasattr(augmenter, "fixed_rows"):
        raise ValueError(
            f"{owner} cannot generate validation rows for an estimator with precomputed "
            "similarities. Pass features and the name of a kernel, or "
            "augmenter=FixedValidationSet(X_val, y_val)."
        )
    is_augmenter = hasattr(augmenter, "fit") and hasattr(augmenter, "sample")
    if not is_augmenter and not (isinstance(augmenter, str) and augmenter == "auto"):
        raise ValueError(
            f'augmenter of {owner} must be "auto" or an object with fit(X, y) and '
            f"sample(n_samples), got {augmenter!r}."
        )
    if isinstance(augmenter, FixedValidationSet) and count_rows(augmenter.X) == 0:
        raise ValueError(f"augmenter of {owner} is a FixedValidationSet without rows.")


def check_checkpoint(checkpoint: Any, random_state: Any, owner: str) -> Checkpoint | None:
    """Return the checkpoint of a path or a Checkpoint; it requires an int as random_state."""
    if checkpoint is None:
        return None
    if not isinstance(checkpoint, Checkpoint):
        if not isinstance(checkpoint, str | PathLike) or not str(checkpoint):
            raise ValueError(
                f"checkpoint of {owner} must be None, a path or a Checkpoint, got {checkpoint!r}."
            )
        checkpoint = Checkpoint(checkpoint)
    if not _is_int(random_state):
        raise ValueError(
            f"random_state of {owner} must be an int if there is a checkpoint, got "
            f"{random_state!r}: a resumed search must generate the same validation set."
        )
    return checkpoint


def check_target(
    estimator: Any, X: Table, y: AnyArray | None, owner: str, *, semi_supervised: bool
) -> AnyArray:
    """Return y as an array with one entry per row of X.

    A regression target becomes float, by which augmenters recognize it. Labels of semi-supervised
    estimators are checked once it is known which rows have one.
    """
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    for name, table in (("X", X), ("y", y)):
        if hasattr(table, "collect") and not hasattr(table, "shape"):
            raise TypeError(
                f"{name} passed to {owner} is a lazy {type(table).__name__}. Pass {name}.collect()."
            )
    n_rows = count_rows(X)
    if n_rows < 2:
        samples = "1 sample" if n_rows == 1 else "0 samples"
        raise ValueError(f"{owner} requires at least 2 samples, got {samples}.")
    shape = tuple(getattr(X, "shape", ()))
    if 0 in shape[1:]:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required by "
            f"{owner}."
        )
    check_consistent_length(X, y)
    if sparse.issparse(y):
        raise ValueError(f"{owner} requires a dense y, got a sparse one. Pass y.toarray().")
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
                f"{owner} requires at least 2 classes in y, got 1 class: {plain(classes[0])!r}."
            )
    return target


def check_index(index: Any, results: Sequence[CandidateResult], owner: str) -> int:
    """Return the row that a callable refit selected, or raise."""
    if not _is_int(index):
        raise TypeError(
            f"refit of {owner} must return an int, a row of cv_results_, got {index!r}."
        )
    if not 0 <= int(index) < len(results):
        raise IndexError(
            f"refit of {owner} returned {index!r}, but cv_results_ has {len(results)} rows."
        )
    result = results[int(index)]
    reason = None
    if result.error is not None:
        reason = f"failed: {result.error.strip().splitlines()[-1].rstrip('.')}"
    elif result.trial.n_passes is not None and not result.trial.may_win:
        reason = "was pruned"
    if reason is not None:
        raise ValueError(f"refit of {owner} returned row {index}, whose candidate {reason}.")
    return int(index)


def is_count(value: Any) -> bool:
    """Return True for a positive integer."""
    return _is_int(value) and value >= 1


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
