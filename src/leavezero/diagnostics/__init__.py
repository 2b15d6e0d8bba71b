"""Checks of a search and its score, and the paper's theory: divergence and risk bound."""

from leavezero.diagnostics._check_inputs import CandidateScores, CheckInputs, PermutationScores
from leavezero.diagnostics._checks import run_checks
from leavezero.diagnostics._diagnostic_report import (
    THRESHOLDS,
    Check,
    DiagnosticReport,
    Thresholds,
    format_score,
    severity,
)
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
    "THRESHOLDS",
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
