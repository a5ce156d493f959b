"""Random functions for `map` and `filter`: operations one after the other, with conditions and loops."""

from __future__ import annotations

import re
from dataclasses import replace

from .drawing import INTEGERS, NUMBERS, NoOperand, Variable
from .operations import draw_expression

__all__ = ["draw_body", "draw_predicate", "draw_result", "used_lines"]


def draw_body(drawing, count):
    """Return statements as lists of lines; their variables are in scope then."""
    statements = []
    for _ in range(count):
        if drawing.chance(0.16):
            try:
                statements.append(drawing.rng.choice(_STATEMENTS)(drawing))
                continue
            except NoOperand:
                pass
        variable = draw_expression(drawing)
        name = drawing.new_name()
        drawing.scope.append(replace(variable, name=name))
        statements.append([f"{name} = {variable.name}"])
    return statements


def used_lines(statements, result):
    """Return the lines of the statements that the text of a result needs, and of checks.

    TensorFlow leaves out of its graph what nothing uses, so errors there do not appear.
    """
    lines = []
    for statement in reversed(statements):
        needed = set(re.findall(r"\w+", "\n".join([*lines, result])))
        targets = re.findall(r"^ *(\w+) =|^def (\w+)", "\n".join(statement), re.MULTILINE)
        if not targets or needed & {name for pair in targets for name in pair}:
            lines = [*statement, *lines]
    return lines


def draw_result(drawing, most=4):
    """Return what a function returns: a Variable, a tuple or a dict of them."""
    rng = drawing.rng
    count = rng.randint(1, most)
    variables = [drawing.rng.choice(drawing.scope[-6:] if drawing.chance(0.8) else drawing.scope) for _ in range(count)]
    shape = rng.choice(["tuple", "tuple", "dict", "single", "nested"])
    if shape == "single" or (shape == "tuple" and count == 1):
        return variables[0]
    if shape == "tuple":
        return tuple(variables)
    named = dict(zip("xyzw", variables, strict=False))
    return named if shape == "dict" or count == 1 else ({k: v for k, v in named.items() if k != "x"}, named["x"])


def draw_predicate(drawing):
    """Return lines and the expression of a scalar bool."""
    statements = draw_body(drawing, drawing.choice(0, 0, 1, 2))
    condition = drawing.condition()
    lines = used_lines(statements, condition)
    if drawing.chance(0.2):
        drawing.tags.add("split")
        return [*lines, f"if {condition}:", "    return True"], "False"
    return lines, condition


# ---- Statements ----


def _pair(drawing):
    """Return two expressions of one dtype and rank, for two branches."""
    first = drawing.pick((*NUMBERS, "string"))
    numbers = ("+ 1", "* 2", "- 3") if first.dtype in INTEGERS else ("+ 1.0", "* 0.5")
    if first.dtype == "string":
        numbers = ("+ 'q'", "+ ''")
    second = replace(first, name=f"{first.name} {drawing.rng.choice(numbers)}")
    if first.rank and drawing.chance(0.3):
        second = replace(first, name=f"{first.name}[:1]", shape=(None, *first.shape[1:]))
    elif drawing.chance(0.3):
        second = drawing.pick((first.dtype,), ranks=(first.rank,))
    merged = tuple(one if one == other else None for one, other in zip(first.shape, second.shape, strict=True))
    result = Variable("", first.dtype, merged, first.exact and second.exact)
    return first.name, second.name, result


def _add(drawing, name, result):
    drawing.scope.append(replace(result, name=name))
    drawing.tags.add("split")


def _if_else(drawing):
    condition, other = drawing.condition(), drawing.condition()
    first, second, result = _pair(drawing)
    name = drawing.new_name()
    _add(drawing, name, result)
    if drawing.chance(0.3):
        return [f"{name} = {first}", f"if {condition}:", f"    {name} = {second}"]
    if drawing.chance(0.2):
        return [f"{name} = {first} if {condition} else {second}"]
    lines = [f"if {condition}:", f"    {name} = {first}"]
    if drawing.chance(0.25):
        lines += [f"elif {other}:", f"    {name} = {first}"]
    return [*lines, "else:", f"    {name} = {second}"]


def _both(drawing):
    first, second = drawing.condition(), drawing.condition()
    word = drawing.choice("and", "or", "and not")
    number, other, result = _pair(drawing)
    name = drawing.new_name()
    _add(drawing, name, result)
    return [f"if ({first}) {word} ({second}):", f"    {name} = {number}", "else:", f"    {name} = {other}"]


def _cond(drawing):
    condition = drawing.condition()
    first, second, result = _pair(drawing)
    name = drawing.new_name()
    _add(drawing, name, result)
    return [f"{name} = tf.cond({condition}, lambda: {first}, lambda: {second})"]


