"""Least squares and ridge: leave-one-out in closed form, from one decomposition.

With H the matrix that turns targets into fitted values and h_i its diagonal, the residual of row i
in a fit without it is r_i / (1 - h_i) (Allen 1974; Golub, Heath and Wahba 1979, equation 2.3):
adding the row with its own prediction as target leaves that fit as it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from numbers import Real
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.class_weight import compute_sample_weight

from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.families._base import MOST_TOGETHER, Asked, Family, Kind, Unseen
from leavezero.families._fingerprint import check_answers, close
from leavezero.families._fitted_to import (
    TOO_LARGE,
    fitted_codes,
    fitted_rows,
    fitted_weights,
    other_rows,
    too_large,
)
from leavezero.families._least_squares import Problem, penalties_of
from leavezero.families._together import (
    fit_one,
    hand_on,
    linear_scores,
    scored_labels,
    settings_key,
)

_COLLINEAR = 1e-10  # smallest singular value against the largest
_COLLINEAR_DOUBT = "its columns depend on one another so closely that rounding decides"
_TOO_MANY = "balanced weights of several labels are all changed by one row"
_CLOSED_SOLVERS = ("svd", "cholesky")
_SAME = 1e-9  # of the largest coefficient: how far two ways to the same solution may be apart


class LinearFamily(Family):
    """Linear and ridge regression, one or several outputs, with weights.

    Columns that depend on one another are fine for LinearRegression, whose solution of least norm
    has a closed form too. Solvers that stop before the minimum make it approximate.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from leavezero.families._linear import LinearFamily
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0]
    >>> model = LinearRegression().fit(X, y)
    >>> LinearFamily().unseen(model, X, y).responses["predict"].round(3).tolist()
    [-3.0, 2.5, 2.0]
    """

    name = "linear"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is plain least squares or ridge regression."""
        return type(estimator) in (LinearRegression, Ridge)

    def refuses(self, estimator: Any) -> str | None:
        """Refuse coefficients with a sign."""
        return _refuses_positive(estimator)

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return the predictions without each row."""
        [ask] = self.unseen_many([model], X, y, sample_weight)
        return ask()

    def unseen_many(
        self, models: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Asked]:
        """Return calls that share one decomposition."""
        first = models[0]
        rows = fitted_rows(first, X)
        n_rows = rows.shape[0]
        weights = fitted_weights(sample_weight, n_rows)
        targets = np.asarray(y, dtype=np.float64)
        if len(targets) != n_rows:
            raise other_rows(first, f"X has {n_rows} rows, y {len(targets)}")
        targets = targets.reshape(n_rows, -1)
        alone = targets.shape[1] > 1  # else a model is a column among others
        problem = cache(lambda: Problem.of(first, rows, targets, weights))

        @cache
        def answered(*some: Any) -> tuple[Floats, Floats, Floats, Bools]:
            penalized = problem().penalized(*some)
            said = np.column_stack([_said(model, rows, X) for model in some])
            return said, penalized.fitted(), *penalized.left_out(said)

        def ask(at: int, model: Any) -> Unseen:
            check_answers(self, model)
            if too_large(*rows.shape):
                return Unseen("exact", {}, doubt=TOO_LARGE)
            said, fitted, scores, known = answered(*([model] if alone else models))
            own = slice(None) if alone else slice(at, at + 1)
            found = fitted[:, own], said[:, own]
            kind, doubt = _trust(model, problem(), *found, sparse.issparse(rows))
            told = scores[:, own].reshape((n_rows, *np.shape(model.coef_)[:-1]))
            return _unseen(kind, {"predict": told}, np.all(known[:, own], axis=1), doubt)

        return [partial(ask, at, model) for at, model in enumerate(models)]

    def shares(self, estimator: Any) -> Any:
        """Return all parameters of a ridge but its penalty."""
        return _ridge_key(estimator) if type(estimator) is Ridge else None

    def most_together(self, estimator: Any) -> int:
        """Return a number of models that covers usual paths of penalties: each is small."""
        return 4 * MOST_TOGETHER

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit ridges from one decomposition; equal to plain fits up to rounding."""

        def problem(_: Any, n_rows: int) -> tuple[Floats, Floats]:
            targets = np.asarray(y, dtype=np.float64).reshape(n_rows, -1)
            return targets, fitted_weights(sample_weight, n_rows)

        _fit_ridges(estimators, X, y, sample_weight, problem)

    def respond_many(self, models: list[Any], X: Table) -> list[dict[str, AnyArray]]:
        """Return predictions from one product, up to rounding."""
        return [
            {"predict": scores if model.coef_.ndim > 1 else scores[:, 0]}
            for model, scores in zip(models, linear_scores(models, X), strict=True)
        ]


