"""THE TABLE of operators: what each means of two constants of Python, and of expressions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from .. import math as te_math
from .memory import Memory

if TYPE_CHECKING:
    from .parser import Parser


class Operator(NamedTuple):
    """How an operator is written, what it means of two Python numbers, what it means of expressions."""

    symbol: str
    of_constants: Callable[..., Any]
    of_numbers: Callable[..., Any] | None


BINARY: Final[dict[type[ast.operator], Operator]] = {
    ast.Add: Operator("+", operator.add, make.add),
    ast.Sub: Operator("-", operator.sub, make.sub),
    ast.Mult: Operator("*", operator.mul, make.mul),
    ast.Div: Operator("/", operator.truediv, make.div),
    ast.FloorDiv: Operator("//", operator.floordiv, make.floordiv),
    ast.Mod: Operator("%", operator.mod, make.floormod),
    ast.Pow: Operator("**", operator.pow, te_math.power),
    ast.LShift: Operator("<<", operator.lshift, make.shift_left),
    ast.RShift: Operator(">>", operator.rshift, make.shift_right),
    ast.BitAnd: Operator("&", operator.and_, make.bitwise_and),
    ast.BitOr: Operator("|", operator.or_, make.bitwise_or),
    ast.BitXor: Operator("^", operator.xor, make.bitwise_xor),
}
UNARY: Final[dict[type[ast.unaryop], Operator]] = {
    ast.USub: Operator("-", operator.neg, make.neg),
    ast.UAdd: Operator("+", operator.pos, make.convert),
    ast.Invert: Operator("~", operator.invert, make.bitwise_not),
}
COMPARISON: Final[dict[type[ast.cmpop], Operator]] = {
    ast.Lt: Operator("<", operator.lt, make.lt),
    ast.LtE: Operator("<=", operator.le, make.le),
    ast.Gt: Operator(">", operator.gt, lambda a, b: make.lt(b, a)),
    ast.GtE: Operator(">=", operator.ge, lambda a, b: make.le(b, a)),
    ast.Eq: Operator("==", operator.eq, make.eq),
    ast.NotEq: Operator("!=", operator.ne, make.ne),
    ast.Is: Operator("is", operator.is_, None),
    ast.IsNot: Operator("is not", operator.is_not, None),
    ast.In: Operator("in", lambda a, b: a in b, None),
    ast.NotIn: Operator("not in", lambda a, b: a not in b, None),
}


def binary(parser: Parser, node: ast.BinOp) -> Any:
    """Return a + b and its kin."""
    rule = BINARY.get(type(node.op))
    if rule is None:
        raise parser.refuse(node, "the operator @", "it is of whole tensors", "a loop over the elements")
    return _operated(parser, node, rule, [parser.number(node.left), parser.number(node.right)])


def unary(parser: Parser, node: ast.UnaryOp) -> Any:
    """Return -a, +a, ~a, not a."""
    if isinstance(node.op, ast.Not):
        condition = parser.condition(node.operand)
        return not condition if isinstance(condition, bool) else make.logical_not(condition)
    return _operated(parser, node, UNARY[type(node.op)], [parser.number(node.operand)])


def _operated(parser: Parser, node: ast.expr, rule: Operator, operands: list[Any]) -> Any:
    """Return an operator's value; of Python's numbers it is what Python says."""
    if any(isinstance(operand, Expr) for operand in operands):
        assert rule.of_numbers is not None
        return parser.apply(node, rule.of_numbers, *operands)
    try:
        return rule.of_constants(*operands)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise parser.refuse(node, ast.unparse(node), f"{type(error).__name__}: {error}") from None


def compare(parser: Parser, node: ast.Compare) -> Any:
    """Return a chain of comparisons; each is asked only where those before it hold."""
    operands = [node.left, *node.comparators]
    result: Any = True
    for op, left, right in zip(node.ops, operands, node.comparators, strict=False):
        holds = _comparison(parser, node, COMPARISON[type(op)], left, right)
        if not isinstance(holds, Expr) and not isinstance(result, Expr):
            result = result and holds
        else:
            result = make.logical_and(result, holds)
        if result is False:
            return False
    return result


def _comparison(parser: Parser, node: ast.Compare, rule: Operator, left: ast.expr, right: ast.expr) -> Any:
    a, b = parser.value(left), parser.value(right)
    if rule.of_numbers is None or not any(isinstance(value, (Expr, Memory)) for value in (a, b)):
        if rule.of_numbers is None and isinstance(a, Expr):
            raise parser.refuse(
                node, f"the operator {rule.symbol}", "it is of constants", "==, !=, or comparisons joined by or"
            )
        return _operated(parser, node, Operator(rule.symbol, rule.of_constants, None), [a, b])
    return parser.apply(node, rule.of_numbers, parser.as_number(left, a), parser.as_number(right, b))


def logic(parser: Parser, node: ast.BoolOp) -> Any:
    """Return `and` or `or`; the operands after the first are evaluated only where they decide."""
    both = isinstance(node.op, ast.And)
    result: bool | Expr = both
    guards = 0
    for operand in node.values:
        value = parser.condition(operand)
        if isinstance(value, bool):
            if value is not both:
                result = value if not isinstance(result, Expr) else make.FALSE if both else make.TRUE
                break
            continue
        if not isinstance(result, Expr):
            result = value
        else:
            result = (make.logical_and if both else make.logical_or)(result, value)
        parser.written.guards.append(value if both else make.logical_not(value))
        guards += 1
    del parser.written.guards[len(parser.written.guards) - guards :]
    return bool(result.value) if isinstance(result, E.Const) else result
