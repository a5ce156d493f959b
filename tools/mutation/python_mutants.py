"""The small mistakes that can be made in a Python file: comparisons, conditions, constants, calls, statements."""

import ast
import collections
import copy
from typing import NamedTuple

COMPARISONS = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
DROPPED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Delete, ast.Assert)


class Mutant(NamedTuple):
    """One mistake in one place."""

    file: str  # from the root of the checkout
    line: int
    where: str  # the function or class
    before: str
    after: str
    place: tuple  # the node's number in the file, and which of its mistakes
    runs: int | None  # the line that a test of it executes; None: it runs on import
    nth: int = 1  # of those in the same function that look the same

    @property
    def name(self):
        """Stays the same when lines move."""
        which = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.file} {self.where}: {self.before} -> {self.after}{which}"


def mutants_of(file, source):
    """All the mistakes that are known for a file, in order."""
    tree = ast.parse(source)
    _note_places(tree)
    found, alike = [], collections.Counter()
    for number, node in enumerate(list(ast.walk(tree))):
        if not hasattr(node, "lineno") or node.hidden:
            continue
        for way, replacement in enumerate(_changes(node)):
            before, after = _short(node), "nothing" if replacement is None else _short(replacement)
            alike[node.where, before, after] += 1
            nth = alike[node.where, before, after]
            found.append(Mutant(file, node.lineno, node.where, before, after, (number, way), node.runs, nth))
    return found


def with_mistake(source, mutant):
    """The whole file with the mistake in it."""
    tree = ast.parse(source)
    _note_places(tree)
    number, way = mutant.place
    target = list(ast.walk(tree))[number]
    replacement = list(_changes(target))[way]
    new = ast.Pass() if replacement is None else replacement

    class Replace(ast.NodeTransformer):
        def generic_visit(self, node):
            return new if node is target else super().generic_visit(node)

        visit = generic_visit

    return ast.unparse(ast.fix_missing_locations(Replace().visit(tree)))


def _short(node):
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 100 else text[:97] + "..."


def _note_places(tree):
    """Where each node is, when it runs, and whether it is of no consequence then: types, docstrings, __all__."""

    def visit(node, where, hidden, runs):
        node.where, node.hidden = where, hidden
        node.runs = getattr(node, "lineno", None) if runs == "own" else runs
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function or isinstance(node, ast.ClassDef):
            where = f"{where}.{node.name}" if where != "module" else node.name
        for field, value in ast.iter_fields(node):
            inner = runs
            if is_function and field in ("body", "args"):  # what a default is, is seen in the function's first line
                inner = "own" if field == "body" else _first_line(node)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child, where, hidden or _is_hidden(node, field, child), inner)

    visit(tree, "module", False, None)


def _first_line(function):
    """Of a function's statements, after its docstring."""
    has_more = ast.get_docstring(function) is not None and len(function.body) > 1
    return function.body[1 if has_more else 0].lineno


def _is_hidden(node, field, child):
    if field in ("annotation", "returns", "type_params"):
        return True
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return True
    if isinstance(child, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
        return True
    names = ("__all__", "__slots__", "TypeVar", "TypeAlias")
    return isinstance(child, (ast.Assign, ast.AnnAssign)) and any(name in ast.unparse(child) for name in names)


def _changes(node):
    """What may stand in a node's place; None for a statement that is left out."""
    if isinstance(node, ast.Compare):
        yield from _with_other_operators(node)
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield _with(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield _with(node, value=ast.Constant(None))
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, DROPPED):
        yield None


def _with(node, **fields):
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _with_other_operators(node):
    for place, operator in enumerate(node.ops):
        other = [*node.ops]
        other[place] = COMPARISONS[type(operator)]()
        yield _with(node, ops=other)


def _other_constants(node):
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        if node.value > 1:
            yield ast.Constant(node.value - 1)


def _other_calls(node):
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    plain = plain and not (isinstance(node.func, ast.Name) and node.func.id in ("max", "min"))  # in any order
    if len(node.args) >= 2 and plain and ast.dump(node.args[0]) != ast.dump(node.args[1]):
        yield _with(node, args=[node.args[1], node.args[0], *node.args[2:]])
    for place in range(len(node.keywords)):
        yield _with(node, keywords=[*node.keywords[:place], *node.keywords[place + 1 :]])
