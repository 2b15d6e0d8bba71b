"""Searches over estimators that learn from rows without a label."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    RandomizedSearchLZO,
)
from leavezero.augment import LabeledOnly, LabelInvariantMixup, PseudoLabeled
from leavezero.semi_supervised import SMIRClassifier


def moons(n_labels=20, n_rows=100, seed=0):
    """Return rows, codes with -1 where there is none, and the truth."""
    X, y = make_moons(n_rows, noise=0.1, random_state=seed)
    return X, np.where(np.arange(n_rows) < n_labels, y, -1), y


SEMI_SUPERVISED = {
    "spreading": (LabelSpreading(max_iter=200), {"gamma": [1.0, 5.0, 20.0]}),
    "propagation": (LabelPropagation(max_iter=2000), {"gamma": [1.0, 20.0]}),
    "self-training": (SelfTrainingClassifier(LogisticRegression()), {"threshold": [0.6, 0.9]}),
    "SMIR": (SMIRClassifier(), {"width": [0.1, 0.3], "gamma": [0.001, 0.1]}),
    "pipeline": (make_pipeline(StandardScaler(), SMIRClassifier()), {"smirclassifier__width": [1]}),
}


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the label of rows it was given, if it may; semi-supervised by its marker."""

    def __init__(self, remembers=True, unlabeled=-1):
        self.remembers = remembers
        self.unlabeled = unlabeled

    def fit(self, X, y):
        """Remember all rows that have a label."""
        self.n_rows_ = len(y)
        self.classes_ = np.unique(y[y != self.unlabeled])
        pairs = zip(np.asarray(X), y, strict=True)
        self.known_ = {tuple(row): label for row, label in pairs if label != self.unlabeled}
        return self

    def predict(self, X):
        """Return what is remembered, and else the sign of the first column."""
        guess = self.classes_[(np.asarray(X)[:, 0] > 0.5).astype(int)]
        if not self.remembers:
            return guess
        return np.array([self.known_.get(tuple(r), g) for r, g in zip(X, guess, strict=True)])


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
def test_a_search_takes_y_with_rows_without_a_label(name):
    """The winner is fitted to all rows and predicts classes, never the marker."""
    X, few, y = moons()
    estimator, grid = SEMI_SUPERVISED[name]
    search = GridSearchLZO(estimator, grid, n_replicates=2, random_state=0).fit(X, few)
    assert set(search.predict(X)) <= {0, 1}
    assert_array_equal(search.classes_, [0, 1])
    assert isinstance(search.augmenter_, PseudoLabeled)
    assert np.mean(search.predict(X) == y) > 0.75
    assert np.isfinite(search.best_score_)
    judged = type(estimator[-1] if hasattr(estimator, "steps") else estimator)
    assert judged not in {type(labeler) for labeler in search.augmenter_.label_models_}


def test_other_searches_take_it_too():
    """One table for several kinds of estimators; random settings."""
    X, few, _ = moons()
    members = {name: SEMI_SUPERVISED[name] for name in ("spreading", "SMIR")}
    search = CandidateSearchLZO(members, n_replicates=2, random_state=0).fit(X, few)
    assert len(search.cv_results_["params"]) == 7
    assert LabelSpreading not in {type(labeler) for labeler in search.augmenter_.label_models_}
    drawn = RandomizedSearchLZO(
        SMIRClassifier(), {"width": [0.1, 0.2, 0.5]}, n_iter=2, n_replicates=2, random_state=0
    )
    assert len(drawn.fit(X, few).cv_results_["params"]) == 2


def test_candidates_see_all_rows():
    """Also those without a label."""
    X, few, _ = moons()
    search = GridSearchLZO(Memory(), {"remembers": [True, False]}, n_replicates=2, random_state=0)
    assert search.fit(X, few).best_estimator_.n_rows_ == 100


@pytest.mark.parametrize("augmenter", ["auto", LabelInvariantMixup()])
def test_remembering_given_labels_gains_nothing(augmenter):
    """No row is scored whose label a candidate was given, whoever draws V."""
    X, few, _ = moons()
    search = GridSearchLZO(
        Memory(), {"remembers": [True, False]}, augmenter=augmenter, n_replicates=2, random_state=0
    ).fit(X, few)
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] == scores[1]
    kind = PseudoLabeled if isinstance(augmenter, str) else LabeledOnly
    assert isinstance(search.augmenter_, kind)


@pytest.mark.parametrize("kind", [PseudoLabeled, LabeledOnly])
def test_labels_may_stand_anywhere(kind):
    """Origins of V's rows are numbered as in the whole table."""
    X, few, _ = moons()
    search = GridSearchLZO(
        SMIRClassifier(), {"width": [0.1, 0.5]}, augmenter=kind(LabelInvariantMixup())
    )
    found = search.set_params(n_replicates=2, random_state=0).fit(X[::-1], few[::-1])
    assert np.isfinite(found.cv_results_["low_test_score"]).all()


