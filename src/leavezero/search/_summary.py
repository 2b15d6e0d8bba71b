"""Diagnostics of a fitted search, and its report as a plain dict."""

import copy
import sys
import time
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.utils.validation import check_is_fitted

from leavezero._random import integer_seed
from leavezero._tables import Featurizer, count_rows, take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero._version import __version__
from leavezero.augment import ValidationSet
from leavezero.diagnostics import (
    CheckInputs,
    DiagnosticReport,
    PermutationScores,
    run_checks,
)
from leavezero.evaluation import (
    SINGLE,
    Run,
    Selected,
    final_estimator,
    make_folds,
    permutation_scores,
)
from leavezero.report import (
    describe_predictions,
    format_number,
    format_value,
    python_code,
    round_edges,
    summarize,
    to_fragment,
    to_html,
)
from leavezero.search._messages import is_regression

N_PERMUTED = 2  # candidates fitted to permuted targets by diagnose(permutation=True)
N_FOLDS = 10  # of the cross-validation whose number of fits is shown
MAX_NAMES = 100  # of columns that are listed
MAX_PROJECTED = 2_000  # rows of either sample
MAX_CLASSES = 12
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
    scorer_: Any
    cv: Any
    loo: bool | str
    n_jobs: int | None
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
        report = run_checks(inputs)
        return replace(report, seconds=time.perf_counter() - started)

    def summary(
        self,
        *,
        held_out: bool = True,
        seconds: float | None = None,
        diagnostics: DiagnosticReport | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the content of the report as one plain dict, ready for JSON.

        Parameters
        ----------
        held_out : bool, default=True
            Whether to describe predictions of the best model for held-out rows and the importance
            of columns, for which it is fitted once to the training rows of each fold of ``cv``.
        seconds : float or None, default=None
            The time for these folds; if they take longer, some of them are left out.
        diagnostics : DiagnosticReport or None, default=None
            The checks; None runs :meth:`diagnose`.
        about : mapping or None, default=None
            What the search does not know: the "title", the name of the "target", the shell
            "command" and the Python "code" that repeat the selection, and "notes" on the data.

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
        >>> search.fit(X, y).summary(held_out=False)["selection"]["label"]
        'C=1'
        """
        check_is_fitted(self, "cv_results_")
        checks = self._checks_once() if diagnostics is None else diagnostics.to_dict()
        about = dict(about or {})
        run = {
            "title": about.get("title") or _title(self),
            "metric": _metric(self),
            "target": about.get("target"),
            "model_type": type(final_estimator(self._representative())).__name__,
            "data": _describe_data(self) | {"notes": list(about.get("notes", ()))},
            "fits": _describe_fits(self),
            "seconds": _seconds(self, checks),
            "code": _code(self, about.get("command"), about.get("code")),
            "made_with": f"Made by leavezero {__version__} with scikit-learn "
            f"{sklearn.__version__}, numpy {np.__version__} and Python "
            f"{sys.version.partition(' ')[0]}.",
        }
        return brief_summary(
            self,
            diagnostics=checks,
            validation=compare_samples(self),
            held_out=self._describe_predictions(seconds) if held_out else None,
            run=run,
        )

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
        >>> search.fit(X, y).to_html(held_out=False)[:15]
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
        shown = copy.copy(self)
        if hasattr(self, "estimator"):
            shown.estimator = getattr(self, "best_estimator_", self.estimator)
        return shown

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super(ReportMixin, self._with_best())._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._fragment() + bundle["text/html"]
        return bundle | {"text/plain": repr(self)}

    def _describe_predictions(self, seconds: float | None) -> dict[str, Any] | None:
        """Return what held-out predictions show; None if they cannot be computed here."""
        state = getattr(self, "_state", None)
        estimator = getattr(self, "best_estimator_", None)
        if state is None or estimator is None or np.ndim(state.run.y) > 1:
            return None
        if state.run.y_fit is None:
            return None
        run, scorer = state.run, self.scorer_
        if isinstance(scorer, dict):
            scorer = scorer.get(run.main_metric)
        if run.labeled is not None or any(run.fit_params.values()) or not callable(scorer):
            return None
        classification = not is_regression(self._representative(), run.y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of small classes: the search has warned
            folds = make_folds(
                self.cv,
                run.y,
                state.groups,
                None,
                is_classification=classification,
                seed=integer_seed(state.root, "report"),
                owner=type(self).__name__,
            )
        return describe_predictions(
            estimator,
            run.X,
            run.y,
            folds=folds,
            scorer=scorer,
            classes=np.unique(run.y) if classification else None,
            use_loo=self.loo is not False and state.groups is None and not run.folds,
            n_jobs=self.n_jobs,
            seconds=seconds,
            fit_seconds=float(self.cv_results_["mean_fit_time"][self.best_index_]),
        )

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
    """Return the size of the training data, the names of columns, and the target's distribution."""
    if not hasattr(search, "_state"):
        return {"sentence": "The training data are not part of the pickled search."}
    X, y, labeled = search._state.run.X, search._state.run.y, search._state.run.labeled
    names = [str(name) for name in getattr(X, "columns", ())]
    n_rows, shape = count_rows(X), getattr(X, "shape", ())
    n_columns = int(np.prod(shape[1:])) if len(shape) > 1 else None
    width = "" if n_columns is None else f" and {n_columns:,} columns"
    task = "regression" if is_regression(search._representative(), y) else "classification"
    if search._state.run.y_fit is None:
        task = "no target"
    found = {
        "n_rows": n_rows,
        "n_columns": n_columns,
        "task": task,
        "sentence": f"{task.capitalize()} with {n_rows:,} rows{width}.",
        "columns": names[:MAX_NAMES],
        "more_columns": max(0, len(names) - MAX_NAMES),
        "augmenter": format_value(search.augmenter_),
    }
    if np.ndim(y) == 1 and task == "classification":
        known = y if labeled is None else y[labeled]
        labels, counts = np.unique(known, return_counts=True)
        shares = [f"{labels[at]}: {counts[at]:,}" for at in _largest(counts)]
        found["distribution"] = f"{len(labels)} classes. Rows: {', '.join(shares)}"
    elif np.ndim(y) == 1 and task == "regression":
        mean, deviation = map(format_number, (np.mean(y), np.std(y)))
        found["distribution"] = f"Mean {mean}, standard deviation {deviation}"
    if hasattr(X, "isna"):
        share = 100 * float(np.mean(X.isna().to_numpy()))
        found["missing"] = f"{share:.1f} % of the cells" if share else "none"
    return found


def _describe_fits(search: Any) -> dict[str, Any]:
    scores = search.cv_results_[f"mean_test_{metric_column(search)}"]
    n_scored = int(np.isfinite(scores).sum())
    n_cv_fits = N_FOLDS * n_scored + 1
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


def _code(search: Any, command: str | None, model: str | None) -> dict[str, Any]:
    """Return code of the model and of the search, and notes what it lacks for the same result."""
    has_target = not hasattr(search, "_state") or search._state.run.y_fit is not None
    data = ["X", "y"] if has_target else ["X"]
    python = _search_code(search, data)
    notes = []
    if search.random_state is None:
        if {"n_iter", "n_candidates"} & set(search.get_params(deep=False)):
            notes.append("random_state is None: another run samples other candidates.")
    elif not isinstance(search.random_state, int | np.integer):
        notes.append("random_state is a generator, whose state has changed. Use an integer.")
    if model is None and hasattr(search, "best_estimator_"):
        imports, code = python_code(search.best_estimator_)
        model = "\n".join([*imports, "", f"model = {code}", f"model.fit({', '.join(data)})"])
    if "<" in python:
        notes.append("Parts in angle brackets have no short code; replace them.")
    return {"model": model, "search": python, "shell": command, "notes": notes}


def _search_code(search: Any, data: list[str]) -> str:
    names: set[str] = set()  # of the parameters of fit besides X and y
    if hasattr(search, "_state"):
        names = {name for params in search._state.run.fit_params.values() for name in params}
        names |= {"groups"} if search._state.groups is not None else set()
    data = [*data, *(f"{name}={name}" for name in sorted(names))]
    imports, code = python_code(search)
    return "\n".join([*imports, "", f"search = {code}", f"search.fit({', '.join(data)})"])


# Validation set compared with the training data


def compare_samples(search: Any) -> dict[str, Any] | None:
    """Return class shares and a projection of both samples; None if one of them is gone.

    The result has only shares of cells, whose edges are round numbers and which are larger for
    fewer rows, so that no single row can be read from it.
    """
    state = getattr(search, "_state", None)
    validation_set = getattr(search, "validation_set_", None)
    if state is None or validation_set is None:
        return None
    inputs = search._check_inputs(state)
    n_rows = {"training": count_rows(inputs.X), "validation": count_rows(validation_set.X)}
    source = f"generated from {n_rows['training']:,} training rows"
    if inputs.is_user_supplied:
        source = "given by the user"
    found: dict[str, Any] = {"n_rows": n_rows, "note": None, "classes": []}
    found["sentence"] = f"The validation set has {n_rows['validation']:,} rows, {source}."
    if np.ndim(inputs.y) == 1 and inputs.classes is not None:
        shares = inputs.target_proportions()
        found["classes"] = [
            {"label": str(inputs.classes[i])}
            | {name: float(share[i]) for name, share in zip(SAMPLES, shares, strict=True)}
            for i in _largest(shares[0])
        ]
        found["n_classes"] = len(shares[0])
    try:
        projected = _project(inputs.X, validation_set.X)
    except (ValueError, TypeError) as error:
        return found | {"note": f"The rows cannot be projected to a plane: {error}"}
    return found | {"projection": _count_cells(projected)}


def _largest(sizes: AnyArray) -> Ints:
    """Return the largest classes, in their order."""
    return np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLASSES])


