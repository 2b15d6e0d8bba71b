"""Jensen-Shannon divergence: exact values, and estimates for augmenters."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.integrate import quad
from scipy.special import xlogy
from scipy.stats import chi, norm

from leavezero.augment import (
    CopulaAugmenter,
    FunctionAugmenter,
    GaussianAugmenter,
    LabelInvariantMixup,
    TextAugmenter,
    ValidationSet,
)
from leavezero.diagnostics import (
    corollary_divergence,
    jensen_shannon_augmenter,
    jensen_shannon_labels,
    joint_divergence,
)


def skewed_divergence(p, q, weight):
    def entropy(proportions):
        return -xlogy(proportions, proportions).sum()

    mixture = weight * p + (1 - weight) * q
    return max(0.0, entropy(mixture) - weight * entropy(p) - (1 - weight) * entropy(q))


@given(st.lists(st.integers(0, 3), min_size=1), st.lists(st.integers(0, 3), min_size=1))
def test_divergence_of_labels(y, y_val):
    p, q = (np.bincount(part, minlength=4) / len(part) for part in (y, y_val))
    divergence = jensen_shannon_labels(y, y_val)
    assert divergence == pytest.approx(skewed_divergence(p, q, 0.5), abs=1e-12)
    assert divergence == pytest.approx(jensen_shannon_labels(y_val, y))
    assert 0 <= divergence <= np.log(2) + 1e-12


@pytest.mark.parametrize(
    ("y", "y_val"),
    [([], [1]), ([1], []), ([1, 2], np.ones((2, 2)))],
)
def test_labels_that_cannot_be_compared(y, y_val):
    with pytest.raises(ValueError, match="must be one column and not empty"):
        jensen_shannon_labels(y, y_val)


@st.composite
def joint_distributions(draw):
    """Two distributions of three classes and a feature with four values."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    concentration = draw(st.sampled_from([0.1, 1.0, 10.0]))
    tables = rng.dirichlet(np.full(12, concentration), 2).reshape(2, 3, 4) + 1e-12
    return tables / tables.sum(axis=(1, 2), keepdims=True)


@given(joint_distributions())
def test_chain_rule_is_exact_and_the_corollary_is_an_upper_bound(tables):
    p, q = tables
    p_y, q_y = p.sum(axis=1), q.sum(axis=1)
    conditional = list(zip(p / p_y[:, None], q / q_y[:, None], p_y / (p_y + q_y), strict=True))
    exact = skewed_divergence(p.ravel(), q.ravel(), 0.5)
    skewed = [skewed_divergence(a, b, weight) for a, b, weight in conditional]
    assert joint_divergence(p_y, q_y, skewed) == pytest.approx(exact, abs=1e-9)
    plain = [skewed_divergence(a, b, 0.5) for a, b, _ in conditional]
    assert corollary_divergence(p_y, q_y, plain) >= exact - 1e-9
    equal = ([0.5, 0.5], [0.5, 0.5], plain[:2])
    assert corollary_divergence(*equal) == pytest.approx(2 * joint_divergence(*equal))


def test_chain_rule_with_disjoint_classes():
    assert joint_divergence([1.0, 0.0], [0.0, 1.0], [0.3, 0.3]) == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    ("proportions", "by_class", "message"),
    [
        ([1.0], [0.1, 0.2], "one entry per class"),
        ([0.7, 0.7], [0.1, 0.2], "of joint_divergence must sum to 1"),
        ([0.5, 0.5], [0.1, 0.9], "by_class of joint_divergence must be between 0 and ln 2"),
    ],
)
def test_invalid_proportions_and_divergences(proportions, by_class, message):
    with pytest.raises(ValueError, match=message):
        joint_divergence(proportions, [0.5, 0.5], by_class)


def true_divergence(p, q, low, high):
    def integrand(x):
        a, b = p(x), q(x)
        return sum(v * np.log(2 * v / (a + b)) for v in (a, b) if v > 0) / 2

    return quad(integrand, low, high, limit=500)[0]


