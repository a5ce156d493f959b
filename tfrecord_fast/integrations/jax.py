"""JAX: transfer of columns to devices (docs/integrations/grain.md)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..base.optional import extra_named
from ..errors import InvalidArgumentError
from ..typing import Columns, Key
from ..values.columns.bytes_array import BytesArray
from ..values.columns.ragged import RaggedTensor
from ..values.columns.sparse import SparseTensor, to_dense
from ..values.elements.attrs_classes import attrs_like, is_attrs, items_of

with extra_named("jax"):
    import jax

__all__ = ["device_put"]

Others: TypeAlias = Literal["raise", "drop", "keep"]

_TOO_LONG = {np.dtype(np.longdouble).name, np.dtype(np.clongdouble).name} - {"float64", "complex128"}

_warned: set[tuple[object, str]] = set()  # features that JAX truncates, with their dtypes


def device_put(
    columns: Columns,
    sharding: Any = None,
    *,
    others: Others = "raise",
    pad: Mapping[Key, int] | None = None,
) -> Any:
    """Transfer the columns of a batch to devices, as JAX arrays.

    Args:
      columns: a dict of columns, like those of ShardReader; or a tuple of such dicts and columns, such as
        (columns, label).
      sharding: a `jax.sharding.Sharding`: each process passes its own rows, and the array consists of the rows of all
        processes (`jax.make_array_from_process_local_data`). Or a device; or a dict of these by feature; None: JAX'
        default device.
      others: the treatment of strings, ragged and sparse columns, which devices can't hold. "raise": raise an error;
        "drop": leave them out; "keep": leave them on the host.
      pad: the width of such columns by feature, to convert them for devices: ragged and sparse ones to an array
        [n, width, ...] with zeros after their values, strings to an array of their bytes, uint8 [n, ..., width].

    Returns:
      The same structure, of `jax.Array`s. They may share the columns' memory, so don't write to the columns any more.

    Without `jax_enable_x64`, JAX truncates 64-bit values to 32 bits. Here, each value is checked: if all fit, a warning
    is issued once for each feature; otherwise an error is raised. Several processes must pass the same number of rows,
    which a single process can't check: use `drop_remainder=True` and `equal_shards="drop"` of ShardReader.

    Raises:
      errors.InvalidArgumentError: devices can't hold a column; JAX would change a value; a row is longer than its
        `pad`; the devices can't divide the rows evenly. The error names the feature.

    >>> import numpy as np
    >>> device_put({"x": np.float32([1, 2]), "name": [b"a", b"b"]}, others="drop")
    {'x': Array([1., 2.], dtype=float32)}
    """
    if others not in ("raise", "drop", "keep"):
        raise InvalidArgumentError(f'others must be "raise", "drop" or "keep", got {others!r}')
    batch = _Batch(others, dict(pad or {}))
    structure = batch.collect(columns, None)
    if batch.pad:
        raise InvalidArgumentError(f"pad has {sorted(map(repr, batch.pad))}, which this batch does not have")
    batch.warn_of_truncation()
    return _filled(structure, iter(_transferred(batch.arrays, batch.keys, sharding)))


_SLOT = object()  # placeholder of the next array in a structure
_DROPPED = object()


class _Batch:
    """The arrays of a batch, collected for one transfer."""

    def __init__(self, others: Others, pad: dict[Any, int]) -> None:
        self.others = others
        self.pad = pad  # of features not seen yet
        self.arrays: list[npt.NDArray[Any]] = []
        self.keys: list[object] = []
        self._truncated: list[tuple[object, str, str]] = []  # features, their dtypes and those of JAX

    def collect(self, value: Any, key: object) -> Any:
        """Collect the arrays of a value. Return its structure with slots for them, and without dropped values."""
        if isinstance(value, Mapping):
            columns = ((name, self.collect(column, name)) for name, column in value.items())
            return {name: column for name, column in columns if column is not _DROPPED}
        if isinstance(value, tuple):
            items = self._collect_items(value, key)
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if is_attrs(value):
            return attrs_like(value, self._collect_items(items_of(value), key))
        if key in self.pad:
            array: npt.NDArray[Any] | None = _padded(value, key, self.pad.pop(key))
        else:
            array = _as_array(value)
        if array is None:
            if self.others == "raise":
                raise _refusal(value, key)
            return _DROPPED if self.others == "drop" else value
        self.arrays.append(self._supported(array, key))
        self.keys.append(key)
        return _SLOT

    def _collect_items(self, items: Iterable[Any], key: object) -> list[Any]:
        collected = (self.collect(item, i if key is None else key) for i, item in enumerate(items))
        return [None if item is _DROPPED else item for item in collected]

    def _supported(self, array: npt.NDArray[Any], key: object) -> npt.NDArray[Any]:
        """Cast an array to a dtype of JAX, with the same values."""
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        dtype = jax.dtypes.canonicalize_dtype(array.dtype)
        if dtype == array.dtype:
            return array
        with np.errstate(over="ignore"):
            cast = array.astype(dtype)
        if not np.array_equal(cast, array, equal_nan=array.dtype.kind in "fc"):
            raise _change(array, cast, key)
        if (key, array.dtype.name) not in _warned:
            self._truncated.append((key, array.dtype.name, dtype.name))
        return cast

    def warn_of_truncation(self) -> None:
        if not self._truncated:
            return
        _warned.update((key, before) for key, before, _ in self._truncated)
        what = ", ".join(f"{key!r} ({before} to {after})" for key, before, after in self._truncated)
        warnings.warn(
            f"JAX truncates these features to 32 bits: {what}. All values fit; a batch with a value that doesn't fit "
            'raises an error. jax.config.update("jax_enable_x64", True) keeps 64 bits; features with dtype int32 or '
            "float32 need no truncation",
            stacklevel=3,
        )


def _change(array: npt.NDArray[Any], cast: npt.NDArray[Any], key: object) -> InvalidArgumentError:
    differs = cast != array
    if array.dtype.kind in "fc":
        differs &= ~np.isnan(array)
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    return InvalidArgumentError(
        f"feature {key!r}: the value at {list(index)} is {array[index]!r}, and JAX would change it to {cast[index]!r}, "
        f"since it truncates {array.dtype} to {cast.dtype}; "
        'jax.config.update("jax_enable_x64", True) keeps 64 bits'
    )


def _as_array(value: Any) -> npt.NDArray[Any] | None:
    """Convert a value to an array; None if devices can't hold it."""
    if isinstance(value, BytesArray | SparseTensor | RaggedTensor | _core.RecordBatch):
        return None
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        return None
    is_number = array.dtype == np.bool_ or jax.numpy.issubdtype(array.dtype, np.number)
    return array if is_number and array.dtype.name not in _TOO_LONG else None


