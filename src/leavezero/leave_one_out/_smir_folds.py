"""Predictions of SMIRClassifier for labeled rows whose labels are held out in folds."""

from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Table
from leavezero.leave_one_out._loo_method import LeaveOneOutMethod, LOOPredictions, mismatch_error
from leavezero.semi_supervised import SMIRClassifier, held_out_scores

N_REPEATS = 10  # with few labels the split into folds matters, and folds cost next to nothing


class SMIRMethod(LeaveOneOutMethod):
    """Repeated folds over the labeled rows, from the solution of one fit.

    Rows of a fold stay in the training data without their labels. A few folds, repeated, select
    better than leaving out single labels, so each labeled row has one prediction per repetition.
    """

    name = "SMIR"
    estimator_types = (SMIRClassifier,)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        if len(model.transduction_) != len(y):
            raise mismatch_error(model, f"it has {len(model.transduction_)}, there are {len(y)}")
        held_out = held_out_scores(model, N_REPEATS)
        if held_out.reason is not None:
            return LOOPredictions("folds", {}, unreliable=held_out.reason)
        n_repeats, _, n_classes = held_out.scores.shape
        scores = held_out.scores.reshape(-1, n_classes)
        labels = model.classes_[scores.argmax(axis=1)]
        predictions = {"predict": labels, "predict_proba": scores}
        return LOOPredictions("folds", predictions, rows=np.tile(held_out.rows, n_repeats))
