"""The studies that look again at the runs of a regret study."""

import numpy as np
import pytest

from leavezero.experiments import (
    ConfirmStudy,
    RegretStudy,
    UnseenStudy,
    regret_table,
    with_confirmed,
    with_unseen,
)
from leavezero.experiments import _regret as regret_module

STUDY = RegretStudy(("iris",), "classes", ("mixture and copula", "auto"), n_splits=1, max_rows=100)
KEY = {"data": "iris", "split": 0}
FAMILIES = ("k-NN", "tree")


@pytest.fixture
def few_families(monkeypatch):
    """Two families, one with and one without a second witness."""
    whole = regret_module.classifier_families
    few = {name: members for name, members in whole(4).items() if name in FAMILIES}
    monkeypatch.setattr(regret_module, "classifier_families", lambda n_columns: few)


def line_of(study):
    return {"key": KEY, "result": study(KEY)}


def test_confirmed_ways_stand_beside_the_others(few_families):
    """Contenders are at most five, the pool has its own, and V is the study's."""
    line, looked = line_of(STUDY), line_of(ConfirmStudy(STUDY))
    result = looked["result"]
    assert all(1 <= len(rows) <= 5 for rows in result["contenders"].values())
    assert 1 <= len(result["pool"]) <= 5
    [joined] = with_confirmed([line], [looked])
    table = regret_table([joined])
    assert table.ways == [
        "auto",
        "5-fold CV",
        "10-fold CV",
        "auto, confirm=5",
        "auto and 2-fold CV of all",
    ]
    assert set(table.families) == {*FAMILIES, "pool"}
    best = result["contenders"]["k-NN"][0]
    scores = line["result"]["families"]["k-NN"]["accuracy"]["auto"]
    assert scores[best] == pytest.approx(max(scores), abs=1e-4)


def test_unseen_ways_stand_beside_the_others(few_families):
    """Families without a second witness keep V's word; the pool has one score for all."""
    line, looked = line_of(STUDY), line_of(UnseenStudy(STUDY))
    assert set(looked["result"]["notes"]["tree"]) == {"no family knows DecisionTreeClassifier"}
    found = looked["result"]["families"]
    assert max(found["tree"]["accuracy"]["unseen alone"]) < 0
    assert found["tree"]["accuracy"]["auto and unseen"] == pytest.approx(
        line["result"]["families"]["tree"]["accuracy"]["auto"], abs=1e-4
    )
    assert min(found["k-NN"]["accuracy"]["unseen alone"]) > 0.5
    [joined] = with_unseen([line], [looked], ("auto", "5-fold CV"))
    pool = joined["result"]["families"]["pool"]["accuracy"]
    assert {len(scores) for scores in pool.values()} == {13}
    assert np.isfinite(regret_table([joined]).mean("auto and unseen", "pool"))
