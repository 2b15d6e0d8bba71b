"""Checks of training rows (LZ08, LZ11) and of the validation set (LZ01, LZ02, LZ03)."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from leavezero._tables import (
    Featurizer,
    count_rows,
    is_pandas,
    is_polars,
    is_text,
    plain,
    take_rows,
)
from leavezero._typing import AnyArray, Table
from leavezero.augment import BiasCorrected, LabeledOnly, PseudoLabeled, SoftLabeled
from leavezero.diagnostics._check import (
    CV_FINALISTS,
    OTHER_AUGMENTER,
    Check,
    measured,
    not_applicable,
)
from leavezero.diagnostics._check_inputs import CheckInputs
from leavezero.diagnostics._jensen_shannon import jensen_shannon_labels
from leavezero.diagnostics._two_sample import (
    DivergenceEstimate,
    jensen_shannon_augmenter,
    jensen_shannon_features,
    random_rows,
)

MAX_DUPLICATES = 0.05  # share of rows
MAX_SORTEDNESS = 4.0  # standard deviations
MIN_ROWS_ORDER = 20  # rows for which an order can be detected
MAX_ROWS_DUPLICATES = 2_000
DUPLICATE_DISTANCE = 1e-6  # rounding error of a distance between equal standardized rows
MAX_FEATURE = 1e100  # squares of larger values may overflow
TOO_LARGE = "Values are too large for distances between rows."
RESPECT_ORDER = (
    "Use a splitter that respects the order or the groups: random folds and generated "
    "validation rows are both optimistic."
)
MAX_ROWS_COMPARED = 1_000  # of each sample, for the classifiers
MAX_QUERY_ROWS, MAX_NEIGHBOR_ROWS = 500, 20_000
NO_VALIDATION_SET = "There is no validation set."


def check_label_distribution(inputs: CheckInputs) -> Check:
    """LZ01: whether training data and validation set have the same label distribution."""
    if inputs.validation_set is None:
        return not_applicable("LZ01", NO_VALIDATION_SET)
    if np.ndim(inputs.y) > 1:
        return not_applicable("LZ01", "The target has several outputs.")
    p, q = inputs.target_proportions()
    divergence = jensen_shannon_labels(p[None], q[None])
    # Expected value for two samples of the same distribution, to first order.
    expected = (len(p) - 1) / 8 * (1 / inputs.n_train + 1 / len(inputs.validation_set))
    excess = max(0.0, divergence - expected)
    labels = "labels" if inputs.classes is not None else "targets (in ten bins)"
    message = (
        f"The Jensen-Shannon divergence between the {labels} of training data and validation set "
        f"is {divergence:.4f} nats (0: same distribution, 0.69: no overlap)."
    )
    return measured("LZ01", excess, message, _advice(inputs))


def check_features(inputs: CheckInputs) -> tuple[Check, float | None]:
    """LZ02: whether a classifier distinguishes both samples; also return the divergence."""
    if inputs.validation_set is None:
        return not_applicable("LZ02", NO_VALIDATION_SET), None
    try:
        estimate = _compare(inputs)
    except (ValueError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        return not_applicable("LZ02", f"The rows cannot be compared: {reason}"), None
    message = (
        f"A classifier distinguishes validation rows from training rows with ROC AUC "
        f"{estimate.auc:.2f} (0.5: not at all). Their Jensen-Shannon divergence is at least about "
        f"{estimate.value:.3f} nats."
    )
    return measured("LZ02", estimate.auc, message, _advice(inputs)), estimate.value


def check_leakage(inputs: CheckInputs) -> Check:
    """LZ03: whether validation rows are as far from the training rows as new rows would be."""
    if inputs.validation_set is None:
        return not_applicable("LZ03", NO_VALIDATION_SET)
    featurizer = Featurizer().fit(inputs.X)
    rng = np.random.default_rng(inputs.seed)

    def sample(X: Table, at_most: int) -> Any:
        return featurizer.transform(take_rows(X, random_rows(count_rows(X), at_most, rng)))

    train = sample(inputs.X, MAX_NEIGHBOR_ROWS)
    validation = sample(inputs.validation_set.X, MAX_QUERY_ROWS)
    if not (_has_distances(train) and _has_distances(validation)):
        return not_applicable("LZ03", TOO_LARGE)
    neighbors = NearestNeighbors(n_neighbors=2).fit(train)
    # The nearest neighbor of a training row is the row itself.
    query = train[random_rows(train.shape[0], MAX_QUERY_ROWS, rng)]
    within = float(neighbors.kneighbors(query)[0][:, 1].mean())
    if within <= DUPLICATE_DISTANCE:
        return not_applicable("LZ03", "Every training row has a duplicate.")
    ratio = float(neighbors.kneighbors(validation, n_neighbors=1)[0].mean()) / within
    message = (
        "The mean distance of validation rows to the nearest training row is "
        f"{ratio:.2f} times that between training rows (1: like new rows, 0: copies)."
    )
    return measured("LZ03", ratio, message, _advice(inputs))


def check_small_classes(inputs: CheckInputs) -> Check:
    """LZ08: whether every class has enough rows to generate similar ones."""
    if inputs.classes is None:
        return not_applicable("LZ08", "The target is not a single column of classes.")
    labels, counts = np.unique(inputs.known_targets, return_counts=True)
    smallest = int(counts.min())
    rows = "rows" if inputs.labeled is None else "labeled rows"
    message = f"The smallest class, {plain(labels[counts.argmin()])!r}, has {smallest} {rows}."
    advice = "Collect more rows of this class, or merge it with a similar class."
    return measured("LZ08", float(smallest), message, advice)


def check_exchangeable(inputs: CheckInputs) -> Check:
    """LZ11: whether the rows are exchangeable, as generated rows and random folds assume."""
    column = _sorted_column(inputs.X) if inputs.n_train >= MIN_ROWS_ORDER else None
    if column is not None:
        message = f"The rows are sorted by column {column!r}, which may be a time."
        return Check("LZ11", "warning", message, None, RESPECT_ORDER)
    duplicates = _share_of_duplicates(inputs)
    if duplicates is not None and duplicates > MAX_DUPLICATES:
        message = f"{duplicates:.0%} of the rows are duplicates, so all scores are optimistic."
        advice = "Drop the duplicates, or pass groups that keep them together."
        return Check("LZ11", "warning", message, duplicates, advice)
    if inputs.grouped:
        message = "The rows have groups, but rows generated from a distribution do not."
        return Check("LZ11", "note", message, duplicates, RESPECT_ORDER)
    excess = _sortedness(inputs.known_targets)
    if excess > MAX_SORTEDNESS:
        message = (
            "The rows are sorted by the target (neighboring rows agree more often than by chance, "
            f"by {excess:.0f} standard deviations). This is harmless unless the rows were "
            "collected in this order."
        )
        return Check("LZ11", "note", message, excess, RESPECT_ORDER)
    if duplicates is None:
        return not_applicable("LZ11", TOO_LARGE)
    message = f"The rows have no detectable order and no groups; {duplicates:.0%} are duplicates."
    return Check("LZ11", "ok", message, duplicates)


def _compare(inputs: CheckInputs) -> DivergenceEstimate:
    """Return the divergence; for generated rows the augmenter is fitted to parts of the data."""
    assert inputs.validation_set is not None
    options = {"max_rows": MAX_ROWS_COMPARED, "random_state": inputs.seed}
    if inputs.is_user_supplied:
        return jensen_shannon_features(inputs.X, inputs.validation_set.X, **options)
    augmenter = inputs.augmenter
    while isinstance(augmenter, SoftLabeled | BiasCorrected | PseudoLabeled | LabeledOnly):
        augmenter = augmenter.augmenter  # these do not change the generated rows
    return jensen_shannon_augmenter(augmenter, inputs.X, inputs.y, **options)


def _advice(inputs: CheckInputs) -> str:
    return CV_FINALISTS if inputs.default_augmenter else OTHER_AUGMENTER


def _has_distances(features: Any) -> bool:
    """Return True if distances between rows do not overflow."""
    values = features.data if sparse.issparse(features) else features
    return bool(np.all(np.abs(values) < MAX_FEATURE))


def _sorted_column(X: Table) -> Any:
    """Return the name of a column of times in order, or of numbers in strict order."""
    if is_text(X) or sparse.issparse(X) or len(getattr(X, "shape", ())) != 2:
        return None
    names = X.columns if is_pandas(X) or is_polars(X) else range(X.shape[1])
    for index, name in enumerate(names):
        column = X.iloc[:, index] if is_pandas(X) else X[:, index]
        values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
        if values.dtype.kind not in "Miuf":
            continue
        rises, falls = values[1:] > values[:-1], values[1:] < values[:-1]
        # Times may repeat; numbers must not, or columns of few values would be sorted by chance.
        weakly, strictly = rises.any() != falls.any(), rises.all() or falls.all()
        if weakly if values.dtype.kind == "M" else strictly:
            return plain(name)
    return None


def _share_of_duplicates(inputs: CheckInputs) -> float | None:
    """Return the share of rows that are equal to another row; None if it cannot be computed."""
    rng = np.random.default_rng(inputs.seed)
    X = take_rows(inputs.X, random_rows(inputs.n_train, MAX_ROWS_DUPLICATES, rng))
    features = Featurizer().fit(X).transform(X)
    if not _has_distances(features):
        return None
    distances = NearestNeighbors(n_neighbors=2).fit(features).kneighbors(features)[0][:, 1]
    return float(np.mean(distances <= DUPLICATE_DISTANCE))


def _sortedness(y: AnyArray) -> float:
    """Return by how many standard deviations neighboring targets agree more than by chance."""
    y = np.asarray(y)
    if y.ndim > 1 or len(y) < MIN_ROWS_ORDER:
        return 0.0
    if y.dtype.kind == "f" and len(np.unique(y)) > MIN_ROWS_ORDER:
        # Autocorrelation at lag 1, with standard deviation 1 / sqrt(n) for independent rows.
        centered = y - y.mean()
        total = float(centered @ centered)
        return float(centered[1:] @ centered[:-1]) / total * np.sqrt(len(y)) if total else 0.0
    proportions = np.unique(y, return_counts=True)[1] / len(y)
    expected = float((proportions**2).sum())
    spread = np.sqrt(expected * (1 - expected) / (len(y) - 1))
    return float((np.mean(y[1:] == y[:-1]) - expected) / spread) if spread else 0.0
