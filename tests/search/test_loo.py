"""Leave-one-out and out-of-bag scores in a search: loo="auto", False and "only"."""

import numpy as np
import optuna
import pytest
from joblib import parallel_config
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero import (
    CandidateSearchLZO,
    FixedValidationSet,
    GridSearchLZO,
    HalvingGridSearchLZO,
    LabelInvariantMixup,
    OptunaSearchLZO,
    SMIRClassifier,
)
from leavezero.exceptions import AllCandidatesFailedError

X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
NEIGHBORS = {"n_neighbors": [1, 5, 25]}
FEW = {"n_replicates": 3, "augmenter": LabelInvariantMixup(), "random_state": 0}


def loo_predict(model, X, y):
    return cross_val_predict(model, X, y, cv=LeaveOneOut())


def noise(n_rows, n_columns, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.integers(2, size=n_rows)


def test_loo_only_equals_leave_one_out_from_one_fit():
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, loo="only").fit(X, y)
    for row, params in enumerate(search.cv_results_["params"]):
        expected = np.mean(loo_predict(KNeighborsClassifier(**params), X, y) == y)
        assert search.cv_results_["mean_test_score"][row] == pytest.approx(expected)
    assert search.n_fits_ == 3
    assert search.validation_set_ is None
    assert search.augmenter_ is None
    assert search.selection_.resampled_units == "validation rows"
    assert search.predict(X).shape == y.shape


def test_loo_only_in_halving():
    """Of the rows of each iteration."""
    grid = {"n_neighbors": [1, 3, 5, 9, 15, 25]}
    search = HalvingGridSearchLZO(KNeighborsClassifier(), grid, loo="only", random_state=0)
    table = search.fit(X, y).cv_results_
    last = np.flatnonzero(table["n_resources"] == len(y))
    for row in last:
        expected = np.mean(loo_predict(KNeighborsClassifier(**table["params"][row]), X, y) == y)
        assert table["mean_test_score"][row] == pytest.approx(expected)
    assert 0 < len(last) < len(table["params"])


def test_loo_of_unlabeled_rows_in_halving():
    marked = np.where(np.arange(len(y)) % 2, -1, y)
    grid = {"gamma": [0.01, 0.1, 1.0, 10.0]}
    search = HalvingGridSearchLZO(SMIRClassifier(), grid, n_replicates=2, random_state=0)
    assert np.isfinite(search.fit(X, marked).cv_results_["mean_loo_score"]).all()


def test_loo_only_with_string_labels():
    data, codes = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[codes]
    search = GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [7]}, loo="only")
    expected = np.mean(loo_predict(KNeighborsClassifier(7), data, labels) == labels)
    assert search.fit(data, labels).best_score_ == pytest.approx(expected, abs=0.01)


def test_columns_of_validation_and_loo_scores():
    both, validation, loo = (
        GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, loo=option, **FEW).fit(X, y)
        for option in ("auto", False, "only")
    )
    table = both.cv_results_
    np.testing.assert_array_equal(
        table["mean_validation_score"], validation.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(table["mean_loo_score"], loo.cv_results_["mean_test_score"])
    assert set(table["loo_method"]) == {"exact"}
    splits = [table[f"split{r}_test_score"] for r in range(3)]
    np.testing.assert_allclose(np.mean(splits, axis=0), table["mean_test_score"])
    assert "mean_loo_score" not in validation.cv_results_
    assert both.n_fits_ == validation.n_fits_ == 3


def test_loo_scores_correct_a_memorizing_model():
    models = {"one": KNeighborsClassifier(1), "many": KNeighborsClassifier(75)}
    data = noise(200, 10, 0)
    validation = CandidateSearchLZO(models, loo=False, **FEW).fit(*data)
    corrected = CandidateSearchLZO(models, **FEW).fit(*data)
    assert validation.cv_results_["mean_test_score"][0] > 0.8
    assert corrected.cv_results_["mean_test_score"][0] == pytest.approx(0.5, abs=0.1)


def test_score_of_noise_with_more_columns_than_rows():
    """The models separate their training rows, so that they have no leave-one-out score."""
    grid = {"C": [0.01, 1.0]}
    search = GridSearchLZO(LogisticRegression(), grid, random_state=0).fit(*noise(200, 1_000, 1))
    assert (search.cv_results_["mean_validation_score"] > 0.9).any()
    assert search.best_score_ < 0.65
    assert any(check.level == "warning" for check in search.diagnose().checks)


def test_candidates_without_loo_are_corrected_by_similar_ones():
    """A tree that predicts as 1-NN does gets the bias of 1-NN."""
    models = {
        "neighbors": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 9, 41]}),
        "tree": DecisionTreeClassifier(random_state=0),
    }
    table = CandidateSearchLZO(models, **FEW).fit(*noise(150, 8, 1)).cv_results_
    assert np.isnan(table["mean_loo_score"][-1])
    assert table["loo_note"][-1] == "no leave-one-out method for DecisionTreeClassifier"
    assert table["mean_test_score"][-1] < table["mean_validation_score"][-1] - 0.1


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss"])
def test_loo_scores_by_labels_decisions_and_probabilities(scoring):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchLZO(model, {"logisticregression__C": [0.01, 1.0]}, scoring=scoring, **FEW)
    table = search.fit(X, y).cv_results_
    assert np.all(np.isfinite(table["mean_loo_score"]))
    assert set(table["loo_method"]) == {"approximate"}


