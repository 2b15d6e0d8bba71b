"""Nearest neighbours: a row that is left out is not its own neighbour."""

from functools import cache, partial
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from sklearn.utils import check_consistent_length

from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.families._ballot import Ballot, ballot_of
from leavezero.families._base import Asked, Family, Unseen
from leavezero.families._class_scores import with_known
from leavezero.families._fingerprint import check_answers, check_no_weights
from leavezero.families._fitted_to import other_rows
from leavezero.families._shared_neighbors import (
    fit_together,
    given_answers,
    given_neighbors,
    other_neighbors,
    remember,
    said_together,
    search_of,
)

_CHECKED_ROWS = 16
_UNSURE = 0.25  # share of them: equally distant rows may be told apart in another way
_TOO_FEW = "without a row there are fewer rows than the n_neighbors it asks for"


class NeighborsFamily(Family):
    """k-NN and radius neighbours, classifiers and regressors, any metric.

    The neighbours of a row are looked up once, by scikit-learn, which skips the row itself. Of
    equally distant rows it is left open which are neighbours, as it is in a fit without the row;
    among classes with the same votes the first wins. Of several outputs the labels are given, not
    the probabilities. Rows without a neighbour in the radius have a response if the model has an
    ``outlier_label``.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from leavezero.families._neighbors import NeighborsFamily
    >>> X, y = [[0.0], [1.0], [3.0]], ["a", "b", "b"]
    >>> model = KNeighborsClassifier(1).fit(X, y)
    >>> NeighborsFamily().unseen(model, X, y).responses["predict"].tolist()
    ['b', 'a', 'b']
    """

    name = "neighbors"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is one of scikit-learn's four."""
        return type(estimator) in _ESTIMATORS

    def refuses(self, estimator: Any) -> None:
        """Refuse nothing."""

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return what the neighbours of each row say."""
        check_answers(self, model)
        check_no_weights(model, sample_weight)
        check_consistent_length(X, y)
        targets = _targets(model, y)
        near = given_neighbors(model, X, y)  # there are none if they may be other rows
        if near is None:
            _check_rows(model, X, targets)
        if getattr(model, "n_neighbors", None) == len(targets):
            return Unseen("exact", {}, known=np.zeros(len(targets), dtype=bool), doubt=_TOO_FEW)
        ballot = ballot_of(model, *(near or _others(model, X)))
        if is_classifier(model):
            return _labels(model, ballot, targets)
        known = ballot.totals() != 0
        means = _shaped(y, _means(ballot, targets))
        return with_known("exact", {"predict": means}, known)

    def unseen_many(
        self, models: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Asked]:
        """Return calls that share one look for the neighbours, and one count of their votes."""
        shared = cache(lambda: given_answers(models, X, y) if sample_weight is None else {})

        def ask(model: Any) -> Unseen:
            found = shared().get(model)
            if found is None:
                return self.unseen(model, X, y, sample_weight)
            return Unseen("exact", found)

        return [partial(ask, model) for model in models]

    def shares(self, estimator: Any) -> Any:
        """Return how k-NN looks for neighbours; of the same ones some count more, or fewer."""
        return search_of(estimator)

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit one of the estimators; the others hold the same. Weights are refused, as they do."""
        check_no_weights(estimators[0], sample_weight)
        fit_together(estimators, X, y)

    def remember(self, models: list[Any], X: Table, y: AnyArray) -> None:
        """Note that the models have their rows in common."""
        remember(models, X, y)

    def respond_many(self, models: list[Any], X: Table) -> list[dict[str, AnyArray]] | None:
        """Return labels and probabilities, or means, from one look for the neighbours.

        They are the models' own, also where neighbours or classes tie; means to rounding.
        """
        return said_together(models, X)


def _targets(model: Any, y: AnyArray) -> AnyArray:
    """Return a column for each output: codes of classes, or numbers."""
    values = np.asarray(y)
    columns = values[:, None] if values.ndim == 1 else values
    if not is_classifier(model):
        return columns
    classes = _classes(model)
    if columns.shape[1] != len(classes):
        raise other_rows(model, f"it has {len(classes)} outputs, y {columns.shape[1]}")
    return np.column_stack([_codes(model, c, k) for c, k in zip(columns.T, classes, strict=True)])


def _codes(model: Any, labels: AnyArray, classes: AnyArray) -> Ints:
    found, codes = np.unique(labels, return_inverse=True)
    if not np.array_equal(found, classes):
        raise other_rows(model, "y has other classes")
    return codes


def _classes(model: Any) -> list[AnyArray]:
    return list(model.classes_) if model.outputs_2d_ else [model.classes_]


def _shaped(y: AnyArray, columns: AnyArray) -> AnyArray:
    return columns[:, 0] if np.ndim(y) == 1 else columns


def _others(model: Any, X: Table) -> tuple[AnyArray, AnyArray]:
    """Return distances and numbers of the neighbours of each row, itself not among them."""
    if hasattr(model, "kneighbors"):
        return other_neighbors(model, X, model.n_neighbors)
    return cast("tuple[AnyArray, AnyArray]", model.radius_neighbors())