def _failing_branch(drawing):
    """Fail in a branch that only some records take."""
    condition = drawing.condition()
    number = drawing.pick(INTEGERS, ranks=(0,), exact=True)
    name = drawing.new_name()
    _add(drawing, name, replace(number, shape=()))
    return [f"{name} = tf.cond({condition}, lambda: {number.name} // ({number.name} - 1), lambda: {number.name})"]


def _case(drawing):
    first, second = drawing.condition(), drawing.condition()
    number, other, result = _pair(drawing)
    name = drawing.new_name()
    _add(drawing, name, result)
    return [
        f"{name} = tf.case(",
        f"    [({first}, lambda: {number}), ({second}, lambda: {other})], default=lambda: {number}",
        ")",
    ]


def _while(drawing):
    limit = drawing.small_integer(4)
    number = drawing.pick(NUMBERS, fits=lambda variable: None not in variable.shape)
    counter, total = drawing.new_name("i"), drawing.new_name()
    _add(drawing, total, replace(number, exact=number.exact))
    start = f"tf.constant(0, tf.{limit.dtype})"
    change = "+ 1" if number.dtype in INTEGERS else "+ 0.5"
    return [
        f"{counter} = {start}",
        f"{total} = {number.name}",
        f"while {counter} < {limit.name}:",
        f"    {total} = {total} {change}",
        f"    {counter} += 1",
    ]


def _for(drawing):
    limit = drawing.small_integer(3)
    number = drawing.pick(INTEGERS, fits=lambda variable: None not in variable.shape)
    total = drawing.new_name()
    _add(drawing, total, number)
    span = drawing.choice(f"range({limit.name})", f"tf.range({limit.name})", f"range(int({limit.name}))")
    return [f"{total} = {number.name}", f"for _ in {span}:", f"    {total} = {total} + 1"]


def _int(drawing):
    """Use a tensor as a Python number, where TensorFlow's tracing knows what to do."""
    limit = drawing.small_integer(3)
    a = drawing.pick((*NUMBERS, "string"), ranks=(1, 2))
    name = drawing.new_name()
    _add(drawing, name, replace(a, shape=(None, *a.shape[1:])))
    return [f"{name} = {a.name}[: int({limit.name})]"]


def _check(drawing):
    number = drawing.pick(NUMBERS, ranks=(0, 1), exact=True)
    limit = "9" if number.dtype in INTEGERS else "5.5"
    return [
        drawing.choice(
            f"tf.debugging.assert_less({number.name}, tf.constant({limit}, {number.name}.dtype))",
            f"tf.debugging.assert_greater({number.name}, tf.constant(-2, {number.name}.dtype))",
            f"tf.debugging.assert_non_negative({number.name})",
            f"tf.Assert(tf.reduce_all({number.name} < {limit}), [{number.name}])",
        )
    ]


def _random_branch(drawing):
    """Take a branch by chance; both yield the same value."""
    number = drawing.pick(NUMBERS)
    name = drawing.new_name()
    _add(drawing, name, number)
    drawing.tags.add("random")
    if drawing.chance(0.5):
        return [
            "if tf.random.uniform([]) > 0.5:",
            f"    {name} = {number.name} + {number.name}",
            "else:",
            f"    {name} = {number.name} * 2",
        ]
    branches = f"lambda: {number.name} * 2, lambda: {number.name} + {number.name}"
    return [f"{name} = tf.cond(tf.random.uniform([], seed=1) < 0.3, {branches})"]


def _helper(drawing):
    """Define a function inside the function, with an early return."""
    number = drawing.pick(NUMBERS, ranks=(0,), exact=True)
    name, function = drawing.new_name(), drawing.new_name("f")
    _add(drawing, name, number)
    one = "1" if number.dtype in INTEGERS else "1.0"
    return [
        f"def {function}(value):",
        f"    if value > {one}:",
        "        return value * 2",
        f"    return value - {one}",
        f"{name} = {function}({number.name})",
    ]


def _random_use(drawing):
    """Use one draw twice: both uses must see the same number."""
    drawing.tags.add("random")
    number, name = drawing.new_name("r"), drawing.new_name()
    _add(drawing, name, Variable(name, "bool", ()))
    return [
        f"{number} = tf.random.uniform([])",
        f"if {number} > 0.5:",
        f"    {name} = {number} > 0.25",
        "else:",
        f"    {name} = {number} < 0.75",
    ]


_STATEMENTS = (
    [_if_else] * 4
    + [_cond] * 3
    + [_both, _case, _while, _for, _int, _check, _random_branch, _failing_branch, _helper, _random_use]
)
