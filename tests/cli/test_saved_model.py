"""Predictions of a saved model for a table, from the command line."""

import io
import json
import zipfile
from functools import partialmethod

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from leavezero.cli._commands import app
from leavezero.cli._output import TableError, escape_formulas
from leavezero.cli._read_table import TableFile
from leavezero.cli._saved_model import TableModel, load_model, save_model

runner = CliRunner()
N = 60


def table(n_rows=N):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n_rows).round(3),
            "color": rng.choice(["red", "blue", None], n_rows),
            "kind": np.where(np.arange(n_rows) % 2 == 0, "=a", "b"),
        }
    )


def predict(model, path, *words):
    return runner.invoke(app, ["predict", str(model), str(path), *map(str, words)])


@pytest.fixture(scope="module")
def model(tmp_path_factory, save_model_of):
    """Save a model that several tests use."""
    directory = tmp_path_factory.mktemp("model")
    table().to_csv(directory / "a.csv", index=False)
    return save_model_of(directory / "a.csv", "kind", "tree")


def test_predictions_are_added_and_other_cells_are_kept_as_written(model, tmp_path):
    """Other order of columns, unknown categories, cells that are not numbers."""
    path, out = tmp_path / "new.csv", tmp_path / "out.csv"
    path.write_text("id;color;x\n007;green;1,50\n008;;oops\n009;red;NA\n")
    result = predict(model, path, "--out", out, "--decimal", ",", "--proba")
    assert result.exit_code == 0, result.output
    assert "Columns that the model does not use: 'id'." in result.stderr
    assert "1 cell of column 'x' cannot be read as number; treated as missing." in result.stderr
    unknown = "1 cell of column 'color' with a category that the training data do not have."
    assert unknown in result.stderr
    assert "3 rows with prediction, probability_=a, probability_b written to" in result.stdout
    found = pd.read_csv(out, sep=";", decimal=",", dtype={"id": str, "x": str})
    assert found["id"].tolist() == ["007", "008", "009"]
    assert found["x"].iloc[0] == "1,50"
    assert set(found["prediction"]) <= {"'=a", "b"}  # no spreadsheet evaluates it
    assert np.allclose(found.filter(like="probability_").sum(axis=1), 1)


def test_terms_of_text_columns_are_saved_as_one_text(tmp_path, save_model_of):
    """And not as one object per term, so that models of long texts load fast."""
    rng = np.random.default_rng(0)
    words = ["red", "green", "blue", "\N{SLIGHTLY SMILING FACE}\x00", "a-b", "'\"'", "old", "="]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(N)]
    table().assign(color=texts).to_parquet(tmp_path / "a.parquet")
    path = save_model_of(tmp_path / "a.parquet", "kind", "tree")
    columns = load_model(path).pipeline.named_steps["columns"]
    vectorizer = columns.named_transformers_["vectorize"].transformers_["color"].vectorizer_
    fitted = CountVectorizer(analyzer="char_wb", ngram_range=(3, 4)).fit(texts)
    assert dict(vectorizer.vocabulary_) == fitted.vocabulary_
    assert '"old": {' not in zipfile.ZipFile(path).read("schema.json").decode()


def test_formats_agree(model, tmp_path, monkeypatch):
    """The same predictions for CSV, TSV and Parquet, in default and given files."""
    monkeypatch.chdir(tmp_path)
    new = table().drop(columns="kind")
    new.to_csv("a.csv", index=False)
    new.to_parquet("a.parquet")
    assert json.loads(predict(model, "a.csv", "--json").stdout)["out"] == "a-predictions.csv"
    quiet = predict(model, "a.parquet", "--quiet")
    assert (quiet.exit_code, quiet.output.strip()) == (0, "")
    assert predict(model, "a.parquet", "--out", "b.tsv").exit_code == 0
    first, second = pd.read_csv("a-predictions.csv"), pd.read_parquet("a-predictions.parquet")
    third = pd.read_csv("b.tsv", sep="\t")
    assert len(first) == N
    assert [name.lstrip("'") for name in first["prediction"]] == second["prediction"].tolist()
    assert first["prediction"].tolist() == third["prediction"].tolist()


