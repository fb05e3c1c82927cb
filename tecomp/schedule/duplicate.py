"""duplicate: some readers of a stage get one of their own, so that each is computed where it is read."""

from __future__ import annotations

from typing import Any

from ..errors import ScheduleError
from ..ir import make
from ..ir.axis import AxisKind, IterVar, Range
from ..ir.subst import substitute
from ..location import caller
from ..te.axis import make_axis
from ..te.tensor import ComputeOp, Tensor, domain
from .cache_read import Readers, check_stored, chosen_readers, name_of
from .plan import Plan
from .reading import Values, data_axis, moved_body, reading
from .rewriting import Rewrite, rewriting
from .stage import StageState, initial


@rewriting
def duplicate(plan: Plan, tensor: Tensor, readers: Readers) -> Rewrite[Any]:
    """Compute `tensor` again, in a stage that `readers` read in its place; return its tensor, named tensor.copy.

    Where the operation has several results, all of them are computed again, and the list of them is returned. The new
    stage is at the root, in plain loops: what was said of the old one stays with it. So a stage that two others read
    can be computed in the loops of both.

        B[0:n] = f(A)                        for i in range(n):
        for i in range(n):                       B = f(A[i])                       # s[B].compute_at(s[C], i)
            C[i] = B[i] + 1                      C[i] = B + 1
        for i in range(n):            ->     for i in range(n):                    # B_copy = s.duplicate(B, [D])
            D[i] = B[i] * 2                      B_copy = f(A[i])                  # s[B_copy].compute_at(s[D], i)
                                                 D[i] = B_copy * 2
    """
    asked = f"duplicate: {name_of(tensor)}"
    check_stored(plan, asked, tensor)
    state = plan.states[tensor.op]
    made = state.definition
    if not isinstance(made, ComputeOp) or state.feeds is not None:
        because = "a scan's result is computed once" if state.feeds is not None else "it comes from no compute"
        raise ScheduleError(asked, because, "a tensor that a compute makes")
    found = chosen_readers(plan, asked, tensor, readers)
    if not state.is_output and set(found) >= set(plan.readers[tensor.op]):
        raise ScheduleError(asked, "no stage is left that reads it itself", "some of its readers")
    copy = _copy(made)
    changed = [_reads(plan.states[op], made, copy) for op in found]
    results = list(copy.outputs)
    new = initial(copy, is_output=False, group=state.group, feeds=None)
    return Rewrite((new, *changed), results if len(results) > 1 else results[0])


def _copy(made: ComputeOp) -> ComputeOp:
    """Return the same operation over axes of its own."""
    axes = tuple(data_axis(axis.name, domain(axis).extent) for axis in made.axis)
    values: Values = {old.var: new.var for old, new in zip(made.axis, axes, strict=True)}
    folded: list[IterVar] = []
    for axis in made.reduce_axis:
        begin, extent = (substitute(end, values) for end in domain(axis))
        folded.append(make_axis(axis.name, Range(begin, extent), AxisKind.REDUCE))
        values = {**values, axis.var: folded[-1].var}
    body = moved_body(made.body, values, folded, make.TRUE, starts=True)
    return ComputeOp(f"{made.name}.copy", axes, body, made.tag, made.attrs, caller())


def _reads(state: StageState, made: ComputeOp, copy: ComputeOp) -> StageState:
    """Return the record of a reader that reads the results of `copy`."""
    definition = state.definition
    for old, new in zip(made.outputs, copy.outputs, strict=True):
        assert isinstance(definition, ComputeOp)
        definition = reading(definition, old, new)
    return state.replace(definition=definition)
