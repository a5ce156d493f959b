"""The functions that users give: how they are called on elements, and what repr calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError
from ..values.nests import returned

__all__ = ["call", "guarded", "name_of"]


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


def call(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """The function as one of a single element, which is unpacked into arguments if it is a tuple."""

    def of_element(element: Any) -> Any:
        try:
            return returned(function(*element) if type(element) is tuple else function(element))
        except StopIteration as error:
            raise _stopped(function) from error

    return of_element
