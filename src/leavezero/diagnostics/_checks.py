"""The checks of a search, in the order of their codes, their inputs, and how they are run."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline

from leavezero._random import random_rows
from leavezero._tables import (
    Featurizer,
    count_rows,
    has_columns,
    is_pandas,
    is_polars,
    is_text,
    plain,
    row_keys,
    take_rows,
)
from leavezero._typing import AnyArray, Floats, Ints, Params, Table
from leavezero.augment import ValidationSet
from leavezero.diagnostics._diagnostic_report import (
    CV_FINALISTS,
    OTHER_AUGMENTER,
    THRESHOLDS,
    Check,
    DiagnosticReport,
    NotApplicableError,
    format_score,
    measured,
)
from leavezero.diagnostics._jensen_shannon import divergence

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
MAX_QUERY_ROWS, MAX_NEIGHBOR_ROWS = 500, 20_000
MIN_VALUES = 3  # for a range of a parameter
MAX_EXCESS = 0.2  # of validation scores over held-out scores, for metrics from 0 to 1
PROPORTIONS = (  # parameters with a maximum of 1
    *("bagging_fraction", "colsample_bytree", "feature_fraction", "l1_ratio", "max_df"),
    *("max_features", "max_samples", "nu", "reg_param", "shrinkage", "subsample"),
)


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """Scores of the candidates that could be selected, one row or entry per candidate."""

    metric: str
    params: Sequence[Params] = field(repr=False)
    scores: Floats  # the final scores
    resampled: Floats = field(repr=False)  # one column per bootstrap sample
    validation: Floats = field(repr=False)  # NaN where there is none
    held_out: Floats = field(repr=False)  # LOO or fold scores; NaN where there is none
    best: int  # index of the best candidate
    tied: tuple[int, ...]  # the best candidate and those statistically tied with it
    bias_corrected: float  # the best score, corrected for selection bias
    standard_error: float  # of the best score
    cross_validated: bool = False  # whether the best candidate was

    @property
    def best_score(self) -> float:
        """The final score of the best candidate."""
        return float(self.scores[self.best])


@dataclass(frozen=True)
class PermutationScores:
    """Validation scores of candidates fitted to permuted labels."""

    scores: tuple[float, ...]  # on a validation set generated from the permuted data
    chances: tuple[float, ...]  # of the same predictions, with permuted validation labels

    @property
    def largest(self) -> float:
        """The largest difference between a score and chance."""
        return max(s - chance for s, chance in zip(self.scores, self.chances, strict=True))


@dataclass(frozen=True, eq=False)
class CheckInputs:
    """Inputs of :func:`run_checks`."""

    X: Table = field(repr=False)  # training rows
    y: AnyArray = field(repr=False)
    classes: AnyArray | None  # sorted; None for a regression or several outputs
    validation_set: ValidationSet | None = field(repr=False)  # None if only LOO was used
    augmenter: Any  # fitted; it generated the validation set
    candidates: CandidateScores | None = None  # None if no metric was used to select
    winner: Any = None  # the best model, fitted
    default_augmenter: bool = False  # whether the augmenter is that of augmenter="auto"
    grouped: bool = False  # whether the rows have groups
    labeled: Ints | None = field(default=None, repr=False)  # rows without a pseudo-label
    seed: int = 0
    permutation: PermutationScores | None = None  # if requested

    @property
    def n_train(self) -> int:
        """The number of training rows."""
        return len(self.y)

    @property
    def known_targets(self) -> AnyArray:
        """The targets without pseudo-labels."""
        return self.y if self.labeled is None else self.y[self.labeled]

    @property
    def is_user_supplied(self) -> bool:
        """Whether the user supplied the validation set."""
        return hasattr(self.augmenter, "fixed_rows")

    def required_validation_set(self) -> ValidationSet:
        """Return the validation set; a check that requires it is not applicable without it."""
        if self.validation_set is None:
            raise NotApplicableError("There is no validation set.")
        return self.validation_set

    def required_candidates(self) -> CandidateScores:
        """Return the scores; a check that requires them is not applicable without them."""
        if self.candidates is None:
            raise NotApplicableError("There are no scores.")
        return self.candidates

    def target_proportions(self) -> tuple[Floats, Floats]:
        """Return the proportion of each class in the training data and in the validation set.

        Sample weights are taken into account. A regression target is binned at the
        deciles of the training data.
        """
        validation_set = self.required_validation_set()
        weights = validation_set.sample_weight
        if self.classes is None:
            edges = np.unique(np.quantile(self.y, np.linspace(0.1, 0.9, 9)))
            train, n_bins = np.searchsorted(edges, self.y), len(edges) + 1
        else:
            edges = self.classes
            train, n_bins = np.searchsorted(edges, self.known_targets), len(edges)
        p = np.bincount(train, minlength=n_bins) / len(train)
        q = np.bincount(np.searchsorted(edges, validation_set.y), weights, minlength=n_bins)
        return p, q / q.sum()


def check_label_distribution(inputs: CheckInputs) -> Check:
    """LZ01: whether training data and validation set have the same label distribution."""
    validation_set = inputs.required_validation_set()
    if np.ndim(inputs.y) > 1:
        raise NotApplicableError("The target has several outputs.")
    p, q = inputs.target_proportions()
    nats = divergence(p, q)
    # Expected value for two samples of the same distribution, to first order.
    expected = (len(p) - 1) / 8 * (1 / inputs.n_train + 1 / len(validation_set))
    excess = max(0.0, nats - expected)
    labels = "labels" if inputs.classes is not None else "targets (in ten bins)"
    message = (
        f"The Jensen-Shannon divergence between the {labels} of training data and validation set "
        f"is {nats:.4f} nats (0: same distribution, 0.69: no overlap)."
    )
    return measured("LZ01", excess, message, _advice(inputs))


def check_leakage(inputs: CheckInputs) -> Check:
    """LZ03: whether validation rows are as far from the training rows as new rows would be."""
    X_val = inputs.required_validation_set().X
    featurizer = Featurizer().fit(inputs.X)
    rng = np.random.default_rng(inputs.seed)

    def sample(X: Table, at_most: int) -> Any:
        return featurizer.transform(take_rows(X, random_rows(count_rows(X), at_most, rng)))

    train = sample(inputs.X, MAX_NEIGHBOR_ROWS)
    validation = sample(X_val, MAX_QUERY_ROWS)
    if not (_has_distances(train) and _has_distances(validation)):
        raise NotApplicableError(TOO_LARGE)
    neighbors = NearestNeighbors(n_neighbors=2).fit(train)
    # The nearest neighbor of a training row is the row itself.
    query = train[random_rows(train.shape[0], MAX_QUERY_ROWS, rng)]
    within = float(neighbors.kneighbors(query)[0][:, 1].mean())
    if within <= DUPLICATE_DISTANCE:
        raise NotApplicableError("Every training row has a duplicate.")
    ratio = float(neighbors.kneighbors(validation, n_neighbors=1)[0].mean()) / within
    message = (
        "The mean distance of validation rows to the nearest training row is "
        f"{ratio:.2f} times that between training rows (1: like new rows, 0: copies)."
    )
    return measured("LZ03", ratio, message, _advice(inputs))


def check_permuted_labels(inputs: CheckInputs) -> Check:
    """LZ04: whether candidates fitted to permuted labels score above chance."""
    permutation, candidates = inputs.permutation, inputs.candidates
    if permutation is None or candidates is None:
        reason = "This check fits two more models: call diagnose(permutation=True)."
        raise NotApplicableError(reason)
    margin = candidates.validation[candidates.best] - min(permutation.chances)
    share = permutation.largest / max(margin, candidates.standard_error, 1e-12)
    message = (
        f"A candidate fitted to permuted labels scores {permutation.largest:+.3f} relative to "
        f"chance on the validation set, {max(share, 0.0):.0%} of the best candidate's margin."
    )
    return measured("LZ04", share, message, CV_FINALISTS)


def check_stability(inputs: CheckInputs) -> Check:
    """LZ05: how often the best candidate has the highest score on bootstrap samples."""
    candidates = inputs.required_candidates()
    if len(candidates.scores) < 2:
        raise NotApplicableError("There is only one candidate.")
    share = _share_first(candidates.resampled, candidates.best)
    n_tied = len(candidates.tied) - 1  # without the best
    level = THRESHOLDS["LZ05"].level(share)
    if n_tied > 0 and (level == "ok" or candidates.cross_validated):
        level = "note"  # a tie is information; after cross-validation there is nothing left to do
    others = {0: "No other candidate is", 1: "1 other candidate is"}
    message = (
        f"The best candidate has the highest score in {share:.0%} of the bootstrap samples of the "
        f"rows. {others.get(n_tied, f'{n_tied} other candidates are')} statistically tied with it."
    )
    advice = "If it matters which of them is selected, cross-validate the best: cv_finalists=5."
    return Check("LZ05", level, message, share, advice if level == "warning" else None)


def check_boundary(inputs: CheckInputs) -> Check:
    """LZ07: whether the best candidate and all tied ones are on the boundary of the grid."""
    candidates = inputs.required_candidates()
    best = candidates.params[candidates.best]
    values = {name: _numerical_values(name, candidates.params) for name in best}
    ranges = {name: tried for name, tried in values.items() if len(tried) >= MIN_VALUES}
    if not ranges:
        raise NotApplicableError("No parameter has three or more numerical values.")
    on_boundary = [
        f"{name}={best[name]!r}"
        for name, tried in ranges.items()
        if best[name] in (tried[0], tried[-1])
        and not _is_natural_limit(name, best[name], tried)
        and all(candidates.params[index].get(name) == best[name] for index in candidates.tied)
    ]
    message = (
        f"The best candidate is on the boundary of the grid ({', '.join(on_boundary)})."
        if on_boundary
        else "The best candidate, or one that is tied with it, is inside the grid."
    )
    return measured("LZ07", float(len(on_boundary)), message, "Extend the grid.")


def check_small_classes(inputs: CheckInputs) -> Check:
    """LZ08: whether every class has enough rows to generate similar ones."""
    if inputs.classes is None:
        raise NotApplicableError("The target is not a single column of classes.")
    labels, counts = np.unique(inputs.known_targets, return_counts=True)
    smallest = int(counts.min())
    rows = f"{'' if inputs.labeled is None else 'labeled '}row{'s' * (smallest != 1)}"
    message = f"The smallest class, {plain(labels[counts.argmin()])!r}, has {smallest} {rows}."
    advice = "Collect more rows of this class, or merge it with a similar class."
    return measured("LZ08", float(smallest), message, advice)


def check_selection_bias(inputs: CheckInputs) -> Check:
    """LZ10: how much of the best score is selection bias."""
    candidates = inputs.required_candidates()
    if not np.isfinite(candidates.bias_corrected):
        raise NotApplicableError("The metric cannot be resampled.")
    bias = candidates.best_score - candidates.bias_corrected
    varies = candidates.standard_error > 1e-12 * abs(candidates.best_score)
    errors = bias / candidates.standard_error if varies else 0.0
    size = format_score(bias, candidates.best_score)
    message = f"Selection makes the best score {size} too high ({errors:.2f} standard errors)."
    return measured("LZ10", errors, message, "Report search.selection_.bias_corrected_score.")


def check_exchangeable(inputs: CheckInputs) -> Check:
    """LZ11: whether the rows are exchangeable, as generated rows and random folds assume."""
    column = _sorted_column(inputs.X) if inputs.n_train >= MIN_ROWS_ORDER else None
    if column is not None:
        message = f"The rows are sorted by column {column!r}, which may be a time."
        return Check("LZ11", "warning", message, None, RESPECT_ORDER)
    duplicates = _share_of_duplicates(inputs)
    if duplicates > MAX_DUPLICATES:
        message = (
            f"{duplicates:.0%} of the rows have a duplicate. If these are copies instead of "
            "separate observations, all scores are optimistic."
        )
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
    message = f"The rows have no detectable order and no groups; {duplicates:.0%} are duplicates."
    return Check("LZ11", "ok", message, duplicates)


def check_label_models(inputs: CheckInputs) -> Check:
    """LZ12: which share of the validation labels comes from models of the best model's type."""
    models = _label_models(inputs.augmenter)
    if not models:
        raise NotApplicableError("The validation set was not labeled by models.")
    if inputs.winner is None:
        raise NotApplicableError("There is no best model (refit=False).")
    best_type = type(_last_step(inputs.winner))
    share = sum(weight for kind, weight in models if kind is best_type)
    message = (
        f"Models of the best candidate's type, {best_type.__name__}, determine {share:.0%} of the "
        "labels of the validation set."
    )
    pseudo_labeled = getattr(inputs.augmenter, "pseudo_share_", None)
    if pseudo_labeled is not None:
        names = ", ".join(sorted({kind.__name__ for kind, _ in models}))
        pseudo = f"{pseudo_labeled:.0%} of the source rows are pseudo-labeled by {names}."
        message = f"{pseudo} {message}"
    return measured("LZ12", share, message, CV_FINALISTS)


