"""The regret study and the power of the diagnostics."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from experiments import diagnostics_power, regret
from experiments.diagnostics_power import DiagnosticsStudy, check_power
from experiments.model_types import model_types
from experiments.regret import AUGMENTER_COMPARISON, REGRET
from experiments.regret_data import COLLECTION, PARTS, make_split
from experiments.regret_methods import AUGMENTERS, OTHER_FOLDS, run_search
from experiments.regret_report import (
    augmenters_report,
    coverage_table,
    difference_table,
    differences,
    regret_frame,
    report,
)
from experiments.runner import Options
from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero.diagnostics import Thresholds

FEW_TYPES = {
    "k-NN": (KNeighborsClassifier(), {"n_neighbors": [1, 9]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 20]}),
}
PART = "tuning-300"


@pytest.fixture
def few_types(monkeypatch):
    for module in (regret, diagnostics_power):
        monkeypatch.setattr(module, "model_types", lambda task, X: FEW_TYPES)


def lines_of(data, split=0, selected=None, pool=0, **methods):
    """Return the lines of a split in which two types have three candidates with the same scores."""
    searches = {"test": [0.5, 0.9, 0.7], **methods}
    lines = []
    for search, scores in searches.items():
        found = {"columns": {search: scores}, "selected": 0, "best_score": 0.6}
        found |= {"seconds": 2.0, "fits": 6}
        if search == "default":
            found["selected"] = selected
        types = {name: {"accuracy": found} for name in ("k-NN", "tree")}
        if search == "default":
            types["pool"] = {"accuracy": {**found, "columns": {search: 2 * scores}}}
            types["pool"]["accuracy"]["selected"] = pool
        key = {"data": data, "split": split, "search": search}
        lines.append({"key": key, "result": {"types": types}})
    return lines


def value(frame, method, model_type, column="regret"):
    chosen = (frame["method"] == method) & (frame["model_type"] == model_type)
    return frame.loc[chosen, column].mean()


# Regret and bias


def test_regret_and_bias_in_points():
    frame = regret_frame(lines_of("one", **{"mix-up": [0.1, 0.2, 0.8]}), "accuracy")
    for model_type in ("tree", "pool", "mean"):
        assert value(frame, "mix-up", model_type) == pytest.approx(20)
        assert value(frame, "mix-up", model_type, "bias") == pytest.approx(10)


def test_tied_candidates_have_equal_probability_and_missing_scores_none():
    frame = regret_frame(lines_of("one", **{"mix-up": [0.8, 0.8, None]}), "accuracy")
    assert value(frame, "mix-up", "tree") == pytest.approx(90 - 70)
    frame = regret_frame(lines_of("one", **{"mix-up": [None] * 3}), "accuracy")
    assert np.isnan(value(frame, "mix-up", "tree"))


def test_the_default_selects_as_for_users_and_has_its_own_pool():
    """Not the highest of its scores but its selection counts, with its best_score_."""
    lines = lines_of("one", selected=2, pool=1, default=[0.9, 0.0, 0.0])
    frame = regret_frame(lines, "accuracy")
    assert value(frame, "default", "tree") == pytest.approx(20)
    assert value(frame, "default", "tree", "bias") == pytest.approx(100 * (0.6 - 0.7))
    assert value(frame, "default", "pool") == pytest.approx(0)
    assert value(frame, "default", "mean") == pytest.approx((20 + 20 + 0) / 3)


def test_one_mean_is_without_neural_networks():
    lines = lines_of("one", selected=0, pool=1, default=[0] * 3, **{"10-fold CV": [0, 1, 0]})
    for line in lines:
        types = line["result"]["types"]
        types["MLP"] = types.pop("tree")
    frame = regret_frame(lines, "accuracy")
    assert value(frame, "default", "mean") == pytest.approx((40 + 40 + 0) / 3)
    assert value(frame, "default", "mean without MLP") == pytest.approx((40 + 0) / 2)
    assert list(differences(frame, "10-fold CV"))[-2:] == ["mean without MLP", "mean"]


def test_loo_scores_are_completed_by_folds_for_types_without_them():
    lines = lines_of("one", selected=0, default=[0.1] * 3, **{"5-fold CV": [1, 0, 0]})
    [default] = [line for line in lines if line["key"]["search"] == "default"]
    by_type = default["result"]["types"]
    by_type["k-NN"] = {"accuracy": {**by_type["k-NN"]["accuracy"]}}
    by_type["k-NN"]["accuracy"]["columns"] = {"default": [0.1] * 3, "LOO score": [0, 0.5, 0]}
    frame = regret_frame(lines, "accuracy")
    assert value(frame, "LOO, else 5-fold CV", "k-NN") == pytest.approx(0)
    assert value(frame, "LOO, else 5-fold CV", "tree") == pytest.approx(40)
    assert value(frame, "LOO, else 5-fold CV", "pool") == pytest.approx(40)
    assert np.isnan(value(frame, "LOO score", "tree"))
    assert np.isnan(value(frame, "LOO score", "mean"))


def test_splits_are_averaged_before_data_sets_and_incomplete_ones_ignored():
    lines = [one for split in range(3) for one in lines_of("one", split, **{"mix-up": [1, 0, 0]})]
    lines += [*lines_of("two", **{"mix-up": [0, 1, 0]}), *lines_of("three")]
    frame = regret_frame(lines, "accuracy")
    assert value(frame, "mix-up", "tree") == pytest.approx((40 + 0) / 2)
    assert set(frame["data"]) == {"one", "two"}


def test_pages_compare_the_default_with_folds(tmp_path):
    """Differences are paired; the set with the largest loss, shares, bias and cost are shown."""
    folds = {"5-fold CV": [0, 1, 0], "10-fold CV": [0, 0, 1]}
    lines = [
        *lines_of("one", selected=1, pool=1, default=[0] * 3, **folds),
        *lines_of("two", selected=0, pool=2, default=[0] * 3, **folds),
    ]
    frame = regret_frame(lines, "accuracy")
    assert list(differences(frame, "10-fold CV")["tree"]) == pytest.approx([-20, 20])
    rows = {name: cells for name, *cells in difference_table(frame, "title").rows}
    tree = "+0.00 (-20.00 to +20.00)", "+20.00 (+0.00 to +40.00)", "50 / 0 / 50", "two +20.00"
    assert tuple(rows["tree"]) == tree
    assert rows["mean"][2] == "33 / 17 / 50"  # two sets and three types with the pool
    pages = report({PART: lines}, {"glass": "no file"}, tmp_path)
    regrets, _, bias, cost = pages[PART]
    assert "glass: not available. no file" in regrets.notes
    assert {name: cells[0] for name, *cells in bias.rows}["tree"] == "-10.00"
    assert {name: cells for name, *cells in cost.rows} == {
        "k-NN": ["3", "2.00", "2.00", "2.00", "2.00", "1.00"],
        "tree": ["3", "2.00", "2.00", "2.00", "2.00", "1.00"],
        "pool": ["6", "1.00", "2.00", "4.00", "4.00", "0.50"],
    }
    assert (tmp_path / f"{PART}.svg").exists()


# Data sets and model types


def test_parts_of_the_collection_share_no_rows():
    """Tables of the same rows with and without strings, or with another target, are in one."""
    tuning, reporting = (
        {name for (_, of), names in COLLECTION.items() if of == part for name in names}
        for part in ("tuning", "reporting")
    )
    assert not tuning & reporting
    assert {"housing", "housing_medv", "vote", "vote_strings", "wpbc_with_missing"} <= tuning
    assert {"breast_strings", "heart303_with_missing", "mushroom_strings"} <= reporting
    assert {"heart", "clever"} <= reporting
    sizes = {key: len(names) for key, names in COLLECTION.items()}
    assert sizes["classification", "tuning"] == sizes["classification", "reporting"] == 33
    assert (sizes["regression", "tuning"], sizes["regression", "reporting"]) == (14, 12)


def test_parts_have_the_data_sets_that_are_large_enough():
    assert "wine" in PARTS["reporting-100"].data  # 178 rows
    assert "wine" not in PARTS["reporting-300"].data
    assert "clever" in PARTS["reporting-300"].data  # 297 rows, of which 207 are for training
    assert "titanic" not in PARTS["reporting-1000"].data  # 1,309 rows
    assert PARTS["reporting-300"].metrics == ("accuracy",)
    assert PARTS["probabilities-reporting-300"].metrics == ("neg_log_loss", "roc_auc")
    assert PARTS["regression-reporting-300"].metrics == ("r2",)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_model_types_have_grids_of_usual_size(task):
    X = np.random.default_rng(0).normal(size=(30, 3))
    types = model_types(task, X)
    assert list(types) == sorted(types)
    sizes = {name: len(ParameterGrid(grid)) for name, (_, grid) in types.items()}
    assert all(6 <= size <= 12 for size in sizes.values())
    assert min(sizes[name] for name in sizes if "boosting" in name or name == "LightGBM") >= 10


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_tables_with_strings_and_missing_values_are_prepared(task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=40), "b": rng.choice(["x", "y"], size=40)})
    X.loc[3, "a"] = np.nan
    y = (X["b"] == "x").to_numpy().astype(int if task == "classification" else float)
    estimator, grid = model_types(task, X)["tree"]
    assert estimator.set_params(model__max_depth=2).fit(X, y).score(X, y) == 1.0
    assert set(grid) == {"model__max_depth", "model__min_samples_leaf"}


def test_arrays_are_standardized_on_the_training_rows():
    split = make_split(PARTS["reporting-300"], "digits", 0)
    assert split.X.shape[0] == 300
    assert split.X_test.shape[0] == 1797 - 300
    varying = split.X.std(axis=0) > 0
    assert split.X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert split.X.std(axis=0)[varying] == pytest.approx(1)


# Searches and runs


def test_coverage_is_the_share_of_intervals_that_contain_the_test_score():
    lines = [
        *lines_of("one", selected=1, pool=1, default=[0.1, 0.6, 0.2]),
        *lines_of("two", selected=2, pool=1, default=[0.1, 0.6, 0.2]),
    ]
    for line in lines:
        for found in line["result"]["types"].values():
            if line["key"]["search"] == "default":
                found["accuracy"]["interval"] = [0.8, 0.95]  # has 0.9, not 0.7
    table = coverage_table(lines, "accuracy", "title")
    shares = {row[0]: row[1:] for row in table.rows}
    assert shares["tree"] == ("50%", "15.0")
    assert shares["pool"] == ("100%", "15.0")


def test_columns_are_those_of_the_searches():
    """Default, validation and LOO score are columns of one search; test scores those of models."""
    split = make_split(PARTS["reporting-100"], "iris", 0)
    model_type = FEW_TYPES["k-NN"]
    found = run_search("default", model_type, split, ["accuracy"])["accuracy"]
    search = GridSearchLZO(*model_type, random_state=0).fit(split.X, split.y)
    for name, column in (("default", "test"), ("validation score", "validation")):
        expected = search.cv_results_[f"mean_{column}_score"]
        assert found["columns"][name] == pytest.approx(expected, abs=1e-6)
    assert found["columns"]["LOO score"] == pytest.approx(
        search.cv_results_["mean_loo_score"], abs=1e-6
    )
    assert (found["selected"], found["fits"]) == (search.best_index_, search.n_fits_)
    models = [KNeighborsClassifier(**params) for params in ParameterGrid(model_type[1])]
    tested = [m.fit(split.X, split.y).score(split.X_test, split.y_test) for m in models]
    test = run_search("test", model_type, split, ["accuracy"])["accuracy"]["columns"]["test"]
    assert test == pytest.approx(tested, abs=1e-6)
    metrics = ["accuracy", "neg_log_loss"]
    folds = run_search("5-fold CV", model_type, split, metrics)
    assert list(folds) == metrics
    assert folds["accuracy"]["fits"] == 11
    reverse = run_search("5-fold CV", model_type, split, metrics[::-1])
    for metric in metrics:
        assert reverse[metric]["columns"] == folds[metric]["columns"]


def test_metrics_are_those_that_can_be_computed():
    """AUC needs two classes, log loss probabilities and enough rows of each class."""
    metrics = ("accuracy", "roc_auc", "neg_log_loss")
    two, many, few = np.tile([0, 1], 10), np.tile([0, 1, 2], 10), np.repeat([0, 1], [15, 5])
    assert regret.metrics_for(metrics, KNeighborsClassifier(), two) == list(metrics)
    assert regret.metrics_for(metrics, KNeighborsClassifier(), many) == ["accuracy", metrics[2]]
    assert regret.metrics_for(metrics, KNeighborsClassifier(), few) == ["accuracy", "roc_auc"]
    assert regret.metrics_for(metrics, SVC(), two) == ["accuracy", "roc_auc"]


def run(experiment, part, data):
    study = experiment.study(part, (data,), Options())
    keys = study.keys()
    return [{"key": key, "result": study(key)} for key in keys]


def test_run_has_every_search_and_a_pool(few_types, tmp_path):
    lines = run(REGRET, PART, "breast_cancer")
    by_search = {line["key"]["search"]: line["result"]["types"] for line in lines}
    folds = ["5-fold CV", "10-fold CV"]
    assert list(by_search) == ["test", "default", *folds, "mix-up", OTHER_FOLDS]
    for types in by_search.values():
        assert set(types["tree"]) == {"accuracy"}
    split = make_split(PARTS[PART], "breast_cancer", 0)
    search = CandidateSearchLZO(FEW_TYPES, random_state=0).fit(split.X, split.y)
    pool = by_search["default"]["pool"]["accuracy"]
    assert pool["best_score"] == pytest.approx(search.best_score_, abs=1e-6)
    assert pool["selected"] == search.best_index_
    titles = [table.title for table in report({PART: lines}, {}, tmp_path)[PART]]
    assert sum("accuracy: regret in points" in title for title in titles) == 1
    assert sum("cost" in title for title in titles) == 1
    assert sum("with other folds minus that of 10-fold CV" in title for title in titles) == 1
    low, high = by_search["default"]["tree"]["accuracy"]["interval"]
    assert low < by_search["default"]["tree"]["accuracy"]["best_score"] < high
    assert sum("intervals for new rows" in title for title in titles) == 1


def test_other_folds_differ_from_those_of_ten_fold_cross_validation():
    split = make_split(PARTS[PART], "breast_cancer", 0)
    names = ("10-fold CV", OTHER_FOLDS)
    first, second = (run_search(n, FEW_TYPES["tree"], split, ["accuracy"]) for n in names)
    scores = [first["accuracy"]["columns"][names[0]], second["accuracy"]["columns"][names[1]]]
    assert scores[0] != scores[1]
    assert scores[0] == pytest.approx(scores[1], abs=0.1)


def test_regression_runs(monkeypatch):
    types = {"k-NN": (KNeighborsRegressor(), {"n_neighbors": [1, 9]})}
    monkeypatch.setattr(regret, "model_types", lambda task, X: types)
    frame = regret_frame(run(REGRET, "regression-reporting-300", "diabetes"), "r2")
    assert (frame["regret"].dropna() >= 0).all()
    assert {"default", "mix-up", "10-fold CV"} <= set(frame["method"])


def test_augmenters_are_compared_by_their_validation_score(few_types, tmp_path):
    part = f"augmenters-{PART}"
    lines = run(AUGMENTER_COMPARISON, part, "breast_cancer")
    numeric, _ = augmenters_report({part: lines}, {}, tmp_path)[part]
    assert set(numeric.header) == {"model type", *AUGMENTERS}
    for line in lines:  # of a table with strings
        if line["key"]["search"] in ("Gaussian", "mixture and copula"):
            line["result"]["types"] = {}
    mixed, _ = augmenters_report({part: lines}, {}, tmp_path)[part]
    assert mixed.title == f"{part}, mixed, accuracy: regret in points"
    assert {"copula", "forest"} <= set(mixed.header)
    assert "Gaussian" not in mixed.header


# Power of the diagnostics


def check_lines(regrets, values):
    """Return lines in which a check's value goes with a regret, on several data sets."""
    return [
        {
            "key": {"data": f"set {number}", "split": split},
            "result": {
                "methods": {
                    "default": {
                        "k-NN": {
                            "regret": regrets[split % 2],
                            "checks": {"LZ03": [values[split % 2], "ok"]},
                        }
                    }
                }
            },
        }
        for number in range(4)
        for split in range(6)
    ]


