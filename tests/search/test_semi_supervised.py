"""Searches over semi-supervised estimators, with unlabeled rows in y."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
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

FEW = {"n_replicates": 2, "random_state": 0}
FAST = {"augmenter": LabelInvariantMixup(), "cv_finalists": 0, **FEW}
SEMI_SUPERVISED = {
    "spreading": (LabelSpreading(max_iter=200), {"gamma": [1.0, 5.0, 20.0]}),
    "propagation": (LabelPropagation(max_iter=2000), {"gamma": [1.0, 20.0]}),
    "self-training": (SelfTrainingClassifier(LogisticRegression()), {"threshold": [0.6, 0.9]}),
    "SMIR": (SMIRClassifier(), {"width": [0.1, 0.3], "gamma": [0.001, 0.1]}),
    "pipeline": (make_pipeline(StandardScaler(), SMIRClassifier()), {"smirclassifier__width": [1]}),
}


def moons(n_labels=20, n_rows=100):
    """Return X, y with -1 for unlabeled rows, and the true y."""
    X, y = make_moons(n_rows, noise=0.1, random_state=0)
    return X, np.where(np.arange(n_rows) < n_labels, y, -1), y


def as_names(few, marker):
    """Return codes as strings, with a marker of any type in unlabeled rows."""
    names = np.array(["a", "b"], dtype=object)[few]
    names[few < 0] = marker
    return names


class Memory(ClassifierMixin, BaseEstimator):
    """A classifier that may return the training label of a row; else a split of one column."""

    def __init__(self, remembers=True, unlabeled=-1):
        self.remembers = remembers
        self.unlabeled = unlabeled

    def fit(self, X, y):
        self.n_rows_ = len(y)
        self.classes_ = np.unique(y[y != self.unlabeled])
        pairs = zip(np.asarray(X), y, strict=True)
        self.known_ = {tuple(row): label for row, label in pairs if label != self.unlabeled}
        return self

    def predict(self, X):
        labels = self.classes_[(np.asarray(X)[:, 0] > 0.5).astype(int)]
        if not self.remembers:
            return labels
        return np.array([self.known_.get(tuple(r), g) for r, g in zip(X, labels, strict=True)])


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
def test_semi_supervised_estimators(name):
    """The best predicts classes and never the marker; no label model is of a searched type."""
    X, few, y = moons()
    estimator, grid = SEMI_SUPERVISED[name]
    search = GridSearchLZO(estimator, grid, **FEW).fit(X, few)
    assert set(search.predict(X)) <= {0, 1}
    assert_array_equal(search.classes_, [0, 1])
    assert isinstance(search.augmenter_, PseudoLabeled)
    assert np.mean(search.predict(X) == y) > 0.75
    assert np.isfinite(search.best_score_)
    searched = type(estimator[-1] if hasattr(estimator, "steps") else estimator)
    assert searched not in {type(model) for model in search.augmenter_.label_models_}


def test_other_searches():
    X, few, _ = moons()
    candidates = {name: SEMI_SUPERVISED[name] for name in ("spreading", "SMIR")}
    search = CandidateSearchLZO(candidates, **FEW).fit(X, few)
    assert len(search.cv_results_["params"]) == 7
    assert LabelSpreading not in {type(model) for model in search.augmenter_.label_models_}
    space = {"width": [0.1, 0.2, 0.5]}
    search = RandomizedSearchLZO(SMIRClassifier(), space, n_iter=2, **FAST).fit(X, few)
    assert len(search.cv_results_["params"]) == 2


@pytest.mark.parametrize("augmenter", ["auto", LabelInvariantMixup()])
def test_candidates_see_all_rows_and_gain_nothing_by_memorizing_labels(augmenter):
    X, few, _ = moons()
    grid = {"remembers": [True, False]}
    search = GridSearchLZO(Memory(), grid, augmenter=augmenter, return_train_score=True, **FEW)
    search.fit(X, few)
    assert search.best_estimator_.n_rows_ == 100
    assert len(set(search.cv_results_["mean_test_score"])) == 1
    expected = PseudoLabeled if isinstance(augmenter, str) else LabeledOnly
    assert isinstance(search.augmenter_, expected)
    known = few >= 0  # training scores are those of labeled rows
    accuracy = np.mean((X[known, 0] > 0.5) == few[known])
    assert_allclose(search.cv_results_["mean_train_score"], [1.0, accuracy])


@pytest.mark.parametrize("cls", [PseudoLabeled, LabeledOnly])
def test_labeled_rows_at_the_end(cls):
    """Source rows are numbered in all rows."""
    X, few, _ = moons()
    augmenter = cls(LabelInvariantMixup())
    search = GridSearchLZO(SMIRClassifier(), {"width": [0.1, 0.5]}, augmenter=augmenter, **FEW)
    assert np.isfinite(search.fit(X[::-1], few[::-1]).cv_results_["low_test_score"]).all()


def test_results_do_not_depend_on_n_jobs():
    X, few, _ = moons()
    with parallel_config(backend="threading"):
        scores = [
            GridSearchLZO(*SEMI_SUPERVISED["SMIR"], n_jobs=n_jobs, **FAST)
            .fit(X, few)
            .cv_results_["mean_test_score"]
            for n_jobs in (1, 2)
        ]
    assert_array_equal(*scores)


def test_joint_fits_equal_plain_fits():
    """The 125 candidates of the paper."""
    X, few, _ = moons(12, 60)
    grid = {
        "width": [1 / 15, 1 / 10, 1 / 5, 1 / 2, 1.0],
        "gamma": [1e-7, 1e-3, 1e-1, 1e1, 1e3],
        "offset": [1e-10, 1e-8, 1e-6, 1e-4, 1e-2],
    }
    search = GridSearchLZO(SMIRClassifier(), grid, n_replicates=1, loo=False, random_state=0)
    table, rows = search.fit(X, few).cv_results_, search.validation_set_
    assert len(table["params"]) == 125
    components = [rows.component == one for one in np.unique(rows.component)]
    for at in range(0, 125, 31):
        hits = SMIRClassifier(**table["params"][at]).fit(X, few).predict(rows.X) == rows.y
        expected = np.mean([np.average(hits[c], weights=rows.sample_weight[c]) for c in components])
        assert_allclose(table["mean_validation_score"][at], expected, atol=0.05)


def test_loo_only_uses_folds_over_labels():
    X, few, _ = moons()
    search = GridSearchLZO(*SEMI_SUPERVISED["SMIR"], loo="only", random_state=0).fit(X, few)
    assert search.validation_set_ is None
    assert search.n_fits_ == 4
    assert set(search.cv_results_["loo_method"]) == {"folds"}
    assert np.all(search.cv_results_["mean_test_score"] <= 1.0)


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
def test_class_with_one_label_has_no_loo_score():
    X, y = make_blobs(60, centers=3, random_state=0)
    few = np.full(60, -1)
    for label, n_labels in enumerate((1, 3, 3)):
        few[np.flatnonzero(y == label)[:n_labels]] = label
    search = GridSearchLZO(SMIRClassifier(), {"width": [0.1, 0.5]}, random_state=0).fit(X, few)
    assert np.isnan(search.cv_results_["mean_loo_score"]).all()
    assert np.mean(search.predict(X) == y) > 0.8


def test_folds_of_finalists_split_labels_only():
    X, few, _ = moons(40)
    search = GridSearchLZO(*SEMI_SUPERVISED["spreading"], cv=3, **FAST | {"cv_finalists": 2})
    assert search.fit(X, few).fit_counts_["cv"] in (3, 6)


def test_report_names_the_label_models():
    X, few, _ = moons()
    search = GridSearchLZO(*SEMI_SUPERVISED["SMIR"], **FEW).fit(X, few)
    report = search.diagnose().summary(details=True)
    assert "pseudo" in report
    assert "KNeighborsClassifier" in report


def test_minus_one_is_a_class_of_supervised_estimators():
    X, _, y = moons()
    search = GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, **FAST)
    assert_array_equal(search.fit(X, np.where(y == 0, -1, 1)).classes_, [-1, 1])


def test_all_rows_labeled():
    X, _, y = moons()
    search = GridSearchLZO(*SEMI_SUPERVISED["SMIR"], **FEW).fit(X, y)
    assert not isinstance(search.augmenter_, PseudoLabeled)
    assert search.score(X, y) > 0.9


# Markers


def with_nan(few):
    return np.where(few < 0, np.nan, few)


TARGETS = {
    "None": (SMIRClassifier(unlabeled=None), lambda few: as_names(few, None)),
    "NaN among strings": (SMIRClassifier(unlabeled=None), lambda few: as_names(few, np.nan)),
    "NaN as the marker": (SMIRClassifier(unlabeled=np.nan), with_nan),
    "NaN among numbers": (SMIRClassifier(unlabeled=None), with_nan),
    "Int64": (
        SMIRClassifier(unlabeled=None),
        lambda few: pd.Series(few, dtype="Int64").mask(few < 0),
    ),
    "string": (
        SMIRClassifier(unlabeled=None),
        lambda few: pd.Series(as_names(few, None), dtype="string"),
    ),
    "category": (
        SMIRClassifier(unlabeled=None),
        lambda few: pd.Series(as_names(few, None)).astype("category"),
    ),
    "-1 among strings": (SMIRClassifier(), lambda few: as_names(few, -1)),
    "self-training": (
        SelfTrainingClassifier(LogisticRegression()),
        lambda few: as_names(few, -1),
    ),
    "objects": (SMIRClassifier(), lambda few: few.astype(object)),
    "string marker": (SMIRClassifier(unlabeled="?"), lambda few: as_names(few, "?")),
}


def pseudo_labeled(model):
    """Return a search whose augmenter is cheaper than the default."""
    marker = getattr(model, "unlabeled", -1)
    augmenter = PseudoLabeled(LabelInvariantMixup(), "neighbors", unlabeled=marker)
    return GridSearchLZO(model, {}, augmenter=augmenter, return_train_score=True, **FEW)


@cache
def table_of_codes(self_training):
    """Return the results with -1 as the marker."""
    X, few, _ = moons()
    model = SelfTrainingClassifier(LogisticRegression()) if self_training else SMIRClassifier()
    return pseudo_labeled(model).fit(pd.DataFrame(X, columns=["a", "b"]), few).cv_results_


@pytest.mark.parametrize("name", TARGETS)
def test_targets_have_the_results_of_codes(name):
    """The best predicts as the same model fitted alone."""
    X, few, _ = moons()
    X = pd.DataFrame(X, columns=["a", "b"])
    model, convert = TARGETS[name]
    y = convert(few)
    alone = clone(model).fit(X, y)
    search = pseudo_labeled(model).fit(X, y)
    assert_array_equal(search.predict(X), alone.predict(X))
    assert_array_equal(search.classes_, alone.classes_)
    for column in ("mean_test_score", "mean_train_score", "mean_loo_score"):
        expected = table_of_codes(isinstance(model, SelfTrainingClassifier))[column]
        assert_array_equal(search.cv_results_[column], expected)


def test_none_as_the_marker_in_reports_and_several_estimators():
    X, few, _ = moons()
    models = {"SMIR": SMIRClassifier(unlabeled=None)}
    search = CandidateSearchLZO(models, **FEW).fit(X, as_names(few, None))
    coded = GridSearchLZO(SMIRClassifier(), {}, **FEW).fit(X, few)
    assert_array_equal(search.cv_results_["mean_test_score"], coded.cv_results_["mean_test_score"])
    assert isinstance(search.augmenter_, PseudoLabeled)
    assert len(search.diagnose().checks) == 10


@pytest.mark.parametrize(
    "params",
    [
        {"loo": "only"},
        {"cv_finalists": 2, "cv": 3},
        {"augmenter": LabelInvariantMixup()},
        {"augmenter": PseudoLabeled(LabelInvariantMixup(), unlabeled=None)},
    ],
    ids=["loo", "folds", "mixup", "pseudo"],
)
def test_none_as_the_marker_in_every_kind_of_score(params):
    X, few, _ = moons(40)
    coded = dict(params)
    if isinstance(params.get("augmenter"), PseudoLabeled):
        coded["augmenter"] = PseudoLabeled(LabelInvariantMixup())
    grid = {"width": [0.1, 0.5]}
    search = GridSearchLZO(SMIRClassifier(unlabeled=None), grid, **FAST | params)
    expected = GridSearchLZO(SMIRClassifier(), grid, **FAST | coded)
    search.fit(X, as_names(few, None))
    expected.fit(X, few)
    assert_array_equal(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("marker", [None, -1])
def test_halving_of_labels_that_do_not_sort(marker):
    X, few, _ = moons(40)
    model, grid = SMIRClassifier(unlabeled=marker), {"width": [0.1, 0.3, 0.5]}
    search = HalvingGridSearchLZO(model, grid, min_resources=50, **FAST)
    assert_array_equal(search.fit(X, as_names(few, marker)).classes_, ["a", "b"])


def test_marker_in_a_grid():
    X, few, y = moons()
    for marker in ("?", None):
        search = GridSearchLZO(SMIRClassifier(), {"unlabeled": [marker]}, **FAST)
        assert_array_equal(search.fit(X, as_names(few, marker)).classes_, ["a", "b"])
    for markers in (["?", "!"], ["!", "?"]):
        search = GridSearchLZO(SMIRClassifier(), {"unlabeled": markers}, **FAST)
        with pytest.raises(ValueError, match=r"alike, got the markers '!' and '\?', of which y"):
            search.fit(X, as_names(few, "?"))
        assert len(search.fit(X, as_names(y, "?")).cv_results_["params"]) == 2


def test_different_markers_raise():
    X, few, _ = moons()
    models = {"SMIR": SMIRClassifier(unlabeled="unlabeled"), "spreading": LabelSpreading()}
    for candidates in (models, dict(reversed(models.items()))):
        search = CandidateSearchLZO(candidates, random_state=0)
        with pytest.raises(ValueError, match="alike, got the markers 'unlabeled' and -1"):
            search.fit(X, as_names(few, "unlabeled").astype(str))


def test_supervised_candidates_raise():
    X, few, _ = moons()
    candidates = {"spreading": LabelSpreading(), "neighbors": KNeighborsClassifier()}
    message = r"marks rows as unlabeled \(-1\), which KNeighborsClassifier cannot use"
    with pytest.raises(ValueError, match=message):
        CandidateSearchLZO(candidates, random_state=0).fit(X, few)


@pytest.mark.parametrize(
    ("model", "convert", "message"),
    [
        (LabelSpreading(), lambda few: np.full(100, -1), "no labeled row"),
        (LabelSpreading(), lambda few: np.where(few == 1, 1, -1), "one class"),
        (LabelSpreading(), with_nan, "NaN or None in labeled rows: .* treats only -1 as unlabeled"),
        (
            SMIRClassifier(unlabeled=None),
            lambda few: np.where(few < 0, None, few == 1),
            "contains booleans and unlabeled rows. Use 0 and 1 or strings",
        ),
        (
            SMIRClassifier(unlabeled=None),
            lambda few: np.where(few == 1, "yes", np.where(few < 0, None, few)),
            "must have one type, got int and str",
        ),
    ],
    ids=["no label", "one class", "NaN", "booleans", "types"],
)
def test_invalid_labels_raise(model, convert, message):
    X, few, _ = moons()
    with pytest.raises(ValueError, match=message):
        GridSearchLZO(model, {}, random_state=0).fit(X, convert(few))
