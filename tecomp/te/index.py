"""From the front end's int32 axes to exact index arithmetic.

Axes, sizes and integer scalars are int32 variables to the user; in a lowered program they are of dtype index, exact
integers. The largest subtrees made of them and of integer constants become index arithmetic, and a cast stands where
such a subtree meets data:

    A[i * n + j] + i      A[i * n + j] + i32(i)       i, j, n now of dtype index
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..dtype import INDEX, DType
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.visit import walk

_ARITHMETIC = {
    E.Add: make.add, E.Sub: make.sub, E.Mul: make.mul, E.Min: make.minimum, E.Max: make.maximum,
    E.FloorDiv: make.floordiv, E.FloorMod: make.floormod, E.TruncDiv: make.truncdiv, E.TruncMod: make.truncmod,
    E.Lt: make.lt, E.Le: make.le, E.Eq: make.eq, E.Ne: make.ne,
}  # fmt: skip
_CHOICE = {E.Select: make.select, E.IfElse: make.if_then_else}


class Indexer:
    """Lowers expressions of one program; integer variables that are no axes become its index variables."""

    def __init__(self) -> None:
        self.sizes: dict[E.Var, E.Var] = {}
        self.wrapped: set[E.Var] = set()
        """The variables, index ones, of which a value of a declared type is made: where they do not fit, it wraps."""

    def size(self, var: E.Var) -> E.Var:
        """Return the index variable of an integer scalar: a size is known to be >= 0 once a shape uses it."""
        if var not in self.sizes:
            low = None if var.min is None else make.index(var.min)
            self.sizes[var] = E.Var(var.name, INDEX, low)
        return self.sizes[var]

    def extent(self, extent: Expr) -> Expr:
        """Lower an extent of a shape; the variables in it are sizes."""
        if isinstance(extent, E.Var) and extent not in self.sizes:
            self.sizes[extent] = E.Var(extent.name, INDEX, make.const(0, INDEX))
        return make.index(self.lower(extent, {}))

    def lower(self, expr: Expr, axes: Mapping[E.Var, Expr]) -> Expr:
        """Return `expr` over the index values of `axes`, of its own type where it is data, of type index otherwise."""
        done: dict[Expr, Expr] = {}
        stack = [expr]
        while stack:
            node = stack[-1]
            operands = node.operands()
            waiting = [operand for operand in operands if operand not in done]
            if node in done or waiting:
                if node in done:
                    stack.pop()
                stack.extend(waiting)
                continue
            stack.pop()
            done[node] = self._node(node, operands, [done[operand] for operand in operands], axes)
        return done[expr]

    def indices(self, indices: Iterable[Expr], axes: Mapping[E.Var, Expr]) -> tuple[Expr, ...]:
        """Lower the indices of an access."""
        return tuple(_index(self.lower(index, axes)) for index in indices)

    def data(self, expr: Expr, axes: Mapping[E.Var, Expr]) -> Expr:
        """Lower `expr` as a value of its declared type."""
        return self._value(expr.dtype, self.lower(expr, axes))

    def _value(self, dtype: DType, expr: Expr) -> Expr:
        """Return `expr` as data of the declared type."""
        if expr.dtype is INDEX:
            self.wrapped.update(node for node in walk(expr) if isinstance(node, E.Var))
        return make.cast(dtype, expr)

    def _node(self, node: Expr, old: list[Expr], new: list[Expr], axes: Mapping[E.Var, Expr]) -> Expr:
        if isinstance(node, E.Var):
            known = axes.get(node)
            return known if known is not None else self.size(node) if is_exact(node.dtype) else node
        if isinstance(node, (E.TensorRead, E.Load, E.Address)):
            return _access(node, new)
        exact = _exact(node, new)
        if exact is not None:
            return exact
        typed = [self._value(was.dtype, now) if now.dtype is INDEX else now for was, now in zip(old, new, strict=True)]
        return node if all(x is y for x, y in zip(old, typed, strict=True)) else node.with_operands(typed)


def _access(node: E.TensorRead | E.Load | E.Address, operands: list[Expr]) -> Expr:
    """Return an access, its indices and its offset of type index; a mask stays what it is."""
    if not isinstance(node, E.Load):
        return node.with_operands([_index(operand) for operand in operands])
    *indices, mask = operands
    return E.Load(node.buffer, tuple(map(_index, indices)), mask)


def _index(operand: Expr) -> Expr:
    """Return an integer as an index; of a vector made of ramps, each part of it."""
    if isinstance(operand, E.Ramp):
        return E.Ramp(make.index(operand.base), make.index(operand.stride), operand.lanes)
    if isinstance(operand, E.Broadcast):
        return E.Broadcast(make.index(operand.value), operand.lanes)
    build = _ARITHMETIC.get(type(operand))  # pyright: ignore[reportArgumentType]
    if build is not None and operand.dtype.lanes > 1 and operand.dtype.is_integer and _is_of_ramps(operand):
        return build(*map(_index, operand.operands()))
    return make.index(operand)


def _is_of_ramps(vector: Expr) -> bool:
    """Return whether a vector is made of ramps and scalars, and not of data."""
    return not any(isinstance(node, (E.Load, E.TensorRead, E.Call)) for node in walk(vector))


def is_exact(dtype: DType) -> bool:
    """Return whether variables of this type become index variables; narrower integers are data, as unsigned ones."""
    return dtype.kind == "int" and dtype.bits >= 32


def _exact(node: Expr, operands: list[Expr]) -> Expr | None:
    """Return the node as index arithmetic, None where an operand is data."""
    if isinstance(node, E.Cast):
        exact = is_exact(node.dtype) or node.dtype is INDEX
        return operands[0] if exact and operands[0].dtype is INDEX else None
    build = _ARITHMETIC.get(type(node))  # pyright: ignore[reportArgumentType]
    if build is not None:
        return build(*map(make.index, operands)) if _axes_only(operands) else None
    choose = _CHOICE.get(type(node))  # pyright: ignore[reportArgumentType]
    if choose is not None and _axes_only(operands[1:]):
        return choose(operands[0], make.index(operands[1]), make.index(operands[2]))
    return None


def _axes_only(operands: list[Expr]) -> bool:
    """Return whether all are index values or integer constants, and one is not a constant."""
    exact = [operand.dtype is INDEX for operand in operands]
    constant = [isinstance(operand, E.Const) and operand.dtype.kind == "int" for operand in operands]
    return any(exact) and all(x or y for x, y in zip(exact, constant, strict=True))
