"""SMIR: labels of folds are taken out of the fitted model's small system."""

from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._fingerprint import check_no_weights
from leavezero.families._fitted_to import other_rows
from leavezero.semi_supervised import SMIRClassifier, held_out_scores, predict_proba_many
from leavezero.semi_supervised import fit_many as fit_together

N_REPEATS = 10  # with few labels the luck of one dealing is large, and folds cost next to nothing


class SMIRFamily(Family):
    """SMIRClassifier: repeated folds over the labelled rows, and all settings of a kernel at once.

    The rows of a fold stay among those without a label. Leave-one-out chooses worse than a few
    folds, dealt out several times, so a labelled row has a response for each time.
    """

    name = "SMIR"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is a SMIRClassifier itself, not a subclass."""
        return type(estimator) is SMIRClassifier

    def refuses(self, estimator: Any) -> str | None:
        """Return None: every setting is covered."""
        return None

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return what the model says of labelled rows whose label it was not given."""
        if len(model.transduction_) != len(y):
            raise other_rows(model, f"it knows {len(model.transduction_)}, there are {len(y)}")
        found = held_out_scores(model, N_REPEATS)
        if found.reason is not None:
            return Unseen("folds", {}, doubt=found.reason)
        n_repeats, _, n_classes = found.scores.shape
        scores = found.scores.reshape(-1, n_classes)
        labels = model.classes_[scores.argmax(axis=1)]
        responses = {"predict": labels, "predict_proba": scores}
        return Unseen("folds", responses, rows=np.tile(found.rows, n_repeats))

    def shares(self, estimator: Any) -> Any:
        """Return the kernel: what it is decomposed into serves every other setting."""
        return (estimator.kernel, estimator.width, estimator.n_components, estimator.unlabeled)

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit the estimators with one decomposition a kernel; equal to plain fits to rounding."""
        check_no_weights(estimators[0], sample_weight)
        fit_together(estimators, X, y)

    def respond_many(self, models: list[Any], X: Table) -> list[dict[str, AnyArray]]:
        """Return labels and probabilities, the values of each kernel computed once."""
        return [
            {"predict": model.classes_[said.argmax(axis=1)], "predict_proba": said}
            for model, said in zip(models, predict_proba_many(models, X), strict=True)
        ]


FAMILIES = (SMIRFamily(),)
