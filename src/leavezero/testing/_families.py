"""What every family promises about rows that a model has not seen, checked on small data."""

import pickle
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import all_estimators, get_tags
from sklearn.utils.validation import has_fit_parameter

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Table
from leavezero.families import Family, Unseen

EXACT = 1e-8
TOGETHER = 1e-6
METHODS = ("predict", "predict_proba", "decision_function")
_KINDS = ("exact", "approximate", "out-of-bag")

_Data = tuple[Table, AnyArray, Floats | None]


def check_family(
    family: Family,
    estimators: Sequence[Any] | None = None,
    data: Sequence[_Data] | None = None,
    tolerance: float = 0.1,
) -> None:
    """Raise an AssertionError with a sentence if a family breaks a promise.

    The promises are: what it covers and does not refuse gets responses with a row for each given
    row, in the order and the dtype of the model's own; exact ones equal those of fits without the
    row up to ties and rounding, approximate ones up to ``tolerance``, out-of-bag ones know nothing
    of a target that is noise; a row that is not ``known`` may have any response; other rows than
    the model was fitted to are a ``ValueError`` or a doubt; neither model nor data are changed.
    Estimators that share something, fitted and asked together, say what each says alone, up to
    ties and to 1e-6; weights may be refused with a ``ValueError``.

    Parameters
    ----------
    family : Family
        What to check.
    estimators : list of estimators or None, default=None
        Not fitted; they are copied. None is every estimator of scikit-learn, with its default
        parameters, that the family covers.
    data : list of (X, y, sample_weight) or None, default=None
        What to fit them to; None are small tables with classes or numbers, with weights where the
        estimator takes them. A weight of None is none.
    tolerance : float, default=0.1
        How far approximate responses may be off on average: as a share of other labels, in
        probability, or in standard deviations of the right responses.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from leavezero.families import family_of
    >>> from leavezero.testing import check_family
    >>> model = KNeighborsClassifier(3)
    >>> check_family(family_of(model), [model])
    """
    estimators = list(_covered(family) if estimators is None else estimators)
    assert estimators, f"{family.name} covers no estimator of scikit-learn; pass estimators."
    for estimator in estimators:
        assert family.covers(estimator), f"{family.name} does not cover {estimator!r}."
    _check_together(family, estimators, data)
    for estimator in estimators:
        if family.refuses(estimator) is not None:
            continue
        for X, y, sample_weight in _data_sets(estimator) if data is None else data:
            _check_one(family, estimator, (X, y, sample_weight), tolerance)


def leave_one_out(
    estimator: Any, X: Table, y: AnyArray, sample_weight: Floats | None, methods: Sequence[str]
) -> tuple[dict[str, AnyArray], Bools]:
    """Return what fits without each row say about it, and which rows have such a fit.

    Scores of classes have a column for each class of y; one that leaves with the row has
    probability 0, and the lowest number as its score.
    """
    n_rows = count_rows(X)
    said: list[dict[str, Any] | None] = [
        _left_out(estimator, X, y, sample_weight, row, methods) for row in range(n_rows)
    ]
    known = np.array([answers is not None for answers in said])
    filler = next((answers for answers in said if answers is not None), dict.fromkeys(methods))
    return {m: np.array([(answers or filler)[m] for answers in said]) for m in methods}, known


def _left_out(
    estimator: Any,
    X: Table,
    y: AnyArray,
    sample_weight: Floats | None,
    row: int,
    methods: Sequence[str],
) -> dict[str, Any] | None:
    """Return what a fit without a row says about it, None if there is no such fit."""
    others = np.delete(np.arange(count_rows(X)), row)
    seen, out = (_rows_of(estimator, X, rows, others) for rows in (others, np.array([row])))
    try:
        model = _fit(estimator, seen, y, sample_weight, others)
        answers = {method: _quietly(getattr(model, method), out)[0] for method in methods}
    except (ArithmeticError, LookupError, ValueError):  # with too few rows fits break in many ways
        return None
    if any(_is_nan(answer) for answer in answers.values()):
        return None
    return {m: _all_classes(model, y, answer, m) for m, answer in answers.items()}


