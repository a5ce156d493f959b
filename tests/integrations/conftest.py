"""Files that several engines read."""

import pytest

import tfrecord_fast as tf
from tests.support.engine_rows import columns_of


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """A function from a compression to files with it: a large one, and some small ones."""
    made = {}

    def files(kind=""):
        if kind not in made:
            folder = tmp_path_factory.mktemp("written")
            for seed in range(4):
                with tf.ExampleWriter(folder / f"{seed}.tfrecord", options=kind) as writer:
                    for part in range(8 if seed == 0 else 1):
                        writer.write(columns_of(seed * 10 + part))
            made[kind] = str(folder)
        return made[kind]

    return files
