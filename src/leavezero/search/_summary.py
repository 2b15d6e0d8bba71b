"""Diagnostics of a fitted search, and its report as a plain dict."""

import copy
import inspect
import sys
import time
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.utils.validation import check_is_fitted

from leavezero._random import integer_seed
from leavezero._tables import Featurizer, count_rows, is_text, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero._version import __version__
from leavezero.augment import ValidationSet
from leavezero.diagnostics import (
    CheckInputs,
    DiagnosticReport,
    PermutationScores,
    run_checks,
)
from leavezero.evaluation import SINGLE, Run, Selected, final_estimator, permutation_scores
from leavezero.execution import limited_threads
from leavezero.report import format_value, summarize, to_fragment, to_html
from leavezero.search._messages import is_regression

N_PERMUTED = 2  # candidates fitted to permuted targets by diagnose(permutation=True)
N_FOLDS = 10  # of the cross-validation whose number of fits is shown
MAX_NAMES = 100  # of columns that are listed
MAX_CODE = 20_000  # characters of one parameter in the code that repeats a search
POSITIONAL = ("estimator", "param_grid", "param_distributions", "candidates")
MAX_PROJECTED = 2_000  # rows of either sample
MAX_CLASSES = 12
N_BINS = 20
MAX_POINTS, MAX_ROWS, MAX_COLUMNS = 500, 10, 30  # of a report with rows
SAMPLES = ("training", "validation")


@dataclass(frozen=True, eq=False)
class FittedState:
    """What a fitted search keeps for diagnostics and reports.

    It refers to the training data: copies of a search share it, pickles leave it out.
    """

    run: Run
    selected: Selected
    groups: AnyArray | None
    root: np.random.SeedSequence
    reports: dict[str, DiagnosticReport] = field(default_factory=dict)  # computed once


