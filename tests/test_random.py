"""Independent random streams from one seed."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from leavezero._random import integer_seed, seed_sequence, stream, with_seed


def test_a_purpose_has_one_stream_whatever_was_asked_for_before():
    """Asking for one stream does not advance another."""
    root = seed_sequence(3)
    before = stream(root, "class", 1).random(4)
    stream(root, "class", 0).random(100)
    assert np.array_equal(before, stream(root, "class", 1).random(4))


def test_streams_of_different_purposes_differ():
    """Classes and replicates do not share their numbers."""
    root = seed_sequence(3)
    draws = [stream(root, *p).random() for p in (("class", 0), ("class", 1), ("replicate", 0))]
    assert len(set(draws)) == 3


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_shared_generator_is_advanced_and_repeats_from_its_seed(make):
    """Two calls with one generator differ; two generators of one seed agree."""
    generator, twin = make(0), make(0)
    first, second = integer_seed(seed_sequence(generator)), integer_seed(seed_sequence(generator))
    assert first != second
    assert first == integer_seed(seed_sequence(twin))


def test_none_gives_a_new_root_each_time():
    """Without a seed two calls differ."""
    assert seed_sequence(None).entropy != seed_sequence(None).entropy


@pytest.mark.parametrize("wrong", [-1, 1.5, "seed"])
def test_a_wrong_random_state_is_refused(wrong):
    """The message says what is allowed."""
    with pytest.raises(ValueError, match="random_state must be None, a non-negative int"):
        seed_sequence(wrong)


def test_only_unset_seeds_are_set():
    """A seed that the user chose stays."""
    estimator = make_pipeline(SVC(random_state=4))
    assert with_seed(estimator, 9).named_steps["svc"].random_state == 4
    assert with_seed(make_pipeline(SVC()), 9).named_steps["svc"].random_state == 9
