"""The setting that runs a pipeline: batches are taken from a dataset, and their values looked at. It needs NumPy."""

from __future__ import annotations

import hashlib
import importlib.util
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contenders.kit.job import Job
from benchmarks.contenders.kit.setting import Setting
from benchmarks.data.answers import FEW, Answer
from benchmarks.data.pipelines import PIPELINES, Pipeline

Source = Callable[..., Iterable[Any]]  # of files and, unless the script's own is wanted, the size of the shuffle buffer


def loaded(job: Job, module: str) -> Source:
    """The function `get_dataset` of the pipeline's script, run with `module` in place of TensorFlow. It is run from a
    file, since AutoGraph reads the source."""
    path = job.scratch / f"{module.replace('.', '_')}_script.py"
    path.write_text(PIPELINES[job.dataset.name].script(module))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    source: Source = script.get_dataset
    return source


def leaves(element: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors of an element, by where they are in it."""
    if isinstance(element, dict):
        for key in sorted(element):
            yield from leaves(element[key], f"{path}/{key}")
    elif isinstance(element, tuple | list):
        for i, value in enumerate(element):
            yield from leaves(value, f"{path}/{i}")
    else:
        yield path, element


def array_of(leaf: Any) -> NDArray[Any]:
    return np.asarray(leaf.numpy() if hasattr(leaf, "numpy") else leaf)


class Scripted(Setting):
    """Takes every batch of a dataset.

    Args:
      source: makes the dataset. It is called once for all timed passes, as a script does for all epochs.
    """

    order = "shuffled"

    def __init__(self, job: Job, source: Source, row: str = "") -> None:
        super().__init__("", row)
        self.files = job.dataset.files
        self.pipeline = PIPELINES[job.dataset.name]
        self.source = source
        self.dataset = source(self.files)
        self.held: Iterator[Any] | None = None

    def run(self) -> int:
        self.held = iter(self.dataset)
        records = 0
        for batch in self.held:
            for _, leaf in leaves(batch):
                size = len(array_of(leaf))
            records += size
        return records

    def cleanup(self) -> None:
        self.held = None

    def answer(self) -> Answer:
        """Describe the batches of the first file without shuffling, where they have an order, and all batches as they
        are timed.

        Raises:
          ValueError: the shuffled batches begin like the others.
        """
        in_order = [described(batch, self.pipeline) for batch in self.source(self.files[:1], 1)]
        if not self.pipeline.ordered:
            in_order = []
        shuffled: list[Any] = []
        records = 0
        for batch in self.dataset:
            records += len(array_of(next(leaves(batch))[1]))
            shuffled.append(described(batch, self.pipeline))
        if records >= FEW and in_order and shuffled[0] == in_order[0]:
            raise ValueError("the records are in the order of the files, not shuffled")
        elements = {
            "tolerance": self.pipeline.tolerance,
            "first file": in_order,
            "all": totals(shuffled, self.pipeline),
        }
        return {"records": records, "elements": elements}


def described(batch: Any, pipeline: Pipeline) -> dict[str, Any]:
    """The answer for a batch: the dtype and shape of each leaf, and either a digest or sums."""
    return {path: described_leaf(array_of(leaf), pipeline) for path, leaf in leaves(batch)}


def described_leaf(array: NDArray[Any], pipeline: Pipeline) -> dict[str, Any]:
    about: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if array.dtype == object:
        array = np.array([zlib.crc32(value) for value in array.flat]).reshape(array.shape)
    values = array.astype(np.float64)
    about["sums"] = [float(np.abs(values).sum()), float(values.sum()), float(np.square(values).sum())]
    if array.dtype.kind != "f" or not pipeline.tolerance:
        return about | {"digest": hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}
    # Weights show values in a wrong place. Those of a mirrored image depend on the image alone.
    if pipeline.flipped:
        values = values.reshape(len(values), -1).sum(1)
    weights = np.modf(np.arange(1, values.size + 1) * 0.6180339887498949)[0]
    return about | {"weighted": [about["sums"][0], float(values.ravel() @ weights)]}


def totals(batches: list[Any], pipeline: Pipeline) -> dict[str, Any]:
    """The answer for shuffled batches: all that their order does not change."""
    found = {}
    for path, first in batches[0].items() if batches else ():
        found[path] = {"dtype": first["dtype"], "rank": len(first["shape"]), "batches": len(batches)}
        if not pipeline.varies:
            found[path]["sums"] = [sum(batch[path]["sums"][i] for batch in batches) for i in range(3)]
    return found
