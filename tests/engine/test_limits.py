"""Limits as users write them."""

import time
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leavezero.engine import _limits as limits
from leavezero.engine import resolve_limits

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "K": 10**3, "Gi": 2**30}


@given(
    st.integers(1, 10**6),
    st.sampled_from(sorted(UNITS)),
    st.sampled_from(["", " "]),
    st.booleans(),
)
def test_a_size_is_a_number_and_a_unit(number, unit, space, lower):
    """Of thousands or of 1024, in any case."""
    text = f"{number}{space}{unit.lower() if lower else unit}"
    assert resolve_limits(None, None, text, "a search").memory == number * UNITS[unit]


@given(st.floats(0.001, 1e6) | st.integers(1, 10**6))
def test_seconds_are_any_positive_number(seconds):
    """They are stored as floats."""
    found = resolve_limits(seconds, seconds, None, "a search")
    assert (found.timeout, found.budget) == (float(seconds), float(seconds))
    assert found.any
    assert not found.spent()


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1", [1]])
@pytest.mark.parametrize("name", ["timeout", "time_budget"])
def test_what_is_no_time_is_refused(name, value):
    """By the parameter's name, with what is allowed."""
    given = {"timeout": None, "time_budget": None, "memory_limit": None, name: value}
    with pytest.raises(ValueError, match=f"{name} of a search must be None or a positive number"):
        resolve_limits(**given, owner="a search")


@pytest.mark.parametrize("value", [0, -5, 1.5, True, "", "GB", "2 GBs", "2XB", "-1GB", "1e9", "0"])
def test_what_is_no_size_is_refused(value):
    """With an example of one."""
    with pytest.raises(ValueError, match=r'memory_limit of a search must be .* Use "2GB"\.'):
        resolve_limits(None, None, value, "a search")


def test_memory_needs_linux(monkeypatch, tmp_path):
    """Elsewhere nothing tells what a process holds."""
    monkeypatch.setattr(limits, "STATM", tmp_path / "statm")
    with pytest.raises(ValueError, match="memory_limit of a search needs Linux, where /proc"):
        resolve_limits(None, None, "1GB", "a search")


def test_limits_need_a_fork(monkeypatch):
    """No limit needs nothing."""
    monkeypatch.setattr(limits, "can_fork", lambda: False)
    assert not resolve_limits(None, None, None, "a search").any
    with pytest.raises(ValueError, match="need processes that can be forked, which"):
        resolve_limits(1, None, None, "a search")


def test_time_is_spent():
    """From the moment that the limits are made."""
    found = resolve_limits(None, 1e-3, None, "a search")
    time.sleep(2e-3)
    assert found.spent()
    assert found.left() <= 0


def test_time_that_stands_still_is_not_spent(monkeypatch):
    """Also where what was waited for fails."""
    now = [10.0]
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now[0]))
    found = limits.Limits(budget=2.0, began=9.0)
    with suppress(OSError), found.standing_still():
        now[0] = 110.0
        raise OSError
    assert found.left() == 1.0
    now[0] = 111.0
    assert found.spent()


def test_a_wider_limit_allows_more():
    """And so does none."""
    found = resolve_limits(2, None, 1000, "a search")
    assert found.allow_more(("timeout", 1.0))
    assert not found.allow_more(("timeout", 2.0))
    assert not found.allow_more(("memory_limit", 2000.0))
    assert resolve_limits(None, None, None, "a search").allow_more(("timeout", 9.0))
