"""Checks of a search and its score, and the paper's theory: divergence and risk bound."""

from leavezero.diagnostics._check import (
    THRESHOLDS,
    WARNING_CODES,
    Check,
    Thresholds,
    format_score,
    severity,
)
from leavezero.diagnostics._check_inputs import CandidateScores, CheckInputs, PermutationScores
from leavezero.diagnostics._diagnostic_report import DiagnosticReport
from leavezero.diagnostics._jensen_shannon import (
    corollary_divergence,
    jensen_shannon_labels,
    joint_divergence,
)
from leavezero.diagnostics._risk_bound import RiskBound, risk_bound
from leavezero.diagnostics._run_checks import run_checks
from leavezero.diagnostics._two_sample import (
    DivergenceEstimate,
    jensen_shannon_augmenter,
    jensen_shannon_features,
)
from leavezero.diagnostics._vc_dimension import vc_dimension

__all__ = [
    "THRESHOLDS",
    "WARNING_CODES",
    "CandidateScores",
    "Check",
    "CheckInputs",
    "DiagnosticReport",
    "DivergenceEstimate",
    "PermutationScores",
    "RiskBound",
    "Thresholds",
    "corollary_divergence",
    "format_score",
    "jensen_shannon_augmenter",
    "jensen_shannon_features",
    "jensen_shannon_labels",
    "joint_divergence",
    "risk_bound",
    "run_checks",
    "severity",
    "vc_dimension",
]
