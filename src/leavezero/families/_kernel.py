"""Kernel ridge and Gaussian processes: leave-one-out from the inverse of the kernel matrix.

With A = (K + noise)^-1 and a = A y the residual of row i in a fit without it is a_i / A_ii
(Rasmussen and Williams 2006, equation 5.12).
"""

from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_array

from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._fingerprint import check_answers, check_no_weights, close
from leavezero.families._fitted_to import MOST_CELLS, fitted_weights, other_rows
from leavezero.families._together import blocks_of, fit_each, fit_one, hand_on, settings_key

_NEARLY_SINGULAR = 1e-13
_SINGULAR = "its kernel matrix is so close to singular that rounding decides"


class KernelRidgeFamily(Family):
    """Kernel ridge with any kernel, given matrices too, with weights and several outputs.

    Examples
    --------
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from leavezero.families._kernel import KernelRidgeFamily
    >>> X, y = [[1.0], [2.0]], [1.0, 4.0]
    >>> model = KernelRidge(alpha=1.0).fit(X, y)
    >>> KernelRidgeFamily().unseen(model, X, y).responses["predict"].round(6).tolist()
    [1.6, 1.0]
    """

    name = "kernel ridge"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is scikit-learn's."""
        return type(estimator) is KernelRidge

    def refuses(self, estimator: Any) -> None:
        """Refuse nothing."""

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return the predictions without each row."""
        check_answers(self, model)
        targets = np.asarray(y, dtype=np.float64)
        n_rows = len(targets)
        if not _same_table(model.X_fit_, X):
            raise other_rows(model, "its X_fit_ is different")
        weights = fitted_weights(sample_weight, n_rows)
        kernel, dual = _kernel(model), model.dual_coef_.reshape(n_rows, -1)
        columns = targets.reshape(n_rows, -1)
        penalties = np.broadcast_to(np.ravel(model.alpha).astype(np.float64), columns.shape[1:])
        fitted = kernel @ dual
        share = np.empty_like(columns)
        for penalty in np.unique(penalties):
            diagonal = _inverse_diagonal(kernel, penalty, weights)
            if diagonal is None:
                return Unseen("exact", {}, doubt=_SINGULAR)
            share[:, penalties == penalty] = diagonal[:, None]
        _check_solves(model, fitted, columns, penalties * dual, weights)
        # Rows without weight were never seen; the fit itself is the one without them.
        scores = np.where(weights[:, None] > 0, columns - dual / share, fitted)
        return Unseen("exact", {"predict": scores.reshape(targets.shape)})

    def shares(self, estimator: Any) -> Any:
        """Return all parameters but the penalty; a given matrix leaves nothing to share."""
        if isinstance(estimator.kernel, str) and estimator.kernel == "precomputed":
            return None
        return settings_key(estimator, "alpha")

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit estimators from one kernel matrix; equal to plain fits bit for bit."""
        first, *others = estimators
        fit_one(first, X, y, sample_weight)
        if count_rows(X) ** 2 > MOST_CELLS:
            fit_each(others, X, y, sample_weight)
            return
        kernel = _kernel(first)
        for one in others:
            given = clone(one).set_params(kernel="precomputed")
            dual = fit_one(given, kernel, y, sample_weight).dual_coef_
            hand_on(first, one, {"dual_coef_": dual}, shared=[first.X_fit_])

    def respond_many(self, models: list[Any], X: Table) -> list[dict[str, AnyArray]]:
        """Return predictions from one kernel matrix with the rows, up to rounding."""
        first = models[0]
        duals = [model.dual_coef_.reshape(count_rows(first.X_fit_), -1) for model in models]
        ends = np.cumsum([dual.shape[1] for dual in duals])[:-1]
        columns = np.hstack(duals)
        parts = [
            _kernel(first, _like(first.X_fit_, block)) @ columns
            for block in blocks_of(X, len(columns))
        ]
        said = np.split(np.concatenate(parts), ends, axis=1)
        shapes = [(-1, *model.dual_coef_.shape[1:]) for model in models]
        return [{"predict": one.reshape(shape)} for one, shape in zip(said, shapes, strict=True)]