def test_loo_scores_of_regressors():
    data = make_regression(80, 4, noise=20.0, random_state=0)
    models = {"ridge": (Ridge(), {"alpha": [0.1, 10.0]}), "svr": SVR(C=100.0)}
    table = CandidateSearchLZO(models, n_replicates=3, random_state=0).fit(*data).cv_results_
    assert table["loo_method"].tolist() == ["exact", "exact", "approximate"]
    errors = loo_predict(Ridge(alpha=0.1), *data) - data[1]
    expected = 1 - np.sum(errors**2) / np.sum((data[1] - data[1].mean()) ** 2)
    assert table["mean_loo_score"][0] == pytest.approx(expected)


def test_regressors_of_integer_targets_are_compared_by_values(rng):
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(float)
    table = GridSearchLZO(KNeighborsRegressor(), NEIGHBORS, random_state=0).fit(X, y).cv_results_
    assert np.ptp(table["mean_test_score"] - table["mean_validation_score"]) > 0.01


@pytest.mark.parametrize("prefix", ["", "histgradientboostingclassifier__"])
def test_notes_of_jointly_fitted_candidates_name_their_own_class(prefix):
    model = HistGradientBoostingClassifier()
    search = GridSearchLZO(
        make_pipeline(StandardScaler(), model) if prefix else model, {f"{prefix}max_iter": [2, 4]}
    )
    for note in search.set_params(cv_finalists=0, **FEW).fit(X, y).cv_results_["loo_note"]:
        assert "HistGradientBoostingClassifier" in note


def accuracy_of_coefficients(model, X, y):
    """Return the accuracy, computed by means that leave-one-out predictions do not have."""
    return float(np.mean(model.classes_[(X @ model.coef_.T + model.intercept_).argmax(1)] == y))


def test_notes_of_single_candidates():
    pipeline = make_pipeline(SelectKBest(k=2), LogisticRegression())
    models = {"selected": pipeline, "plain": LogisticRegression()}
    notes = CandidateSearchLZO(models, **FEW).fit(X, y).cv_results_["loo_note"]
    assert "selectkbest" in notes[0]
    assert notes[1] is None
    search = GridSearchLZO(LogisticRegression(), {}, scoring=accuracy_of_coefficients, **FEW)
    assert "coef_ is not known" in search.fit(X, y).cv_results_["loo_note"][0]
    unreliable = GridSearchLZO(SVC(C=1e-3), {}, **FEW).fit(X, y)
    assert "free support vectors" in unreliable.cv_results_["loo_note"][0]
    assert np.isnan(unreliable.cv_results_["mean_loo_score"][0])


