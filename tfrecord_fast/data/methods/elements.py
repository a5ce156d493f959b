"""Methods of Dataset that call a function on each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.threads import default_threads
from ...values.elements.nests import normalize
from ...values.elements.owned import snapshot
from ..handle import Handle, OtherDataset, SameDataset, T, node_of
from ..nodes.elements.checks import IgnoreErrors
from ..nodes.elements.maps import Enumerate, Filter, Map, Scan, TakeWhile
from ..numbers import AUTOTUNE, check_count


class Elements(Handle[T, SameDataset, OtherDataset]):
    """Mixed into Dataset."""

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> OtherDataset:
        """Map a function over the elements. An error replaces the element.

        Args:
          map_func: a Python function of an element. A returned list counts as a tuple; Python numbers, lists and
            str become NumPy values and bytes, with TensorFlow's dtypes.
          num_parallel_calls: the number of threads, which help if the function waits or releases the GIL. While it
            is quick, no threads are used. AUTOTUNE uses one per processor once the function proves to be slow. Results
            keep their order.
          deterministic, synchronous, use_unbounded_threadpool, name: accepted; order is always kept.

        >>> import tfrecord_fast as tf
        >>> list(tf.data.Dataset.from_tensor_slices([b"a", b"bc"]).map(lambda text: text.upper()))
        [b'A', b'BC']
        """
        node = node_of(self)
        if num_parallel_calls is None:
            return self._other(Map(node, map_func))
        if num_parallel_calls == AUTOTUNE:
            return self._other(Map(node, map_func, default_threads(), tried=True))
        return self._other(Map(node, map_func, check_count("num_parallel_calls", num_parallel_calls)))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> SameDataset:
        """Keep the elements for which the function returns true.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(6).filter(lambda x: x % 2 == 1)]
        [1, 3, 5]
        """
        return self._same(Filter(node_of(self), predicate))

    def enumerate(self, start: int = 0, name: str | None = None) -> OtherDataset:
        """Pair each element with its number (int64).

        >>> import tfrecord_fast as tf
        >>> [(int(i), x) for i, x in tf.data.Dataset.from_tensor_slices([b"a", b"b"]).enumerate()]
        [(0, b'a'), (1, b'b')]
        """
        return self._other(Enumerate(node_of(self), check_count("start", start, -(1 << 63))))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> SameDataset:
        """Skip elements that raise. Directly on files, skip the rest of a damaged file.

        Mistakes of the script, which no element can cause, are raised: a name, an attribute or a module does not exist.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(-1, 2).map(lambda x: 6 // int(x) if x else [][0]).ignore_errors()]
        [-6, 6]
        """
        return self._same(IgnoreErrors(node_of(self), log_warning))

    def scan(
        self, initial_state: Any, scan_func: Callable[[Any, Any], tuple[Any, Any]], name: str | None = None
    ) -> OtherDataset:
        """Return the results of a function that maps (state, element) to (next state, result).

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(5).scan(0, lambda total, x: (total + x, total + x))]
        [0, 1, 3, 6, 10]
        """
        return self._other(Scan(node_of(self), snapshot(normalize(initial_state)), scan_func))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> SameDataset:
        """Keep the elements before the first for which the function returns false.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(9).take_while(lambda x: x < 3)]
        [0, 1, 2]
        """
        return self._same(TakeWhile(node_of(self), predicate))
