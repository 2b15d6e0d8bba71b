"""Semi-supervised learning: squared-loss mutual information regularization (SMIR)."""

from leavezero.semi_supervised._decompose import Decomposition, decompose
from leavezero.semi_supervised._folds import HeldOut, held_out_scores
from leavezero.semi_supervised._labels import marked_rows, plain_labels
from leavezero.semi_supervised._respond import predict_proba_many
from leavezero.semi_supervised._smir import SMIRClassifier
from leavezero.semi_supervised._solve import Setting, Solution, solve
from leavezero.semi_supervised._together import fit_many

__all__ = [
    "Decomposition",
    "HeldOut",
    "SMIRClassifier",
    "Setting",
    "Solution",
    "decompose",
    "fit_many",
    "held_out_scores",
    "marked_rows",
    "plain_labels",
    "predict_proba_many",
    "solve",
]
