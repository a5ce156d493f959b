"""JAX: columns onto devices (docs/integrations/grain.md)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InvalidArgumentError
from ..typing import Columns, Key
from ..values.columns.bytes_array import BytesArray
from ..values.columns.ragged import RaggedTensor
from ..values.columns.sparse import SparseTensor, to_dense
from ..values.elements.attrs_classes import attrs_like, is_attrs, items_of

__all__ = ["device_put"]

Others: TypeAlias = Literal["raise", "drop", "keep"]

_TOO_LONG = {np.dtype(np.longdouble).name, np.dtype(np.clongdouble).name} - {"float64", "complex128"}

_said: set[tuple[object, str]] = set()  # features that JAX cuts, with their dtypes, of which a warning has told


def device_put(
    columns: Columns,
    sharding: Any = None,
    *,
    others: Others = "raise",
    pad: Mapping[Key, int] | None = None,
) -> Any:
    """The columns of a batch as arrays of JAX, on devices.

    Args:
      columns: a dict of columns, as ShardReader gives them; or a tuple of such dicts and columns, such as
        (columns, label).
      sharding: a `jax.sharding.Sharding`: each process gives its own rows, and the array is the whole of all processes,
        as `jax.make_array_from_process_local_data` makes it. Or a device; or a dict of these by feature; None for JAX'
        default device.
      others: what becomes of columns that no device takes, which are strings, ragged and sparse ones. "raise": an
        error; "drop": they are left out; "keep": they stay as they are.
      pad: how wide to make such a column, by feature: a ragged or sparse one becomes an array [n, width, ...] with
        zeros after its values, strings an array of their bytes, uint8 [n, ..., width]. These go onto devices.

    Returns:
      The same structure, of `jax.Array`s. They may share the columns' memory, so don't write to these any more.

    Without `jax_enable_x64`, JAX makes 32 bits of 64. Here each value is looked at: as long as all fit, a warning says
    so once for each feature; otherwise it is an error. Several processes have to give the same number of rows, which no
    process can check alone: `drop_remainder=True` and `equal_shards="drop"` of ShardReader see to it.

    Raises:
      errors.InvalidArgumentError: a column that no device takes; a value that JAX would change; a row that is longer
        than its `pad`; rows that don't divide among the devices. Names the feature.

    >>> import numpy as np
    >>> device_put({"x": np.float32([1, 2]), "name": [b"a", b"b"]}, others="drop")
    {'x': Array([1., 2.], dtype=float32)}
    """
    if others not in ("raise", "drop", "keep"):
        raise InvalidArgumentError(f'others is "raise", "drop" or "keep", got {others!r}')
    batch = _Batch(others, dict(pad or {}))
    made = batch.planned(columns, None)
    if batch.pad:
        raise InvalidArgumentError(f"pad has {sorted(map(repr, batch.pad))}, which are no features of this batch")
    batch.say_what_is_cut()
    return _filled(made, iter(_placed(batch.arrays, batch.keys, sharding)))


class _Place(NamedTuple):
    """Where the next of the arrays goes."""


_DROPPED = object()


class _Batch:
    """Collects the arrays of a batch, so that all go onto devices in one call."""

    def __init__(self, others: Others, pad: dict[Any, int]) -> None:
        self.others = others
        self.pad = pad  # those not met yet
        self.arrays: list[npt.NDArray[Any]] = []
        self.keys: list[object] = []
        self._cut: list[tuple[object, str, str]] = []  # features with their dtypes, and what JAX makes of these

    def planned(self, value: Any, key: object) -> Any:
        """The structure with a _Place for each array, and without what is dropped."""
        if isinstance(value, Mapping):
            parts = {name: self.planned(part, name) for name, part in value.items()}
            return {name: part for name, part in parts.items() if part is not _DROPPED}
        if isinstance(value, tuple):
            made = [self.planned(part, i if key is None else key) for i, part in enumerate(value)]
            made = [None if part is _DROPPED else part for part in made]
            return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
        if is_attrs(value):
            made = [self.planned(part, i if key is None else key) for i, part in enumerate(items_of(value))]
            return attrs_like(value, [None if part is _DROPPED else part for part in made])
        if key in self.pad:
            array: npt.NDArray[Any] | None = _padded(value, key, self.pad.pop(key))
        else:
            array = _as_array(value)
        if array is None:
            if self.others == "raise":
                raise _refusal(value, key)
            return _DROPPED if self.others == "drop" else value
        self.arrays.append(self._as_taken(array, key))
        self.keys.append(key)
        return _Place()

    def _as_taken(self, array: npt.NDArray[Any], key: object) -> npt.NDArray[Any]:
        """The array in a dtype that JAX has, with the same values."""
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        dtype = jax.dtypes.canonicalize_dtype(array.dtype)
        if dtype == array.dtype:
            return array
        with np.errstate(over="ignore"):
            made = array.astype(dtype)
        if not np.array_equal(made, array, equal_nan=array.dtype.kind in "fc"):
            raise _change(array, made, key)
        if (key, array.dtype.name) not in _said:
            self._cut.append((key, array.dtype.name, dtype.name))
        return made

    def say_what_is_cut(self) -> None:
        if not self._cut:
            return
        _said.update((key, before) for key, before, _ in self._cut)
        what = ", ".join(f"{key!r} ({before} to {after})" for key, before, after in self._cut)
        warnings.warn(
            f"JAX cuts these features to 32 bits: {what}. All values fit, and a batch with one that doesn't will raise "
            'an error. jax.config.update("jax_enable_x64", True) keeps 64 bits; features with dtype int32 or float32 '
            "have 32 from the start",
            stacklevel=3,
        )


def _change(array: npt.NDArray[Any], made: npt.NDArray[Any], key: object) -> InvalidArgumentError:
    differs = made != array
    if array.dtype.kind in "fc":
        differs &= ~np.isnan(array)
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    return InvalidArgumentError(
        f"feature {key!r}: the value at {list(place)} is {array[place]!r}, and JAX would make "
        f"{made[place]!r} of it, since it cuts {array.dtype} to {made.dtype}; "
        'jax.config.update("jax_enable_x64", True) keeps 64 bits'
    )


def _as_array(value: Any) -> npt.NDArray[Any] | None:
    """None for what no device takes."""
    if isinstance(value, BytesArray | SparseTensor | RaggedTensor | _core.RecordBatch):
        return None
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        return None
    is_number = array.dtype == np.bool_ or jax.numpy.issubdtype(array.dtype, np.number)
    return array if is_number and array.dtype.name not in _TOO_LONG else None


def _refusal(value: Any, key: object) -> InvalidArgumentError:
    what = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    if _is_strings(value):
        what += ", which is strings"
    padding = f", pad={{{key!r}: width}} makes dense rows of it"
    return InvalidArgumentError(
        f'feature {key!r}: no device takes {what}; others="drop" leaves such features out, others="keep" keeps them on '
        f"the host{padding if _is_strings(value) or isinstance(value, SparseTensor | RaggedTensor) else ''}"
    )


def _is_strings(value: Any) -> bool:
    return isinstance(value, BytesArray) or (isinstance(value, np.ndarray) and value.dtype.kind == "O")


def _padded(value: Any, key: object, width: int) -> npt.NDArray[Any]:
    """Rows of that width, with zeros after what they have."""
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
        raise InvalidArgumentError(f"feature {key!r}: a row has {longest} values, and pad has room for {width}")


def _placed(arrays: list[npt.NDArray[Any]], keys: list[object], sharding: Any) -> list[Any]:
    places = [_place_of(key, sharding) for key in keys]
    if any(isinstance(place, jax.sharding.Sharding) and not place.is_fully_addressable for place in places):
        return [_put(one) for one in zip(arrays, keys, places, strict=True)]
    try:
        made: list[Any] = jax.device_put(arrays, places)
        return made
    except ValueError:
        return [_put(one) for one in zip(arrays, keys, places, strict=True)]  # finds out which one it is


def _put(one: tuple[npt.NDArray[Any], object, Any]) -> Any:
    array, key, place = one
    try:
        if isinstance(place, jax.sharding.Sharding):
            of_all: Any = jax.make_array_from_process_local_data  # which has no types
            return of_all(place, array)
        return jax.device_put(array, place)
    except ValueError as error:
        hint = "; drop_remainder=True leaves out a last batch that is smaller" if array.ndim else ""
        raise InvalidArgumentError(
            f"feature {key!r}: an array of shape {list(array.shape)} can't be laid out as {place}: {error}{hint}"
        ) from error


def _place_of(key: object, sharding: Any) -> Any:
    if not isinstance(sharding, Mapping):
        return sharding
    if key not in sharding:
        raise InvalidArgumentError(f"feature {key!r}: the shardings are for {sorted(map(repr, sharding))}")
    return sharding[key]


def _filled(made: Any, arrays: Iterator[Any]) -> Any:
    if isinstance(made, _Place):
        return next(arrays)
    if isinstance(made, dict):
        return {key: _filled(part, arrays) for key, part in made.items()}
    if isinstance(made, tuple):
        parts = [_filled(part, arrays) for part in made]
        return type(made)(*parts) if hasattr(made, "_fields") else tuple(parts)
    if is_attrs(made):
        return attrs_like(made, [_filled(part, arrays) for part in items_of(made)])
    return made
