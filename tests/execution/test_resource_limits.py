"""Limits as users write them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leavezero.execution import Limits, TaskEnded, resolve_limits
from leavezero.execution import _resource_limits as module

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "K": 10**3, "Gi": 2**30}


@given(st.integers(1, 10**6), st.sampled_from(sorted(UNITS)), st.sampled_from(["", " "]))
def test_memory_limit_is_a_number_and_a_unit(number, unit, space):
    for text in (f"{number}{space}{unit}", f" {number}{space}{unit.lower()} "):
        assert resolve_limits(None, None, text, "a search").memory_limit == number * UNITS[unit]


@given(st.floats(0.001, 1e6) | st.integers(1, 10**6) | st.just(1e300))
def test_seconds_are_any_positive_number(seconds):
    found = resolve_limits(seconds, seconds, None, "a search")
    assert (found.timeout, found.time_budget) == (float(seconds), float(seconds))
    assert found.any
    assert not found.spent()


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 10**400, True, "1", [1]])
@pytest.mark.parametrize("name", ["timeout", "time_budget"])
def test_invalid_seconds_raise(name, value):
    given = {"timeout": None, "time_budget": None, "memory_limit": None, name: value}
    with pytest.raises(ValueError, match=f"{name} of a search must be None or a positive number"):
        resolve_limits(**given, owner="a search")


@pytest.mark.parametrize(
    "value", [0, -5, 1.5, True, "", "GB", "2 GBs", "2XB", "2iB", "-1GB", "1e9", "0", "9" * 99]
)
def test_invalid_memory_limits_raise(value):
    with pytest.raises(ValueError, match=r'memory_limit of a search must be .* such as "2GB"'):
        resolve_limits(None, None, value, "a search")


def test_memory_limit_requires_a_way_to_measure(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "STATM", tmp_path / "statm")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="memory_limit of a search requires Linux or the package"):
        resolve_limits(None, None, "1GB", "a search")


def test_paused_seconds_do_not_count():
    limits = Limits(time_budget=0.02)
    with limits.clock.paused():
        time.sleep(0.03)
    assert limits.clock.seconds() < 0.03
    time.sleep(0.03)
    assert limits.spent()
    assert limits.remaining() <= 0
    assert not Limits().spent()


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (TaskEnded("memory_limit", 1000), "exceeded memory_limit=1000 bytes and was ended"),
        (TaskEnded("time_budget", 2.5), "was not finished within time_budget=2.5 seconds"),
        (TaskEnded("died", 3), "its process ended with exit code 3, twice"),
        (TaskEnded("died", -11), "its process was ended by signal SIGSEGV, twice"),
        (TaskEnded("died", -9), "its process was ended by signal SIGKILL (the system does this"),
        (TaskEnded("died", -99), "its process was ended by signal 99, twice"),
        (TaskEnded("failed", 0.0, 1.0, "ValueError: text"), "ValueError: text"),
    ],
)
def test_ended_tasks_describe_themselves(ended, text):
    assert str(ended).startswith(text)