def check_held_out_scores(inputs: CheckInputs) -> Check:
    """LZ13: whether there are leave-one-out, out-of-bag or fold scores, and how far off they are.

    In 720 searches of the regret study by accuracy or AUC, the median difference was above the
    threshold in 3, all with 100 rows.
    """
    candidates = inputs.required_candidates()
    known = np.isfinite(candidates.held_out)
    if inputs.validation_set is None:
        raise NotApplicableError("There is no validation set.")
    if inputs.is_user_supplied:
        raise NotApplicableError("The validation set was given.")
    share = float(known.mean())
    pairs = np.array([candidates.validation[known], candidates.held_out[known]])
    excess = float(np.median(pairs[0] - pairs[1])) if known.any() else 0.0
    if excess > MAX_EXCESS and pairs.min() >= 0 and pairs.max() <= 1:
        message = (
            f"Validation scores exceed held-out scores by {excess:.2g}: models memorize their "
            "training rows, which generated rows resemble. Held-out scores alone decide."
        )
        advice = "Confirm the score on test rows; regularize more, or use fewer columns."
        return Check("LZ13", "warning", message, share, advice)
    if known[candidates.best]:
        own = candidates.held_out[candidates.best]
        message = (
            f"The best candidate has a held-out score of {own:.4g}; its score on the generated "
            f"validation set is {candidates.validation[candidates.best]:.4g}."
        )
        return Check("LZ13", "ok", message, share)
    if known.any():
        message = (
            "The best candidate has no held-out score; the bias of its validation score was "
            "estimated from other candidates."
        )
        return Check("LZ13", "note", message, share)
    message = (
        "No candidate has a held-out score: scores rest on the generated validation set alone and "
        "may be far too high or too low."
    )
    return Check("LZ13", "warning", message, share, CV_FINALISTS)


