"""Jensen-Shannon divergence: exact values, two independent samples, and augmenters."""

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
    NeighborMixup,
    ValidationSet,
)
from leavezero.diagnostics import (
    corollary_divergence,
    jensen_shannon_augmenter,
    jensen_shannon_features,
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


def shifted(d, n, rng):
    X, X_val = rng.standard_normal((2, n, d))
    X_val[:, 0] += 1.0
    return X, X_val, true_divergence(norm.pdf, norm(1).pdf, -10, 11)


def scaled(d, n, rng):
    X, X_val = rng.standard_normal((2, n, d))
    return X, 1.2 * X_val, true_divergence(chi(d).pdf, chi(d, scale=1.2).pdf, 0, 12)


def equal(d, n, rng):
    X, X_val = rng.standard_normal((2, n, d))
    return X, X_val, 0.0


@pytest.mark.parametrize("sample", [shifted, scaled, equal])
def test_estimate_is_close_to_the_true_divergence(sample, rng):
    X, X_val, truth = sample(5, 160, rng)
    estimate = jensen_shannon_features(X, X_val, random_state=0)
    assert truth - 0.05 < estimate.value < truth + 3 * estimate.standard_error + 1e-9
    assert estimate.value == max(0.0, estimate.raw)
    assert (estimate.n_rows, estimate.n_rows_val) == (160, 160)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [shifted, scaled, equal])
@pytest.mark.parametrize("d", [1, 5, 20])
@pytest.mark.parametrize(
    ("n", "repeats", "tolerance"), [(200, 8, 0.05), (1000, 4, 0.02), (5000, 2, 0.015)]
)
def test_mean_error_is_within_the_documented_tolerance(sample, d, n, repeats, tolerance):
    errors = []
    for repeat in range(repeats):
        X, X_val, truth = sample(d, n, np.random.default_rng([repeat, n, d]))
        estimate = jensen_shannon_features(X, X_val, max_rows=n, random_state=repeat)
        errors.append(estimate.raw - truth)
    assert -tolerance < np.mean(errors) < tolerance / 2


def test_samples_of_different_sizes_have_equal_weight(rng):
    X, X_val, truth = shifted(3, 1000, rng)
    for sizes in ((100, 1000), (1000, 100)):
        estimate = jensen_shannon_features(X[: sizes[0]], X_val[: sizes[1]], random_state=0)
        assert estimate.value == pytest.approx(truth, abs=0.06)


def test_results_are_reproducible_and_the_number_of_rows_is_limited(rng):
    X, X_val, _ = shifted(2, 200, rng)
    first, second = (
        jensen_shannon_features(X, X_val, max_rows=50, random_state=3) for _ in range(2)
    )
    assert first == second
    assert (first.n_rows, first.n_rows_val) == (50, 50)


def test_disjoint_and_constant_samples():
    X = np.arange(60.0).reshape(-1, 1)
    disjoint = jensen_shannon_features(X, X + 1000.0, random_state=0)
    assert np.log(2) - 0.01 < disjoint.value <= np.log(2)
    assert disjoint.auc == 1.0
    constant = jensen_shannon_features(np.ones((30, 2)), np.ones((40, 2)), random_state=0)
    assert constant.value == pytest.approx(0.0, abs=1e-9)
    assert constant.auc == 0.5


def test_data_frames_with_categories_times_and_missing_values(rng):
    n = 120
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "category": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
            "string": rng.choice(["u", "v"], n),
        }
    )
    other = frame.iloc[rng.permutation(n)].reset_index(drop=True)
    assert jensen_shannon_features(frame, other, random_state=0).value < 0.05
    missing = other.assign(number=other["number"].where(rng.random(n) < 0.5))
    assert jensen_shannon_features(frame, missing, random_state=0).value > 0.1
    new_category = other.assign(category=pd.Categorical(["d"] * n))
    assert jensen_shannon_features(frame, new_category, random_state=0).value > 0.6


def test_sparse_matrices_documents_and_wide_tables(rng):
    sparser, denser = (
        sparse.random(120, 150, density=density, random_state=0, format=format)
        for density, format in ((0.03, "csr"), (0.06, "coo"))
    )
    assert jensen_shannon_features(sparser, denser, random_state=0).value > 0.15
    assert jensen_shannon_features(sparser[:60], sparser[60:], random_state=0).value < 0.05
    first, second = (
        [" ".join(rng.choice(list(letters), 8)) for _ in range(100)] for letters in ("abcd", "cdef")
    )
    assert jensen_shannon_features(first, second, random_state=0).value > 0.4
    X, X_val, _ = equal(150, 60, rng)
    assert jensen_shannon_features(X, X_val + 1.0, random_state=0).auc > 0.9


NARROW, WIDE = np.zeros((12, 2)), np.zeros((12, 3))
FRAME = pd.DataFrame({"a": np.arange(12.0), "b": 1.0})


@pytest.mark.parametrize(
    ("X", "X_val", "message"),
    [
        (NARROW, WIDE, r"same columns, got an array with rows of shape \(2,\) and .* \(3,\)"),
        (FRAME, FRAME.rename(columns={"b": "c"}), r"\['a', 'b'\] and .*\['a', 'c'\]"),
        (FRAME, NARROW, "got a data frame with columns .* and an array"),
        (sparse.csr_matrix(NARROW), NARROW, "got a sparse matrix .* and an array"),
        (NARROW, NARROW[:3], r"X_val of \w+ requires at least 10 rows, got 3"),
        (NARROW, NARROW + np.inf, "infinity"),
    ],
)
def test_samples_that_cannot_be_compared(X, X_val, message):
    with pytest.raises(ValueError, match=message):
        jensen_shannon_features(X, X_val)


def test_max_rows_must_be_large_enough():
    with pytest.raises(ValueError, match="max_rows of jensen_shannon_features must be an int of"):
        jensen_shannon_features(NARROW, NARROW, max_rows=5)


def test_mixup_of_normal_rows_is_detected_and_a_normal_distribution_is_not(rng):
    X, y = rng.normal(size=(240, 10)), np.tile(["a", "b"], 120)
    mixup = jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)
    normal = jensen_shannon_augmenter(GaussianAugmenter(), X, y, random_state=0)
    assert mixup.value > 0.03
    assert mixup.auc > 0.6
    assert normal.value < 0.02
    assert mixup == jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)


def test_generated_rows_in_other_folds_than_their_sources_hide_the_difference(rng):
    X, y = rng.normal(size=(300, 10)), np.zeros(300, dtype=int)
    augmenter = NeighborMixup()
    estimate = jensen_shannon_augmenter(augmenter, X, y, random_state=0)
    validation_set = augmenter.fit(X, y).sample(300, random_state=0)
    naive = jensen_shannon_features(X, validation_set.X, random_state=0)
    assert estimate.raw > naive.raw + estimate.standard_error


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


def test_augmenters_of_frames_and_sparse_matrices(rng):
    n = 120
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": pd.Categorical(rng.choice(list("xyz"), n))})
    frame.loc[::5, "a"] = np.nan
    y = np.tile(["no", "yes"], n // 2)
    assert jensen_shannon_augmenter(CopulaAugmenter(), frame, y, random_state=0).value < 0.05
    table = sparse.random(n, 40, density=0.1, random_state=0, format="csr")
    mixup = jensen_shannon_augmenter(LabelInvariantMixup(), table, y, random_state=0)
    assert mixup.value > 0.05


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
