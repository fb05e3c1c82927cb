"""THE TABLE of expressions: what each kind of Python expression means in a hybrid function."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from .. import math as te_math
from .access import indices_of
from .constants import constant_of
from .functions import FUNCTIONS, call_function
from .memory import Memory
from .names import MISSING, LoopVariable
from .scripted import Scripted

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


def _constant(parser: Parser, node: ast.Constant) -> Any:
    if isinstance(node.value, (bool, int, float, str, type(None))):
        return node.value
    raise parser.refuse(node, f"the constant {ast.unparse(node)}", "it is no number", "an int, a float, a bool")


def _name(parser: Parser, node: ast.Name) -> Any:
    value = parser.names.local(node.id)
    if value is not MISSING:
        return value.value if isinstance(value, LoopVariable) else value
    line = parser.names.ended.get(node.id)
    if line is not None:
        raise parser.refuse(
            node,
            f"'{node.id}' after its block",
            f"it is made in the block at line {line}, and known only there",
            f"assign '{node.id}' before the block, and again in it",
        )
    outer = parser.names.captured.get(node.id, MISSING)
    if node.id in FUNCTIONS and (outer is MISSING or _is_function(outer)):
        return FUNCTIONS[node.id]
    if outer is MISSING:
        raise parser.refuse(node, f"'{node.id}'", "nothing has that name here", "a name assigned before, a constant")
    return _captured(parser, node, outer)


def _is_function(value: Any) -> bool:
    """Return whether a value from outside is a function that the language has in its place."""
    return callable(value) and not isinstance(value, Scripted)


def _captured(parser: Parser, node: ast.Name, value: Any) -> Any:
    """Return a value from outside the function as the function sees it."""
    known = constant_of(value)
    if known is not MISSING:
        return known
    if isinstance(value, (Scripted, Expr)):
        return value
    raise parser.refuse(
        node,
        f"'{node.id}' from outside the function",
        f"it is a {type(value).__name__}",
        "numbers, tuples of them, dtypes, te.var, hybrid functions; tensors as arguments",
    )


def _binary(parser: Parser, node: ast.BinOp) -> Any:
    rule = BINARY.get(type(node.op))
    if rule is None:
        raise parser.refuse(node, "the operator @", "it is of whole tensors", "a loop over the elements")
    return _operated(parser, node, rule, [parser.number(node.left), parser.number(node.right)])


def _unary(parser: Parser, node: ast.UnaryOp) -> Any:
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


def _compare(parser: Parser, node: ast.Compare) -> Any:
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


def _logic(parser: Parser, node: ast.BoolOp) -> Any:
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


def _choice(parser: Parser, node: ast.IfExp) -> Any:
    """Return the lazy choice: the side not taken is never evaluated."""
    condition = parser.condition(node.test)
    if isinstance(condition, bool):
        return parser.value(node.body if condition else node.orelse)
    with parser.under(condition):
        yes = parser.number(node.body)
    with parser.under(make.logical_not(condition)):
        no = parser.number(node.orelse)
    return parser.apply(node, make.if_then_else, condition, yes, no)


def _subscript(parser: Parser, node: ast.Subscript) -> Any:
    value, indices = indexed(parser, node)
    if isinstance(value, Memory) and (indices or value.ndim == 0):
        return parser.load(node, value, indices_of(parser, node, value, indices))
    return value


def indexed(parser: Parser, node: ast.Subscript) -> tuple[Any, list[ast.expr]]:
    """Return what is indexed by the indices that remain after those into tuples: xs[k][i] is the tensor xs[k] by i."""
    base: ast.expr = node
    indices: list[ast.expr] = []
    while isinstance(base, ast.Subscript):
        base, indices = base.value, [base.slice, *indices]
    value = parser.value(base)
    while indices and not isinstance(value, Memory):
        value = _entry(parser, node, value, indices.pop(0))
    return value, indices


def _entry(parser: Parser, node: ast.Subscript, value: Any, index: ast.expr) -> Any:
    """Return an entry of a tuple, of a shape."""
    where = parser.value(index)
    where = where.value if isinstance(where, E.Const) else where
    if not isinstance(value, tuple):
        raise parser.refuse(
            node, ast.unparse(node), "what is indexed is no tensor", "an element of a tensor, of a tuple"
        )
    if not isinstance(where, int):
        raise parser.refuse(
            index,
            f"{ast.unparse(index)} as the index of a tuple",
            "it is not constant",
            "an int, a const_range variable",
        )
    if not -len(value) <= where < len(value):
        raise parser.refuse(index, ast.unparse(node), f"the tuple has {len(value)} entries", f"0 to {len(value) - 1}")
    return value[where]


_ATTRIBUTES: Final[dict[str, Callable[[Memory], Any]]] = {
    "shape": lambda memory: tuple(
        int(extent.value) if isinstance(extent, E.Const) else extent for extent in memory.buffer.shape
    ),
    "dtype": lambda memory: memory.buffer.dtype,
    "ndim": lambda memory: memory.ndim,
}


def _attribute(parser: Parser, node: ast.Attribute) -> Any:
    rule = _ATTRIBUTES.get(node.attr)
    value = parser.value(node.value) if rule is not None else None
    if rule is None or not isinstance(value, Memory):
        raise parser.refuse(
            node,
            f"the attribute {ast.unparse(node)}",
            "only tensors have attributes here",
            f"{', '.join(f'a.{name}' for name in _ATTRIBUTES)} of a tensor a; functions by their name alone",
        )
    return rule(value)


def _tuple(parser: Parser, node: ast.Tuple | ast.List) -> Any:
    return tuple(map(parser.value, node.elts))


_REFUSED: Final[dict[type[ast.expr], tuple[str, str]]] = {
    ast.ListComp: ("a list comprehension", "a for loop, or a tuple"),
    ast.GeneratorExp: ("a generator", "a for loop"),
    ast.SetComp: ("a set comprehension", "a for loop"),
    ast.DictComp: ("a dict comprehension", "a for loop"),
    ast.Lambda: ("a lambda", "a hybrid function"),
    ast.NamedExpr: ("an assignment in an expression", "a statement of its own"),
    ast.Slice: ("a slice", "a loop over the elements"),
    ast.Starred: ("*", "the values one by one"),
    ast.JoinedStr: ("a text", "numbers"),
    ast.Dict: ("a dict", "a tuple"),
    ast.Set: ("a set", "a tuple"),
    ast.Await: ("await", "a call"),
    ast.Yield: ("yield", "return"),
}


def refused(parser: Parser, node: ast.expr) -> Any:
    """Refuse an expression that is no part of the language."""
    what, legal = _REFUSED.get(type(node), (ast.unparse(node), "arithmetic, comparisons, calls"))
    raise parser.refuse(node, what, "it is no part of the language", legal)


EXPRESSIONS: Final[dict[type[ast.expr], Callable[..., Any]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _logic,
    ast.IfExp: _choice,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.Call: call_function,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.expr: refused,
}
"""By kind of node; the last row is of all others."""