def _means(ballot: Ballot, targets: AnyArray) -> Floats:
    totals = ballot.totals()
    sums = np.column_stack([ballot.totals(column) for column in targets.T])
    return sums / np.where(totals == 0, np.nan, totals)[:, None]


def _labels(model: Any, ballot: Ballot, codes: Ints) -> Unseen:
    labels, shares, known = [], [], ballot.totals() != 0
    for output, classes in enumerate(_classes(model)):
        votes = ballot.by_class(codes[:, output], len(classes))
        label = classes.take(votes.argmax(axis=1))
        if getattr(model, "outlier_label", None) is not None:
            lonely = np.bincount(ballot.rows, minlength=ballot.n_rows) == 0
            _label_outliers(model, output, lonely, codes[:, output], votes, label)
            known = known | lonely
        labels.append(label)
        totals = votes.sum(axis=1, keepdims=True)
        shares.append(votes / np.where(totals == 0, 1.0, totals))
    responses: dict[str, AnyArray] = {"predict": labels[0]}
    if model.outputs_2d_:
        responses["predict"] = np.column_stack(labels).astype(model.classes_[0].dtype)
    else:
        responses["predict_proba"] = shares[0]
    return with_known("exact", responses, known)


def _label_outliers(
    model: Any, output: int, lonely: Bools, codes: Ints, votes: Floats, label: AnyArray
) -> None:
    """Give rows without neighbours the outlier label, as learned without them, in place."""
    classes = _classes(model)[output]
    rows = np.flatnonzero(lonely)
    left = np.tile(np.bincount(codes, minlength=len(classes)), (len(rows), 1))
    left[np.arange(len(rows)), codes[rows]] -= 1
    if isinstance(model.outlier_label, str) and model.outlier_label == "most_frequent":
        chosen = left.argmax(axis=1)
        label[rows] = classes.take(chosen)
        votes[rows, chosen] = 1.0
        return
    label[rows] = model.outlier_label_[output]
    for code in np.flatnonzero(classes == model.outlier_label_[output]):
        votes[rows, code] = left[:, code] > 0  # the class may leave with the row


def _check_rows(model: Any, X: Table, targets: AnyArray) -> None:
    """Raise if the rows or their targets are not the fitted ones, in their order.

    Only a few rows are looked up, so that the check costs a small part of a prediction.
    """
    n_rows = len(targets)
    if n_rows != model.n_samples_fit_:
        raise other_rows(model, f"there are {n_rows}, it knows {model.n_samples_fit_}")
    if model.metric == "precomputed" and sparse.issparse(X):
        return  # a graph need not hold the distance of a row to itself
    at = np.unique(np.linspace(0, n_rows - 1, _CHECKED_ROWS).astype(np.intp))
    few = take_rows(X, at)
    strangers, ballot = _meet(model, X, at, few)
    if strangers.mean() > _UNSURE:
        raise other_rows(model, "they are not near to its own")
    if is_classifier(model):
        said = model.predict_proba(few)
        wrong = _differs(ballot, targets, said if model.outputs_2d_ else [said])
    else:
        with np.errstate(invalid="ignore"):  # radius neighbours cast NaN to the targets' dtype
            said = model.predict(few).reshape(ballot.n_rows, -1)
        size = np.abs(targets).max(initial=0.0)
        wrong = (np.abs(_means(ballot, targets) - said) > 1e-6 * size).any(axis=1)
    if wrong.mean() > _UNSURE:
        raise other_rows(model, "with these targets it would say something else")


def _meet(model: Any, X: Table, at: Ints, few: Table) -> tuple[Bools, Ballot]:
    """Tell which rows are not at distance 0 from the fitted row of their number or its like.

    The votes for these rows come with it, from the same look.
    """
    numbers = _numbers(few)
    size = 1.0 if model.metric == "precomputed" else float(np.abs(numbers).max(initial=0.0))
    slack = 1e-6 * size + 1e-12  # euclidean distances are rounded against the size of the rows
    if hasattr(model, "kneighbors"):
        distances, neighbors = model.kneighbors(few)
        ballot = ballot_of(model, distances, neighbors)
        nearest, far = neighbors[:, 0], distances[:, 0] > slack
    else:
        ballot = ballot_of(model, *model.radius_neighbors(few))
        found = model.radius_neighbors(few, radius=slack, return_distance=False)
        nearest = np.array([row[0] if len(row) else 0 for row in found])
        far = np.array([len(row) == 0 for row in found])
    alike = (_numbers(take_rows(X, nearest)) == numbers).all(axis=1)
    return np.asarray(far | ~((nearest == at) | alike)), ballot


def _numbers(rows: Table) -> Floats:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


def _differs(ballot: Ballot, codes: Ints, said: list[Floats]) -> Bools:
    wrong = np.zeros(ballot.n_rows, dtype=bool)
    for output, shares in enumerate(said):
        votes = ballot.by_class(codes[:, output], shares.shape[1])
        totals = votes.sum(axis=1, keepdims=True)
        wrong |= (np.abs(votes - shares * totals) > 1e-6 * totals).any(axis=1)
    return wrong


_ESTIMATORS = (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
FAMILIES = (NeighborsFamily(),)
