"""SMIRClassifier, joint fits, and probabilities of labeled rows without their labels.

Rows whose labels are held out stay in the training data as unlabeled rows, so the kernel and its
decomposition are the same in every fold.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from leavezero._random import seed_sequence, stratified_folds, stream
from leavezero._tables import plain
from leavezero._typing import AnyArray, Bools, Floats, Ints, RandomState, Table
from leavezero.semi_supervised._smir_kernels import KERNELS, Kernel, median_distance
from leavezero.semi_supervised._smir_labels import Labels, class_prior, read_labels
from leavezero.semi_supervised._smir_solver import (
    Decomposition,
    SMIRParams,
    class_scale,
    decompose,
    decompose_nystrom,
    labeled_kernel,
    probabilities,
    solve,
)

MAX_EXACT_ROWS = 10_000
N_LANDMARKS = 2_000
MAX_LABELS_OF_FOLDS = 2_000  # with more, a model does not keep the arrays for held_out_scores


class SMIRClassifier(ClassifierMixin, BaseEstimator):
    """Squared-loss mutual information regularization (SMIR), a semi-supervised classifier.

    A kernel model of the class probabilities is fitted to the labels by squared loss, while
    ``gamma`` times the squared-loss mutual information between all rows and their classes is
    maximized, which favors confident predictions of all classes. The objective is convex, and its
    minimizer solves one linear system (Niu et al. 2013).

    Parameters
    ----------
    kernel : "rbf", "cosine", "precomputed" or callable, default="rbf"
        Nonnegative similarity. "rbf" is exp(-d^2 / (2 w^2)) of the Euclidean distance d. With
        "precomputed", X is the kernel matrix of all rows, and in ``predict`` that of new rows with
        them. A callable takes two arrays of rows and returns the matrix.
    width : float, default=0.2
        The width w of "rbf" as a multiple of the median distance between rows (of at most 2,000
        rows, evenly spaced). Other kernels ignore it.
    gamma : float, default=0.1
        Weight of the mutual information, at least 0.
    offset : float, default=1e-6
        Difference between the weight of the squared penalty, lambda = gamma * n_classes / n_rows
        + offset, and the bound above which the objective is convex. Positive.
    prior : "empirical", "uniform" or array of shape (n_classes,), default="empirical"
        Class probabilities among all rows: the frequencies of the labels, equal ones, or given in
        the order of ``classes_``.
    unlabeled : object, default=-1
        Marker of unlabeled rows in y. None and NaN both match all missing values.
    n_components : int or None, default=None
        Number of landmarks of the Nyström approximation of the kernel. None is the exact solution
        for up to 10,000 rows, and 2,000 landmarks for more.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the choice of landmarks; the exact solution is deterministic.

    Attributes
    ----------
    classes_, class_prior_ : arrays of shape (n_classes,)
        Class labels and their prior probabilities.
    label_distributions_ : array of shape (n_rows, n_classes)
        Class probabilities of the training rows.
    transduction_ : array of shape (n_rows,)
        Predicted class of each training row.
    labeled_ : array of int of shape (n_labeled,)
        Indices of the labeled rows.
    coef_ : array of shape (n_support, n_classes)
        Coefficients of the kernel with the training rows, or with the landmarks.

    See Also
    --------
    fit_many : Fit many parameters with shared eigendecompositions.

    Notes
    -----
    The exact solution takes two eigendecompositions of n x n matrices, O(n^3) time and O(n^2)
    memory; the Nyström approximation with m landmarks O(n m^2) time and O(m^2 + n_labeled m)
    memory. The approximation is poor for rows far from all landmarks, so narrow kernels need more
    landmarks.

    The values of each class are scaled such that their mean over all training rows is the class's
    prior, and negative values are set to 0. Far from all rows the probabilities are the prior.

    References
    ----------
    G. Niu, W. Jitkrittum, B. Dai, H. Hachiya, M. Sugiyama (2013). Squared-loss mutual information
    regularization: a novel information-theoretic approach to semi-supervised learning. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from leavezero.semi_supervised import SMIRClassifier
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> y_few = np.where(np.arange(200) < 10, y, -1)
    >>> model = SMIRClassifier().fit(X, y_few)
    >>> bool((model.transduction_ == y).mean() > 0.95)
    True
    """

    def __init__(
        self,
        kernel: str | Callable[[Table, Table], Any] = "rbf",
        *,
        width: float = 0.2,
        gamma: float = 0.1,
        offset: float = 1e-6,
        prior: str | ArrayLike = "empirical",
        unlabeled: Any = -1,
        n_components: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.width = width
        self.gamma = gamma
        self.offset = offset
        self.prior = prior
        self.unlabeled = unlabeled
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Table, y: Any) -> Self:
        """Fit to labeled and unlabeled rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Labels, with the marker in unlabeled rows. All rows may be labeled.

        Returns
        -------
        self
        """
        fit_many([self], X, y)
        return self

    def predict_proba(self, X: Table) -> Floats:
        """Return class probabilities.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        return predict_proba_many([self], X)[0]

    def predict(self, X: Table) -> AnyArray:
        """Return the most probable classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def fit_many(models: Sequence[SMIRClassifier], X: Table, y: Any) -> list[SMIRClassifier]:
    """Fit several models to the same data.

    Models that differ only in ``gamma``, ``offset`` or ``prior`` share the eigendecompositions of
    their kernel, which take nearly all of the time. The models equal those of separate fits.

    Parameters
    ----------
    models : sequence of SMIRClassifier
        Fitted in place.
    X : array or sparse matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        Labels, with the models' marker in unlabeled rows.

    Returns
    -------
    list of SMIRClassifier
        The models, in the given order.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import SMIRClassifier, fit_many
    >>> X = np.array([[0.0], [0.1], [0.2], [2.0], [2.1], [2.2]])
    >>> models = [SMIRClassifier(gamma=gamma) for gamma in (0.1, 1.0)]
    >>> for model in fit_many(models, X, [0, -1, -1, 1, -1, -1]):
    ...     print(model.transduction_)
    [0 0 0 1 1 1]
    [0 0 0 1 1 1]
    """
    models = list(models)
    if not models:
        return []
    groups: dict[Hashable, list[SMIRClassifier]] = {}
    for model in models:
        _check_params(model)
        groups.setdefault(_decomposition_key(model), []).append(model)
    table = validate_data(models[0], X, accept_sparse="csr", dtype=np.float64)
    for model in models[1:]:
        validate_data(model, X, skip_check_array=True)
    median = median_distance(table) if any(model.kernel == "rbf" for model in models) else 1.0
    for group in groups.values():
        _fit_group(group, Kernel(group[0].kernel, group[0].width * median), table, y)
    return models


def predict_proba_many(models: Sequence[SMIRClassifier], X: Table) -> list[Floats]:
    """Return the class probabilities of several models.

    The kernel of models that were fitted with the same one by one call of :func:`fit_many` is
    computed once.
    """
    for model in models:
        check_is_fitted(model)
    table = validate_data(models[0], X, accept_sparse="csr", dtype=np.float64, reset=False)
    groups: dict[Any, list[int]] = {}
    for index, model in enumerate(models):
        groups.setdefault((id(model._kernel), id(model._support)), []).append(index)
    results: list[Any] = [None] * len(models)
    for indices in groups.values():
        first = models[indices[0]]
        coefs = [models[index].coef_ for index in indices]
        values = first._kernel.product(table, first._support, np.hstack(coefs))
        ends = np.cumsum([coef.shape[1] for coef in coefs])[:-1]
        for index, part in zip(indices, np.split(values, ends, axis=1), strict=True):
            results[index] = probabilities(part, models[index].class_prior_)
    return results


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Class probabilities of labeled rows whose labels were held out."""

    rows: Ints  # of shape (n_labeled,)
    scores: Floats  # of shape (n_repeats, n_labeled, n_classes); n_repeats is 0 with a reason
    reason: str | None = None  # why there are no scores


