"""Expressions read back from their Python text: node by node what `text_expr` wrote, nothing folded."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..dtype import BOOL, INDEX, INT32, DType
from ..errors import UserError
from . import expr as E
from .foreign import KINDS, MODES
from .make import TRUE, broadcast, const
from .node import Expr
from .rounding import rounded
from .stmt import Buffer
from .syntax import COMPARISONS, FUNCTIONS, INFIX, INFIX_CALLS, LOGIC, dtype_of_short, natural_type, rest_type

_ARITHMETIC: Final = {infix.python: node for node, infix in INFIX.items()}
_BITS: Final = {infix.python: name for name, infix in INFIX_CALLS.items()}
_COMPARE: Final = {infix.python: node for node, infix in COMPARISONS.items()}
_LOGIC: Final = {infix.python: node for node, infix in LOGIC.items()}
_FUNCTIONS: Final = {name: node for node, name in FUNCTIONS.items()}
_LITERALS: Final = {"inf": float("inf"), "nan": float("nan")}


class ParseError(UserError):
    """The text is no program; the message has its line and column."""


class SourceText:
    """The text being read, for the places in messages."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines()

    def error(self, node: Any, because: str, legal: str = "") -> ParseError:
        """Return the error at a node of Python's grammar (or a SyntaxError), its line underlined."""
        line, column = node.lineno or 1, getattr(node, "col_offset", None)
        if column is None:
            column = max(0, (node.offset or 1) - 1)
        shown = self.lines[line - 1] if line <= len(self.lines) else ""
        marked = f"{shown}\n{' ' * column}^" if shown else ""
        return ParseError(f"line {line}, column {column + 1} does not parse", because=because, legal=legal, ir=marked)


def python_tree(source: str) -> ast.Module:
    """Return Python's syntax tree of the text; ParseError with its place where it has none."""
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise SourceText(source).error(error, str(error.msg)) from None
    except (RecursionError, MemoryError):
        raise too_deep() from None


def too_deep() -> ParseError:
    """Return the error of a text that Python cannot read."""
    because = "its expressions are nested too deeply for Python"
    return ParseError("the text does not parse", because, legal="parts with names: (part := ...) on a line before")


def parse_expr(source: str, **things: Any) -> Expr:
    """Return the expression that `source` spells, over the given variables and buffers.

    parse_expr("(i + 1) // 4", i=i); an integer that nothing types is an index.
    """
    tree = python_tree(source.strip())
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        raise UserError(f"{source!r} is no expression", because="it holds statements, or nothing")
    try:
        return ExprReader(SourceText(source.strip()), things, INDEX)(tree.body[0].value)
    except RecursionError:
        raise too_deep() from None


