"""What the package offers, as text: public names, how they are called, and the examples in their docstrings.

`python -m tests.support.surface` prints it; tests/house/surface.txt keeps it, so that a change shows in review.
"""

import doctest
import enum
import importlib
import inspect
import sys

PUBLIC = [
    "tfrecord_fast",
    "tfrecord_fast.compat",
    "tfrecord_fast.compat.v1",
    "tfrecord_fast.data",
    "tfrecord_fast.data.experimental",
    "tfrecord_fast.dtypes",
    "tfrecord_fast.errors",
    "tfrecord_fast.gfile",
    "tfrecord_fast.image",
    "tfrecord_fast.io",
    "tfrecord_fast.io.gfile",
    "tfrecord_fast.python_io",
    "tfrecord_fast.random",
    "tfrecord_fast.sparse",
    "tfrecord_fast.train",
]


def lines():
    """One line per name, method, attribute and example."""
    for module_name in PUBLIC:
        module = importlib.import_module(module_name)
        for name in sorted(module.__all__):
            yield from _described(f"{module_name}.{name}", getattr(module, name))


def _described(name, thing):
    if inspect.ismodule(thing):
        yield f"{name}: module"
    elif inspect.isclass(thing) and issubclass(thing, BaseException):
        bases = [base.__name__ for base in thing.__mro__[1:] if base is not object]
        yield f"{name}: error ({', '.join(bases)})"
    elif inspect.isclass(thing) and issubclass(thing, enum.Enum):  # its methods are those of the version of Python
        yield from (f"{name}.{member} = {value.value}" for member, value in thing.__members__.items())
    elif inspect.isclass(thing):
        yield f"{name}: class{_signature(thing)}"
        yield from _examples(name, thing)
        if not type(thing).__module__.startswith("google"):  # a message has what its version of protobuf gives it
            for attribute in sorted(one for one in dir(thing) if not one.startswith("_")):
                yield from _member(f"{name}.{attribute}", thing, attribute)
    elif callable(thing):
        yield f"{name}{_signature(thing)}"
        yield from _examples(name, thing)
    else:
        yield f"{name} = {type(thing).__name__}" if name.endswith("__version__") else f"{name} = {thing!r}"


def _member(name, owner, attribute):
    member = inspect.getattr_static(owner, attribute)
    if isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
        function = getattr(owner, attribute)  # without `cls`
        yield f"{name}{_signature(function)}"
        yield from _examples(name, function)
    elif inspect.isclass(member):
        yield f"{name}: class{_signature(member)}"
    else:
        yield f"{name}: {'method' if callable(member) else 'attribute'}"


def _signature(thing):
    """Without annotations, which say the same more or less precisely."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return "(…)"
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in parameters]
    return str(inspect.Signature(bare))


def _examples(name, thing):
    for example in doctest.DocTestParser().get_examples(thing.__doc__ or ""):
        for line in example.source.splitlines() + example.want.splitlines():
            yield f"{name} >>> {line}"


if __name__ == "__main__":
    sys.stdout.writelines(line + "\n" for line in lines())
