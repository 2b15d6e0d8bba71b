"""What we know about one kind of estimator."""

from leavezero.families._base import Family, Unseen
from leavezero.families._known import register_known
from leavezero.families._registry import family_of, register_family

__all__ = ["Family", "Unseen", "family_of", "register_family"]

register_known()