CHECKS: dict[str, Callable[[CheckInputs], Check]] = {
    "LZ01": check_label_distribution,
    "LZ03": check_leakage,
    "LZ04": check_permuted_labels,
    "LZ05": check_stability,
    "LZ07": check_boundary,
    "LZ08": check_small_classes,
    "LZ10": check_selection_bias,
    "LZ11": check_exchangeable,
    "LZ12": check_label_models,
    "LZ13": check_held_out_scores,
}


def run_checks(inputs: CheckInputs, codes: Collection[str] | None = None) -> DiagnosticReport:
    """Run the checks with these codes, all of them if None."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        # The user cannot act on warnings of auxiliary models.
        warnings.simplefilter("ignore")
        checks = [_run(code, inputs) for code in sorted(CHECKS if codes is None else codes)]
    if inputs.candidates is not None and inputs.candidates.cross_validated:
        checks = [replace(c, advice=None) if c.advice == CV_FINALISTS else c for c in checks]
    n_fits = 0 if inputs.permutation is None else len(inputs.permutation.scores)
    return DiagnosticReport(tuple(checks), time.perf_counter() - started, n_fits)


def _run(code: str, inputs: CheckInputs) -> Check:
    try:
        return CHECKS[code](inputs)
    except NotApplicableError as reason:
        return Check(code, "not applicable", str(reason))


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


def _share_of_duplicates(inputs: CheckInputs) -> float:
    """Return the share of rows that are equal to another row."""
    if not has_columns(inputs.X):
        raise NotApplicableError("X has no columns.")
    rng = np.random.default_rng(inputs.seed)
    rows = row_keys(take_rows(inputs.X, random_rows(inputs.n_train, MAX_ROWS_DUPLICATES, rng)))
    counts = Counter(rows)
    return float(np.mean([counts[row] > 1 for row in rows]))


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


def _share_first(scores: Floats, best: int) -> float:
    """Return the share of columns in which no candidate has a higher score than the best."""
    top = np.nanmax(np.where(np.isnan(scores), -np.inf, scores), axis=0)
    return float(np.mean(scores[best] >= top - 1e-12 * np.abs(top)))


def _numerical_values(name: str, params: Sequence[Params]) -> list[float]:
    """Return the sorted values of a parameter, none if some are not numerical."""
    values = [row[name] for row in params if name in row]
    if not all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
        return []
    return sorted(set(values))


def _is_natural_limit(name: str, value: Any, tried: Sequence[Any]) -> bool:
    """Return True for a limit of the parameter itself: 0, a count of 1, a proportion of 1."""
    if value == tried[0]:
        return bool(value == 0 or (value == 1 and all(isinstance(v, Integral) for v in tried)))
    return bool(value == 1 and name.rpartition("__")[2] in PROPORTIONS)


def _last_step(model: Any) -> Any:
    """Return the last step of nested pipelines."""
    while isinstance(model, Pipeline):
        model = model[-1]
    return model


def _label_models(augmenter: Any) -> list[tuple[type, float]]:
    """Return the type and the weight of each model that labels the validation set."""
    while augmenter is not None:
        if hasattr(augmenter, "label_models_"):
            types = [type(_last_step(model)) for model in augmenter.label_models_]
            return list(zip(types, map(float, augmenter.label_weights_), strict=True))
        augmenter = getattr(augmenter, "augmenter_", None)
    return []
