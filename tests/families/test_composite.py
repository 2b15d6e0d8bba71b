"""Pipelines and votes pass on what their parts say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSSVD, PLSRegression
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, VotingClassifier, VotingRegressor
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.linear_model import Lasso, LogisticRegression, SGDClassifier, TweedieRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler, TargetEncoder
from sklearn.svm import SVC, SVR

from leavezero.families import (
    Family,
    Unseen,
    _bagged,
    _composite,
    _glm,
    _logistic,
    _registry,
    _sparse_linear,
    _svm,
    family_of,
)


class Exact(BaseEstimator):
    """A classifier that always says what its family expects."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


class ExactFamily(Family):
    name = "exact for tests"

    def covers(self, estimator):
        return type(estimator) is Exact

    def refuses(self, estimator):
        return None

    def unseen(self, model, X, y, sample_weight=None):
        return Unseen("exact", {"predict": np.asarray(y), "rows": np.asarray(X)})


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    modules = (_composite, _bagged, _glm, _logistic, _sparse_linear, _svm)
    families = [family for module in modules for family in module.FAMILIES]
    monkeypatch.setattr(_registry, "_FAMILIES", [ExactFamily(), *families])


@pytest.fixture(scope="module")
def data():
    X, codes = make_classification(60, 5, n_informative=3, flip_y=0.1, random_state=0)
    return X, np.where(codes > 0, "yes", "no")


def answer(estimator, X, y):
    model = clone(estimator).fit(X, y)
    return model, family_of(model).unseen(model, X, y)


def test_a_pipeline_answers_as_its_last_step_on_the_rows_made_for_it(data):
    """The steps before it are applied, not fitted again."""
    X, y = data
    _, unseen = answer(make_pipeline(StandardScaler(), LogisticRegression()), X, y)
    _, inner = answer(LogisticRegression(), StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(unseen.responses["predict_proba"], inner.responses["predict_proba"])
    assert unseen.kind == "approximate"


def test_a_scaler_moves_little(data):
    """Leave-one-out of the whole pipeline is near, though the scaler has seen the row."""
    X, y = data
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.3))
    _, unseen = answer(pipeline, pd.DataFrame(X), y)
    others = np.arange(len(y))[:, None] != np.arange(len(y))
    true = [
        clone(pipeline).fit(X[kept], y[kept]).predict_proba(X[[row]])[0]
        for row, kept in enumerate(others)
    ]
    np.testing.assert_allclose(unseen.responses["predict_proba"], true, atol=0.03)


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([Normalizer(), FunctionTransformer()], "exact"),
        (["passthrough"], "exact"),
        ([FeatureUnion([("a", Normalizer()), ("b", "passthrough")])], "exact"),
        ([StandardScaler()], "approximate"),
        ([PCA(2), VarianceThreshold()], "approximate"),
        ([make_pipeline(Normalizer(), StandardScaler())], "approximate"),
        ([ColumnTransformer([("a", StandardScaler(), [0]), ("b", "drop", [1])])], "approximate"),
    ],
)
def test_only_steps_that_learn_nothing_keep_the_kind(data, steps, kind):
    """What a scaler learned, it learned from the row too."""
    _, unseen = answer(make_pipeline(*steps, Exact()), *data)
    assert unseen.kind == kind


TAKES_TARGET = "learns from the target ({}), that of the row too"


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (SelectKBest(k=2), TAKES_TARGET.format("SelectKBest")),
        (SelectFromModel(Lasso()), TAKES_TARGET.format("SelectFromModel")),
        (TargetEncoder(), TAKES_TARGET.format("TargetEncoder")),
        (PLSRegression(), TAKES_TARGET.format("PLSRegression")),
        (PLSSVD(), TAKES_TARGET.format("PLSSVD")),
        (LinearDiscriminantAnalysis(), TAKES_TARGET.format("LinearDiscriminantAnalysis")),
        (
            ColumnTransformer([("a", make_pipeline(TargetEncoder()), [0])]),
            TAKES_TARGET.format("TargetEncoder"),
        ),
        (FeatureUnion([("a", SelectKBest())]), TAKES_TARGET.format("SelectKBest")),
    ],
)
def test_steps_that_look_at_the_target_are_refused(data, step, reason):
    """The refusal names the step and says why."""
    pipeline = make_pipeline(step, LogisticRegression())
    name = pipeline.steps[0][0]
    assert family_of(pipeline).refuses(pipeline) == f"the step {name!r} {reason}"
    with pytest.raises(ValueError, match="Unseen rows are not available: the step"):
        family_of(pipeline).unseen(pipeline, *data)


