"""The functions that users give: how they are called on elements, and what repr calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError
from ..values.elements.nests import returned
from ..values.elements.owned import renewed, writable

__all__ = ["call", "guarded", "name_of", "test"]


def name_of(function: Any) -> str:
    """What repr calls a function."""
    return str(getattr(function, "__qualname__", type(function).__name__)).rpartition(".")[2]


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with its StopIteration an error and not the end of the elements."""

    def guard(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except StopIteration as error:
            raise _stopped(function) from error

    return guard


def _stopped(function: Callable[..., Any]) -> InvalidArgumentError:
    return InvalidArgumentError(f"the function {name_of(function)} raised StopIteration")


def call(function: Callable[..., Any], seen_again: bool) -> Callable[[Any], Any]:
    """The function as one of a single element, which is unpacked into arguments if it is a tuple.

    If elements can be seen again, the function gets arrays of its own: it may work in place.
    """

    def of_element(element: Any) -> Any:
        try:
            return returned(function(*element) if type(element) is tuple else function(element))
        except StopIteration as error:
            raise _stopped(function) from error

    def of_own_element(element: Any) -> Any:
        return of_element(writable(element))

    return of_own_element if seen_again else of_element


def test(predicate: Callable[..., Any], seen_again: bool) -> Callable[[Any], bool]:
    """A predicate as one of a single element; as `call`. What it takes out of the element stays in the element."""
    predicate = guarded(predicate)
    own = writable if seen_again else renewed

    def of_element(element: Any) -> bool:
        element = own(element)
        return bool(predicate(*element) if type(element) is tuple else predicate(element))

    return of_element
