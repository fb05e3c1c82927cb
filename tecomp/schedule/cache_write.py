"""cache_write: a tensor is computed in another memory, and copied from there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ScheduleError
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..location import caller
from ..te.tensor import ComputeOp, Tensor
from .cache_read import check_stored, name_of
from .leaves import Leaves
from .place import check_scope
from .plan import Plan
from .reading import Values, data_axis, element, moved_axis, moved_body
from .relation import carrying
from .rewriting import Rewrite, rewriting
from .stage import StageState, initial


@rewriting
def cache_write(plan: Plan, tensor: Tensor | Sequence[Tensor], scope: str) -> Rewrite[Any]:
    """Compute `tensor` in memory of `scope`, and let its own stage copy from there; return the new tensor.

    The new stage has the reduction. A list names all results of one operation, and gives a list. Where the data loops
    of the stage were split, fused or reordered before, the new tensor has a dimension for each of them, in their order,
    and the loops of the stage itself begin anew.

        for i in range(n):                          for i in range(n):
            C[i] = 0                                    C_local[i] = 0                # s.cache_write(C, "local")
            for k in range(m):            ->            for k in range(m):
                C[i] = C[i] + A[i, k]                       C_local[i] = C_local[i] + A[i, k]
                                                    for i in range(n):
                                                        C[i] = C_local[i]
    """
    tensors: list[Any] = list(tensor) if isinstance(tensor, (list, tuple)) else [tensor]
    asked = f"cache_write: {', '.join(map(name_of, tensors)) or 'no tensor'} in {scope!r}"
    check_scope(asked, scope)
    state, made = _written(plan, asked, tensors)
    loops = _data_loops(asked, state, made)
    _check_unmarked(asked, state, [axis for axis in state.leaves if loops != made.axis or axis in made.reduce_axis])
    axes, values, exists, at = _layout(state, made, loops)
    reduce_axes = [moved_axis(axis, values) for axis in made.reduce_axis]
    values = {**values, **{old.var: new.var for old, new in zip(made.reduce_axis, reduce_axes, strict=True)}}
    body = moved_body(made.body, values, reduce_axes, exists, starts=True)
    cache = ComputeOp(f"{made.name}.{scope}", axes, body, made.tag, made.attrs, caller())
    copy = made.redefined(tuple(element(output, at) for output in cache.outputs))
    moved = initial(cache, is_output=False, group=state.group, feeds=None).replace(scope=scope)
    left = state.replace(definition=copy, axes=copy.axis, leaves=copy.axis, relations=())
    outputs = list(cache.outputs)
    return Rewrite((moved, left), outputs if isinstance(tensor, (list, tuple)) else outputs[0])


def _written(plan: Plan, asked: str, tensors: Sequence[Any]) -> tuple[StageState, ComputeOp]:
    """Return the stage that computes the tensors, whose work can go to another one, and what it computes."""
    for tensor in tensors:
        check_stored(plan, asked, tensor)
    if not tensors:
        raise ScheduleError(asked, "the list is empty", "the tensors of one operation")
    op = tensors[0].op
    if list(tensors) != list(op.outputs):
        names = ", ".join(output.name for output in op.outputs)
        raise ScheduleError(asked, f"'{op.name}' computes {names} in one loop nest", f"[{names}], all of one operation")
    state = plan.states[op]
    if not isinstance(state.definition, ComputeOp):
        raise ScheduleError(asked, f"it comes from a {type(op).__name__}", "a tensor that a compute makes")
    check_no_guests(plan, asked, state)
    return state, state.definition


def check_no_guests(plan: Plan, asked: str, state: StageState) -> None:
    """Raise ScheduleError where something was said of loops that are about to go to another stage.

    Other stages may be computed in them, they may be padded, or an instruction stand in their place.
    """
    if state.tensorized is not None:
        axis, intrin = state.tensorized
        because = (
            f"'{intrin.name}' takes the place of its loops from '{axis.name}' on, and its work moves to a new stage"
        )
        raise ScheduleError(asked, because, "this on a te.compute of the formula, then tensorize of the new stage")
    padded = ", ".join(f"'{axis.name}'" for axis in state.padding)
    if padded:
        legal = "this first, then pad the axes of the new stage"
        raise ScheduleError(asked, f"{padded} of '{state.op.name}' is padded, and its work moves to a new stage", legal)
    guests = sorted(plan.guests[state.op], key=plan.position.__getitem__)
    if guests:
        names = ", ".join(f"'{guest.name}'" for guest in guests)
        raise ScheduleError(
            asked,
            because=f"{names} is computed in its loops, and its work moves to a new stage",
            legal="this first, then compute_at in the loops of the new stage",
        )


def _data_loops(asked: str, state: StageState, made: ComputeOp) -> tuple[IterVar, ...]:
    """Return the loops made of data axes; refuse where loops of reduce axes would begin anew."""
    data, reduced = carrying(made.axis, state.relations), carrying(made.reduce_axis, state.relations)
    derived = next((leaf for leaf in state.leaves if leaf in reduced and leaf not in made.reduce_axis), None)
    if derived is not None:
        raise ScheduleError(
            asked,
            because=f"its loop '{derived.name}' was made of a reduce axis, and would be lost",
            legal="cache_write first, then schedule the reduction of the new stage",
        )
    return tuple(leaf for leaf in state.leaves if leaf in data)


def _check_unmarked(asked: str, state: StageState, lost: Sequence[IterVar]) -> None:
    """Raise ScheduleError where one of the loops that begin anew was marked."""
    marked = next((axis for axis in lost if axis in state.loops), None)
    if marked is not None:
        raise ScheduleError(
            asked,
            because=f"how its loop '{marked.name}' runs was said already, and would be lost",
            legal="cache_write first, then mark the loops",
        )


def _layout(
    state: StageState, made: ComputeOp, loops: tuple[IterVar, ...]
) -> tuple[tuple[IterVar, ...], Values, Expr, list[Expr]]:
    """Return the axes of the new tensor, what the old ones are in terms of them and where that exists, and at which
    element of it each element of the old tensor lies."""
    if loops == made.axis:
        axes = tuple(data_axis(f"{axis.name}.c", leaf_extent(axis)) for axis in made.axis)
        values = {old.var: new.var for old, new in zip(made.axis, axes, strict=True)}
        return axes, values, make.TRUE, [axis.var for axis in made.axis]
    leaves = Leaves(state)
    axes = tuple(data_axis(f"{loop.name}.c", leaves.extent(loop)) for loop in loops)
    values, exists = leaves.values_up({loop: axis.var for loop, axis in zip(loops, axes, strict=True)})
    return axes, values, exists, leaves.values_down(made.axis, loops)


def leaf_extent(axis: IterVar) -> Expr:
    """Return the extent an axis was declared with."""
    assert axis.dom is not None
    return axis.dom.extent
