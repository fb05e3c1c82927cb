"""Stages made from formulas in exact index arithmetic: the way back to the front end's int32 axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...arith import simplify
from ...dtype import INDEX, INT32, INT64
from ...ir import expr as E
from ...ir import make
from ...ir.axis import IterVar
from ...ir.node import Expr
from ..axis import reduce_axis
from ..compute import compute
from ..index import Indexer
from ..reads import operands_first
from ..reducers import sum as te_sum
from ..tensor import Operation, Tensor
from .solve import extent_of, least_of


class Stages:
    """Lowers formulas of the graph of `ops` to index arithmetic, and makes stages of such formulas."""

    def __init__(self, ops: Iterable[Operation]) -> None:
        self.indexer = Indexer()
        extents = [extent for op in ops for tensor in op.outputs for extent in tensor.shape]
        for extent in sorted(extents, key=_is_composed):
            self.indexer.extent(extent)
        self.width = INT64 if any(extent.dtype is INT64 for extent in extents) else INT32

    def axis(self, name: str, extent: Expr, least: int = 0) -> E.Var:
        """Return a new index axis of an extent of a shape."""
        return E.Var(name, INDEX, make.const(least, INDEX), self.indexer.extent(extent))

    def axes_of(self, tensor: Tensor, names: Sequence[str]) -> tuple[E.Var, ...]:
        """Return a new index axis for each dimension of a tensor."""
        return tuple(self.axis(name, extent) for name, extent in zip(names, tensor.shape, strict=True))

    def shape(self, axes: Sequence[E.Var]) -> tuple[Expr, ...]:
        """Return the extents of axes for the front end."""
        return tuple(map(self._typed(), map(extent_of, axes)))

    def _typed(self) -> Typed:
        return Typed({index: size for size, index in self.indexer.sizes.items()}, self.width)

    def pointwise(self, name: str, axes: Sequence[E.Var], value: Expr) -> Tensor:
        """Return the tensor of `value` at each value of `axes`, which begin at 0."""
        simple = simplify(value)
        return self._compute(name, axes, lambda typed: typed(simple))

    def total(self, name: str, axes: Sequence[E.Var], value: Expr, over: Sequence[E.Var], where: Expr) -> Tensor:
        """Return the tensor of the sums of `value` over the axes `over`, where the condition holds."""
        simple = simplify(value)

        def sums(typed: Typed) -> Any:
            names = distinct(var.name for var in (*axes, *over))[len(axes) :]
            folded = [typed.reduced(var, name) for var, name in zip(over, names, strict=True)]
            condition = None if where is make.TRUE else typed(where)
            return te_sum(typed(simple), axis=folded, where=condition)

        return self._compute(name, axes, sums)

    def _compute(self, name: str, axes: Sequence[E.Var], formula: Callable[[Typed], Any]) -> Tensor:
        outside = self._typed()

        def body(*given: E.Var) -> Any:
            return formula(outside.over(zip(axes, given, strict=True)))

        return compute(self.shape(axes), body, name=name, varargs_names=distinct(axis.name for axis in axes))


class Typed:
    """Turns index arithmetic back: `values` stand for index variables, all else takes the integer type `width`."""

    def __init__(self, values: Mapping[Expr, Expr], width: str) -> None:
        self.values, self.width = dict(values), width

    def over(self, values: Iterable[tuple[Expr, Expr]]) -> Typed:
        """Return what also knows these values."""
        return Typed({**self.values, **dict(values)}, self.width)

    def reduced(self, var: E.Var, name: str) -> IterVar:
        """Return a new reduce axis, which stands for an index axis from here on."""
        first, end = self(least_of(var)), self(simplify(make.add(least_of(var), extent_of(var))))
        axis = reduce_axis((first, end), name=name)
        self.values[var] = axis.var
        return axis

    def __call__(self, root: Expr) -> Expr:
        """Return the expression over typed axes."""
        done: dict[Expr, Expr] = {}
        for node in operands_first(root):
            done[node] = self._node(node, [done[below] for below in node.operands()])
        return done[root]

    def _node(self, node: Expr, operands: list[Expr]) -> Expr:
        if node in self.values:
            value = self.values[node]
            return make.cast(self.width, value) if node.dtype is INDEX else value
        if isinstance(node, E.Const):
            return make.const(node.value, self.width) if node.dtype is INDEX else node
        if isinstance(node, E.Cast):
            return make.cast(self.width if node.dtype is INDEX else node.dtype, operands[0])
        same = all(x is y for x, y in zip(operands, node.operands(), strict=True))
        return node if same else node.with_operands(operands)


def _is_composed(extent: Expr) -> bool:
    """Sizes by themselves come first: what is an extent is known to be 0 or more wherever it stands."""
    return not isinstance(extent, E.Var)


def distinct(names: Iterable[str]) -> list[str]:
    """Return the names, those that stood before with a number added."""
    taken: list[str] = []
    for name in names:
        stem, serial = name, 0
        while name in taken:
            serial += 1
            name = f"{stem}_{serial}"
        taken.append(name)
    return taken
