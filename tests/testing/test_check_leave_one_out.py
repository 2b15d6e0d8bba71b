"""The public check of leave-one-out methods finds each violation of the contract."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    RadiusNeighborsRegressor,
)

from leavezero.leave_one_out import LeaveOneOutMethod, LOOPredictions, find_leave_one_out
from leavezero.leave_one_out._neighbors import NeighborsMethod
from leavezero.testing import check_leave_one_out


@pytest.mark.parametrize(
    "estimator",
    [
        BernoulliNB(),
        ComplementNB(),
        GaussianNB(),
        KNeighborsClassifier(),
        KNeighborsRegressor(),
        KernelRidge(),
        LinearDiscriminantAnalysis(),
        LinearRegression(),
        LogisticRegression(),
        MultinomialNB(),
        NearestCentroid(),
        QuadraticDiscriminantAnalysis(),
        RandomForestClassifier(30),
        RandomForestRegressor(30),
        Ridge(),
        RidgeClassifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_built_in_methods_pass(estimator):
    check_leave_one_out(find_leave_one_out(estimator), estimator)


class ThirdParty(NeighborsMethod):
    """Correct method of a third party, to be broken below."""

    name = "third party"

    def predict_many(self, models, X, y, sample_weight=None):
        return [self.predict(model, X, y, sample_weight) for model in models]

    def _predict(self, model, X, y, sample_weight):
        return self.change(super()._predict(model, X, y, sample_weight), model, X)

    def change(self, loo, model, X):
        return loo


class HandlesNothing(ThirdParty):
    def handles(self, estimator):
        return False


class PredictsTrainingRows(ThirdParty):
    def change(self, loo, model, X):
        return LOOPredictions("exact", {"predict_proba": model.predict_proba(X)})


class TooApproximate(ThirdParty):
    def change(self, loo, model, X):
        return LOOPredictions("approximate", {"predict": model.predict(X)})


class LosesRow(ThirdParty):
    def change(self, loo, model, X):
        return LOOPredictions("exact", {"predict": loo.predictions["predict"][1:]})


class OtherDtype(ThirdParty):
    def change(self, loo, model, X):
        return LOOPredictions("exact", {"predict": np.zeros(len(X))})


class NoPredictions(ThirdParty):
    def change(self, loo, model, X):
        return LOOPredictions("exact", {})


class OtherName(ThirdParty):
    def change(self, loo, model, X):
        return LOOPredictions("exact", {"transform": loo.predictions["predict"]})


class UnknownMethod(ThirdParty):
    def change(self, loo, model, X):
        return replace(loo, method="certain")


class ShortMask(ThirdParty):
    def change(self, loo, model, X):
        return replace(loo, has_prediction=np.ones(3))


class ChangesModel(ThirdParty):
    def change(self, loo, model, X):
        model.n_neighbors += 1
        return loo


class AcceptsAllRows(ThirdParty):
    def _predict(self, model, X, y, sample_weight):
        return LOOPredictions("exact", {"predict": model.predict(X)})


class ManyDiffer(ThirdParty):
    def predict_many(self, models, X, y, sample_weight=None):
        return [LOOPredictions("exact", self._reverse(model, X, y)) for model in models]

    def _reverse(self, model, X, y):
        loo = self.predict(model, X, y)
        return {name: values[::-1] for name, values in loo.predictions.items()}


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (HandlesNothing, "third party does not handle KNeighborsClassifier"),
        (PredictsTrainingRows, "is not exact: refits differ by up to"),
        (TooApproximate, r"predict of .* has a mean error of .* more than the tolerance of 0.1"),
        (LosesRow, r"third party's predict has shape \(23,\), the model's \(24,\)"),
        (OtherDtype, "third party's predict has dtype float64, the model's <U5"),
        (NoPredictions, "third party has no predictions of"),
        (OtherName, r"third party has predictions for \['transform'\]"),
        (UnknownMethod, "third party has method 'certain'"),
        (ShortMask, "third party's has_prediction must have one bool per row"),
        (ChangesModel, "third party changes KNeighborsClassifier"),
        (AcceptsAllRows, "third party accepts fewer rows for"),
        (ManyDiffer, "third party's predict_many differs from predict for"),
    ],
)
def test_finds_violations(method, message):
    with pytest.raises(AssertionError, match=message):
        check_leave_one_out(method(), KNeighborsClassifier(3))


def test_correct_third_party_method_passes():
    check_leave_one_out(ThirdParty(), KNeighborsClassifier(3))


def test_finds_predictions_without_refit():
    """A refit without a neighbor in the radius has no prediction."""

    class Invents(ThirdParty):
        def change(self, loo, model, X):
            return LOOPredictions("exact", {"predict": np.nan_to_num(loo.predictions["predict"])})

    X, y = np.array([[0.0], [0.1], [0.2], [9.0], [0.3]]), np.arange(5.0)
    estimator = RadiusNeighborsRegressor(1.0)
    check_leave_one_out(ThirdParty(), estimator, X, y)
    with pytest.raises(AssertionError, match="for row 3, but a fit without that row fails"):
        check_leave_one_out(Invents(), estimator, X, y)


class ForestMethod(LeaveOneOutMethod):
    """Out-of-bag predictions, or predictions of all trees."""

    name = "forests"

    def __init__(self, out_of_bag):
        self.out_of_bag = out_of_bag

    def handles(self, estimator):
        return isinstance(estimator, RandomForestClassifier | RandomForestRegressor)

    def _predict(self, model, X, y, sample_weight):
        if len(X) != len(model.estimators_samples_[0]):
            raise ValueError("other rows")
        if not self.out_of_bag:
            labels = model.predict(X)
        elif hasattr(model, "oob_prediction_"):
            labels = model.oob_prediction_
        else:
            labels = model.classes_.take(model.oob_decision_function_.argmax(axis=1))
        return LOOPredictions("out-of-bag", {"predict": labels})


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_out_of_bag_must_not_follow_noise(forest):
    estimator = forest(30, oob_score=True)
    check_leave_one_out(ForestMethod(out_of_bag=True), estimator)
    with pytest.raises(AssertionError, match="a target that is noise: they use members that were"):
        check_leave_one_out(ForestMethod(out_of_bag=False), estimator)


def test_unsupported_parameters_are_skipped():
    estimator = Ridge(positive=True)
    check_leave_one_out(find_leave_one_out(estimator), estimator)
