"""Naive Bayes of counts: what a row counted is taken back.

Rows are sparse here, and only cells that are not zero are looked at one by one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import binarize

from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._class_scores import alone, forget_own_class, unseen_classes
from leavezero.families._fingerprint import check_answers, check_same
from leavezero.families._fitted_to import fitted_codes, fitted_rows, fitted_weights

_ONLY_ROUNDING = 1e-12  # a count this much smaller than before is zero


class CountBayesFamily(Family):
    """Multinomial, Bernoulli and complement naive Bayes, dense or sparse, with weights.

    Examples
    --------
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from leavezero.families._count_bayes import CountBayesFamily
    >>> X, y = [[3, 0], [2, 1], [0, 3], [1, 1]], ["a", "a", "b", "b"]
    >>> model = MultinomialNB().fit(X, y)
    >>> CountBayesFamily().unseen(model, X, y).responses["predict"].tolist()
    ['a', 'a', 'b', 'a']
    """

    name = "naive bayes of counts"

    def covers(self, estimator: Any) -> bool:
        """Tell whether it is one of scikit-learn's three."""
        return type(estimator) in _SCORES

    def refuses(self, estimator: Any) -> str | None:
        """Refuse to do without smoothing."""
        if estimator.force_alpha and np.min(estimator.alpha) <= 0:
            return "with alpha=0 what only one row has is impossible without it"
        return None

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return labels and probabilities without each row."""
        check_answers(self, model)
        cells = sparse.csr_array(fitted_rows(model, X))
        cells.eliminate_zeros()
        if getattr(model, "binarize", None) is not None:
            cells = sparse.csr_array(binarize(cells, threshold=model.binarize))
        counts = _Counts.of(
            cells,
            fitted_codes(model, y, cells.shape[0]),
            fitted_weights(sample_weight, cells.shape[0]),
            len(model.classes_),
        )
        check_same(model, "class_count_", counts.by_class)
        check_same(model, "feature_count_", counts.by_feature)
        scores = _SCORES[type(model)](counts, _alpha(model, cells.shape[1]), model)
        gone = alone(counts.codes) | (counts.left() == 0)
        forget_own_class(scores, counts.codes, gone)
        fixed = model.class_prior is not None and type(model) is not ComplementNB
        return unseen_classes(model, scores, ~gone if fixed else np.ones(len(gone), bool))


@dataclass(frozen=True, eq=False)
class _Counts:
    """The rows as cells that are not zero, and what they add up to.

    Cell t is ``values[t]`` in row ``owners[t]`` and column ``columns[t]``, ``taken[t]`` with the
    row's weight.
    """

    cells: Any
    codes: Ints
    weights: Floats
    by_class: Floats
    by_feature: Floats
    owners: Ints

    @classmethod
    def of(cls, cells: Any, codes: Ints, weights: Floats, n_classes: int) -> "_Counts":
        """Return the counts of each class, and of each feature in it."""
        n_rows = len(codes)
        member = sparse.csr_array((weights, (codes, np.arange(n_rows))), (n_classes, n_rows))
        by_class = _totals(codes, weights, n_classes)
        by_feature = (member @ cells).toarray()
        owners = np.repeat(np.arange(n_rows), np.diff(cells.indptr))
        return cls(cells, codes, weights, by_class, by_feature, owners)

    @property
    def values(self) -> Floats:
        """The cells that are not zero."""
        return np.asarray(self.cells.data)

    @property
    def columns(self) -> Ints:
        """The columns of those cells."""
        return np.asarray(self.cells.indices)

    @property
    def taken(self) -> Floats:
        """What each of those cells counted."""
        return np.asarray(self.values * self.weights[self.owners])

    def left(self) -> Floats:
        """Return what each row's class weighs without the row."""
        own = self.by_class[self.codes]
        return less(own, self.weights)

    def sum_rows(self, terms: Floats) -> Floats:
        """Return sums over the cells of each row."""
        return _totals(self.owners, terms, len(self.codes))


def _totals(owners: Ints, terms: Floats, n_owners: int) -> Floats:
    return np.asarray(np.bincount(owners, terms, minlength=n_owners), dtype=np.float64)


def less(before: Floats, taken: Floats) -> Floats:
    """Return a difference, zero where only rounding would be left."""
    after = before - taken
    return np.where(after <= _ONLY_ROUNDING * before, 0.0, after)


def _alpha(model: Any, n_columns: int) -> Floats:
    alpha = np.broadcast_to(np.asarray(model.alpha, dtype=np.float64), (n_columns,))
    return alpha if model.force_alpha else np.maximum(alpha, 1e-10)


