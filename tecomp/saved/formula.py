"""Reading the formula of an operation: the notation of printed programs, where a tensor stands for its memory.

def C(i):
    k = te.reduce_axis((0, m), 'k')          axes of the reduction, and parts that have names
    return te.sum(B[i, k], axis=[k])
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..dtype import INT32
from ..ir import expr as E
from ..ir.axis import Range
from ..ir.node import Expr
from ..ir.parse_expr import ExprReader, SourceText
from ..ir.stmt import Buffer
from ..ir.visit import rewrite_expr
from ..te.axis import reduce_axis
from ..te.element import read
from ..te.reducers import PREDEFINED, Reducer
from ..te.tensor import Tensor


class Formula(NamedTuple):
    """A lambda or a function of the text, not evaluated yet."""

    node: ast.Lambda | ast.FunctionDef

    @property
    def arguments(self) -> list[str]:
        """The names of its arguments."""
        return [argument.arg for argument in self.node.args.args]

    @property
    def statements(self) -> list[ast.stmt]:
        """What stands before its value."""
        return self.node.body[:-1] if isinstance(self.node, ast.FunctionDef) else []

    def value(self, source: SourceText) -> ast.expr:
        """Return its value; ParseError where it has none."""
        if isinstance(self.node, ast.Lambda):
            return self.node.body
        last = self.node.body[-1]
        if isinstance(last, ast.Return) and last.value is not None:
            return last.value
        raise source.error(last, "a formula ends with its value", "return ...")


def elements(node: ast.expr) -> list[ast.expr]:
    """Return the parts of a tuple or list; any other expression alone."""
    return node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]


class Body:
    """Reads formulas; `scope` is what names stand for, the axes of the operation among them."""

    def __init__(self, source: SourceText, scope: Mapping[str, Any]) -> None:
        self.source = source
        self.tensors: dict[Buffer, Tensor] = {}
        self.scope = {name: self.memory(thing) for name, thing in scope.items()}
        self.axes: dict[str, Any] = {}
        """The axes of reductions, by name."""
        self.read = ExprReader(source, self.scope, INT32)

    def memory(self, thing: Any) -> Any:
        """Return the memory that stands for a tensor; any other thing as it is."""
        if not isinstance(thing, Tensor):
            return thing
        buffer = Buffer(thing.name, thing.shape, thing.dtype)
        self.tensors[buffer] = thing
        return buffer

    def expr(self, node: ast.expr) -> Expr:
        """Return an expression that reads tensors."""
        return rewrite_expr(self.read(node), {E.Load: lambda load: read(self.tensors[load.buffer], load.indices)})

    def value(self, formula: Formula) -> Any:
        """Return what a formula gives: an expression, a tuple of them, a reduction."""
        for statement in formula.statements:
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                raise self.source.error(statement, "a formula names axes and parts, and then returns its value")
            self.define(statement.targets[0].id, statement.value)
        node = formula.value(self.source)
        reducer = self.reducer(node)
        if reducer is not None and isinstance(node, ast.Call):
            return self.reduction(node, reducer)
        return tuple(map(self.expr, elements(node))) if isinstance(node, ast.Tuple) else self.expr(node)

    def define(self, name: str, node: ast.expr) -> None:
        """Take a reduce axis, or a part of the formula that has a name."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            self.scope[name] = self.read(node)
            return
        self.axes[name] = axis = self.reduce_axis(node)
        self.scope[name] = axis.var

    def reduce_axis(self, node: ast.Call) -> Any:
        """Return the axis that te.reduce_axis(ends, name) declares."""
        title = node.args[1] if len(node.args) == 2 else None
        if not isinstance(title, ast.Constant):
            raise self.source.error(node, "an axis has ends and a name", "te.reduce_axis((0, n), 'k')")
        ends = node.args[0].args if isinstance(node.args[0], ast.Call) else elements(node.args[0])
        if len(ends) != 2:
            raise self.source.error(node, f"{len(ends)} ends of an axis", "te.reduce_axis((0, n), 'k')")
        low, extent = map(self.expr, ends)
        return reduce_axis(Range(low, extent), str(title.value))

    def reducer(self, node: ast.expr) -> Reducer | None:
        """Return the reducer that is called, if any is: te.sum, or one of the text's own."""
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute):
            return PREDEFINED.get(node.func.attr)
        found = self.scope.get(node.func.id) if isinstance(node.func, ast.Name) else None
        return found if isinstance(found, Reducer) else None

    def reduction(self, node: ast.Call, reducer: Reducer) -> Any:
        """Return the reduction of source, axis=[...], where=..., init=[...]."""
        source = node.args[0]
        given = tuple(map(self.expr, elements(source))) if isinstance(source, ast.Tuple) else self.expr(source)
        more: dict[str, Any] = {}
        for keyword in node.keywords:
            listed = elements(keyword.value)
            if keyword.arg == "axis":
                more["axis"] = [self.axis(part) for part in listed]
            else:
                values = list(map(self.expr, listed))
                more[str(keyword.arg)] = values if keyword.arg == "init" else values[0]
        return reducer(given, **more)

    def axis(self, node: ast.expr) -> Any:
        """Return the reduce axis of a name."""
        found = self.axes.get(node.id) if isinstance(node, ast.Name) else None
        if found is None:
            raise self.source.error(node, "no reduce axis is called so", ", ".join(self.axes))
        return found
