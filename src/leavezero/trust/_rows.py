"""Findings about V's rows: do their labels, their places and their distances fit the data."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from leavezero._tables import Featurizer, count_rows, plain, take_rows
from leavezero._typing import Floats, Table
from leavezero.augment import BiasCorrected, LabeledOnly, PseudoLabeled, SoftLabeled
from leavezero.divergence import (
    AugmenterDivergence,
    DivergenceEstimate,
    jensen_shannon_augmenter,
    jensen_shannon_features,
    jensen_shannon_labels,
)
from leavezero.trust._advice import CONFIRM, OTHER_ROWS
from leavezero.trust._evidence import Evidence
from leavezero.trust._finding import Finding, Level, not_applicable
from leavezero.trust._levels import level_of

MOST_COMPARED = 1_000  # rows of either side for the classifiers
MOST_COLUMNS = 1_000  # of wide arrays: what some columns tell is told by all
MOST_ASKED, MOST_NEAR = 500, 20_000  # rows whose neighbours are sought, and among which

TWIN = 1e-6  # a distance of standardised rows that rounding alone may give
LARGEST = 1e100  # of standardised cells, which pass the root of their number by an overflow only
TOO_LARGE = "Numbers are too large for distances between rows."

Realism = AugmenterDivergence | DivergenceEstimate


def label_marginal(evidence: Evidence) -> Finding:
    """LZ01: whether V has the data's labels in the data's shares."""
    if evidence.V is None or np.ndim(evidence.y) > 1:
        why = "There is no V." if evidence.V is None else "There are several outputs."
        return not_applicable("LZ01", why)
    shares, drawn = evidence.label_shares()
    value = jensen_shannon_labels(shares[None], drawn[None])
    by_chance = (len(shares) - 1) / 8 * (1 / evidence.n_given + 1 / len(evidence.V))
    beyond = max(0.0, value - by_chance)
    level = level_of("LZ01", beyond)
    what = "labels" if evidence.classes is not None else "targets, in ten bins,"
    sentence = f"The {what} of V are {value:.4f} nats from the data's (about 0 is expected)."
    return Finding("LZ01", level, sentence, beyond, _cure(evidence, level))


def realism(evidence: Evidence) -> tuple[Finding, float | None]:
    """LZ02: whether a classifier can tell V from the data; the divergence comes with it."""
    if evidence.V is None:
        return not_applicable("LZ02", "There is no V."), None
    try:
        found = _compared(evidence)
    except (ValueError, TypeError) as error:
        return not_applicable("LZ02", f"The rows cannot be compared: {_first_line(error)}"), None
    whole = found.joint if isinstance(found, AugmenterDivergence) else found
    area = whole.auc
    level = level_of("LZ02", area)
    sentence = (
        f"A classifier tells rows of V from given ones with an area under the curve of {area:.2f} "
        f"(0.5 is chance); the divergence is at least about {found.value:.3f} nats"
        f"{_worst_class(found)}."
    )
    return Finding("LZ02", level, sentence, area, _cure(evidence, level)), found.value


def leakage(evidence: Evidence) -> Finding:
    """LZ03: whether V's rows are as far from the data as fresh rows would be."""
    if evidence.V is None:
        return not_applicable("LZ03", "There is no V.")
    featurizer = Featurizer().fit(evidence.X)
    rng = np.random.default_rng(evidence.seed)
    base = take_rows(evidence.X, _some(evidence.n_given, MOST_NEAR, rng))
    given = featurizer.transform(base)
    asked = featurizer.transform(take_rows(evidence.V.X, _some(len(evidence.V), MOST_ASKED, rng)))
    if not (measurable(given) and measurable(asked)):
        return not_applicable("LZ03", TOO_LARGE)
    near = NearestNeighbors(n_neighbors=2).fit(given)
    own = near.kneighbors(given[_some(given.shape[0], MOST_ASKED, rng)])[0][:, 1]
    new = near.kneighbors(asked, n_neighbors=1)[0][:, 0]
    if np.mean(own) <= TWIN:
        return not_applicable("LZ03", "Every given row has a twin.")
    ratio = float(np.mean(new) / np.mean(own))
    level = level_of("LZ03", ratio)
    sentence = (
        f"Rows of V lie at {ratio:.2f} of the distance from the data at which fresh rows would "
        "lie (1 is like fresh data, 0 is copies)."
    )
    return Finding("LZ03", level, sentence, ratio, _cure(evidence, level))


def _compared(evidence: Evidence) -> Realism:
    """Return how far the rows are apart, by an augmenter that is fitted to parts of the data."""
    assert evidence.V is not None
    if evidence.own_rows:
        rng = np.random.default_rng(evidence.seed)
        sides = [
            take_rows(X, _some(count_rows(X), MOST_COMPARED, rng))
            for X in (evidence.X, evidence.V.X)
        ]
        return jensen_shannon_features(*sides, random_state=evidence.seed)
    return jensen_shannon_augmenter(
        _what_draws_rows(evidence.augmenter),
        _some_columns(evidence),
        evidence.y,
        max_rows=MOST_COMPARED,
        random_state=evidence.seed,
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _some_columns(evidence: Evidence) -> Table:
    """Return the data, or some columns of a wide array, whose augmenters know no column by name."""
    X = evidence.X
    wide = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] > MOST_COLUMNS
    if not (wide and evidence.by_auto):
        return X
    return X[:, _some(X.shape[1], MOST_COLUMNS, np.random.default_rng(evidence.seed))]


def _what_draws_rows(augmenter: Any) -> Any:
    """Return the augmenter inside those that only label rows, or let references speak of them."""
    while isinstance(augmenter, SoftLabeled | BiasCorrected | PseudoLabeled | LabeledOnly):
        augmenter = augmenter.augmenter
    return augmenter


def _worst_class(found: Realism) -> str:
    """Return which class is told apart best, where it is clearly more than the others."""
    if not isinstance(found, AugmenterDivergence) or len(found.by_class) < 2:
        return ""
    worst = max(found.by_class, key=lambda label: found.by_class[label].value)
    estimate = found.by_class[worst]
    rest = np.mean([one.value for label, one in found.by_class.items() if label != worst])
    if estimate.value - rest < 2 * estimate.standard_error:
        return ""
    return f", most of it in class {plain(worst)!r} ({estimate.value:.3f})"


def _some(n_rows: int, most: int, rng: np.random.Generator) -> Any:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size=most, replace=False))


def _cure(evidence: Evidence, level: Level) -> str | None:
    if level == "ok":
        return None
    return CONFIRM if evidence.by_auto else OTHER_ROWS


def measurable(features: Any) -> bool:
    """Tell whether rows have distances: very large numbers overflow when they are squared."""
    cells = features.data if sparse.issparse(features) else features
    return bool(np.all(np.abs(cells) < LARGEST))


def nearest_distances(features: Any) -> Floats:
    """Return the distance of some rows to the nearest other row."""
    near = NearestNeighbors(n_neighbors=2).fit(features)
    return np.asarray(near.kneighbors(features)[0][:, 1])
