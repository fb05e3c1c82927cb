"""Primitives that say how the iterations of a loop run."""

from __future__ import annotations

from types import NoneType
from typing import Any, Final, NamedTuple

from ..errors import ScheduleError, UserTypeError
from ..ir.axis import AxisKind, IterVar
from ..ir.node import Expr
from ..ir.stmt import LoopKind
from ..location import Location
from ..te.axis import THREAD_TAGS, VIRTUAL_TAGS
from .axis import cannot, data_axes_of, describe, leaf, plain_leaf
from .extent import computes_all, constant, declared_domains, show, thread_extent
from .primitive import Change, primitive
from .relation import carrying
from .stage import IN_ORDER, LoopMark, StageState, own_axes
from .update import is_atomic
from .view import StageView

MAX_LANES: Final = 1024
"""The most iterations that one vector may hold."""


class PragmaRule(NamedTuple):
    """What the value of a pragma may be, and what the pragma means."""

    types: tuple[type, ...]
    meaning: str


PRAGMAS: Final = {
    "auto_unroll_max_step": PragmaRule((int,), "an int: serial loops that become at most so many stores are unrolled"),
    "unroll_explicit": PragmaRule((bool, int), "a bool: False leaves unrolling to the target's compiler"),
    "unroll": PragmaRule((NoneType,), "no value: the same as s[T].unroll"),
    "vectorize": PragmaRule((NoneType,), "no value: the same as s[T].vectorize"),
    "parallel": PragmaRule((NoneType,), "no value: the same as s[T].parallel"),
}
"""Every pragma that has an effect."""
_PERSISTENT: Final = "s[T].parallel on each stage: the threads of a call wait for the next loop by themselves"
PRAGMA_INSTEAD: Final = {
    "import_c": "tir.call_extern, which calls a function of a library",
    "import_llvm": "tir.call_llvm_intrin, tir.call_extern",
    "debug_skip_region": "s[T].set_store_predicate(False), of a result",
    "loop_partition_hint": "nothing: a loop is divided where its guard ends, whatever its extent",
    "parallel_launch_point": _PERSISTENT,
    "parallel_barrier_when_finish": _PERSISTENT,
    "parallel_stride_pattern": _PERSISTENT,
    "tensor_core": "s[T].tensorize",
    "aarch64_pstate_sm": 'target="llvm -mattr=+sme"',
    "aarch64_pstate_za": 'target="llvm -mattr=+sme"',
}
"""Pragmas of TVM's that have none, and what serves instead."""
CONSTANT_EXTENT: Final = {
    LoopKind.VECTORIZED: "vectorize",
    LoopKind.UNROLLED: "unroll",
    LoopKind.VIRTUAL: "bind",
}
"""The kinds of loop whose extent must be constant, and the primitive that asks for each."""
_KINDS: Final = {"vectorize": LoopKind.VECTORIZED, "unroll": LoopKind.UNROLLED, "parallel": LoopKind.PARALLEL}


@primitive
def bind(stage: StageView, axis: IterVar, thread: IterVar, reduce_update: str = "") -> Change[None]:
    """Run the iterations of a loop at once, each in a block or thread of its own of the GPU.

    The thread axis has the extent of the loop; stages in one kernel share it. A loop of constant extent bound to a
    "vthread" runs as threads would, all within each real thread: their work is interleaved, and what none of them
    tells apart is done once.

        for i.outer in range((n + 63) // 64):            with launch(blockIdx_x=(n + 63) // 64, threadIdx_x=64):
            for i.inner in range(64):             ->         i = blockIdx_x * 64 + threadIdx_x
                i = i.outer * 64 + i.inner                   ...

    Of a loop that reduces, each thread of a block folds what its iteration gives; then these parts are joined, and the
    result is there for all of them. Such loops count as inside the loops over data, wherever they stand. Blocks cannot
    join what they folded; with reduce_update="atomic" each iteration updates the element in memory, in any order.
    """
    tag = _thread_tag(thread)
    kind = LoopKind.VIRTUAL if tag in VIRTUAL_TAGS else LoopKind.THREAD
    found = plain_leaf(stage, "bind", axis)
    atomic = is_atomic(stage, "bind", found, reduce_update, to=tag)
    if found.kind is AxisKind.REDUCE and not atomic:
        _check_reduction(stage, found, tag)
    for other, mark in stage.state.loops.items():
        if mark.thread is thread or (mark.kind is kind is LoopKind.THREAD and _tag(mark) == tag):
            because = f"'{other.name}' is bound to it already, and one index cannot be two loops"
            raise cannot("bind", found, stage, because, "fuse both loops, or bind to another thread axis", to=tag)
    state = stage.state.with_mark(found, LoopMark(kind, thread, atomic=atomic))
    _check_declared(stage.after(state), found, thread)
    if computes_all(state):
        check_extent(stage.after(state), found, kind, declared_domains(state)[found].extent)
    return state, None


