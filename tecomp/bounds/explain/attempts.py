"""What could be done to a stage now: every primitive is tried, on every loop, without being applied.

A primitive looks and decides before anything is changed, so that its refusal tells why not, word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from ...errors import ScheduleError, TecompError
from ...ir.axis import AxisKind, IterVar
from ...ir.make import TRUE
from ...schedule import loops, mark, place, storage
from ...schedule.cache_read import cache_read
from ...schedule.cache_write import cache_write
from ...schedule.duplicate import duplicate
from ...schedule.env import env_threads
from ...schedule.pad import pad
from ...schedule.prefetch import prefetch
from ...schedule.reverse import reverse_compute_at
from ...schedule.rfactor import rfactor
from ...schedule.schedule import Stage
from ...schedule.tensorize import check_loops
from ...schedule.transform import check_layout
from ...te.axis import thread_axis
from ...te.tensor import ComputeOp, Operation, ScanOp


class Attempt(NamedTuple):
    """Whether a primitive is legal; `because` says why not."""

    primitive: str
    because: str = ""


Try = Callable[[Stage, IterVar], Any]


def _decide(method: Any) -> Callable[..., Any]:
    """Return what a primitive's method does before it changes anything."""
    return method.__wrapped__


def _neighbours(change: Callable[..., Any]) -> Try:
    def attempt(stage: Stage, axis: IterVar) -> Any:
        leaves = stage.leaf_iter_vars
        return change(stage, *leaves[leaves.index(axis) :][:2][::-1])

    return attempt


def _bound(tag: str) -> Try:
    return lambda stage, axis: _decide(mark.bind)(stage, axis, thread_axis(tag))


def _in_a_loop(change: Callable[[Stage], Any]) -> Callable[[Stage], Any]:
    """Refuse a stage that is in no loop now: what memory keeps over iterations needs some."""

    def attempt(stage: Stage) -> Any:
        changed = change(stage)
        if stage.attach_stage is not None:
            return changed
        raise ScheduleError("at the root", "it is computed at the root, in no loop", "compute_at a loop of a reader")

    return attempt


def _readers(stage: Stage) -> list[Operation]:
    return list(stage.plan.readers[stage.origin])


def _prefetched(stage: Stage, axis: IterVar) -> Any:
    return _any(_decide(prefetch), [(stage, read, axis, 1) for read in stage.op.input_tensors])


def _moved(stage: Stage) -> Any:
    read = [Stage(stage.plan, tensor.op) for tensor in stage.op.input_tensors]
    return _any(_decide(reverse_compute_at), [(stage, other, axis) for other in read for axis in other.leaf_iter_vars])


def _any(change: Callable[..., Any], candidates: Sequence[tuple[Any, ...]]) -> Any:
    """Return what the first of the arguments that are not refused gives; raise the last refusal where all are."""
    for arguments in candidates[:-1]:
        with suppress(TecompError):
            return change(*arguments)
    if not candidates:
        raise ScheduleError("of what is read", "it reads no tensor in loops", "a stage that reads one")
    return change(*candidates[-1])


ON_LOOPS: Final[dict[str, Try]] = {
    "split": lambda stage, axis: _decide(loops.split)(stage, axis, factor=2),
    "fuse with the next": _neighbours(_decide(loops.fuse)),
    "reorder with the next": _neighbours(_decide(loops.reorder)),
    "unroll": _decide(mark.unroll),
    "vectorize": _decide(mark.vectorize),
    "parallel": _decide(mark.parallel),
    "bind to blockIdx": _bound("blockIdx.x"),
    "bind to threadIdx": _bound("threadIdx.x"),
    "bind to vthread": _bound("vthread"),
    "pragma": lambda stage, axis: _decide(mark.pragma)(stage, axis, "auto_unroll_max_step", 16),
    "storage_align": lambda stage, axis: _decide(storage.storage_align)(stage, axis, 32, 0),
    "tensorize": lambda stage, axis: check_loops(stage, axis, "an intrinsic"),
    "prefetch": _prefetched,
    "pad": lambda stage, axis: _decide(pad)(stage, axis, 4),
    "rfactor": lambda stage, axis: _decide(rfactor)(stage.plan, stage.origin.output(0), axis),
}
"""What is tried on each loop."""

ON_STAGES: Final[dict[str, Callable[[Stage], Any]]] = {
    "compute_inline": _decide(place.compute_inline),
    "compute_root": _decide(place.compute_root),
    **{
        f"set_scope({scope!r})": lambda stage, scope=scope: _decide(place.set_scope)(stage, scope)
        for scope in ("global", "shared", "shared.dyn", "warp", "local")
    },
    "reverse_compute_at": _moved,
    "transform_layout": check_layout,
    "set_store_predicate": lambda stage: _decide(place.set_store_predicate)(stage, TRUE),
    "env_threads": lambda stage: _decide(env_threads)(stage, [thread_axis((0, 32), "threadIdx.x")]),
    "double_buffer": _in_a_loop(_decide(storage.double_buffer)),
    "rolling_buffer": _in_a_loop(_decide(storage.rolling_buffer)),
    "cache_read": lambda stage: _decide(cache_read)(stage.plan, stage.origin.output(0), "global", _readers(stage)),
    "duplicate": lambda stage: _decide(duplicate)(stage.plan, stage.origin.output(0), _readers(stage)[:1]),
    "cache_write": lambda stage: _decide(cache_write)(stage.plan, list(stage.origin.outputs), "global"),
}
"""What is tried on the stage itself."""
ONLY_OF: Final[dict[str, type[Operation]]] = {"cache_write": ComputeOp, "env_threads": ScanOp}
"""What is tried on these operations only."""


def on_loop(stage: Stage, axis: IterVar) -> Iterator[Attempt]:
    """Yield what happens to each primitive on a loop; what concerns reductions is tried on these only."""
    last = stage.leaf_iter_vars[-1] is axis
    for name, attempt in ON_LOOPS.items():
        if (last and name.endswith("the next")) or (name == "rfactor" and axis.kind is not AxisKind.REDUCE):
            continue
        yield _attempted(name, lambda attempt=attempt: attempt(stage, axis))


def on_stage(stage: Stage) -> Iterator[Attempt]:
    """Yield what happens to each primitive on a stage."""
    for name, attempt in ON_STAGES.items():
        if not isinstance(stage.op, ONLY_OF.get(name, Operation)):
            continue
        yield _attempted(name, lambda attempt=attempt: attempt(stage))


def _attempted(name: str, attempt: Callable[[], Any]) -> Attempt:
    try:
        attempt()
    except TecompError as refusal:
        return Attempt(name, refusal.because or refusal.asked.removeprefix(f"{name}: "))
    return Attempt(name)
