"""May this score be believed: arrays and numbers in, facts out."""

from leavezero.trust._bound import RiskBound, risk_bound
from leavezero.trust._dimension import vc_dimension
from leavezero.trust._evidence import Ballot, Evidence, Optimism
from leavezero.trust._examine import examine
from leavezero.trust._finding import Finding, score_text
from leavezero.trust._levels import ALARMS, LIMITS, Limits, level_of
from leavezero.trust._report import TrustReport

__all__ = [
    "ALARMS",
    "LIMITS",
    "Ballot",
    "Evidence",
    "Finding",
    "Limits",
    "Optimism",
    "RiskBound",
    "TrustReport",
    "examine",
    "level_of",
    "risk_bound",
    "score_text",
    "vc_dimension",
]