def test_one_seed_one_result_with_any_number_of_workers():
    """Settings that are fitted together included."""
    X, few, _ = moons()
    estimator, grid = SEMI_SUPERVISED["SMIR"]
    with parallel_config(backend="threading"):
        tables = [
            GridSearchLZO(estimator, grid, n_replicates=2, n_jobs=n_jobs, random_state=3)
            .fit(X, few)
            .cv_results_["mean_test_score"]
            for n_jobs in (1, 2)
        ]
    assert_array_equal(*tables)


def test_settings_fitted_together_equal_plain_fits():
    """The paper's 125 settings, in one decomposition a width."""
    X, few, _ = moons(12, 60)
    grid = {
        "width": [1 / 15, 1 / 10, 1 / 5, 1 / 2, 1.0],
        "gamma": [1e-7, 1e-3, 1e-1, 1e1, 1e3],
        "offset": [1e-10, 1e-8, 1e-6, 1e-4, 1e-2],
    }
    search = GridSearchLZO(
        SMIRClassifier(), grid, n_replicates=1, loo=False, random_state=0
    ).fit(X, few)
    assert len(search.cv_results_["params"]) == 125
    V = search.validation_set_
    members = [V.component == member for member in np.unique(V.component)]
    for at in range(0, 125, 31):
        model = SMIRClassifier(**search.cv_results_["params"][at]).fit(X, few)
        hits = model.predict(V.X) == V.y
        expected = np.mean([np.average(hits[m], weights=V.sample_weight[m]) for m in members])
        assert_allclose(search.cv_results_["mean_validation_score"][at], expected, atol=0.05)


def test_unseen_rows_alone_may_judge():
    """By repeated folds over the labels, from the one fit; no V is drawn."""
    X, few, _ = moons()
    estimator, grid = SEMI_SUPERVISED["SMIR"]
    search = GridSearchLZO(estimator, grid, loo="only", random_state=0).fit(X, few)
    assert search.validation_set_ is None
    assert search.n_fits_ == 4
    assert np.all(search.cv_results_["mean_test_score"] <= 1.0)


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
def test_a_class_with_one_label_leaves_the_word_to_v():
    """There are no folds without a class."""
    X, y = make_blobs(60, centers=3, random_state=0)
    few = np.full(60, -1)
    for label, count in enumerate((1, 3, 3)):
        few[np.flatnonzero(y == label)[:count]] = label
    search = GridSearchLZO(SMIRClassifier(), {"width": [0.1, 0.5]}, random_state=0).fit(X, few)
    assert np.isnan(search.cv_results_["mean_loo_score"]).all()
    assert np.mean(search.predict(X) == y) > 0.8


def test_folds_of_confirm_are_over_labels_only():
    """Contenders are fitted again without some labels; all get the same rows."""
    X, few, _ = moons(40)
    estimator, grid = SEMI_SUPERVISED["spreading"]
    search = GridSearchLZO(
        estimator, grid, n_replicates=2, cv_finalists=2, cv=3, random_state=0
    ).fit(X, few)
    assert search.fit_counts_["cv_finalists"] in (0, 6)


def test_training_scores_are_of_labelled_rows():
    """The marker is no class to hit: who remembers all labels has a score of one."""
    X, few, _ = moons()
    search = GridSearchLZO(
        Memory(),
        {"remembers": [True, False]},
        n_replicates=2,
        return_train_score=True,
        random_state=0,
    ).fit(X, few)
    known = few >= 0
    expected = np.mean((X[known, 0] > 0.5) == few[known])
    assert_allclose(search.cv_results_["mean_train_score"], [1.0, expected])


def test_trust_tells_how_much_of_v_is_pseudo():
    """And by whom; 80 of 100 rows have no label."""
    X, few, _ = moons()
    estimator, grid = SEMI_SUPERVISED["SMIR"]
    report = str(GridSearchLZO(estimator, grid, n_replicates=2, random_state=0).fit(X, few).diagnose())
    assert "of the rows behind V have pseudo labels, by KNeighborsClassifier, Label" in report


def test_minus_one_is_a_class_for_an_estimator_that_learns_from_labels_only():
    """Only semi-supervised estimators have a marker."""
    X, _, y = moons()
    signs = np.where(y == 0, -1, 1)
    search = GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0)
    assert_array_equal(search.fit(X, signs).classes_, [-1, 1])


