"""Analysis of the functions that a script passes to `map` and `filter`: whether they run on blocks of records."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

_METHODS = ("map", "filter", "take_while")
_OPTIONS = ("num_parallel_calls", "deterministic", "name")
_OTHERS = ("pool", "executor", "series", "frame")  # words in names of what is not a dataset, but has `map` too
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_AS_TEXT = "use tf.strings.as_string, or print batches instead"
_WITH_TENSORFLOW = "write it with functions of tf"
# TensorFlow's names that need single records, and advice.
_SINGLE = {
    "py_function": _WITH_TENSORFLOW,
    "numpy_function": _WITH_TENSORFLOW,
    "py_func": _WITH_TENSORFLOW,
    "print": "print batches instead",
}
_SHAPES = ("shape", "dtype", "ndim", "get_shape")  # known without the values
_ABOUT = ("len", "isinstance", "type", "hasattr", "callable", "id")
_TEXTS = ("str", "repr", "format", "print")
_NUMBERS = ("int", "float", "range", "round")
_BYTES_METHODS = ("decode", "startswith", "endswith", "strip", "split", "lower", "upper", "replace")
_CHANGES = ("append", "extend", "add", "update", "insert", "pop", "setdefault", "write", "put")
_CHANGING_MODULES = ("random", "numpy.random", "time", "datetime", "uuid", "secrets")


class Cost(NamedTuple):
    """What a call of `map` or `filter` costs, and a reason. A call with several reasons has several costs.

    Attributes:
      line: the line of the call.
      call: the call as text, such as "map(parse)".
      runs: "blocks", "records", "batches", or "unknown" if the script does not define the function.
      because: the line of the reason; None without one.
      advice: the reason and what to write instead.
    """

    line: int
    call: str
    runs: str
    because: int | None
    advice: str


def map_costs(
    tree: ast.AST, aliases: Mapping[str, str], modules: Mapping[str, str], is_here: Callable[[str], bool]
) -> list[Cost]:
    """Return the costs of each call of a dataset's `map`, `filter` or `take_while`, in the script's order.

    Args:
      aliases: the script's names for TensorFlow's, such as {"tf": "", "gfile": "io.gfile"}.
      modules: the script's names for other modules and their contents, such as {"np": "numpy"}.
      is_here: returns True if this package has a name of TensorFlow.
    """
    script = _Script(tree, aliases, modules, is_here)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and script.is_of_dataset(node)]
    calls.sort(key=lambda call: (call.func.end_lineno or 0, call.func.end_col_offset or 0))
    return [cost for call in calls for cost in script.costs(call)]


class _Script:
    def __init__(
        self, tree: ast.AST, aliases: Mapping[str, str], modules: Mapping[str, str], is_here: Callable[[str], bool]
    ) -> None:
        self._aliases, self._modules, self.is_here = aliases, modules, is_here
        self._functions: dict[str, _Function] = {}
        self._methods: dict[str, _Function] = {}
        self.layers: set[str] = set()  # variables
        self.dicts: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self._methods |= {item.name: item for item in node.body if isinstance(item, _DEFINITIONS)}
            elif isinstance(node, _DEFINITIONS) and self._methods.get(node.name) is not node:
                self._functions[node.name] = node
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._note(_last_name(node.targets[0]), node.value)

    def _note(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Lambda):
            self._functions[name] = value
        elif isinstance(value, ast.Dict | ast.DictComp):
            self.dicts.add(name)
        elif isinstance(value, ast.Call) and self.is_keras(value.func):
            self.layers.add(name)

    # ---- Names ----

    def tensorflow_name(self, node: ast.expr) -> str | None:
        """Return TensorFlow's name for an expression, without `tf.`, or None."""
        return _qualified(node, self._aliases)

    def foreign_name(self, node: ast.expr) -> str | None:
        """Return the name that an expression has in a module that is not TensorFlow's, or None."""
        return _qualified(node, self._modules)

    def is_keras(self, node: ast.expr) -> bool:
        return (self.tensorflow_name(node) or self.foreign_name(node) or "").split(".")[0] == "keras"

    def function(self, node: ast.expr) -> _Function | None:
        """Return the function of the script that an expression names, makes or returns."""
        if isinstance(node, ast.Lambda):
            return node
        if isinstance(node, ast.Name):
            return self._functions.get(node.id)
        if isinstance(node, ast.Attribute):
            return self._methods.get(node.attr)
        if isinstance(node, ast.Call):  # of a function that returns a function
            maker = self.function(node.func)
            for statement in ast.walk(maker) if maker is not None else ():
                if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Name | ast.Lambda):
                    return self.function(statement.value)
        return None

    # ---- Calls of datasets' methods ----

    def is_of_dataset(self, call: ast.Call) -> bool:
        """Return True if a call looks like one of a dataset's methods, rather than of a pool or a table."""
        method = call.func
        if not isinstance(method, ast.Attribute) or method.attr not in _METHODS or not self._aliases:
            return False
        receiver = method.value
        if isinstance(receiver, ast.Subscript | ast.Constant) or self.foreign_name(receiver) is not None:
            return False
        if any(word in _last_name(receiver).lower() for word in _OTHERS):
            return False
        names = {keyword.arg for keyword in call.keywords}
        function = _first_argument(call)
        is_function = isinstance(function, ast.Name | ast.Attribute | ast.Lambda | ast.Call)
        return is_function and names <= {*_OPTIONS, "map_func", "predicate"} and len(call.args) <= 3

    def costs(self, call: ast.Call) -> Iterator[Cost]:
        method: Any = call.func
        argument = _first_argument(call)
        line = method.end_lineno
        text = f"{method.attr}({_short(argument)})"
        if _is_batched(method.value):
            yield Cost(line, text, "batches", None, "")
            return
        bound, keywords = 0, set()
        is_partial = isinstance(argument, ast.Call) and _last_name(argument.func) == "partial" and argument.args
        if is_partial:
            bound = len(argument.args) - 1
            keywords = {keyword.arg for keyword in argument.keywords}
            argument = argument.args[0]
        name = self.tensorflow_name(argument)
        if name is not None:
            advice = _tensorflow_advice(name, self)
            yield Cost(line, text, "records" if advice else "blocks", line if advice else None, advice)
            return
        function = self.function(argument)
        if function is None:
            yield Cost(line, text, "unknown", None, "")
            return
        parameters = [name for name in _parameters(function)[bound:] if name not in keywords]
        reasons = _Reasons(self)
        reasons.add(function, frozenset(parameters))
        singles = sorted(set(reasons.singles))
        for because, advice in singles or sorted(set(reasons.notes)):
            yield Cost(line, text, "records" if singles else "blocks", because, advice)
        if not singles and not reasons.notes:
            yield Cost(line, text, "blocks", None, "")


