"""The Jensen-Shannon divergence between data and what an augmenter draws from them."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from leavezero._random import integer_seed, seed_sequence, stream, substream, with_seed
from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Ints, RandomState, Table
from leavezero.divergence._chain import (
    CorollaryDivergence,
    corollary_divergence,
    joint_divergence,
)
from leavezero.divergence._estimate import DivergenceEstimate, cross_fitted
from leavezero.divergence._folds import (
    Fold,
    Sides,
    nested_folds,
    parts_of,
    restricted,
    sets_of_parts,
)
from leavezero.divergence._neighbors import neighbor_check
from leavezero.divergence._samples import (
    Features,
    Reader,
    check_at_least,
    check_samples,
    stacked,
    taken,
)
from leavezero.divergence._target import Target, joined, targets_of
from leavezero.exceptions import SmallClassWarning

_N_PARTS = 3  # then the sets of parts that folds ask for are six, and so are the augmenter's fits
_DRAWN_PER_ROW = 1  # more lean on the same rows, and pass for knowledge that they are not
_LEAST_OF_CLASS = 2 * _N_PARTS  # two rows in every part
_LEAST_FOR_CLASS = 5  # rows of either side in every part, for an estimate of a class alone


@dataclass(frozen=True)
class AugmenterDivergence:
    """How far what an augmenter draws is from the data, with and without the labels.

    Parameters
    ----------
    joint : DivergenceEstimate
        Of features and target together, by one classifier that sees both.
    by_class : mapping of label to DivergenceEstimate
        Of the features of each class; empty where the target is numbers. Classes with too few rows
        are not in it.
    labels : float
        JS(y) between the labels, exact from their counts; 0 where the target is numbers.
    chain : float or None
        JS(x, y) by the chain rule from ``labels`` and the classes, which count nothing where
        they were not estimated; None where the target is numbers.
    shares, shares_v : mapping of label to float
        The classes' shares in the data and in V; empty where the target is numbers.
    left_out : tuple
        Classes with fewer than six rows, which were left out of everything.

    Examples
    --------
    >>> from leavezero.augment import LabelInvariantMixup
    >>> from leavezero.divergence import jensen_shannon_augmenter
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)
    >>> sorted(found.by_class), found.value >= found.joint.value
    ([0, 1, 2], True)
    """

    joint: DivergenceEstimate
    by_class: Mapping[Any, DivergenceEstimate]
    labels: float
    chain: float | None
    shares: Mapping[Any, float]
    shares_v: Mapping[Any, float]
    left_out: tuple[Any, ...] = ()

    @property
    def value(self) -> float:
        """The larger of both estimates of JS(x, y): both err downward."""
        return max(self.joint.value, self.chain or 0.0)

    @property
    def corollary(self) -> CorollaryDivergence | None:
        """The terms of the paper's Corollary 1 from the same estimates, or None for numbers."""
        if not self.shares:
            return None
        values = [self.by_class[key].value if key in self.by_class else 0.0 for key in self.shares]
        return corollary_divergence(
            list(self.shares.values()), list(self.shares_v.values()), values
        )


def jensen_shannon_augmenter(
    augmenter: Any,
    X: Table,
    y: AnyArray,
    *,
    max_rows: int = 2000,
    random_state: RandomState = None,
) -> AugmenterDivergence:
    """Return estimates of the divergence between data and what an augmenter draws from them.

    A row of V leans on the given rows that it was drawn from. Were V drawn once and then split, a
    row and its parents would fall on different sides, and the augmenter would look better than it
    is. So the given rows are split into three parts, and copies of the augmenter are fitted to
    each part and to each two of them, six in all: the classifiers learn from two parts and what
    was drawn from them, are chosen and calibrated between these two parts, and are asked about the
    third and what was drawn from it.

    The estimates err downward, as :func:`jensen_shannon_features` says, and are those of an
    augmenter that was given a third of the rows: one that learns a density may do better with all.

    Parameters
    ----------
    augmenter : augmenter
        Has ``fit(X, y)`` and ``sample(n_samples, random_state)``; it is copied, not fitted. For
        rows that were not drawn from the data use :func:`jensen_shannon_features`.
    X : array, frame, sparse matrix or sequence of strings
        The given rows, as far as the augmenter takes them.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        The classes, or numbers. Combinations of several outputs count as classes.
    max_rows : int, default=2000
        At most so many given rows are used, drawn at random class by class. With 20 columns that
        takes a few seconds and six times what the augmenter needs for such a table.
    random_state : int, RandomState, Generator or None, default=None
        An int for estimates that repeat.

    Returns
    -------
    AugmenterDivergence

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import GaussianAugmenter, LabelInvariantMixup
    >>> from leavezero.divergence import jensen_shannon_augmenter
    >>> X = np.random.default_rng(0).normal(size=(300, 10))
    >>> y = np.tile(["a", "b"], 150)
    >>> mixed = jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)
    >>> normal = jensen_shannon_augmenter(GaussianAugmenter(), X, y, random_state=0)
    >>> mixed.value > normal.value, mixed.labels
    (True, 0.0)
    """
    owner = "jensen_shannon_augmenter"
    check_at_least(max_rows, _LEAST_OF_CLASS, "max_rows", owner)
    X, _ = check_samples(X, X, owner, _LEAST_OF_CLASS)
    target = Target.of(y)
    check_consistent_length(X, target.codes)
    root = seed_sequence(random_state)
    rows, left_out = _usable_rows(target, max_rows, root, owner)
    drawn = _Draws.make(augmenter, taken(X, rows), target.take(rows), root)
    joint_features = drawn.features.beside(drawn.target.columns())
    answers, _ = cross_fitted(joint_features, drawn.folds, substream(root, "joint"))
    check = neighbor_check(joint_features, drawn.folds) if target.labels is None else None
    joint = answers.estimate(neighbors=check, most_drawn=len(rows))
    return _with_classes(joint, drawn, root, tuple(target.label(code) for code in left_out))