def _refusal(value: Any, key: object) -> InvalidArgumentError:
    what = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    if _is_strings(value):
        what += ", which is strings"
    padding = f", pad={{{key!r}: width}} converts it to dense rows"
    return InvalidArgumentError(
        f'feature {key!r}: devices can\'t hold {what}; others="drop" leaves such features out, others="keep" leaves '
        f"them on the host{padding if _is_strings(value) or isinstance(value, SparseTensor | RaggedTensor) else ''}"
    )


def _is_strings(value: Any) -> bool:
    return isinstance(value, BytesArray) or (isinstance(value, np.ndarray) and value.dtype.kind == "O")


def _padded(value: Any, key: object, width: int) -> npt.NDArray[Any]:
    """Return rows of that width, with zeros after their values."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        value = BytesArray(value)
    if isinstance(value, BytesArray):
        _check_width(int(value.lengths().max()) if value.size else 0, width, key)
        rows = np.zeros((value.size, width), np.uint8)
        _core.bytes_copy_rows(value, rows, exact=False)
        return rows.reshape(*value.shape, width)
    flat = value.flat_values if isinstance(value, RaggedTensor) else getattr(value, "values", None)
    is_ragged = isinstance(value, RaggedTensor) and value.ragged_rank == 1
    if isinstance(flat, BytesArray) or not (
        is_ragged or (isinstance(value, SparseTensor) and len(value.dense_shape) == 2)
    ):
        raise InvalidArgumentError(
            f"feature {key!r}: pad takes strings, and numbers with one ragged or sparse dimension, got {value!r:.80}"
        )
    dense = to_dense(value)
    _check_width(dense.shape[1], width, key)
    rows = np.zeros((dense.shape[0], width, *dense.shape[2:]), dense.dtype)
    rows[:, : dense.shape[1]] = dense
    return rows


def _check_width(longest: int, width: int, key: object) -> None:
    if longest > width:
        raise InvalidArgumentError(f"feature {key!r}: a row has {longest} values, but its pad is {width}")


def _transferred(arrays: list[npt.NDArray[Any]], keys: list[object], sharding: Any) -> list[Any]:
    targets = [_target_of(key, sharding) for key in keys]
    if all(not isinstance(target, jax.sharding.Sharding) or target.is_fully_addressable for target in targets):
        try:
            transferred: list[Any] = jax.device_put(arrays, targets)
            return transferred
        except ValueError:
            pass  # the error of a single array names its feature
    return list(map(_put, arrays, keys, targets))


def _put(array: npt.NDArray[Any], key: object, target: Any) -> Any:
    try:
        if isinstance(target, jax.sharding.Sharding):
            make_array: Any = jax.make_array_from_process_local_data  # without types
            return make_array(target, array)
        return jax.device_put(array, target)
    except ValueError as error:
        hint = "; drop_remainder=True leaves out a smaller last batch" if array.ndim else ""
        raise InvalidArgumentError(
            f"feature {key!r}: an array of shape {list(array.shape)} can't be laid out as {target}: {error}{hint}"
        ) from error


def _target_of(key: object, sharding: Any) -> Any:
    if not isinstance(sharding, Mapping):
        return sharding
    if key not in sharding:
        raise InvalidArgumentError(f"feature {key!r}: the shardings are for {sorted(map(repr, sharding))}")
    return sharding[key]


def _filled(structure: Any, arrays: Iterator[Any]) -> Any:
    if structure is _SLOT:
        return next(arrays)
    if isinstance(structure, dict):
        return {key: _filled(value, arrays) for key, value in structure.items()}
    if isinstance(structure, tuple):
        items = [_filled(item, arrays) for item in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else tuple(items)
    if is_attrs(structure):
        return attrs_like(structure, [_filled(item, arrays) for item in items_of(structure)])
    return structure