CASES = {  # rows of the augmenter from standard normal ones, and the true divergence
    "shifted": (
        lambda rows: rows + np.eye(rows.shape[1])[0],
        lambda d: true_divergence(norm.pdf, norm(1).pdf, -10, 11),
    ),
    "scaled": (
        lambda rows: 1.2 * rows,
        lambda d: true_divergence(chi(d).pdf, chi(d, scale=1.2).pdf, 0, 12),
    ),
    "equal": (lambda rows: rows, lambda d: 0.0),
}


def estimate_case(case, d, n, seed):
    change, truth = CASES[case]

    def generate(X, y, n_samples, rng):
        return change(rng.standard_normal((n_samples, d))), np.zeros(n_samples, dtype=int)

    X, y = np.random.default_rng([seed, n, d]).standard_normal((n, d)), np.zeros(n, dtype=int)
    found = jensen_shannon_augmenter(
        FunctionAugmenter(generate), X, y, max_rows=n, random_state=seed
    )
    return found, truth(d)


@pytest.mark.parametrize("case", CASES)
def test_estimate_is_close_to_the_true_divergence(case):
    estimate, truth = estimate_case(case, 5, 240, 0)
    assert truth - 0.05 < estimate.value < truth + 3 * estimate.standard_error + 1e-9
    assert estimate.value == max(0.0, estimate.raw)
    assert (estimate.n_rows, estimate.n_rows_val) == (240, 240)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("d", [1, 5, 20])
@pytest.mark.parametrize(
    ("n", "repeats", "tolerance"), [(200, 8, 0.05), (1000, 4, 0.02), (5000, 2, 0.015)]
)
def test_mean_error_is_small(case, d, n, repeats, tolerance):
    found = [estimate_case(case, d, n, repeat) for repeat in range(repeats)]
    error = np.mean([estimate.raw - truth for estimate, truth in found])
    assert -tolerance < error < tolerance / 2


def test_disjoint_and_constant_samples():
    X, y = np.arange(60.0).reshape(-1, 1), np.zeros(60, dtype=int)
    far = FunctionAugmenter(lambda X, y, n, rng: (X + 1000.0, y))
    disjoint = jensen_shannon_augmenter(far, X, y, random_state=0)
    assert np.log(2) - 0.01 < disjoint.value <= np.log(2)
    assert disjoint.auc == 1.0
    constant = jensen_shannon_augmenter(LabelInvariantMixup(), X * 0.0, y, random_state=0)
    assert constant.value == pytest.approx(0.0, abs=1e-9)
    assert constant.auc == 0.5


def test_mixup_of_normal_rows_is_detected_and_a_normal_distribution_is_not(rng):
    X, y = rng.normal(size=(240, 10)), np.tile(["a", "b"], 120)
    mixup = jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)
    normal = jensen_shannon_augmenter(GaussianAugmenter(), X, y, random_state=0)
    assert mixup.value > 0.03
    assert mixup.auc > 0.6
    assert normal.value < 0.02
    assert mixup == jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)


@pytest.mark.slow
def test_estimate_for_mixup_is_close_to_the_true_divergence():
    """Mix-ups with Beta(1, 1) weights of two standard normal rows in 20 dimensions."""
    weights = (np.arange(400) + 0.5) / 400
    scales = np.hypot(weights, 1 - weights)
    truth = true_divergence(
        chi(20).pdf, lambda r: float(chi.pdf(r / scales, 20) @ (1 / scales)) / 400, 0, 12
    )
    X = np.random.default_rng(0).standard_normal((2000, 20))
    estimate = jensen_shannon_augmenter(
        LabelInvariantMixup(1.0), X, np.zeros(2000, dtype=int), random_state=0
    )
    assert truth - 0.04 < estimate.value < truth + 2 * estimate.standard_error


def generate(X, y, n_samples, rng, shift=0.0, proportions=(0.5, 0.5)):
    rows = rng.normal(size=(n_samples, X.shape[1])) + shift
    return ValidationSet(rows, rng.choice(2, n_samples, p=proportions))


