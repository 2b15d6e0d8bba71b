"""Displays of fitted searches."""

import pickle
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from leavezero import GridSearchLZO, LabelInvariantMixup
from leavezero.search import SearchDisplay, ValidationSetDisplay

DISPLAYS = (SearchDisplay, ValidationSetDisplay)
GRID = {"n_neighbors": [1, 5, 9]}
FEW = {"augmenter": LabelInvariantMixup(), "n_replicates": 2, "cv_finalists": 0, "random_state": 0}


def search_of(**options):
    return GridSearchLZO(KNeighborsClassifier(), GRID, **FEW, **options)


def two_classes():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    return rng.normal(size=(60, 3)) + y[:, None], y


@pytest.fixture(scope="module")
def fitted():
    return search_of().fit(*two_classes())


@pytest.mark.parametrize("cls", DISPLAYS)
def test_displays_plot_on_given_axes(cls, fitted):
    ax = Figure().subplots()
    display = cls.from_search(fitted, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    other = Figure().subplots()
    assert display.plot(ax=other) is display
    assert display.ax_ is other
    ax.figure.canvas.draw()


@pytest.mark.parametrize("cls", DISPLAYS)
def test_displays_create_a_figure_without_axes(cls, fitted, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    display = cls.from_search(fitted)
    assert plt.get_fignums()
    plt.close(display.figure_)


def test_search_frame_has_one_row_per_candidate(fitted):
    """Best first, indexed by the row of cv_results_; n_candidates limits the plot only."""
    display = SearchDisplay.from_search(fitted, ax=Figure().subplots(), n_candidates=1)
    frame = display.frame()
    assert frame.index[0] == fitted.best_index_
    assert sorted(frame["param_n_neighbors"]) == [1, 5, 9]
    scores = fitted.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(frame["score"], scores[frame.index])
    assert len(display.ax_.get_yticks()) == 1


def test_search_display_shows_the_metric_that_selected():
    search = search_of(scoring=["accuracy", "f1"], refit="f1").fit(*two_classes())
    display = SearchDisplay.from_search(search, ax=Figure().subplots())
    assert display.ax_.get_xlabel() == "f1"
    assert display.frame()["score"].iloc[0] == search.best_score_


def test_validation_set_frame_has_shares_of_cells(fitted):
    """It contains no row of the data."""
    frame = ValidationSetDisplay.from_search(fitted, ax=Figure().subplots()).frame()
    totals = frame[["training", "validation"]].sum().to_numpy()
    assert totals == pytest.approx([1.0, 1.0], abs=0.01)


@pytest.mark.parametrize("cls", DISPLAYS)
def test_displays_require_a_fitted_search(cls):
    with pytest.raises(NotFittedError):
        cls.from_search(search_of())


def test_displays_of_a_pickled_search(fitted):
    """Training data are not pickled; scores are."""
    again = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match="to display: it was pickled without the training"):
        ValidationSetDisplay.from_search(again)
    assert SearchDisplay.from_search(again, ax=Figure().subplots())


def test_missing_matplotlib_is_named(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'requires matplotlib.*pip install "leavezero\[app\]"'):
        SearchDisplay.from_search(fitted)
