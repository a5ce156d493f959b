"""tfrecord_fast's face with tensors, beside the package without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.contenders import CannotError, Job, Setting
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.ours.features import columns_of, count_of
from benchmarks.data.workloads import feature_objects


def face_batches(job: Job) -> list[Setting]:
    """Parse through both interfaces; through TensorFlow's names, also read each value."""
    import tfrecord_fast as plain
    import tfrecord_fast.tensorflow as face

    if job.dataset.sequences:
        raise CannotError("not measured: SequenceExamples")
    size = job.dataset.batch

    def parsed(module: Any) -> Any:
        features = feature_objects(job.dataset.features, module)
        records = module.data.TFRecordDataset(job.dataset.files, "")
        return records.batch(size).map(lambda batch: module.io.parse_example(batch, features))

    of_face = parsed(face)

    def looked_at() -> Iterator[Any]:
        for item in of_face:
            item.values()
            yield item

    label = f"batch({size}).map(parse_example)"
    rows = {"face": of_face, "face, every value": looked_at, "plain": parsed(plain)}
    return [
        Parsing(label, source, lambda item: columns_of(numpy_of(item)), count_of, row) for row, source in rows.items()
    ]


def numpy_of(item: Any) -> dict[str, Any]:
    """The values as the package has them."""
    return {name: value.numpy() if hasattr(value, "get_shape") else value for name, value in item.items()}