def held_out_scores(
    model: SMIRClassifier,
    n_repeats: int = 4,
    n_folds: int = 5,
    random_state: RandomState = 0,
) -> HeldOutScores:
    """Return the class probabilities of each labeled row with its label held out.

    The labeled rows are split ``n_repeats`` times into at most ``n_folds`` stratified folds. The
    result equals that of models fitted with the labels of a fold replaced by the marker, but is
    computed from the fitted model. There are no scores if a class has only one label or there are
    more than 2,000 labels.
    """
    check_is_fitted(model)
    labels = model._labels
    reason = _unavailable_reason(model)
    if reason is not None:
        return HeldOutScores(labels.rows, np.empty((0, len(labels.rows), labels.n_classes)), reason)
    root = seed_sequence(random_state)
    n_folds = min(n_folds, int(np.bincount(labels.codes).min()))
    partitions = [
        stratified_folds(labels.codes, n_folds, stream(root, "repeat", repeat))
        for repeat in range(n_repeats)
    ]
    return HeldOutScores(labels.rows, _fold_probabilities(model, partitions))


def _check_params(model: SMIRClassifier) -> None:
    components = 1 if model.n_components is None else model.n_components
    is_count = isinstance(components, Integral) and not isinstance(components, bool)
    checks = (
        ("kernel", callable(model.kernel) or model.kernel in KERNELS, f"callable or in {KERNELS}"),
        ("width", _is_number(model.width) and model.width > 0, "a positive number"),
        ("gamma", _is_number(model.gamma) and model.gamma >= 0, "a number of at least 0"),
        ("offset", _is_number(model.offset) and model.offset > 0, "a positive number"),
        ("n_components", is_count and components > 0, "None or a positive int"),
    )
    for name, valid, requirement in checks:
        if not valid:
            raise ValueError(
                f"{name} of SMIRClassifier must be {requirement}, got {getattr(model, name)!r}."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)


