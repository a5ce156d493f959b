"""tfrecord_fast/_core.pyi says what the extension has: names, methods, argument names. Nothing more, nothing less."""

import ast
import re
from pathlib import Path

import tfrecord_fast
from tfrecord_fast import _core

STUB = ast.parse((Path(tfrecord_fast.__file__).parent / "_core.pyi").read_text())
# What CPython or pybind11 gives every module and class by itself.
UNTOLD = {"__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__", "__module__", "__reduce__"}
UNTOLD |= {"__annotations__", "__repr__", "_pybind11_conduit_v1_"}  # annotations: once somebody has asked for them
# What CPython gives every named tuple of the core (a struct sequence).
UNTOLD_OF_TUPLES = {"__match_args__", "__new__", "__replace__", "n_fields", "n_sequence_fields", "n_unnamed_fields"}


def defined(body):
    """The names that a body of statements defines, with their nodes."""
    names = {}
    for node in body:
        if isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            names[node.name] = node
    return names


MODULE = {name: node for name, node in defined(STUB.body).items() if not name.startswith("_")}  # not its own types
CLASSES = {name: node for name, node in MODULE.items() if isinstance(node, ast.ClassDef)}
FUNCTIONS = {
    **{name: (getattr(_core, name, None), node) for name, node in MODULE.items() if isinstance(node, ast.FunctionDef)},
    **{
        f"{owner}.{name}": (getattr(getattr(_core, owner, None), name, None), node)
        for owner, body in CLASSES.items()
        for name, node in defined(body.body).items()
        if isinstance(node, ast.FunctionDef)
    },
}


def pybind11_signatures(function):
    """(argument name, has a default) lists, one per overload, from the docstring that pybind11 writes; [] if none."""
    found = re.findall(rf"^(?:\d+\. )?{function.__name__}\((.*)\) -> ", function.__doc__ or "", re.MULTILINE)
    parsed = [ast.parse(f"def f({re.sub(r'<[^>]*>', '...', text)}): ...").body[0].args for text in found]
    return [arguments(args) for args in parsed]


def arguments(args):
    positional = args.posonlyargs + args.args
    required = len(positional) - len(args.defaults)
    pairs = [(arg.arg, i >= required) for i, arg in enumerate(positional)]
    pairs += [(arg.arg, default is not None) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return [pair for pair in pairs if pair[0] != "self"]


def test_stub_names_what_the_extension_has():
    assert set(MODULE) == set(dir(_core)) - UNTOLD


def test_stub_names_what_each_class_has():
    differences = {name: set(defined(node.body)) ^ members(getattr(_core, name)) for name, node in CLASSES.items()}
    assert not {name: members for name, members in differences.items() if members}


def members(cls):
    return set(vars(cls)) - (UNTOLD | UNTOLD_OF_TUPLES if issubclass(cls, tuple) else UNTOLD)


def test_stub_has_the_fields_of_each_named_tuple_in_their_order():
    tuples = {name: getattr(_core, name) for name in CLASSES if issubclass(getattr(_core, name), tuple)}
    fields = {name: tuple(defined(CLASSES[name].body)) for name in tuples}
    assert fields == {name: cls.__match_args__ for name, cls in tuples.items()}


def test_stub_has_the_arguments_of_each_function():
    calls = {name: (function, node) for name, (function, node) in FUNCTIONS.items() if callable(function)}
    assert not [
        (name, signature)
        for name, (function, node) in calls.items()
        for signature in pybind11_signatures(function)
        if not agrees(arguments(node.args), signature)
    ]


def agrees(stub, signature):
    if any(re.fullmatch(r"arg\d+", argument) for argument, _ in signature):  # unnamed in C++: names are the stub's
        return len(stub) == len(signature)
    return stub == signature


def test_signatures_are_found_in_the_extension():
    assert pybind11_signatures(_core.crc32c) == [[("data", False), ("crc", True)]]
