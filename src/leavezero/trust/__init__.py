"""May this score be believed: arrays and numbers in, facts out."""

from leavezero.trust._bound import RiskBound, risk_bound
from leavezero.trust._dimension import vc_dimension

__all__ = ["RiskBound", "risk_bound", "vc_dimension"]
