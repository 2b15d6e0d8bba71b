"""Curated candidates, candidates of the user's own, and models in files."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from skops import io

from leavezero import __version__
from leavezero.tabular import (
    MODELS,
    TRUSTED,
    Column,
    Schema,
    Source,
    TableError,
    TableModel,
    candidates,
    check_table,
    decide_target,
    describe_columns,
    load_model,
    make_pipeline_for,
    named_augmenter,
    named_metric,
    other_versions,
    read_grid,
    save_model,
    versions,
    write_predictions,
)
from leavezero.tabular._named import refuse_augmenter

N = 60


def table(n_rows=N):
    rng = np.random.default_rng(0)
    words = ["red", "green", "blue", "old", "new", "big"]
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "count": rng.integers(0, 9, n_rows),
            "color": rng.choice(["red", "blue", None], n_rows).astype(object),
            "many": [f"c{at // 2}" for at in range(n_rows)],
            "day": [f"2024-01-{at % 28 + 1:02d}" for at in range(n_rows)],
            "note": [" ".join(rng.choice(words, 6)) + f" {at}" for at in range(n_rows)],
            "y": rng.choice(["=cmd()", "no"], n_rows),
            "price": rng.normal(size=n_rows),
        }
    )
    frame.loc[::5, "size"] = np.nan
    return frame


def parts(task="classification"):
    frame = table()
    target = decide_target(frame, "y" if task == "classification" else "price")
    features = frame.drop(columns=["y", "price"])
    schema = Schema(describe_columns(features))
    return features, schema, target


def fitted(name, task):
    features, schema, target = parts(task)
    pipeline, grid = candidates(schema, target, [name])[0][name]
    quick = {"n_estimators": 5, "max_iter": 50}
    known = pipeline[-1].get_params()
    pipeline[-1].set_params(**{key: value for key, value in quick.items() if key in known})
    pipeline.set_params(**{key: values[0] for key, values in grid.items()})
    X = schema.frame(features, learning=True)
    return TableModel(pipeline.fit(X, target.values), schema, target.name, task, versions())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", MODELS)
def test_every_curated_model_is_stored_and_used(name, task, tmp_path):
    """With all kinds of columns, unknown categories and gaps; no type asks for trust."""
    model = fitted(name, task)
    assert {column.kind for column in model.schema.columns} == {
        "number", "category", "date", "text",
    }  # fmt: skip
    new = table().iloc[:7].assign(color="violet", size=None, count=None, day="", note="", many="")
    assert save_model(model, tmp_path / "m.skops") == []
    again = load_model(tmp_path / "m.skops")
    pd.testing.assert_frame_equal(again.predict(new), model.predict(new))
    assert again.predict(new)["prediction"].notna().all()
    assert other_versions(again) is None


def test_large_tables_leave_out_slow_models_unless_they_are_named():
    """And it is said."""
    frame = pd.DataFrame({"a": np.arange(10_001) % 7 / 2, "y": np.arange(10_001) % 2})
    schema, target = Schema(describe_columns(frame[["a"]])), decide_target(frame, "y")
    found, notices = candidates(schema, target)
    assert "svm" not in found
    told = "svm is left out: it is slow beyond 10,000 rows. Name it in --models to have it tried."
    assert notices == [told]
    assert list(candidates(schema, target, ["svm"])[0]) == ["svm"]


def test_no_more_neighbors_than_rows():
    """A small table shortens the grid."""
    frame = pd.DataFrame({"a": np.arange(12) / 2, "y": [0, 1] * 6})
    schema, target = Schema(describe_columns(frame[["a"]])), decide_target(frame, "y")
    _, grid = candidates(schema, target, ["knn"])[0]["knn"]
    assert max(grid["model__n_neighbors"]) < 12


def test_unknown_names_are_refused():
    """Models, augmenters and metrics, each with what is near."""
    _, schema, target = parts()
    with pytest.raises(
        TableError, match=r"--models names 'lineer', which .* Did you mean 'linear'"
    ):
        candidates(schema, target, ["lineer"])
    with pytest.raises(
        TableError, match=r"--augmenter 'copulla' is unknown\. Did you mean 'copula'"
    ):
        named_augmenter("copulla")
    with pytest.raises(
        TableError, match=r"--metric 'acuracy' is unknown\. Did you mean 'accuracy'"
    ):
        named_metric("acuracy", target)


@pytest.mark.parametrize("name", ["gaussian", "gaussian-mixture", "portfolio"])
@pytest.mark.parametrize(
    ("cells", "what"),
    [
        ([1.5, None] * 10, "missing cells"),
        (["a", "b"] * 10, "categories"),
        (pd.date_range("2024-01-01", periods=20), "dates"),
        ([f"the cat sat on {at}" for at in range(20)], "text"),
    ],
)
def test_an_augmenter_of_numbers_refuses_other_cells(name, cells, what):
    """It says which column and which augmenter takes it."""
    frame = pd.DataFrame({"a": np.arange(20) / 2, "b": cells})
    schema = Schema(describe_columns(frame))
    told = f"--augmenter {name} takes complete numbers only, and column 'b' holds {what}. Use --au"
    with pytest.raises(TableError, match=told):
        refuse_augmenter(name, schema, schema.frame(frame, learning=True))
    refuse_augmenter("copula", schema, schema.frame(frame, learning=True))
    whole = Schema(describe_columns(frame[["a"]]))
    refuse_augmenter(name, whole, frame[["a"]])


def test_codes_of_categories_are_for_models_that_know_them():
    """A model that does not still takes gaps as they are."""
    frame = pd.DataFrame({"a": [1.5, None] * 10, "b": ["x", "y"] * 10})
    both, numbers = (Schema(describe_columns(one)) for one in (frame, frame[["a"]]))
    with pytest.raises(
        TableError, match=r'prepare = "native" is for models with categorical_features, which Extra'
    ):
        make_pipeline_for(both, ExtraTreesClassifier(), "native")
    assert make_pipeline_for(numbers, ExtraTreesClassifier(), "native").steps[-1][0] == "model"


def test_metrics_of_one_class_know_which():
    """The second in order, said aloud; with three classes there is none."""
    _, _, target = parts()
    name, scorer, notices = named_metric("f1", target)
    assert (name, notices) == ("f1", ["f1 looks for the class 'no'."])
    assert callable(scorer)
    three = decide_target(pd.DataFrame({"y": ["a", "b", "c"]}), "y")
    with pytest.raises(
        TableError, match=r"--metric f1 looks for one of two classes, and the targe"
    ):
        named_metric("f1", three)
    assert named_metric(None, three)[:2] == ("accuracy", "accuracy")


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("r2", ["a", "b"] * 9, "--metric r2 does not suit a classification: .* Use accuracy, "),
        ("roc_auc", ["a", "b", "c"] * 9, "--metric roc_auc does not suit a classification: "),
        ("accuracy", np.arange(20) / 3, "--metric accuracy does not suit a regression: .* Use r2 "),
        ("roc_auc", np.arange(20) / 3, "--metric roc_auc does not suit a regression: "),
    ],
)
def test_a_metric_that_does_not_suit_the_target_is_refused(name, values, told):
    """Before a fit, with the metric's own reason."""
    target = decide_target(pd.DataFrame({"y": values}), "y")
    with pytest.raises(TableError, match=told):
        named_metric(name, target)


