"""What may be taken for granted of integers when they are printed: exactness, sign.

Index arithmetic (loop variables, sizes, what is made of them) is exact: the narrow pass chose a type wide enough.
Integers that are data wrap in their type, which C++'s signed operators do not promise.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..arith import interval
from ..dtype import INDEX, INT32, INT64
from ..ir import expr as E
from ..ir.node import Expr


class Known(NamedTuple):
    """Of one integer expression: no operation in it leaves its type; it is never negative."""

    exact: bool
    nonnegative: bool


_UNKNOWN: Final = Known(False, False)
_ARITHMETIC: Final = (
    E.Add, E.Sub, E.Mul, E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod, E.Min, E.Max, E.Ramp, E.Broadcast,
)  # fmt: skip
"""Exact when their operands are."""
_KEEPS_SIGN: Final = (
    E.Add, E.Mul, E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod, E.Min, E.Max, E.Ramp, E.Broadcast, E.Cast,
)  # fmt: skip
"""Not negative, when exact, where no operand is."""


class Integers:
    """Answers about expressions, kept for one program. `exact` holds the variables that are indices, not data."""

    def __init__(self) -> None:
        self._known: dict[Expr, Known] = {}

    def index(self, var: E.Var, value: Expr | None = None) -> None:
        """Note that `var` counts or addresses something; that it is `value`, where it is another name for it."""
        known = Known(True, False) if value is None else self.known(value)
        self._known[var] = Known(known.exact, known.nonnegative or _nonnegative(var))

    def known(self, root: Expr) -> Known:
        """Return what is known of `root`; of what is no integer, nothing."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self._known:
                stack.pop()
                continue
            waiting = [part for part in self._parts(node) if part not in self._known]
            if waiting:
                stack += waiting
                continue
            self._known[node] = self._of(node)
            stack.pop()
        return self._known[root]

    def _parts(self, node: Expr) -> list[Expr]:
        if isinstance(node, (*_ARITHMETIC, E.Cast)):
            return [part for part in node.operands() if part.dtype.is_integer]
        return []

    def _of(self, node: Expr) -> Known:
        if not node.dtype.is_integer:
            return _UNKNOWN
        parts = [self._known[part] for part in self._parts(node)]
        exact = isinstance(node, E.Const) or (bool(parts) and all(part.exact for part in parts))
        if isinstance(node, E.Cast):
            exact = exact and _widens(node)
        kept = exact and isinstance(node, _KEEPS_SIGN) and all(part.nonnegative for part in parts)
        return Known(exact, kept or _nonnegative(node))


def _nonnegative(node: Expr) -> bool:
    low = interval(node).lo
    return low is not None and low >= 0


def _widens(node: E.Cast) -> bool:
    """Whether every value of the operand's type is one of the cast's."""
    old, new = node.value.dtype, node.dtype
    return (old.kind == new.kind and new.bits >= old.bits) or (old.kind == "uint" and new.bits > old.bits)


def small_constant(node: Expr) -> Expr:
    """Return a 64-bit constant as an int where it is one, anything else as it is."""
    if isinstance(node, E.Broadcast):
        value = small_constant(node.value)
        return node if value is node.value else E.Broadcast(value, node.lanes)
    if isinstance(node, E.Const) and node.dtype in (INT64, INDEX) and abs(node.value) < 1 << 31:
        return E.Const(node.value, INT32)
    return node


def narrowed(node: Expr) -> Expr:
    """Return the int that `node` only widens, a constant too; anything else as it is."""
    if isinstance(node, E.Cast) and node.dtype == INT64 and node.value.dtype is INT32:
        return node.value
    return small_constant(node)
