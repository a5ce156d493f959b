"""Functions with the variables that they see when a dataset's method is called, as TensorFlow traces them."""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from ...data.saving.fingerprint import codes_of


def bound(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with the present bindings of its outer and global variables.

    In a loop over `k`, each of the functions that use `k` keeps its own. Names that don't exist yet, and those that the
    function assigns, are looked up when it runs. Functions that it calls are not bound.
    """
    if type(function) is not FunctionType:
        return function
    codes = codes_of(function.__code__)
    instructions = [instruction for code in codes for instruction in dis.get_instructions(code)]
    assigned = {instruction.argval for instruction in instructions if instruction.opname in _ASSIGN}
    cells = tuple(
        cell if name in assigned or _is_empty(cell) else CellType(cell.cell_contents)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    )
    variables = function.__globals__
    names = {instruction.argval for instruction in instructions if instruction.opname == "LOAD_GLOBAL"}
    if not any(instruction.opname in _ASSIGN_GLOBAL for instruction in instructions) and names.isdisjoint(_LOOK_UP):
        variables = _present(variables, names)
    copy = FunctionType(function.__code__, variables, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(copy, function)


_ASSIGN = {"STORE_DEREF", "DELETE_DEREF"}
_ASSIGN_GLOBAL = {"STORE_GLOBAL", "DELETE_GLOBAL"}
_LOOK_UP = {"globals", "eval", "exec"}


def _present(variables: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return these variables of a module as they are now; names that do not exist yet are looked up later."""
    present = {name: variables[name] for name in (*names, "__builtins__", "__name__") if name in variables}
    if all(name in variables or hasattr(builtins, name) for name in names):
        return present  # lookups in a subclass take longer
    return _Globals(present, variables)


def _is_empty(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - raises if there are none
    except ValueError:
        return True
    return False


class _Globals(dict[str, Any]):
    """Variables as they are now, and others of the same module as they are when they are looked up."""

    def __init__(self, present: dict[str, Any], variables: dict[str, Any]) -> None:
        super().__init__(present)
        self._variables = variables

    def __missing__(self, name: str) -> Any:
        return self._variables[name]