def _multinomial(counts: _Counts, alpha: Floats, model: Any) -> Floats:
    smooth = counts.by_feature + alpha
    scores = np.asarray(counts.cells @ (np.log(smooth) - np.log(smooth.sum(axis=1))[:, None]).T)
    own = counts.codes[counts.owners]
    mine = less(counts.by_feature[own, counts.columns], counts.taken) + alpha[counts.columns]
    lengths, taken = counts.sum_rows(counts.values), counts.sum_rows(counts.taken)
    total = less(counts.by_feature.sum(axis=1)[counts.codes], taken) + alpha.sum()
    rows = np.arange(len(lengths))
    scores[rows, counts.codes] = counts.sum_rows(counts.values * np.log(mine))
    scores[rows, counts.codes] -= lengths * np.log(total)
    return scores + _log_priors(counts, model)


def _bernoulli(counts: _Counts, alpha: Floats, model: Any) -> Floats:
    whole = counts.by_class[:, None] + 2 * alpha
    yes, no = counts.by_feature + alpha, whole - counts.by_feature - alpha
    scores = np.asarray(counts.cells @ (np.log(yes) - np.log(no)).T)
    scores += (np.log(no) - np.log(whole)).sum(axis=1)
    # Rows of one class and weight share the terms of the features that they do not have.
    pairs, at = np.unique(
        np.column_stack([counts.codes, counts.weights]), axis=0, return_inverse=True
    )
    at = at.reshape(-1)
    own = np.empty(len(counts.codes))
    for pair, (code, weight) in enumerate(pairs):
        mine = np.flatnonzero(at == pair)
        own[mine] = _bernoulli_own(counts, mine, int(code), float(weight), alpha)
    scores[np.arange(len(own)), counts.codes] = own
    return scores + _log_priors(counts, model)


def _bernoulli_own(counts: _Counts, mine: Ints, code: int, weight: float, alpha: Floats) -> Floats:
    """Return the scores of rows of one class and weight in their class without them."""
    cells = counts.cells[mine]
    values, columns = cells.data, cells.indices
    left = less(counts.by_class[[code]], np.array([weight]))[0]
    before = counts.by_feature[code]
    whole = left + 2 * alpha
    absent = left + alpha - before  # not above 0 only where all rows of the class have the feature
    silent = np.where(absent > 0, np.log(np.where(absent > 0, absent, 1.0)), 0.0)
    present = less(before[columns], weight * values)
    yes, no = present + alpha[columns], np.maximum(left - present, 0.0) + alpha[columns]
    terms = values * np.log(yes) + (1 - values) * np.log(no) - silent[columns]
    owners = np.repeat(np.arange(len(mine)), np.diff(cells.indptr))
    return np.asarray(_totals(owners, terms, len(mine)) + silent.sum() - np.log(whole).sum())


def _complement(counts: _Counts, alpha: Floats, model: Any) -> Floats:
    """Return scores from what the other classes count; the own class's others stay."""
    rest = counts.by_feature.sum(axis=0) - counts.by_feature + alpha
    lengths, taken = counts.sum_rows(counts.values), counts.sum_rows(counts.taken)
    scores = np.empty((len(counts.codes), len(rest)))
    for code, other in enumerate(rest):
        leaves = counts.codes != code
        gone = counts.taken * leaves[counts.owners]
        before = np.log(other[counts.columns])
        base = other[counts.columns] - alpha[counts.columns]
        after = np.log(less(base, gone) + alpha[counts.columns])
        total = np.log(other.sum() - taken * leaves)
        scores[:, code] = lengths * total - counts.sum_rows(counts.values * after)
        if model.norm:
            change = counts.sum_rows(after - before)
            scores[:, code] /= len(other) * total - np.log(other).sum() - change
    return scores


def _log_priors(counts: _Counts, model: Any) -> Floats:
    n_rows, n_classes = len(counts.codes), len(counts.by_class)
    if model.class_prior is not None:
        return np.asarray(np.log(model.class_prior))
    if not model.fit_prior:
        return np.zeros(n_classes)
    left = np.tile(counts.by_class, (n_rows, 1))
    left[np.arange(n_rows), counts.codes] = counts.left()
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(left) - np.log(left.sum(axis=1, keepdims=True)))


_SCORES = {MultinomialNB: _multinomial, BernoulliNB: _bernoulli, ComplementNB: _complement}
FAMILIES = (CountBayesFamily(),)
