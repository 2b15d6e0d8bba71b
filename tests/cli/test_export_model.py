"""A saved model as code and as ONNX."""

import json
import runpy

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from leavezero.cli._commands import app
from leavezero.cli._read_table import to_features
from leavezero.cli._saved_model import load_model

runner = CliRunner()
RNG = np.random.default_rng(0)
N = 80


def call(*words):
    return runner.invoke(app, list(map(str, words)))


def table():
    x = RNG.normal(size=N)
    return pd.DataFrame(
        {
            "x; y": x,
            "color": RNG.choice(["red", "blue", None], N),
            "flag": RNG.choice([True, False], N),
            "day": pd.date_range("2024-01-01", periods=N).strftime("%d/%m/%Y"),
            "kind": np.where(x + 0.5 * RNG.normal(size=N) > 0, " yes", "no"),
            "amount": 3 * x + RNG.normal(size=N),
        }
    )


@pytest.mark.parametrize(("target", "name"), [("kind", "boosting"), ("amount", "linear")])
def test_the_script_fits_the_same_model(target, name, tmp_path, monkeypatch, save_model_of):
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame.to_csv("a.csv", index=False, sep=";")
    model = save_model_of(tmp_path / "a.csv", target, name)
    result = call("export", model, "--out", "model.py")
    assert result.exit_code == 0, result.output
    fitted = runpy.run_path("model.py")
    loaded = load_model(model)
    X = to_features(pd.read_csv("a.csv", sep=";"), loaded.columns)
    expected = loaded.predict(X)["prediction"].to_numpy()
    found = fitted["model"].predict(fitted["X"])
    assert (found == expected).all() if target == "kind" else np.allclose(found, expected)


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".jsonl", ".sqlite"])
def test_the_script_reads_every_format(suffix, tmp_path, monkeypatch, save_model_of):
    import sqlite3
    from contextlib import closing

    monkeypatch.chdir(tmp_path)
    frame, path = table(), tmp_path / f"a{suffix}"
    if suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as database:
            frame.to_sql("t", database, index=False)
        path = tmp_path / "a.sqlite::t"
    elif suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        getattr(frame, {".parquet": "to_parquet", ".feather": "to_feather"}[suffix])(path)
    model = save_model_of(path, "kind", "bayes", drop=("day",))
    assert call("export", model, "--out", "model.py").exit_code == 0
    assert len(runpy.run_path("model.py")["X"]) == N


def test_the_notebook_has_the_code_as_cells(tmp_path, monkeypatch, save_model_of):
    monkeypatch.chdir(tmp_path)
    table().to_csv("a.csv", index=False)
    model = save_model_of(tmp_path / "a.csv", "kind", "bayes")
    assert call("export", model, "--out", "model.ipynb").exit_code == 0
    notebook = json.loads((tmp_path / "model.ipynb").read_text())
    assert notebook["nbformat"] == 4
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(cell["source"], names)
    assert len(names["model"].predict(names["X"])) == N


@pytest.mark.parametrize("name", ["forest", "linear", "knn"])
def test_onnx_predicts_the_same(name, tmp_path, save_model_of):
    """Also with columns that skrub scales by their range, or not at all."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc")).assign(d=np.arange(N) % 9 == 0)
    X = X.astype(float)
    X.assign(y=np.where(X["a"] > 0, "u", "v")).to_csv(tmp_path / "a.csv", index=False)
    model = save_model_of(tmp_path / "a.csv", "y", name)
    result = call("export", model, "--out", tmp_path / "model.onnx")
    assert result.exit_code == 0, result.output
    session = runtime.InferenceSession((tmp_path / "model.onnx").read_bytes())
    labels, probabilities = session.run(None, {"X": X.to_numpy(np.float32)})
    expected = load_model(model).predict(X, proba=True)
    assert np.mean(labels == expected["prediction"]) > 0.98  # 32-bit floats: ties of neighbors
    np.testing.assert_allclose(probabilities[:, 0], expected["probability_u"], atol=1e-4)


def test_models_that_onnx_cannot_represent_are_explained(tmp_path, save_model_of):
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    table().to_csv(tmp_path / "a.csv", index=False)
    model = save_model_of(tmp_path / "a.csv", "kind", "bayes")
    result = call("export", model, "--out", tmp_path / "model.onnx")
    assert result.exit_code == 2
    assert "columns of numbers without missing values; 'color' is not one." in result.stderr
    drop = ("color", "day", "kind")
    model = save_model_of(tmp_path / "a.csv", "amount", "lightgbm", drop=drop)
    result = call("export", model, "--out", tmp_path / "model.onnx")
    assert result.exit_code == 2, result.output
    assert "skl2onnx does not support this model" in result.stderr
    frame = table()
    frame.loc[3, "x; y"] = None
    frame.to_csv(tmp_path / "a.csv", index=False)
    model = save_model_of(tmp_path / "a.csv", "amount", "bayes", drop=drop)
    result = call("export", model, "--out", tmp_path / "model.onnx")
    assert "without missing values; 'x; y' is not one." in result.stderr
    assert not (tmp_path / "model.onnx").exists()


def test_wrong_files_are_explained(tmp_path):
    assert call("export", tmp_path / "none.skops", "--out", tmp_path / "a.py").exit_code == 2
    result = call("export", tmp_path / "none.skops", "--out", tmp_path / "a.pmml")
    assert result.exit_code == 2
    assert "--out must end in .py, .ipynb or .onnx" in result.stderr
