"""The regret study and the power of the diagnostics."""

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from experiments import diagnostics_power, regret
from experiments.diagnostics_power import DiagnosticsStudy, check_power
from experiments.regret import AUGMENTER_METHODS, RegretStudy
from experiments.regret_data import HELD_OUT, PARTS, TUNING, make_split
from experiments.regret_methods import AUGMENTERS, MAIN_METHODS, METHODS, run_search
from experiments.regret_report import (
    difference,
    finalists_report,
    joined,
    loo_table,
    regret_frame,
    regret_tables,
    report,
)
from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero.diagnostics import Thresholds

FEW_TYPES = {
    "k-NN": (KNeighborsClassifier(), {"n_neighbors": [1, 9]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 20]}),
}
KEY = {"data": "iris", "split": 0}


@pytest.fixture
def few_types(monkeypatch):
    for module in (regret, diagnostics_power):
        monkeypatch.setattr(module, "model_types", lambda kind, X: FEW_TYPES)


def line(data, split=0, pool=None, **methods):
    scores = {"test": [0.5, 0.9, 0.7], **methods}
    types = {"tree": {"accuracy": scores}, "k-NN": {"accuracy": scores}}
    if pool is not None:
        types["pool"] = {"accuracy": pool}
    return {"key": {"data": data, "split": split}, "result": {"scores": types}}


def mean(frame, method, model_type, value="regret"):
    chosen = (frame["method"] == method) & (frame["model_type"] == model_type)
    return frame.loc[chosen, value].mean()


def test_regret_and_bias_in_points():
    frame = regret_frame([line("one", **{"mix-up": [0.1, 0.2, 0.8]})])
    for model_type in ("tree", "pool", "mean"):
        assert mean(frame, "mix-up", model_type) == pytest.approx(20)
        assert mean(frame, "mix-up", model_type, "bias") == pytest.approx(10)


def test_tied_candidates_have_equal_probability_and_missing_scores_none():
    frame = regret_frame([line("one", **{"mix-up": [0.8, 0.8, None]})])
    assert mean(frame, "mix-up", "tree") == pytest.approx(90 - 70)
    frame = regret_frame([line("one", **{"LOO score": [None] * 3})])
    assert np.isnan(mean(frame, "LOO score", "tree"))


def test_pool_of_the_default_has_scores_of_its_own():
    default = [0.9, 0.0, 0.0]
    without = regret_frame([line("one", default=default)])
    assert "default" not in set(without[without["model_type"] == "pool"]["method"])
    frame = regret_frame([line("one", pool={"default": [0, 1, 0, 0, 0, 0]}, default=default)])
    assert mean(frame, "default", "pool") == pytest.approx(0)
    assert mean(frame, "default", "tree") == pytest.approx(40)


def test_splits_are_averaged_before_data_sets():
    lines = [line("one", split, **{"mix-up": [1, 0, 0]}) for split in range(3)]
    frame = regret_frame([*lines, line("two", **{"mix-up": [0, 1, 0]})])
    assert mean(frame, "mix-up", "tree") == pytest.approx((40 + 0) / 2)


def test_intervals_of_differences_are_paired():
    lines = [
        line("one", **{"mix-up": [0, 1, 0], "5-fold CV": [0, 1, 0]}),
        line("two", **{"mix-up": [1, 0, 0], "5-fold CV": [0, 1, 0]}),
    ]
    middle, _, high = difference(regret_frame(lines), "mix-up", "5-fold CV", "tree")
    assert middle == pytest.approx(20)
    assert high - middle == pytest.approx(6.313752 * 20, rel=1e-5)  # t with one degree of freedom
    one = difference(regret_frame(lines[:1]), "mix-up", "5-fold CV", "tree")
    assert one[1:] == (-np.inf, np.inf)


def test_tables_name_runs_and_tuning_sets():
    methods = {"mix-up": [0.8, 0.6, 0], "5-fold CV": [0.6, 0.8, 0]}
    lines = [line(name, **methods) for name in ("iris", "wine")]
    regrets, differences, bias = regret_tables(lines, "held-out", "accuracy", {"glass": "no file"})
    assert regrets.rows[0] == ("mix-up", "40.00", "40.00", "40.00", "40.00")
    assert "Data sets that defaults were set on: iris." in regrets.notes[0]
    assert "glass: not available. no file" in regrets.notes
    assert differences.rows[0][1] == "+40.00 (+40.00 to +40.00)"
    assert bias.rows[1][1] == "-10.00"


def test_loo_and_cv_are_compared_on_the_same_candidates():
    scores = {"5-fold CV": [0.4, 0.8, 0.7], "10-fold CV": [0.5, 0.9, 0.7]}
    table = loo_table([line("iris", **scores, **{"LOO score": [None, 0.95, None]})], "held-out")
    assert table.rows[0] == ("k-NN", "1 of 3", "+5.00", "-10.00", "+0.00")


def test_halves_of_the_data_sets_share_no_rows():
    assert not set(TUNING) & set(HELD_OUT)
    assert {"heart", "clever"} <= set(HELD_OUT)


