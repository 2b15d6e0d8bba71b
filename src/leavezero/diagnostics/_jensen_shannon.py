"""Jensen-Shannon divergence: exact for labels, and estimated for the rows of an augmenter."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial.distance import jensenshannon
from scipy.stats import multivariate_normal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.covariance import ledoit_wolf
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_consistent_length

from leavezero._random import (
    integer_seed,
    seed_sequence,
    stratified_folds,
    stream,
    substream,
    with_seed,
)
from leavezero._tables import Featurizer, count_rows, stack_rows, take_rows
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment import is_regression
from leavezero.exceptions import SmallClassWarning

LN2 = float(np.log(2.0))  # the largest Jensen-Shannon divergence, in nats
MAX_LOG_ODDS = float(np.log(0.999 / 0.001))  # probabilities are clipped to [0.001, 0.999]
MAX_COLUMNS = 100  # more are projected
N_PARTS = 3  # one fit of the augmenter per part
MIN_ROWS_IN_CLASS = 2 * N_PARTS  # two rows in every part


def jensen_shannon_labels(y: AnyArray, y_val: AnyArray) -> float:
    """Return the Jensen-Shannon divergence between the labels of two samples.

    It is exact for the observed frequencies, in nats, between 0 and ln 2. (SciPy's
    ``jensenshannon`` returns its square root.)

    Parameters
    ----------
    y, y_val : array of shape (n_rows,)
        Labels.

    Examples
    --------
    >>> from leavezero.diagnostics import jensen_shannon_labels
    >>> round(jensen_shannon_labels(["a", "a", "b", "b"], ["a", "b"]), 3)
    0.0
    >>> round(jensen_shannon_labels(["a", "a"], ["b", "b"]), 3)
    0.693
    """
    first, second = np.asarray(y), np.asarray(y_val)
    if first.ndim != 1 or second.ndim != 1 or not len(first) or not len(second):
        raise ValueError(
            "y and y_val of jensen_shannon_labels must be one column and not empty, got shapes "
            f"{first.shape} and {second.shape}."
        )
    classes, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    p, q = (np.bincount(part, minlength=len(classes)) for part in np.split(codes, [len(first)]))
    return divergence(p, q)


def joint_divergence(
    proportions: ArrayLike, proportions_val: ArrayLike, by_class: ArrayLike
) -> float:
    """Return the divergence of features and labels from those of the classes (chain rule).

    ``JS(x, y) = JS(y) + sum_y M(y) JS_w(x | y)`` is exact, with M = (P + Q) / 2 and the skewed
    divergence ``JS_w = H(w P + (1 - w) Q) - w H(P) - (1 - w) H(Q)`` at
    ``w = P(y) / (P(y) + Q(y))``, the usual one where both samples have equal class proportions.

    Parameters
    ----------
    proportions, proportions_val : sequence of float
        The class proportions P(y) of the training data and Q(y) of the validation set.
    by_class : sequence of float
        JS_w(x | y) of each class, in the same order. Entries of classes that occur in one sample
        only are ignored.

    Examples
    --------
    >>> from leavezero.diagnostics import joint_divergence
    >>> round(joint_divergence([0.5, 0.5], [0.5, 0.5], [0.1, 0.3]), 3)
    0.2
    """
    p, q, inner = _check_classes(proportions, proportions_val, by_class, "joint_divergence")
    inner = np.where((p == 0) | (q == 0), 0.0, inner)
    return min(LN2, divergence(p, q) + float((p + q) / 2 @ inner))


def corollary_divergence(
    proportions: ArrayLike, proportions_val: ArrayLike, by_class: ArrayLike
) -> float:
    """Return the upper bound of JS(x, y) in Corollary 1 (Li, Geng and Chen 2020).

    It is ``(sqrt(E_P JS(x | y) + E_Q JS(x | y)) + sqrt(JS(y))) ** 2``. It is valid but loose: the
    sum of both expectations counts each class twice, which gives 2 JS(x, y) at equal proportions,
    and more than ln 2 for samples that hardly overlap. :func:`joint_divergence` is exact.

    Parameters
    ----------
    proportions, proportions_val : sequence of float
        The class proportions P(y) of the training data and Q(y) of the validation set.
    by_class : sequence of float
        JS(x | y) of each class, in the same order, with equal weights of both samples.

    Examples
    --------
    >>> from leavezero.diagnostics import corollary_divergence
    >>> round(corollary_divergence([0.5, 0.5], [0.5, 0.5], [0.1, 0.3]), 3)
    0.4
    """
    p, q, inner = _check_classes(proportions, proportions_val, by_class, "corollary_divergence")
    return float((np.sqrt((p + q) @ inner) + np.sqrt(divergence(p, q))) ** 2)


@dataclass(frozen=True)
class DivergenceEstimate:
    """Estimate of a Jensen-Shannon divergence, biased downward.

    The expected value is at most the divergence, whatever the classifier. An upper bound cannot
    be estimated.

    Parameters
    ----------
    value : the estimate in nats, between 0 and ln 2
    standard_error : of ``raw``, over rows, without the bias of the classifier
    auc : cross-validated ROC AUC of the classifier; 0.5 if it cannot distinguish the samples
    raw : the estimate before it is clipped at 0
    n_rows, n_rows_val : the number of rows of each sample

    Examples
    --------
    >>> from leavezero.diagnostics import DivergenceEstimate
    >>> DivergenceEstimate(0.0, 0.01, 0.51, -0.002, 200, 200).auc
    0.51
    """

    value: float
    standard_error: float
    auc: float
    raw: float
    n_rows: int
    n_rows_val: int


def jensen_shannon_augmenter(
    augmenter: Any,
    X: Table,
    y: AnyArray,
    *,
    max_rows: int = 2000,
    random_state: RandomState = None,
) -> DivergenceEstimate:
    """Estimate the divergence between training data and the rows that an augmenter generates.

    It is the divergence JS(x, y) of features and target together. For JS(x | y) of one class pass
    the rows of this class only.

    The divergence is the mutual information between a row and the sample that it belongs to, so
    the cross-validated log loss of a classifier gives a lower bound of it. The classifier combines
    logistic regression and Gaussian discriminant analysis with shrunk covariances: differences
    of means and covariances are found, others only as far as they change these.

    A generated row depends on its source rows, which makes it look closer to the training data
    than it is unless both are in the same fold of the classifier. Therefore a clone of the
    augmenter is fitted to each third of the rows, and the thirds with the rows generated from
    them are the folds. The estimate is that of an augmenter fitted to a third of the rows. Classes
    with fewer than six rows are left out.

    Parameters
    ----------
    augmenter : augmenter
        Has ``fit(X, y)`` and ``sample(n_samples, random_state)``; it is cloned, not fitted.
    X : array, data frame, sparse matrix or sequence of strings
        The training rows, of a type that the augmenter supports.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Classes or a regression target. Combinations of several outputs count as classes.
    max_rows : int, default=2000
        Use at most this number of training rows, selected at random within classes.
    random_state : int, RandomState, Generator or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import GaussianAugmenter, LabelInvariantMixup
    >>> from leavezero.diagnostics import jensen_shannon_augmenter
    >>> X, y = np.random.default_rng(0).normal(size=(150, 10)), np.tile(["a", "b"], 75)
    >>> mixup = jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)
    >>> normal = jensen_shannon_augmenter(GaussianAugmenter(), X, y, random_state=0)
    >>> mixup.value > normal.value
    True
    """
    owner = "jensen_shannon_augmenter"
    check_int(max_rows, MIN_ROWS_IN_CLASS, "max_rows", owner)
    _check_n_rows(X, MIN_ROWS_IN_CLASS, "X", owner)
    y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    check_consistent_length(X, y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"y of {owner} contains NaN or infinity.")
    root = seed_sequence(random_state)
    has_values = is_regression(y)
    strata = np.zeros(len(y), dtype=np.intp) if has_values else _encode_classes(y)
    rows = _select_rows(strata, max_rows, stream(root, "rows"))
    parts = stratified_folds(strata[rows], N_PARTS, stream(root, "parts"))
    tables, targets, all_parts = [take_rows(X, rows)], [y[rows]], [parts]
    for part in range(N_PARTS):
        source, seed = rows[parts == part], substream(root, "part", part)
        X_val, y_val = _generate(augmenter, take_rows(X, source), y[source], seed)
        tables.append(X_val)
        targets.append(y_val)
        all_parts.append(np.full(len(y_val), part))
    target = np.concatenate(targets)
    if has_values:
        columns = StandardScaler().fit_transform(target.reshape(len(target), -1).astype(float))
    else:
        columns = _indicators(target, len(rows))
    features = np.hstack([_extract_features(stack_rows(tables), root), columns])
    is_train = (np.arange(len(target)) < len(rows)).astype(np.intp)
    return _classify_samples(features, is_train, np.concatenate(all_parts))


def divergence(p: AnyArray, q: AnyArray) -> float:
    """Return the Jensen-Shannon divergence of two histograms."""
    # Rounding can make SciPy take the square root of a tiny negative number.
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(jensenshannon(p, q)) ** 2)


def _check_classes(
    proportions: ArrayLike, proportions_val: ArrayLike, by_class: ArrayLike, owner: str
) -> tuple[Floats, Floats, Floats]:
    p, q, inner = (np.asarray(a, dtype=float) for a in (proportions, proportions_val, by_class))
    if not p.shape == q.shape == inner.shape or not np.allclose([p.sum(), q.sum()], 1.0):
        raise ValueError(
            f"proportions and proportions_val of {owner} must sum to 1, with one entry per class "
            f"as in by_class, got {p}, {q} and {inner}."
        )
    if not ((inner >= 0) & (inner <= LN2 + 1e-12)).all():
        raise ValueError(
            f"by_class of {owner} must be between 0 and ln 2 = {LN2:.4f} nats, got {inner}."
        )
    return p, q, inner


def _classify_samples(X: Floats, is_train: Ints, parts: Ints) -> DivergenceEstimate:
    """Estimate the divergence from a classifier with the parts as outer and inner folds."""
    # With D the out-of-fold probability of "training row" the estimate is
    # ln 2 + (mean ln D over training rows + mean ln(1 - D) over validation rows) / 2.
    models = [  # that find different means and different covariances
        ("linear", LogisticRegression(C=0.1, class_weight="balanced", max_iter=200)),
        ("gaussian", GaussianDiscriminant()),
    ]
    combination = LogisticRegression(class_weight="balanced")
    classifier = StackingClassifier(models, combination, stack_method="decision_function")
    log_odds, areas, folds = np.empty(len(X)), [], LeaveOneGroupOut()
    for train, test in folds.split(X, groups=parts):
        classifier.set_params(cv=list(folds.split(train, groups=parts[train])))
        with warnings.catch_warnings():
            # A fit that stops early still gives a lower bound of the divergence.
            warnings.simplefilter("ignore", ConvergenceWarning)
            classifier.fit(X[train], is_train[train])
        log_odds[test] = classifier.decision_function(X[test])
        areas.append(roc_auc_score(is_train[test], log_odds[test]))
    log_odds = np.clip(log_odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
    samples = [
        -np.logaddexp(0.0, sign * log_odds[is_train == code]) for code, sign in ((1, -1), (0, 1))
    ]
    raw = float(np.log(2.0) + sum(values.mean() for values in samples) / 2)
    variance = sum(values.var() / len(values) for values in samples) / 4
    return DivergenceEstimate(
        value=max(0.0, raw),
        standard_error=float(np.sqrt(variance)),
        auc=float(np.average(areas, weights=np.bincount(parts))),
        raw=raw,
        n_rows=len(samples[0]),
        n_rows_val=len(samples[1]),
    )


class GaussianDiscriminant(ClassifierMixin, BaseEstimator):
    """Quadratic discriminant analysis of two classes with Ledoit-Wolf covariances.

    scikit-learn's has this shrinkage only from version 1.8 on.
    """

    def fit(self, X: Floats, y: AnyArray) -> Self:
        """Fit a normal distribution to each class."""
        self.classes_ = np.unique(y)
        ridge = 1e-3 * np.eye(X.shape[1])  # for constant columns
        self.normals_ = [
            multivariate_normal(rows.mean(axis=0), ledoit_wolf(rows)[0] + ridge)
            for rows in (X[y == label] for label in self.classes_)
        ]
        return self

    def decision_function(self, X: Floats) -> Floats:
        """Return the log ratio of the densities of the second and the first class."""
        first, second = (np.atleast_1d(normal.logpdf(X)) for normal in self.normals_)
        return second - first

    def predict(self, X: Floats) -> AnyArray:
        """Return the class with the larger density (cross-validation requires this method)."""
        return self.classes_[(self.decision_function(X) > 0).astype(np.intp)]


def _extract_features(X: Table, root: np.random.SeedSequence) -> Floats:
    """Return at most about a hundred standardized features of a table with both samples."""
    features = Featurizer().fit(X).transform(X)
    is_sparse = sparse.issparse(features)
    n_components = min(MAX_COLUMNS, min(features.shape) - 1)
    if (not is_sparse and features.shape[1] <= MAX_COLUMNS) or n_components < 1:
        return features.toarray() if is_sparse else features
    svd = TruncatedSVD(n_components, random_state=integer_seed(root, "components"))
    components = svd.fit_transform(features)
    components /= max(components.std(), 1e-12)  # one scale: whitening would hide a common shift
    if not is_sparse:
        return components
    # Mixed rows have more nonzero entries, which the components do not show.
    n_nonzero = np.log1p(np.diff(features.tocsr().indptr))[:, None]
    return np.hstack([components, StandardScaler().fit_transform(n_nonzero)])


def _check_n_rows(X: Table, least: int, name: str, owner: str) -> None:
    """Raise unless a table has enough rows."""
    if count_rows(X) < least:
        raise ValueError(f"{name} of {owner} requires at least {least} rows, got {count_rows(X)}.")


def check_int(value: Any, least: int, name: str, owner: str) -> None:
    """Raise unless a value is an int of at least this size."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} of {owner} must be an int of at least {least}, got {value!r}.")