def test_candidates_from_a_file(tmp_path):
    """A curated model with another grid, and a stranger."""
    path = tmp_path / "grid.toml"
    path.write_text(
        "[linear]\ngrid = {C = [1, 2]}\nparams = {max_iter = 7}\n"
        '[mine]\nestimator = "sklearn.ensemble.ExtraTreesClassifier"\nprepare = "plain"\n'
        "params = {n_estimators = 3}\ngrid = {max_depth = [2]}\n"
    )
    _, schema, target = parts()
    found, _ = candidates(schema, target, None, read_grid(path, "classification"))
    assert list(found) == ["linear", "mine"]
    assert found["linear"][0][-1].max_iter == 7
    assert found["linear"][1] == {"model__C": [1, 2]}
    assert isinstance(found["mine"][0][-1], ExtraTreesClassifier)
    both, _ = candidates(schema, target, ["tree"], read_grid(path, "classification"))
    assert list(both) == ["linear", "mine", "tree"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", r"names no candidate\. Write \[linear\] and a line grid"),
        ("[", r"is no TOML: "),
        ("linear = 1", r"'linear' in .* must be a table\. Write \[linear\] above its lines\."),
        (
            "[linear]\ngird = {}",
            r"\[linear\] in .* has an unknown key 'gird'\. Did you mean 'grid'",
        ),
        (
            "[linear]\ngrid = {CC = [1]}",
            r"grid of \[linear\] in .* names 'CC', which is no parameter of LogisticRegression\. "
            r"Did you mean 'C'\?",
        ),
        (
            "[linear]\nparams = {CC = 1}",
            r"The estimator of \[linear\] in .* cannot be made: Invalid parameter 'CC'",
        ),
        (
            "[linear]\ngrid = {C = 1}",
            r"grid of \[linear\] in .* must give a list for each paramete",
        ),
        ("[mine]\n", r"\[mine\] in .* is no curated model and names no estimator\. Add a line su"),
        (
            '[m]\nestimator = "nowhere.X"',
            r"estimator of \[m\] in .* must be the address of a class",
        ),
        (
            '[m]\nestimator = "sklearn.svm.SVR"',
            r"of \[m\] in .* does no classification\. Name anoth",
        ),
        (
            '[m]\nestimator = "sklearn.svm.SVC"\nparams = {c = 1}',
            r"of \[m\] in .* cannot be made: ",
        ),
        (
            '[m]\nestimator = "sklearn.svm.SVC"\nprepare = "x"',
            r"prepare of \[m\] in .* must be one",
        ),
    ],
)
def test_a_file_of_candidates_that_will_not_do(tmp_path, text, told):
    """Which line, and what to write instead."""
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(TableError, match=told):
        read_grid(path, "classification")
    with pytest.raises(TableError, match=r"There is no file '.*', which --grid names\."):
        read_grid(tmp_path / "none.toml", "classification")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.skops"
    save_model(fitted("bayes", "classification"), path)
    return path