class _Reasons:
    """The reasons why functions run record by record, and what else their authors need to know.

    Attributes:
      singles: (line, advice) of what needs single records.
      notes: (line, advice) of what runs on blocks with another effect than record by record.
    """

    def __init__(self, script: _Script) -> None:
        self.singles: list[tuple[int, str]] = []
        self.notes: list[tuple[int, str]] = []
        self._script = script
        self._seen: set[tuple[_Function, frozenset[str]]] = set()

    def add(self, function: _Function, tensors: frozenset[str]) -> None:
        """Look at a function whose parameters of these names are tensors."""
        if (function, tensors) in self._seen:
            return
        self._seen.add((function, tensors))
        body = _Body(self._script, function, tensors)
        for node in body.nodes():
            if isinstance(node, ast.Call):
                self._add_call(node, body)
            elif isinstance(node, ast.FormattedValue) and body.has_tensor(node.value):
                self._single(node, f"an f-string needs the value of one record: {_AS_TEXT}")
            elif isinstance(node, ast.Subscript) and _last_name(node.value) in self._script.dicts:
                if body.has_tensor(node.slice):
                    self._single(node, "a tensor is a key of a dict: use tf.gather or tf.where")
            elif isinstance(node, ast.Global | ast.Nonlocal):
                self._note(node, f"{', '.join(node.names)} changes once per block, not for each record")
            elif isinstance(node, ast.Assign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Attribute | ast.Subscript) and body.is_outside(target.value):
                        self._note(node, f"{_short(target)} changes once per block, not for each record")

    def _single(self, node: ast.AST, advice: str) -> None:
        self.singles.append((_line(node), advice))

    def _note(self, node: ast.AST, advice: str) -> None:
        self.notes.append((_line(node), advice))

    def _add_call(self, call: ast.Call, body: _Body) -> None:
        script, text = self._script, _short(call.func)
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        gets_tensor = any(map(body.has_tensor, arguments))
        name = script.tensorflow_name(call.func)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name is not None:
            advice = _tensorflow_advice(name, script)
            if advice:
                self._single(call, advice)
        elif method == "numpy" and not arguments:
            self._single(call, f"{text}() needs one record: {_WITH_TENSORFLOW}")
        elif script.is_keras(call.func) or _last_name(call.func) in script.layers:
            if gets_tensor:
                self._single(call, f"{text} is a Keras layer: call it on batches, after batch")
        elif (foreign := script.foreign_name(call.func)) is not None:
            if gets_tensor:
                self._single(call, f"{text} gets a tensor: {_WITH_TENSORFLOW}")
            elif any(foreign == module or foreign.startswith(f"{module}.") for module in _CHANGING_MODULES):
                instead = ": use tf.random" if "random" in foreign else ""
                self._note(call, f"{text} is called once per block, not for each record{instead}")
        elif method in _BYTES_METHODS and receiver is not None and body.has_tensor(receiver):
            self._single(call, f"{text} is a method of bytes: use tf.strings")
        elif (function := script.function(call.func)) is not None:
            self.add(function, body.tensors_of_call(call, function))
        elif (text in _TEXTS or method == "format") and gets_tensor:
            self._single(call, f"{text} needs the value of one record: {_AS_TEXT}")
        elif text in _NUMBERS and gets_tensor:
            advice = "runs once for each value: more than 9 in a block run record by record"
            self._note(call, f"{text} of a tensor {advice}. Use tensors instead")
        elif text == "print" or (method in _CHANGES and receiver is not None and body.is_outside(receiver)):
            self._note(call, f"{text} is called once per block, not for each record")


