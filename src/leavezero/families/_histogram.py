"""Histogram boosting along its stages: the largest is fitted, the others are its beginnings."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._stages import (
    HISTOGRAM,
    BoostingFamily,
    beginning,
    nest_without_stops,
    size_of,
)
from leavezero.families._together import fit_one

FEWEST = 5  # sizes, so that fitting the one that wins again is little
SHORT = 500  # rows, below which a fit is a matter of milliseconds
LEARNED = ("classes_", "n_features_in_", "feature_names_in_")


class StageDraft:
    """The first stages of a larger model, which answer as a fit of so many would."""

    whole: Any
    max_iter: int
    do_early_stopping_ = False

    @property
    def n_iter_(self) -> int:
        """The number of stages."""
        return int(self.max_iter)

    def predict(self, X: Table) -> AnyArray:
        """Return labels, or numbers of a regression."""
        return beginning(self, X)["predict"]


class DraftHistogramClassifier(StageDraft, HistGradientBoostingClassifier):
    """A draft of HistGradientBoostingClassifier."""

    def predict_proba(self, X: Table) -> Floats:
        """Return the probability of each class."""
        return beginning(self, X)["predict_proba"]

    def decision_function(self, X: Table) -> Floats:
        """Return the sums over stages."""
        return beginning(self, X)["decision_function"]


class DraftHistogramRegressor(StageDraft, HistGradientBoostingRegressor):
    """A draft of HistGradientBoostingRegressor."""


class HistogramFamily(BoostingFamily):
    """Histogram boosting, whose sizes are drafts of the largest where they are several.

    A model that grows would sort its rows into bins anew for every size. A draft answers bit for
    bit as a fit of its size; the one that wins is fitted.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from leavezero.families._histogram import HistogramFamily
    >>> HistogramFamily().covers(HistGradientBoostingRegressor())
    True
    """

    name = "histogram boosting"
    makes_drafts = True

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is scikit-learn's itself, or a draft of it."""
        return type(estimator) in (*HISTOGRAM, DraftHistogramClassifier, DraftHistogramRegressor)

    def draft_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Any] | None:
        """Return the largest model, fitted, and drafts of the others; None where few differ."""
        sizes = {size_of(estimator) for estimator in estimators}
        if len(sizes) < FEWEST or count_rows(X) < SHORT or not nest_without_stops(estimators, X):
            return None
        largest = fit_one(max(estimators, key=size_of), X, y, sample_weight)
        return [one if one is largest else _draft(one, largest) for one in estimators]

    def is_draft(self, model: Any) -> bool:
        """Tell whether the model is a part of another."""
        return isinstance(model, StageDraft)


def _draft(estimator: Any, whole: Any) -> Any:
    classifier = isinstance(estimator, HistGradientBoostingClassifier)
    kind: Any = DraftHistogramClassifier if classifier else DraftHistogramRegressor
    draft = kind(**estimator.get_params(deep=False))
    draft.whole = whole
    for name in LEARNED:
        if hasattr(whole, name):
            setattr(draft, name, getattr(whole, name))
    return draft


FAMILIES = (HistogramFamily(),)