class ReportMixin(BaseEstimator):
    """Diagnostics and reports of a fitted search."""

    augmenter: Any
    augmenter_: Any
    validation_set_: ValidationSet | None
    fit_counts_: dict[str, int]
    _state: FittedState

    @abstractmethod
    def _representative(self) -> Any: ...

    def diagnose(self, *, permutation: bool = False) -> DiagnosticReport:
        """Check how far the scores of this search can be trusted.

        Parameters
        ----------
        permutation : bool, default=False
            Whether to fit the best two candidates once more, to permuted targets, and check that
            the validation set scores them at chance. These fits are counted in ``fit_counts_``.

        Returns
        -------
        DiagnosticReport

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from leavezero import GridSearchLZO
        >>> X, y = load_wine(return_X_y=True)
        >>> grid = {"n_neighbors": [1, 5, 9, 15]}
        >>> search = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0).fit(X, y)
        >>> search.diagnose()["LZ01"].level
        'ok'
        """
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "_state"):
            raise ValueError(
                f"This {type(self).__name__} was pickled without its training data. Call "
                "diagnose() before the search is saved."
            )
        started = time.perf_counter()
        inputs = self._check_inputs(self._state)
        if permutation:
            inputs = replace(inputs, permutation=self._permutation_scores(inputs))
        with limited_threads():
            report = run_checks(inputs)
        return replace(report, seconds=time.perf_counter() - started)

    def summary(
        self,
        *,
        with_rows: bool = False,
        diagnostics: DiagnosticReport | None = None,
        title: str | None = None,
        command: str | None = None,
    ) -> dict[str, Any]:
        """Return the content of the report as one plain dict, ready for JSON.

        Parameters
        ----------
        with_rows : bool, default=False
            Whether to include single rows of the data.
        diagnostics : DiagnosticReport or None, default=None
            The checks; None runs :meth:`diagnose`.
        title : str or None, default=None
            The heading; None for the names of the search and the estimator.
        command : str or None, default=None
            The shell command that repeats the run, if there is one.

        Returns
        -------
        dict

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> from leavezero import GridSearchLZO
        >>> X, y = load_iris(return_X_y=True)
        >>> search = GridSearchLZO(SVC(), {"C": [0.001, 1]}, n_replicates=1, random_state=0)
        >>> search.fit(X, y).summary()["selection"]["label"]
        'C=1'
        """
        check_is_fitted(self, "cv_results_")
        checks = self._checks_once() if diagnostics is None else diagnostics.to_dict()
        validation = None
        if hasattr(self, "_state"):
            validation = _compare_validation_set(self._check_inputs(self._state), with_rows)
        run = {
            "title": title or _title(self),
            "metric": _metric(self),
            "data": _describe_data(self),
            "fits": _describe_fits(self),
            "seconds": _seconds(self, checks),
            "repeat": _code_to_repeat(self, command),
            "made_with": f"Made by leavezero {__version__} with scikit-learn "
            f"{sklearn.__version__}, numpy {np.__version__} and Python "
            f"{sys.version.partition(' ')[0]}.",
        }
        return brief_summary(self, diagnostics=checks, validation=validation, run=run)

    def to_html(self, path: str | Path | None = None, **options: Any) -> str:
        """Return the report as one self-contained HTML page.

        Parameters
        ----------
        path : path or None, default=None
            A file to write the page to.
        **options : dict
            Options of :meth:`summary`.

        Returns
        -------
        str

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> from leavezero import GridSearchLZO
        >>> X, y = load_iris(return_X_y=True)
        >>> search = GridSearchLZO(SVC(), {"C": [0.001, 1]}, n_replicates=1, random_state=0)
        >>> search.fit(X, y).to_html()[:15]
        '<!doctype html>'
        """
        page = to_html(self.summary(**options))
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    @property
    def _repr_html_(self) -> Any:
        """scikit-learn's diagram below the result of the search."""
        diagram = super(ReportMixin, self._with_best())._repr_html_
        return lambda: self._fragment() + diagram()

    def _with_best(self) -> Any:
        """Return the search with its best estimator in the place of the estimator."""
        if not hasattr(self, "estimator") or not hasattr(self, "best_estimator_"):
            return self
        shown = copy.copy(self)
        shown.estimator = self.best_estimator_
        return shown

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super(ReportMixin, self._with_best())._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._fragment() + bundle["text/html"]
        return bundle

    def _check_inputs(self, state: FittedState) -> CheckInputs:
        run = state.run
        X, y, labeled = run.X, run.y, run.labeled
        if labeled is not None:
            pseudo_labels = getattr(self.augmenter_, "pseudo_labels_", None)
            if pseudo_labels is not None:
                y = pseudo_labels
            else:
                X, y, labeled = take_rows(run.X, labeled), run.y[labeled], None
        is_label_column = not is_regression(self._representative(), y) and np.ndim(y) == 1
        return CheckInputs(
            X,
            y,
            run.replicates.classes if is_label_column else None,
            self.validation_set_,
            self.augmenter_,
            candidates=state.selected.scores,
            winner=getattr(self, "best_estimator_", None),
            default_augmenter=isinstance(self.augmenter, str),
            grouped=state.groups is not None and not run.folds,
            labeled=labeled,
            seed=integer_seed(state.root, "diagnostics"),
        )

    def _permutation_scores(self, inputs: CheckInputs) -> PermutationScores | None:
        if inputs.validation_set is None or inputs.candidates is None or inputs.is_user_supplied:
            return None
        state = self._state
        best = state.selected.best_candidates(N_PERMUTED)
        scores = permutation_scores(state.run, best, self.augmenter_, state.root, state.groups)
        n_fits = self.fit_counts_.get("permutation", 0) + len(scores.scores)
        self.fit_counts_ = self.fit_counts_ | {"permutation": n_fits}
        self.n_fits_ = sum(self.fit_counts_.values())
        return scores

    def _checks_once(self) -> dict[str, Any] | None:
        """Return the diagnostics, computed once per fit; None if the training data are gone."""
        if not hasattr(self, "_state"):
            return None
        reports = self._state.reports
        if "report" not in reports:
            reports["report"] = self.diagnose()
        return reports["report"].to_dict()

    def _fragment(self) -> str:
        """Return the best candidate, its margin and the checks as HTML; empty before fit."""
        if not hasattr(self, "cv_results_"):
            return ""
        run = {"metric": _metric(self)}
        return to_fragment(brief_summary(self, diagnostics=self._checks_once(), run=run))


