"""Decisions before the first fit: target, task, columns, metric and models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from leavezero.cli._model_specs import MODELS, build_candidates, read_grid_file
from leavezero.cli._output import TableError
from leavezero.cli._prepare_table import TableOptions, find_metric, find_target, prepare_table

N = 30
RNG = np.random.default_rng(0)


def target(values, task=None):
    return find_target(pd.Series(values, name="y"), task)


@pytest.mark.parametrize(
    ("values", "task", "reason"),
    [
        (["a", "b"] * 10, "classification", "strings"),
        ([True, False] * 10, "classification", "booleans"),
        ([1, 2, 3, 4] * 5, "classification", "4 different whole numbers"),
        ([1.0, 2.0] * 10, "classification", "2 different whole numbers"),
        (list(range(30)), "regression", "30 different whole numbers"),
        ([0.5, 1.0] * 10, "regression", "not all whole"),
    ],
)
def test_the_task_follows_from_the_values(values, task, reason):
    found = target(values)
    assert found.task == task
    assert reason in found.reason
    other = {"classification": "regression", "regression": "classification"}[task]
    if not isinstance(values[0], str | bool) and len(set(values)) < 10:
        assert target(values, other).task == other


def test_labels_are_returned_as_written():
    assert target([" a", "b "] * 10).classes == ["a", "b"]
    assert target([2, 1] * 10).classes == [1, 2]
    assert target([0.5, 1.0] * 10, "classification").classes == ["0.5", "1.0"]
    assert target(["a", "b", None, "?", "NA"] * 10).known.sum() == 20


@pytest.mark.parametrize(
    ("values", "task", "message"),
    [
        (["a", "b"], None, "at least 10 rows"),
        (["a"] * 20, None, "1 different"),
        ([None] * 20, None, "0 values"),
        ([f"2024-01-{day:02}" for day in range(1, 21)], None, "holds dates"),
        (["a", "b"] * 10, "regression", "finite numbers; 'y' has 'a'"),
        ([np.inf, 1.0] * 10, "regression", "finite numbers"),
        ([f"k{at}" for at in range(90)], None, "90 classes in 90 rows"),
        (["a", "b"] * 10, "ranking", "--task must be"),
    ],
)
def test_unusable_targets_are_explained(values, task, message):
    with pytest.raises(TableError, match=message):
        target(values, task)


def test_dates_may_be_classes_if_the_user_asks():
    assert target(["2024-01-01", "2024-02-01"] * 10, "classification").task == "classification"


def test_metrics_are_checked_against_the_target():
    two, three, number = target(["a", "b"] * 9), target(["a", "b", "c"] * 9), target([0.5, 1] * 9)
    assert find_metric(None, two)[0] == "accuracy"
    assert find_metric(None, number)[0] == "r2"
    assert find_metric("f1", two)[2] == ["The positive class of f1 is 'b'."]
    for name, values in (("f1", three), ("r2", two), ("accuracy", number), ("f2", two)):
        with pytest.raises(TableError, match=f"--metric.*{name}"):
            find_metric(name, values)


def write(tmp_path, **columns):
    path = tmp_path / "a.csv"
    frame = pd.DataFrame({"x": RNG.normal(size=N), "y": ["p", "q"] * (N // 2), **columns})
    frame.to_csv(path, index=False)
    return path


def test_columns_that_identify_rows_or_are_constant_are_dropped(tmp_path):
    path = write(
        tmp_path,
        number=RNG.permutation(N) + 5,
        customer_id=RNG.choice(10**6, N, replace=False),
        key=[f"k{at}" for at in range(N)],
        day=[f"{at + 1}/06/2024" for at in range(N)],
        text=[f"row number {at} is long" for at in range(N)],
        amount=RNG.choice(10**6, N, replace=False),
        one=7,
        gone=None,
        color=["red", "N/A", "blue"] * (N // 3),
    )
    found = prepare_table(TableOptions(path, "y", drop=("x",), models=("bayes",)))
    assert set(found.dropped) == {"x", "number", "customer_id", "key", "one", "gone"}
    kinds = found.X.dtypes.astype(str).to_dict()
    assert list(kinds) == ["day", "text", "amount", "color"]
    assert kinds["day"].startswith("datetime64")
    assert found.X["color"].isna().sum() == N // 3
    kept = prepare_table(TableOptions(path, "y", keep=("key", "number"), models=("bayes",)))
    assert {"key", "number"} <= set(kept.X.columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "Y"}, "--target must be a column of the table, got 'Y'. Did you mean 'y'"),
        ({"target": "y", "keep": ("z9",)}, "--keep must be a column"),
        ({"target": "y", "drop": ("y",)}, "--drop must be a column"),
        ({"target": "y", "drop": ("x",)}, "No column is left to predict 'y' from: 'x': named by"),
        ({"target": "y", "models": ("magic",)}, "--models must name models, got 'magic'. Avail"),
    ],
)
def test_wrong_options_are_explained(options, message, tmp_path):
    with pytest.raises(TableError, match=message):
        prepare_table(TableOptions(write(tmp_path), **options))


# scikit-learn 1.6 warns so for every LightGBM that predicts an array.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("task", list(MODELS))
def test_every_model_can_be_fitted_to_every_kind_of_column(task):
    """Also to column names that LightGBM rejects."""
    X = pd.DataFrame(
        {
            "[x]": RNG.normal(size=N),
            '"c"': RNG.choice(["a", "b", None], N),
            "d:": pd.date_range("2024-01-01", periods=N),
        }
    )
    X.loc[3, "[x]"] = np.nan
    y = np.arange(N) % 2 if task == "classification" else RNG.normal(size=N)
    candidates, _ = build_candidates(X, task, y)
    assert {"linear", "boosting", "lightgbm", "baseline"} <= set(candidates)
    for pipeline, grid in candidates.values():
        first = {name: values[0] for name, values in grid.items()}
        assert len(pipeline.set_params(**first).fit(X, y).predict(X)) == N
    assert max(candidates["knn"][1]["model__n_neighbors"]) < N


def test_linear_models_do_not_extrapolate_to_new_categories():
    rng = np.random.default_rng(0)
    numbers = rng.integers(70, size=1_000)
    price = rng.gamma(2, size=70)[numbers]
    codes = [f"z958{number:02d}" for number in numbers]
    X = pd.DataFrame({"code": codes, "size": rng.normal(size=1_000)})
    X.loc[:3, "code"] = ["z95901", "z95902", "z95903", None]  # seen once, and a gap
    candidates, _ = build_candidates(X, "regression", price, models=["linear"])
    model = candidates["linear"][0].set_params(model__alpha=0.01).fit(X, price)
    new = pd.DataFrame({"code": ["z95864", "Z 1", "a b c", None], "size": 0.0})
    assert ((price.min() <= model.predict(new)) & (model.predict(new) <= price.max())).all()
    assert r2_score(price, model.predict(X)) > 0.99


def test_slow_models_are_left_out_of_large_tables_unless_named():
    X = pd.DataFrame({"x": np.zeros(10_001)})
    candidates, notices = build_candidates(X, "classification", np.zeros(10_001))
    assert "svm" not in candidates
    assert (
        "svm is left out, because it takes much time and memory with more than 5,000 rows."
        in notices[0]
    )
    assert "svm" in build_candidates(X, "classification", np.zeros(10_001), models=["svm"])[0]


def test_a_grid_file_replaces_grids_and_adds_models(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(
        "[linear]\ngrid = {C = [0.5]}\n"
        '[extra]\nestimator = "sklearn.ensemble.ExtraTreesClassifier"\n'
        'params = {n_estimators = 5}\ngrid = {max_features = ["sqrt", 0.5]}\n'
    )
    own = read_grid_file(path, "classification")
    X = pd.DataFrame({"x": np.zeros(N)})
    candidates, _ = build_candidates(X, "classification", np.zeros(N), own=own)
    assert list(candidates) == ["baseline", "linear", "extra"]
    assert candidates["linear"][1] == {"model__C": [0.5]}
    assert candidates["extra"][0][-1].n_estimators == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "is not valid TOML"),
        ("", "names no model"),
        ("linear = 3", "must be a table"),
        ("[linear]\ncolor = 1", "must be a table of estimator, grid, params"),
        ("[linear]\ngrid = {C = 1}", "must have a list"),
        ("[magic]\ngrid = {}", "requires an estimator"),
        ('[a]\nestimator = "sklearn.Nothing"', "must be the import path of a"),
        ('[a]\nestimator = "sklearn.svm.SVR"', "cannot do classification"),
        ('[a]\nestimator = "math.sqrt"', "cannot be created"),
        ('[a]\nestimator = "sys.exit"', "sys.exit is not a class"),
        ("[linear]\ngrid = {alpha = [1]}", "Invalid parameter 'alpha'"),
        ("[linear]\nparams = 5", "cannot be created"),
        (f"[linear]\ngrid = {{C = {'[' * 5000}{']' * 5000}}}", "is not valid TOML"),
        (f"a{'.a' * 5000} = 1", "must be a table of estimator, grid, params"),
        (f"[linear]\ngrid = {{C = [{'9' * 5000}]}}", "is not valid TOML"),
    ],
)
def test_a_wrong_grid_file_is_explained(text, message, tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(TableError, match=message):
        read_grid_file(path, "classification")
    with pytest.raises(TableError, match="cannot be read"):
        read_grid_file(tmp_path / "none.toml", "classification")


def test_decimal_commas_are_recognized(tmp_path):
    """But not 1,500, which may be a thousand and a half, and not lists of codes."""
    rows = [f"{at},{at % 7}5;{at},500;{at},a;{at % 2}" for at in range(30)]
    (tmp_path / "a.csv").write_text("\n".join(["x;thousands;codes;y", *rows]))
    found = prepare_table(TableOptions(tmp_path / "a.csv", "y", keep=("x", "thousands", "codes")))
    message = "Numbers with a decimal comma are read as strings: 'x'. Add --decimal ,"
    assert message in found.notices
    with pytest.raises(TableError, match="with a decimal comma"):
        prepare_table(TableOptions(tmp_path / "a.csv", "x"))
    read = prepare_table(TableOptions(tmp_path / "a.csv", "x", decimal=",", keep=("codes",)))
    assert read.target.task == "regression"
    assert message not in read.notices
