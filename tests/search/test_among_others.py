"""Searches among the things that people put around them and into them."""

import logging
import subprocess
import sys
from importlib.util import find_spec

import lightgbm
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_classification, make_multilabel_classification, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO, LabelInvariantMixup

X, Y = make_classification(120, 5, flip_y=0.1, random_state=0)
FEW = {"n_replicates": 3, "random_state": 0}


def line(**more):
    return GridSearchLZO(LogisticRegression(), {"C": [0.1, 1.0]}, **FEW, **more)


def people(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "income": rng.lognormal(10, 1, n),
            "town": pd.Categorical(rng.choice(["A", "B", "C"], n)),
            "job": rng.choice(["x", "y"], n),
        }
    )
    frame.loc[rng.random(n) < 0.2, "age"] = np.nan
    rich = frame["income"] > frame["income"].median()
    return frame, np.where(rich ^ (rng.random(n) < 0.1), "p", "n")


def test_a_frame_with_categories_and_missing_cells():
    """V has the columns, categories and gaps of the data."""
    frame, target = people()
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    pipeline = make_pipeline(columns, LogisticRegression())
    strategy = "columntransformer__pipeline__simpleimputer__strategy"
    grid = {"logisticregression__C": [0.01, 1], strategy: ["mean", "median"]}
    search = GridSearchLZO(pipeline, grid, **FEW).fit(frame, target)
    assert list(search.validation_set_.X.columns) == list(frame.columns)
    assert set(search.predict(frame)) <= {"p", "n"}


def test_raw_strings():
    """A list of documents, a text pipeline, and V made of documents."""
    rng = np.random.default_rng(0)
    words = {0: ["ball", "goal", "team", "win"], 1: ["vote", "law", "party", "tax"]}
    target = np.tile([0, 1], 30)
    documents = [" ".join(rng.choice(words[t], 6)) + " the and of" for t in target]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    grid = {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)], "logisticregression__C": [1, 10]}
    search = GridSearchLZO(pipeline, grid, **FEW).fit(documents, target)
    assert search.score(documents, target) == 1.0
    assert isinstance(search.validation_set_.X[0], str)


def test_nested_in_cross_validation():
    """The honest score of the whole procedure."""
    scores = cross_val_score(line(), X, Y, cv=3)
    assert scores.mean() > 0.7


def test_as_a_member_of_a_stack():
    """It is cloned, fitted to folds and asked for probabilities."""
    stack = StackingClassifier([("search", line()), ("tree", DecisionTreeClassifier(max_depth=2))])
    assert stack.fit(X, Y).score(X, Y) > 0.7


def test_a_search_over_a_search():
    """The inner one is a candidate like any other."""
    inner = GridSearchLZO(LogisticRegression(), {"C": [0.1, 1.0]}, n_replicates=2)
    augmenters = ["auto", LabelInvariantMixup()]
    grid = {"estimator__fit_intercept": [True, False], "augmenter": augmenters}
    outer = GridSearchLZO(inner, grid, **FEW).fit(X, Y)
    assert outer.n_fits_ == 4
    assert outer.best_estimator_.best_estimator_.C in (0.1, 1.0)


def test_a_regressor_by_its_squared_error():
    """Scores are negative, the highest wins."""
    data = make_regression(80, 4, noise=10.0, random_state=0)
    search = GridSearchLZO(
        Ridge(), {"alpha": [0.1, 1000.0]}, scoring="neg_mean_squared_error", **FEW
    ).fit(*data)
    assert search.best_params_ == {"alpha": 0.1}
    assert search.best_score_ < 0


def test_several_outputs_of_numbers_and_of_classes():
    """A matrix y in, a matrix of predictions out."""
    data = make_regression(80, 4, n_targets=2, noise=1.0, random_state=0)
    search = GridSearchLZO(Ridge(), {"alpha": [0.1, 100.0]}, **FEW).fit(*data)
    assert search.predict(data[0]).shape == (80, 2)
    several = make_multilabel_classification(90, n_classes=3, random_state=0)
    labels = GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, **FEW).fit(*several)
    assert labels.predict(several[0]).shape == (90, 3)