def test_shifted_rows_and_other_label_proportions_are_detected(rng):
    X, y = rng.normal(size=(240, 4)), np.tile([0, 1], 120)
    far = FunctionAugmenter(partial(generate, shift=9.0))
    assert jensen_shannon_augmenter(far, X, y, random_state=0).value > 0.68
    unbalanced = FunctionAugmenter(partial(generate, proportions=(0.9, 0.1)))
    exact = jensen_shannon_labels([0] * 5 + [1] * 5, [0] * 9 + [1])
    estimate = jensen_shannon_augmenter(unbalanced, X, y, random_state=0)
    assert estimate.value == pytest.approx(exact, abs=0.04)


def test_divergence_of_a_regression_target(rng):
    y = rng.normal(size=240)
    X = np.column_stack([y + rng.normal(size=240), rng.normal(size=240)])
    assert jensen_shannon_augmenter(CopulaAugmenter(), X, y, random_state=0).value < 0.03
    permuted = FunctionAugmenter(lambda X, y, n, rng: (rng.permutation(X)[:n], y[:n]))
    assert jensen_shannon_augmenter(permuted, X, y, random_state=0).value > 0.05


def test_augmenters_of_frames_sparse_matrices_documents_and_wide_tables(rng):
    n = 120
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": pd.Categorical(rng.choice(list("xyz"), n))})
    frame.loc[::5, "a"] = np.nan
    y = np.tile(["no", "yes"], n // 2)
    assert jensen_shannon_augmenter(CopulaAugmenter(), frame, y, random_state=0).value < 0.05
    table = sparse.random(n, 40, density=0.1, random_state=0, format="csr")
    mixup = jensen_shannon_augmenter(LabelInvariantMixup(), table, y, random_state=0)
    assert mixup.value > 0.05
    documents = [" ".join(rng.choice(list("abcdef"), 8)) for _ in range(n)]
    shorter = jensen_shannon_augmenter(TextAugmenter(dropout=0.5), documents, y, random_state=0)
    assert shorter.value > 0.05
    wide = FunctionAugmenter(lambda X, y, n, rng: (rng.normal(1.0, size=X.shape), y))
    assert jensen_shannon_augmenter(wide, rng.normal(size=(n, 150)), y, random_state=0).auc > 0.9


def test_sample_weights_correct_wrong_labels(rng):
    def noisy(X, y, n_samples, rng, weighted=False):
        rows = rng.integers(len(X), size=n_samples)
        right, wrong = y[rows], np.where(rng.random(n_samples) < 0.5, y[rows], 1 - y[rows])
        weights = 1e-9 + (right == wrong) if weighted else None
        return ValidationSet(X[rows], wrong, weights)

    y = np.tile([0, 1], 60)
    X = y[:, None] * 6.0 + rng.normal(size=(120, 2))
    plain, weighted = (
        jensen_shannon_augmenter(
            FunctionAugmenter(partial(noisy, **options)), X, y, random_state=0
        ).value
        for options in ({}, {"weighted": True})
    )
    assert plain > 0.1
    assert weighted < 0.05


def test_small_classes_are_left_out_and_proportions_are_kept(rng):
    y = np.repeat([0, 1, 2, 3], [100, 1, 9, 5])
    X = rng.normal(size=(115, 3))
    assert jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0).n_rows == 109
    outputs = np.column_stack([np.tile([0, 1], 60), np.repeat([0, 1], 60)])
    X = rng.normal(size=(120, 2))
    limited = jensen_shannon_augmenter(
        LabelInvariantMixup(), X, outputs, max_rows=60, random_state=0
    )
    assert limited.n_rows == 60


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((4, 2)), np.zeros(4), "X of jensen_shannon_augmenter requires at least 6 rows"),
        (np.zeros((9, 2)), np.arange(9), "requires a class with at least 6 rows, got at most 1"),
        (np.zeros((9, 2)), np.zeros(8), "inconsistent numbers of samples"),
        (np.zeros((9, 2)), np.full(9, np.nan), "y of jensen_shannon_augmenter contains NaN"),
        (np.zeros((12, 2)), np.tile(["a", "b"], 6), "generates labels that y does not have"),
    ],
)
def test_invalid_training_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        jensen_shannon_augmenter(FunctionAugmenter(generate), X, y)
