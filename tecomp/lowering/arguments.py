"""Whether the arguments of a function are what its schedule needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ScheduleError, UserError, UserTypeError
from ..ir import expr as E
from ..ir.visit import walk
from ..schedule.schedule import Schedule
from ..schedule.stage import INLINE
from ..te.extern_op import ExternOp
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor


def check_arguments(schedule: Schedule, args: Sequence[Any]) -> None:
    """Raise UserError unless `args` are distinct tensors of the schedule and scalars, with all inputs and outputs."""
    _check_kinds(args)
    tensors = {arg for arg in args if isinstance(arg, Tensor)}
    computed = {stage.origin for stage in schedule.stages}
    for number, arg in enumerate(args):
        if isinstance(arg, Tensor) and arg.op not in computed and not isinstance(arg.op, PlaceholderOp):
            raise UserError(
                f"argument {number}, '{arg.name}', is no tensor of this schedule",
                because="no output reads it",
                legal=f"what the outputs read, and the outputs: {', '.join(op.name for op in schedule.outputs)}",
            )
    for stage in schedule.stages:
        if stage.state.attach is INLINE and any(stage.op.output(n) in tensors for n in range(stage.op.num_outputs)):
            raise UserError(
                f"'{stage.op.name}' is an argument",
                because="it is inlined, so it is never stored",
                legal="compute_root() in place of compute_inline(), or leave it out of the arguments",
            )
    states = {
        state for stage in schedule.stages if isinstance(stage.op, ScanOp) for state in stage.op.state_placeholder
    }
    _check_inputs(schedule, tensors, states)
    _check_outputs(schedule, tensors)
    _check_scalars(schedule, args)


def _check_kinds(args: Sequence[Any]) -> None:
    seen: dict[Any, int] = {}
    for number, arg in enumerate(args):
        if not isinstance(arg, (Tensor, E.Var)):
            raise UserTypeError(
                f"argument {number} is of type {type(arg).__name__}",
                because="a program's arguments are arrays and scalars",
                legal="a tensor (of placeholder, compute, scan) or a te.var",
            )
        if arg in seen:
            raise UserError(
                f"argument {number}, '{arg.name}', is given twice",
                because=f"it is argument {seen[arg]} already",
                legal="each tensor once: a call takes one array for it",
            )
        seen[arg] = number


def _check_inputs(schedule: Schedule, tensors: set[Tensor], states: set[Tensor]) -> None:
    for stage in schedule.stages:
        op = stage.op
        if not isinstance(op, PlaceholderOp) or op.output(0) in tensors or op.output(0) in states:
            continue
        reader = next(other.op for other in schedule.stages if op.output(0) in other.op.input_tensors)
        raise UserError(
            f"the placeholder '{op.name}' is no argument",
            because=f"'{reader.name}' reads it",
            legal=f"add '{op.name}' to the arguments",
        )


def _check_outputs(schedule: Schedule, tensors: set[Tensor]) -> None:
    """Raise UserError for an output that is no argument, unless another stage reads it: then it is a temporary."""
    read = {source for stage in schedule.stages for source in stage.op.input_tensors}
    for op in schedule.outputs:
        if not any(op.output(number) in tensors | read for number in range(op.num_outputs)):
            raise UserError(
                f"the output '{op.name}' is no argument",
                because="its result would be lost",
                legal=f"add '{op.name}' to the arguments",
            )


def _check_scalars(schedule: Schedule, args: Sequence[Tensor | E.Var]) -> None:
    shapes = [extent for arg in args if isinstance(arg, Tensor) for extent in arg.shape]
    known = {node for expr in shapes for node in walk(expr) if isinstance(node, E.Var)}
    known.update(arg for arg in args if isinstance(arg, E.Var))
    _check_predicates(schedule, known)
    for stage in schedule.stages:
        for var in _scalars(stage.op):
            if var not in known:
                raise UserError(
                    f"'{stage.op.name}' uses the variable '{var.name}'",
                    because="it is neither an argument nor in the shape of one",
                    legal=f"add '{var.name}' to the arguments",
                    location=stage.op.loc,
                )


def _check_predicates(schedule: Schedule, sizes: set[E.Var]) -> None:
    """Raise ScheduleError for a store predicate over a thread axis without threads, or a size that no call gives."""
    marks = [mark for state in schedule.states.values() for mark in state.loops.values()]
    known = sizes | {mark.thread.var for mark in marks if mark.thread is not None}
    for op, state in schedule.states.items():
        named = walk(state.store_predicate) if state.store_predicate is not None else ()
        axes = {axis.var for axis in state.axes}
        var = next((node for node in named if isinstance(node, E.Var) and node not in known | axes), None)
        if var is not None:
            raise ScheduleError(
                f"set_store_predicate: '{var.name}' on '{op.name}'",
                because="no loop is bound to it, and no argument gives it",
                legal=f"an axis of '{op.name}', a thread axis that a loop is bound to, a size of an argument",
                location=schedule.location_of(op, "set_store_predicate"),
            )


def _scalars(op: Operation) -> list[E.Var]:
    """Return the variables that `op` names besides its axes."""
    if isinstance(op, ExternOp):
        return op.variables
    if not isinstance(op, ComputeOp):
        return []
    axes = {axis.var for axis in (*op.axis, *op.reduce_axis)}
    domains = [part for axis in (*op.axis, *op.reduce_axis) if axis.dom is not None for part in axis.dom]
    bound = {var for part in op.body if isinstance(part, E.Reduce) for var in (*part.combiner.lhs, *part.combiner.rhs)}
    named = dict.fromkeys(node for part in (*op.body, *domains) for node in walk(part) if isinstance(node, E.Var))
    return [var for var in named if var not in axes and var not in bound]
