"""Opaque operations, te.extern: what may be said of statements whose loops are their own."""

from __future__ import annotations

from typing import TypeGuard

from ..errors import ScheduleError
from ..ir.expr import Call
from ..ir.foreign import gives_nothing
from ..ir.stmt import For, LoopKind
from ..ir.visit import walk
from ..te.extern_op import ExternOp
from ..te.hybrid import HybridOp
from ..te.tensor import Operation
from .view import StageView


def has_own_loops(op: Operation) -> TypeGuard[ExternOp]:
    """Return whether the loops of an operation are its own."""
    return isinstance(op, ExternOp) and not isinstance(op, HybridOp)


def runs_itself(op: ExternOp) -> bool:
    """Return whether a body says which threads run it, or is run by a Python function."""
    nodes = list(walk(op.body))
    in_threads = any(isinstance(node, For) and node.kind is LoopKind.THREAD for node in nodes)
    return in_threads or any(isinstance(node, Call) and gives_nothing(node) for node in nodes)


def check_runs_once(stage: StageView) -> None:
    """Raise ScheduleError unless a loop of one iteration may be put around an opaque stage, for a thread to run it."""
    assert isinstance(stage.op, ExternOp)
    asked = f"fuse of no loops of '{stage.name}'"
    if stage.state.leaves:
        raise ScheduleError(asked, "it has a loop of one iteration already", "bind of that loop to a thread")
    if runs_itself(stage.op):
        because = "its body says itself which threads run it, or is a Python function's"
        raise ScheduleError(asked, because, "schedule the stages around it")