def is_literal(node: ast.expr) -> bool:
    """Answer whether the text is a plain number, which takes its type from its place."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if isinstance(node, ast.Name):
        return node.id in _LITERALS
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _same_lanes(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    lanes = max(a.dtype.lanes, b.dtype.lanes)
    return broadcast(a, lanes), broadcast(b, lanes)


class ExprReader:
    """Builds expressions; `scope` maps names to variables and buffers, `default` types literals that nothing types."""

    def __init__(self, text: SourceText, scope: Mapping[str, Any], default: DType) -> None:
        self.text, self.scope, self.default = text, scope, default

    def __call__(self, node: ast.expr, want: DType | None = None) -> Expr:
        """Return the expression at `node`, in a place that types a plain literal as `want`."""
        if is_literal(node):
            return self.literal(node, want or self.default)
        read = _READ.get(type(node))
        if read is None:
            raise self.text.error(node, f"{type(node).__name__} is not part of the notation")
        return read(self, node, want)

    def literal(self, node: ast.expr, dtype: DType) -> E.Const:
        """Return a plain number as a constant of `dtype`."""
        negative = isinstance(node, ast.UnaryOp)
        inner = node.operand if isinstance(node, ast.UnaryOp) else node
        value = _LITERALS[inner.id] if isinstance(inner, ast.Name) else inner.value  # type: ignore[attr-defined]
        if dtype.is_float:
            return E.Const(rounded(-value if negative else value, dtype), dtype)
        if isinstance(value, float):
            raise self.text.error(
                node, f"a fraction where a value of {dtype} stands", "the type written out, as in f32(1.5)"
            )
        try:
            return const(-value if negative else value, dtype)
        except UserError as error:
            raise self.text.error(node, f"{error.asked}: {error.because}") from None

    def name(self, node: ast.Name, _want: DType | None) -> Expr:
        thing = self.scope.get(node.id)
        if isinstance(thing, Buffer) and not thing.shape:
            return E.Load(thing, (), TRUE)
        if isinstance(thing, Expr):  # a variable, or a part of an expression that was named
            return thing
        return self.lookup(node, E.Var, "variable")

    def lookup(self, node: ast.expr, kind: type, what: str) -> Any:
        """Return the variable or buffer that a name stands for."""
        name = node.id if isinstance(node, ast.Name) else ""
        thing = self.scope.get(name)
        if not isinstance(thing, kind):
            known = ", ".join(key for key, value in self.scope.items() if isinstance(value, kind))
            raise self.text.error(node, f"no {what} {name!r} is in scope", known)
        return thing

    def constant(self, node: ast.Constant, _want: DType | None) -> Expr:
        if not isinstance(node.value, bool):
            raise self.text.error(node, f"{node.value!r} is no number")
        return const(node.value, BOOL)

    def siblings(self, a: ast.expr, b: ast.expr, want: DType | None) -> tuple[Expr, Expr]:
        """Return two operands of one type: a literal beside something else takes that one's, a scalar its lanes."""
        if is_literal(a) and not is_literal(b):
            right = self(b, want)
            left = self(a, right.dtype.element)
        else:
            left = self(a, want)
            right = self(b, left.dtype.element if is_literal(b) and not is_literal(a) else want)
        return _same_lanes(left, right)

    def operator(self, node: ast.BinOp, want: DType | None) -> Expr:
        """Read a chain, which Python nests to the left, from its innermost operator on: it may be long."""
        chain = [node]
        while isinstance(node.left, ast.BinOp):
            node = node.left
            chain.append(node)
        result = self.operation(node, *self.siblings(node.left, node.right, want))
        for outer in reversed(chain[:-1]):
            right = self(outer.right, result.dtype.element if is_literal(outer.right) else want)
            result = self.operation(outer, *_same_lanes(result, right))
        return result

    def operation(self, node: ast.BinOp, a: Expr, b: Expr) -> Expr:
        kind = type(node.op)
        if kind not in _ARITHMETIC and kind not in _BITS:
            raise self.text.error(node, f"{kind.__name__} is not part of the notation")
        return _ARITHMETIC[kind](a, b) if kind in _ARITHMETIC else E.Call(a.dtype, _BITS[kind], (a, b))

    def compare(self, node: ast.Compare, _want: DType | None) -> Expr:
        kind = _COMPARE.get(type(node.ops[0]))
        if len(node.ops) > 1 or kind is None:
            raise self.text.error(node, "a comparison is one of ==, !=, <, <= between two values", "a < b and b < c")
        return kind(*self.siblings(node.left, node.comparators[0], None))

    def logic(self, node: ast.BoolOp, _want: DType | None) -> Expr:
        kind = _LOGIC[type(node.op)]
        result, *rest = (self(value, BOOL) for value in node.values)
        for operand in rest:
            lanes = max(result.dtype.lanes, operand.dtype.lanes)
            result = kind(broadcast(result, lanes), broadcast(operand, lanes))
        return result

    def unary(self, node: ast.UnaryOp, _want: DType | None) -> Expr:
        if not isinstance(node.op, ast.Not):
            raise self.text.error(node, "of unary operators only not is part of the notation", "0 - x, x * -1.0")
        return E.Not(self(node.operand, BOOL))

    def if_else(self, node: ast.IfExp, want: DType | None) -> Expr:
        return E.IfElse(self(node.test, BOOL), *self.siblings(node.body, node.orelse, want))

    def subscript(self, node: ast.Subscript, _want: DType | None) -> Expr:
        buffer, indices, mask = self.access(node)
        return E.Load(buffer, indices, mask)

    def access(self, node: ast.Subscript) -> tuple[Buffer, tuple[Expr, ...], Expr]:
        """Return the buffer, indices and mask of B[i, j], B[()] or B.where(mask)[i]."""
        head, mask = node.value, TRUE
        if isinstance(head, ast.Call) and isinstance(head.func, ast.Attribute) and head.func.attr == "where":
            (test,) = self.arguments(head, 1)
            mask, head = self(test, BOOL), head.func.value
        buffer = self.lookup(head, Buffer, "buffer")
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return buffer, tuple(self(index) for index in inside), mask

    def arguments(self, node: ast.Call, count: int) -> list[ast.expr]:
        """Return the arguments of a form that takes that many."""
        if len(node.args) != count or node.keywords:
            raise self.text.error(node, f"{len(node.args) + len(node.keywords)} arguments where {count} stand")
        return node.args

    def lanes(self, node: ast.expr) -> int:
        """Return a number of lanes."""
        if not isinstance(node, ast.Constant) or type(node.value) is not int or node.value < 1:
            raise self.text.error(node, "the number of lanes is a positive integer")
        return node.value

    def call(self, node: ast.Call, want: DType | None) -> Expr:
        head, kind = node.func, None
        if isinstance(head, ast.Subscript):
            kind, head = self.dtype(head.slice), head.value
        if not isinstance(head, ast.Name):
            raise self.text.error(node, "only names are called")
        name, args = head.id, node.args
        special = None if kind else _FORMS.get(name)
        if special is not None:
            return special(self, node, want)
        if kind is None and name in _FUNCTIONS:
            a, b = self.arguments(node, 2)
            return _FUNCTIONS[name](*self.siblings(a, b, want))
        target = None if kind else dtype_of_short(name)
        if target is not None:
            (value,) = self.arguments(node, 1)
            if is_literal(value):
                return broadcast(self.literal(value, target.element), target.lanes)
            return E.Cast(target, self(value))
        if name == "call" and args and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str):
            name, args = args[0].value, args[1:]
        if name in KINDS and args and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str):
            return E.Call(kind or INT32, f"{name}:{args[0].value}", tuple(map(self, args[1:])))
        return self.named(name, args, kind)

    def address(self, node: ast.Call, _want: DType | None) -> Expr:
        """Read address(B, 'r') and address(B[i, j], 'r', 4)."""
        place, mode, *offset = node.args if len(node.args) == 3 else self.arguments(node, 2)
        if not isinstance(mode, ast.Constant) or mode.value not in MODES:
            raise self.text.error(mode, "no mode of an address", ", ".join(map(repr, MODES)))
        element = isinstance(place, ast.Subscript)
        buffer, indices, _ = self.access(place) if element else (self.lookup(place, Buffer, "buffer"), (), TRUE)
        return E.Address(buffer, indices, self(offset[0]) if offset else const(0, self.default), mode.value)

    def named(self, name: str, args: list[ast.expr], kind: DType | None) -> Expr:
        """Return the call of an operation of the target's table."""
        operands = [self(arg) for arg in args[:1]]
        operands += [self(arg, rest_type(name, operands[0])) for arg in args[1:]]
        return E.Call(kind or natural_type(name, operands), name, tuple(operands))

    def dtype(self, node: ast.expr) -> DType:
        """Return the element type that a short name spells."""
        found = dtype_of_short(node.id) if isinstance(node, ast.Name) else None
        if found is None:
            raise self.text.error(
                node,
                "no element type",
                "bool, index, i8 to i64, u8 to u64, f16, bf16, f32, f64, with x4 behind for 4 lanes",
            )
        return found

    def select(self, node: ast.Call, want: DType | None) -> Expr:
        condition, yes, no = self.arguments(node, 3)
        return E.Select(self(condition, BOOL), *self.siblings(yes, no, want))

    def ramp(self, node: ast.Call, want: DType | None) -> Expr:
        base, stride, lanes = self.arguments(node, 3)
        return E.Ramp(*self.siblings(base, stride, want), self.lanes(lanes))

    def broadcast(self, node: ast.Call, want: DType | None) -> Expr:
        value, lanes = self.arguments(node, 2)
        return E.Broadcast(self(value, want), self.lanes(lanes))


_FORMS: dict[str, Callable[[ExprReader, ast.Call, DType | None], Expr]] = {
    "select": ExprReader.select,
    "ramp": ExprReader.ramp,
    "broadcast": ExprReader.broadcast,
    "address": ExprReader.address,
}
_READ: dict[type, Callable[[ExprReader, Any, DType | None], Expr]] = {
    ast.Name: ExprReader.name,
    ast.Constant: ExprReader.constant,
    ast.BinOp: ExprReader.operator,
    ast.Compare: ExprReader.compare,
    ast.BoolOp: ExprReader.logic,
    ast.UnaryOp: ExprReader.unary,
    ast.IfExp: ExprReader.if_else,
    ast.Subscript: ExprReader.subscript,
    ast.Call: ExprReader.call,
}
