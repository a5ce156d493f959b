"""tfrecord_fast's face with tensors, beside the package without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.contenders import CannotError, Job, Setting
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.ours.features import columns_of, count_of, of_one
from benchmarks.data.columns import Batch
from benchmarks.data.workloads import feature_objects


def face_single(job: Job) -> list[Setting]:
    """A loop that leaves the values alone, and one that looks at each."""
    return settings(job, "parse_single_example", None, of_one, lambda _: 1)


def face_batches(job: Job) -> list[Setting]:
    return settings(job, "parse_example", job.dataset.batch, columns_of, count_of)


def settings(
    job: Job, name: str, size: int | None, columns: Callable[[Any], Batch], count: Callable[[Any], int]
) -> list[Setting]:
    """Parse through both interfaces; through TensorFlow's names, also read each value."""
    import tfrecord_fast as plain
    import tfrecord_fast.tensorflow as face

    if job.dataset.sequences:
        raise CannotError("not measured: SequenceExamples")

    def parsed(module: Any) -> Any:
        features, parse = feature_objects(job.dataset.features, module), getattr(module.io, name)
        records = module.data.TFRecordDataset(job.dataset.files, "")
        return (records if size is None else records.batch(size)).map(lambda record: parse(record, features))

    of_face = parsed(face)

    def looked_at() -> Iterator[Any]:
        for item in of_face:
            item.values()
            yield item

    label = f"map({name})" if size is None else f"batch({size}).map({name})"
    rows = {"face": of_face, "face, every value": looked_at, "plain": parsed(plain)}
    return [Parsing(label, source, lambda item: columns(numpy_of(item)), count, row) for row, source in rows.items()]


def numpy_of(item: Any) -> dict[str, Any]:
    """The values as the package has them."""
    return {name: value.numpy() if hasattr(value, "get_shape") else value for name, value in item.items()}