def test_a_threshold_tuned_around_it():
    """The search is fitted inside, and its probabilities are cut."""
    tuned = TunedThresholdClassifierCV(line(), cv=3).fit(X, Y)
    assert 0 < tuned.best_threshold_ < 1


def test_candidates_from_another_library():
    """LightGBM brings a class of its own."""
    model = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5, verbosity=-1)
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])])
    search = GridSearchLZO(model, {"num_leaves": [2, 15]}, **FEW).fit(frame, Y)
    assert search.score(frame, Y) > 0.7


WIDE = make_classification(1500, 600, n_informative=20, random_state=0)


@pytest.mark.parametrize(
    ("model", "grid", "scoring", "data"),
    [
        (SVC(), {"C": [0.1, 1.0, 10.0], "gamma": ["scale", 0.1]}, None, (X, Y)),
        (RandomForestClassifier(10), {"max_depth": [1, 3, None]}, None, (X, Y)),
        (LogisticRegression(), {"C": [0.01, 1.0, 100.0]}, "neg_log_loss", (X, Y)),
        (LinearDiscriminantAnalysis(), {"solver": ["svd", "lsqr"]}, None, WIDE),
    ],
    ids=["SVC", "forest", "logistic", "LDA at 1500 x 600"],
)
def test_two_workers_and_another_order_give_the_same_bits(model, grid, scoring, data):
    """Every column but the times."""
    given = {"scoring": scoring, "augmenter": LabelInvariantMixup(), **FEW}
    first = GridSearchLZO(model, grid, n_jobs=1, **given).fit(*data)
    second = GridSearchLZO(model, grid, n_jobs=2, **given).fit(*data)
    turned = {name: values[::-1] for name, values in reversed(grid.items())}
    third = GridSearchLZO(model, turned, n_jobs=2, **given).fit(*data)
    for name, column in first.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(column, second.cv_results_[name])
    assert first.best_params_ == second.best_params_ == third.best_params_
    assert _scores(first) == _scores(third)


def _scores(search):
    names = [str(sorted(params.items())) for params in search.cv_results_["params"]]
    return dict(zip(names, search.cv_results_["mean_test_score"], strict=True))


INTERRUPTED = """
import os, pathlib, signal, sys, threading, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from leavezero import GridSearchLZO, HalvingGridSearchLZO

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
started, kind = pathlib.Path(sys.argv[2]), sys.argv[3]

class Slow(ClassifierMixin, BaseEstimator):
    def __init__(self, number=0):
        self.number = number
    def fit(self, X, y):
        if self.number >= 3:
            started.touch()
            time.sleep(60)
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return np.full(len(X), self.classes_[0])
    def score(self, X, y):
        return float(self.number)

def interrupt():
    while not started.exists():
        time.sleep(0.1)
    time.sleep(2)
    os.kill(os.getpid(), signal.SIGINT)

X, y = np.random.default_rng(0).normal(size=(40, 2)), np.tile([0, 1], 20)
kind = {"grid": GridSearchLZO, "halving": HalvingGridSearchLZO}[kind]
search = kind(Slow(), {"number": range(5)}, n_jobs=int(sys.argv[1]), random_state=0)
threading.Thread(target=interrupt, daemon=True).start()
try:
    search.fit(X, y)
except KeyboardInterrupt:
    done = [params["number"] for params in search.cv_results_["params"]]
    print(done, search.best_params_, len(search.predict(X)), search.fit_counts_["candidate"])
"""