def test_a_threshold_moves_predictions_to_the_second_class(model, tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    shares = []
    for threshold in (0, 0.5, 1.0):
        words = ("--threshold", threshold, "--proba", "--out", "-")
        result = predict(model, tmp_path / "a.csv", *words)
        assert result.exit_code == 0, result.output
        found = pd.read_csv(io.StringIO(result.stdout))
        predicted = found["prediction"] == "b"
        assert (predicted == (found["probability_b"] >= threshold)).all()
        shares.append(predicted.mean())
    assert shares[0] == 1
    assert shares[1] < 1


def test_drifted_columns_are_named_with_counts(model, tmp_path):
    new = table()
    new.to_csv(tmp_path / "same.csv", index=False)
    assert "drifted" not in predict(model, tmp_path / "same.csv", "--out", "-").stderr
    new.assign(x=new["x"] + 5).to_csv(tmp_path / "other.csv", index=False)
    shifted = predict(model, tmp_path / "other.csv", "--out", "-").stderr
    assert "Column 'x' has drifted: 60 of 60 values are outside the middle 80 %" in shifted


def test_formulas_are_escaped_and_signed_numbers_are_not():
    cells = ["=cmd()", "@x", "+a", "-1.5", "+3", "-2e-5", "5", "-", "a=b", 7, None]
    expected = ["'=cmd()", "'@x", "'+a", "-1.5", "+3", "-2e-5", "5", "-", "a=b", 7, None]
    found = escape_formulas(pd.DataFrame({"=x": pd.Series(cells, dtype=object)}))
    assert found["'=x"].tolist() == expected


def test_blocks_with_gaps_are_written_to_one_file(model, tmp_path, monkeypatch):
    """A column without values in the first block, and integers with gaps in the second."""
    monkeypatch.setattr(TableFile, "blocks", partialmethod(TableFile.blocks, n_rows=6))
    new = table(12).drop(columns="kind").assign(id=pd.Series([*range(11), None], dtype="Int64"))
    new["note"] = [None] * 6 + ["a"] * 6
    new.to_parquet(tmp_path / "a.parquet")
    result = predict(model, tmp_path / "a.parquet", "--out", tmp_path / "b.parquet")
    assert result.exit_code == 0, result.output
    found = pd.read_parquet(tmp_path / "b.parquet")
    assert found["id"].tolist()[:11] == list(range(11))
    assert found["note"].tolist()[6:] == ["a"] * 6


def test_a_model_of_another_version_or_source_is_not_used_silently(model, tmp_path):
    new, path = tmp_path / "new.csv", tmp_path / "m.skops"
    table(12).to_csv(new, index=False)

    def rewrite(**changes):
        with zipfile.ZipFile(model) as old, zipfile.ZipFile(path, "w") as made:
            for name in old.namelist():
                content = old.read(name)
                if name == "leavezero.json":
                    content = json.dumps(json.loads(content) | changes)
                if name == "schema.json" and "schema" in changes:
                    content = content.replace(b"DecisionTreeClassifier", b"ExtraTreeClassifier")
                    content = content.replace(b"sklearn.tree._classes", b"elsewhere")
                made.writestr(name, content)
        return predict(path, new, "--out", tmp_path / "out.csv")

    other = rewrite(versions={"leavezero": "0.0"})
    assert other.exit_code == 0, other.output
    assert (
        "The model was saved with leavezero 0.0, scikit-learn ?, skrub ?; installed" in other.stderr
    )
    for wrong in (
        *({"format": 1}, {"versions": 3}, {"columns": 5}, {"columns": {"x": "path"}}),
        *({"target": [1]}, {"task": None}, {"profile": 3}, {"source": "a"}),
    ):
        assert rewrite(**wrong).exit_code == 2, wrong
    foreign = rewrite(schema=True)
    assert foreign.exit_code == 2
    assert "contains types that built-in models do not have: 'elsewhere." in foreign.stderr
    assert "add --trusted elsewhere." in foreign.stderr
    path.write_bytes(model.read_bytes()[:-100])
    assert predict(path, new).exit_code == 2


def test_a_model_that_opens_cells_as_files_is_refused(tmp_path):
    texts = [str(tmp_path / "a.txt")] * 4
    (tmp_path / "a.txt").write_text("some words")
    pipeline = make_pipeline(CountVectorizer(input="filename"), DecisionTreeClassifier())
    pipeline.fit(texts, [0, 1, 0, 1])
    model = TableModel(pipeline, "y", "classification", {"x": "string"}, {}, {}, {})
    save_model(model, tmp_path / "m.skops")
    with pytest.raises(TableError, match="input='filename' would open the cells of a table"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize(
    ("name", "text", "words", "message"),
    [
        ("new.csv", "x\n1\n", [], "does not have: 'color'"),
        ("new.csv", "x,color,prediction\n1,a,b\n", [], "already has columns 'prediction'"),
        ("new.csv", "x,color\n", [], "no rows"),
        ("new.csv", "x,color\n1,a\n", ["--threshold", "2"], "--threshold must be between 0 and 1"),
        ("new.csv", "x,color\n1,a\n", ["--out", "a.xls"], "--out must end in .csv, .tsv, .parquet"),
        ("new.csv", "x,color\n1,a\n", ["--out", "new.csv"], "--out must differ from the table"),
        ("new.csv", "x,color\n1,a\n", ["--out", "no/a.csv"], "The directory of --out"),
    ],
)
def test_wrong_tables_are_explained(name, text, words, message, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    result = predict(model, name, *words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("content", [None, b"", b"text"])
def test_wrong_models_are_explained(content, tmp_path):
    if content is not None:
        (tmp_path / "m.skops").write_bytes(content)
    result = predict(tmp_path / "m.skops", "a.csv")
    assert result.exit_code == 2
    assert "written by select" in result.stderr


def test_a_model_whose_parts_have_a_false_size_is_refused(model, tmp_path):
    """It would be unpacked to any size."""
    content = bytearray(model.read_bytes())
    at = content.index(b"PK\x01\x02") + 24
    for size in (10, 2**31):
        content[at : at + 4] = size.to_bytes(4, "little")
        (tmp_path / "model.skops").write_bytes(content)
        with pytest.raises(TableError, match="written by select"):
            load_model(tmp_path / "model.skops")