class GaussianProcessFamily(Family):
    """Gaussian process regression: exact if no kernel parameter was learned, else approximate.

    With ``normalize_y`` the mean is the one without the row; the standard deviation cancels.

    Examples
    --------
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from leavezero.families._kernel import GaussianProcessFamily
    >>> X, y = [[1.0], [2.0], [4.0]], [1.0, 4.0, 2.0]
    >>> model = GaussianProcessRegressor(optimizer=None).fit(X, y)
    >>> GaussianProcessFamily().unseen(model, X, y).kind
    'exact'
    """

    name = "gaussian process"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is scikit-learn's regressor."""
        return type(estimator) is GaussianProcessRegressor

    def refuses(self, estimator: Any) -> None:
        """Refuse nothing."""

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return the means without each row."""
        check_answers(self, model)
        check_no_weights(model, sample_weight)
        targets = np.asarray(y, dtype=np.float64)
        _check_process(model, X, targets)
        columns = targets.reshape(len(targets), -1)
        inverse = _inverse(model.L_)
        diagonal = (inverse**2).sum(axis=0)[:, None]
        without = columns - (inverse.T @ (inverse @ columns)) / diagonal
        if model.normalize_y:
            # The rule is linear in y, so that level m adds m (1 - the rule for a column of ones).
            level = (columns.sum(axis=0) - columns) / (len(columns) - 1)
            without += level * (inverse.T @ inverse.sum(axis=1))[:, None] / diagonal
        learned = model.optimizer is not None and model.kernel_.n_dims > 0
        shape = targets.shape[:1] if columns.shape[1] == 1 else targets.shape
        return Unseen(
            "approximate" if learned else "exact",
            {"predict": without.reshape(shape)},
            doubt=_SINGULAR if _near_singular(model.L_, diagonal[:, 0]) else None,
        )


def _same_table(known: Any, X: Table) -> bool:
    if sparse.issparse(known) or sparse.issparse(X):
        both = sparse.issparse(known) and sparse.issparse(X) and known.shape == X.shape
        return bool(both and abs(known - X).max() == 0)
    return bool(np.array_equal(np.asarray(known), np.asarray(X)))


def _like(known: Any, X: Table) -> Any:
    """Return rows as the model takes them: an array, or a sparse matrix."""
    plain = type(X) is np.ndarray and X.dtype == known.dtype
    return X if plain else check_array(X, accept_sparse=("csr", "csc"))


def _kernel(model: Any, rows: Any = None) -> Floats:
    """Return the kernel of the fitted rows with one another, or of others with them.

    It is computed as the model does.
    """
    if callable(model.kernel):
        more = model.kernel_params or {}
    else:
        more = {"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0}
    first, second = (model.X_fit_, None) if rows is None else (rows, model.X_fit_)
    kernel = pairwise_kernels(first, second, metric=model.kernel, filter_params=True, **more)
    return np.asarray(kernel.toarray() if sparse.issparse(kernel) else kernel)


def _check_solves(
    model: Any, fitted: Floats, targets: Floats, penalized: Floats, weights: Floats
) -> None:
    """Raise if W (K a - y) + alpha a, the equation that the fit solves, is not zero.

    The equation holds up to rounding even where the solution itself does not.
    """
    if fitted.shape != targets.shape:
        raise other_rows(model, f"y has the shape {targets.shape}, not {fitted.shape}")
    off = weights[:, None] * (fitted - targets) + penalized
    size = max(float(np.abs(part).max(initial=0.0)) for part in (fitted, targets, penalized))
    if not close(off, np.zeros_like(off), size * float(weights.max(initial=0.0))):
        raise other_rows(model, "its dual_coef_ would be different")


def _inverse_diagonal(kernel: Floats, penalty: float, weights: Floats) -> Floats | None:
    """Return the diagonal of (K + alpha / W)^-1, None if the matrix is near to singular.

    A row without weight has an endless alpha / w; it gets 1 and is not asked for.
    """
    roots = np.sqrt(weights)
    matrix = kernel * np.outer(roots, roots)
    matrix[np.diag_indices_from(matrix)] += penalty
    try:
        lower = linalg.cholesky(matrix, lower=True)
    except linalg.LinAlgError:  # the kernel is not positive definite, or alpha is 0
        return None
    diagonal = (_inverse(lower) ** 2).sum(axis=0)
    if _near_singular(lower, diagonal):
        return None
    return np.where(weights > 0, diagonal * weights, 1.0)


def _near_singular(lower: Floats, inverse_diagonal: Floats) -> bool:
    """Tell whether the largest diagonals of L L' and its inverse are too many digits apart."""
    largest = (lower**2).sum(axis=1).max() * inverse_diagonal.max()
    return bool(not largest < 1.0 / _NEARLY_SINGULAR)


def _inverse(lower: Floats) -> Floats:
    """Return the inverse of a Cholesky factor L; (L L')^-1 has the diagonal of its squares."""
    return np.asarray(linalg.lapack.dtrtri(lower, lower=True)[0])


def _check_process(model: Any, X: Table, targets: Floats) -> None:
    if not hasattr(model, "X_train_"):  # scikit-learn lets it predict from the prior
        raise NotFittedError("GaussianProcessRegressor has seen no rows yet. Call fit first.")
    if not _same_table(model.X_train_, X):
        raise other_rows(model, "its X_train_ is different")
    if model.normalize_y:
        spread = targets.std(axis=0)
        targets = (targets - targets.mean(axis=0)) / np.where(spread == 0, 1.0, spread)
    if not close(targets, np.asarray(model.y_train_), float(np.abs(targets).max(initial=0.0))):
        raise other_rows(model, "its y_train_ would be different")


FAMILIES = (KernelRidgeFamily(), GaussianProcessFamily())
