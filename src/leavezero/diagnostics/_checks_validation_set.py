"""Checks of the validation set: label distribution, two-sample test, leakage."""

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from leavezero._tables import Featurizer, count_rows, take_rows
from leavezero._typing import Table
from leavezero.augment import BiasCorrected, LabeledOnly, PseudoLabeled, SoftLabeled
from leavezero.diagnostics._augmenter_divergence import jensen_shannon_augmenter
from leavezero.diagnostics._check import (
    CV_FINALISTS,
    OTHER_AUGMENTER,
    Check,
    Level,
    not_applicable,
    severity,
)
from leavezero.diagnostics._check_inputs import CheckInputs
from leavezero.diagnostics._checks_data import DUPLICATE_DISTANCE, TOO_LARGE, has_distances
from leavezero.diagnostics._jensen_shannon import jensen_shannon_labels
from leavezero.diagnostics._two_sample import (
    DivergenceEstimate,
    jensen_shannon_features,
    random_rows,
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
    level = severity("LZ01", excess)
    labels = "labels" if inputs.classes is not None else "targets (in ten bins)"
    message = (
        f"The Jensen-Shannon divergence between the {labels} of training data and validation set "
        f"is {divergence:.4f} nats (0: same distribution, 0.69: no overlap)."
    )
    return Check("LZ01", level, message, excess, _advice(inputs, level))


def check_features(inputs: CheckInputs) -> tuple[Check, float | None]:
    """LZ02: whether a classifier distinguishes both samples; also return the divergence."""
    if inputs.validation_set is None:
        return not_applicable("LZ02", NO_VALIDATION_SET), None
    try:
        estimate = _compare(inputs)
    except (ValueError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        return not_applicable("LZ02", f"The rows cannot be compared: {reason}"), None
    level = severity("LZ02", estimate.auc)
    message = (
        f"A classifier distinguishes validation rows from training rows with ROC AUC "
        f"{estimate.auc:.2f} (0.5: not at all). Their Jensen-Shannon divergence is at least about "
        f"{estimate.value:.3f} nats."
    )
    return Check("LZ02", level, message, estimate.auc, _advice(inputs, level)), estimate.value


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
    if not (has_distances(train) and has_distances(validation)):
        return not_applicable("LZ03", TOO_LARGE)
    neighbors = NearestNeighbors(n_neighbors=2).fit(train)
    # The nearest neighbor of a training row is the row itself.
    query = train[random_rows(train.shape[0], MAX_QUERY_ROWS, rng)]
    within = float(neighbors.kneighbors(query)[0][:, 1].mean())
    if within <= DUPLICATE_DISTANCE:
        return not_applicable("LZ03", "Every training row has a duplicate.")
    ratio = float(neighbors.kneighbors(validation, n_neighbors=1)[0].mean()) / within
    level = severity("LZ03", ratio)
    message = (
        "The mean distance of validation rows to the nearest training row is "
        f"{ratio:.2f} times that between training rows (1: like new rows, 0: copies)."
    )
    return Check("LZ03", level, message, ratio, _advice(inputs, level))


def _compare(inputs: CheckInputs) -> DivergenceEstimate:
    """Return the divergence; for generated rows the augmenter is fitted to parts of the data."""
    assert inputs.validation_set is not None
    if inputs.is_user_supplied:
        return jensen_shannon_features(
            inputs.X,
            inputs.validation_set.X,
            max_rows=MAX_ROWS_COMPARED,
            random_state=inputs.seed,
        )
    augmenter = inputs.augmenter
    while isinstance(augmenter, SoftLabeled | BiasCorrected | PseudoLabeled | LabeledOnly):
        augmenter = augmenter.augmenter  # these do not change the generated rows
    return jensen_shannon_augmenter(
        augmenter,
        inputs.X,
        inputs.y,
        max_rows=MAX_ROWS_COMPARED,
        random_state=inputs.seed,
    )


def _advice(inputs: CheckInputs, level: Level) -> str | None:
    if level == "ok":
        return None
    return CV_FINALISTS if inputs.default_augmenter else OTHER_AUGMENTER
