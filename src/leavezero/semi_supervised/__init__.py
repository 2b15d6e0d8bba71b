"""Semi-supervised learning: squared-loss mutual information regularization (SMIR)."""

from leavezero.semi_supervised._smir_classifier import SMIRClassifier, fit_many
from leavezero.semi_supervised._smir_classifier import held_out_scores as held_out_scores
from leavezero.semi_supervised._smir_classifier import predict_proba_many as predict_proba_many
from leavezero.semi_supervised._smir_labels import marked_rows as marked_rows
from leavezero.semi_supervised._smir_labels import plain_labels as plain_labels

__all__ = ["SMIRClassifier", "fit_many"]  # other names are for other packages of leavezero
