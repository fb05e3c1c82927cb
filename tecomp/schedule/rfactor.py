"""rfactor: the iterations of a reduce loop become a dimension of partial results, which can be computed at once."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, SupportsIndex

from ..errors import ScheduleError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import AxisKind, IterVar, Range
from ..ir.node import Expr
from ..ir.subst import substitute
from ..ir.visit import walk
from ..location import caller
from ..te.axis import make_axis
from ..te.tensor import ComputeOp, Tensor
from .axis import cannot, plain_leaf
from .cache_read import check_stored, name_of
from .cache_write import check_no_guests
from .leaves import Leaves
from .plan import Plan
from .reading import Values, data_axis, element, moved_body
from .relation import carrying
from .rewriting import Rewrite, rewriting
from .stage import StageState, initial
from .view import StageView


@rewriting
def rfactor(plan: Plan, tensor: Tensor, axis: IterVar, factor_axis: int = 0) -> Rewrite[Any]:
    """Reduce each iteration of the reduce loop `axis` on its own, and then join these partial results.

    Returns the tensor of partial results (a list, where the reduction has several), named tensor.rf; `axis` is its
    dimension number `factor_axis`. Start values and the data loops stay with the stage; its other reduce loops go to
    the new one, one reduce axis each.

        C[i] = 0                                  for k_i in range(4):                # C.rf = s.rfactor(C, k_i)
        for k_o in range(m // 4):                     C_rf[k_i, i] = 0
            for k_i in range(4):                      for k_o in range(m // 4):
                C[i] = C[i] + A[k_o*4+k_i]    ->          C_rf[k_i, i] = C_rf[k_i, i] + A[k_o*4 + k_i]
                                                  C[i] = 0
                                                  for k_i in range(4):
                                                      C[i] = C[i] + C_rf[k_i, i]
    """
    asked = f"rfactor: {name_of(tensor)} over '{axis.name}'" if isinstance(axis, IterVar) else f"rfactor: {axis!r}"
    check_stored(plan, asked, tensor)
    view = StageView(plan, tensor.op)
    state, made = view.state, view.op
    leaf = plain_leaf(view, "rfactor", axis)
    if leaf.kind is not AxisKind.REDUCE or not isinstance(made, ComputeOp):
        raise cannot("rfactor", leaf, view, "its iterations are different elements, not parts of one", _reduced(view))
    check_no_guests(plan, asked, state)
    reduced = _reduce_loops(view, asked, made)
    place = _place(asked, factor_axis, len(made.axis))
    cache, partial = _partial(state, made, leaf, reduced, place)
    final = _final(state, made, leaf, reduced, cache, place)
    outputs = list(cache.outputs)
    return Rewrite((partial, final), outputs if len(outputs) > 1 else outputs[0])


def _reduced(view: StageView) -> str:
    names = [leaf.name for leaf in view.state.leaves if leaf.kind is AxisKind.REDUCE]
    return f"a reduce loop of '{view.name}': {', '.join(names) or 'none'}"


def _reduce_loops(view: StageView, asked: str, made: ComputeOp) -> list[IterVar]:
    """Return the loops that reduce; refuse one that runs over elements too."""
    state = view.state
    data, reduced = carrying(made.axis, state.relations), carrying(made.reduce_axis, state.relations)
    both = next((leaf for leaf in state.leaves if leaf in data and leaf in reduced), None)
    if both is not None:
        because = f"the loop '{both.name}' was fused of data and reduce axes"
        raise ScheduleError(asked, because, "rfactor before such a fuse")
    return [leaf for leaf in state.leaves if leaf in reduced]


def _place(asked: str, factor_axis: Any, ndim: int) -> int:
    """Return which dimension of the partial results the factored axis is."""
    if not isinstance(factor_axis, SupportsIndex) or isinstance(factor_axis, bool):
        because = f"factor_axis is of type {type(factor_axis).__name__}"
        raise UserTypeError(asked, because, f"an integer from 0 to {ndim}")
    place = factor_axis.__index__()
    place = place + ndim + 1 if place < 0 else place
    if not 0 <= place <= ndim:
        because = f"factor_axis={factor_axis!r}, and the partial results have {ndim + 1} dimensions"
        raise ScheduleError(asked, because, f"0 to {ndim}, or -1 for the last")
    return place


def _partial(
    state: StageState, made: ComputeOp, leaf: IterVar, reduced: list[IterVar], place: int
) -> tuple[ComputeOp, StageState]:
    """Return the operation that reduces each iteration of `leaf` on its own, and its stage."""
    leaves = Leaves(state)
    data = {axis.var: data_axis(axis.name, _extent(axis)) for axis in made.axis}
    renamed: Values = {var: axis.var for var, axis in data.items()}
    factored = data_axis(leaf.name, _independent(made, leaf, leaves.extent(leaf)))
    others = {
        axis: make_axis(axis.name, _from_0(substitute(leaves.extent(axis), renamed)), AxisKind.REDUCE)
        for axis in reduced
        if axis is not leaf
    }
    values, exists = leaves.values_up({leaf: factored.var} | {old: new.var for old, new in others.items()})
    moved = {**renamed, **{var: substitute(value, renamed) for var, value in values.items()}}
    axes = [*data.values()]
    axes.insert(place, factored)
    body = moved_body(made.body, moved, [*others.values()], substitute(exists, renamed), starts=False)
    op = ComputeOp(f"{made.name}.rf", tuple(axes), body if others else _unreduced(body), made.tag, made.attrs, caller())
    marks = MappingProxyType({others[old]: mark for old, mark in state.loops.items() if old in others})
    return op, initial(op, is_output=False, group=state.group, feeds=None).replace(loops=marks)


def _final(
    state: StageState, made: ComputeOp, leaf: IterVar, reduced: list[IterVar], cache: ComputeOp, place: int
) -> StageState:
    """Return the stage that joins the partial results; its data loops stay, and the new reduce loop is where the first
    old one was."""
    first = made.body[0]
    assert isinstance(first, E.Reduce)
    joined = make_axis(f"{leaf.name}.v", _from_0(_extent(cache.axis[place])), AxisKind.REDUCE)
    at: list[Expr] = [axis.var for axis in made.axis]
    at.insert(place, joined.var)
    source = tuple(element(output, at) for output in cache.outputs)
    body = tuple(
        E.Reduce(first.combiner, source, (joined,), make.TRUE, first.init, number) for number in range(len(made.body))
    )
    definition = made.redefined(body)
    gone = carrying(made.reduce_axis, state.relations)
    kept = [joined if axis is reduced[0] else axis for axis in state.leaves if axis is reduced[0] or axis not in gone]
    return state.replace(
        definition=definition,
        axes=(*made.axis, joined, *(axis for axis in state.axes if axis not in gone and axis not in made.axis)),
        leaves=tuple(kept),
        relations=tuple(relation for relation in state.relations if gone.isdisjoint(relation.parents)),
        loops=MappingProxyType({axis: mark for axis, mark in state.loops.items() if axis not in gone}),
    )


def _independent(made: ComputeOp, leaf: IterVar, extent: Expr) -> Expr:
    """Return the extent of the factored loop, which must be one for all elements."""
    named = set(walk(extent))
    axis = next((axis for axis in (*made.axis, *made.reduce_axis) if axis.var in named), None)
    if axis is None:
        return extent
    raise ScheduleError(
        f"rfactor: '{made.name}' over '{leaf.name}'",
        because=f"its extent {extent!r} depends on '{axis.name}', and a dimension has one for all elements",
        legal="split it by a constant, and factor the inner loop",
    )


def _unreduced(body: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Return the formulas of partial results of one value each: that value, or the identity where there is none."""
    first = body[0]
    assert isinstance(first, E.Reduce)
    return tuple(
        make.if_then_else(first.condition, value, nothing)
        for value, nothing in zip(first.source, first.combiner.identity, strict=True)
    )


def _from_0(extent: Expr) -> Range:
    return Range(make.const(0, extent.dtype), extent)


def _extent(axis: IterVar) -> Expr:
    assert axis.dom is not None
    return axis.dom.extent