class RidgeClassifierFamily(Family):
    """The ridge classifier, of two or more classes or of several labels, with weights of classes.

    Balanced class weights change with the row that leaves, but alike for all rows of a class: one
    decomposition a class gives the exact answer.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from leavezero.families._linear import RidgeClassifierFamily
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"]
    >>> model = RidgeClassifier().fit(X, y)
    >>> RidgeClassifierFamily().unseen(model, X, y).responses["predict"].tolist()
    ['b', 'a', 'b', 'a']
    """

    name = "ridge classifier"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is scikit-learn's."""
        return type(estimator) is RidgeClassifier

    def refuses(self, estimator: Any) -> str | None:
        """Refuse coefficients with a sign."""
        return _refuses_positive(estimator)

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return decisions and labels without each row."""
        check_answers(self, model)
        rows = fitted_rows(model, X)
        n_rows = rows.shape[0]
        labels = np.asarray(y)
        several = labels.ndim == 2 and labels.shape[1] > 1
        codes = np.zeros(n_rows, dtype=np.intp) if several else fitted_codes(model, y, n_rows)
        if too_large(*rows.shape) or (several and model.class_weight == "balanced"):
            return Unseen("exact", {}, doubt=TOO_LARGE if too_large(*rows.shape) else _TOO_MANY)
        binarizer = LabelBinarizer(pos_label=1, neg_label=-1)
        targets = np.asarray(binarizer.fit_transform(labels), dtype=np.float64)
        weights = fitted_weights(sample_weight, n_rows)
        said = model.decision_function(X)
        whole = weights
        if model.class_weight is not None:
            whole = weights * compute_sample_weight(model.class_weight, labels)
        problem = Problem.of(model, rows, targets, whole)
        columns = said.reshape(n_rows, -1)
        kind, doubt = _trust(model, problem, problem.fitted(), columns, sparse.issparse(rows))
        if model.class_weight == "balanced" and not several:
            scores, known = _balanced(model, rows, targets, weights, codes)
        else:
            scores, each = problem.left_out(columns)
            known = np.asarray(each.all(axis=1))
        if several:
            ones = binarizer.inverse_transform(np.where(scores > 0, 1, -1))
            return _unseen(kind, {"decision_function": scores, "predict": ones}, known, doubt)
        known = known & _forget_lone_classes(scores, codes)
        columns = scores if scores.shape[1] > 1 else np.column_stack([-scores, scores])
        predicted = model.classes_.take(columns.argmax(axis=1))
        responses = {"decision_function": scores.reshape(said.shape), "predict": predicted}
        return _unseen(kind, responses, known, doubt)

    def shares(self, estimator: Any) -> Any:
        """Return all parameters but the penalty."""
        return _ridge_key(estimator)

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit classifiers from one decomposition; scores equal plain fits' up to rounding."""

        def problem(model: Any, n_rows: int) -> tuple[Floats, Floats]:
            binarizer = LabelBinarizer(pos_label=1, neg_label=-1)
            targets = np.asarray(binarizer.fit_transform(np.asarray(y)), dtype=np.float64)
            weights = fitted_weights(sample_weight, n_rows)
            if model.class_weight is not None:
                weights = weights * compute_sample_weight(model.class_weight, np.asarray(y))
            return targets, weights

        _fit_ridges(estimators, X, y, sample_weight, problem)

    def respond_many(self, models: list[Any], X: Table) -> list[dict[str, AnyArray]] | None:
        """Return scores and labels from one product, up to rounding; None for several labels."""
        if models[0].predict(take_rows(X, slice(0, 1))).ndim > 1:
            return None
        return [
            {
                "decision_function": scores if scores.shape[1] > 1 else scores[:, 0],
                "predict": scored_labels(model, scores),
            }
            for model, scores in zip(models, linear_scores(models, X), strict=True)
        ]


def _ridge_key(estimator: Any) -> Any:
    """Return what ridges that differ in their penalty share; None if a solver has no closed form.

    A penalty a target, or none, is left to the plain fit.
    """
    alpha = estimator.alpha
    closed = estimator.solver in ("auto", *_CLOSED_SOLVERS) and not estimator.positive
    if not closed or not isinstance(alpha, Real) or not 0 < float(alpha) < np.inf:
        return None
    return settings_key(estimator, "alpha")


