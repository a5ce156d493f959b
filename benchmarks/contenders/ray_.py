"""Ray Data: `read_tfrecords`, on a cluster of this machine alone (https://docs.ray.io/en/latest/data/)."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import CannotError, Contender, Job, Setting
from benchmarks.contenders.kit.engines import start_ray
from benchmarks.contenders.kit.feeding import Feeding, buffer_of, needs, of_tensors
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.data.columns import Batch, of_arrow
from benchmarks.data.tasks import SHUFFLE


def parse(
    job: Job, files: list[str] | None = None, compression: str | None = None, shuffle: int | None = None
) -> list[Setting]:
    import ray

    if job.dataset.sequences:
        raise CannotError("no SequenceExamples")
    n = job.dataset.batch
    start_ray()

    def batches(**options: Any) -> Any:
        read = ray.data.read_tfrecords(files or job.dataset.files, file_extensions=None, shuffle=None, **options)
        return read.iter_batches(batch_size=n, batch_format="pyarrow", local_shuffle_buffer_size=shuffle)

    def columns(batch: Any) -> Batch:
        return {
            name: of_arrow(batch.column(name).combine_chunks(), dtype)
            for name, (_, dtype, _) in job.dataset.features.items()
        }

    options = {"arrow_open_stream_args": {"compression": compression}}
    label = "read_tfrecords.iter_batches(pyarrow" + (f", local_shuffle_buffer_size={shuffle})" if shuffle else ")")
    return [
        Parsing(
            label,
            lambda: batches(**options),
            columns,
            lambda batch: batch.num_rows,
            order="shuffled" if shuffle else "any",
        )
    ]


def parse_gzip(job: Job) -> list[Setting]:
    files, compression = job.packed("GZIP", "ZSTD")
    return parse(job, files, compression.lower())


def engines(job: Job) -> list[Setting]:
    """The blocks, in the driver."""
    import ray

    start_ray()

    def blocks() -> Any:
        read = ray.data.read_tfrecords(job.dataset.files, file_extensions=None, shuffle=None)
        return read.iter_batches(batch_size=None, batch_format="pyarrow")

    def columns(table: Any) -> Batch:
        return {
            name: of_arrow(table.column(name).combine_chunks(), dtype)
            for name, (_, dtype, _) in job.dataset.features.items()
        }

    return [Parsing("read_tfrecords", blocks, columns, lambda table: int(table.num_rows), order="any")]


def epoch(job: Job) -> list[Setting]:
    job.needs_features()
    files, compression = job.sources("GZIP", "ZSTD")
    return parse(job, files, compression.lower() or None, shuffle=SHUFFLE)


def train_feed(job: Job) -> list[Setting]:
    """Files in a random order and a local shuffle buffer, to PyTorch's tensors."""
    needs("torch")
    import ray

    job.needs_features()
    if job.dataset.sequences:
        raise CannotError("no SequenceExamples")
    start_ray()
    strings = [name for name, (_, dtype, _) in job.dataset.features.items() if dtype == "string"]

    def tensors(batch: dict[str, Any]) -> dict[str, Any]:
        import torch

        return {name: values.tolist() if name in strings else torch.as_tensor(values) for name, values in batch.items()}

    def batches() -> Any:
        read = ray.data.read_tfrecords(job.dataset.files, file_extensions=None, shuffle="files")
        return read.iter_torch_batches(
            batch_size=job.dataset.batch, local_shuffle_buffer_size=buffer_of(job), collate_fn=tensors
        )

    return [Feeding(f"iter_torch_batches(local_shuffle_buffer_size={buffer_of(job)})", batches, of_tensors)]


CONTENDER = Contender(
    "ray",
    "Ray Data",
    package="ray",
    module="ray",
    # Older versions could read by tfx-bsl, which was faster; this one can't (ray-project/ray#63245).
    leaves_out="no CRC, no SequenceExamples, no longer reads by tfx-bsl; what its worker processes read from disk is "
    "not counted",
    checks=False,
    requirements=("ray[data]==2.60.0", "tensorflow-cpu==2.21.0", "torch", "pydantic"),
    tasks={"parse": parse, "parse-gzip": parse_gzip, "epoch": epoch, "train-feed": train_feed, "engines": engines},
    environment={"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "", "RAY_USAGE_STATS_ENABLED": "0"},
)