def _generate(
    augmenter: Any, X: Table, y: AnyArray, root: np.random.SeedSequence
) -> tuple[Table, AnyArray]:
    """Return as many generated rows as training rows, without weights."""
    with warnings.catch_warnings():
        # The parts are small because of the split; the user cannot change that.
        warnings.simplefilter("ignore", SmallClassWarning)
        fitted = with_seed(clone(augmenter), integer_seed(root, "fit")).fit(X, y)
        # More generated rows per source row would look like more information than there is.
        generated = fitted.sample(count_rows(X), integer_seed(root, "sample"))
    target = np.asarray(generated.y)
    if generated.sample_weight is None:
        return generated.X, target
    weights = np.asarray(generated.sample_weight, dtype=np.float64)
    rows = stream(root, "weights").choice(len(weights), len(weights), p=weights / weights.sum())
    return take_rows(generated.X, rows), target[rows]


def _select_rows(codes: Ints, max_rows: int, rng: np.random.Generator) -> Ints:
    """Return at most so many rows of classes that are large enough."""
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    if len(order) > max_rows:
        # Evenly spaced in the order of the classes: the class proportions are kept.
        order = order[np.floor(np.arange(max_rows) * len(order) / max_rows).astype(np.intp)]
    counts = np.bincount(codes[order])
    if counts.max() < MIN_ROWS_IN_CLASS:
        raise ValueError(
            "y of jensen_shannon_augmenter requires a class with at least "
            f"{MIN_ROWS_IN_CLASS} rows, got at most {counts.max()}."
        )
    return np.sort(order[counts[codes[order]] >= MIN_ROWS_IN_CLASS])


def _encode_classes(y: AnyArray) -> Ints:
    """Return the index of each row's class, or of its combination of several outputs."""
    return np.unique(y, axis=0 if y.ndim == 2 else None, return_inverse=True)[1].ravel()


def _indicators(target: AnyArray, n_train: int) -> Floats:
    """Return one column per class; two classes are at distance 1, as in ``Featurizer``."""
    codes = _encode_classes(target)
    unknown = ~np.isin(codes, codes[:n_train])
    if unknown.any():
        labels = np.unique(target[unknown], axis=0).tolist()[:5]
        raise ValueError(f"The augmenter generates labels that y does not have: {labels}.")
    return np.eye(codes.max() + 1)[codes] / np.sqrt(2)
