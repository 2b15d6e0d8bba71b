"""The ways of choosing a setting of SMIR that Table 5 compares."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leavezero._random import integer_seed, seed_sequence
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment import (
    LabeledOnly,
    LabelInvariantMixup,
    PseudoLabeled,
    resolve_augmenter,
)
from leavezero.engine import (
    Metric,
    Replicates,
    Responses,
    Verdict,
    both_heard,
    draw_replicates,
    judge,
    look,
    resolve_metric,
)
from leavezero.experiments._labeled_folds import labeled_fold_accuracy
from leavezero.semi_supervised import (
    SMIRClassifier,
    fit_many,
    held_out_scores,
    predict_proba_many,
)

WIDTHS = (1 / 15, 1 / 10, 1 / 5, 1 / 2, 1.0)
GAMMAS = (1e-7, 1e-3, 1e-1, 1e1, 1e3)
OFFSETS = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
FOLDS = "2-fold CV"
DROPPED = "2-fold CV, rows dropped"
LABELED = "labelled rows, m = n"
LABELED_10 = "labelled rows, m = 10 n"
PSEUDO = "pseudo labels, m = n"
PSEUDO_10 = "pseudo labels, m = 10 n"
AUTO = "auto's V, m = n"
AUTO_10 = "auto's V, m = 10 n"
UNSEEN = "unseen alone"
DEFAULT = "default"
WAYS = (
    FOLDS,
    DROPPED,
    LABELED,
    LABELED_10,
    PSEUDO,
    PSEUDO_10,
    AUTO,
    AUTO_10,
    UNSEEN,
    DEFAULT,
)
_N_REPLICATES = 10  # of V, the searches' default


@dataclass(frozen=True)
class Setting:
    """One of SMIR's 125 settings."""

    width: float
    gamma: float
    offset: float


# Ties go to the first: the widest kernel, then the least gamma and offset.
SETTINGS = tuple(
    Setting(width, gamma, offset)
    for width in reversed(WIDTHS)
    for gamma in GAMMAS
    for offset in OFFSETS
)


@dataclass(frozen=True, eq=False)
class Judging:
    """All settings fitted once to all rows, and what each way says of them.

    ``y`` has a code for each class, and -1 in rows without a label. ``mixup_replicates`` is how
    many times n rows mix-up draws: 10 where m = 10 n is wanted.
    """

    X: Table
    y: Ints
    seed: int
    mixup_replicates: int = 10
    drops: bool = True  # whether to fit folds without their rows
    settings: tuple[Setting, ...] = SETTINGS

    @cached_property
    def models(self) -> list[SMIRClassifier]:
        """The fitted models, one a setting."""
        return fit_many(self._unfitted(), self.X, self.y)

    def scores(self) -> dict[str, Floats]:
        """Return the score of each setting by each way; higher is better."""
        found = {FOLDS: self._by_folds("kept")}
        if self.drops:
            found[DROPPED] = self._by_folds("dropped")
        mixup = LabelInvariantMixup(alpha=1.0)
        own = {LABELED: LabeledOnly(mixup), PSEUDO: PseudoLabeled(mixup)}
        for way, augmenter in own.items():
            verdicts = self._verdicts(self._draw(augmenter, self.mixup_replicates))
            found |= _sizes(way, verdicts, all_sizes=self.mixup_replicates > 1)
        return found | self._by_default()

    def _unfitted(self) -> list[SMIRClassifier]:
        return [
            SMIRClassifier(width=s.width, gamma=s.gamma, offset=s.offset) for s in self.settings
        ]

    def _by_folds(self, held_out: Any) -> Floats:
        """Return the hits of two folds over the labelled rows."""
        seed = integer_seed(seed_sequence(self.seed), "folds")
        if held_out == "kept":
            found = [held_out_scores(m, 1, 2, random_state=seed) for m in self.models]
            if found[0].reason is None:
                truth = self.y[found[0].rows]
                return np.array([np.mean(f.scores[0].argmax(axis=1) == truth) for f in found])
        return labeled_fold_accuracy(
            self._unfitted(), self.X, self.y, held_out=held_out, random_state=seed
        )

    def _by_default(self) -> dict[str, Floats]:
        """Return what a search without any wish computes: V, unseen rows, and both."""
        choice = resolve_augmenter(
            "auto", self.X, self.y, unlabeled=-1, candidate_types={SMIRClassifier}
        )
        V = self._draw(choice.augmenter, _N_REPLICATES)
        verdicts = self._verdicts(V)
        metric = self._metric()
        sights = [look(m, self.X, self.y, {}, {"score": metric}, V.classes) for m in self.models]
        unseen = np.array([s.verdicts["score"].scores[0] if s.verdicts else np.nan for s in sights])
        found = _sizes(AUTO, verdicts, all_sizes=True)
        found[UNSEEN] = np.nan_to_num(unseen)
        n_labels = int(np.sum(self.y >= 0))
        found[DEFAULT] = both_heard(V, metric, verdicts, unseen, self.y, n_labels=n_labels)
        return found

    def _draw(self, augmenter: Any, n_replicates: int) -> Replicates:
        _, V = draw_replicates(
            augmenter,
            self.X,
            self.y,
            n_replicates=n_replicates,
            validation_size=1.0,
            root=seed_sequence(self.seed),
            owner="Table 5",
        )
        return V

    def _verdicts(self, V: Replicates) -> list[Verdict]:
        """Return what V says of each setting."""
        metric = self._metric()
        verdicts = []
        for model, said in zip(self.models, predict_proba_many(self.models, V.rows.X), strict=True):
            answers = {"predict": model.classes_[said.argmax(axis=1)], "predict_proba": said}
            verdicts.append(judge(Responses(model, V.rows.X, answers), V, metric)["score"])
        return verdicts

    def _metric(self) -> Metric:
        return resolve_metric("accuracy", "Table 5")


def chosen(way: str, scores: Floats, settings: tuple[Setting, ...] = SETTINGS) -> int:
    """Return the best setting by a way's scores; equal ones tie in spite of rounding.

    Ties go to the widest kernel, as is good for SMIR. The default search knows no such thing: its
    ties go to the least gamma, then the least offset, then the narrowest kernel.
    """
    tied = np.flatnonzero(np.round(scores, 12) == np.round(scores, 12).max())
    if way != DEFAULT:
        return int(tied[0])
    return int(min(tied, key=lambda at: _canonical(settings[at])))


def _canonical(setting: Setting) -> tuple[float, float, float]:
    return setting.gamma, setting.offset, setting.width


def _sizes(way: str, verdicts: list[Verdict], *, all_sizes: bool) -> dict[str, Floats]:
    """Return the scores on the first replicate, and on all of them."""
    found = {way: np.array([float(verdict.scores[0]) for verdict in verdicts])}
    if all_sizes:
        larger = way.replace("m = n", "m = 10 n")
        found[larger] = np.array([float(verdict.scores.mean()) for verdict in verdicts])
    return found


def codes_of(y: AnyArray, labeled: Ints) -> tuple[Ints, Ints]:
    """Return all labels as codes, and the same with -1 where no label is given.

    Examples
    --------
    >>> codes_of(np.array([-1, 1, 1]), np.array([0, 1]))
    (array([0, 1, 1]), array([ 0,  1, -1]))
    """
    codes = np.unique(y, return_inverse=True)[1].astype(np.intp)
    few = np.full(len(codes), -1)
    few[labeled] = codes[labeled]
    return codes, few
