"""Operations on numbers: value by value, reductions, sorting, and random numbers."""

from __future__ import annotations

from dataclasses import replace

from ..drawing import FLOATS, INTEGERS, NUMBERS, NoOperand, broadcast
from .listed import axis_of, made, operation


@operation(8)
def arithmetic(d):
    a = d.pick(NUMBERS)
    b = d.partner(a)
    shape = broadcast(a.shape, b.shape)
    symbol, function = d.choice(
        ("+", "tf.add"), ("-", "tf.subtract"), ("*", "tf.multiply"), ("+", "tf.math.add"), ("*", "tf.math.multiply")
    )
    text = f"{function}({a.name}, {b.name})" if d.chance(0.2) else f"{a.name} {symbol} {b.name}"
    if b.shape == () and d.chance(0.2):
        text = f"{b.name} {symbol} {a.name}"
    return made(f"({text})" if symbol == "-" else text, a.dtype, shape, a, b)


@operation(3)
def division(d):
    a = d.pick(NUMBERS)
    b = d.partner(a, exact=True)
    shape = broadcast(a.shape, b.shape)
    if a.dtype in INTEGERS:
        text, dtype = d.choice(
            (f"{a.name} // {b.name}", a.dtype),
            (f"{a.name} % {b.name}", a.dtype),
            (f"tf.math.floordiv({a.name}, {b.name})", a.dtype),
            (f"tf.math.mod({a.name}, {b.name})", a.dtype),
            (f"{a.name} / {b.name}", "float64"),
        )
        if b.name == "0":
            raise NoOperand
        return made(text, dtype, shape, a, b, exact=dtype == a.dtype)
    text = d.choice(
        f"{a.name} / {b.name}", f"tf.divide({a.name}, {b.name})", f"tf.math.divide_no_nan({a.name}, {b.name})"
    )
    return made(text, a.dtype, shape, a, b, exact=False)


@operation(5)
def cast(d):
    a = d.pick((*NUMBERS, "bool"))
    dtype = d.choice("float32", "float32", "int32", "int64", "float64", "bool", "uint8")
    if dtype == "uint8":
        if a.dtype not in INTEGERS:
            raise NoOperand
        return made(f"tf.cast(tf.cast({a.name}, tf.uint8), tf.int32)", "int32", a.shape, a)
    if dtype not in FLOATS and a.dtype in FLOATS:
        if not a.exact:
            raise NoOperand
        if dtype != "bool":
            return made(f"tf.cast(tf.clip_by_value({a.name}, -50.0, 50.0), tf.{dtype})", dtype, a.shape, a)
    return made(d.choice(f"tf.cast({a.name}, tf.{dtype})", f"tf.cast({a.name}, {dtype!r})"), dtype, a.shape, a)


@operation(3)
def comparison(d):
    a = d.pick((*NUMBERS, "string"), exact=True)
    b = d.partner(a, exact=True)
    if a.dtype == "string":
        text = d.choice(f"{a.name} == {b.name}", f"tf.equal({a.name}, {b.name})", f"{a.name} != {b.name}")
    else:
        text = d.choice(
            f"{a.name} < {b.name}",
            f"{a.name} >= {b.name}",
            f"{a.name} == {b.name}",
            f"tf.greater({a.name}, {b.name})",
            f"tf.not_equal({a.name}, {b.name})",
            f"tf.math.less_equal({a.name}, {b.name})",
        )
    return made(f"({text})", "bool", broadcast(a.shape, b.shape), a, b)


@operation(2)
def logic(d):
    a = d.pick(("bool",), exact=True)
    b = d.pick(("bool",), exact=True, fits=lambda b: broadcast(a.shape, b.shape) is not None)
    text = d.choice(
        f"tf.logical_and({a.name}, {b.name})", f"tf.math.logical_xor({a.name}, {b.name})", f"({a.name} | {b.name})"
    )
    shape = broadcast(a.shape, b.shape)
    if d.chance(0.3):
        text, shape = d.choice(f"tf.logical_not({a.name})", f"(~{a.name})"), a.shape
    return made(text, "bool", shape, a, b)


@operation(3)
def unary(d):
    a = d.pick(FLOATS)
    function = d.rng.choice(
        "tf.exp tf.sqrt tf.tanh tf.sin tf.cos tf.sigmoid tf.math.log tf.math.log1p tf.math.expm1 tf.math.softplus "
        "tf.math.rsqrt tf.math.reciprocal tf.atan tf.math.l2_normalize".split()
    )
    return made(f"{function}({a.name})", a.dtype, a.shape, a, exact=False)


@operation(3)
def exact_unary(d):
    a = d.pick(NUMBERS)
    functions = "tf.abs tf.square tf.negative tf.sign tf.identity tf.stop_gradient"
    if None in a.shape:  # TensorFlow does not compute a tensor of which only the shape is used, and known
        functions += " tf.zeros_like tf.ones_like"
    if a.dtype in FLOATS and a.exact:
        functions += " tf.floor tf.math.ceil tf.round tf.math.rint"
    if a.dtype in FLOATS and d.chance(0.2):
        return made(f"tf.math.is_{d.choice('nan', 'finite', 'inf')}({a.name})", "bool", a.shape, exact=False)
    return made(f"{d.rng.choice(functions.split())}({a.name})", a.dtype, a.shape, a)


