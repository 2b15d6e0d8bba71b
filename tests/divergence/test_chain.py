"""The chain rule is exact, and the paper's corollary lies above it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from leavezero.divergence import corollary_divergence, joint_divergence


def entropy(shares):
    return -xlogy(shares, shares).sum()


def skewed(p, q, weight):
    """Return the divergence of two discrete laws with unequal weights."""
    mixed = weight * p + (1 - weight) * q
    return entropy(mixed) - weight * entropy(p) - (1 - weight) * entropy(q)


@st.composite
def joint_laws(draw):
    """Two laws of a class of three and a feature of four values."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    shape = draw(st.sampled_from([0.1, 1.0, 10.0]))
    return rng.dirichlet(np.full(12, shape), 2).reshape(2, 3, 4) + 1e-12


@given(joint_laws())
def test_the_chain_rule_gives_the_joint_divergence(laws):
    """From the labels' divergence and the classes' skewed ones, whatever the shares."""
    p, q = (law / law.sum() for law in laws)
    shares, shares_v = p.sum(axis=1), q.sum(axis=1)
    weights = shares / (shares + shares_v)
    inside = [
        max(0.0, skewed(a / a.sum(), b / b.sum(), w)) for a, b, w in zip(p, q, weights, strict=True)
    ]
    joint = skewed(p.ravel(), q.ravel(), 0.5)
    assert joint_divergence(shares, shares_v, inside) == pytest.approx(joint, abs=1e-9)


@given(joint_laws())
def test_the_corollary_is_above_the_root(laws):
    """As printed it is valid, and 1.41 times too large at equal shares."""
    p, q = (law / law.sum() for law in laws)
    inside = [max(0.0, skewed(a / a.sum(), b / b.sum(), 0.5)) for a, b in zip(p, q, strict=True)]
    found = corollary_divergence(p.sum(axis=1), q.sum(axis=1), inside)
    assert found.root >= np.sqrt(max(0.0, skewed(p.ravel(), q.ravel(), 0.5))) - 1e-7
    equal = corollary_divergence([0.5, 0.5], [0.5, 0.5], inside[:2])
    exact = joint_divergence([0.5, 0.5], [0.5, 0.5], inside[:2])
    assert equal.root == pytest.approx(np.sqrt(2 * exact))


def test_a_class_that_one_side_lacks():
    """The labels' divergence says it all."""
    assert joint_divergence([1.0, 0.0], [0.0, 1.0], [0.3, 0.3]) == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    ("shares", "by_class", "message"),
    [
        ([1.0], [0.1, 0.2], "must be of one length, got shapes"),
        ([0.7, 0.7], [0.1, 0.2], "shares of joint_divergence must sum to 1"),
        ([0.5, 0.5], [0.1, 0.9], r"by_class of joint_divergence must be between 0 and ln 2"),
    ],
)
def test_numbers_that_are_no_shares_or_divergences(shares, by_class, message):
    """The message names which."""
    with pytest.raises(ValueError, match=message):
        joint_divergence(shares, [0.5, 0.5], by_class)
