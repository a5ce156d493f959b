"""Random scripts: a file of records, a function that parses them, and a chain of transformations."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from .drawing import INTEGERS, NUMBERS, Drawing, NoOperand, Variable
from .functions import draw_body, draw_predicate, draw_result, used_lines
from .records import draw_features, draw_records

__all__ = ["Script", "draw_script"]


@dataclass
class Script:
    """A script, which finds its file under the name PATH and leaves a variable `dataset`.

    Attributes:
      seed: what it was drawn from.
      text: its code.
      records: what its file holds.
      tags: "split", "random", "shuffle", "batch", …: what the script does.
      ordered: False if the elements after a shuffle are compared in any order.
    """

    seed: int
    text: str
    records: list
    tags: set = field(default_factory=set)
    ordered: bool = False


def draw_script(seed, any_order=False):
    """Return the script of a seed.

    Args:
      any_order: what follows a shuffle may depend on the order. Then only runs of the same package can be compared.
    """
    return _Chain(seed, any_order).script


class _Chain:
    def __init__(self, seed, any_order):
        self.drawing = d = Drawing(random.Random(f"{seed} {any_order}"))
        self.any_order = any_order
        self.head, self.chain, self.element = [], [], None
        self.is_shuffled = False
        self.records = []
        count = d.rng.choice([0, 1, 2, 3, 5, 5, 7, 8, 8, 12, 12, 20, 20, 40, 60])
        if d.chance(0.88):
            self.start_with_files(count)
        else:
            self.start_with_values(count)
        for _ in range(d.choice(0, 1, 1, 2, 2, 3, 4, 5)):
            try:
                d.rng.choice(self.steps())()
            except NoOperand:
                continue
        text = "\n".join([*self.head, *self.chain, ""])
        self.script = Script(seed, text, self.records, d.tags, any_order)

    # ---- Sources ----

    def start_with_files(self, count):
        d = self.drawing
        features = draw_features(d)
        self.records = draw_records(d, features, count)
        lines = [f"    {feature.key!r}: tf.io.{feature.text}," for feature in features]
        parse = d.choice("tf.io.parse_single_example", "tf.io.parse_single_example", "tf.io.parse_example")
        if parse == "tf.io.parse_example" and d.chance(0.7):
            parse = "tf.io.parse_single_example"
        if parse == "tf.io.parse_example":
            self.start_with_batches(features, lines)
            return
        record = d.choice("record", "example_proto", "serialized")
        if d.chance(0.4):
            self.head += ["FEATURES = {", *lines, "}", ""]
            body = [f"    row = {parse}({record}, FEATURES)"]
        else:
            body = ["    features = {", *(f"    {line}" for line in lines), "    }"]
            body += [f"    row = {parse}({record}, features)"]
        d.scope = [feature.variable for feature in features]
        if d.chance(0.1):
            result = {feature.key: feature.variable for feature in features}
            body += ["    return row"]
        else:
            statements = draw_body(d, d.choice(1, 2, 3, 4, 6, 8))
            result = draw_result(d)
            if "row[" not in "".join(_returning(statements, result)):  # TensorFlow would not parse the record
                result = (result, features[0].variable)
            body += _returning(statements, result)
        self.head += [f"def parse({record}):", *body, "", ""]
        self.add(self.files_text())
        self.add(self.map_text("parse"))
        self.element = result

    def files_text(self):
        d = self.drawing
        roll = d.rng.random()
        if roll < 0.75:
            return "dataset = tf.data.TFRecordDataset(PATH)"
        if roll < 0.85:
            return "dataset = tf.data.TFRecordDataset([PATH, PATH])"
        files = "tf.data.Dataset.from_tensor_slices([PATH, PATH])"
        if roll < 0.93:
            length = d.choice(1, 2)
            length = f"cycle_length={length}, block_length={d.choice(1, 2)}"
            return f"dataset = {files}.interleave(tf.data.TFRecordDataset, {length})"
        return f"dataset = {files}.flat_map(tf.data.TFRecordDataset)"

    def start_with_batches(self, features, lines):
        """Batch the records, then parse them."""
        d = self.drawing
        self.head += ["FEATURES = {", *lines, "}", ""]
        d.scope = [_batched(feature.variable) for feature in features]
        d.scope = [
            replace(variable, layout="ragged") if feature.text.startswith("Ragged") else variable
            for feature, variable in zip(features, d.scope, strict=True)
        ]
        body = ["    row = tf.io.parse_example(records, FEATURES)"]
        statements = draw_body(d, d.choice(1, 2, 4))
        result = draw_result(d)
        if "row[" not in "".join(_returning(statements, result)):
            result = (result, d.scope[0])
        self.head += ["def parse(records):", *body, *_returning(statements, result), "", ""]
        self.add(self.files_text())
        self.add(f"dataset = dataset.batch({d.choice(1, 2, 3, 5)})")
        self.add(self.map_text("parse"))
        d.tags.add("batch")
        self.element = result

    def start_with_values(self, count):
        d = self.drawing
        rng = d.rng
        if d.chance(0.3):
            self.add(f"dataset = tf.data.Dataset.range({count})")
            self.element = Variable("", "int64", ())
        else:
            columns = {}
            for key in rng.sample(["a", "b", "c"], rng.randint(1, 3)):
                kind = rng.choice(["int32", "float32", "string", "rows"])
                if kind == "rows":
                    values = [[rng.randint(-2, 9) for _ in range(3)] for _ in range(max(count, 1))]
                    columns[key] = (values, Variable("", "int32", (3,)))
                    continue
                value = {
                    "int32": lambda: rng.randint(-2, 9),
                    "float32": lambda: rng.randint(-8, 24) / 4,
                    "string": lambda: rng.choice(["a", "", "bc", "1", "x y", "4.5"]),
                }[kind]
                columns[key] = ([value() for _ in range(max(count, 1))], Variable("", kind, ()))
            if d.chance(0.5):
                text = "{" + ", ".join(f"{key!r}: {values}" for key, (values, _) in columns.items()) + "}"
                self.element = {key: variable for key, (_, variable) in columns.items()}
            else:
                text = "(" + ", ".join(f"{values}" for values, _ in columns.values()) + ",)"
                self.element = tuple(variable for _, variable in columns.values())
            self.add(f"dataset = tf.data.Dataset.from_tensor_slices({text})")
        self.map()

    # ---- Transformations ----

    def add(self, line):
        self.chain.append(line)

    def map_text(self, function):
        d = self.drawing
        options = d.choice("", "", "", ", num_parallel_calls=tf.data.AUTOTUNE", ", num_parallel_calls=2")
        if d.chance(0.05):
            options += ", deterministic=True"
        return f"dataset = dataset.map({function}{options})"

    def arguments(self):
        """Return the arguments of a function on elements, after which its variables are in scope."""
        d, element = self.drawing, self.element
        if isinstance(element, tuple):
            names = [d.new_name("a") for _ in element]
            values = [_named(item, name) for item, name in zip(element, names, strict=True)]
            d.scope = [variable for value in values for variable in _leaves(value)]
            return ", ".join(names)
        d.scope = _leaves(_named(element, "row"))
        return "row"

    def map(self):
        d = self.drawing
        arguments = self.arguments()
        name = d.new_name("step")
        statements = draw_body(d, d.choice(1, 2, 3, 5))
        self.element = draw_result(d)
        self.head += [f"def {name}({arguments}):", *_returning(statements, self.element), "", ""]
        self.add(self.map_text(name))

    def identity(self):
        arguments = self.arguments()
        self.element = tuple(self.drawing.scope[:2]) if len(self.drawing.scope) > 1 else self.drawing.scope[0]
        self.add(self.map_text(f"lambda {arguments}: ({_text(self.element)})"))

    def filter(self):
        d = self.drawing
        arguments = self.arguments()
        body, condition = draw_predicate(d)
        d.tags.add("filter")
        method = d.choice("filter", "filter", "filter", "take_while")
        if method == "take_while" and self.is_shuffled and not self.any_order:
            method = "filter"
        if body:
            name = d.new_name("keep")
            lines = [f"    {line}" for line in [*body, f"return {condition}"]]
            self.head += [f"def {name}({arguments}):", *lines, "", ""]
            self.add(f"dataset = dataset.{method}({name})")
        else:
            self.add(f"dataset = dataset.{method}(lambda {arguments}: {condition})")

    def simple(self):
        d = self.drawing
        n = d.choice(0, 1, 2, 3, 5, 10)
        self.add("dataset = dataset" + d.choice(f".take({n})", f".skip({n})", f".shard(2, {n % 2})", f".take({n + 5})"))

    def through(self):
        d = self.drawing
        self.add(
            "dataset = dataset" + d.choice(".cache()", ".prefetch(1)", ".prefetch(tf.data.AUTOTUNE)", ".repeat(2)")
        )

    def ignore_errors(self):
        self.add(
            "dataset = dataset"
            + self.drawing.choice(".ignore_errors()", ".apply(tf.data.experimental.ignore_errors())")
        )

    def shuffle(self):
        d = self.drawing
        self.is_shuffled = True
        d.tags.add("shuffle")
        seed = ", seed=1" if self.any_order else d.choice("", ", seed=1")
        self.add(f"dataset = dataset.shuffle({d.choice(1, 2, 4, 10, 100)}{seed})")

    def enumerate(self):
        self.add(f"dataset = dataset.enumerate({self.drawing.choice('', '5')})")
        self.element = (Variable("", "int64", ()), self.element)

    def concatenate(self):
        text = self.drawing.choice("dataset.take(2)", "dataset", "dataset.skip(1)")
        self.add(f"dataset = dataset.concatenate({text})")

    def zip(self):
        d = self.drawing
        self.add(f"dataset = tf.data.Dataset.zip(({d.choice('dataset, dataset', 'dataset, dataset.skip(1)')}))")
        self.element = (self.element, self.element)

    def batch(self):
        d = self.drawing
        n = d.choice(1, 2, 3, 4, 8)
        drop = d.choice("", "", ", drop_remainder=True")
        d.tags.add("batch")
        leaves = _leaves(self.element)
        is_dense = all(leaf.layout == "dense" for leaf in leaves)
        if any(
            leaf.layout != "dense" and leaf.rank > 2 - (leaf.layout == "sparse") for leaf in leaves
        ):  # docs/differences.md
            raise NoOperand
        if is_dense and ((any(None in leaf.shape for leaf in leaves) and d.chance(0.8)) or d.chance(0.1)):
            shapes = ""
            if not isinstance(self.element, (dict, tuple)) and d.chance(0.3):
                sizes = [d.choice(-1, None, 5) if size is None else size for size in self.element.shape]
                shapes = f", padded_shapes={sizes}"
                if leaves[0].dtype != "string" and d.chance(0.5):
                    value = {"int32": "tf.constant(-1)", "int64": "tf.constant(-1, tf.int64)", "float32": "-1.0"}
                    value = value.get(leaves[0].dtype)
                    shapes += f", padding_values={value}" if value else ""
            self.add(f"dataset = dataset.padded_batch({n}{shapes}{drop})")
        else:
            self.add(f"dataset = dataset.batch({n}{drop})")
        self.element = _each(self.element, lambda variable: _batched(variable, n if drop else None))

    def unbatch(self):
        # TensorFlow crashes on rows without values.
        if any(leaf.rank == 0 or None in leaf.shape[1:] or leaf.layout != "dense" for leaf in _leaves(self.element)):
            raise NoOperand
        self.add("dataset = dataset.unbatch()")
        self.element = _each(self.element, lambda variable: replace(variable, shape=variable.shape[1:]))

    def unique(self):
        if (
            isinstance(self.element, (dict, tuple))
            or self.element.shape
            or not self.element.exact
            or self.element.dtype not in ("int32", "int64", "string")
        ):
            raise NoOperand
        self.add("dataset = dataset.unique()")

    def flat_map(self):
        d = self.drawing
        arguments = self.arguments()
        a = d.pick((*NUMBERS, "string"), ranks=(1, 2), fits=lambda a: True)
        text = f"lambda {arguments}: tf.data.Dataset.from_tensor_slices({a.name})"
        if d.chance(0.3):
            a = d.pick(INTEGERS, ranks=(0,), exact=True)
            text = f"lambda {arguments}: tf.data.Dataset.range(tf.cast({a.name}, tf.int64) % 3)"
            a = Variable("", "int64", (1,))
        self.add(f"dataset = dataset.flat_map({text})")
        self.element = replace(a, shape=a.shape[1:])

    def scan(self):
        d = self.drawing
        arguments = self.arguments()
        if isinstance(self.element, tuple):
            raise NoOperand
        number = d.pick(INTEGERS, ranks=(0,), exact=True)
        text = f"lambda total, {arguments}: (total + tf.cast({number.name}, tf.int64), total)"
        self.add(f"dataset = dataset.scan(tf.constant(0, tf.int64), {text})")
        self.element = Variable("", "int64", ())

    def window(self):
        if isinstance(self.element, (dict, tuple)) or None in self.element.shape or self.element.layout != "dense":
            raise NoOperand
        d = self.drawing
        self.add(f"dataset = dataset.window({d.choice(2, 3)}, shift={d.choice(1, 2)}).flat_map(lambda w: w.batch(3))")
        self.element = _batched(self.element)

    def steps(self):
        steps = [self.map] * 4 + [self.filter] * 3 + [self.identity]
        if not self.is_shuffled or self.any_order:
            steps += (
                [self.batch] * 4
                + [self.simple] * 2
                + [self.enumerate, self.concatenate, self.zip, self.scan, self.window]
            )
            steps += [self.through] * 2 + [self.ignore_errors] * 2 + [self.shuffle] * (2 if not self.any_order else 4)
        else:
            steps += [self.ignore_errors]
        return [*steps, self.unbatch, self.unique, self.flat_map]


def _returning(statements, result):
    """Return the lines of a function's body."""
    lines = used_lines(statements, _text(result))
    return [f"    {line}" for line in [*lines, f"return {_text(result)}"]]


# ---- Elements: a Variable, or a tuple or dict of elements ----


def _each(element, function):
    if isinstance(element, tuple):
        return tuple(_each(item, function) for item in element)
    if isinstance(element, dict):
        return {key: _each(item, function) for key, item in element.items()}
    return function(element)


def _named(element, name):
    """Return the element with the expressions by which a function reaches its variables."""
    if isinstance(element, tuple):
        return tuple(_named(item, f"{name}[{number}]") for number, item in enumerate(element))
    if isinstance(element, dict):
        return {key: _named(item, f"{name}[{key!r}]") for key, item in element.items()}
    return replace(element, name=name)


def _leaves(element):
    if isinstance(element, tuple):
        return [leaf for item in element for leaf in _leaves(item)]
    if isinstance(element, dict):
        return [leaf for item in element.values() for leaf in _leaves(item)]
    return [element]


def _text(element):
    if isinstance(element, tuple):
        return ", ".join(f"({_text(item)})" if isinstance(item, tuple) else _text(item) for item in element)
    if isinstance(element, dict):
        return "{" + ", ".join(f"{key!r}: {_text(item)}" for key, item in element.items()) + "}"
    return element.name


def _batched(variable, size=None):
    return replace(variable, shape=(size, *variable.shape))
