"""Axes: the variables that a computation runs over."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ..dtype import DType
from .expr import Expr, Var
from .node import Operators


class Range(NamedTuple):
    """The integers min, min + 1, ... of that many."""

    min: Expr
    extent: Expr


class AxisKind(Enum):
    """What an axis means to the stage that has it."""

    DATA = "data"
    """Each value computes its own element: any order, all at once."""
    REDUCE = "reduce"
    """Values are combined into one element."""
    ORDERED = "ordered"
    """A scan's time: one value after the other."""
    CARRIED = "carried"
    """A loop whose iterations need what earlier ones wrote: one after the other."""
    OPAQUE = "opaque"
    """Known to the operation only; cannot be scheduled."""
    THREAD = "thread"
    """An index of the GPU's grid or block; a loop may be bound to it."""


class IterVar(Operators):
    """An axis: a variable, its domain (None for a thread axis without one), what it means, its thread tag."""

    __slots__ = ("dom", "kind", "thread_tag", "var")

    def __init__(self, dom: Range | None, var: Var, kind: AxisKind, thread_tag: str = "") -> None:
        self.dom, self.var, self.kind, self.thread_tag = dom, var, kind, thread_tag

    @property
    def name(self) -> str:
        """The variable's name."""
        return self.var.name

    @property
    def dtype(self) -> DType:
        """The variable's type."""
        return self.var.dtype

    def as_expr(self) -> Expr:
        """Return the variable; in an expression an axis stands for it."""
        return self.var

    def __repr__(self) -> str:
        return f"IterVar({self.name}, {self.kind.value}{', ' + self.thread_tag if self.thread_tag else ''})"