def test_last_steps_and_members_that_are_not_covered_say_why():
    """The reason of the part becomes that of the whole."""
    unknown = make_pipeline(StandardScaler(), SGDClassifier())
    assert family_of(unknown).refuses(unknown) == (
        "no family knows the last step 'sgdclassifier', SGDClassifier"
    )
    nothing = make_pipeline(StandardScaler(), "passthrough")
    assert family_of(nothing).refuses(nothing) == (
        "no family knows the last step 'passthrough', passthrough"
    )
    forest = RandomForestClassifier(bootstrap=False)
    vote = VotingClassifier([("rf", forest), ("sgd", SGDClassifier())])
    assert family_of(vote).refuses(vote) == (
        "of the member 'rf': without bootstrap every tree sees every row"
    )
    vote.set_params(rf="drop")
    assert family_of(vote).refuses(vote) == "no family knows the member 'sgd', SGDClassifier"


def test_soft_votes_are_weighted_means_of_probabilities(data):
    """The members saw codes in place of labels; the labels come back."""
    X, y = data
    members = [
        ("lr", LogisticRegression()),
        ("gone", "drop"),
        ("rf", RandomForestClassifier(40, random_state=0)),
    ]
    vote = VotingClassifier(members, voting="soft", weights=[3.0, 9.0, 1.0])
    model, unseen = answer(vote, X, y)
    codes = (y == "yes").astype(int)
    parts = [
        family_of(one).unseen(one, X, codes).responses["predict_proba"] for one in model.estimators_
    ]
    expected = (3.0 * parts[0] + parts[1]) / 4.0
    np.testing.assert_allclose(unseen.responses["predict_proba"], expected)
    np.testing.assert_array_equal(
        unseen.responses["predict"], model.classes_[expected.argmax(axis=1)]
    )
    assert unseen.kind == "approximate"


def test_hard_votes_count_labels(data):
    """Two against one win unless the weights say otherwise."""
    X, y = data
    members = [("a", LogisticRegression()), ("b", LogisticRegression(C=0.1)), ("c", SVC())]
    for weights, winner in ((None, None), ([1, 1, 5], 2)):
        model, unseen = answer(VotingClassifier(members, weights=weights), X, y)
        codes = (y == "yes").astype(int)
        votes = np.array(
            [family_of(m).unseen(m, X, codes).responses["predict"] for m in model.estimators_]
        )
        expected = votes[winner] if winner else (votes.sum(axis=0) >= 2).astype(int)
        np.testing.assert_array_equal(unseen.responses["predict"], model.classes_[expected])
        assert set(unseen.responses) == {"predict"}


def test_votes_of_regressions_are_means(data):
    """Each member's prediction, weighted."""
    X, _ = data
    y = X @ np.arange(5.0)
    members = [("l", Lasso(0.1)), ("t", TweedieRegressor(power=0, alpha=0.1)), ("s", SVR())]
    model, unseen = answer(VotingRegressor(members, weights=[1, 2, 1]), X, y)
    parts = [family_of(m).unseen(m, X, y).responses["predict"] for m in model.estimators_]
    np.testing.assert_allclose(
        unseen.responses["predict"], (parts[0] + 2 * parts[1] + parts[2]) / 4
    )


def test_rows_unknown_to_a_member_are_unknown_to_the_vote(data):
    """A vote needs all its members."""
    X, y = data
    members = [("rf", RandomForestClassifier(9, random_state=0)), ("lr", LogisticRegression())]
    model, unseen = answer(VotingClassifier(members), X, y)
    forest = model.estimators_[0]
    known = family_of(forest).unseen(forest, X, (y == "yes").astype(int)).known
    np.testing.assert_array_equal(unseen.known, known)


def test_a_soft_vote_needs_probabilities(data):
    """SVC has none for rows that it has not seen."""
    X, y = data
    members = [("lr", LogisticRegression()), ("exact", Exact())]
    vote = VotingClassifier(members, voting="soft")
    vote.estimators_ = [LogisticRegression().fit(X, y == "yes"), Exact().fit(X, y == "yes")]
    vote.le_ = type("Codes", (), {"transform": staticmethod(lambda labels: labels == "yes")})
    unseen = family_of(vote).unseen(vote, X, y)
    assert unseen.responses == {}
    assert unseen.doubt == "a member has no predict_proba for rows that it has not seen"
