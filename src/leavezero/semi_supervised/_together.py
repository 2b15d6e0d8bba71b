"""Fit models that differ in their settings with one decomposition a kernel."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, validate_data

from leavezero._random import seed_sequence, stream
from leavezero._typing import Floats, Ints, Table
from leavezero.semi_supervised._checks import check_convex, check_parameters
from leavezero.semi_supervised._decompose import (
    Decomposition,
    approximate,
    decompose_checked,
    support_rows,
    vectors_at,
)
from leavezero.semi_supervised._folds import MOST_LABELS
from leavezero.semi_supervised._kernels import Kernel, blocks, check_square, median_distance, square
from leavezero.semi_supervised._labels import Labels, class_prior, read_labels
from leavezero.semi_supervised._solve import (
    Setting,
    Solution,
    given_values,
    labeled_rows,
    probabilities,
    solve_labeled,
)

if TYPE_CHECKING:
    from leavezero.semi_supervised._smir import SMIRClassifier

EXACT_ROWS = 10_000
LANDMARKS = 2_000


def fit_many(models: Sequence["SMIRClassifier"], X: Table, y: Any) -> list["SMIRClassifier"]:
    """Fit models to the same data, and return them.

    Models that differ only in ``gamma``, ``offset`` or ``prior`` share the two decompositions of
    their kernel, which are nearly all of the cost; each is equal to one that is fitted alone.
    One decomposition is held in memory at a time.

    Parameters
    ----------
    models : sequence of SMIRClassifier
        Fitted in place.
    X : array or sparse matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        With the models' marker in rows without a label.

    Returns
    -------
    list of SMIRClassifier
        The models, in the order given.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import SMIRClassifier, fit_many
    >>> X = np.array([[0.0], [0.1], [0.2], [2.0], [2.1], [2.2]])
    >>> models = [SMIRClassifier(gamma=gamma) for gamma in (0.01, 0.1, 1.0)]
    >>> for model in fit_many(models, X, [0, -1, -1, 1, -1, -1]):
    ...     print(model.transduction_)
    [0 0 0 1 1 1]
    [0 0 0 1 1 1]
    [0 0 0 1 1 1]
    """
    models = list(models)
    for model in models:
        check_parameters(model)
    rows: Any = None
    for model in models:
        if rows is None:
            rows = validate_data(model, X, accept_sparse="csr", dtype=np.float64)
        else:
            validate_data(model, X, skip_check_array=True)
    groups: dict[Hashable, list[SMIRClassifier]] = {}
    for model in models:
        groups.setdefault(_shared(model), []).append(model)
    middle = median_distance(rows) if any(model.kernel == "rbf" for model in models) else 1.0
    for group in groups.values():
        _fit_group(group, Kernel(group[0].kernel, group[0].width * middle), rows, y)
    return models


def _shared(model: "SMIRClassifier") -> Hashable:
    """Return what two models must have in common to share a decomposition and labels."""
    width = model.width if model.kernel == "rbf" else None
    # Objects that are not equal by their value are the same if they are one object.
    kernel = model.kernel if isinstance(model.kernel, str) else id(model.kernel)
    state = model.random_state
    seed = state if isinstance(state, int) else id(state)
    return (repr(model.unlabeled), kernel, width, model.n_components, seed)


def _fit_group(models: list["SMIRClassifier"], kernel: Kernel, rows: Any, y: Any) -> None:
    first = models[0]
    labels = read_labels(y, first.unlabeled)
    check_consistent_length(rows, y)
    settings = [_checked_setting(model, labels) for model in models]
    decomposition, support = _decomposed(kernel, rows, labels, first)
    vectors = vectors_at(decomposition, kernel, rows, support, labels.rows)
    labeled = labeled_rows(decomposition, vectors)
    n_classes = len(labels.classes)
    solutions = solve_labeled(decomposition, labeled, labels.codes, n_classes, settings)
    values = _given(decomposition, kernel, rows, support, solutions)
    for model, setting, solution, value in zip(models, settings, solutions, values, strict=True):
        model._kernel, model._support, model._setting = kernel, support, setting
        model._labels = labels
        model._labeled_rows = labeled if len(labels.rows) <= MOST_LABELS else None
        _describe(model, labels, solution, probabilities(value, solution.prior))


def _checked_setting(model: "SMIRClassifier", labels: Labels) -> Setting:
    """Return the setting of a model, before anything dear is computed for a wrong one."""
    setting = Setting(model.gamma, model.offset, model.prior)
    check_convex(setting, len(labels.classes), labels.n_rows)
    class_prior(setting.prior, labels.codes, len(labels.classes))
    return setting


def _describe(
    model: "SMIRClassifier", labels: Labels, solution: Solution, distributions: Floats
) -> None:
    """Set what a fitted model shows."""
    model.classes_, model.labeled_ = labels.classes, labels.rows
    model.class_prior_ = solution.prior
    model.coef_ = solution.coef.copy()  # a part of a matrix of all settings
    model.label_distributions_ = distributions
    model.transduction_ = labels.classes[distributions.argmax(axis=1)]


def _decomposed(
    kernel: Kernel, rows: Any, labels: Labels, model: "SMIRClassifier"
) -> tuple[Decomposition, Any]:
    """Return the decomposition of the kernel, or of its approximation, and its support."""
    n_components = model.n_components
    if n_components is None:
        n_components = labels.n_rows if labels.n_rows <= EXACT_ROWS else LANDMARKS
    if n_components >= labels.n_rows:
        support = slice(None) if kernel.kind == "precomputed" else rows
        return decompose_checked(square(kernel, rows)), support
    check_square(kernel, rows)
    root = seed_sequence(model.random_state)
    landmarks = _landmarks(labels, n_components, stream(root, "landmarks"))
    decomposition = approximate(kernel, rows, landmarks, stream(root, "degrees"))
    return decomposition, support_rows(kernel, rows, landmarks)


def _landmarks(labels: Labels, n_components: int, rng: np.random.Generator) -> Ints:
    """Return random rows, labelled ones first as far as they fill no more than half the places."""
    labeled = rng.permutation(labels.rows)[: max(1, n_components // 2)]
    others = np.setdiff1d(np.arange(labels.n_rows), labeled)
    more = rng.choice(others, n_components - len(labeled), replace=False)
    return np.sort(np.concatenate([labeled, more]))


def _given(
    decomposition: Decomposition,
    kernel: Kernel,
    rows: Any,
    support: Any,
    solutions: list[Solution],
) -> list[Floats]:
    """Return the values of each solution at the given rows."""
    if decomposition.exact:
        return given_values(decomposition, solutions)
    coef = np.hstack([solution.coef for solution in solutions])
    values = values_at(kernel, rows, support, coef)
    return np.split(values, len(solutions), axis=1)


def values_at(kernel: Kernel, rows: Any, support: Any, coef: Floats) -> Floats:
    """Return the kernel of rows with the support, times coefficients, in bounded memory."""
    values = np.empty((rows.shape[0], coef.shape[1]))
    for batch in blocks(rows.shape[0], len(coef)):
        values[batch] = kernel.between(rows[batch], support) @ coef
    return values
