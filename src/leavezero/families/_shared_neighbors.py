"""One look for the neighbours of rows, for k-NN models that let more or fewer of them vote."""

from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.families._nearest import nearest, nearest_others
from leavezero.families._poll import counts, polled
from leavezero.families._together import hand_on, n_columns, settings_key

CELLS = 2**21  # neighbours, and numbers of rows, that are held at once
TILE = 256  # scikit-learn's own block: distances are rounded as in one look for all rows
TIED = 1e-12  # of a squared length: distances that differ by less may be equal
TREE_COLUMNS = 15  # up to so many algorithm="auto" may grow a tree, which measures fewer distances
NEAR = 1e-2  # of a squared length: distances below show how they were rounded


@dataclass(eq=False)
class Company:
    """k-NN models that were fitted together, their data, and the neighbours of the given rows."""

    X: Table
    y: AnyArray
    most: int  # neighbours that a model asks for
    waiting: int  # models that may still ask for the neighbours of the given rows
    measured: Floats | None  # X, where models measure every distance; they hold it too
    near: tuple[Floats, Ints] | None = None

    def leave(self) -> None:
        """Note that a model has asked; after the last one nothing more is held than they hold."""
        self.waiting -= 1
        if self.waiting <= 0:
            self.near = self.X = None


# Beside each living model its company, and what a new fit would replace.
_COMPANIES: WeakKeyDictionary[Any, tuple[Company, Any]] = WeakKeyDictionary()


def search_of(estimator: Any) -> Any:
    """Return how a k-NN model looks for neighbours; None for others and for given distances."""
    kinds = (KNeighborsClassifier, KNeighborsRegressor)
    if type(estimator) not in kinds or str(estimator.metric) == "precomputed":
        return None
    return settings_key(estimator, "n_neighbors", "weights")


def fit_together(estimators: list[Any], X: Table, y: AnyArray) -> None:
    """Fit one k-NN model, hand on what it holds, and remember that they share it.

    How many neighbours vote, and how, is looked at only when a model is asked.
    """
    first = None
    for estimator in estimators:
        if not _looks_alike(estimator, count_rows(X)):
            estimator.fit(X, y)
        elif first is None:
            first = estimator.fit(X, y)
        else:
            hand_on(first, estimator, shared=vars(first).values())
    remember(estimators, X, y)


