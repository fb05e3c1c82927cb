"""A schedule as a picture: each stage with its loops, in the place where it is computed.

    X: f32[m, n] placeholder
    B: f32[n] inlined
    C: f32[m, n] output
      for i.outer in blockIdx.x((m + 31) // 32)
        for i.inner in threadIdx.x(32)
          D: f32[m] in local
            for i in range(m)
          for j in range(n)

Extents are those of a stage that computes all of its result: inside another's loop, bound inference finds fewer.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..arith import simplify
from ..ir import make
from ..ir.axis import AxisKind, IterVar
from ..ir.node import Expr
from ..ir.stmt import LoopKind
from ..te.tensor import Operation, PlaceholderOp
from .extent import Exact, declared_domains, show
from .plan import Plan
from .relation import Domains
from .stage import INLINE, SCAN, At, LoopMark, StageState

INDENT = "  "
_Line = tuple[int, Operation, IterVar | None]
"""Something to draw at a depth: the heading of a stage, or one of its loops."""


def sketch(plan: Plan) -> str:
    """Return the picture, a line for each stage and loop."""
    return "\n".join(f"{INDENT * depth}{text}" for depth, text in _lines(plan))


def _lines(plan: Plan) -> Iterator[tuple[int, str]]:
    inside = _by_place(plan)
    domains: dict[Operation, Domains] = {}
    stack: list[_Line] = [(0, op, None) for op in reversed(inside[None])]
    while stack:
        depth, op, axis = stack.pop()
        state = plan.states[op]
        if axis is None:
            yield depth, _heading(plan, state)
            domains[op] = {} if state.attach is INLINE else declared_domains(state)
            loops = () if state.attach is INLINE else state.leaves
            stack += reversed([(depth + 1 + number, op, leaf) for number, leaf in enumerate(loops)])
        else:
            yield depth, _loop(state, axis, domains[op])
            stack += [(depth + 1, guest, None) for guest in reversed(inside.get(axis, ()))]


def _by_place(plan: Plan) -> dict[IterVar | None, list[Operation]]:
    """Return the stages in the body of each loop, in the order of the program; those of none under None."""
    inside: dict[IterVar | None, list[Operation]] = {None: []}
    for op in plan.ops:
        state = plan.states[op]
        place = plan.attach_axis(op) if isinstance(state.attach, At) else None
        if state.attach is SCAN and state.group is not None:
            place = plan.states[state.group].leaves[-1]
        inside.setdefault(place, []).append(op)
    return inside


def _heading(plan: Plan, state: StageState) -> str:
    outputs = [f"{tensor.dtype.short}[{', '.join(map(show, tensor.shape))}]" for tensor in state.op.outputs]
    stepped = next((group.scan.name for group in plan.scans if state.op in group.states), "")
    notes = {
        f"state of {stepped}": stepped,
        "placeholder": isinstance(state.op, PlaceholderOp) and not stepped,
        "output": state.is_output,
        "inlined": state.attach is INLINE,
        f"in {state.scope}": state.scope,
        "padded": state.alignments,
        "double buffered": state.double_buffered,
        "rolling": state.rolling,
        f"laid out as {_memory(state)}": state.layout,
    }
    notes |= {f"{axis.name} up to a multiple of {multiple}": True for axis, multiple in state.padding.items()}
    if state.feeds is not None:
        notes[f"{'update' if state.is_update else 'init'} of {state.feeds.name}"] = True
    if state.store_predicate is not None:
        notes[f"stored where {show(state.store_predicate)}"] = True
    return " ".join(
        [f"{state.op.name}:", ", ".join(outputs), ", ".join(note for note, holds in notes.items() if holds)]
    ).rstrip()


def _memory(state: StageState) -> str:
    """Return the extents of the memory that a layout gives a result."""
    if state.layout is None:
        return ""
    exact = Exact()
    extents = [exact(extent) for extent in state.op.output(0).shape]
    return f"[{', '.join(map(show, state.layout.shape(extents)))}]"


def _loop(state: StageState, axis: IterVar, domains: Domains) -> str:
    if state.feeds is not None and state.is_update and axis is state.time_axis:
        return f"for {axis.name} at the step of {state.feeds.name}"
    mark = state.mark(axis)
    hints = "".join(f", {name}={value}" for name, value in mark.pragmas)
    hints += "".join(f", prefetch={ahead.tensor.name} {ahead.offset} ahead" for ahead in mark.prefetches)
    kind = " reduce" if axis.kind is AxisKind.REDUCE else ""
    by = state.tensorized.intrin.name if state.tensorized is not None and axis is state.tensorized.axis else ""
    return f"for{kind} {axis.name} in {_kind(mark)}({_range(axis, domains)}{hints}){by and f' by {by}'}"


def _kind(mark: LoopMark) -> str:
    if mark.thread is not None:
        return mark.thread.thread_tag
    return mark.kind.value if mark.kind is not LoopKind.SERIAL else "range"


def _range(axis: IterVar, domains: Domains) -> str:
    """Return the values of a loop as the arguments of range; those of an axis of the operation may begin elsewhere."""
    extent = domains[axis].extent
    begin: Expr | None = axis.dom.min if axis.dom is not None else None
    if begin is None or begin is make.const(0, begin.dtype):
        return show(extent)
    assert axis.dom is not None
    return f"{show(begin)}, {show(simplify(make.add(begin, axis.dom.extent)))}"