def test_method_lists_are_known():
    assert set(MAIN_METHODS) <= set(METHODS)
    assert {name for names in AUGMENTER_METHODS.values() for name in names} <= set(METHODS)


def test_columns_are_those_of_the_searches():
    """Default, validation and LOO score are columns of one search; test scores those of models."""
    split = make_split(PARTS["images"], "digits", 0)
    model_type = FEW_TYPES["k-NN"]
    found = run_search("default", model_type, split, ["accuracy"])
    search = GridSearchLZO(*model_type, random_state=0, scoring="accuracy").fit(split.X, split.y)
    for column in ("test", "validation", "loo"):
        expected = search.cv_results_[f"mean_{column}_score"]
        assert found.columns["accuracy"][column] == pytest.approx(expected)
    assert found.n_fits == 2
    models = [KNeighborsClassifier(**params) for params in ParameterGrid(model_type[1])]
    tested = [m.fit(split.X, split.y).score(split.X_test, split.y_test) for m in models]
    test = run_search("test", model_type, split, ["accuracy"]).columns["accuracy"]["test"]
    assert test == pytest.approx(tested)
    cross_validated = run_search("5-fold CV", model_type, split, ["accuracy"])
    assert cross_validated.n_fits == 11


def test_run_has_every_method_and_pools_of_its_own(few_types, tmp_path):
    study = RegretStudy("tuning", ("iris",), MAIN_METHODS, 1)
    result = study(KEY)
    scores = result["scores"]
    assert set(scores["k-NN"]) == {"accuracy", "balanced_accuracy", "neg_log_loss"}
    assert set(scores["k-NN"]["accuracy"]) == {"test", *MAIN_METHODS}
    assert scores["tree"]["accuracy"].get("LOO score", [None, None]) == [None, None]
    assert scores["k-NN"]["accuracy"]["resubstitution"][0] == 1.0
    split = make_split(PARTS["tuning"], "iris", 0)
    search = CandidateSearchLZO(FEW_TYPES, random_state=0).fit(split.X, split.y)
    expected = search.cv_results_["mean_test_score"]
    assert scores["pool"]["accuracy"]["default"] == pytest.approx(expected, abs=1e-6)
    pages = report({"tuning": [{"key": KEY, "result": result}]}, {}, tmp_path)
    assert pages["tuning"][-1].title == "tuning: cost of a search over one model type"
    assert dict(row[:2] for row in pages["tuning"][-1].rows)["5-fold CV"] == "5.50"


def test_finalists_are_joined_with_the_other_methods(few_types, tmp_path):
    finalists = RegretStudy("tuning", ("iris",), ("default", "default, 5 finalists"), 1)
    lines = [{"key": KEY, "result": finalists(KEY)}]
    scores = lines[0]["result"]["scores"]
    chosen = scores["k-NN"]["accuracy"]["default, 5 finalists"]
    assert any(score is not None for score in chosen)
    assert "default, 5 finalists" not in scores["k-NN"]["neg_log_loss"]
    other = RegretStudy("tuning", ("iris",), ("5-fold CV",), 1)
    both = joined(lines, [{"key": KEY, "result": other(KEY)}])
    frame = regret_frame(both)
    assert {"default", "default, 5 finalists", "5-fold CV"} <= set(frame["method"])
    assert [t.title for t in finalists_report({"finalists": lines}, {}, tmp_path)["finalists"]]


@pytest.mark.parametrize("name", ["mixture and copula", "mix-up, soft labels", "orthogonal"])
def test_augmenters_score_every_candidate(name):
    split = make_split(PARTS["tuning"], "iris", 0)
    found = run_search(name, FEW_TYPES["k-NN"], split, ["accuracy"])
    assert np.isfinite(found.columns["accuracy"]["test"]).all()
    assert name in AUGMENTERS


@pytest.mark.parametrize("part", ["regression", "text"])
def test_other_kinds_of_data_run(part, monkeypatch):
    whole = regret.model_types

    def first(kind, X):
        name, (estimator, grid) = next(iter(whole(kind, X).items()))
        return {name: (estimator, {key: values[:2] for key, values in grid.items()})}

    monkeypatch.setattr(regret, "model_types", first)
    data = {"regression": "diabetes", "text": "text"}[part]
    result = RegretStudy(part, (data,), ("default",), 1)({"data": data, "split": 0})
    [scores] = [found for name, found in result["scores"].items() if name != "pool"]
    assert set(next(iter(scores.values()))) == {"test", "default"}


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
    study = DiagnosticsStudy("tuning", ("iris",), 1)
    result = study(KEY)
    for found in result["methods"].values():
        assert set(found) == {*FEW_TYPES, "pool"}
        for one in found.values():
            assert one["regret"] >= 0.0
            assert {"LZ03", "LZ04", "LZ05", "LZ10"} <= one["checks"].keys()
    [table, *_] = diagnostics_power.report(
        {"tuning": [{"key": KEY, "result": result}]}, {}, tmp_path
    )["power"]
    assert table.header[0] == "check"
