"""THE TABLE of expressions: what each kind of Python expression means in a hybrid function."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from .access import indices_of
from .constants import constant_of
from .functions import FUNCTIONS, call_function
from .memory import Memory
from .names import MISSING, LoopVariable
from .operators import binary, compare, logic, unary
from .scripted import Scripted

if TYPE_CHECKING:
    from .parser import Parser


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
    outer = MISSING if node.id in parser.assigned else parser.names.captured.get(node.id, MISSING)
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
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: compare,
    ast.BoolOp: logic,
    ast.IfExp: _choice,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.Call: call_function,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.expr: refused,
}
"""By kind of node; the last row is of all others."""