def brief_summary(search: Any, **parts: Any) -> dict[str, Any]:
    """Return the candidates and the selection, and further parts of the report."""
    selection = getattr(search, "selection_", None)
    return summarize(
        search.cv_results_,
        column=metric_column(search),
        best=getattr(search, "best_index_", None),
        selection=None if selection is None else asdict(selection),
        **parts,
    )


def metric_column(search: Any) -> str:
    """Return the metric in the names of columns: the one that selected, or the first."""
    if isinstance(search.refit, str) and search.multimetric_:
        return search.refit
    names = (name for name in search.cv_results_ if name.startswith("mean_test_"))
    return next(names).removeprefix("mean_test_")


def _metric(search: Any) -> str:
    """Return the name of the metric for readers."""
    column = metric_column(search)
    scores = search._state.selected.scores if hasattr(search, "_state") else None
    return column if column != SINGLE or scores is None else str(scores.metric)


def _title(search: Any) -> str:
    name, estimator = type(search).__name__, getattr(search, "estimator", None)
    return name if estimator is None else f"{name}: {type(final_estimator(estimator)).__name__}"


def _describe_data(search: Any) -> dict[str, Any]:
    if not hasattr(search, "_state"):
        return {"sentence": "The training data are not part of the pickled search."}
    X = search._state.run.X
    names = [str(name) for name in getattr(X, "columns", ())]
    n_rows, shape = count_rows(X), getattr(X, "shape", ())
    n_columns = int(np.prod(shape[1:])) if len(shape) > 1 else None
    width = "" if n_columns is None else f" and {n_columns:,} columns"
    task = "classification" if is_classifier(search._representative()) else "regression"
    return {
        "n_rows": n_rows,
        "n_columns": n_columns,
        "task": task,
        "sentence": f"{task.capitalize()} with {n_rows:,} rows{width}; validation set generated by "
        f"{format_value(search.augmenter_)}.",
        "columns": names[:MAX_NAMES],
        "more_columns": max(0, len(names) - MAX_NAMES),
    }


def _describe_fits(search: Any) -> dict[str, Any]:
    n_cv_fits = N_FOLDS * len(search.cv_results_["params"]) + 1
    counts = ", ".join(f"{purpose}: {n}" for purpose, n in search.fit_counts_.items() if n)
    return {
        "n_fits": search.n_fits_,
        "by_purpose": dict(search.fit_counts_),
        "n_cv_fits": n_cv_fits,
        "sentence": f"{search.n_fits_:,} fits ({counts}); {N_FOLDS}-fold cross-validation of the "
        f"same candidates takes {n_cv_fits:,}.",
    }


def _seconds(search: Any, checks: dict[str, Any] | None) -> list[dict[str, Any]]:
    table = search.cv_results_
    seconds = {
        "generating the validation set": search.augment_time_,
        "fitting candidates": float(np.nansum(table["mean_fit_time"])),
        "scoring candidates": float(np.nansum(table["mean_score_time"])),
    }
    if checks is not None:
        seconds["checks"] = checks["seconds"]
    return [{"part": part, "seconds": value} for part, value in seconds.items()]


# Code that repeats the search


def _code_to_repeat(search: Any, command: str | None) -> dict[str, Any]:
    """Return the code in Python and in the shell, and notes what it lacks for the same result."""
    python = _python_code(search)
    notes = []
    if search.random_state is None:
        if {"n_iter", "n_candidates"} & set(search.get_params(deep=False)):
            notes.append("random_state is None: another run samples other candidates.")
    elif not isinstance(search.random_state, int | np.integer):
        notes.append("random_state is a generator, whose state has changed. Use an integer.")
    if "<" in python:
        notes.append("Parts in angle brackets have no short code; replace them.")
    shell = command or "python repeat.py  # the lines above, after loading X and y"
    return {"python": python, "shell": shell, "notes": notes}


def _python_code(search: Any) -> str:
    params = search.get_params(deep=False)
    defaults = inspect.signature(type(search)).parameters
    arguments = [format_value(params[name], MAX_CODE) for name in POSITIONAL if name in params]
    arguments += [
        f"{name}={format_value(value, MAX_CODE)}"
        for name, value in params.items()
        if name not in POSITIONAL and format_value(value) != format_value(defaults[name].default)
    ]
    data = ", ".join(["X", "y", *(f"{name}={name}" for name in _fit_params(search))])
    lines = [
        *sorted(set(_imports(search))),
        "",
        f"search = {type(search).__name__}(",
        *(f"    {argument}," for argument in arguments),
        ")",
        f"search.fit({data})",
    ]
    return "\n".join(lines)