def test_all_rows_labelled_is_a_search_like_others():
    """A semi-supervised estimator needs no row without a label."""
    X, _, y = moons()
    estimator, grid = SEMI_SUPERVISED["SMIR"]
    search = GridSearchLZO(estimator, grid, n_replicates=2, random_state=0).fit(X, y)
    assert not isinstance(search.augmenter_, PseudoLabeled)
    assert search.score(X, y) > 0.9


def test_kinds_are_not_mixed():
    """One that cannot learn from rows without a label is named."""
    X, few, _ = moons()
    members = {"spreading": LabelSpreading(), "neighbors": KNeighborsClassifier()}
    wording = r"marks rows as unlabelled \(-1\), and KNeighborsClassifier cannot learn from these"
    with pytest.raises(ValueError, match=wording):
        CandidateSearchLZO(members, random_state=0).fit(X, few)


@pytest.mark.parametrize(
    ("labels", "wording"),
    [
        (np.full(100, -1), "y given to GridSearchLZO has no labeled row: all are -1"),
        (np.where(np.arange(100) < 5, 1, -1), "given to GridSearchLZO have one class only, 1"),
    ],
)
def test_labels_that_cannot_be_learned_from_are_refused(labels, wording):
    """Before anything is fitted."""
    X, _, _ = moons()
    with pytest.raises(ValueError, match=wording):
        GridSearchLZO(LabelSpreading(), {"alpha": [0.2]}, random_state=0).fit(X, labels)


def test_frames_and_other_markers():
    """What SMIR takes, the search takes."""
    X, few, _ = moons()
    names = np.where(few < 0, "?", np.where(few == 1, "yes", "no")).astype(object)
    frame = pd.DataFrame(X, columns=["a", "b"])
    search = GridSearchLZO(
        SMIRClassifier(unlabeled="?"), {"width": [0.1, 0.3]}, n_replicates=2, random_state=0
    ).fit(frame, names)
    assert set(search.predict(frame)) == {"yes", "no"}


def named(few, marker):
    """Return codes as names, with a marker of any kind in rows without one."""
    names = np.array(["a", "b"], dtype=object)[few]
    names[few < 0] = marker
    return names


AS_WRITTEN = {
    "None": (SMIRClassifier(unlabeled=None), lambda few: named(few, None)),
    "NaN among names": (SMIRClassifier(unlabeled=None), lambda few: named(few, np.nan)),
    "NaN as the marker": (
        SMIRClassifier(unlabeled=np.nan),
        lambda few: np.where(few < 0, np.nan, few),
    ),
    "NaN among numbers": (
        SMIRClassifier(unlabeled=None),
        lambda few: np.where(few < 0, np.nan, few),
    ),
    "Int64 with gaps": (
        SMIRClassifier(unlabeled=None),
        lambda few: pd.Series(few, dtype="Int64").mask(few < 0),
    ),
    "strings with gaps": (
        SMIRClassifier(unlabeled=None),
        lambda few: pd.Series(named(few, None), dtype="string"),
    ),
    "categories with gaps": (
        SMIRClassifier(unlabeled=None),
        lambda few: pd.Series(named(few, None)).astype("category"),
    ),
    "-1 among names": (SMIRClassifier(), lambda few: named(few, -1)),
    "-1 among names, self-training": (
        SelfTrainingClassifier(LogisticRegression()),
        lambda few: named(few, -1),
    ),
    "numbers as objects": (SMIRClassifier(), lambda few: few.astype(object)),
}


@pytest.mark.parametrize("name", AS_WRITTEN)
def test_labels_are_taken_as_the_estimator_takes_them(name):
    """The winner answers as it does fitted alone, and scores are those of the codes."""
    X, few, _ = moons()
    model, write = AS_WRITTEN[name]
    y = write(few)
    settings = {"n_replicates": 2, "return_train_score": True, "random_state": 0}
    alone = model.fit(X, y)
    plain = type(model)(**model.get_params(deep=False))
    if isinstance(model, SMIRClassifier):
        plain.set_params(unlabeled=-1)
    for kind, one in ((GridSearchLZO, (model, {})), (CandidateSearchLZO, ({"m": model},))):
        search = kind(*one, **settings).fit(X, y)
        assert_array_equal(search.predict(X), alone.predict(X))
        assert_array_equal(search.classes_, alone.classes_)
        assert isinstance(search.augmenter_, PseudoLabeled)
        other = kind(*((plain, {}) if len(one) == 2 else ({"m": plain},)), **settings).fit(X, few)
        for column in ("mean_test_score", "mean_train_score", "mean_loo_score"):
            assert_array_equal(search.cv_results_[column], other.cv_results_[column])
        assert len(search.diagnose().findings) == len(other.diagnose().findings)


