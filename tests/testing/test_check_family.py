"""The public check of families finds what it says it finds."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsRegressor

from leavezero.families import Family, Unseen
from leavezero.families._centroid import FAMILIES as CENTROIDS
from leavezero.families._count_bayes import FAMILIES as COUNTS
from leavezero.families._discriminant import FAMILIES as LINEAR_DISCRIMINANTS
from leavezero.families._kernel import FAMILIES as KERNELS
from leavezero.families._linear import FAMILIES as LINEAR
from leavezero.families._naive_bayes import FAMILIES as NAIVE
from leavezero.families._neighbors import FAMILIES as NEIGHBORS
from leavezero.families._neighbors import NeighborsFamily
from leavezero.families._quadratic import FAMILIES as QUADRATIC
from leavezero.testing._families import check_family

OURS = (*NEIGHBORS, *CENTROIDS, *LINEAR, *KERNELS, *LINEAR_DISCRIMINANTS, *QUADRATIC, *NAIVE)


@pytest.mark.parametrize("family", [*OURS, *COUNTS], ids=lambda family: family.name)
def test_our_exact_families_keep_their_promises(family):
    """All estimators that they cover, with default parameters."""
    check_family(family)


class Own(NeighborsFamily):
    """A right family of a stranger's, to be spoiled below."""

    name = "own"

    def unseen(self, model, X, y, sample_weight=None):
        return self.spoil(super().unseen(model, X, y, sample_weight), model, X)

    def spoil(self, unseen, model, X):
        return unseen


class CoversNothing(Own):
    def covers(self, estimator):
        return False


class HasSeenTheRows(Own):
    def spoil(self, unseen, model, X):
        return Unseen("exact", {"predict_proba": model.predict_proba(X)})


class IsFarOff(Own):
    def spoil(self, unseen, model, X):
        return Unseen("approximate", {"predict": model.predict(X)})


class LosesARow(Own):
    def spoil(self, unseen, model, X):
        return Unseen("exact", {"predict": unseen.responses["predict"][1:]})


class GivesOtherLabels(Own):
    def spoil(self, unseen, model, X):
        return Unseen("exact", {"predict": np.zeros(len(X))})


class SaysNothing(Own):
    def spoil(self, unseen, model, X):
        return Unseen("exact", {})


class AnswersWhatNobodyAsks(Own):
    def spoil(self, unseen, model, X):
        return Unseen("exact", {"transform": unseen.responses["predict"]})


class HasItsOwnKind(Own):
    def spoil(self, unseen, model, X):
        return replace(unseen, kind="sure")


class KnowsHalf(Own):
    def spoil(self, unseen, model, X):
        return replace(unseen, known=np.ones(3))


class ChangesTheModel(Own):
    def spoil(self, unseen, model, X):
        model.n_neighbors += 1
        return unseen


class BelievesEverything(Own):
    def unseen(self, model, X, y, sample_weight=None):
        return Unseen("exact", {"predict": model.predict(X)})


@pytest.mark.parametrize(
    ("family", "sentence"),
    [
        (CoversNothing, "own does not cover KNeighborsClassifier"),
        (HasSeenTheRows, "is said to be exact, but fits without the rows differ by up to"),
        (IsFarOff, r"own's predict of .* is off by .* more than the tolerance of 0.1"),
        (LosesARow, r"own's predict has shape \(23,\), the model's \(24,\)"),
        (GivesOtherLabels, "own's predict has dtype float64, the model's <U5"),
        (SaysNothing, "own says nothing about"),
        (AnswersWhatNobodyAsks, r"own gives responses to \['transform'\]"),
        (HasItsOwnKind, "own gives the kind 'sure'"),
        (KnowsHalf, "own's known must have a bool for each row"),
        (ChangesTheModel, "own changes KNeighborsClassifier"),
        (BelievesEverything, "own answers for .* about fewer rows"),
    ],
)
def test_it_finds_broken_promises(family, sentence):
    """Each break is found, and the sentence says which."""
    with pytest.raises(AssertionError, match=sentence):
        check_family(family(), [KNeighborsClassifier(3)])


def test_a_right_family_passes():
    """A stranger's family that keeps its promises."""
    check_family(Own(), [KNeighborsClassifier(3)])


def test_a_family_without_estimators():
    """If scikit-learn has none that it covers, they must be given."""
    with pytest.raises(AssertionError, match="covers no estimator of scikit-learn; pass"):
        check_family(CoversNothing())


def test_it_finds_responses_without_a_fit():
    """Without a neighbour in the radius there is nothing to know."""

    class KnowsMore(Own):
        def spoil(self, unseen, model, X):
            return Unseen("exact", {"predict": np.nan_to_num(unseen.responses["predict"])})

    X = np.array([[0.0], [0.1], [0.2], [9.0], [0.3]])
    data = [(X, np.arange(5.0), None)]
    check_family(Own(), [RadiusNeighborsRegressor(1.0)], data)
    with pytest.raises(AssertionError, match="about row 3, but there is no fit without it"):
        check_family(KnowsMore(), [RadiusNeighborsRegressor(1.0)], data)


class Forests(Family):
    """Out-of-bag, or what the forest says about rows that it has seen."""

    name = "forests"

    def __init__(self, honest):
        self.honest = honest

    def covers(self, estimator):
        return isinstance(estimator, RandomForestClassifier | RandomForestRegressor)

    def refuses(self, estimator):
        return None

    def unseen(self, model, X, y, sample_weight=None):
        if len(X) != len(model.estimators_samples_[0]):
            raise ValueError("other rows")
        if not self.honest:
            return Unseen("out-of-bag", {"predict": model.predict(X)})
        if hasattr(model, "oob_prediction_"):
            return Unseen("out-of-bag", {"predict": model.oob_prediction_})
        label = model.classes_.take(model.oob_decision_function_.argmax(axis=1))
        return Unseen("out-of-bag", {"predict": label})


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_out_of_bag_must_not_follow_noise(forest):
    """A forest that answers with trees that have seen the row is found out."""
    estimator = forest(30, oob_score=True)
    check_family(Forests(honest=True), [estimator])
    with pytest.raises(AssertionError, match="with a target that is noise: they have seen it"):
        check_family(Forests(honest=False), [estimator])


def test_refused_parameters_are_left_alone():
    """What a family refuses is not asked for."""
    check_family(LINEAR[0], [Ridge(positive=True)])