class _Body:
    """The body of a function, and which of its variables are tensors."""

    def __init__(self, script: _Script, function: _Function, tensors: frozenset[str]) -> None:
        self._script = script
        self._function = function
        self._tensors = set(tensors)
        self._own = set(_parameters(function))
        for _ in range(2):  # a loop may use what it assigns later
            for node in self.nodes():
                self._assign(node)

    def nodes(self) -> Iterator[ast.AST]:
        """Iterate over the nodes of the body, without those of functions inside that it defines."""
        body = self._function.body
        yield from _nodes(body if isinstance(body, list) else [body])

    def _assign(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            targets, value = [node.target], node.value
        elif isinstance(node, ast.For | ast.comprehension):
            targets, value = [node.target], node.iter
        else:
            return
        names = {name for target in targets for name in _stored_names(target)}
        self._own |= names
        if self.has_tensor(value):
            self._tensors |= names

    def has_tensor(self, node: ast.AST) -> bool:
        """Return True if an expression is computed from tensors, rather than from their shapes."""
        if isinstance(node, ast.Name):
            return node.id in self._tensors
        if isinstance(node, ast.Attribute) and node.attr in _SHAPES:
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ABOUT:
            return False
        if isinstance(node, ast.Lambda):
            return False
        return any(map(self.has_tensor, ast.iter_child_nodes(node)))

    def is_outside(self, node: ast.expr) -> bool:
        """Return True if an expression names something that outlives the call."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(node, ast.Name) and (node.id == "self" or node.id not in self._own)

    def tensors_of_call(self, call: ast.Call, function: _Function) -> frozenset[str]:
        """Return the parameters that get tensors in a call of a function of the script."""
        names = _parameters(function)
        positional = zip(names, call.args, strict=False)
        named = ((keyword.arg, keyword.value) for keyword in call.keywords)
        return frozenset(name for name, value in [*positional, *named] if name and self.has_tensor(value))


def _tensorflow_advice(name: str, script: _Script) -> str:
    """Return why a function of TensorFlow needs single records, and what to write instead, or an empty text."""
    short = name.removeprefix("compat.v1.").removeprefix("compat.v2.")
    if short in _SINGLE:
        return f"tf.{name} needs one record: {_SINGLE[short]}"
    if short.split(".")[0] == "keras":
        return f"tf.{name} is Keras's: call it on batches, after batch"
    return "" if script.is_here(name) else f"tf.{name} is TensorFlow's own function: call it on batches, after batch"


# ---- Nodes ----


def _nodes(parents: list[Any]) -> Iterator[ast.AST]:
    for node in parents:
        yield node
        if not isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
            yield from _nodes(list(ast.iter_child_nodes(node)))


def _qualified(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """Return the dotted name of an expression, with what the script's first name stands for; None if unknown."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([*filter(None, [names[node.id]]), *reversed(attributes)])


def _is_batched(dataset: ast.expr) -> bool:
    """Return True if a chain of calls, such as `dataset.batch(2).prefetch(1)`, makes batches."""
    while isinstance(dataset, ast.Call) and isinstance(dataset.func, ast.Attribute):
        if dataset.func.attr in ("batch", "padded_batch", "ragged_batch", "unbatch"):
            return dataset.func.attr != "unbatch"
        dataset = dataset.func.value
    return False


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _first_argument(call: ast.Call) -> Any:
    named = [keyword.value for keyword in call.keywords if keyword.arg in ("map_func", "predicate")]
    return next(iter([*call.args[:1], *named]), None)


def _parameters(function: _Function) -> list[str]:
    """Return the names of the parameters that a dataset fills: those without a default, apart from `self`."""
    arguments = function.args
    names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    names = names[: len(names) - len(arguments.defaults)]
    names += [argument.arg for argument in [arguments.vararg] if argument is not None]
    return [name for name in names if name not in ("self", "cls")]


def _stored_names(target: ast.AST) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _line(node: Any) -> int:
    return int((node.func.end_lineno or node.lineno) if isinstance(node, ast.Call) else node.lineno)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 40 else f"{text[:37]}..."