def test_skops_alone_reads_the_pipeline(stored):
    """The page of JSON beside it does not stand in its way."""
    pipeline = io.load(stored, trusted=TRUSTED)
    assert pipeline.steps[-1][0] == "model"


def changed(stored, folder, **about):
    """Return a copy of a model whose page of JSON says something else."""
    path = folder / "changed.skops"
    with zipfile.ZipFile(stored) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "leavezero.json":
                data = json.dumps(json.loads(data) | about)
            new.writestr(name, data)
    return path


def test_a_file_that_is_no_model_is_refused(tmp_path):
    """Empty, junk, or what skops wrote for somebody else."""
    path = tmp_path / "m.skops"
    with pytest.raises(
        TableError, match=r"There is no file '.*m\.skops'\. Give the model\.skops th"
    ):
        load_model(path)
    path.touch()
    with pytest.raises(
        TableError, match=r"is empty: no model was written to it\. Run select again"
    ):
        load_model(path)
    path.write_bytes(b"junk")
    with pytest.raises(
        TableError, match=r"is no model that select wrote\. Give a model\.skops from"
    ):
        load_model(path)
    io.dump(LogisticRegression(), path)
    with pytest.raises(TableError, match=r"is no model that select wrote\."):
        load_model(path)


def test_a_model_of_another_version_names_both(stored, tmp_path):
    """A notice while the format is known, a refusal where it is not."""
    there = {"leavezero": "9.9", "scikit-learn": "0.1"}
    told = other_versions(load_model(changed(stored, tmp_path, versions=there)))
    assert told.startswith("The model was made with leavezero 9.9 and scikit-learn 0.1, here is")
    assert f"leavezero {__version__} and scikit-learn" in told
    other = changed(stored, tmp_path, versions=there, format=2)
    told = rf"has format 2 and was made with leavezero 9\.9 .* here is leavezero {__version__}"
    with pytest.raises(TableError, match=told):
        load_model(other)


def test_a_damaged_model_names_both_versions(stored, tmp_path):
    """What skops cannot read is no traceback."""
    path = tmp_path / "m.skops"
    with zipfile.ZipFile(stored) as old, zipfile.ZipFile(path, "w") as new:
        new.writestr("leavezero.json", old.read("leavezero.json"))
    with pytest.raises(
        TableError, match=r"cannot be loaded\. It was made with leavezero .* here i"
    ):
        load_model(path)


