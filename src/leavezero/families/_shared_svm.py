"""One kernel between new rows and support vectors, for machines that differ in their penalty."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import check_array

from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._fitted_to import fitted_rows
from leavezero.families._svm_kernel import (
    SMALL,
    exponential_sums,
    kernel_gamma,
    kernel_values,
    left_factor,
    right_factor,
)
from leavezero.families._svm_votes import decide, dense_coefs, pair_coefs
from leavezero.families._together import blocks_of

_KERNELS = {"linear": (), "rbf": ("gamma",), "sigmoid": ("gamma", "coef0")}
_KERNELS |= {"poly": ("gamma", "coef0", "degree")}
_SINGLE = float(np.finfo(np.float32).eps)

# Beside each living model the gamma that its fit took, and what a new fit would replace.
_GAMMAS: WeakKeyDictionary[Any, tuple[float, Any]] = WeakKeyDictionary()


def kernel_name(estimator: Any) -> tuple[str, ...] | None:
    """Return the kernel with its parameters; None for a function and for given kernels."""
    if not isinstance(estimator.kernel, str) or estimator.kernel not in _KERNELS:
        return None
    parameters = (repr(getattr(estimator, name)) for name in _KERNELS[estimator.kernel])
    return (type(estimator).__name__, estimator.kernel, *parameters)


def fit_together(
    estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None
) -> None:
    """Fit machines of one kernel, and remember its width."""
    for estimator in estimators:
        estimator.fit(X, y, sample_weight=sample_weight)
    remember(estimators, X)


def remember(models: list[Any], X: Table) -> None:
    """Note the width of the kernel of machines that were fitted to these rows."""
    gamma = kernel_gamma(models[0], fitted_rows(models[0], X))
    for model in models:
        note_gamma(model, gamma)


def note_gamma(model: Any, gamma: float) -> None:
    """Note the width of the kernel of a machine."""
    _GAMMAS[model] = (gamma, model.support_)


def said_together(models: list[Any], X: Table) -> list["Spoken"] | None:
    """Return what machines say of rows, one kernel for all; None if they share none."""
    gamma = _gamma(models[0])
    if gamma is None or any(_gamma(model) != gamma for model in models):
        return None
    support = _all_support(models)
    if support is None:
        return None
    places, vectors = support
    rows = check_array(fitted_rows(models[0], X), accept_sparse="csr")  # as plain answers do
    if sparse.issparse(rows) != sparse.issparse(vectors):
        return None
    coefs = _all_coefs(models, places, vectors.shape[0])
    machines = Machines(models, rows, vectors, coefs, gamma)
    return [Spoken(machines, at) for at in range(len(models))]


class Spoken(Mapping[str, AnyArray]):
    """What one of several machines says, computed for all of them when one is asked.

    Labels are cheaper than decision values, so that both are made only if both are wanted.
    """

    def __init__(self, machines: "Machines", at: int) -> None:
        self._machines, self._at = machines, at
        methods = ("predict", "decision_function")
        self._methods = methods if is_classifier(machines.models[0]) else methods[:1]

    def __getitem__(self, method: str) -> AnyArray:
        if method not in self._methods:
            raise KeyError(method)
        machines = self._machines
        return (machines.labels if method == "predict" else machines.decisions)[self._at]

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)


@dataclass(frozen=True, eq=False)
class Machines:
    """Machines of one kernel before rows: a column of coefficients for each of their scores."""

    models: list[Any]
    rows: Any
    vectors: Any
    coefs: Floats
    gamma: float

    @cached_property
    def labels(self) -> list[AnyArray]:
        """The machines' predictions."""
        known = "_said" in self.__dict__
        if known or not self._gaussian or not all(_by_signs(model) for model in self.models):
            return [said["predict"] for said in self._said]
        return [said["predict"] for said in self._in_blocks(self._rough_scores)]

    @cached_property
    def decisions(self) -> list[AnyArray]:
        """The machines' decision values."""
        return [said["decision_function"] for said in self._said]

    @cached_property
    def _said(self) -> list[dict[str, AnyArray]]:
        return self._in_blocks(self._scores)

    @property
    def _gaussian(self) -> bool:
        return self.models[0].kernel == "rbf" and not sparse.issparse(self.rows)

    def _in_blocks(self, scores: Callable[[Any], Floats]) -> list[dict[str, AnyArray]]:
        """Return answers from scores, which are made for a block of rows at a time."""
        n_cells = sum(self.coefs.shape)  # of a row: its kernel, or its scores
        blocks = [self._decided(scores(rows)) for rows in blocks_of(self.rows, n_cells)]
        return [
            {method: np.concatenate([part[method] for part in parts]) for method in parts[0]}
            for parts in zip(*blocks, strict=True)
        ]

    def _decided(self, scores: Floats) -> list[dict[str, AnyArray]]:
        """Return each machine's answers from its columns of the scores."""
        ends = np.cumsum([len(model.intercept_) for model in self.models])
        parts = np.split(scores, ends[:-1], axis=1)
        if not is_classifier(self.models[0]):
            return [{"predict": part[:, 0]} for part in parts]
        return [decide(model, part) for model, part in zip(self.models, parts, strict=True)]

    def _scores(self, rows: Any) -> Floats:
        if self.models[0].kernel == "linear":
            return np.asarray(rows @ self._weights + self._intercepts)
        if self._gaussian:
            factor = left_factor(rows - self._middle, self.gamma)
            return exponential_sums(factor, self._factor, self.coefs) + self._intercepts
        kernel = kernel_values(self.models[0], rows, self.vectors, self.gamma)
        return np.asarray(kernel @ self.coefs + self._intercepts)

    def _rough_scores(self, rows: Floats) -> Floats:
        """Return scores with the right signs: in single precision, where that leaves no doubt."""
        first = left_factor(rows - self._middle, self.gamma)
        span = -min(first[:, -2].min(), self._factor[:, -1].min())
        if span > SMALL:
            return self._scores(rows)
        first = first.astype(np.float32)
        sums = exponential_sums(first, self._single_factor, self._single_coefs)
        scores, sizes = np.split(sums, 2, axis=1)
        scores += self._intercepts
        slack = _SINGLE * (16.0 + 4.0 * span + np.sqrt(len(self.vectors)))
        unsure = np.abs(scores) <= slack * (sizes + np.abs(self._intercepts))
        for at in np.flatnonzero(unsure.any(axis=0)):
            again, used = unsure[:, at], np.flatnonzero(self.coefs[:, at])
            left = left_factor(rows[again] - self._middle, self.gamma)
            sums = exponential_sums(left, self._factor[used], self.coefs[used, at])
            scores[again, at] = sums + self._intercepts[at]
        return scores

    @cached_property
    def _intercepts(self) -> Floats:
        return np.concatenate([model.intercept_ for model in self.models])

    @cached_property
    def _weights(self) -> Floats:
        return np.asarray(self.vectors.T @ self.coefs)

    @cached_property
    def _middle(self) -> Floats:
        return np.asarray(self.vectors.mean(axis=0))  # far from zero distances keep their digits

    @cached_property
    def _factor(self) -> Floats:
        return right_factor(self.vectors - self._middle, self.gamma)

    @cached_property
    def _single_factor(self) -> Floats:
        return self._factor.astype(np.float32)

    @cached_property
    def _single_coefs(self) -> Floats:
        return np.hstack([self.coefs, np.abs(self.coefs)]).astype(np.float32)


