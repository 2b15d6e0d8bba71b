"""Data that many tests use, and how hypothesis searches."""

import os

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_iris, make_classification
from threadpoolctl import threadpool_limits

# Tests start many processes, whose imports take a third of the time if bytecode is cached.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Threads of BLAS wait for one another when several tests share the cores, and their number changes
# the last digits of sums, which tests compare between one and several workers.
threadpool_limits(limits=1)
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# Timing is not a property of ours, and a shared machine has slow moments.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def two_classes():
    """200 rows of two overlapping classes."""
    return make_classification(200, 5, flip_y=0.2, random_state=0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)
