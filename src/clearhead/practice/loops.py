"""What the source of an answer shows: whether it is written at all, and its first Python loop.

Only iteration over data counts. A comprehension over a handful of things that stand there one by one, such as
`for W in (W_Q, W_K, W_V)`, or over axes, is no loop in this sense.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

HIDDEN = (
    "vectorize",
    "frompyfunc",
    "apply_along_axis",
    "apply_over_axes",
    "fromiter",
    "nditer",
    "ndenumerate",
    "ndindex",
)


class Loop(NamedTuple):
    """A loop: its line in the source, and how it is called there."""

    line: int
    text: str


Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_stub(source: str, name: str) -> bool:
    """Whether the function has no body yet but a docstring, `...`, `pass` or `raise NotImplementedError`."""
    function = _functions(source).get(name)
    return function is not None and all(map(_is_empty, function.body))


def first_loop(source: str, name: str) -> Loop | None:
    """The first loop over data in a function, or in a function of the same source that it uses."""
    functions = _functions(source)
    if not functions:
        return None
    chosen = name if name in functions else next(iter(functions))  # a notebook's function may have any name
    reached, waiting = {chosen}, [chosen]
    found: list[Loop] = []
    while waiting:
        function = functions[waiting.pop()]
        found += _loops(function)
        names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & functions.keys()
        waiting += sorted(names - reached)
        reached |= names
    return min(found, default=None)


def _functions(source: str) -> dict[str, Function]:
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:  # half a statement, as of a lambda in the middle of a call
        return {}
    return {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}


def _is_empty(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return "NotImplementedError" in ast.unparse(statement)
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _loops(function: Function) -> Iterator[Loop]:
    for node in ast.walk(function):
        if isinstance(node, ast.While):
            yield Loop(node.lineno, "while")
        elif isinstance(node, (ast.For, ast.AsyncFor)) and not _is_short(node.iter):
            yield Loop(node.lineno, "for")
        elif isinstance(node, ast.comprehension) and not _is_short(node.iter):
            yield Loop(node.iter.lineno, "for")
        elif isinstance(node, ast.Name) and node.id == "map":
            yield Loop(node.lineno, "map")
        elif isinstance(node, ast.Attribute) and node.attr in HIDDEN:
            yield Loop(node.lineno, node.attr)


def _is_short(over: ast.expr) -> bool:
    """Whether this is a handful of things by nature: written out, a constant range, or the axes of an array."""
    if isinstance(over, (ast.Tuple, ast.List, ast.Constant)):
        return True
    if isinstance(over, ast.Attribute):
        return over.attr == "shape"
    if isinstance(over, ast.Subscript):
        return isinstance(over.slice, ast.Slice) and _is_short(over.value)
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name):
        if over.func.id == "range":
            return all(map(_is_small_number, over.args))
        return over.func.id in ("zip", "enumerate", "reversed") and all(map(_is_short, over.args))
    return False


def _is_small_number(value: ast.expr) -> bool:
    """A constant, x.ndim, or len(x.shape)."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "len":
        return all(map(_is_short, value.args))
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Attribute) and value.attr == "ndim")
