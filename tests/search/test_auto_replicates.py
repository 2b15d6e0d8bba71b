"""``n_replicates="auto"``: V grows until the best candidate is told from the others."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    BiasCorrected,
    CandidateSearchLZO,
    GaussianMixtureAugmenter,
    GridSearchLZO,
    HalvingGridSearchLZO,
    LabelInvariantMixup,
)
from leavezero.augment import FixedValidationSet
from leavezero.exceptions import CandidateFailedWarning

EASY = {"gamma": [1e-5, 0.05]}
NEAR = {"C": [1.0, 1.2, 1.4]}
X, Y = make_classification(240, 6, n_informative=4, flip_y=0.1, random_state=0)


def search(estimator, grid, **options):
    given = {"augmenter": GaussianMixtureAugmenter(), "random_state": 0, "n_replicates": "auto"}
    return GridSearchLZO(estimator, grid, **given | options)


def assert_same(model, other):
    """Everything but times is equal, bit for bit."""
    assert model.best_params_ == other.best_params_
    assert set(model.cv_results_) == set(other.cv_results_)
    for name, values in model.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(values, other.cv_results_[name], err_msg=name)


def test_a_clear_winner_costs_one_replicate_and_a_near_one_ten():
    assert search(SVC(), EASY).fit(X, Y).n_splits_ == 1
    near = search(SVC(), NEAR).fit(X, Y)
    assert near.n_splits_ == 10
    assert len(near.validation_set_) == 10 * len(Y)


def test_candidates_that_answer_alike_need_no_more_rows():
    model = search(SVC(), {"cache_size": [100, 200]}).fit(X, Y)
    assert model.n_splits_ == 1


def test_one_candidate_needs_no_choice():
    assert search(SVC(), {}).fit(X, Y).n_splits_ == 1


@pytest.mark.parametrize(
    ("estimator", "grid", "scoring"),
    [
        (SVC(), EASY, "accuracy"),
        (SVC(), NEAR, "accuracy"),
        (SVC(), NEAR, "roc_auc"),
        (LogisticRegression(), {"C": [1.0, 1.1]}, "neg_log_loss"),
        (KNeighborsClassifier(), {"n_neighbors": [5, 7, 9]}, ["accuracy", "f1"]),
        (make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 1.2]}, "balanced_accuracy"),
        (RandomForestClassifier(random_state=0), {"n_estimators": [10, 12]}, "accuracy"),
        (DecisionTreeClassifier(random_state=0), {"max_depth": [3, 4]}, "neg_brier_score"),
    ],
)
def test_it_says_what_as_many_replicates_from_the_start_say(estimator, grid, scoring):
    options = {"scoring": scoring, "refit": scoring if isinstance(scoring, str) else "accuracy"}
    model = search(estimator, grid, **options).fit(X, Y)
    assert_same(model, search(estimator, grid, n_replicates=model.n_splits_, **options).fit(X, Y))


def test_it_says_the_same_with_weights_and_workers():
    weight = np.linspace(0.5, 2.0, len(Y))
    estimator, grid = SVC(), {"C": [1.0, 1.2], "gamma": [0.1, "scale"]}
    options = {"augmenter": LabelInvariantMixup()}
    alone = search(estimator, grid, **options).fit(X, Y, sample_weight=weight)
    assert alone.n_splits_ > 1
    two = search(estimator, grid, n_jobs=2, **options).fit(X, Y, sample_weight=weight)
    assert_same(alone, two)
    plain = search(estimator, grid, n_replicates=alone.n_splits_, **options)
    assert_same(alone, plain.fit(X, Y, sample_weight=weight))


def test_it_says_the_same_with_references():
    X, Y = make_classification(60, 4, flip_y=0.1, random_state=3)
    options = {"augmenter": BiasCorrected(GaussianMixtureAugmenter())}
    auto = search(SVC(), NEAR, **options).fit(X, Y)
    assert auto.n_splits_ > 1
    assert_same(auto, search(SVC(), NEAR, n_replicates=auto.n_splits_, **options).fit(X, Y))


def test_numbers_by_a_mean_over_rows():
    X, y = make_regression(150, 5, noise=20.0, random_state=0)
    grid = {"alpha": [0.01, 1e5]}
    model = search(Ridge(), grid, scoring="neg_mean_squared_error").fit(X, y)
    assert model.n_splits_ == 1
    assert search(Ridge(), grid).fit(X, y).n_splits_ == 10  # R2 is no mean over rows


def test_some_candidates_fail_and_the_others_go_on():
    with pytest.warns(CandidateFailedWarning, match="1 of 3 candidates"):
        model = search(SVC(), {"C": [-1.0, 1.0, 1.2]}).fit(X, Y)
    assert model.n_splits_ == 10
    assert np.isnan(model.cv_results_["mean_test_score"][0])


def test_no_model_need_be_handed_back():
    model = search(SVC(), NEAR, refit=False).fit(X, Y)
    assert model.n_splits_ == 10
    assert not hasattr(model, "best_estimator_")


def test_rows_of_the_users_own_and_unseen_rows_alone_do_not_grow():
    own = search(SVC(), NEAR, augmenter=FixedValidationSet(X[:50], Y[:50])).fit(X, Y)
    assert own.n_splits_ == 1
    assert search(SVC(), NEAR, unseen="only").fit(X, Y).n_splits_ == 1


def test_other_searches_with_all_candidates_at_once():
    candidates = {"svc": SVC(), "dummy": DummyClassifier()}
    options = {"n_replicates": "auto", "random_state": 0}
    assert CandidateSearchLZO(candidates, scoring="accuracy", **options).fit(X, Y).n_splits_ == 1
    # A score of the model's own may be anything.
    assert CandidateSearchLZO(candidates, **options).fit(X, Y).n_splits_ == 10


def test_it_tells_that_v_grows(capsys):
    search(SVC(), NEAR, verbose=1).fit(X, Y)
    said = capsys.readouterr().out
    assert "V gets 3 replicates" in said
    assert "V gets 10 replicates" in said


class Impatient(GaussianMixtureAugmenter):
    """The user interrupts when a second replicate is drawn."""

    def sample(self, n_samples, rng):
        self.drawn_ = getattr(self, "drawn_", 0) + 1
        if self.drawn_ > 1:
            raise KeyboardInterrupt
        return super().sample(n_samples, rng)


def test_an_interrupt_leaves_what_the_smaller_v_said():
    model = search(SVC(), NEAR, augmenter=Impatient(), unseen="off")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.n_splits_ == 1
    assert_same(model, search(SVC(), NEAR, n_replicates=1, unseen="off").fit(X, Y))
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (search(SVC(), NEAR, n_replicates="many"), "a positive int or \"auto\", got 'many'"),
        (search(SVC(), NEAR, timeout=60), "has a limit"),
        (search(SVC(), NEAR, journal="never.sqlite"), "has a journal"),
        (HalvingGridSearchLZO(SVC(), NEAR, n_replicates="auto"), "proposes its candidates in r"),
    ],
)
def test_refusals_say_why(refused, reason):
    with pytest.raises(ValueError, match=f"n_replicates of {type(refused).__name__}.*{reason}"):
        refused.fit(X, Y)
