"""Pipelines with equal steps before the last: these are fitted, and transform rows, once."""

from collections.abc import Hashable
from functools import partial
from typing import Any

from sklearn.pipeline import Pipeline

from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit._joint_fit import (
    JointFit,
    JointlyFitted,
    Predictions,
    cells_per_row,
    first_match,
    predict_in_blocks,
    value_digest,
)

PROBE = slice(0, 100)  # rows by which the width of the transformed rows is measured
# What may be set on an unfitted pipeline by methods; any other attribute is a callback.
SET_BY_METHODS = {"_metadata_request", "_sklearn_output_config"}


class PipelinePrefix(JointFit):
    """Pipelines that differ in their last step only.

    The transformers are fitted once, and are the same objects in all pipelines. The last steps are
    fitted by their own joint fit.

    Parameters
    ----------
    last_step_methods : tuple of JointFit
        Methods for the last steps. If empty, the last steps are of any kind and are fitted one
        after the other; few of them then form a task, so that other workers have something to do.
    """

    name = "pipeline prefix"
    estimator_types = (Pipeline,)

    def __init__(self, last_step_methods: tuple[JointFit, ...]) -> None:
        self._methods = last_step_methods
        self.max_candidates = 64 if last_step_methods else 8

    def key(self, estimator: Any) -> Hashable | None:
        """Return the steps before the last, and the key of the last step if it has a method."""
        if not _only_steps(estimator):
            return None
        *prefix, (_, last) = estimator.steps
        if last is None or isinstance(last, str) or not (prefix or self._methods):
            return None
        found = first_match(self._methods, last)
        digest = value_digest(prefix)
        if digest is None or (found is None) is bool(self._methods):
            return None
        return (digest,) if found is None else (digest, found[0].name, found[1])

    def order(self, estimator: Any) -> Any:
        """Return the order of the last step."""
        last = estimator.steps[-1][1]
        found = first_match(self._methods, last)
        return 0 if found is None else found[0].order(last)

    def fits_one_model(self, estimator: Any) -> bool:
        """Return whether the last steps are parts of one fitted model."""
        last = estimator.steps[-1][1]
        found = first_match(self._methods, last)
        return found is not None and found[0].fits_one_model(last)

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit the steps before the last once, then the last steps."""
        if sample_weight is not None:
            raise ValueError("Pipeline.fit takes no sample_weight; pass STEP__sample_weight.")
        prefix = estimators[0][:-1]
        rows = prefix.fit_transform(X, y) if len(prefix.steps) else X
        lasts = [estimator.steps[-1][1] for estimator in estimators]
        found = first_match(self._methods, lasts[0])
        fit_lasts = super().fit if found is None else found[0].fit
        last_fitted = fit_lasts(lasts, rows, y)
        for estimator, last in zip(estimators, last_fitted.models, strict=True):
            estimator.steps = [*prefix.steps, (estimator.steps[-1][0], last)]
        shared = (None if found is None else found[0], last_fitted)
        return JointlyFitted(estimators, shared, last_fitted.provisional)

    def predict(self, fitted: JointlyFitted, X: Table, method: str) -> Predictions | None:
        """Return the predictions of the last steps on rows that are transformed once."""
        last_method, last_fitted = fitted.shared
        transform = partial(transform_before_last, fitted.models[0])
        lasts = last_fitted.models
        if not all(hasattr(last, method) for last in lasts):
            return None

        def predict_block(block: Table) -> list[AnyArray]:
            rows = transform(block)
            shared = None
            if last_method is not None:
                shared = last_method.predict(last_fitted, rows, method)
            return [
                getattr(last, method)(rows) if found is None else found
                for last, found in zip(lasts, shared or [None] * len(lasts), strict=True)
            ]

        cells = cells_per_row(transform(take_rows(X, PROBE)))
        return predict_in_blocks(predict_block, X, cells)


def transform_before_last(pipeline: Any, X: Table) -> Table:
    """Return rows as the last step of a fitted pipeline receives them.

    ``pipeline[:-1].transform`` would require an attribute of fit that stateless transformers lack.
    """
    for _, step in pipeline.steps[:-1]:
        if step is not None and not isinstance(step, str):  # "passthrough"
            X = step.transform(X)
    return X


def _only_steps(pipeline: Any) -> bool:
    """Return True if a pipeline has neither a cache nor messages, routed inputs or callbacks."""
    params = pipeline.get_params(deep=False)
    extra = vars(pipeline).keys() - params.keys() - SET_BY_METHODS
    routed = params.get("transform_input") is not None
    return pipeline.memory is None and not (pipeline.verbose or routed or extra)