@operation(3)
def clip(d):
    a = d.pick(NUMBERS)
    if a.dtype in INTEGERS:
        low, high = d.choice((0, 5), (-1, 3), (1, 2))
    else:
        low, high = d.choice((0.0, 1.0), (-1.0, 2.5))
    b = d.partner(a)
    text, shape = d.choice(
        (f"tf.clip_by_value({a.name}, {low}, {high})", a.shape),
        (f"tf.maximum({a.name}, {b.name})", broadcast(a.shape, b.shape)),
        (f"tf.math.minimum({a.name}, {b.name})", broadcast(a.shape, b.shape)),
        (f"tf.math.squared_difference({a.name}, {b.name})", broadcast(a.shape, b.shape)),
    )
    return made(text, a.dtype, shape, a, b)


@operation(3)
def where(d):
    try:
        condition = d.pick(("bool",), exact=True)
    except NoOperand:
        number = d.pick(NUMBERS, exact=True)
        condition = made(f"{number.name} > 1", "bool", number.shape)
        if number.dtype in FLOATS:
            condition = replace(condition, name=f"{number.name} > 0.75")
    if condition.rank and d.chance(0.25):
        return made(f"tf.where({condition.name})", "int64", (None, condition.rank))
    a = d.pick((*NUMBERS, "string"), fits=lambda a: broadcast(a.shape, condition.shape) is not None)
    shape = broadcast(a.shape, condition.shape)
    b = d.partner(a)
    if broadcast(shape, b.shape) is None:
        raise NoOperand
    text = f"tf.where({condition.name}, {a.name}, {b.name})"
    return made(text, a.dtype, broadcast(shape, b.shape), a, b, condition)


# ---- Reductions ----


@operation(5)
def reduction(d):
    if d.chance(0.2):
        a = d.pick(("bool",), ranks=(1, 2, 3))
        function, dtype = d.choice("any", "all"), "bool"
    else:
        a = d.pick(NUMBERS, ranks=(1, 2, 3))
        function, dtype = d.choice("sum", "sum", "max", "min", "mean", "prod"), a.dtype
    exact = function in ("max", "min", "any", "all") or dtype in INTEGERS or (function == "sum" and a.exact)
    axis, text = axis_of(d, a.rank)
    if d.chance(0.4):
        return made(f"tf.reduce_{function}({a.name})", dtype, (), a, exact=exact)
    if a.rank > 1 and d.chance(0.2):
        return made(f"tf.reduce_{function}({a.name}, axis=[0, {a.rank - 1}])", dtype, a.shape[1:-1], a, exact=exact)
    keeps = d.chance(0.3)
    shape = (*a.shape[:axis], *([1] if keeps else []), *a.shape[axis + 1 :])
    keepdims = ", keepdims=True" if keeps else ""
    name = d.choice(f"tf.reduce_{function}", f"tf.math.reduce_{function}")
    return made(f"{name}({a.name}, axis={text}{keepdims})", dtype, shape, a, exact=exact)


@operation(2)
def argument(d):
    a = d.pick(NUMBERS, ranks=(1, 2, 3), exact=True)
    axis, text = axis_of(d, a.rank)
    function = d.choice("tf.argmax", "tf.argmin", "tf.math.argmax")
    dtype = d.choice("int64", "int64", "int32")
    output = f", output_type=tf.{dtype}" if dtype == "int32" else ""
    return made(f"{function}({a.name}, axis={text}{output})", dtype, (*a.shape[:axis], *a.shape[axis + 1 :]))


@operation(1)
def cumsum(d):
    a = d.pick(NUMBERS, ranks=(1, 2))
    options = d.choice("", ", exclusive=True", ", reverse=True")
    return made(f"tf.cumsum({a.name}{options})", a.dtype, a.shape, a)


@operation(1)
def ordering(d):
    a = d.pick(NUMBERS, ranks=(1, 2), exact=True)
    return d.choice(
        made(f"tf.sort({a.name})", a.dtype, a.shape),
        made(f"tf.sort({a.name}, direction='DESCENDING')", a.dtype, a.shape),
        made(f"tf.argsort({a.name}, stable=True)", "int32", a.shape),
    )


@operation(1)
def unique(d):
    a = d.pick((*NUMBERS, "string"), ranks=(1,), exact=True)
    if d.chance(0.5):
        return made(f"tf.unique({a.name})[0]", a.dtype, (None,))
    return made(f"tf.unique({a.name}).idx", "int32", a.shape)


@operation(1)
def product(d):
    a = d.pick(NUMBERS, ranks=(2,))
    b = d.pick((a.dtype,), ranks=(2,))
    if a.shape[1] == b.shape[0]:
        return made(f"tf.matmul({a.name}, {b.name})", a.dtype, (a.shape[0], b.shape[1]), a, b)
    return made(f"tf.matmul({a.name}, {a.name}, transpose_b=True)", a.dtype, (a.shape[0], a.shape[0]), a)


# ---- Random numbers, whose values do not show ----


@operation(1)
def random_numbers(d):
    d.tags.add("random")
    seed = d.choice("", ", seed=3")
    a = d.pick(("float32",))
    return d.choice(
        made(f"{a.name} + tf.floor(tf.random.uniform([]{seed}))", "float32", a.shape, a),
        made(f"tf.random.uniform([2]{seed}) < 1.0", "bool", (2,)),
        made(f"tf.random.uniform([], 2, 3, dtype=tf.int32{seed})", "int32", ()),
        made(f"tf.cast(tf.random.uniform([3], 5, 7, tf.int64{seed}) // 7, tf.int32)", "int32", (3,)),
        made(f"tf.abs(tf.sign(tf.random.normal([2]{seed})))", "float32", (2,)),
        made(f"{a.name} * tf.cast(tf.random.normal(tf.shape({a.name})) < 99.0, tf.float32)", "float32", a.shape, a),
        made(f"tf.sort(tf.random.shuffle(tf.range(4){seed}))", "int32", (4,)),
    )
