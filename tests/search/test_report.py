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
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
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
from leavezero.trust import Finding, TrustReport

SMALL = {"n_replicates": 2, "random_state": 0}
NO_DOUBT = TrustReport((Finding("LZ08", "ok", "The smallest class has 30 rows."),), 0.1)


def blobs(n_rows=60, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], n_rows // 2)
    return rng.normal(size=(n_rows, n_columns)) + y[:, None], y


def neighbors(**options):
    return GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, **SMALL, **options)


@pytest.fixture(scope="module")
def fitted():
    """Return a small search; its findings are made once."""
    return neighbors(return_train_score=True).fit(*blobs())


def test_the_summary_says_what_the_search_says(fitted):
    """Choice, findings, fits and shares are those of the fitted attributes."""
    summary = fitted.summary()
    assert summary["choice"]["params"] == fitted.best_params_
    assert summary["choice"]["score"] == fitted.best_score_
    assert summary["choice"]["margin"] == fitted.selection_.margin
    assert [f["code"] for f in summary["trust"]["findings"]] == [f.code for f in fitted.trust()]
    assert summary["run"]["fits"]["n_fits"] == fitted.n_fits_
    assert summary["run"]["fits"]["by_folds"] == 31
    assert summary["run"]["metric"] == "accuracy"
    assert summary["validation"]["n_drawn"] == len(fitted.validation_set_)
    json.dumps(summary, allow_nan=False)


def test_each_part_of_the_page_is_there(fitted, tmp_path):
    """The file is what is returned."""
    path = tmp_path / "report.html"
    page = fitted.to_html(path)
    assert path.read_text(encoding="utf-8") == page
    for part in ("choice", "trust", "table", "figures", "validation", "time", "repeat"):
        assert f'<section id="{part}"' in page
    assert "training score" in page


def test_title_command_and_findings_may_be_given(fitted):
    """The command line knows what was typed, and has asked for the findings already."""
    page = fitted.to_html(trust=NO_DOUBT, title="Iris & co", command="leavezero select a.csv")
    assert "<h1>Iris &amp; co</h1>" in page
    assert "leavezero select a.csv" in page
    assert "The smallest class has 30 rows." in page


