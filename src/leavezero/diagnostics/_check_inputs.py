"""Inputs of the checks: training data, validation set, augmenter and scores of the candidates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Ints, Params, Table
from leavezero.augment import ValidationSet
from leavezero.diagnostics._diagnostic_report import NotApplicableError


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """Scores of the candidates that could be selected, one row or entry per candidate."""

    metric: str
    params: Sequence[Params] = field(repr=False)
    scores: Floats  # the final scores
    splits: Floats = field(repr=False)  # one column per replicate of the validation set
    resampled: Floats = field(repr=False)  # one column per resample
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