@primitive
def vectorize(stage: StageView, axis: IterVar) -> Change[None]:
    """Run the iterations of a loop of constant extent as the lanes of vectors.

    At most MAX_LANES of them; a loop of symbolic extent is split by a constant first.

        for i.inner in range(4):
            C[i.outer * 4 + i.inner] = A[i.outer * 4 + i.inner] + 1    ->    C[i.outer*4 : +4] = A[i.outer*4 : +4] + 1
    """
    return _marked(stage, axis, "vectorize"), None


@primitive
def unroll(stage: StageView, axis: IterVar) -> Change[None]:
    """Write a loop of constant extent out; reduce axes and a scan's time may be unrolled too.

    A nest that would become very many statements stays a nest of loops, which the target's compiler may unroll.

        for k in range(3):            acc += A[0]
            acc += A[k]         ->    acc += A[1]
                                      acc += A[2]
    """
    return _marked(stage, axis, "unroll"), None


@primitive
def parallel(stage: StageView, axis: IterVar, reduce_update: str = "") -> Change[None]:
    """Share the iterations of a loop out among the processor's threads.

    One loop of a stage may be parallel. A loop that reduces may, where reduce_update="atomic" lets its iterations
    update their element in memory one after the other, in any order.

        for i in range(n): ...    ->    for i in parallel(n): ...
    """
    if not reduce_update:
        return _marked(stage, axis, "parallel"), None
    found = plain_leaf(stage, "update", axis)
    is_atomic(stage, "parallel", found, reduce_update)
    _check_alone(stage, found)
    return stage.state.with_mark(found, LoopMark(LoopKind.PARALLEL, atomic=True)), None


@primitive
def pragma(stage: StageView, axis: IterVar, name: str, value: Any = None) -> Change[None]:
    """Give the compiler a hint for a loop and those inside it; PRAGMAS lists all there are.

    The names `unroll`, `vectorize` and `parallel` are the primitives themselves.

        for i in range(64):            for i in range(64):                # pragma(i, "auto_unroll_max_step", 4)
            for j in range(4):    ->       C[i, 0] = ...
                C[i, j] = ...              C[i, 1] = ...
    """
    if not isinstance(name, str) or name not in PRAGMAS:
        legal = PRAGMA_INSTEAD.get(str(name), list(PRAGMAS))
        raise ScheduleError(f"pragma: {name!r} on '{stage.name}'", "it would have no effect", legal)
    rule = PRAGMAS[name]
    if type(value) not in rule.types:
        raise UserTypeError(f"pragma: {name}={value!r} on '{stage.name}'", "that is no value of it", rule.meaning)
    if name in _KINDS:
        return _marked(stage, axis, name), None
    found = leaf(stage, "pragma", axis)
    mark = stage.state.mark(found)
    if mark.thread is not None:
        because = f"it is {describe(mark)}, so no loop is left that could follow it"
        raise cannot("pragma", found, stage, because, "a loop that is not bound")
    if name in dict(mark.pragmas):
        raise cannot("pragma", found, stage, f"it has {name}={dict(mark.pragmas)[name]} already", "each pragma once")
    return stage.state.with_mark(found, mark._replace(pragmas=(*mark.pragmas, (name, value)))), None


