"""Checks of a search and its score, and the paper's theory: divergence and risk bound."""

from leavezero.diagnostics._checks import (
    CandidateScores,
    CheckInputs,
    PermutationScores,
    run_checks,
)
from leavezero.diagnostics._diagnostic_report import (
    THRESHOLDS,
    Check,
    DiagnosticReport,
    Thresholds,
    format_score,
)
from leavezero.diagnostics._jensen_shannon import (
    DivergenceEstimate,
    corollary_divergence,
    jensen_shannon_augmenter,
    jensen_shannon_labels,
    joint_divergence,
)
from leavezero.diagnostics._risk_bound import RiskBound, risk_bound

__all__ = [
    "Check",
    "DiagnosticReport",
    "DivergenceEstimate",
    "RiskBound",
    "corollary_divergence",
    "jensen_shannon_augmenter",
    "jensen_shannon_labels",
    "joint_divergence",
    "risk_bound",
]