def _is_nan(answer: Any) -> bool:
    return np.asarray(answer).dtype.kind == "f" and bool(np.isnan(answer).any())


def _rows_of(estimator: Any, X: Table, rows: AnyArray, columns: AnyArray) -> Table:
    """Return rows; of a matrix of all pairs only the columns of the fitted rows."""
    part = take_rows(X, rows)
    return part[:, columns] if get_tags(estimator).input_tags.pairwise else part


def _fit(
    estimator: Any, X: Table, y: AnyArray, sample_weight: Floats | None, rows: AnyArray
) -> Any:
    weights = {} if sample_weight is None else {"sample_weight": sample_weight[rows]}
    return _quietly(clone(estimator).fit, X, np.asarray(y)[rows], **weights)


def _quietly(function: Any, *arguments: Any, **named: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models that are poor; they are what they are
        return function(*arguments, **named)


def _all_classes(model: Any, y: AnyArray, answer: Any, method: str) -> Any:
    classes = getattr(model, "classes_", None)
    everything = np.unique(y)
    if method == "predict" or classes is None or len(classes) == len(everything):
        return answer
    if np.ndim(answer) == 0:  # two classes are left; the score is one of the second
        answer = [-answer, answer]
    lowest = 0.0 if method == "predict_proba" else np.finfo(np.float64).min
    full = np.full(len(everything), lowest)
    full[np.searchsorted(everything, classes)] = answer
    return full


def _covered(family: Family) -> Iterator[Any]:
    for _, kind in all_estimators(type_filter=["classifier", "regressor"]):
        try:
            estimator = _quietly(kind)  # some are to be removed
        except TypeError:  # it needs another estimator
            continue
        if family.covers(estimator):
            yield estimator


def _data_sets(estimator: Any) -> Iterator[_Data]:
    """Yield small data of the kind that an estimator takes."""
    rng = np.random.default_rng(0)
    names = np.array(["one", "three", "two"])[np.arange(24) % 3]
    numbers = rng.normal(size=(24, 3))
    if get_tags(estimator).input_tags.positive_only:
        numbers = rng.poisson(np.exp(numbers)).astype(np.float64)
    weights = rng.integers(1, 4, size=24).astype(np.float64)
    given = weights if has_fit_parameter(estimator, "sample_weight") else None
    if is_classifier(estimator):
        tilt = (np.arange(24) % 3)[:, None] * np.eye(3)[0]
        yield numbers + tilt, names, None
        yield numbers + tilt, (names == "one").astype(np.int64), given
    else:
        target = numbers @ [1.0, 2.0, -1.0] + rng.normal(size=24) + 5.0
        target = np.exp(target / 4) if _wants_positive(estimator) else target
        yield numbers, target, None
        yield numbers, target, given


def _wants_positive(estimator: Any) -> bool:
    return bool(get_tags(estimator).target_tags.positive_only)


def _check_together(
    family: Family, estimators: Sequence[Any], data: Sequence[_Data] | None
) -> None:
    """Fail if estimators that share something differ from plain fits."""
    groups: dict[Any, list[Any]] = {}
    for estimator in map(_seeded, estimators):
        key = family.shares(estimator)
        if key is not None:
            groups.setdefault(key, []).append(estimator)
    for group in groups.values():
        for X, y, sample_weight in _data_sets(group[0]) if data is None else data:
            _check_group(family, [*group, clone(group[0])], (X, y, sample_weight))


def _check_group(family: Family, estimators: Sequence[Any], data: _Data) -> None:
    X, y, sample_weight = data
    models = [clone(estimator) for estimator in estimators]
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    try:
        _quietly(family.fit_many, models, X, y, **weights)
    except ValueError:
        assert weights, f"{family.name} cannot fit {models!r} together, but says that they share."
        return
    said = _quietly(family.respond_many, models, X) or [{}] * len(models)
    assert len(said) == len(models), f"{family.name} answers for {len(said)} of {len(models)}."
    travelled = pickle.loads(pickle.dumps(models))  # as from another process
    family.remember(travelled, X, y)
    again = _quietly(family.respond_many, travelled, X) or [{}] * len(models)
    for model, estimator, answers, later in zip(models, estimators, said, again, strict=True):
        plain = _fit(estimator, X, y, sample_weight, np.arange(len(y)))
        right = {m: _quietly(getattr(plain, m), X) for m in METHODS if hasattr(plain, m)}
        own = {m: _quietly(getattr(model, m), X) for m in right}
        _check_same(f"{family.name}'s {model!r}, fitted with others,", own, right)
        _check_same(f"{family.name}'s answer for {model!r} among others", answers, right)
        _check_same(f"{family.name}'s answer for {model!r} from a pickle", later, right)


def _check_same(who: str, said: Mapping[str, AnyArray], right: dict[str, AnyArray]) -> None:
    everywhere = np.ones(len(right["predict"]), dtype=bool)
    for method, values in said.items():
        assert method in right, f"{who} has a {method}, which the model has not."
        expected = np.asarray(right[method])
        same = np.shape(values) == expected.shape
        assert same, f"{who} has a {method} of shape {np.shape(values)}, not {expected.shape}."
        if expected.dtype.kind == "f":
            off = np.abs(values - expected) > TOGETHER * np.maximum(1.0, np.abs(expected))
        else:
            off = (values != expected) & ~_tied(right, everywhere, expected)
        assert not off.any(), f"{who} differs from a plain fit in {method}."


def _check_one(family: Family, estimator: Any, data: _Data, tolerance: float) -> None:
    X, y, sample_weight = data
    estimator = _seeded(estimator)
    model = _fit(estimator, X, y, sample_weight, np.arange(len(y)))
    before = joblib.hash((_learned(model), X, y, sample_weight))
    unseen = family.unseen(model, X, y, sample_weight)
    unchanged = before == joblib.hash((_learned(model), X, y, sample_weight))
    assert unchanged, f"{family.name} changes {model!r} or its data."
    _check_shapes(family, model, unseen, X)
    _check_refusal(family, model, data, unseen)
    if unseen.doubt is not None:
        return
    if unseen.kind == "out-of-bag":
        _check_honest(family, estimator, X)
        return
    right, there = leave_one_out(estimator, X, y, sample_weight, list(unseen.responses))
    _check_known(family, model, unseen, there)
    known = there if unseen.known is None else there & unseen.known
    if known.any():
        _check_close(family, model, unseen, right, known, tolerance)


def _learned(model: Any) -> dict[str, Any]:
    """Return parameters and learned attributes; trees of neighbours count their own calls."""
    return {name: value for name, value in vars(model).items() if not name.startswith("_")}


def _seeded(estimator: Any) -> Any:
    fixed = clone(estimator)
    if fixed.get_params(deep=False).get("random_state", 0) is None:
        fixed.set_params(random_state=0)
    return fixed


def _check_shapes(family: Family, model: Any, unseen: Unseen, X: Table) -> None:
    kind = unseen.kind
    assert kind in _KINDS, f"{family.name} gives the kind {kind!r} for {model!r}."
    strange = set(unseen.responses) - set(METHODS)
    assert not strange, f"{family.name} gives responses to {sorted(strange)}."
    assert unseen.responses or unseen.doubt, f"{family.name} says nothing about {model!r}."
    for method, said in unseen.responses.items():
        own = _quietly(getattr(model, method), X)
        same = said.shape == own.shape
        assert same, f"{family.name}'s {method} has shape {said.shape}, the model's {own.shape}."
        assert said.dtype.kind == own.dtype.kind, (
            f"{family.name}'s {method} has dtype {said.dtype}, the model's {own.dtype}."
        )
    if unseen.known is not None:
        whole = unseen.known.shape == (count_rows(X),) and unseen.known.dtype == bool
        assert whole, f"{family.name}'s known must have a bool for each row."


def _check_known(family: Family, model: Any, unseen: Unseen, there: Bools) -> None:
    claimed = np.ones_like(there) if unseen.known is None else unseen.known
    invented = np.flatnonzero(claimed & ~there)
    assert not len(invented), (
        f"{family.name} knows what {model!r} would say about row {invented[0]}, but there is no "
        "fit without it."
    )


def _check_close(
    family: Family, model: Any, unseen: Unseen, right: dict[str, AnyArray], known: Bools, tol: float
) -> None:
    for method, said in unseen.responses.items():
        expected = right[method][known]
        labels = method == "predict" and is_classifier(model)
        if labels:
            off = (said[known] != expected) & ~_tied(right, known, expected)
        else:
            off = np.abs(said[known] - expected)
        if unseen.kind == "exact":
            slack = 0 if labels else EXACT * np.maximum(1.0, np.abs(expected))
            assert np.all(off <= slack), (
                f"{family.name}'s {method} of {model!r} is said to be exact, but fits without the "
                f"rows differ by up to {off.max():.3g}."
            )
            continue
        unit = 1.0 if labels or method == "predict_proba" else max(float(expected.std()), 1e-12)
        far = float(np.mean(off)) / unit
        assert far <= tol, (
            f"{family.name}'s {method} of {model!r} is off by {far:.3g} on average, more than the "
            f"tolerance of {tol:g}."
        )


def _tied(right: dict[str, AnyArray], known: Bools, labels: AnyArray) -> Bools:
    """Tell where two classes share the highest score, so that either may be the label."""
    scores = right.get("predict_proba", right.get("decision_function"))
    if scores is None or labels.ndim == 2:
        return np.zeros(labels.shape, dtype=bool)
    if scores.ndim == 1:
        return np.asarray(np.abs(scores[known]) <= EXACT)
    ranked = np.sort(scores[known], axis=1)
    return np.asarray(ranked[:, -1] - ranked[:, -2] <= EXACT)


def _check_refusal(family: Family, model: Any, data: _Data, unseen: Unseen) -> None:
    X, y, sample_weight = data
    some = np.arange(len(y) - 3)
    pairwise = get_tags(model).input_tags.pairwise
    weights = None if sample_weight is None else sample_weight[some]
    fewer = take_rows(X, some)
    fewer = fewer[:, some] if pairwise else fewer
    trials = {"fewer rows": (fewer, np.asarray(y)[some], weights)}
    if unseen.kind != "out-of-bag":
        turned = take_rows(X, np.roll(np.arange(len(y)), 1))
        trials["rows in another order than the targets"] = (turned, y, sample_weight)
    for name, trial in trials.items():
        try:
            answer = family.unseen(model, *trial)
        except ValueError:
            continue
        assert answer.doubt is not None, f"{family.name} answers for {model!r} about {name}."


def _check_honest(family: Family, estimator: Any, X: Table) -> None:
    """Fail if responses follow a target that has nothing to do with the rows."""
    rng = np.random.default_rng(0)
    X = take_rows(X, np.tile(np.arange(count_rows(X)), 3))
    X = np.asarray(X, dtype=np.float64) + rng.uniform(0, 0.5, size=np.shape(X))
    noise = rng.normal(size=count_rows(X))
    target = (noise > 0).astype(np.int64) if is_classifier(estimator) else noise
    model = _fit(estimator, X, target, None, np.arange(len(target)))
    unseen = family.unseen(model, X, target)
    known = np.ones(len(target), bool) if unseen.known is None else unseen.known
    said = unseen.responses["predict"][known].astype(np.float64)
    agreement = float(np.corrcoef(said, target[known])[0, 1])
    assert agreement < 0.5, (
        f"{family.name}'s responses for {estimator!r} correlate by {agreement:.2g} with a target "
        "that is noise: they have seen it."
    )
