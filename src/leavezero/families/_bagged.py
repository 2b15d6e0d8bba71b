"""Ensembles that drew their rows: the members that did not draw a row speak about it.

Only about 37 % of the members speak about a row, so a small ensemble looks worse out of bag than
it is, and candidates along ``n_estimators`` would not be comparable. How the error falls with the
number of voices can be read off the same ensemble: a loss of a mean over v voices is a + b / v, and
the same voices in two halves give its value at v / 2. The loss with all T members follows,

    loss(T) = loss(v) - (1 - v / T) (loss(v / 2) - loss(v)).

Numbers and probabilities are drawn towards the truth, all by the same share, until their squared
loss is loss(T); labels are put right, the nearest misses first, until the number of errors is.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.utils import check_array

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._draws import drawn_rows
from leavezero.families._fitted_to import fitted_codes, fitted_numbers, other_rows
from leavezero.families._stages import FORESTS, fit_stages, respond_stages, stages_key

FEWEST_VOICES = 3.0
FEW = 16  # rows on which two ways to ask a tree are compared


class _Voices(NamedTuple):
    """Sums and numbers of voices about each row, in two halves."""

    sums: Floats  # (2, n_rows, n_outputs)
    counts: Floats  # (2, n_rows)
    n_members: int


class BaggedFamily(Family):
    """Forests with bootstrap, and bagging: means over the members that did not draw the row.

    They are corrected for the few voices as the module says. A row that every member drew has no
    response.
    """

    name = "out-of-bag ensemble"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is a forest or bagging itself, not a subclass."""
        return type(estimator) in (*FORESTS, BaggingClassifier, BaggingRegressor)

    def refuses(self, estimator: Any) -> str | None:
        """Return why no member has left rows out."""
        if estimator.bootstrap:
            return None
        if type(estimator) in FORESTS:
            return "without bootstrap every tree sees every row"
        share = estimator.max_samples  # None, the default since scikit-learn 1.8, is all rows
        if share is None or (isinstance(share, float) and share == 1.0):
            return "without bootstrap and with all rows as max_samples every member sees every row"
        return None

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return means over the members that did not draw the row."""
        rows = _rows(model, X)
        classifier = hasattr(model, "classes_")
        _refuse_many(model)
        check: Any = fitted_codes if classifier else fitted_numbers
        truth = check(model, y, rows.shape[0])
        drawn = drawn_rows(model, rows.shape[0], sample_weight)
        if type(model) in FORESTS:
            _check_leaves(model, rows, drawn[0], sample_weight)
        voices = _listen(model, rows, drawn)
        known = voices.counts.sum(axis=0) > 0
        answer: Any = _labels if classifier else _numbers
        responses = answer(model, voices, truth, known)
        return Unseen("out-of-bag", responses, None if known.all() else known, _doubt(voices))

    def shares(self, estimator: Any) -> Any:
        """Return all parameters but the number of trees; bagging is fitted one by one.

        Bagging keeps where its members' rows came from in no public attribute.
        """
        return stages_key(estimator) if type(estimator) in FORESTS else None

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit the largest forest; the others are its first trees, bit for bit."""
        fit_stages(estimators, X, y, sample_weight)

    def respond_many(self, models: list[Any], X: Table) -> list[dict[str, AnyArray]] | None:
        """Return what each forest says, every tree asked once; equal bit for bit."""
        return respond_stages(models, X)


def _rows(model: Any, X: Table) -> Any:
    """Return the rows as the members take them: trees read float32 and skip their own checks."""
    dtype = np.float32 if type(model) in FORESTS else None
    rows = check_array(X, accept_sparse="csr", dtype=dtype, ensure_all_finite=False)
    if rows.shape[1] != model.n_features_in_:
        raise other_rows(model, f"X has {rows.shape[1]} columns, the model {model.n_features_in_}")
    return rows


def _refuse_many(model: Any) -> None:
    if getattr(model, "n_outputs_", 1) > 1:
        raise ValueError(
            f"{type(model).__name__} was fitted to {model.n_outputs_} targets; unseen rows are "
            "available for one."
        )


