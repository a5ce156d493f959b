"""Buckets of sequences by length: what is padded, and how far."""

import numpy as np
import pytest

import tfrecord_fast as tf


@pytest.mark.parametrize("length_first", [True, False])
def test_only_lengths_that_vary_are_padded_to_the_boundary_of_a_bucket(length_first):
    def element(n):
        rows = np.ones((int(n), 3), np.float32)
        return rows if length_first else rows.T

    bucketed = (
        tf.data.Dataset.range(1, 5)
        .map(element)
        .bucket_by_sequence_length(
            lambda one: one.shape[0 if length_first else 1], [5], [2, 2], pad_to_bucket_boundary=True
        )
    )
    shape = (2, 4, 3) if length_first else (2, 3, 4)
    assert [(batch.shape, float(batch.sum())) for batch in bucketed] == [(shape, 9.0), (shape, 21.0)]


@pytest.mark.parametrize("rank", [1, 2])
def test_the_first_element_of_a_generator_does_not_fix_the_length_of_a_bucket(rank):
    """Without a signature its shape is all that is known of the others."""
    elements = [np.ones((n, 3)[:rank], np.int32) for n in range(1, 5)]
    dataset = tf.data.Dataset.from_generator(lambda: elements, tf.int32)
    bucketed = dataset.bucket_by_sequence_length(len, [5], [2, 2], pad_to_bucket_boundary=True)
    assert [batch.shape for batch in bucketed] == [(2, 4, 3)[: rank + 1]] * 2
