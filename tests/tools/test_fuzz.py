"""The fuzzer in a short form: the seeds of every target, and some changes of them."""

import os
import random

import numpy as np
import pytest

from tools.fuzz.fuzz import Coverage, inputs, try_input
from tools.fuzz.targets import TARGETS, stored

RUNS = 20 * int(os.environ.get("TFRECORD_FAST_ROUNDS", "5"))
SLOW = {"state", "paths", "files"}  # those that start threads


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_ends_with_a_result_or_an_error(name):
    for data in [b"", *TARGETS[name].seeds(), *stored(name)]:
        try_input(TARGETS[name], data)


@pytest.mark.parametrize("name", TARGETS)
def test_changed_seeds_end_with_a_result_or_an_error(name):
    target, seed = TARGETS[name], random.randrange(2**32)
    corpus = [*target.seeds(), b""]
    series = inputs(random.Random(seed), target, corpus)
    for _ in range(RUNS if name in SLOW else 4 * RUNS):
        data = next(series)
        try:
            try_input(target, data)
        except Exception as error:
            raise AssertionError(f"seed {seed}, input {data!r}") from error


def test_a_build_that_does_not_tell_what_runs_is_refused(monkeypatch):
    coverage = Coverage()
    coverage.check()  # this one is not expected to
    monkeypatch.setattr(coverage, "now", np.zeros(4, np.uint8))
    with pytest.raises(SystemExit, match="trace-pc"):
        coverage.check()