def test_check_with_more_regret_has_power():
    [power] = check_power(check_lines((3.0, 1.0), (0.2, 1.0)), ["default"])
    assert (power.warning_share, power.difference) == (0.5, 2.0)
    assert power.low == power.high == 2.0


def test_check_that_never_warns_has_no_interval():
    [power] = check_power(check_lines((1.0, 1.0), (1.0, 1.0)), ["default"])
    assert np.isnan(power.low)
    never = {"LZ03": Thresholds(0.9, None, low_is_bad=True)}
    [power] = check_power(check_lines((3.0, 1.0), (0.2, 1.0)), ["default"], never)
    assert power.warning_share == 0.0
    assert check_power(check_lines((1.0, 1.0), (1.0, 1.0)), ["mix-up, LOO"]) == []


def test_diagnostics_run_has_regret_and_checks(few_types, tmp_path):
    study = DiagnosticsStudy("reporting-100", ("iris",), 1)
    result = study({"data": "iris", "split": 0})
    for found in result["methods"].values():
        assert set(found) == {*FEW_TYPES, "pool"}
        for one in found.values():
            assert one["regret"] >= 0.0
            assert {"LZ03", "LZ04", "LZ05", "LZ10"} <= one["checks"].keys()
    [table, *_] = diagnostics_power.report(
        {"reporting-100": [{"key": {"data": "iris"}, "result": result}]}, {}, tmp_path
    )["power"]
    assert table.header[0] == "check"