def _fit_params(search: Any) -> list[str]:
    """Return the names of the parameters of ``fit`` besides X and y."""
    if not hasattr(search, "_state"):
        return []
    names = {name for params in search._state.run.fit_params.values() for name in params}
    return sorted(names | ({"groups"} if search._state.groups is not None else set()))


def _imports(value: Any) -> Iterator[str]:
    """Yield an import for each class and distribution in the code."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _imports(item)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        cls = type(value)
        yield f"from {_public_module(cls)} import {cls.__name__}"
        for item in value.get_params(deep=False).values():
            yield from _imports(item)
    elif hasattr(value, "dist") and hasattr(value, "args"):  # a frozen distribution
        yield f"from scipy.stats import {value.dist.name}"


def _public_module(cls: type) -> str:
    """Return the shortest module path that has the class."""
    parts = cls.__module__.split(".")
    for size in range(1, len(parts) + 1):
        module = ".".join(parts[:size])
        if getattr(sys.modules.get(module), cls.__name__, None) is cls:
            return module
    return cls.__module__


# Validation set compared with the training data


def _compare_validation_set(inputs: CheckInputs, with_rows: bool) -> dict[str, Any] | None:
    """Return shares, a projection and histograms of both samples; None without a validation set.

    Without ``with_rows`` the result has only shares of cells and bins, whose edges are round
    numbers and which are wider for fewer rows, so that no single row can be read from it.
    """
    validation_set = inputs.validation_set
    if validation_set is None:
        return None
    n_rows = {"training": count_rows(inputs.X), "validation": count_rows(validation_set.X)}
    source = f"generated from {n_rows['training']:,} training rows"
    if inputs.is_user_supplied:
        source = "given by the user"
    found: dict[str, Any] = {"n_rows": n_rows, "note": None}
    found["sentence"] = f"The validation set has {n_rows['validation']:,} rows, {source}."
    found |= _compare_targets(inputs, validation_set)
    try:
        projected, rows = _project(inputs.X, validation_set.X)
    except (ValueError, TypeError) as error:
        return found | {"note": f"The rows cannot be projected to a plane: {error}"}
    found["projection"] = _count_cells(projected)
    edges = _round_edges(projected[0][:, 0], N_BINS)
    found["histograms"] = [
        {"label": label}
        | _histograms(edges, [at[chosen, 0] for at, chosen in zip(projected, masks, strict=True)])
        for label, masks in _groups(inputs, validation_set.y, rows)
    ]
    if with_rows:
        points = [np.round(sample[:MAX_POINTS], 4) for sample in projected]
        found["points"] = dict(zip(SAMPLES, points, strict=True))
        found["rows"] = _first_rows(inputs, validation_set)
    return found


def _round_edges(values: Floats, n_bins: int) -> Floats:
    """Return edges of about so many bins at round numbers, which contain 98 % of the values."""
    low, high = (float(end) for end in np.quantile(values, [0.01, 0.99]))
    if high - low <= 1e-12 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    width = (high - low) / n_bins
    power = 10.0 ** np.floor(np.log10(width))
    step = power * min((1, 2, 5, 10), key=lambda factor: abs(factor * power - width))
    return np.round(np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step, 12)


def _compare_targets(inputs: CheckInputs, validation_set: ValidationSet) -> dict[str, Any]:
    """Return the share of each class in both samples, or histograms of a regression target."""
    if np.ndim(inputs.y) > 1:
        return {}
    if inputs.classes is None:
        targets = [np.asarray(y, float) for y in (inputs.known_targets, validation_set.y)]
        return {"target": _histograms(_round_edges(targets[0], N_BINS), targets)}
    shares = inputs.target_proportions()
    classes = [
        {"label": str(inputs.classes[i])}
        | {name: float(share[i]) for name, share in zip(SAMPLES, shares, strict=True)}
        for i in _largest(shares[0])
    ]
    return {"classes": classes, "n_classes": len(shares[0])}


def _largest(shares: Floats) -> Ints:
    """Return the largest classes, in their order."""
    return np.sort(np.argsort(-shares, kind="stable")[:MAX_CLASSES])


def _project(X: Table, X_val: Table) -> tuple[list[Floats], list[Ints]]:
    """Return two principal components of some rows of both samples, and which rows."""
    rng = np.random.default_rng(0)
    featurizer = Featurizer().fit(X)
    rows: list[Ints] = []
    features = []
    for table in (X, X_val):
        n_rows = count_rows(table)
        rows.append(np.sort(rng.permutation(n_rows)[:MAX_PROJECTED]))
        features.append(featurizer.transform(take_rows(table, rows[-1])))
    n_components = min(2, *features[0].shape)
    model = PCA(n_components, random_state=0)
    if sparse.issparse(features[0]) and features[0].shape[1] > 2:
        model = TruncatedSVD(n_components, random_state=0)  # takes sparse matrices
    else:
        features = [_dense(table) for table in features]
    model.fit(features[0])
    missing = ((0, 0), (0, 2 - n_components))  # a single column has a single component
    return [np.pad(model.transform(table), missing) for table in features], rows


def _count_cells(projected: list[Floats]) -> dict[str, Any]:
    """Return the share of the rows of both samples in each cell of the plane."""
    n_bins = int(np.clip(np.sqrt(len(projected[0])) / 1.5, 6, 24))
    edges = [_round_edges(projected[0][:, axis], n_bins) for axis in (0, 1)]
    found: dict[str, Any] = dict(zip(("x_edges", "y_edges"), edges, strict=True))
    for name, sample in zip(SAMPLES, projected, strict=True):
        inside = [np.clip(sample[:, axis], *edges[axis][[0, -1]]) for axis in (0, 1)]
        found[name] = _shares(np.histogramdd(inside, bins=edges)[0])
    return found


def _groups(
    inputs: CheckInputs, y_val: AnyArray, rows: list[Ints]
) -> Iterator[tuple[str, list[Bools]]]:
    """Yield a label and the rows of both samples: of each class, or of thirds of the target."""
    if np.ndim(inputs.y) > 1:
        yield "all rows", [np.ones(len(chosen), dtype=bool) for chosen in rows]
        return
    targets = [y[chosen] for y, chosen in zip((inputs.y, y_val), rows, strict=True)]
    if inputs.classes is not None:
        for label in inputs.classes[_largest(inputs.target_proportions()[0])]:
            yield f"class {label}", [y == label for y in targets]
        return
    thirds = np.quantile(inputs.y, [1 / 3, 2 / 3])
    for third, label in enumerate(("low targets", "middle targets", "high targets")):
        yield label, [np.searchsorted(thirds, y) == third for y in targets]


def _histograms(edges: Floats, samples: list[Floats]) -> dict[str, Any]:
    """Return the shares of both samples in bins; values outside count in the outermost bins."""
    counts = [np.histogram(np.clip(sample, edges[0], edges[-1]), edges)[0] for sample in samples]
    return {"edges": edges} | dict(zip(SAMPLES, map(_shares, counts), strict=True))


def _shares(counts: AnyArray) -> Floats:
    return np.round(counts / max(1, counts.sum()), 5)


def _dense(table: Any) -> Floats:
    return table.toarray() if sparse.issparse(table) else np.asarray(table, dtype=float)


def _first_rows(inputs: CheckInputs, validation_set: ValidationSet) -> dict[str, Any]:
    """Return the first rows of both samples as text."""
    training = _cells(inputs.X, inputs.y)
    n_columns = len(training[0]) - 1
    names = [str(name) for name in getattr(inputs.X, "columns", range(n_columns))][:n_columns]
    validation = _cells(validation_set.X, validation_set.y)
    return {"columns": [*names, "target"], "training": training, "validation": validation}


def _cells(X: Table, y: AnyArray) -> list[list[str]]:
    first = take_rows(X, slice(0, min(MAX_ROWS, count_rows(X))))
    if is_text(first):
        rows = [[text] for text in first]
    else:
        matrix = first.toarray() if sparse.issparse(first) else np.asarray(first)
        rows = matrix.reshape(len(matrix), -1)[:, :MAX_COLUMNS].tolist()
    return [
        [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in [*row, target]]
        for row, target in zip(rows, y, strict=False)
    ]