def _project(X: Table, X_val: Table) -> list[Floats]:
    """Return two principal components of some rows of both samples."""
    rng = np.random.default_rng(0)
    featurizer = Featurizer().fit(X)
    features = []
    for table in (X, X_val):
        rows = np.sort(rng.permutation(count_rows(table))[:MAX_PROJECTED])
        features.append(featurizer.transform(take_rows(table, rows)))
    n_components = min(2, *features[0].shape)
    if sparse.issparse(features[0]) and features[0].shape[1] > 2:
        model = TruncatedSVD(n_components, random_state=0)  # takes sparse matrices
    else:
        model = PCA(n_components, random_state=0)
        features = [_dense(table) for table in features]
    model.fit(features[0])
    missing = ((0, 0), (0, 2 - n_components))  # a single column has a single component
    return [np.pad(model.transform(table), missing) for table in features]


def _count_cells(projected: list[Floats]) -> dict[str, Any]:
    """Return the share of the rows of both samples in each cell of the plane."""
    n_bins = int(np.clip(np.sqrt(len(projected[0])) / 1.5, 6, 24))
    edges = [round_edges(projected[0][:, axis], n_bins) for axis in (0, 1)]
    found: dict[str, Any] = dict(zip(("x_edges", "y_edges"), edges, strict=True))
    for name, sample in zip(SAMPLES, projected, strict=True):
        inside = [np.clip(sample[:, axis], *edges[axis][[0, -1]]) for axis in (0, 1)]
        counts = np.histogramdd(inside, bins=edges)[0]
        found[name] = np.round(counts / max(1, counts.sum()), 5)
    return found


def _dense(table: Any) -> Floats:
    return table.toarray() if sparse.issparse(table) else np.asarray(table, dtype=float)
