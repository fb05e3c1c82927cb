"""Expressions as Python text: as few parentheses as mean the same, plain literals where their type is known.

A literal takes the type that its place asks for (`want`): that of the other operand, of the buffer stored to, else the
level's integer. Elsewhere it is written out: f32(1.5), i32(3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..dtype import BOOL, INDEX, DType
from . import expr as E
from .foreign import foreign
from .make import TRUE
from .node import Expr
from .stmt import Buffer
from .syntax import (
    ATOM,
    COMPARE,
    COMPARISONS,
    FUNCTIONS,
    INFIX,
    INFIX_CALLS,
    LOGIC,
    NOT,
    NOT_A_CALL,
    TERNARY,
    Infix,
    identifier,
    natural_type,
    rest_type,
)

Piece = str | tuple[Expr, int, DType | None]
"""Finished text; or an expression to print, how tightly it must bind, the type its place asks of a literal."""
Spelling = tuple[int, list[Piece]]
"""How tightly the text of a node binds, and its pieces."""


class Names:
    """A name for each variable and buffer: its own where it is free and an identifier, else with _1, _2, ... added."""

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self.taken: set[str] = set()
        self._serials: dict[str, int] = {}
        """By stem, how many of its names are known to be taken, since one was last released."""

    def __call__(self, thing: Any) -> str:
        """Return the name of a variable or buffer, giving it one when it has none."""
        known = self.names.get(thing)
        return known if known is not None else self.give(thing)

    def give(self, thing: Any, stem: str = "") -> str:
        """Name `thing`, after `stem` or its own name, for as long as its scope lasts."""
        stem = stem or identifier(thing.name)
        serial = self._serials.get(stem, 0)
        while (name := f"{stem}_{serial}" if serial else stem) in self.taken:
            serial += 1
        self._serials[stem] = serial + 1
        self.taken.add(name)
        self.names[thing] = name
        return name

    def release(self, thing: Any) -> None:
        """End the scope of `thing`: its name is free again."""
        self.taken.discard(self.names.pop(thing, ""))
        self._serials.clear()


class ExprText:
    """Prints expressions with these names; `default` is the type of a literal that nothing types.

    `parts` holds the names of expressions that are not written out.
    """

    def __init__(self, names: Callable[[Any], str], default: DType = INDEX) -> None:
        self.names, self.default = names, default
        self.parts: dict[Expr, str] = {}

    def __call__(self, root: Expr, want: DType | None = None, precedence: int = TERNARY) -> str:
        """Return the text of `root`, which stands where a literal of type `want` may be plain."""
        out: list[str] = []
        stack: list[Piece] = [(root, precedence, want)]
        while stack:
            piece = stack.pop()
            if isinstance(piece, str):
                out.append(piece)
                continue
            node, needed, wanted = piece
            if node in self.parts:
                out.append(self.parts[node])
                continue
            binds, pieces = _SPELLING[type(node)](self, node, wanted)
            stack += reversed(["(", *pieces, ")"] if binds < needed else pieces)
        return "".join(out)

    def var(self, node: E.Var, _want: DType | None) -> Spelling:
        return ATOM, [self.names(node)]

    def const(self, node: E.Const, want: DType | None) -> Spelling:
        number = _number(node)
        if node.dtype is BOOL or node.dtype is (want or self.default):
            return ATOM, [number]
        return ATOM, [f"{node.dtype.short}({number})"]

    def infix(self, node: E.Binary, want: DType | None) -> Spelling:
        return _between(INFIX[type(node)], node.a, node.b, want)

    def compare(self, node: E.Compare, _want: DType | None) -> Spelling:
        return _between(COMPARISONS[type(node)], node.a, node.b, None)

    def logic(self, node: E.Binary, _want: DType | None) -> Spelling:
        return _between(LOGIC[type(node)], node.a, node.b, BOOL)

    def negation(self, node: E.Not, _want: DType | None) -> Spelling:
        return NOT, ["not ", (node.a, NOT, BOOL)]

    def function(self, node: E.Binary, want: DType | None) -> Spelling:
        (a, left), (b, right) = siblings(node.a, node.b, want)
        return ATOM, [f"{FUNCTIONS[type(node)]}(", (a, TERNARY, left), ", ", (b, TERNARY, right), ")"]

    def cast(self, node: E.Cast, _want: DType | None) -> Spelling:
        if isinstance(node.value, E.Const):  # f32(3) would be the constant 3.0
            return ATOM, [f"{node.dtype.short}(", f"{node.value.dtype.short}({_number(node.value)})", ")"]
        return ATOM, [f"{node.dtype.short}(", (node.value, TERNARY, None), ")"]

    def select(self, node: E.Select, want: DType | None) -> Spelling:
        (yes, left), (no, right) = siblings(node.yes, node.no, want)
        test: Piece = (node.condition, TERNARY, BOOL)
        return ATOM, ["select(", test, ", ", (yes, TERNARY, left), ", ", (no, TERNARY, right), ")"]

    def if_else(self, node: E.IfElse, want: DType | None) -> Spelling:
        (yes, left), (no, right) = siblings(node.yes, node.no, want)
        test: Piece = (node.condition, TERNARY + 1, BOOL)
        return TERNARY, [(yes, TERNARY + 1, left), " if ", test, " else ", (no, TERNARY, right)]

    def ramp(self, node: E.Ramp, want: DType | None) -> Spelling:
        (base, left), (stride, right) = siblings(node.base, node.stride, want)
        return ATOM, ["ramp(", (base, TERNARY, left), ", ", (stride, TERNARY, right), f", {node.lanes})"]

    def broadcast(self, node: E.Broadcast, want: DType | None) -> Spelling:
        return ATOM, ["broadcast(", (node.value, TERNARY, want), f", {node.lanes})"]

    def load(self, node: E.Load, _want: DType | None) -> Spelling:
        return ATOM, self.access(node.buffer, node.indices, node.mask)

    def access(self, buffer: Buffer, indices: tuple[Expr, ...], mask: Expr) -> list[Piece]:
        """B[i, j], B of a 0-D buffer, B.where(mask)[i] where only some lanes take part."""
        head: list[Piece] = [self.names(buffer)]
        if not (isinstance(mask, E.Const) and mask.value):
            head += [".where(", (mask, TERNARY, BOOL), ")"]
        elif not indices:
            return head
        return [*head, "[", *(_listed(indices) if indices else ["()"]), "]"]

    def address(self, node: E.Address, _want: DType | None) -> Spelling:
        """address(B, 'rw'); address(B[i, j], 'r', 4) of what lies 4 elements behind B[i, j]."""
        place = self.access(node.buffer, node.indices, TRUE)
        pieces: list[Piece] = ["address(", *place, f", {node.mode!r}"]
        if not (isinstance(node.offset, E.Const) and node.offset.value == 0 and node.offset.dtype is self.default):
            pieces += [", ", (node.offset, TERNARY, None)]
        return ATOM, [*pieces, ")"]

    def call(self, node: E.Call, want: DType | None) -> Spelling:
        called = foreign(node.name)
        if called is not None:
            kind = "" if called.kind == "call_packed" else f"[{node.dtype.short}]"
            rest: list[Piece] = [", "] * bool(node.args)
            return ATOM, [f"{called.kind}{kind}({called.symbol!r}", *rest, *_listed(node.args), ")"]
        natural = node.dtype is natural_type(node.name, node.args)
        if node.name in INFIX_CALLS and natural and len(node.args) == 2:
            return _between(INFIX_CALLS[node.name], *node.args, want)
        plain = node.name.isidentifier() and node.name not in NOT_A_CALL and identifier(node.name) == node.name
        head = node.name if plain else "call"
        kind = "" if natural else f"[{node.dtype.short}]"
        name: list[Piece] = [] if plain else [repr(node.name), ", " if node.args else ""]
        first = rest_type(node.name, node.args[0]) if node.args else None
        return ATOM, [f"{head}{kind}(", *name, *_listed(node.args, first), ")"]

    def tensor_read(self, node: E.TensorRead, _want: DType | None) -> Spelling:
        return ATOM, [node.tensor.name, "[", *_listed(node.indices), "]"]

    def reduce(self, node: E.Reduce, _want: DType | None) -> Spelling:
        head: list[Piece] = [f"{node.combiner.name}(", *_listed(node.source)]
        axes = ", ".join(self.names(axis.var) for axis in node.axes)
        pieces: list[Piece] = [*head, f", axis=[{axes}]"]
        if not (isinstance(node.condition, E.Const) and node.condition.value):
            pieces += [", where=", (node.condition, TERNARY, BOOL)]
        if node.init:
            pieces += [", init=[", *_listed(node.init), "]"]
        return ATOM, [*pieces, ")" if len(node.source) == 1 else f")[{node.value_index}]"]


Sibling = tuple[Expr, DType | None]


def siblings(a: Expr, b: Expr, want: DType | None) -> tuple[Sibling, Sibling]:
    """Return how two operands of one type print: what is written of each, and by what a literal there is typed.

    A scalar beside a vector means its broadcast. A literal beside something else takes that one's type; otherwise both
    take what the place of the whole asks for.
    """
    if isinstance(a, E.Broadcast) and not isinstance(b, E.Broadcast) and a.lanes == b.dtype.lanes:
        a = a.value
    elif isinstance(b, E.Broadcast) and not isinstance(a, E.Broadcast) and b.lanes == a.dtype.lanes:
        b = b.value
    if isinstance(a, E.Const) and not isinstance(b, E.Const):
        return (a, b.dtype.element), (b, want)
    if isinstance(b, E.Const) and not isinstance(a, E.Const):
        return (a, want), (b, a.dtype.element)
    return (a, want), (b, want)


def _between(infix: Infix, a: Expr, b: Expr, want: DType | None) -> Spelling:
    """Left to right, so that the right operand binds more tightly; comparisons do not chain."""
    (a, left), (b, right) = siblings(a, b, want)
    chains = infix.precedence != COMPARE
    return infix.precedence, [
        (a, infix.precedence + (not chains), left),
        f" {infix.symbol} ",
        (b, infix.precedence + 1, right),
    ]


def _listed(exprs: tuple[Expr, ...], rest: DType | None = None) -> list[Piece]:
    """Return the expressions with commas; literals behind the first are of type `rest`."""
    pieces: list[Piece] = []
    for position, expr in enumerate(exprs):
        pieces += [", "] * (position > 0)
        pieces.append((expr, TERNARY, rest if position else None))
    return pieces


def _number(node: E.Const) -> str:
    """Return the shortest digits that read back as this very value in its type."""
    value = node.value
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value) or node.dtype.kind == "bfloat":
        return repr(value)
    return str(node.dtype.numpy.type(value))


_SPELLING: dict[type[Expr], Callable[[ExprText, Any, DType | None], Spelling]] = {
    E.Var: ExprText.var,
    E.Const: ExprText.const,
    **dict.fromkeys(INFIX, ExprText.infix),
    **dict.fromkeys(COMPARISONS, ExprText.compare),
    **dict.fromkeys(LOGIC, ExprText.logic),
    **dict.fromkeys(FUNCTIONS, ExprText.function),
    E.Not: ExprText.negation,
    E.Cast: ExprText.cast,
    E.Select: ExprText.select,
    E.IfElse: ExprText.if_else,
    E.Ramp: ExprText.ramp,
    E.Broadcast: ExprText.broadcast,
    E.Load: ExprText.load,
    E.Address: ExprText.address,
    E.Call: ExprText.call,
    E.TensorRead: ExprText.tensor_read,
    E.Reduce: ExprText.reduce,
}