def _listen(model: Any, rows: Any, drawn: Bools) -> _Voices:
    """Return what each member says about the rows that it did not draw.

    A row's voices go to its two halves in turn.
    """
    n_rows = rows.shape[0]
    n_outputs = len(model.classes_) if hasattr(model, "classes_") else 1
    sums = np.zeros((2 * n_rows, n_outputs))
    turn = np.arange(n_rows)  # where the next voice about each row goes
    say = _say_at_once if _speaks_at_once(model, rows[:FEW]) else _say
    for at, inside in enumerate(drawn):
        rest = np.flatnonzero(~inside)
        if len(rest):
            places = turn.take(rest)
            sums[places] = sums.take(places, axis=0) + say(model, at, _take(rows, rest), n_outputs)
            turn[rest] = np.where(places < n_rows, places + n_rows, places - n_rows)
    numbers = (~drawn).sum(axis=0)
    counts = np.stack([(numbers + 1) // 2, numbers // 2]).astype(np.float64)
    return _Voices(sums.reshape(2, n_rows, n_outputs), counts, len(model.estimators_))


def _take(rows: Any, which: Ints) -> Any:
    """Return some of the rows; for an array ``take`` is much faster than brackets."""
    return rows.take(which, axis=0) if isinstance(rows, np.ndarray) else rows[which]


def _check_leaves(model: Any, rows: Any, drawn: Bools, sample_weight: Any) -> None:
    """Compare the drawn rows in the leaves of the first tree with the numbers it remembers."""
    if sample_weight is not None:
        drawn = drawn & (np.asarray(sample_weight) > 0)
    tree = model.estimators_[0].tree_
    leaves = tree.apply(_take(rows, np.flatnonzero(drawn)))
    found = np.bincount(leaves, minlength=tree.node_count)
    if np.any((found != tree.n_node_samples) & (tree.children_left < 0)):
        raise other_rows(model, "the leaves of its first tree hold other rows")


def _speaks_at_once(model: Any, few: Any) -> bool:
    """Tell whether the arrays of a forest's trees say what the trees' methods say.

    The methods check the tree at every call, which may cost half as much as the answer.
    """
    if type(model) not in FORESTS:
        return False
    said = _say(model, 0, few, 0)
    return np.array_equal(_say_at_once(model, 0, few, 0), said)


def _say_at_once(model: Any, at: int, rows: Any, n_outputs: int) -> Floats:
    """Return one tree's voice, from its arrays."""
    return np.asarray(model.estimators_[at].tree_.predict(rows)).reshape(rows.shape[0], -1)


def _say(model: Any, at: int, rows: Any, n_outputs: int) -> Floats:
    """Return one member's voice, a column for each class of the model or one number."""
    member = model.estimators_[at]
    if type(model) in FORESTS:
        ask = member.predict_proba if hasattr(model, "classes_") else member.predict
        return np.asarray(ask(rows, check_input=False)).reshape(rows.shape[0], -1)
    columns = model.estimators_features_[at]
    part = rows[:, columns]
    if not hasattr(model, "classes_"):
        return np.asarray(member.predict(part)).reshape(-1, 1)
    if not hasattr(member, "predict_proba"):
        return np.asarray(np.eye(n_outputs)[np.asarray(member.predict(part), dtype=np.intp)])
    said = np.zeros((rows.shape[0], n_outputs))
    said[:, np.asarray(member.classes_, dtype=np.intp)] = member.predict_proba(part)
    return said


def _numbers(model: Any, voices: _Voices, truth: Floats, known: Bools) -> dict[str, AnyArray]:
    means, share = _means(voices), _share(voices, truth[:, None])
    return {"predict": np.where(known, truth + share * (means[:, 0] - truth), 0.0)}


def _labels(model: Any, voices: _Voices, truth: Ints, known: Bools) -> dict[str, AnyArray]:
    means = _means(voices)
    hot = np.eye(means.shape[1])[truth]
    chances = hot + _share(voices, hot) * (means - hot)
    chances[~known] = 0.0
    return {
        "predict": model.classes_[_put_right(voices, means, truth, known)],
        "predict_proba": chances,
    }


def _means(voices: _Voices) -> Floats:
    counts = np.maximum(voices.counts.sum(axis=0), 1.0)
    return np.asarray(voices.sums.sum(axis=0) / counts[:, None])


def _halves(voices: _Voices) -> tuple[Bools, Floats]:
    """Return the rows with a voice in both halves, and the halves' means there."""
    both = voices.counts[1] > 0
    return both, voices.sums[:, both] / voices.counts[:, both, None]


def _missing(voices: _Voices) -> float:
    """Return 1 - v / T, the share of the members that have no voice."""
    return 1.0 - float(voices.counts.sum(axis=0).mean()) / voices.n_members


def _share(voices: _Voices, truth: Floats) -> float:
    """Return by how much of their distance from the truth more voices would leave the means."""
    both, halves = _halves(voices)
    whole = float(((_means(voices)[both] - truth[both]) ** 2).sum())
    apart = float(((halves - truth[both]) ** 2).sum()) / 2.0
    if whole <= 0.0:
        return 1.0
    return float(np.sqrt(np.clip(1.0 - _missing(voices) * (apart - whole) / whole, 0.0, 1.0)))


def _put_right(voices: _Voices, means: Floats, truth: Ints, known: Bools) -> Ints:
    """Return the codes of the labels after as many corrections as more voices would make."""
    labels = means.argmax(axis=1)
    both, halves = _halves(voices)
    apart = float((halves.argmax(axis=2) != truth[both]).mean(axis=0).sum())
    whole = float((labels[both] != truth[both]).sum())
    n_right = max(round(_missing(voices) * (apart - whole)), 0)
    wrong = np.flatnonzero((labels != truth) & known)
    gaps = means[wrong].max(axis=1) - means[wrong, truth[wrong]]
    nearest = wrong[np.argsort(gaps, kind="stable")[:n_right]]
    labels[nearest] = truth[nearest]
    return labels


def _doubt(voices: _Voices) -> str | None:
    number = float(voices.counts.sum(axis=0).mean())
    if number < FEWEST_VOICES:
        return f"only {number:.1f} members speak about a row that they did not draw"
    return None


FAMILIES = (BaggedFamily(),)
