"""summary() and to_html() of searches, and what a notebook shows."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    CandidateSearchLZO,
    FixedValidationSet,
    GridSearchLZO,
    HalvingGridSearchLZO,
    LabelInvariantMixup,
    RandomizedSearchLZO,
)
from leavezero.diagnostics import Check, DiagnosticReport

FEW = {"n_replicates": 2, "random_state": 0}
SMALL = {"augmenter": LabelInvariantMixup(), "cv_finalists": 0, **FEW}
NO_WARNING = DiagnosticReport((Check("LZ08", "ok", "The smallest class has 30 rows."),), 0.1)


def blobs(n_rows=60, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], n_rows // 2)
    return rng.normal(size=(n_rows, n_columns)) + y[:, None], y


def neighbors(**options):
    return GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, **SMALL | options)


BRIEF = {"diagnostics": NO_WARNING, "held_out": False}


@pytest.fixture(scope="module")
def fitted():
    """Return a small search whose checks run once."""
    return neighbors(return_train_score=True).fit(*blobs())


def test_summary_matches_the_fitted_attributes(fitted):
    summary = fitted.summary()
    assert set(summary["held_out"]) >= {"confusion", "importances", "baseline"}
    assert summary["selection"]["params"] == fitted.best_params_
    assert summary["selection"]["score"] == fitted.best_score_
    assert summary["selection"]["margin"] == fitted.selection_.margin
    codes = [check["code"] for check in summary["diagnostics"]["checks"]]
    assert codes == [check.code for check in fitted.diagnose()]
    assert summary["run"]["fits"]["n_fits"] == fitted.n_fits_
    assert summary["run"]["fits"]["n_cv_fits"] == 31
    assert summary["run"]["metric"] == "accuracy"
    assert summary["validation"]["n_rows"]["validation"] == len(fitted.validation_set_)
    json.dumps(summary, allow_nan=False)


def test_page_has_all_sections(fitted, tmp_path):
    path = tmp_path / "report.html"
    page = fitted.to_html(path)
    assert path.read_text(encoding="utf-8") == page
    for part in ("result", "models", "held-out", "candidates", "checks", "code", "card"):
        assert f'<section id="{part}"' in page


def test_facts_that_the_search_does_not_know_can_be_passed(fitted):
    about = {"title": "Iris & co", "target": "species", "command": "leavezero select a.csv"}
    page = fitted.to_html(**BRIEF, about=about | {"code": "model = 1", "notes": ["One note."]})
    assert "<h1>Iris &amp; co</h1>" in page
    assert "for <b>species</b>" in page
    for text in ("leavezero select a.csv", "model = 1", "One note."):
        assert text in page
    assert "The smallest class has 30 rows." in page


def table_with_secrets(n_rows=60):
    """Return a table whose cells are recognizable, and a transformer for it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "<script>alert(1)</script>": rng.normal(size=n_rows) * 1e5,
            "name": [f"secret{at % 7}" for at in range(n_rows)],
        }
    )
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["name"]), remainder=StandardScaler()
    )
    return X, encoder


def secrets_of(X, y):
    """Return the texts by which cells could be recognized."""
    numbers = [*X.iloc[:, 0], *(y if y.dtype.kind == "f" else ())]
    return {f"{n:.{digits}f}" for n in numbers for digits in (1, 3)} | set(X["name"])


@pytest.mark.parametrize("kind", ["classes", "regression"])
def test_page_contains_no_rows(kind):
    """Names of columns and classes are in it, as text."""
    X, encoder = table_with_secrets()
    classes = np.tile(['<b>"🙂"</b>', "=cmd()"], 30)
    y = classes if kind == "classes" else X.iloc[:, 0].to_numpy() * 2.0
    model = LogisticRegression() if kind == "classes" else Ridge()
    grid = {f"{type(model).__name__.lower()}__{'C' if kind == 'classes' else 'alpha'}": [0.1, 1.0]}
    search = GridSearchLZO(make_pipeline(encoder, model), grid, **FEW).fit(X, y)
    page = search.to_html(diagnostics=NO_WARNING)
    assert "Where the model errs" in page
    assert [secret for secret in secrets_of(X, y) if secret in page] == []
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    if kind == "classes":
        assert "&lt;b&gt;&#34;🙂&#34;&lt;/b&gt;" in page
        assert "=cmd()" in page


