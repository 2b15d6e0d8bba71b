"""All that can be run again."""

from leavezero.experiments._reproduce_regret import REGRET
from leavezero.experiments._reproduce_small import SMALL
from leavezero.experiments._reproduce_table3 import TABLE3
from leavezero.experiments._reproduce_table5 import TABLE5
from leavezero.experiments._reproductions import Reproduction

REPRODUCTIONS: dict[str, Reproduction] = {
    known.name: known for known in (TABLE3, TABLE5, SMALL, REGRET)
}
