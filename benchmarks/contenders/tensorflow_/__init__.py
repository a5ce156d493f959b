"""TensorFlow: `tf.data.TFRecordDataset` and `tf.io.TFRecordWriter`, in the settings of its performance guide
(https://www.tensorflow.org/guide/data_performance)."""

from __future__ import annotations

from benchmarks.contenders import Contender, Importing, Job, Setting
from benchmarks.contenders.tensorflow_.images import images
from benchmarks.contenders.tensorflow_.parsing import (
    epoch,
    parse,
    parse_gzip,
    parse_memory,
    parse_single,
    shards,
    train_feed,
)
from benchmarks.contenders.tensorflow_.pipelines import pipelines
from benchmarks.contenders.tensorflow_.reading import loop, memory, raw, raw_gzip
from benchmarks.contenders.tensorflow_.writing import write, write_columns, write_gzip


def importing(job: Job) -> list[Setting]:
    return [Importing("tensorflow", "tensorflow_cpu")]


CONTENDER = Contender(
    "tensorflow",
    "TensorFlow",
    package="tensorflow_cpu",
    module="tensorflow",
    install="pip install tensorflow-cpu",
    tasks={
        "raw": raw,
        "raw-gzip": raw_gzip,
        "parse": parse,
        "parse-gzip": parse_gzip,
        "shards": shards,
        "parse-memory": parse_memory,
        "parse-single": parse_single,
        "epoch": epoch,
        "train-feed": train_feed,
        "face-batches": parse,
        "pipelines": pipelines,
        "images": images,
        "loop": loop,
        "memory": memory,
        "write": write,
        "write-columns": write_columns,
        "write-gzip": write_gzip,
        "write-gzip-1": write_gzip,
        "import": importing,
    },
    environment={"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""},
)
