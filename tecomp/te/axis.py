"""Axes: what a computation runs over, what a reduction folds, what a GPU's threads are."""

from __future__ import annotations

import weakref
from typing import Any

from ..dtype import INT32, INT64
from ..errors import UserError, UserTypeError
from ..ir import make
from ..ir.axis import AxisKind, IterVar, Range
from ..ir.expr import Const, Var
from ..ir.node import Expr
from .shape import name_of, plain
from .tensor import ComputeOp

VIRTUAL_TAGS = ("vthread", *(f"vthread.{dim}" for dim in "xyz"), "cthread")
"""Virtual threads: several of them are one real thread's work."""
THREAD_TAGS = (
    *(f"{level}Idx.{dim}" for level in ("block", "thread") for dim in "xyz"),
    *VIRTUAL_TAGS,
)  # fmt: skip


class ReduceAxis(IterVar):
    """A reduce axis, which knows the compute that folds over it: there may be one only."""

    __slots__ = ("_user",)

    def __init__(self, dom: Range, var: Var) -> None:
        super().__init__(dom, var, AxisKind.REDUCE)
        self._user: weakref.ref[ComputeOp] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the compute that it knows."""
        return ReduceAxis, (self.dom, self.var), self.user

    def __setstate__(self, user: ComputeOp) -> None:
        self.user = user

    @property
    def user(self) -> ComputeOp | None:
        """The latest compute that folds over this axis and still exists."""
        return self._user() if self._user is not None else None

    @user.setter
    def user(self, op: ComputeOp) -> None:
        self._user = weakref.ref(op)


def make_axis(name: str, dom: Range, kind: AxisKind) -> IterVar:
    """Return a new axis over `dom`, whose variable has the extent's type."""
    return IterVar(dom, Var(name, dom.extent.dtype, dom.min, dom.extent), kind)


def reduce_axis(dom: Any, name: str = "rv", thread_tag: str = "") -> IterVar:
    """Return an axis to fold over: the integers from dom[0] up to, without, dom[1].

    The ends may be expressions of sizes, of a compute's axes, of tensor elements. An empty range gives the identity.
    """
    asked = f"te.reduce_axis '{name}'"
    if thread_tag:
        raise UserError(
            f"{asked}: thread_tag={thread_tag!r}",
            because="a thread is bound by the schedule",
            legal="s[T].bind(axis, thread)",
        )
    begin, extent = _ends(asked, dom)
    return ReduceAxis(Range(begin, extent), Var(name_of("te.reduce_axis", name), extent.dtype, begin, extent))


def thread_axis(dom: Any = None, tag: str = "", name: str = "") -> IterVar:
    """Return an axis of the GPU's grid or block: `thread_axis("threadIdx.x")`, or with its range before the tag.

    Its variable has the name of its tag unless `name` gives another. Without a range it takes that of the loop which is
    bound to it.
    """
    if isinstance(dom, str):
        dom, tag = None, tag or dom
    if tag not in THREAD_TAGS:
        raise UserError(f"te.thread_axis: tag {tag!r}", because="no thread axis is called so", legal=THREAD_TAGS)
    if dom is None:
        return IterVar(None, Var(name or tag, INT32), AxisKind.THREAD, tag)
    begin, extent = _ends(f"te.thread_axis '{tag}'", (0, dom) if not isinstance(dom, (tuple, list, Range)) else dom)
    return IterVar(Range(begin, extent), Var(name or tag, extent.dtype, begin, extent), AxisKind.THREAD, tag)


def _ends(asked: str, dom: Any) -> tuple[Expr, Expr]:
    """Return the first value and the number of values of a domain (first, end)."""
    if isinstance(dom, Range):
        return dom
    if not isinstance(dom, (tuple, list)) or len(dom) != 2:
        raise UserTypeError(
            f"{asked}: domain {dom!r}", because="a domain is a pair", legal="(first, end), where end is left out"
        )
    ends = [_end(asked, value) for value in dom]
    begin, end = make.pair(*ends)
    extent = make.sub(end, begin)
    if isinstance(extent, Const) and extent.value < 0:
        raise UserError(
            f"{asked}: domain ({plain(begin)}, {plain(end)})",
            because=f"it ends {-extent.value} before it begins",
            legal="first <= end",
        )
    return begin, extent


def _end(asked: str, value: Any) -> Expr:
    wide = isinstance(value, int) and not -(2**31) <= value < 2**31
    end = make.convert(value, INT64 if wide else None)
    if end.dtype.is_integer and end.dtype.lanes == 1:
        return end
    raise UserTypeError(f"{asked}: {value!r} as an end", because=f"it is {end.dtype}", legal="an integer")
