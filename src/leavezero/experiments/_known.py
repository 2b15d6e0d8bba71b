"""All that can be run again."""

from leavezero.experiments._reproduce_table3 import TABLE3
from leavezero.experiments._reproductions import Reproduction

REPRODUCTIONS: dict[str, Reproduction] = {known.name: known for known in (TABLE3,)}