def _fit_ridges(
    estimators: list[Any],
    X: Table,
    y: AnyArray,
    sample_weight: Any,
    problem: Callable[[Any, int], tuple[Floats, Floats]],
) -> None:
    """Fit the least penalties as they do themselves, the others from a decomposition.

    Rounding weighs most for the least penalty: from where on the decomposition gives the
    coefficients of a plain fit, it gives those of all larger ones.
    """
    ordered = sorted(estimators, key=lambda one: float(one.alpha))
    spectrum = None
    for at, first in enumerate(ordered):
        fit_one(first, X, y, sample_weight)
        if sparse.issparse(X) or first.coef_.dtype != np.float64:
            continue
        if spectrum is None:
            rows = fitted_rows(first, X)
            spectrum = _Spectrum.of(first, rows, *problem(first, len(rows)))
        off = np.abs(spectrum.at(first)[0] - first.coef_).max(initial=0.0)
        if off <= _SAME * np.abs(first.coef_).max(initial=0.0):
            for one in ordered[at + 1 :]:
                coef, intercept = spectrum.at(one, like=first)
                hand_on(first, one, {"coef_": coef, "intercept_": intercept})
            return


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """Centred and weighted rows Z in the directions of Z'Z: coefficients for any penalty p.

    They are ``turn`` diag(1 / (squares + p)) ``coordinates``.
    """

    turn: Floats
    squares: Floats
    coordinates: Floats
    middle: Floats
    level: Floats

    @classmethod
    def of(cls, model: Any, rows: Floats, targets: Floats, weights: Floats) -> "_Spectrum":
        """Return the decomposition of the smaller of Z'Z and ZZ'."""
        middle, level = np.zeros(rows.shape[1]), np.zeros(targets.shape[1])
        if model.fit_intercept:
            shares = weights / weights.sum()
            middle, level = shares @ rows, shares @ targets
        roots = np.sqrt(weights)[:, None]
        centred, wanted = roots * (rows - middle), roots * (targets - level)
        if rows.shape[0] >= rows.shape[1]:
            squares, turn = linalg.eigh(centred.T @ centred)
            coordinates = turn.T @ (centred.T @ wanted)
        else:
            squares, left = linalg.eigh(centred @ centred.T)
            turn, coordinates = centred.T @ left, left.T @ wanted
        return cls(turn, np.maximum(squares, 0.0), coordinates, middle, level)

    def at(self, model: Any, like: Any = None) -> tuple[Floats, Any]:
        """Return coefficients and intercept for a model's penalty, in the shapes of another's."""
        like = model if like is None else like
        scaled = self.coordinates / (self.squares + float(model.alpha))[:, None]
        coef = (self.turn @ scaled).T
        if not model.fit_intercept:
            return coef.reshape(like.coef_.shape), like.intercept_
        intercept = (self.level - self.middle @ coef.T).reshape(np.shape(like.intercept_))
        return coef.reshape(like.coef_.shape), intercept if intercept.ndim else intercept[()]


def _refuses_positive(estimator: Any) -> str | None:
    if estimator.positive:
        return "with positive=True the coefficients that are zero may change when a row leaves"
    return None


def _unseen(kind: Kind, said: dict[str, AnyArray], known: Bools, doubt: str | None) -> Unseen:
    return Unseen(kind, said, known=None if known.all() else known, doubt=doubt)


def _said(model: Any, rows: Any, X: Table) -> Floats:
    """Return the predictions for X; where it is plain, without looking at it again."""
    if rows is X and model.coef_.dtype == np.float64:
        return np.asarray(rows @ model.coef_.T + model.intercept_)
    return np.asarray(model.predict(X))


def _trust(
    model: Any, problem: Problem, found: Floats, said: Floats, is_sparse: bool
) -> tuple[Kind, str | None]:
    """Return the kind and a doubt, or raise if the model was fitted to other rows.

    ``found`` is what the problem's solution says of the rows, ``said`` what the model says.
    """
    if np.any(penalties_of(model, 1) == 0) and _nearly_collinear(problem.values):
        return "exact", _COLLINEAR_DOUBT  # its own coefficients are noise, and cannot be compared
    used = slice(None) if problem.roots.all() else problem.roots > 0
    size = float(np.abs(problem.targets).max(initial=0.0))
    solver = getattr(model, "solver_", "lstsq")
    closed = solver in _CLOSED_SOLVERS or (solver == "lstsq" and not is_sparse)
    if closed and not close(found[used], said[used], size):
        raise other_rows(model, "it would fit other values")
    if not closed and np.abs(found - said)[used].max(initial=0.0) > 0.01 * size:
        return "approximate", "its solver stopped early, or it was fitted to other rows"
    return ("exact" if closed else "approximate"), None


def _nearly_collinear(values: Floats) -> bool:
    return bool(len(values) and values[-1] < _COLLINEAR * values[0])


def _balanced(
    model: Any, rows: Any, targets: Floats, weights: Floats, codes: Ints
) -> tuple[Floats, Bools]:
    """Return scores without each row, the weights of the classes balanced without it."""
    scores, known = np.zeros_like(targets), np.zeros(len(codes), dtype=bool)
    counts = np.bincount(codes)
    for code in range(len(counts)):
        left = counts - (np.arange(len(counts)) == code)
        by_class = left.sum() / ((left > 0).sum() * np.maximum(left, 1))
        problem = Problem.of(model, rows, targets, weights * by_class[codes])
        mine = codes == code
        without, sure = problem.left_out(np.zeros_like(targets))
        scores[mine], known[mine] = without[mine], (sure.all(axis=1) & (weights > 0))[mine]
    return scores, known


def _forget_lone_classes(scores: Floats, codes: Ints) -> Bools:
    """Give a class that leaves with its only row the lowest score; return which rows are left."""
    gone = np.bincount(codes)[codes] == 1
    if scores.shape[1] == 1:
        return np.asarray(~gone)
    scores[gone, codes[gone]] = np.finfo(scores.dtype).min
    return np.ones(len(codes), dtype=bool)


FAMILIES = (LinearFamily(), RidgeClassifierFamily())
