"""NVIDIA DALI: `fn.readers.tfrecord` in a pipeline on the CPU alone
(https://docs.nvidia.com/deeplearning/dali/user-guide/docs/)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.contenders import CannotError, Contender, Job, Setting, cores, index_of
from benchmarks.contenders.kit.imaging import Photos, row_of, step_of
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.data.columns import Batch, of_lists
from benchmarks.data.photos import EVALUATE, RATIO, SCALE, SHORTER_SIDE, SIZE, TRAIN
from benchmarks.data.tasks import SHUFFLE


def parse(job: Job, **shuffle: Any) -> list[Setting]:
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali import tfrecord as tfrec

    data = job.dataset
    if data.sequences:
        raise CannotError("no SequenceExamples")
    kinds = {"int64": (tfrec.int64, 0), "float32": (tfrec.float32, 0.0), "string": (tfrec.string, "")}
    features = {
        name: tfrec.FixedLenFeature(list(shape), *kinds[dtype])
        if kind == "fixed"
        else tfrec.VarLenFeature(*kinds[dtype])
        for name, (kind, dtype, shape) in data.features.items()
    }
    indexes = [index_of(file, job.scratch) for file in data.files]
    size = even(data.records, data.batch)

    def setting(threads: int, **reader: Any) -> Setting:
        def pipeline() -> Any:
            outputs = fn.readers.tfrecord(
                path=data.files,
                index_path=indexes,
                features=features,
                name="reader",
                pad_last_batch=True,
                **shuffle,
                **reader,
            )
            return tuple(outputs[name] for name in data.features)

        options = {"batch_size": size, "num_threads": threads, "device_id": None, "prefetch_queue_depth": 2}
        built = pipeline_def(**options)(pipeline)()
        built.build()

        def batches() -> Iterator[tuple[int, Any]]:
            """Leaves off the padding of the last batch; the next pass begins at the first record again."""
            left = data.records
            while left > 0:
                yield min(left, size), built.run()
                left -= size

        arguments = {"batch_size": size, "num_threads": threads} | shuffle | reader
        label = ", ".join(f"{key}={value}" for key, value in arguments.items())
        return Parsing(
            label, batches, columns_of(job), lambda item: int(item[0]), order="shuffled" if shuffle else "file"
        )

    return [setting(1), setting(os.cpu_count() or 1), setting(os.cpu_count() or 1, dont_use_mmap=True)]


def even(records: int, batch: int) -> int:
    """The size of batches that are as many as batches of that size, and as equal as can be: DALI fills up the last one
    with records that it parses too."""
    return math.ceil(records / max(1, math.ceil(records / batch))) or batch


def parse_gzip(job: Job) -> list[Setting]:
    raise CannotError(f"no {job.dataset.compression}")


def epoch(job: Job) -> list[Setting]:
    """Samples are taken at random from a buffer; the epoch ends with a count, as elsewhere."""
    job.needs_features()
    if job.dataset.only_packed:
        raise CannotError(f"no {job.dataset.compression}")
    return parse(job, random_shuffle=True, initial_fill=SHUFFLE)


def columns_of(job: Job) -> Callable[[tuple[int, Any]], Batch]:
    def values(tensor: Any, dtype: str) -> Any:
        return [bytes(tensor)] if dtype == "string" else tensor.ravel()

    def columns(item: tuple[int, Any]) -> Batch:
        n, outputs = item
        return {
            name: of_lists([values(output.at(i), dtype) for i in range(n)], dtype)
            for (name, (_, dtype, _)), output in zip(job.dataset.features.items(), outputs, strict=True)
        }

    return columns


def images(job: Job) -> list[Setting]:
    """Decoders, resizing and flips on the CPU, as DALI's example of ImageNet has them."""
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali import tfrecord as tfrec

    data, step = job.dataset, step_of(job)
    features = {
        "image": tfrec.FixedLenFeature((), tfrec.string, ""),
        "label": tfrec.FixedLenFeature([1], tfrec.int64, 0),
    }
    indexes = [index_of(file, job.scratch) for file in data.files]
    size = even(data.records, data.batch)

    def pipeline() -> Any:
        inputs = fn.readers.tfrecord(
            path=data.files, index_path=indexes, features=features, name="reader", pad_last_batch=True
        )
        if step == TRAIN:
            photos = fn.decoders.image_random_crop(
                inputs["image"], device="cpu", random_area=SCALE, random_aspect_ratio=RATIO, output_type=types.RGB
            )
            photos = fn.resize(photos, size=(SIZE, SIZE), interp_type=types.INTERP_LINEAR, antialias=True)
            photos = fn.flip(photos, horizontal=fn.random.coin_flip())
        else:
            photos = fn.decoders.image(inputs["image"], device="cpu", output_type=types.RGB)
        if step == EVALUATE:
            photos = fn.resize(
                photos, size=SHORTER_SIDE, mode="not_smaller", interp_type=types.INTERP_LINEAR, antialias=True
            )
            photos = fn.crop(photos, crop=(SIZE, SIZE), rounding="truncate")
        return photos, inputs["label"]

    def batches() -> Iterator[Any]:
        # Built for each pass, since a pipeline computes the next pass's first batches before anybody asks for them.
        built = pipeline_def(pipeline)(batch_size=size, num_threads=cores(), device_id=None, prefetch_queue_depth=2)
        built.build()
        left = data.records
        while left > 0:
            yield min(left, size), built.run()
            left -= size

    def labelled(item: tuple[int, Any]) -> Iterator[tuple[int, Any]]:
        n, (photos, labels) = item
        return ((int(labels.at(i)[0]), photos.at(i)) for i in range(n))

    return [Photos(job, f"num_threads={cores()}", batches, labelled, lambda item: int(item[0]), row_of(job))]


CONTENDER = Contender(
    "dali",
    "DALI (CPU)",
    package="nvidia-dali-cuda120",
    module="nvidia.dali",
    leaves_out="checks no CRC, no GZIP, no SequenceExamples, needs an index",
    checks=False,
    requirements=("nvidia-dali-cuda120==2.4.0", "numpy", "protobuf"),
    tasks={"parse": parse, "parse-gzip": parse_gzip, "epoch": epoch, "images": images},
)
