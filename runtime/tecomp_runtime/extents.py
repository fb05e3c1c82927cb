"""Extents of a signature: Python expressions over sizes, evaluated, and solved for a size where that is possible.

"n"  with 7 given:  n = 7        "2*n + 1"  with 7 given:  n = 3        "n*m", "max(n, 1)":  only checked
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final, NamedTuple

from .errors import LaunchError

_ALLOWED: Final = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod,
    ast.Compare, ast.Lt, ast.LtE, ast.Eq, ast.NotEq, ast.Call, ast.Name, ast.Constant, ast.Load,
)  # fmt: skip
_FUNCTIONS: Final = {"min": min, "max": max}


class Linear(NamedTuple):
    """factor * name + offset."""

    name: str
    factor: int
    offset: int


class Extent:
    """One extent or stride of a signature, or a condition on them: an int, or the text of an expression."""

    __slots__ = ("_code", "linear", "names", "text")

    def __init__(self, source: int | str) -> None:
        """Read the text; LaunchError where it holds more than arithmetic."""
        self.text = str(source)
        tree = ast.parse(self.text, mode="eval")
        if not all(isinstance(node, _ALLOWED) for node in ast.walk(tree)) or not _calls_known(tree):
            raise LaunchError(f"the signature has the extent {self.text!r}", because="it is no arithmetic over sizes")
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self.names = frozenset(names - set(_FUNCTIONS))
        form = _linear(tree.body)
        self.linear = None if form is None or form.name == "" else form
        self._code = compile(tree, "<extent>", "eval")

    def value(self, sizes: Mapping[str, int]) -> int:
        """Return the extent for known sizes."""
        return eval(self._code, {"__builtins__": {}, **_FUNCTIONS}, dict(sizes))


def _calls_known(tree: ast.AST) -> bool:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return all(isinstance(function, ast.Name) and function.id in _FUNCTIONS for function in calls)


def _linear(node: ast.expr) -> Linear | None:
    """Return an expression as factor * name + offset of one name (none: name is empty), or None."""
    match node:
        case ast.Constant(value=int(number)):
            return Linear("", 0, number)
        case ast.Name(id=name):
            return Linear(name, 1, 0)
        case ast.UnaryOp(operand=operand):
            inner = _linear(operand)
            return None if inner is None else Linear(inner.name, -inner.factor, -inner.offset)
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, _linear(left), _linear(right))
        case _:
            return None


def _combined(op: ast.operator, a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None or (a.name and b.name and a.name != b.name):
        return None
    name = a.name or b.name
    match op:
        case ast.Add():
            return Linear(name, a.factor + b.factor, a.offset + b.offset)
        case ast.Sub():
            return Linear(name, a.factor - b.factor, a.offset - b.offset)
        case ast.Mult() if not (a.name and b.name):
            return Linear(name, a.factor * b.offset + b.factor * a.offset, a.offset * b.offset)
        case _:
            return None


class Equation(NamedTuple):
    """An array's extent or stride: `extent` of the signature equals `given`; `what` names it in messages."""

    extent: Extent
    given: int
    what: str
    parameter: str


def solve(equations: list[Equation], known: dict[str, int]) -> Equation | None:
    """Add to `known` every size that an equation with one unknown gives; return one that has no integer solution."""
    waiting = [equation for equation in equations if equation.extent.linear is not None]
    progress = True
    while progress:
        progress = False
        for equation in waiting:
            form = equation.extent.linear
            if form is None or form.name in known or form.factor == 0:
                continue
            value, rest = divmod(equation.given - form.offset, form.factor)
            if rest or (value < 0 and not equation.what.startswith("stride")):
                return equation
            known[form.name], progress = value, True
    return None


def evaluated(extent: Extent, known: Mapping[str, int]) -> int | None:
    """Return the extent, None where a size is not known or a divisor is 0."""
    if not extent.names <= known.keys():
        return None
    try:
        return extent.value(known)
    except ZeroDivisionError:
        return None
