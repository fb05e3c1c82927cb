"""Declarations read back: the range of a variable, the shape and place of a buffer."""

from __future__ import annotations

import ast
from typing import Any

from ..dtype import DType
from . import expr as E
from .make import const
from .node import Expr
from .parse_expr import ExprReader, SourceText
from .stmt import Buffer
from .syntax import dtype_of_short


class Declarations:
    """Reads what gives a name its meaning; `scope` maps the names in scope to variables and buffers."""

    def __init__(self, text: SourceText, default: DType) -> None:
        self.text, self.default = text, default
        self.scope: dict[str, Any] = {}
        self.expr = ExprReader(text, self.scope, default)

    def bind(self, name: str, thing: Any) -> Any:
        """Give `name` a meaning, until its suite ends."""
        self.scope[name] = thing
        return thing

    def plain(self, node: ast.expr) -> Any:
        """Return a number or string that is written out."""
        try:
            return ast.literal_eval(node)
        except ValueError:
            raise self.text.error(node, "a number or a string stands here") from None

    def variable(self, name: str, annotation: ast.expr) -> E.Var:
        """Return the variable that f32, i32[0:] or i32[0:n] declares."""
        if not isinstance(annotation, ast.Subscript):
            return E.Var(name, self.expr.dtype(annotation))
        dtype, bounds = self.expr.dtype(annotation.value), annotation.slice
        if not isinstance(bounds, ast.Slice) or bounds.lower is None:
            raise self.text.error(annotation, "the range of a variable is [least:] or [least:end]")
        low = self.expr(bounds.lower, dtype)
        extent = None if bounds.upper is None else extent_to(low, self.expr(bounds.upper, dtype))
        return E.Var(name, dtype, low, extent)

    def memory(self, name: str, annotation: ast.expr) -> Buffer:
        """Return the parameter that f32[m, n] or buffer(f32[m, n], ...) declares."""
        if not isinstance(annotation, ast.Call):
            return self.buffer(name, annotation, [], [])
        if not isinstance(annotation.func, ast.Name) or annotation.func.id != "buffer" or not annotation.args:
            raise self.text.error(annotation, "no parameter", "f32, f32[n], buffer(f32[n], strides=[s]), out[f32[n]]")
        return self.buffer(name, annotation.args[0], annotation.args[1:], annotation.keywords)

    def buffer(self, name: str, kind: ast.expr, scope: list[ast.expr], extras: list[ast.keyword]) -> Buffer:
        """Return the buffer of type and shape `kind` (f32[m, n], f32), with scope, strides and alignment."""
        shape: tuple[Expr, ...] = ()
        if isinstance(kind, ast.Subscript):
            inside = kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
            shape, kind = tuple(self.expr(extent) for extent in inside), kind.value
        dtype = self.expr.dtype(kind)
        place = self.plain(scope[0]) if scope else "global"
        strides: tuple[Expr, ...] | None = None
        align = 0
        for extra in extras:
            if extra.arg == "strides" and isinstance(extra.value, ast.List):
                strides = tuple(self.expr(stride) for stride in extra.value.elts)
            elif extra.arg == "align":
                align = self.plain(extra.value)
            else:
                raise self.text.error(extra.value, f"no property {extra.arg!r} of a buffer", "strides=[...], align=16")
        return Buffer(name, shape, dtype, place, strides, align)


def extent_to(low: Expr, end: Expr) -> Expr:
    """Return the number of values from `low` to `end`, in the form that prints as this end."""
    if isinstance(low, E.Const) and low.value == 0:
        return end
    if isinstance(low, E.Const) and isinstance(end, E.Const):
        return const(end.value - low.value, end.dtype)
    return end.b if isinstance(end, E.Add) and end.a is low else E.Sub(end, low)


def names_of_values(root: ast.expr) -> list[str]:
    """Return the names in a declaration that stand for values: neither types nor functions."""
    nodes = list(ast.walk(root))
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    names = [node.id for node in nodes if isinstance(node, ast.Name) and node not in called]
    return [name for name in names if dtype_of_short(name) is None]


def declared_size(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """Return the name and the type of a size that m: size[i64[0:]] declares."""
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
        return None
    kind = node.annotation
    if isinstance(kind, ast.Subscript) and isinstance(kind.value, ast.Name) and kind.value.id == "size":
        return node.target.id, kind.slice
    return None


def is_scalar(annotation: ast.expr) -> bool:
    """f32, i32[0:]: a type without a shape."""
    ranged = isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Slice)
    return ranged or isinstance(annotation, ast.Name)


def output_of(annotation: ast.expr) -> ast.expr | None:
    """Return what out[...] declares; None for a parameter that is only read."""
    if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.value, ast.Name):
        return None
    return annotation.slice if annotation.value.id == "out" else None
