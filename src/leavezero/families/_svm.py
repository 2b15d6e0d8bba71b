"""Support vector machines: approximate leave-one-out by the span rule and a smoothed loss."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.families._base import Asked, Family, Unseen
from leavezero.families._fingerprint import close
from leavezero.families._fitted_to import (
    fitted_codes,
    fitted_numbers,
    fitted_rows,
    fitted_weights,
    other_rows,
)
from leavezero.families._shared_svm import fit_together, kernel_name, remember, said_together
from leavezero.families._svm_drafts import (
    Draft,
    DraftNuSVC,
    DraftNuSVR,
    DraftSVC,
    DraftSVR,
    draft_together,
)
from leavezero.families._svm_kernel import Kernel, kernel_of
from leavezero.families._svm_machine import Machine
from leavezero.families._svm_step import doubt_free, sinks
from leavezero.families._svm_votes import decide, dense_coefs, pair_coefs

AT_BOUND = 1.0 - 1e-9
OFF_MARGIN = 0.1  # libsvm leaves free vectors within its tolerance, 1e-3, of the margin


class MachineFamily(Family):
    """What all support vector machines with kernels share."""

    pays_alone = True  # LIBSVM takes its time for the kernel of many rows
    makes_drafts = True

    def refuses(self, estimator: Any) -> str | None:
        """Return None: every setting is covered."""
        return None

    def unseen_many(
        self, models: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Asked]:
        """Return a call for each solution: some models may have the same."""
        calls: dict[int, Asked] = {}
        for model in models:
            ask = cache(partial(self.unseen, model, X, y, sample_weight))
            calls.setdefault(id(model.dual_coef_), ask)
        return [calls[id(model.dual_coef_)] for model in models]

    def shares(self, estimator: Any) -> Any:
        """Return the kernel: its values serve every penalty and class weight."""
        return kernel_name(estimator)

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit the estimators one by one: a shared kernel would give no model of their class."""
        fit_together(estimators, X, y, sample_weight)

    def draft_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Any] | None:
        """Return machines solved on one kernel matrix, or linear ones by steps over all rows."""
        return draft_together(estimators, X, y, sample_weight)

    def is_draft(self, model: Any) -> bool:
        """Tell whether LIBSVM has not made the model."""
        return isinstance(model, Draft)

    def remember(self, models: list[Any], X: Table, y: AnyArray) -> None:
        """Note the width of the kernel."""
        remember(models, X)

    def respond_many(self, models: list[Any], X: Table) -> Sequence[Mapping[str, AnyArray]] | None:
        """Return labels and decision values, or numbers, the kernel computed once; to rounding."""
        return said_together(models, X)


class SVCFamily(MachineFamily):
    """SVC and NuSVC, any kernel; several classes by pairs and their vote, as the model decides.

    The probabilities of ``probability=True`` come from folds inside the fit and are not available.
    For NuSVC the machine is taken as the SVC that has the same solution.
    """

    name = "support vector classifier"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is an SVC or NuSVC itself, not a subclass."""
        return type(estimator) in (SVC, NuSVC, DraftSVC, DraftNuSVC)

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return labels and decision values, each as if the row were not seen."""
        rows = _checked(model, X)
        codes = fitted_codes(model, y, rows.shape[0])
        expected = np.repeat(np.arange(len(model.classes_)), model.n_support_)
        if not np.array_equal(codes[model.support_], expected):
            raise other_rows(model, "its support vectors have other classes in y")
        weights = fitted_weights(sample_weight, len(codes)) * model.class_weight_[codes]
        kernel, own = kernel_of(model, rows), pair_coefs(model)
        scores = _sums(model, kernel, own) + model.intercept_
        coefs = np.zeros((len(codes), own.shape[1]))
        coefs[model.support_] = own
        machines = list(_pairs(model, codes, weights, coefs, scores))
        return _classified(model, kernel, machines, scores, codes)


class SVRFamily(MachineFamily):
    """SVR and NuSVR, any kernel."""

    name = "support vector regression"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is an SVR or NuSVR itself, not a subclass."""
        return type(estimator) in (SVR, NuSVR, DraftSVR, DraftNuSVR)

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return predictions, each as if the row were not seen."""
        rows = _checked(model, X)
        targets = fitted_numbers(model, y, rows.shape[0])
        bounds = model.C * fitted_weights(sample_weight, len(targets))
        kernel, coefs = kernel_of(model, rows), np.zeros(len(targets))
        coefs[model.support_] = dense_coefs(model)[0]
        scores = _sums(model, kernel, coefs[model.support_, None])[:, 0] + model.intercept_
        machine = _tube(model, coefs, bounds, targets - scores)
        doubt = doubt_free(kernel, [machine], [0], 0.0)
        changes = sinks(machine, kernel).changes
        scores -= changes
        if np.abs(changes).max() > np.ptp(targets):
            doubt = "the absence of a row moves its prediction by more than the targets' range"
        return Unseen("approximate", {"predict": scores}, doubt=doubt)


