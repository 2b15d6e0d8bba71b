"""A fitted search as a report: one plain dict, a page, and a few lines in a notebook."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from leavezero._tables import count_rows
from leavezero._typing import Table
from leavezero.diagnostics import CheckInputs
from leavezero.engine import SINGLE
from leavezero.report import format_value, summarize, to_fragment, to_html
from leavezero.search._code_export import code_to_repeat, versions
from leavezero.search._labels import last_step
from leavezero.search._trust import Kept, TrustMixin
from leavezero.search._validation_summary import compare_validation_set
from leavezero.trust import Evidence, TrustReport

FOLDS = 10  # of the cross validation that fits are compared with
MOST_COLUMNS = 100  # whose names are listed


class ReportMixin(TrustMixin):
    """The report of a fitted search.

    Examples
    --------
    >>> from leavezero import GridSearchLZO
    >>> hasattr(GridSearchLZO, "to_html")
    True
    """

    cv_results_: dict[str, Any]
    refit: Any
    multimetric_: bool
    draw_time_: float
    _told: tuple[Kept, TrustReport]

    @abstractmethod
    def _template(self) -> Any:
        """Return the estimator whose kind is the search's own."""

    def summary(
        self,
        *,
        with_rows: bool = False,
        trust: TrustReport | None = None,
        title: str | None = None,
        command: str | None = None,
    ) -> dict[str, Any]:
        """Return everything that the report shows as one plain dict, ready for JSON.

        Parameters
        ----------
        with_rows : bool, default=False
            Whether single rows of the data are in it; else they are counted only.
        trust : TrustReport or None, default=None
            The findings; None has :meth:`trust` make them.
        title : str or None, default=None
            The heading; None for the names of the search and the estimator.
        command : str or None, default=None
            The line of the shell that repeats the run, if one does.

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
        findings = self._findings() if trust is None else trust
        found = None if findings is None else _diagnostics(findings)
        run = {
            "title": title or self._title(),
            "metric": self._metric(),
            "data": self._data(),
            "fits": self._fits(),
            "seconds": self._seconds(found),
            "repeat": code_to_repeat(self, command, self._fit_params()),
            "made_with": versions(),
        }
        return self._summarize(found, self._sides(with_rows=with_rows), run)

    def to_html(
        self,
        path: str | Path | None = None,
        with_rows: bool = False,
        *,
        trust: TrustReport | None = None,
        title: str | None = None,
        command: str | None = None,
    ) -> str:
        """Return the report as one page that needs no network, and write it to a file.

        Parameters
        ----------
        path : path or None, default=None
            The file; None writes none.
        with_rows : bool, default=False
            Whether single rows of the data are in the page; else they are counted only.
        trust : TrustReport or None, default=None
            The findings; None has :meth:`trust` make them.
        title : str or None, default=None
            The heading; None for the names of the search and the estimator.
        command : str or None, default=None
            The line of the shell that repeats the run, if one does.

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
        page = to_html(self.summary(with_rows=with_rows, trust=trust, title=title, command=command))
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    @property
    def _repr_html_(self) -> Any:
        """What a notebook shows: scikit-learn's diagram, and what was found above it."""
        diagram = super()._repr_html_  # type: ignore[misc]  # scikit-learn's, unknown here
        return lambda: self._notes() + diagram()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]  # as above
        if "text/html" in bundle:
            bundle["text/html"] = self._notes() + bundle["text/html"]
        return bundle

    def _notes(self) -> str:
        """Return the winner, its margin and the findings; nothing before fit."""
        if not hasattr(self, "cv_results_"):
            return ""
        findings = self._findings()
        return to_fragment(self._brief(None if findings is None else _diagnostics(findings)))

    def _brief(self, trust: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the candidates and the choice alone."""
        check_is_fitted(self, "cv_results_")
        return self._summarize(trust, None, {"metric": self._metric()})

    def _sides(self, *, with_rows: bool = False) -> dict[str, Any] | None:
        """Return V beside the data, counted; None if there is no V or the rows are gone."""
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "_kept"):
            return None
        return compare_validation_set(_inputs(self._kept.evidence(self)), with_rows=with_rows)

    def _findings(self) -> TrustReport | None:
        """Return the findings, made once for each fit; None if the rows are gone."""
        if not hasattr(self, "_kept"):
            return None
        if not hasattr(self, "_told") or self._told[0] is not self._kept:
            self._told = self._kept, self.trust()
        return self._told[1]

    def _summarize(
        self, trust: Mapping[str, Any] | None, sides: Any, run: Mapping[str, Any]
    ) -> dict[str, Any]:
        selection = getattr(self, "selection_", None)
        best = getattr(self, "best_index_", None)
        return summarize(
            {_renamed(name): column for name, column in self.cv_results_.items()},
            column=self._column(),
            best=best,
            selection=None if selection is None else _selection(asdict(selection)),
            diagnostics=trust,
            validation=sides,
            run=run,
        )

    def _column(self) -> str:
        """Return the metric's part of the names of columns: the one that chose, or the first."""
        if isinstance(self.refit, str) and self.multimetric_:
            return self.refit
        names = (name for name in self.cv_results_ if name.startswith("mean_test_"))
        return next(names)[len("mean_test_") :]

    def _metric(self) -> str:
        """Return the metric's name for readers."""
        if self._column() != SINGLE:
            return self._column()
        ballot = self._kept.conclusion.ballot if hasattr(self, "_kept") else None
        return SINGLE if ballot is None else ballot.metric

    def _title(self) -> str:
        own, inner = type(self).__name__, getattr(self, "estimator", None)
        return own if inner is None else f"{own}: {type(last_step(inner)).__name__}"

    def _data(self) -> dict[str, Any]:
        """Return what was given, in words, and the names of the columns."""
        if not hasattr(self, "_kept"):
            return {"sentence": "The training data are not part of a pickled search."}
        job = self._kept.job
        names = _column_names(job.X)
        n_rows, n_columns = count_rows(job.X), _n_columns(job.X)
        width = "" if n_columns is None else f" and {n_columns:,} columns"
        task = "classification" if is_classifier(self._template()) else "regression"
        return {
            "n_rows": n_rows,
            "n_columns": n_columns,
            "task": task,
            "sentence": f"{task.capitalize()} with {n_rows:,} rows{width}; validation set from "
            f"{format_value(getattr(self, 'augmenter_', None))}.",
            "columns": names[:MOST_COLUMNS],
            "more_columns": max(0, len(names) - MOST_COLUMNS),
        }

    def _fit_params(self) -> list[str]:
        """Return the names of further arguments of fit, as far as they are known."""
        if not hasattr(self, "_kept"):
            return []
        names = {name for params in self._kept.job.fit_params.values() for name in params}
        return sorted(names | ({"groups"} if self._kept.groups is not None else set()))

    def _fits(self) -> dict[str, Any]:
        by_folds = FOLDS * len(self.cv_results_["params"]) + 1
        parts = ", ".join(f"{purpose}: {count}" for purpose, count in self.fits_.items() if count)
        return {
            "n_fits": self.n_fits_,
            "by_purpose": dict(self.fits_),
            "by_folds": by_folds,
            "sentence": f"{self.n_fits_:,} fits were made ({parts}); {FOLDS}-fold cross validation "
            f"of the same candidates would have made {by_folds:,}.",
        }

    def _seconds(self, trust: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        """Return the seconds of each part that is timed."""
        table = self.cv_results_
        parts = {
            "sampling the validation set": self.draw_time_,
            "fitting candidates": float(np.nansum(table["mean_fit_time"])),
            "scoring candidates": float(np.nansum(table["mean_score_time"])),
        }
        if trust is not None:
            parts["checks"] = trust["seconds"]
        return [{"part": part, "seconds": seconds} for part, seconds in parts.items()]

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_told"}


def _column_names(X: Table) -> list[str]:
    return [str(name) for name in getattr(X, "columns", ())]


def _n_columns(X: Table) -> int | None:
    shape = getattr(X, "shape", ())
    return int(np.prod(shape[1:])) if len(shape) > 1 else None


def _renamed(name: str) -> str:
    """Return the name that the report has for a column of results."""
    for old, new in (("augmented", "validation"), ("unseen", "loo"), ("confirm", "cv")):
        name = name.replace(f"mean_{old}_", f"mean_{new}_")
    return name


def _selection(fields: dict[str, Any]) -> dict[str, Any]:
    units = "training rows" if fields["source"] == "origins" else "generated rows"
    return fields | {
        "tied": fields["contenders"],
        "bias_corrected_score": fields["corrected_score"],
        "resampled_units": units,
    }


def _diagnostics(report: TrustReport) -> dict[str, Any]:
    found = report.to_dict()
    checks = [one | {"message": one["sentence"]} for one in found.pop("findings")]
    return found | {"checks": checks}


def _inputs(evidence: Evidence) -> CheckInputs:
    return CheckInputs(
        evidence.X,
        evidence.y,
        evidence.classes,
        evidence.V,
        evidence.augmenter,
        labeled=evidence.labeled,
    )
