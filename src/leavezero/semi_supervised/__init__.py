"""Semi-supervised learning: squared-loss mutual information regularization (SMIR)."""

from leavezero.semi_supervised._smir_classifier import (
    HeldOutScores,
    SMIRClassifier,
    fit_many,
    held_out_scores,
    predict_proba_many,
)
from leavezero.semi_supervised._smir_labels import marked_rows, plain_labels

__all__ = [
    "HeldOutScores",
    "SMIRClassifier",
    "fit_many",
    "held_out_scores",
    "marked_rows",
    "plain_labels",
    "predict_proba_many",
]