def test_page_does_not_contain_a_fixed_validation_set():
    """It is a parameter of the augmenter, and parameters are shown."""
    X, y = blobs()
    own = FixedValidationSet((X[:10] + 31.415926).tolist(), y[:10].tolist())
    page = neighbors(augmenter=own).fit(X, y).to_html(**BRIEF)
    assert [cell for cell in np.ravel(own.X) if f"{cell:.4f}" in page] == []
    assert "10 rows, given by the user" in page


def sparse_rows():
    X, y = blobs()
    return sparse.csr_matrix(np.abs(X)), y


def two_outputs():
    X, _ = blobs()
    return X, X @ np.ones((3, 2))


@pytest.mark.parametrize(
    ("model", "grid", "data"),
    [
        (LogisticRegression(), {"C": [0.1, 1]}, sparse_rows),
        (Ridge(), {"alpha": [0.1, 1]}, two_outputs),
        (GaussianNB(), {}, lambda: blobs(n_columns=1)),
    ],
    ids=["sparse", "several outputs", "one column"],
)
def test_report_of_any_kind_of_data(model, grid, data):
    """The validation set is compared with the training data in each."""
    augmenter = LabelInvariantMixup() if np.ndim(data()[1]) == 1 else "auto"
    search = GridSearchLZO(model, grid, augmenter=augmenter, **FEW).fit(*data())
    shares = search.summary(**BRIEF)["validation"]["projection"]["validation"]
    assert np.sum(shares) == pytest.approx(1.0, abs=0.01)
    assert search.to_html(**BRIEF)


@pytest.mark.parametrize(
    "search",
    [
        neighbors(loo="only"),
        neighbors(scoring=["accuracy", "f1"], refit="f1"),
        neighbors(scoring=["accuracy", "f1"], refit=False),
        neighbors(cv_finalists=2, cv=2),
        CandidateSearchLZO({"<i>": KNeighborsClassifier(), "nb": GaussianNB()}, **SMALL),
        RandomizedSearchLZO(LogisticRegression(), {"C": loguniform(0.1, 10)}, n_iter=3, **SMALL),
        HalvingGridSearchLZO(
            DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, min_resources=20, **SMALL
        ),
    ],
    ids=["loo", "metrics", "no selection", "finalists", "candidates", "randomized", "halving"],
)
def test_every_search_has_a_report(search):
    search.fit(*blobs())
    assert search.to_html(**BRIEF).startswith("<!doctype html>")


@pytest.mark.parametrize(
    "search",
    [
        neighbors(augmenter=LabelInvariantMixup(alpha=0.5)),
        CandidateSearchLZO(
            {"k": (make_pipeline(StandardScaler(), KNeighborsClassifier()), {}), "b": GaussianNB()},
            **SMALL,
        ),
        RandomizedSearchLZO(LogisticRegression(), {"C": loguniform(0.1, 10)}, n_iter=3, **SMALL),
    ],
    ids=["grid", "candidates", "randomized"],
)
def test_code_in_the_report_repeats_the_search(search):
    X, y = blobs()
    names = {"X": X, "y": y}
    exec(search.fit(X, y).summary(**BRIEF)["run"]["code"]["search"], names)
    again = names["search"]
    assert again.best_params_ == search.best_params_
    np.testing.assert_array_equal(
        again.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    )