def _decomposition_key(model: SMIRClassifier) -> Hashable:
    """Return what two models must have in common to share labels and a decomposition."""
    width = model.width if model.kernel == "rbf" else None
    # Callables and random generators are compared by identity.
    kernel = model.kernel if isinstance(model.kernel, str) else id(model.kernel)
    state = model.random_state
    seed = state if isinstance(state, int) else id(state)
    return (repr(model.unlabeled), kernel, width, model.n_components, seed)


def _fit_group(models: list[SMIRClassifier], kernel: Kernel, X: Any, y: Any) -> None:
    """Fit models that share a decomposition."""
    labels = read_labels(y, models[0].unlabeled)
    check_consistent_length(X, y)
    params = [_checked_params(model, labels) for model in models]
    decomposition, support = _decompose(kernel, X, labels, models[0])
    labeled = decomposition.labeled_rows(kernel, X, support, labels.rows)
    solutions = solve(decomposition, labeled, labels.codes, labels.n_classes, params)
    if decomposition.exact:
        values = decomposition.values(solutions)
    else:
        coefs = np.hstack([solution.coef for solution in solutions])
        values = np.split(kernel.product(X, support, coefs), len(solutions), axis=1)
    for model, one, solution, f in zip(models, params, solutions, values, strict=True):
        model._kernel, model._support, model._params = kernel, support, one
        model._labels = labels
        model._labeled_rows = labeled if len(labels.rows) <= MAX_LABELS_OF_FOLDS else None
        model.classes_, model.labeled_ = labels.classes, labels.rows
        model.class_prior_ = solution.prior
        model.coef_ = solution.coef.copy()  # otherwise a view of all models' coefficients
        model.label_distributions_ = probabilities(f, solution.prior)
        model.transduction_ = labels.classes[model.label_distributions_.argmax(axis=1)]


def _checked_params(model: SMIRClassifier, labels: Labels) -> SMIRParams:
    """Return the parameters, checked before the decomposition, which takes long."""
    bound = model.gamma * labels.n_classes / labels.n_rows
    if not bound + model.offset > bound:
        raise ValueError(
            f"offset={model.offset!r} of SMIRClassifier is lost in rounding when added to gamma * "
            f"n_classes / n_rows = {bound:.6g}, so the objective is not convex. Increase it."
        )
    class_prior(model.prior, labels.codes, labels.n_classes)
    return SMIRParams(model.gamma, model.offset, model.prior)