def table_with_secrets(n_rows=60):
    """Return a table whose every cell is a word or a number of its own."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "<script>alert(1)</script>": rng.normal(size=n_rows) * 1e5,
            "word": [f"secret{at % 7}" for at in range(n_rows)],
        }
    )
    words = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["word"]), remainder=StandardScaler()
    )
    return X, words


def secrets_of(X, y):
    """Return every cell as the texts in which it could show itself."""
    numbers = [*X.iloc[:, 0], *(y if y.dtype.kind == "f" else ())]
    return {f"{n:.{digits}f}" for n in numbers for digits in (1, 3)} | set(X["word"])


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_no_row_is_in_the_page_unless_asked_for(kind):
    """A report gets mailed around; the names of columns and classes are in it, as text."""
    X, words = table_with_secrets()
    classes = np.tile(['<b>"🙂"</b>', "=cmd()"], 30)
    y = classes if kind == "classes" else X.iloc[:, 0].to_numpy() * 2.0
    model = LogisticRegression() if kind == "classes" else Ridge()
    grid = {f"{type(model).__name__.lower()}__{'C' if kind == 'classes' else 'alpha'}": [0.1, 1.0]}
    search = GridSearchLZO(make_pipeline(words, model), grid, **SMALL).fit(X, y)
    page = search.to_html(trust=NO_DOUBT)
    assert [secret for secret in secrets_of(X, y) if secret in page] == []
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    if kind == "classes":
        assert "&lt;b&gt;&#34;🙂&#34;&lt;/b&gt;" in page
        assert "=cmd()" in page
    assert "secret3" in search.to_html(trust=NO_DOUBT, with_rows=True)


def test_a_users_own_validation_set_is_not_in_the_page():
    """It is a parameter of the augmenter, and parameters are shown."""
    X, y = blobs()
    own = FixedValidationSet((X[:10] + 31.415926).tolist(), y[:10].tolist())
    page = neighbors(augmenter=own).fit(X, y).to_html(trust=NO_DOUBT)
    assert [cell for cell in np.ravel(own.X) if f"{cell:.4f}" in page] == []


def sparse_rows():
    X, y = blobs()
    return sparse.csr_matrix(np.abs(X)), y


def numbers_beside_numbers():
    X, _ = blobs()
    return X, X @ np.ones((3, 2))


@pytest.mark.parametrize(
    ("model", "grid", "data"),
    [
        (LogisticRegression(), {"C": [0.1, 1]}, sparse_rows),
        (Ridge(), {"alpha": [0.1, 1]}, numbers_beside_numbers),
        (GaussianNB(), {}, lambda: blobs(n_columns=1)),
    ],
    ids=["sparse", "several outputs", "one column"],
)
def test_any_kind_of_data_has_a_report(model, grid, data):
    """V stands beside the data in every one."""
    augmenter = LabelInvariantMixup() if np.ndim(data()[1]) == 1 else "auto"
    search = GridSearchLZO(model, grid, augmenter=augmenter, **SMALL).fit(*data())
    shares = search.summary(trust=NO_DOUBT)["validation"]["projection"]["drawn"]
    assert np.sum(shares) == pytest.approx(1.0, abs=0.01)
    assert search.to_html(trust=NO_DOUBT, with_rows=True)


@pytest.mark.parametrize(
    "search",
    [
        neighbors(unseen="only"),
        neighbors(scoring=["accuracy", "f1"], refit="f1"),
        neighbors(scoring=["accuracy", "f1"], refit=False),
        neighbors(confirm=2, confirm_cv=2),
        CandidateSearchLZO({"<i>": KNeighborsClassifier(), "nb": GaussianNB()}, **SMALL),
        RandomizedSearchLZO(LogisticRegression(), {"C": loguniform(0.1, 10)}, n_iter=3, **SMALL),
        HalvingGridSearchLZO(
            DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, min_resources=20, **SMALL
        ),
    ],
    ids=["unseen", "metrics", "no choice", "confirmed", "candidates", "randomized", "halving"],
)
def test_every_search_has_a_report(search):
    """Whatever proposes candidates and whatever chooses."""
    search.fit(*blobs())
    assert search.to_html(trust=NO_DOUBT).startswith("<!doctype html>")


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
def test_the_code_in_the_report_repeats_the_run(search):
    """The same seed, the same scores."""
    X, y = blobs()
    names = {"X": X, "y": y}
    exec(search.fit(X, y).summary(trust=NO_DOUBT)["run"]["repeat"]["python"], names)
    again = names["search"]
    assert again.best_params_ == search.best_params_
    np.testing.assert_array_equal(
        again.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    )


def test_what_fit_was_given_beside_the_rows_is_named():
    """Weights and groups have no code, and their names do."""
    X, y = blobs()
    search = GridSearchLZO(GaussianNB(), {}, **SMALL)
    search.fit(X, y, sample_weight=np.ones(60), groups=np.arange(60) // 2)
    code = search.summary(trust=NO_DOUBT)["run"]["repeat"]["python"]
    assert code.endswith("search.fit(X, y, groups=groups, sample_weight=sample_weight)")


def test_what_cannot_be_repeated_is_said():
    """A seed that was not set, and code that is not short."""
    X, y = blobs()
    search = neighbors(augmenter=FixedValidationSet(X, y))
    search.set_params(random_state=None).fit(X, y)
    notes = " ".join(search.summary(trust=NO_DOUBT)["run"]["repeat"]["notes"])
    assert "No random_state was set" in notes
    assert "angle brackets" in notes


def test_the_findings_are_made_once_for_each_fit(monkeypatch):
    """A notebook shows a search again and again."""
    search, made = neighbors(), []
    monkeypatch.setattr(type(search), "trust", lambda self: made.append(1) or NO_DOUBT)
    search.fit(*blobs())
    for _ in range(3):
        search._repr_mimebundle_()
    assert len(made) == 1
    search.fit(*blobs(seed=1))
    search.to_html()
    assert len(made) == 2


def test_a_pickled_search_has_a_report_of_what_travelled(fitted):
    """The given rows stay behind, and with them findings and V beside the data."""
    fitted._repr_mimebundle_()
    again = pickle.loads(pickle.dumps(fitted))
    assert not hasattr(again, "_told")
    summary = again.summary()
    assert summary["choice"]["label"] == fitted.summary()["choice"]["label"]
    assert summary["trust"] is None
    assert summary["validation"] is None
    assert "did not travel" in again.to_html()


def test_before_fit_a_notebook_shows_scikit_learns_diagram():
    """Nothing has been found yet."""
    search = neighbors()
    html = search._repr_mimebundle_()["text/html"]
    assert "sk-container" in html
    assert "leavezero-search" not in html
    assert "leavezero-search" not in search._repr_html_()


def test_after_fit_a_notebook_shows_winner_margin_and_findings(fitted):
    """Above the diagram, by either of the two protocols."""
    bundle = fitted._repr_mimebundle_()
    for html in (bundle["text/html"], fitted._repr_html_()):
        found, _, diagram = html.partition("sk-container")
        assert f"n_neighbors={fitted.best_params_['n_neighbors']}" in found
        assert "leads the second best" in found
        assert "findings are ok" in found
        assert diagram
    assert bundle["text/plain"] == repr(fitted)
    assert "leavezero-search" not in clone(fitted)._repr_html_()


def test_who_wants_text_gets_text(fitted):
    """scikit-learn's own setting is heard."""
    with config_context(display="text"):
        assert "text/html" not in fitted._repr_mimebundle_()
        assert not hasattr(fitted, "_repr_html_")


def test_before_fit_there_is_no_report():
    """The error is scikit-learn's."""
    with pytest.raises(NotFittedError):
        neighbors().to_html()
    with pytest.raises(NotFittedError):
        neighbors().summary()
