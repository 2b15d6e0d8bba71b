"""Jensen-Shannon divergence between training data and the rows that an augmenter generates."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from leavezero._random import integer_seed, seed_sequence, stream, substream, with_seed
from leavezero._tables import count_rows, stack_rows, take_rows
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.diagnostics._two_sample import (
    DivergenceEstimate,
    check_int,
    check_n_rows,
    classify_samples,
    extract_features,
    split_into_parts,
)
from leavezero.exceptions import SmallClassWarning

N_PARTS = 3  # one fit of the augmenter per part
MIN_ROWS_IN_CLASS = 2 * N_PARTS  # two rows in every part
MAX_FLOAT_CLASSES = 20  # the augmenters' rule: floats with more distinct values are a regression
OWNER = "jensen_shannon_augmenter"


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

    A generated row depends on its source rows. With generated rows and source rows in different
    folds, a classifier would confuse them and the augmenter would look better than it is.
    Therefore the training rows are split into three parts and a clone of the augmenter is fitted
    to each part. The parts, each with the rows generated from it, are the folds of the
    cross-validation.

    The estimate is biased downward (see :func:`jensen_shannon_features`), and it is that of an
    augmenter fitted to a third of the rows: an augmenter that estimates a density may be better
    with all rows. Classes with fewer than six rows are left out.

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
        Pass an int for reproducible results.

    Returns
    -------
    DivergenceEstimate

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
    check_int(max_rows, MIN_ROWS_IN_CLASS, "max_rows", OWNER)
    check_n_rows(X, MIN_ROWS_IN_CLASS, "X", OWNER)
    y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    check_consistent_length(X, y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"y of {OWNER} contains NaN or infinity.")
    root = seed_sequence(random_state)
    is_regression = y.dtype.kind == "f" and (
        bool(np.any(y != np.rint(y))) or len(np.unique(y)) > MAX_FLOAT_CLASSES
    )
    strata = np.zeros(len(y), dtype=np.intp) if is_regression else _encode_classes(y)
    rows = _select_rows(strata, max_rows, stream(root, "rows"))
    parts = split_into_parts(strata[rows], N_PARTS, stream(root, "parts"))
    tables, targets, all_parts = [take_rows(X, rows)], [y[rows]], [parts]
    for part in range(N_PARTS):
        source = rows[parts == part]
        X_val, y_val = _generate(
            augmenter, take_rows(X, source), y[source], substream(root, "part", part)
        )
        tables.append(X_val)
        targets.append(y_val)
        all_parts.append(np.full(len(y_val), part))
    target = np.concatenate(targets)
    columns = _standardize(target) if is_regression else _indicators(target, len(rows))
    features = np.hstack([extract_features(stack_rows(tables), root), columns])
    is_train = (np.arange(len(target)) < len(rows)).astype(np.intp)
    return classify_samples(features, is_train, np.concatenate(all_parts), root).estimate()


def _generate(
    augmenter: Any, X: Table, y: AnyArray, root: np.random.SeedSequence
) -> tuple[Table, AnyArray]:
    """Return as many generated rows as training rows, with hard labels and without weights."""
    with warnings.catch_warnings():
        # The parts are small because of the split; the user cannot change that.
        warnings.simplefilter("ignore", SmallClassWarning)
        fitted = with_seed(clone(augmenter), integer_seed(root, "fit")).fit(X, y)
        # More generated rows per source row would look like more information than there is.
        generated = fitted.sample(count_rows(X), integer_seed(root, "sample"))
    target = np.asarray(generated.y)
    if generated.class_probabilities is not None:
        # A soft label is a random hard label: it has the same expected log loss.
        cumulative = np.cumsum(generated.class_probabilities, axis=1)
        uniform = stream(root, "labels").random((len(cumulative), 1)) * cumulative[:, -1:]
        target = np.unique(y)[(uniform > cumulative).sum(axis=1)]
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
            f"y of {OWNER} requires a class with at least {MIN_ROWS_IN_CLASS} rows, got at most "
            f"{counts.max()}."
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
        raise ValueError(
            f"The augmenter of {OWNER} generates labels that y does not have: {labels}."
        )
    return np.eye(codes.max() + 1)[codes] / np.sqrt(2)


def _standardize(target: AnyArray) -> Floats:
    values = target.reshape(len(target), -1).astype(np.float64)
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