def _checked(model: Any, X: Table) -> Any:
    """Return the rows if the model's support vectors are among them."""
    rows = fitted_rows(model, X)
    if tuple(rows.shape) != tuple(model.shape_fit_):
        raise other_rows(model, f"it saw {model.shape_fit_[0]} rows, X has {rows.shape[0]}")
    if model.kernel != "precomputed" and not callable(model.kernel) and _differ(rows, model):
        raise other_rows(model, "its support vectors are other rows of X")
    return rows


def _sums(model: Any, kernel: Kernel, coefs: Floats) -> Floats:
    """Return the scores of the given rows but for the intercept, as a draft knows them already."""
    known = model.sums if isinstance(model, Draft) else None
    return kernel.scores(coefs) if known is None else known


def _differ(rows: Any, model: Any) -> bool:
    """Tell whether the rows of the support vectors' numbers are other rows, not just rounded."""
    if isinstance(rows, np.ndarray):
        return not close(rows.take(model.support_, axis=0), np.asarray(model.support_vectors_))
    apart = rows[model.support_] - model.support_vectors_
    return not close(apart.data, np.zeros(apart.nnz), float(abs(model.support_vectors_).max()))


def _pairs(
    model: Any, codes: Ints, weights: Floats, coefs: Floats, scores: Floats
) -> Iterator[Machine]:
    """Yield the machine of each pair of classes."""
    turn = -1.0 if len(model.classes_) == 2 else 1.0  # two classes: above zero means the second
    for at, (one, other) in enumerate(combinations(range(len(model.classes_)), 2)):
        rows = np.flatnonzero((codes == one) | (codes == other))
        own, inside = coefs[:, at].take(rows), scores[:, at].take(rows)
        signs = np.where(codes.take(rows) == one, turn, -turn)
        margins = signs * inside
        sizes = np.abs(own) / np.maximum(weights.take(rows), 1e-300)
        bound = model.C if isinstance(model, SVC) else sizes.max(initial=0.0)
        held = sizes >= bound * AT_BOUND
        free = (sizes > 0.0) & ~held
        way = np.abs(margins - 1.0)
        if 2 * np.sum(way[free] > OFF_MARGIN) > np.sum(free):
            raise other_rows(model, "its free support vectors do not lie on the margin")
        inward = held == (signs > 0.0)
        yield Machine(
            rows,
            own,
            free,
            np.where(inward, way, np.inf),
            np.where(inward, np.inf, way),
            np.where(margins > 0.0, margins, np.inf),
            bound * weights.take(rows),
            (margins - 1.0)[:, None],
        )


def _tube(model: Any, coefs: Floats, bounds: Floats, misses: Floats) -> Machine:
    """Return the machine of a regression; a row is free on the edge of the tube."""
    sizes = np.abs(coefs)
    held = sizes >= bounds * AT_BOUND
    free = (sizes > 0.0) & ~held
    edge = float(np.median(np.abs(misses[free]))) if free.any() else 0.0  # NuSVR finds its own
    spread = float(np.std(misses)) + edge
    if free.any() and np.median(np.abs(np.abs(misses[free]) - edge)) > OFF_MARGIN * spread:
        raise other_rows(model, "its free support vectors do not lie on the edge of the tube")
    rise = np.abs(np.where(held, misses - edge, edge + misses))
    fall = np.abs(np.where(held, misses + edge, edge - misses))
    rise[held & (coefs < 0)] = np.inf
    fall[held & (coefs > 0)] = np.inf
    off = np.column_stack([misses - edge, misses + edge])
    return Machine(
        np.arange(len(coefs)), coefs, free, rise, fall, np.zeros(len(coefs)), bounds, off
    )


def _classified(
    model: Any, kernel: Kernel, machines: list[Machine], scores: Floats, codes: Ints
) -> Unseen:
    staked = []
    for at, machine in enumerate(machines):
        found = sinks(machine, kernel)
        scores[machine.rows, at] -= found.changes
        staked.append(found.n_staked)
    responses = decide(model, scores)
    n_right = int(np.sum(responses["predict"] == model.classes_[codes]))
    share = (n_right + 1.0) / (len(codes) + 2.0)  # so that a perfect score has an error too
    error = float(np.sqrt(len(codes) * share * (1.0 - share)))
    return Unseen("approximate", responses, doubt=doubt_free(kernel, machines, staked, error))


FAMILIES = (SVCFamily(), SVRFamily())
