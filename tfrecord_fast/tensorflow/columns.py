"""A dict of values that become tensors when they are looked at: of 40 columns, a script may use three."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Columns", "columns_of"]

_get = dict.__getitem__
_set = dict.__setitem__
_new = dict.__new__
_update = dict.update


class Columns(dict[Any, Any]):
    """What `raise_` makes of the values of `plain`, each when it is first asked for.

    It holds the values as they were, so that code that reads a dict without its methods finds them, and no tensors.
    """

    __slots__ = ("_given", "_raise", "_raised")

    def __new__(cls, *given: Any, **named: Any) -> Any:
        """Of anything but values and what raises them, as by code that makes a structure like another: a dict."""
        is_own = len(given) == 2 and callable(given[1])
        return super().__new__(cls) if is_own else dict(*given, **named)

    def __init__(self, plain: dict[Any, Any], raise_: Callable[[Any], Any]) -> None:
        super().__init__(plain)
        self._given: dict[Any, Any] | None = plain  # None once a key was set or taken away
        self._raise = raise_
        self._raised: set[Any] = set()

    def plain(self, lower: Callable[[Any], Any], sealed: frozenset[type]) -> dict[Any, Any]:
        """The values as the package takes them: the dict that they came in, if nothing can have changed.

        Args:
          lower: a function from what a script has to what the package takes.
          sealed: types of values that a script can't change; a dict or list in the dict is none of them.
        """
        raised = self._raised
        if self._given is not None and (not raised or sealed.issuperset(map(type, dict.values(self)))):
            return self._given
        return {key: lower(value) if key in raised else value for key, value in dict.items(self)}

    # ---- Reading ----

    def __getitem__(self, key: Any) -> Any:
        value = _get(self, key)
        if key in self._raised:
            return value
        raised = self._raise(value)
        _set(self, key, raised)
        self._raised.add(key)
        return raised

    def __iter__(self) -> Iterator[Any]:  # with a method of its own, dict() and ** ask for values one by one
        return super().__iter__()

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default

    def values(self) -> Any:
        self._all()
        return super().values()

    def items(self) -> Any:
        self._all()
        return super().items()

    def copy(self) -> dict[Any, Any]:
        return dict(self)

    def __eq__(self, other: object) -> bool:
        self._all()
        return super().__eq__(other)

    __hash__ = None

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self)

    def __repr__(self) -> str:
        self._all()
        return super().__repr__()

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def _all(self) -> None:
        raised = self._raised
        if len(raised) == len(self):
            return
        raise_ = self._raise
        for key, value in dict.items(self):  # no key comes or goes
            if key not in raised:
                _set(self, key, raise_(value))
        raised.update(dict.keys(self))

    # ---- Changes ----

    def __setitem__(self, key: Any, value: Any) -> None:
        self._given = None
        self._raised.add(key)
        _set(self, key, value)

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        self._given = None
        self._raised.discard(key)

    def pop(self, key: Any, *default: Any) -> Any:
        if key not in self:
            return super().pop(key, *default)
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[Any, Any]:
        key, _ = next(reversed(dict.items(self)), (None, None))
        return (key, self.pop(key)) if len(self) else super().popitem()

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others: Any, **named: Any) -> None:
        for key, value in dict(*others, **named).items():
            self[key] = value

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def clear(self) -> None:
        super().clear()
        self._given = None
        self._raised.clear()


def columns_of(plain: dict[Any, Any], raise_: Callable[[Any], Any]) -> Columns:
    """`Columns(plain, raise_)`, in half the time: a loop over records makes two of them for each."""
    made: Columns = _new(Columns)
    _update(made, plain)
    made._given = plain
    made._raise = raise_
    made._raised = set()
    return made