def check_extent(
    stage: StageView, axis: IterVar, kind: LoopKind, extent: Expr, location: Location | None = None
) -> None:
    """Raise ScheduleError where a loop of `extent` iterations cannot run as `kind`.

    Called when the primitive is, where the extent is known then; and again with what bound inference finds.
    """
    verb = CONSTANT_EXTENT.get(kind)
    if verb is None:
        return
    number = constant(extent)
    if number is None:
        because, tag = f"extent {show(extent)} is not constant", _tag(stage.state.mark(axis))
        legal = f"split it by a constant, and {verb} the {'loop of that length' if tag else 'inner loop'}"
        raise cannot(verb, axis, stage, because, legal, to=tag, location=location)
    if kind is LoopKind.VECTORIZED and number > MAX_LANES:
        because = f"{number} iterations are more than the {MAX_LANES} lanes that a vector may have"
        raise cannot(verb, axis, stage, because, "split it, and vectorize the inner loop", location=location)


def _marked(stage: StageView, axis: Any, verb: str) -> StageState:
    """Return the record with a loop that so far runs serially running as `verb` says; its pragmas stay."""
    found, kind = leaf(stage, verb, axis), _KINDS[verb]
    mark = stage.state.mark(found)
    if mark.kind is not LoopKind.SERIAL:
        raise cannot(verb, found, stage, f"it is {describe(mark)} already", "one of both")
    if mark.prefetches and kind not in IN_ORDER:
        raise cannot(verb, found, stage, f"it is {describe(mark)} for its next iterations", "one of both")
    if kind is LoopKind.PARALLEL:
        _check_alone(stage, found)
    elif computes_all(stage.state):
        check_extent(stage, found, kind, declared_domains(stage.state)[found].extent)
    return stage.state.with_mark(found, mark._replace(kind=kind))


def _check_alone(stage: StageView, axis: IterVar) -> None:
    for other, mark in stage.state.loops.items():
        if mark.kind is LoopKind.PARALLEL:
            because = f"'{other.name}' of the same stage is parallel, and its iterations take all threads already"
            raise cannot("parallel", axis, stage, because, "fuse both loops, and make the fused one parallel")


def _thread_tag(thread: Any) -> str:
    """Return the tag of a thread axis that a loop may be bound to."""
    if not isinstance(thread, IterVar) or thread.kind is not AxisKind.THREAD:
        what = f"axis '{thread.name}'" if isinstance(thread, IterVar) else repr(thread)
        raise UserTypeError(
            f"bind: {what} is no thread axis", "a loop is bound to an index of the GPU", 'te.thread_axis("threadIdx.x")'
        )
    if thread.thread_tag not in THREAD_TAGS:
        raise ScheduleError(f"bind: thread axis {thread.thread_tag}", "a GPU has no such axis", THREAD_TAGS)
    return thread.thread_tag


def _tag(mark: LoopMark) -> str:
    """Return the tag of the thread axis that a loop is bound to; nothing where it is not bound."""
    return "" if mark.thread is None else mark.thread.thread_tag


def _check_reduction(stage: StageView, axis: IterVar, tag: str) -> None:
    """Raise ScheduleError where what the iterations of a loop that reduces compute could not be combined."""
    state = stage.state
    if not tag.startswith("threadIdx"):
        who = "virtual threads" if tag in VIRTUAL_TAGS else "blocks"
        because = f"its iterations combine into one element, and {who} cannot combine what they computed"
        legal = f'{data_axes_of(stage)}; threadIdx; reduce_update="atomic"; or s.rfactor, for a data axis to bind'
        raise cannot("bind", axis, stage, because, legal, to=tag)
    data = (own for own in own_axes(state.op) if own.kind is AxisKind.DATA)
    fused = next((own for own in data if axis in carrying([own], state.relations)), None)
    if fused is not None:
        because = f"'{fused.name}' of the data is fused into it, so its iterations are of several elements"
        raise cannot("bind", axis, stage, because, "fuse reduce axes with each other only", to=tag)


def _check_declared(stage: StageView, axis: IterVar, thread: IterVar) -> None:
    """Raise ScheduleError where the loop has another extent than the thread axis was declared with."""
    if thread.dom is None:
        return
    start, declared, found = constant(thread.dom.min), constant(thread.dom.extent), thread_extent(stage.state, axis)
    if start != 0:
        because = f"the thread axis was declared to start at {show(thread.dom.min)}, and threads count from 0"
    elif None not in (declared, found) and declared != found:
        because = f"the loop has {found} iterations, and the thread axis was declared with {declared}"
    else:
        return
    raise cannot(
        "bind",
        axis,
        stage,
        because,
        f'te.thread_axis("{thread.thread_tag}"), which has the extent of its loop',
        to=thread.thread_tag,
    )
