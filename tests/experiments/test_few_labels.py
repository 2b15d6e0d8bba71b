"""Scores for few labels that use unlabeled rows."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import cohen_kappa_score

from experiments import few_labels
from experiments.few_labels import METHODS, FewLabels, method_scores, report


@pytest.fixture(scope="module")
def scores():
    X, y = make_moons(60, noise=0.1, random_state=0)
    return method_scores(X, np.where(np.arange(60) < 12, y, -1), 0)


def test_labeled_rows_have_every_class_and_the_requested_number():
    y = np.array([0] * 50 + [1] * 2)
    for seed in range(5):
        rows = few_labels._labeled_rows(y, 10, np.random.default_rng(seed))
        assert len(set(rows)) == 10
        assert set(y[rows]) == {0, 1}


def test_kappa_is_that_of_scikit_learn_and_0_for_one_class():
    first, second = np.random.default_rng(0).integers(3, size=(2, 4, 30))
    first[0] = second[0] = 1
    found = few_labels._kappa(first, second)
    expected = [cohen_kappa_score(*pair) for pair in zip(first[1:], second[1:], strict=True)]
    np.testing.assert_allclose(found, [0.0, *expected])


def test_scores_are_shares_of_unlabeled_rows(scores):
    found, predicted = scores
    assert predicted.shape == (125, 48)
    assert tuple(found) == METHODS
    for name in ("agreement", "consensus"):
        np.testing.assert_allclose(found[name] * 240, np.round(found[name] * 240), atol=1e-9)
        assert 0 <= found[name].min() <= found[name].max() <= 1
    assert found["kappa"].max() <= 1


def test_share_of_added_scores_falls_with_labels(scores):
    found, _ = scores
    added = found["default + s kappa"] - found["default"]
    np.testing.assert_allclose(added, 10 / 22 * found["kappa"], atol=1e-12)


def test_report_has_regrets_and_differences_to_the_default(tmp_path):
    lines = [
        {
            "key": {"data": name, "split": 0, "n_labels": n_labels},
            "result": {
                "errors": {**dict.fromkeys(METHODS, 0.3), "default": default},
                "oracle": 0.1,
            },
        }
        for name, default in (("wine", 0.2), ("vote", 0.4))
        for n_labels in few_labels.N_LABELS
    ]
    [table] = report({"runs": lines}, {}, tmp_path)["tables"]
    assert table.rows[1][:3] == ("LOO score", "20.00", "+0.00 ± 10.00 (10.00)")


@pytest.mark.filterwarnings("ignore")
def test_run_has_no_error_below_the_oracle():
    study = FewLabels(("wine",), repeats=1)
    result = study({"data": "wine", "split": 0, "n_labels": 40})
    assert min(result["errors"].values()) >= result["oracle"]