def test_types_that_nobody_named_are_not_made(tmp_path):
    """They are listed, and made where the user trusts them by name."""
    path = tmp_path / "m.skops"
    pipeline = make_pipeline(FunctionTransformer(np.linalg.det), LogisticRegression())
    model = TableModel(pipeline, Schema(()), "y", "classification", versions())
    to_trust = save_model(model, path)
    assert len(to_trust) == 1
    told = rf"holds types that curated models do not have: '.*det'\. .* add --trust {to_trust[0]}"
    with pytest.raises(TableError, match=told):
        load_model(path)
    assert load_model(path, to_trust).target == "y"


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("given", ["csv", "parquet"])
def test_predictions_do_not_depend_on_blocks_or_formats(stored, tmp_path, suffix, given):
    """Each row has the model's word beside its own cells."""
    model, frame = load_model(stored), table()
    frame.loc[0, "many"] = "007"
    path = tmp_path / f"new.{given}"
    frame.to_csv(path, index=False) if given == "csv" else frame.to_parquet(path)
    out = tmp_path / f"out{suffix}"
    heard = []
    n_rows = write_predictions(model, Source.of(path), out, n_rows=25, watch=heard.append)
    assert (n_rows, heard) == (N, [25, 50, 60])
    found = Source.of(out).read()
    expected = model.predict(frame)
    assert found.columns.tolist() == [*frame.columns, *model.new_columns]
    assert found["prediction"].tolist() == expected["prediction"].tolist()
    assert np.allclose(found["probability_no"], expected["probability_no"])
    assert found["many"].iloc[0] == "007"
    assert set(tmp_path.iterdir()) == {path, out}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predictions_pass_on_whole_numbers_beside_a_gap(tmp_path, suffix):
    """With all their digits, and not as floats."""
    ids = [1234567890123456789, None, 1]
    frame = pd.DataFrame({"id": pd.array(ids, dtype="Int64"), "a": pd.array([1, 2, None], "Int8")})
    frame.to_parquet(tmp_path / "new.parquet")
    schema = Schema((Column("a", "number", "int64"),))
    model = TableModel(
        make_pipeline(SimpleImputer(), Ridge()).fit(pd.DataFrame({"a": [0.0, 4.0]}), [0, 8]),
        schema,
        "y",
        "regression",
        {},
    )
    out = tmp_path / f"out{suffix}"
    assert write_predictions(model, Source.of(tmp_path / "new.parquet"), out) == 3
    (block,) = Source.of(out).blocks()
    expected = [str(ids[0]), "", "1"] if suffix == ".csv" else [ids[0], pd.NA, 1]
    assert block["id"].tolist() == expected


def test_a_table_for_predictions_is_looked_at_first(stored, tmp_path):
    """Unknown columns are told, labels like formulas too, missing ones refused."""
    model, path = load_model(stored), tmp_path / "new.csv"
    table().assign(extra=1).to_csv(path, index=False)
    unknown, formula = check_table(model, Source.of(path))
    told = "2 columns that the model does not know are passed on and not read: 'price', 'extra'."
    assert unknown == told
    assert formula.startswith(
        "A spreadsheet would run '=cmd()' as a formula; labels are written as"
    )
    table().drop(columns="size").rename(columns={"color": "colour"}).to_csv(path, index=False)
    with pytest.raises(
        TableError, match=r"The table lacks 2 columns that the model reads: 'size', "
    ):
        check_table(model, Source.of(path))
    table().assign(prediction=1).to_csv(path, index=False)
    with pytest.raises(TableError, match=r"has already 1 column that would be added: 'prediction'"):
        check_table(model, Source.of(path))


def test_where_predictions_cannot_go(stored, tmp_path):
    """Another suffix, the table itself, a folder that is not there, a table without rows."""
    model, path = load_model(stored), tmp_path / "new.csv"
    table().to_csv(path, index=False)
    source = Source.of(path)
    for out, told in (
        (tmp_path / "a.xls", r"--out must end in \.csv, \.tsv, \.parquet, got '.*a\.xls'\."),
        (path, r"--out is the table itself\. Give the predictions a name of their own\."),
        (tmp_path / "no" / "a.csv", r"There is no folder '.*no' for --out\. Make it first\."),
    ):
        with pytest.raises(TableError, match=told):
            write_predictions(model, source, out)
    table(0).to_csv(path, index=False)
    with pytest.raises(TableError, match=r"has names and no rows\. Give a table with rows\."):
        write_predictions(model, Source.of(path), tmp_path / "a.csv")
    assert set(tmp_path.iterdir()) == {path}


def test_ten_thousand_categories_become_few_columns():
    """Rare ones share one, and what was never seen joins them."""
    words = [f"c{at}" for at in range(10_000)] * 2 + ["often"] * 5_000
    frame = pd.DataFrame({"word": words, "y": np.arange(len(words)) % 2})
    schema, target = Schema(describe_columns(frame[["word"]])), decide_target(frame, "y")
    found, _ = candidates(schema, target, ["tree", "boosting"])
    for name, most in (("tree", 40), ("boosting", 1)):
        prepare = found[name][0][0].fit(schema.frame(frame))
        made = prepare.transform(pd.DataFrame({"word": ["often", "c7", "never seen"]}))
        assert made.shape[1] <= most
        assert (made[0] != made[1]).any()