def _by_signs(model: Any) -> bool:
    """Tell whether the signs of the scores are all that a label depends on."""
    return is_classifier(model) and (len(model.classes_) == 2 or not model.break_ties)


def _gamma(model: Any) -> float | None:
    """Return the gamma of a model that has not been fitted again since it was remembered."""
    gamma, learned = _GAMMAS.get(model, (None, None))
    return gamma if learned is getattr(model, "support_", None) else None


def _all_support(models: list[Any]) -> tuple[list[AnyArray], Any] | None:
    """Return the place of each model's support vectors among all of them, and these.

    None if there are none, or if the models do not call the same rows by the same numbers.
    """
    numbers, first = np.unique(
        np.concatenate([model.support_ for model in models]), return_index=True
    )
    own = [model.support_vectors_ for model in models]
    stacked = sparse.vstack(own, format="csr") if sparse.issparse(own[0]) else np.vstack(own)
    vectors = stacked[first]
    places = [np.searchsorted(numbers, model.support_) for model in models]
    if not len(numbers) or abs(vectors[np.concatenate(places)] - stacked).max() > 0:
        return None
    return places, vectors


def _all_coefs(models: list[Any], places: list[AnyArray], n_vectors: int) -> Floats:
    """Return the coefficients of all support vectors, side by side for all models."""
    return np.hstack(
        [
            scattered_coefs(model, place, n_vectors)
            for model, place in zip(models, places, strict=True)
        ]
    )


def scattered_coefs(model: Any, places: AnyArray, n_places: int) -> Floats:
    """Return a machine's coefficients at their places among others, a column for each score."""
    own = pair_coefs(model) if is_classifier(model) else dense_coefs(model).T
    full = np.zeros((n_places, own.shape[1]))
    full[places] = own
    return full
