"""Checks of a search and its score, and the paper's theory: divergence and risk bound."""

from leavezero.diagnostics._checks import CandidateScores as CandidateScores  # not public
from leavezero.diagnostics._checks import CheckInputs as CheckInputs  # not public
from leavezero.diagnostics._checks import PermutationScores as PermutationScores  # not public
from leavezero.diagnostics._checks import run_checks as run_checks  # not public
from leavezero.diagnostics._diagnostic_report import THRESHOLDS as THRESHOLDS  # not public
from leavezero.diagnostics._diagnostic_report import Check, DiagnosticReport
from leavezero.diagnostics._diagnostic_report import Thresholds as Thresholds  # not public
from leavezero.diagnostics._diagnostic_report import format_score as format_score  # not public
from leavezero.diagnostics._jensen_shannon import (
    DivergenceEstimate,
    corollary_divergence,
    jensen_shannon_augmenter,
    jensen_shannon_features,
    jensen_shannon_labels,
    joint_divergence,
)
from leavezero.diagnostics._risk_bound import RiskBound, risk_bound, vc_dimension

__all__ = [
    "Check",
    "DiagnosticReport",
    "DivergenceEstimate",
    "RiskBound",
    "corollary_divergence",
    "jensen_shannon_augmenter",
    "jensen_shannon_features",
    "jensen_shannon_labels",
    "joint_divergence",
    "risk_bound",
    "vc_dimension",
]