def _decompose(
    kernel: Kernel, X: Any, labels: Labels, model: SMIRClassifier
) -> tuple[Decomposition, Any]:
    """Return the decomposition of the kernel matrix or its approximation, and its support."""
    n_components = model.n_components
    if n_components is None:
        n_components = labels.n_rows if labels.n_rows <= MAX_EXACT_ROWS else N_LANDMARKS
    if n_components >= labels.n_rows:
        return decompose(kernel.matrix(X)), kernel.support(X)
    kernel.check_square(X)
    root = seed_sequence(model.random_state)
    landmarks = _landmarks(labels, n_components, stream(root, "landmarks"))
    decomposition = decompose_nystrom(kernel, X, landmarks, stream(root, "degrees"))
    return decomposition, kernel.support(X, landmarks)


def _landmarks(labels: Labels, n_components: int, rng: np.random.Generator) -> Ints:
    """Return random rows, of which at most half, if possible, are labeled."""
    labeled = rng.permutation(labels.rows)[: max(1, n_components // 2)]
    others = np.setdiff1d(np.arange(labels.n_rows), labeled)
    more = rng.choice(others, n_components - len(labeled), replace=False)
    return np.sort(np.concatenate([labeled, more]))


def _unavailable_reason(model: SMIRClassifier) -> str | None:
    if model._labeled_rows is None:
        return f"the model has more than {MAX_LABELS_OF_FOLDS} labeled rows"
    counts = np.bincount(model._labels.codes)
    if counts.min() < 2:
        name = plain(model._labels.classes[counts.argmin()])
        return f"class {name!r} has only one labeled row"
    return None


def _fold_probabilities(model: SMIRClassifier, partitions: list[Ints]) -> Floats:
    """Return the probabilities of held-out rows for each partition into folds."""
    labeled, params = model._labeled_rows, model._params
    codes, n_classes = model._labels.codes, model._labels.n_classes
    p = labeled.inverse_penalties(params, n_classes)
    R = labeled_kernel(labeled, p)
    column_sums = labeled.vectors @ (labeled.spectrum * p * labeled.sums)  # of C, over all rows
    Y = np.eye(n_classes)[codes]
    inverses: dict[int, Floats] = {}  # by the number of labels that remain
    scores = np.empty((len(partitions), *Y.shape))
    for folds, result in zip(partitions, scores, strict=True):
        for fold in np.unique(folds):
            out = folds == fold
            left = int((~out).sum())
            if left not in inverses:
                identity = np.eye(len(R))
                factor = linalg.cho_factor(R + left * identity, overwrite_a=True)
                inverses[left] = np.asarray(linalg.cho_solve(factor, identity))
            prior = class_prior(params.prior, codes[~out], n_classes)
            values, kept_values, Z = _without_fold(inverses[left], Y, out, left)
            scale = class_scale(column_sums[~out] @ Z, kept_values, prior, labeled.n_rows)
            result[out] = probabilities(values * scale, prior)
    return scores


def _without_fold(inverse: Floats, Y: Floats, out: Bools, n_left: int) -> tuple[Floats, ...]:
    """Return held-out values, values at the other labeled rows, and Z of those, for a fold F.

    With G = (R + l I)^-1, l the number of labels that remain, and Z = G Y, removing the labels of F
    gives Z - G[:, F] G[F, F]^-1 Z[F] and the held-out values Y[F] - G[F, F]^-1 Z[F] (block form of
    the leave-one-out residuals of a linear smoother).
    """
    Z = inverse @ Y
    residuals = linalg.solve(inverse[np.ix_(out, out)], Z[out], assume_a="pos")
    Z = (Z - inverse[:, out] @ residuals)[~out]
    return Y[out] - residuals, Y[~out] - n_left * Z, Z
