"""Rows with the word of reference models, by which the bias of a score is found."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from leavezero._random import integer_seed, stream
from leavezero._typing import AnyArray, RandomState, Table
from leavezero.augment._around import AroundAugmenter
from leavezero.augment._references import References, appoint_references
from leavezero.augment._target import Target
from leavezero.augment._teachers import make_folds
from leavezero.augment._validation_set import ValidationSet

MAX_REFERENCE_ROWS = 1_000


class Calibrated(AroundAugmenter):
    """Let reference models tell how far the score on an augmenter's rows is off.

    About thirty cheap models of different kinds are fitted to the data once, in a way that also
    tells what each would say about a given row that it had not seen. So for each of them both the
    score on V and an honest score are known, and their difference is V's bias for that model. A
    search corrects a candidate's score by the bias of the references that answer V's rows as it
    does (ordinary kriging, with the share of rows answered differently as the distance). What V
    flatters, such as memorising, is found out by references that memorise.

    Parameters
    ----------
    augmenter : augmenter
        What draws the rows.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the references.

    Attributes
    ----------
    augmenter_ : augmenter
        What draws the rows, fitted.
    references_ : References
        The reference models and their honest labels.
    n_fits_ : int
        The number of models fitted, about sixty small ones.
    classes_ : array of shape (n_classes,)
        The classes, sorted.

    Notes
    -----
    The target is one column of classes. Only scores of predicted labels are corrected, such as
    accuracy and balanced accuracy; others stay as they are. References learn from at most 1,000
    given rows. The closed form of leave-one-out for ridge classifiers is exact but for the mean
    of the labels, and for neighbours exact up to ties.

    References
    ----------
    N. Cressie. Statistics for Spatial Data. Wiley, 1993 (ordinary kriging).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from leavezero.augment import Calibrated, CopulaAugmenter
    >>> X, y = load_iris(return_X_y=True)
    >>> V = Calibrated(CopulaAugmenter(), random_state=0).fit(X, y).sample(5, random_state=0)
    >>> V.reference_codes.shape
    (5, 37)
    """

    def __init__(self, augmenter: Any, random_state: RandomState = None) -> None:
        self.augmenter = augmenter
        self.random_state = random_state

    def _learn(
        self,
        X: Table,
        target: Target,
        groups: AnyArray | None,
        root: np.random.SeedSequence,
    ) -> int:
        """Fit the reference models to all rows, or to a random part of many."""
        features = self._featurizer.transform(X)
        if target.kind != "classes" or sparse.issparse(features):
            raise ValueError(
                "Calibrated needs one column of classes as y, and a table that is neither sparse "
                "nor text. Use TeacherLabeled."
            )
        if groups is not None:
            raise ValueError(
                "Calibrated does not take groups: a row left out would leave its group behind. "
                "Use TeacherLabeled."
            )
        rows = np.arange(len(target))
        if len(rows) > MAX_REFERENCE_ROWS:
            rows = np.sort(stream(root, "rows").choice(rows, MAX_REFERENCE_ROWS, replace=False))
        seed = integer_seed(root, "references")
        codes = target.codes[rows]
        folds = make_folds(codes, None, 5, None, seed)
        self.references_: References = appoint_references(features[rows], codes, folds, seed)
        return self.references_.n_fits

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        drawn = self.augmenter_.sample(n_samples, stream(root, "rows"))
        said = self.references_.say(self._featurizer.transform(drawn.X))
        return replace(drawn, reference_codes=said)