@dataclass(frozen=True, eq=False)
class _Draws:
    """The given rows, and after them every row drawn, with the folds over both."""

    n_given: int
    features: Features
    target: Target
    folds: list[Fold]

    @classmethod
    def make(
        cls, augmenter: Any, X: Table, target: Target, root: np.random.SeedSequence
    ) -> "_Draws":
        n_given = count_rows(X)
        parts = parts_of(n_given, _N_PARTS, stream(root, "parts"), target.codes)
        tables, targets, sides, end = [X], [target], {}, n_given
        for wanted in sets_of_parts(_N_PARTS):
            rows = np.flatnonzero(np.isin(parts, sorted(wanted)))
            X_v, target_v = _drawn(
                augmenter,
                taken(X, rows),
                target.take(rows),
                substream(root, "set", *sorted(wanted)),
            )
            tables.append(X_v)
            targets.append(target_v)
            sides[wanted] = Sides(rows, np.arange(end, end + count_rows(X_v)))
            end += count_rows(X_v)
        everything = stacked(tables)
        return cls(
            n_given=n_given,
            features=Reader().fit(everything, root).transform(everything),
            target=joined(targets),
            folds=nested_folds(_N_PARTS, sides.__getitem__),
        )

    def of_class(self, code: int) -> list[Fold]:
        """Return the folds with the rows of one class."""
        return restricted(self.folds, lambda rows: rows[self.target.codes[rows] == code])

    def asked(self) -> Sides:
        """Return all rows that are asked about."""
        tests = [fold.test for fold in self.folds]
        return Sides(
            np.concatenate([test.given for test in tests]),
            np.concatenate([test.drawn for test in tests]),
        )


def _with_classes(
    joint: DivergenceEstimate,
    drawn: _Draws,
    root: np.random.SeedSequence,
    left_out: tuple[Any, ...],
) -> AugmenterDivergence:
    """Return the record: the joint estimate, and class by class what can be estimated."""
    target = drawn.target
    if target.labels is None:
        return AugmenterDivergence(joint, {}, 0.0, None, {}, {}, left_out)
    asked = drawn.asked()
    counts = [
        np.bincount(target.codes[rows], minlength=len(target.labels))
        for rows in (asked.given, asked.drawn)
    ]
    present = np.flatnonzero(np.bincount(target.codes))
    p, q = (count[present] / count.sum() for count in counts)
    labels = [target.label(int(code)) for code in present]
    by_class: dict[Any, DivergenceEstimate] = {}
    skewed = np.zeros(len(present))
    for at, code in enumerate(present):
        folds = drawn.of_class(int(code))
        if min(fold.fewest() for fold in folds) < _LEAST_FOR_CLASS:
            continue
        answers, _ = cross_fitted(drawn.features, folds, substream(root, "class", int(code)))
        by_class[labels[at]] = answers.estimate(
            neighbors=neighbor_check(drawn.features, folds), most_drawn=len(answers.given)
        )
        skewed[at] = answers.estimate(share=float(p[at] / (p[at] + q[at]))).value
    return AugmenterDivergence(
        joint=joint,
        by_class=by_class,
        labels=joint_divergence(p, q, np.zeros(len(p))),
        chain=joint_divergence(p, q, skewed),
        shares=dict(zip(labels, p.tolist(), strict=True)),
        shares_v=dict(zip(labels, q.tolist(), strict=True)),
        left_out=left_out,
    )


def _drawn(
    augmenter: Any, X: Table, target: Target, root: np.random.SeedSequence
) -> tuple[Table, Target]:
    """Return rows that a copy of the augmenter draws from some given rows, and their targets."""
    with warnings.catch_warnings():
        # The parts are small because we made them so; nobody is to act on that.
        warnings.simplefilter("ignore", SmallClassWarning)
        fitted = with_seed(clone(augmenter), integer_seed(root, "fit")).fit(X, target.restored())
        V = fitted.sample(_DRAWN_PER_ROW * count_rows(X), integer_seed(root, "sample"))
    y = targets_of(V, target, stream(root, "labels"))
    weights = getattr(V, "sample_weight", None)
    if weights is None:
        return V.X, y
    shares = np.asarray(weights, dtype=np.float64)
    rows = stream(root, "weights").choice(len(shares), size=len(shares), p=shares / shares.sum())
    return taken(V.X, rows), y.take(rows)


def _usable_rows(
    target: Target, max_rows: int, root: np.random.SeedSequence, owner: str
) -> tuple[Ints, list[int]]:
    """Return rows of classes that are large enough, at most so many, and the other classes."""
    rng = stream(root, "rows")
    shuffled = rng.permutation(len(target.codes))
    order = shuffled[np.argsort(target.codes[shuffled], kind="stable")]
    if len(order) > max_rows:
        # Evenly over the rows in the order of their class: every class keeps its share.
        order = order[np.floor(np.arange(max_rows) * len(order) / max_rows).astype(np.intp)]
    counts = np.bincount(target.codes[order], minlength=target.codes.max() + 1)
    present = np.bincount(target.codes) > 0
    small = present & (counts < _LEAST_OF_CLASS)
    rows = np.sort(order[~small[target.codes[order]]])
    if len(rows) == 0:
        raise ValueError(
            f"y of {owner} has no class with at least {_LEAST_OF_CLASS} rows. Use "
            "jensen_shannon_features and rows that were not drawn from X."
        )
    return rows, np.flatnonzero(small).tolist() if target.labels is not None else []
