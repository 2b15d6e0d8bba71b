"""The local page of a saved model."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from skrub import Cleaner, TableVectorizer

from leavezero.cli._prepare_table import column_profile
from leavezero.cli._saved_model import TableModel, current_versions

pytest.importorskip("flask", reason="flask is not installed")

from leavezero.cli._serve_model import make_app

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"<b>x": RNG.normal(size=60), "color": RNG.choice(["red", "<script>alert(1)</script>"], 60)}
)
KINDS = {"<b>x": "number", "color": "string"}


def client(task="classification"):
    tree, y = DecisionTreeRegressor(max_depth=2), X["<b>x"] * 2
    if task == "classification":
        tree, y = DecisionTreeClassifier(max_depth=1), np.where(X["<b>x"] > 0, "up", "down")
    pipeline = Pipeline([("clean", Cleaner()), ("vectorize", TableVectorizer()), ("model", tree)])
    profile, versions = column_profile(X), current_versions()
    model = TableModel(pipeline.fit(X, y), "<i>y</i>", task, KINDS, profile, {}, versions)
    return make_app(model).test_client()


def get(page):
    return page.get_data(as_text=True)


def test_the_form_has_a_field_per_column_and_names_are_only_text():
    page = client().get("/", base_url="http://127.0.0.1:8000")
    text = get(page)
    assert page.status_code == 200
    assert "&lt;i&gt;y&lt;/i&gt;" in text
    assert 'name="&lt;b&gt;x"' in text
    assert "<script>" not in text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize(("x", "label"), [("2.5", "up"), ("-2.5", "down")])
def test_one_row_is_predicted_with_probabilities(x, label):
    text = get(client().post("/", data={"<b>x": x, "color": "red"}, base_url="http://localhost"))
    assert f"<strong>{label}</strong>" in text
    assert f"probability_{label}</th><td>1.000" in text
    assert "category" not in text


def test_unusual_cells_are_reported():
    text = get(client("regression").post("/", data={"<b>x": "?", "color": "green"}))
    assert "category that the training data do not have" in text


def test_a_table_is_returned_with_predictions():
    content = X.to_csv(index=False).encode()
    data = {"table": (io.BytesIO(content), "a.csv")}
    found = client().post("/table", data=data)
    assert found.status_code == 200
    frame = pd.read_csv(io.BytesIO(found.data))
    assert (frame["prediction"] == np.where(X["<b>x"] > 0, "up", "down")).all()
    wrong = client().post("/table", data={"table": (io.BytesIO(b"a\n1\n"), "a.csv")})
    assert wrong.status_code == 400
    assert "requires columns" in get(wrong)


def test_other_host_names_are_rejected():
    """A web site whose name points to this machine cannot use the page."""
    assert client().get("/", base_url="http://evil.example").status_code == 403