@pytest.mark.parametrize(
    ("model", "note"),
    [
        (Ridge(positive=True), "positive"),
        (DecisionTreeRegressor(max_depth=2), "no leave-one-out method for DecisionTreeRegressor"),
        (TransformedTargetRegressor(Ridge()), "no leave-one-out method for TransformedTarget"),
        (LinearSVC(loss="hinge"), "no second derivative"),
        (make_pipeline(SelectKBest(k=2), LogisticRegression()), "selectkbest"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_notes_if_no_candidate_is_supported(model, note):
    """The columns exist, scores are the validation scores, the report leaves the columns out."""
    search = GridSearchLZO(model, {}, **FEW).fit(X, y)
    table = search.cv_results_
    assert np.isnan(table["mean_loo_score"]).all()
    assert table["loo_method"].tolist() == [None]
    assert note in table["loo_note"][0]
    assert table["mean_test_score"] == table["mean_validation_score"]
    plain = GridSearchLZO(model, {}, loo=False, **FEW).fit(X, y)
    assert "loo_note" not in plain.cv_results_


def test_loo_columns_of_several_metrics():
    for model in (DecisionTreeClassifier(), LogisticRegression()):
        search = GridSearchLZO(model, {}, scoring=["accuracy", "f1"], refit=False, **FEW).fit(X, y)
        is_tree = isinstance(model, DecisionTreeClassifier)
        for name in ("mean_loo_accuracy", "mean_loo_f1"):
            assert np.isnan(search.cv_results_[name]).all() == is_tree


def test_notes_of_fixed_validation_sets_and_groups():
    rows = FixedValidationSet(X[:40], y[:40])
    search = GridSearchLZO(KNeighborsClassifier(), {}, augmenter=rows).fit(X[40:], y[40:])
    assert search.cv_results_["loo_note"][0] == "the validation set was given"
    groups = np.arange(len(y)) % 6
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, **FEW).fit(X, y, groups=groups)
    assert np.isnan(search.cv_results_["mean_loo_score"]).all()
    assert "rows are grouped" in search.cv_results_["loo_note"][0]
    with pytest.raises(ValueError, match=r'loo="only" of GridSearchLZO .* with groups'):
        GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, loo="only").fit(X, y, groups=groups)


def test_notes_of_proposed_candidates():
    """Whether LOO is used depends on the parameters that Optuna proposes."""
    values = {"positive": [True, False]}
    sampler = optuna.samplers.GridSampler(values)
    search = OptunaSearchLZO(Ridge(positive=True), values, sampler=sampler, **FEW).fit(X, y)
    table = search.cv_results_
    notes = dict(zip(table["param_positive"], table["loo_note"], strict=True))
    assert "positive" in notes[True]
    assert notes[False] is None
    assert np.isfinite(table["mean_loo_score"]).sum() == 1


def test_loo_only_without_a_supported_candidate_raises():
    scorer = make_scorer(roc_auc_score, response_method="predict_proba")
    search = GridSearchLZO(SVC(), {"C": [1.0]}, loo="only", scoring=scorer)
    with pytest.raises(AllCandidatesFailedError, match='loo="only" of GridSearchLZO requires'):
        search.fit(X, y)


@pytest.mark.parametrize("loo", ["yes", "off", True, None])
def test_invalid_loo_raises(loo):
    with pytest.raises(ValueError, match='loo of GridSearchLZO must be "auto", False or "only"'):
        GridSearchLZO(SVC(), {}, loo=loo).fit(X, y)


def test_loo_scores_are_weighted():
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    model = LogisticRegression()
    weighted = GridSearchLZO(model, {}, loo="only").fit(X, y, sample_weight=weight)
    plain = GridSearchLZO(model, {}, loo="only").fit(X, y)
    assert weighted.best_score_ != plain.best_score_


def test_loo_only_with_a_precomputed_kernel():
    search = GridSearchLZO(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, loo="only")
    assert np.isfinite(search.fit(X @ X.T, y).best_score_)


def test_corrected_scores_do_not_depend_on_n_jobs_and_order():
    models = {
        "forest": (RandomForestClassifier(20), {"max_depth": [2, None]}),
        "neighbors": (KNeighborsClassifier(), NEIGHBORS),
    }
    first = CandidateSearchLZO(models, n_jobs=1, **FEW).fit(X, y)
    with parallel_config(backend="threading"):
        second = CandidateSearchLZO(dict(reversed(models.items())), n_jobs=2, **FEW).fit(X, y)
    scores = [
        dict(zip(map(str, s.cv_results_["params"]), s.cv_results_["mean_test_score"], strict=True))
        for s in (first, second)
    ]
    assert scores[0] == scores[1]
    assert first.best_params_ == second.best_params_
    assert set(first.cv_results_["loo_method"]) == {"out-of-bag", "exact"}


def test_halving_and_optuna_use_corrected_scores():
    halving = HalvingGridSearchLZO(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}, factor=2, min_resources=40, **FEW
    ).fit(X, y)
    assert np.all(np.isfinite(halving.cv_results_["mean_loo_score"]))
    search = OptunaSearchLZO(KNeighborsClassifier(), NEIGHBORS, n_trials=6, **FEW).fit(X, y)
    values = {trial.params["n_neighbors"]: trial.value for trial in search.study_.trials}
    assert set(values) <= {1, 5, 25}
    assert all(np.isfinite(value) for value in values.values())
