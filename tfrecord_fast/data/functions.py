"""Functions of the user: their calls on elements, and their names in `repr`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError
from ..values.elements.nests import returned
from ..values.elements.owned import renewed, writable


def name_of(function: Any) -> str:
    """Return the function's name in `repr`."""
    return str(getattr(function, "__qualname__", type(function).__name__)).rpartition(".")[2]


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with StopIteration turned into an error, so that it does not end the iteration."""

    def guard(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except StopIteration as error:
            raise _stopped(function) from error

    return guard


def _stopped(function: Callable[..., Any]) -> InvalidArgumentError:
    return InvalidArgumentError(f"the function {name_of(function)} raised StopIteration")


def call(function: Callable[..., Any], seen_again: bool) -> Callable[[Any], Any]:
    """Return a function of a single element; a tuple is unpacked into arguments.

    If elements can be seen again, the function gets copies of their arrays, so that it may work in place.
    """

    def called(element: Any) -> Any:
        try:
            return returned(function(*element) if type(element) is tuple else function(element))
        except StopIteration as error:
            raise _stopped(function) from error

    def called_on_copy(element: Any) -> Any:
        return called(writable(element))

    return called_on_copy if seen_again else called


def test(predicate: Callable[..., Any], seen_again: bool) -> Callable[[Any], bool]:
    """Return a predicate of a single element, as `call` does; items that it pops stay in the element."""
    predicate = guarded(predicate)
    own = writable if seen_again else renewed

    def tested(element: Any) -> bool:
        element = own(element)
        return bool(predicate(*element) if type(element) is tuple else predicate(element))

    return tested