def _looks_alike(estimator: Any, n_rows: int) -> bool:
    """Tell whether a fit prepares for what others do, and takes the parameters that differ.

    For half of the rows or more algorithm="auto" grows no tree.
    """
    k, weights = estimator.n_neighbors, estimator.weights
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        return False
    known = weights is None or weights in ("uniform", "distance") or callable(weights)
    return known and (estimator.algorithm != "auto" or int(k) < n_rows // 2)


def remember(models: list[Any], X: Table, y: AnyArray) -> None:
    """Note that k-NN models were fitted to the same rows."""
    most = max(int(model.n_neighbors) for model in models)
    measured = X if _measures_all(models[0], X) else None
    company = Company(X, y, most, len(models), measured)
    for model in models:
        _COMPANIES[model] = (company, model.effective_metric_params_)


def said_together(models: list[Any], X: Table) -> list[dict[str, AnyArray]] | None:
    """Return what k-NN models say of rows, one look for all; None if they share none.

    A model that asks for more neighbours than there are gets no answers, and can say so itself.
    """
    company = _company(models[0])
    if company is None or any(_company(model) is not company for model in models):
        return None
    able = [model for model in models if model.n_neighbors <= model.n_samples_fit_]
    if not able or getattr(models[0], "outputs_2d_", False):
        return None
    targets = _targets(models[0], company.y)
    width = max(company.most + 1, n_columns(X))
    size = max(TILE, CELLS // width // TILE * TILE)
    starts = range(0, count_rows(X), size)
    blocks = [_block(company, able, take_rows(X, slice(at, at + size)), targets) for at in starts]
    joined = {model: _joined(parts) for model, *parts in zip(able, *blocks, strict=True)}
    return [joined.get(model, {}) for model in models]


def given_neighbors(model: Any, X: Table, y: AnyArray) -> tuple[Floats, Ints] | None:
    """Return distances and numbers of each given row's neighbours, itself not among them.

    None if the model was not fitted to this very X and y together with others, or if it depends
    on how many are looked for which of equally distant ones are found.
    """
    company = _company(model)
    if company is None or company.X is not X or company.y is not y:
        return None
    n_found = min(company.most + 1, model.n_samples_fit_ - 1)
    if n_found * model.n_samples_fit_ > CELLS or model.n_neighbors > n_found:
        return None
    if company.near is None:
        company.near = other_neighbors(model, X, n_found)
    distances, neighbors = company.near
    company.leave()
    if _tied(distances, model.n_neighbors, _squares(X)).any():
        return None
    return distances[:, : model.n_neighbors].copy(), neighbors[:, : model.n_neighbors]


def given_answers(models: list[Any], X: Table, y: AnyArray) -> dict[Any, dict[str, AnyArray]]:
    """Return what classifiers fitted together say of the given rows, each row without itself.

    One count of votes answers for all. Models that are not sure of their neighbours are left out,
    and those with votes of their own.
    """
    company = _company(models[0])
    if company is None or company.X is not X or company.y is not y:
        return {}
    if not is_classifier(models[0]) or models[0].outputs_2d_:
        return {}
    n_found = min(company.most + 1, models[0].n_samples_fit_ - 1)
    if n_found * models[0].n_samples_fit_ > CELLS:
        return {}
    distances, neighbors = other_neighbors(models[0], X, n_found)
    squares = _squares(X)
    able = [
        model
        for model in models
        if model.n_neighbors <= n_found
        and not callable(model.weights)
        and not _tied(distances, model.n_neighbors, squares).any()
    ]
    if not able:
        return {}
    said = polled(able, distances, neighbors, _targets(models[0], y))
    found = {}
    for model, (answers, _) in zip(able, said, strict=True):
        if np.isfinite(answers["predict_proba"]).all():
            found[model] = answers
            company.leave()
    return found


def other_neighbors(model: Any, X: Table, n_neighbors: int) -> tuple[Floats, Ints]:
    """Return distances and numbers of the nearest of the fitted rows X to each, but for itself."""
    found = nearest_others(X, n_neighbors) if _measures_all(model, X) else None
    return found or cast("tuple[Floats, Ints]", model.kneighbors(n_neighbors=n_neighbors))


def _measures_all(model: Any, X: Table) -> bool:
    """Tell whether the model would measure every plain Euclidean distance between the rows."""
    if model.effective_metric_ != "euclidean" or model.effective_metric_params_:
        return False
    if not _plain(X):
        return False
    return model.algorithm == "brute" or (model.algorithm == "auto" and X.shape[1] > TREE_COLUMNS)


def _plain(X: Table) -> bool:
    return type(X) is np.ndarray and X.dtype == np.float64


def _company(model: Any) -> Company | None:
    """Return the company of a model that has not been fitted again since."""
    company, learned = _COMPANIES.get(model, (None, None))
    return company if learned is getattr(model, "effective_metric_params_", None) else None


def _targets(model: Any, y: AnyArray) -> AnyArray:
    values = np.asarray(y)
    if is_classifier(model):
        return np.searchsorted(model.classes_, values.ravel())
    return values


def _joined(parts: list[dict[str, AnyArray]]) -> dict[str, AnyArray]:
    if len(parts) == 1:
        return parts[0]
    return {method: np.concatenate([part[method] for part in parts]) for method in parts[0]}


def _block(
    company: Company, models: list[Any], rows: Table, targets: AnyArray
) -> list[dict[str, AnyArray]]:
    """Return the answers of all models for some rows."""
    squares = _squares(rows)
    distances, neighbors = _found(company, models, rows, squares)
    answers = []
    for model, (said, close) in zip(
        models, polled(models, distances, neighbors, targets), strict=True
    ):
        unsure = np.flatnonzero(_tied(distances, model.n_neighbors, squares) | close)
        if len(unsure):
            few = take_rows(rows, unsure)
            for method, values in said.items():
                values[unsure] = getattr(model, method)(few)
        answers.append(said)
    return answers


def _found(
    company: Company, models: list[Any], rows: Table, squares: Floats
) -> tuple[Floats, Ints]:
    """Return distances and numbers of the neighbours of rows, as many as any model asks for.

    scikit-learn rounds distances against the length of a row, and votes of 1 / distance show it
    where a neighbour is near; it is asked itself then, for the whole of its block.
    """
    widest = max(models, key=lambda model: int(model.n_neighbors))
    n_found = min(widest.n_neighbors + 1, widest.n_samples_fit_)  # one more shows a tie
    found = _nearest_given(company, rows, n_found) if _may_measure(models) else None
    if found is None:
        return cast("tuple[Floats, Ints]", widest.kneighbors(rows, n_neighbors=n_found))
    distances, neighbors = found
    near = (distances[:, 0] ** 2 <= NEAR * squares) & (not all(map(counts, models)))
    for start in np.unique(np.flatnonzero(near) // TILE) * TILE:
        tile = slice(start, start + TILE)
        distances[tile], neighbors[tile] = widest.kneighbors(rows[tile], n_neighbors=n_found)
    return distances, neighbors


def _may_measure(models: list[Any]) -> bool:
    """Tell whether answers do not show how distances are rounded, but where rows are near."""
    if is_classifier(models[0]):
        return not any(callable(model.weights) for model in models)
    return all(map(counts, models))


def _nearest_given(company: Company, rows: Table, n_found: int) -> tuple[Floats, Ints] | None:
    """Return the nearest of the given rows, where every distance would be measured anyway."""
    given = company.measured
    if given is None or not _plain(rows) or rows.shape[1] != given.shape[1]:
        return None
    return nearest(rows, given, n_found)


def _squares(rows: Table) -> Floats:
    """Return the squared length of each row, against which its distances are rounded."""
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    numbers = np.asarray(rows, dtype=np.float64)
    return np.asarray(np.einsum("ij,ij->i", numbers, numbers))


def _tied(distances: Floats, k: int, squares: Floats) -> Bools:
    """Tell where the next neighbour is as near as the last one that votes."""
    if k >= distances.shape[1]:
        return np.zeros(len(distances), dtype=bool)
    last, following = distances[:, k - 1] ** 2, distances[:, k] ** 2
    return np.asarray(following - last <= TIED * (squares + following))