def test_code_of_the_model_needs_no_leavezero(fitted):
    X, y = blobs()
    names = {"X": X, "y": y}
    code = fitted.summary(**BRIEF)["run"]["code"]["model"]
    assert "leavezero" not in code
    exec(code, names)
    np.testing.assert_array_equal(names["model"].predict(X), fitted.predict(X))


def test_code_names_further_arguments_of_fit():
    X, y = blobs()
    search = GridSearchLZO(GaussianNB(), {}, loo=False, **SMALL)
    search.fit(X, y, sample_weight=np.ones(60), groups=np.arange(60) // 6)
    code = search.summary(**BRIEF)["run"]["code"]["search"]
    assert code.endswith("search.fit(X, y, groups=groups, sample_weight=sample_weight)")


def test_notes_name_what_the_code_lacks():
    """A seed that was not set, and values without short code."""
    X, y = blobs()
    search = RandomizedSearchLZO(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 3, 5]},
        n_iter=2,
        augmenter=FixedValidationSet(X, y),
    ).fit(X, y)
    notes = " ".join(search.summary(**BRIEF)["run"]["code"]["notes"])
    assert "random_state is None" in notes
    assert "angle brackets" in notes


def test_checks_run_once_per_fit(monkeypatch):
    """A notebook may show a search many times."""
    search, runs = neighbors(), []
    monkeypatch.setattr(type(search), "diagnose", lambda self: runs.append(1) or NO_WARNING)
    search.fit(*blobs())
    for _ in range(3):
        search._repr_mimebundle_()
    assert len(runs) == 1
    search.fit(*blobs(seed=1))
    search.to_html(held_out=False)
    assert len(runs) == 2


def test_report_of_a_pickled_search(fitted):
    """The training data are not pickled: no checks, no comparison of the validation set."""
    fitted._repr_mimebundle_()
    again = pickle.loads(pickle.dumps(fitted))
    summary = again.summary()
    assert summary["selection"]["label"] == fitted.summary()["selection"]["label"]
    assert summary["diagnostics"] is None
    assert summary["validation"] is None
    assert summary["held_out"] is None
    assert "not part of the pickled search" in again.to_html()


def test_notebook_shows_scikit_learns_diagram_before_fit():
    search = neighbors()
    html = search._repr_mimebundle_()["text/html"]
    assert "sk-container" in html
    assert "leavezero-search" not in html
    assert "leavezero-search" not in search._repr_html_()


def test_notebook_shows_selection_and_checks_after_fit(fitted):
    """Above the diagram, by either of the two protocols."""
    bundle = fitted._repr_mimebundle_()
    for html in (bundle["text/html"], fitted._repr_html_()):
        found, _, diagram = html.partition("sk-container")
        assert f"n_neighbors={fitted.best_params_['n_neighbors']}" in found
        assert "above the second best" in found
        assert "checks are ok" in found
        assert diagram
    assert bundle["text/plain"] == repr(fitted)
    assert "leavezero-search" not in clone(fitted)._repr_html_()


def test_display_setting_of_scikit_learn_is_respected(fitted):
    with config_context(display="text"):
        assert "text/html" not in fitted._repr_mimebundle_()
        assert not hasattr(fitted, "_repr_html_")


def test_report_requires_a_fitted_search():
    with pytest.raises(NotFittedError):
        neighbors().to_html()
    with pytest.raises(NotFittedError):
        neighbors().summary()


def test_diagram_of_a_fitted_search_shows_the_best_estimator():
    X, y = np.random.default_rng(0).random((40, 3)), np.arange(40) % 2
    steps = Pipeline([("model", DummyClassifier())])
    search = GridSearchLZO(steps, {"model": [LogisticRegression()]}, random_state=0)
    assert "<div>DummyClassifier</div>" in search._repr_html_()
    for html in (search.fit(X, y)._repr_html_(), search._repr_mimebundle_()["text/html"]):
        assert "DummyClassifier</div>" not in html
        assert "LogisticRegression</div>" in html
    assert isinstance(search.estimator, Pipeline)