@pytest.mark.parametrize(
    "changes",
    [
        {"loo": "only"},
        {"cv_finalists": 2, "cv": 3},
        {"augmenter": LabelInvariantMixup()},
        {"augmenter": PseudoLabeled(LabelInvariantMixup(), unlabeled=None)},
    ],
)
def test_labels_as_written_go_through_every_way_of_judging(changes):
    """Each gives the scores of the same labels written with -1."""
    X, few, _ = moons(40)
    coded = dict(changes)
    if isinstance(changes.get("augmenter"), PseudoLabeled):
        coded["augmenter"] = PseudoLabeled(LabelInvariantMixup())
    grid = {"width": [0.1, 0.5]}
    written = GridSearchLZO(SMIRClassifier(unlabeled=None), grid, n_replicates=2, random_state=0)
    usual = GridSearchLZO(SMIRClassifier(), grid, n_replicates=2, random_state=0)
    written.set_params(**changes).fit(X, named(few, None))
    usual.set_params(**coded).fit(X, few)
    scores = [search.cv_results_["mean_test_score"] for search in (written, usual)]
    assert_array_equal(*scores)


def test_halving_takes_labels_as_written():
    """Its rounds are stratified by labels that do not sort."""
    X, few, _ = moons(40)
    for model, marker in ((SMIRClassifier(unlabeled=None), None), (SMIRClassifier(), -1)):
        search = HalvingGridSearchLZO(
            model, {"width": [0.1, 0.3, 0.5]}, min_resources=50, n_replicates=2, random_state=0
        ).fit(X, named(few, marker))
        assert_array_equal(search.classes_, ["a", "b"])


def test_markers_that_differ_in_the_data_are_refused():
    """Whatever comes first: for one of them the other's marker would be a class."""
    X, few, _ = moons()
    y = named(few, "unlabeled").astype(str)
    members = {"SM": SMIRClassifier(unlabeled="unlabeled"), "ls": LabelSpreading()}
    messages = set()
    for names in (["SM", "ls"], ["ls", "SM"]):
        search = CandidateSearchLZO({name: members[name] for name in names}, random_state=0)
        with pytest.raises(ValueError, match="mark rows without a label differently") as caught:
            search.fit(X, y)
        messages.add(str(caught.value))
    assert messages == {
        "The candidates of CandidateSearchLZO mark rows without a label differently, by "
        "'unlabeled' and -1, and y holds one of these: what marks a row for one candidate would "
        "be a class for another. Give all candidates the same marker."
    }


@pytest.mark.parametrize("markers", [["?", "!"], ["!", "?"]])
def test_markers_of_a_grid_are_compared_too(markers):
    """Where they stand in the data."""
    X, few, y = moons()
    search = GridSearchLZO(SMIRClassifier(), {"unlabeled": markers}, n_replicates=2, random_state=0)
    with pytest.raises(ValueError, match=r"differently, by '!' and '\?', and y holds one of these"):
        search.fit(X, named(few, "?"))
    assert len(search.fit(X, named(y, "?")).cv_results_["params"]) == 2


def test_one_marker_of_a_grid_is_the_marker():
    """What the estimator had before does not count."""
    X, few, _ = moons()
    for marker in ("?", None):
        search = GridSearchLZO(
            SMIRClassifier(), {"unlabeled": [marker]}, n_replicates=2, random_state=0
        ).fit(X, named(few, marker))
        assert_array_equal(search.classes_, ["a", "b"])


@pytest.mark.parametrize(
    ("model", "write", "wording"),
    [
        (
            LabelSpreading(),
            lambda few: np.where(few < 0, np.nan, few),
            r"^Input y contains NaN or None in rows that count as labelled: GridSearchLZO takes "
            r"rows that are -1 for unlabelled\. Write -1 there, or use an estimator with "
            r"unlabeled=None\.$",
        ),
        (
            SMIRClassifier(unlabeled=None),
            lambda few: np.where(few < 0, None, few == 1),
            r"^y given to GridSearchLZO holds True and False beside rows without a label\. Give 0 "
            r"and 1 or names instead\.$",
        ),
        (
            SMIRClassifier(unlabeled=None),
            lambda few: np.where(few == 1, "yes", np.where(few < 0, None, few)),
            r"^y given to GridSearchLZO has labels of several kinds, int and str, that cannot be "
            r"sorted\. Give names only or numbers only\.$",
        ),
    ],
)
def test_labels_that_cannot_be_told_apart_from_gaps(model, write, wording):
    """One sentence says what to write instead."""
    X, few, _ = moons()
    with pytest.raises(ValueError, match=wording):
        GridSearchLZO(model, {}, random_state=0).fit(X, write(few))
