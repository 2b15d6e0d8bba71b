import pickle
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from leavezero import GridSearchLZO
from leavezero.search import SearchDisplay, TrustDisplay, ValidationSetDisplay

DISPLAYS = (SearchDisplay, TrustDisplay, ValidationSetDisplay)
GRID = {"n_neighbors": [1, 5, 9]}


def search_of(**options):
    return GridSearchLZO(KNeighborsClassifier(), GRID, n_replicates=2, random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    return search_of().fit(rng.normal(size=(60, 3)) + y[:, None], y)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_a_display_draws_on_the_users_axes(kind, fitted):
    """As scikit-learn's do: ``ax_`` and ``figure_`` say where."""
    ax = Figure().subplots()
    display = kind.from_search(fitted, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    other = Figure().subplots()
    assert display.plot(ax=other) is display
    assert display.ax_ is other
    ax.figure.canvas.draw()


@pytest.mark.parametrize("kind", DISPLAYS)
def test_without_axes_a_figure_is_made(kind, fitted, monkeypatch):
    """One that a notebook shows."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    display = kind.from_search(fitted)
    assert plt.get_fignums()
    plt.close(display.figure_)


def test_the_frame_of_a_search_has_a_row_for_each_candidate(fitted):
    """Best first, by its row in cv_results_."""
    display = SearchDisplay.from_search(fitted, ax=Figure().subplots(), n_candidates=1)
    frame = display.frame()
    assert frame.index[0] == fitted.best_index_
    assert sorted(frame["param_n_neighbors"]) == [1, 5, 9]
    scores = fitted.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(frame["score"], scores[frame.index])
    assert len(display.ax_.get_yticks()) == 1


def test_the_frame_of_trust_has_a_row_for_each_finding(fitted):
    """The same findings as the report's; a report may be given."""
    report = fitted.trust()
    frame = TrustDisplay.from_search(fitted, ax=Figure().subplots(), trust=report).frame()
    assert frame.index.tolist() == [finding.code for finding in report]


def test_the_frame_of_a_validation_set_has_shares_of_cells(fitted):
    """No row of the data is in it."""
    frame = ValidationSetDisplay.from_search(fitted, ax=Figure().subplots()).frame()
    assert frame[["given", "drawn"]].sum().to_numpy() == pytest.approx([1.0, 1.0], abs=0.01)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_before_fit_there_is_nothing_to_display(kind):
    """The error is scikit-learn's."""
    with pytest.raises(NotFittedError):
        kind.from_search(search_of())


def test_without_v_or_its_rows_the_display_says_why(fitted):
    """A pickled search, and one that drew no V."""
    again = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match=r"cannot show this GridSearchLZO\. There is no V, or the"):
        ValidationSetDisplay.from_search(again)
    with pytest.raises(ValueError, match="was pickled, which leaves behind the data"):
        TrustDisplay.from_search(again)
    assert SearchDisplay.from_search(again, ax=Figure().subplots())


def test_without_matplotlib_the_error_says_what_to_install(fitted, monkeypatch):
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"needs matplotlib.*pip install 'leavezero\[app\]'"):
        SearchDisplay.from_search(fitted)
