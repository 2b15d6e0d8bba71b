"""Candidates of a table, judged by scikit-learn's cross validation."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid

from leavezero._typing import AnyArray, Floats
from leavezero.tabular._errors import TableError
from leavezero.tabular._preparation import Prepared
from leavezero.tabular._watch import Heard, own_params


@dataclass(frozen=True, eq=False)
class Judged:
    """What one way of choosing says of all candidates, and the model that it hands back."""

    params: list[dict[str, Any]]
    scores: Floats
    best: int
    model: Any = field(repr=False)
    n_fits: int

    def own(self, at: int) -> tuple[str, dict[str, object]]:
        """Return a candidate's model and parameters."""
        return own_params(self.params[at])

    def along(self, params: list[dict[str, Any]]) -> "Judged":
        """Return the same for candidates in another order, in which equal ones may be several."""
        places = [self.params.index(one) for one in params]
        return replace(
            self,
            params=params,
            scores=self.scores[places],
            best=params.index(self.params[self.best]),
        )


def by_folds(
    prepared: Prepared,
    jobs: int,
    X: Any,
    y: AnyArray,
    folds: Any,
    watch: Callable[[Heard], None] | None = None,
) -> Judged:
    """Judge all candidates by the same folds, and fit the best once more on all rows."""
    grids = {name: list(ParameterGrid(grid)) for name, (_, grid) in prepared.candidates.items()}
    n_all = sum(map(len, grids.values()))
    params: list[dict[str, Any]] = []
    scores: list[float] = []
    for name, (pipeline, grid) in prepared.candidates.items():
        for one, score in zip(
            grids[name], _fold_scores(pipeline, grid, prepared, jobs, X, y, folds), strict=True
        ):
            params.append({"candidate": name, **one})
            scores.append(float(score))
            if watch is not None:
                known = float(score) if np.isfinite(score) else None
                watch(Heard(len(params), n_all, *own_params(params[-1]), known))
    if np.all(np.isnan(scores)):
        raise TableError(
            "Every candidate failed in cross validation. Use another --metric, or fewer folds."
        )
    best = int(np.nanargmax(scores))
    settings = dict(params[best])
    pipeline = prepared.candidates[settings.pop("candidate")][0]
    model = clone(pipeline).set_params(**settings).fit(X, y)
    return Judged(params, np.array(scores), best, model, folds.n_splits * n_all + 1)


def _fold_scores(
    pipeline: Any,
    grid: dict[str, list[Any]],
    prepared: Prepared,
    jobs: int,
    X: Any,
    y: AnyArray,
    folds: Any,
) -> Floats:
    """Return the mean over folds of each candidate of one model; NaN where it failed."""
    search = GridSearchCV(
        pipeline, grid, scoring=prepared.scoring, cv=folds, n_jobs=jobs, refit=False
    )
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")  # told before
            search.fit(X, y)
    except ValueError:  # where all of its fits fail, GridSearchCV does
        return np.full(len(ParameterGrid(grid)), np.nan)
    return np.asarray(search.cv_results_["mean_test_score"], dtype=np.float64)
