"""The records of files, through the native reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from .... import _core
from ....dtypes import string
from ....files.naming.location import Location, location_of, shown_name
from ....files.stores import StoreSettings
from ....files.streams.core_files import DEFAULT_SETTINGS, flatten, has_urls
from ....files.streams.records import after, record_stream
from ....values.elements.samples import sample_of
from ....values.elements.specs import TensorSpec
from ..ahead.prefetch import Prefetch
from ..base.iterators import Chained, Interleaved
from ..base.node import Node, Run
from ..elements.options import WithOptions
from ..order.cache import Cache
from ..order.ordering import Repeat, Shuffle, Slice
from .record_batches import WithLastRecords
from .values import Generated

_MOST_PATHS = 1_000_000


class Records(Node):
    """The records of TFRecord files.

    Args:
      files: a list from `flatten`, or a node of paths, which are requested as needed unless `at_hand`.
      compression_type: None detects it.
      buffer_bytes: bytes to read ahead, if more than the reader's default.
      cycle_length: number of files read in turn, `block_length` records each.
      max_record_bytes: a header that claims more is damage; None: the limit of the format.
      settings: settings of the stores of URLs.
    """

    def __init__(
        self,
        files: list[Any] | Node,
        compression_type: str | None = None,
        buffer_bytes: int = 0,
        cycle_length: int = 1,
        block_length: int = 1,
        max_record_bytes: int | None = None,
        settings: StoreSettings = DEFAULT_SETTINGS,
    ) -> None:
        self.settings = settings
        self.files = files
        self.compression_type = compression_type
        self.buffer_bytes = buffer_bytes
        self.cycle_length = cycle_length
        self.block_length = block_length
        self.max_record_bytes = max_record_bytes
        self.inputs = (files,) if isinstance(files, Node) else ()

    def iterate(self, run: Run) -> Iterator[bytes]:
        if self.at_hand:
            return self.stream(run).records()

        def open_file(file: Any) -> Iterator[bytes]:
            return self._of_one(file).stream(run).records()

        if self.cycle_length == 1:
            return Chained(self._one_by_one(run), open_file)
        return Interleaved(self._one_by_one(run), open_file, self.cycle_length, self.block_length)

    def batches(self, run: Run, size: int) -> Iterator[_core.RecordBatch]:
        """Iterate over the records of paths that are not at hand, in batches of at most `size`, each of one file."""

        def open_file(file: Any) -> Iterator[_core.RecordBatch]:
            records = self._of_one(file)
            batches = records.stream(run, batch_size=size).batches()
            return WithLastRecords(batches, lambda count: after(records.stream(run).records(), count))

        return Chained(self._one_by_one(run), open_file)

    def _one_by_one(self, run: Run) -> Iterator[Any]:
        assert isinstance(self.files, Node)
        return Chained(run(self.files), flatten)

    def _of_one(self, file: Any) -> Records:
        options = self.compression_type, self.buffer_bytes
        return Records([file], *options, max_record_bytes=self.max_record_bytes, settings=self.settings)

    def listed(self, run: Run) -> Records:
        """Return the same node with a list of paths, in the order that is drawn now."""
        if not isinstance(self.files, Node):
            return self
        options = self.compression_type, self.buffer_bytes, self.cycle_length, self.block_length
        return Records(flatten(list(run(self.files))), *options, self.max_record_bytes, self.settings)

    @property
    def at_hand(self) -> bool:
        """True if all paths can be listed: they are not too many, and computing them calls no function."""
        return not isinstance(self.files, Node) or lists_paths(self.files, _MOST_PATHS)

    @property
    def is_local(self) -> bool:
        return not isinstance(self.files, Node) and not has_urls(self.files)

    def stream(self, run: Run, **options: Any) -> _core.RecordStream:
        """Return the native stream of the records; `options` are further options of RecordStream."""
        return record_stream(
            flatten(list(run(self.files))) if isinstance(self.files, Node) else self.files,
            compression_type=self.compression_type,
            buffer_bytes=self.buffer_bytes,
            cycle_length=self.cycle_length,
            block_length=self.block_length,
            max_record_bytes=self.max_record_bytes,
            settings=self.settings,
            **options,
        )

    def label(self) -> str:
        if isinstance(self.files, Node):
            return "TFRecordDataset"
        return (
            f"TFRecordDataset({shown_name(self.files[0])!r})"
            if len(self.files) == 1
            else f"TFRecordDataset({len(self.files)} files)"
        )

    def describe(self, describe: Callable[[Node], str]) -> str:
        return f"{self.label()}({describe(self.files)})" if isinstance(self.files, Node) else self.label()

    @cached_property
    def has_one_spec(self) -> bool:
        return True

    def spec(self, run: Run) -> Any:
        return TensorSpec((), string)

    def sample(self, run: Run, length: int) -> Any:
        return sample_of(TensorSpec((), string), length)


def joined(nodes: Sequence[Node], cycle_length: int, block_length: int) -> Records | None:
    """Return one node that interleaves these, or None unless each reads one file, and all with the same options."""
    files: list[Any] = []
    options: list[tuple[str | None, int | None, StoreSettings]] = []
    for node in nodes:
        if not isinstance(node, Records) or node.cycle_length != 1 or isinstance(node.files, Node):
            return None
        file = node.files[0] if len(node.files) == 1 else None
        if not isinstance(file, str | Location) or set(location_of(file).name) & set("*?["):
            return None
        files.append(file)
        options.append((node.compression_type, node.max_record_bytes, node.settings))
        if options[0] != options[-1]:
            return None
    compression_type, most, settings = options[0] if options else (None, None, DEFAULT_SETTINGS)
    return Records(files, compression_type, 0, cycle_length, block_length, most, settings)


def lists_paths(node: Node, most: int) -> bool:
    """Return True if the node's elements are paths, at most `most`, that can be listed ahead at no cost."""
    if not 0 <= node.cardinality() <= most:
        return False
    while isinstance(node, Shuffle | Repeat | Slice | Prefetch | Cache | WithOptions):
        node = node.input
    return isinstance(node, Generated) and node.gives_paths
