import numpy as np
import pytest

from leavezero.experiments import STUDIES, RegretStudy, TrustStudy, alarms
from leavezero.trust import Limits


def lines_of(regrets, figures, n_choices=6):
    """Return lines in which a figure goes with a regret, in several data sets."""
    return [
        {
            "key": {"data": f"set {number}", "split": split},
            "result": {
                "ways": {
                    "auto": {
                        "k-NN": {
                            "regret": regrets[split % 2],
                            "findings": {"LZ03": [figures[split % 2], "ok"]},
                        }
                    }
                }
            },
        }
        for number in range(4)
        for split in range(n_choices)
    ]


@pytest.fixture(scope="module")
def result():
    """Return one small run."""
    study = RegretStudy(("iris",), "classes", ("mix-up",), n_splits=1, max_rows=60)
    return TrustStudy(study)({"data": "iris", "split": 0})


def test_every_family_and_the_pool_have_a_regret_and_the_findings(result):
    """A choice is judged by what it costs and by what was found about it."""
    families = result["ways"]["mix-up"]
    assert "pool" in families
    for found in families.values():
        assert found["regret"] >= 0.0
        assert {"LZ03", "LZ04", "LZ05", "LZ10"} <= found["findings"].keys()


def test_findings_about_rows_are_the_same_for_all_families(result):
    """They look at V and the data only."""
    figures = {tuple(found["findings"]["LZ03"]) for found in result["ways"]["mix-up"].values()}
    assert len(figures) == 1


def test_an_alarm_with_more_regret_has_power():
    """The interval over data sets excludes zero."""
    [alarm] = alarms(lines_of(regrets=(3.0, 1.0), figures=(0.2, 1.0)))
    assert (alarm.share, alarm.difference, alarm.has_power) == (0.5, 2.0, True)
    assert alarm.low == alarm.high == 2.0


def test_an_alarm_that_tells_nothing_has_none():
    """Nor one that never rings, of which nothing can be said."""
    [alarm] = alarms(lines_of(regrets=(1.0, 1.0), figures=(0.2, 1.0)))
    assert not alarm.has_power
    [silent] = alarms(lines_of(regrets=(1.0, 1.0), figures=(1.0, 1.0)))
    assert np.isnan(silent.low)
    assert not silent.has_power


def test_other_limits_can_be_tried_on_the_same_lines():
    """Figures are kept, levels are found anew."""
    never = {"LZ03": Limits(0.9, None, falling=True)}
    [alarm] = alarms(lines_of(regrets=(3.0, 1.0), figures=(0.2, 1.0)), limits=never)
    assert alarm.share == 0.0
    assert alarms(lines_of((1.0, 1.0), (1.0, 1.0)), ways=["mix-up"]) == []


def test_both_halves_have_a_study():
    """Limits are set on one and checked on the other."""
    halves = [STUDIES[name](None, 1).study.data for name in ("trust-tuned-on", "trust-held-back")]
    assert not set(halves[0]) & set(halves[1])