@pytest.mark.parametrize(("n_jobs", "kind"), [(1, "grid"), (2, "grid"), (1, "halving")])
def test_an_interrupt_keeps_what_is_finished(n_jobs, kind, tmp_path):
    """The table has the finished candidates, the best of them predicts, the interrupt is raised.

    Also in the first round of halving, whose models have seen a part of the rows.
    """
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    ended = subprocess.run(
        [sys.executable, str(script), str(n_jobs), str(tmp_path / "started"), kind],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ended.stdout == "[0, 1, 2] {'number': 2} 40 3\n", ended.stderr


def test_lines_for_people_and_for_logs(capsys, caplog):
    """1 tells what draws V, 2 each candidate, 3 each replicate; the log always has them."""
    line(verbose=0).fit(X, Y)
    assert capsys.readouterr().out == ""
    line(verbose=1).fit(X, Y)
    assert "V is drawn by" in capsys.readouterr().out
    line(verbose=2).fit(X, Y)
    assert "2 of at most 2, {'C': 1.0}: score" in capsys.readouterr().out
    line(verbose=3).fit(X, Y)
    assert "score: [0." in capsys.readouterr().out
    with caplog.at_level(logging.DEBUG, "leavezero"):
        line(verbose=0).fit(X, Y)
    assert "V is drawn by" in caplog.text
    assert "1 of at most 2" in caplog.text


def test_it_draws_itself_for_a_notebook():
    """Before and after fit."""
    for search in (line(), line().fit(X, Y)):
        page = search._repr_html_()
        assert "GridSearchLZO" in page
        assert "LogisticRegression" in page


def test_metadata_go_where_they_were_requested():
    """Weights to fit and to the scorer, groups to the augmenter."""
    weight = np.random.default_rng(0).uniform(0.1, 3, len(Y))
    mixup = LabelInvariantMixup()
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = get_scorer("accuracy")
        silent = GridSearchLZO(
            model, {}, scoring=scorer.set_score_request(sample_weight=False), augmenter=mixup, **FEW
        ).fit(X, Y, sample_weight=weight)
        heard = GridSearchLZO(
            model, {}, scoring=scorer.set_score_request(sample_weight=True), augmenter=mixup, **FEW
        ).fit(X, Y, sample_weight=weight, groups=np.arange(len(Y)) % 5)
        assert silent.best_score_ != heard.best_score_
        assert heard.score(X, Y, sample_weight=weight) == pytest.approx(
            heard.best_estimator_.score(X, Y, sample_weight=weight)
        )
    plain = GridSearchLZO(LogisticRegression(), {}, augmenter=mixup, **FEW).fit(X, Y)
    np.testing.assert_array_equal(plain.validation_set_.X, silent.validation_set_.X)
    with pytest.raises(ValueError, match="need metadata routing"):
        plain.score(X, Y, sample_weight=weight)


@pytest.mark.skipif(find_spec("sklearn.callback") is None, reason="it came with scikit-learn 1.9")
class TestCallbacks:
    """scikit-learn's experimental callbacks."""

    def test_a_callback_that_asks_to_stop_is_obeyed(self):
        """The results so far stand and can be used."""
        from sklearn.callback import FitCallback

        class StopAfterTwo(FitCallback):
            heard = 0

            def setup(self, estimator, context):
                pass

            def teardown(self, estimator, context):
                pass

            def on_fit_task_begin(self, estimator, context):
                pass

            def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
                if context.task_name == "candidate":
                    self.heard += 1
                    assert hasattr(fitted_estimator, "best_estimator_")
                return self.heard == 2

        search = GridSearchLZO(LogisticRegression(), {"C": [0.1, 1, 10, 100]}, **FEW)
        search.set_callbacks(StopAfterTwo()).fit(X, Y)
        assert len(search.cv_results_["params"]) == 2
        assert search.predict(X).shape == Y.shape

    def test_scikit_learns_own_callbacks(self, capsys):
        """The progress bar warns of nothing; the monitor scores the best so far."""
        from sklearn.callback import ProgressBar, ScoringMonitor

        monitor = ScoringMonitor(scoring="accuracy")
        line().set_callbacks(ProgressBar(max_propagation_depth=0), monitor).fit(X, Y)
        scores = [row["accuracy"] for row in monitor.get_logs().data]
        assert len(scores) == 2
        assert min(scores) > 0.7
