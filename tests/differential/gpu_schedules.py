"""Random schedules for a GPU: how each kernel's loops become blocks and threads, and what is computed inside them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.te.tensor import ScanOp

from .dataflow import rewritten
from .draw import Case, Draw
from .memory import laid_out
from .persistent import let_threads_live

DIMENSIONS = "xyz"
ROLES = ("both", "both", "both", "block", "thread", "serial")
"""Whether an axis is split over blocks and threads, bound to one of them, or left a loop."""
MOST_THREADS = 64
"""In a block, as far as the schedule decides it: the interpreter runs each of them."""


@dataclass(frozen=True)
class AxisPlan:
    """What becomes of one axis: blocks of `threads` threads that do `inner` iterations each; "" binds to none.

    `inner_kind` is what becomes of those: the name of a primitive, or a dimension of threads.
    """

    block: str
    thread: str
    threads: int
    inner: int
    inner_kind: str
    by_parts: bool


@dataclass(frozen=True)
class KernelPlan:
    """What becomes of a stage's axes: the first `fused` of those over data are one, the others stand alone.

    A reduction is split by `reduce_factor`. Unless they are "", `reduce_thread` shares the inner loop out, and blocks
    along `reduce_block` the outer one, by atomic updates.
    """

    fused: int
    axes: tuple[AxisPlan, ...]
    blocks_first: bool
    reduce_factor: int
    reduce_first: bool
    reduce_thread: str
    reduce_block: str


def random_gpu_schedule(case: Case, draw: Draw) -> Any:
    """Return a schedule of `case` in which every stage runs on the GPU: in a kernel of its own or inside another's."""
    schedule = te.create_schedule([tensor.op for tensor in case.expected])
    scans = [stage.op for stage in schedule.stages if isinstance(stage.op, ScanOp)]
    living = bool(scans) and draw.rng.random() < 0.3
    done = let_threads_live(schedule, draw.rng.choice(scans), case, draw) if living else {}
    alike = draw.rng.random() < 0.7
    plans: dict[int, KernelPlan] = {}
    stages = list(case.stages) if living else rewritten(schedule, case, draw)
    for tensor in reversed(stages):
        if tensor in done:
            continue
        stage = schedule[tensor]
        if _inlined(stage, tensor, case, draw) or _inside(schedule, tensor, case, draw):
            continue
        rank = len(data_axes(stage))
        plan = plans.setdefault(rank, kernel_plan(rank, draw)) if alike else kernel_plan(rank, draw)
        bind(stage, plan)
    return schedule if living else laid_out(schedule, stages, draw)


def data_axes(stage: Any) -> list[Any]:
    """Return the axes of a stage that blocks and threads may share out: no reduction, and no time in a scan."""
    in_time = stage.state.feeds is not None or stage.state.group is not None
    return list(stage.op.axis[in_time:])


def kernel_plan(rank: int, draw: Draw) -> KernelPlan:
    """Draw a plan for stages with that many data axes; at least one axis is bound."""
    rng = draw.rng
    fused = rng.choice([1, 1, 1, min(2, rank), rank]) if rank else 0
    fused = max(fused, rank - len(DIMENSIONS) + 1)
    count = max(rank - fused + 1, 1)
    drawn = _AxisPlans(draw, count)
    factor, thread = drawn.reduction()
    axes = tuple(drawn.axis(number) for number in range(count))
    blocks_first, reduce_first = rng.random() < 0.7, rng.random() < 0.5
    return KernelPlan(fused, axes, blocks_first, factor, reduce_first, thread, drawn.updating_block())


class _AxisPlans:
    """Draws what becomes of the axes of one stage; `room` is how many threads a block may still get."""

    def __init__(self, draw: Draw, count: int) -> None:
        self.rng, self.factor, self.count = draw.rng, draw.factor, count
        self.room = MOST_THREADS
        self.blocks, self.threads = self.rng.sample(DIMENSIONS, 3), self.rng.sample(DIMENSIONS, 3)
        self.spare = self.threads[count:]

    def axis(self, number: int) -> AxisPlan:
        """Draw the plan of one axis; the first is always bound."""
        rng = self.rng
        sizes = (1, 2, 3, 4, self.factor, self.factor + 1, 16, 32) if self.count < 3 else (2, 3, 4, 5)
        size = rng.choice([size for size in sizes if size <= self.room])
        role = rng.choice(ROLES[:-1] if number == 0 else ROLES)
        block = self.blocks[number] if role in ("both", "block") else ""
        thread = self.threads[number] if role in ("both", "thread") else ""
        self.room //= size if thread else 1
        inner = rng.choice([1, 1, 1, 2, 3, 4])
        return AxisPlan(block, thread, size, inner, self._inner_kind(inner), rng.random() < 0.25)

    def reduction(self) -> tuple[int, str]:
        """Draw by what a reduction is split, and the dimension of threads that shares it out, if any."""
        factor = self.rng.choice([1, 1, 2, 3, self.factor, 8, 32])
        if factor == 1 or factor > self.room or not self.spare or self.rng.random() < 0.4:
            return factor, ""
        self.room //= factor
        return factor, self.spare.pop()

    def updating_block(self) -> str:
        """Draw the dimension of blocks that update results of a reduction together, if any."""
        return self.blocks[self.count] if self.count < 3 and self.rng.random() < 0.4 else ""

    def _inner_kind(self, length: int) -> str:
        """Draw what becomes of the loop inside the threads: the name of a primitive, or a dimension of threads."""
        kind = self.rng.choice(["serial", "vectorize", "vectorize", "unroll", "parallel", "bind", "bind"])
        if kind != "bind":
            return kind
        if not self.spare or length > self.room:
            return "serial"
        self.room //= length
        return self.spare.pop()


def bind(stage: Any, plan: KernelPlan) -> None:
    """Split, order and bind a stage's loops as the plan says."""
    axes = data_axes(stage)
    if plan.fused > 1:
        axes = [stage.fuse(*axes[: plan.fused]), *axes[plan.fused :]]
    blocks: list[Any] = []
    threads: list[Any] = []
    inner: list[Any] = []
    for axis, part in zip(axes, plan.axes, strict=False):
        _divide(stage, axis, part, (blocks, threads, inner))
    if not blocks and not threads:
        singleton = stage.op.axis[0] if stage.op.axis else stage.fuse()
        stage.bind(singleton, te.thread_axis("threadIdx.x"))
        return
    reduced = _reduced(stage, plan.reduce_factor)
    if len(reduced) > 1 and plan.reduce_factor > 1 and plan.reduce_thread:
        stage.bind(reduced[1], te.thread_axis(f"threadIdx.{plan.reduce_thread}"))
    if reduced and plan.reduce_block:
        with suppress(ScheduleError):
            stage.bind(reduced[0], te.thread_axis(f"blockIdx.{plan.reduce_block}"), reduce_update="atomic")
    ordered = [*blocks, *threads, *(reduced + inner if plan.reduce_first else inner + reduced)]
    if plan.blocks_first:
        stage.reorder(*ordered)


def _divide(stage: Any, axis: Any, part: AxisPlan, found: tuple[list[Any], list[Any], list[Any]]) -> None:
    """Split one axis into blocks, threads and what each thread does; add the loops to those found."""
    blocks, threads, inner = found
    if part.inner > 1:
        axis, last = stage.split(axis, factor=part.inner)
        inner.append(last)
        if part.inner_kind in DIMENSIONS:
            stage.bind(last, te.thread_axis(f"threadIdx.{part.inner_kind}"))
        else:
            _mark(stage, last, part.inner_kind)
    if part.block and part.thread:
        lengths = {"nparts": part.threads} if part.by_parts else {"factor": part.threads}
        loops = stage.split(axis, **lengths)
        outer, thread = loops[::-1] if part.by_parts else loops
        stage.bind(outer, te.thread_axis(f"blockIdx.{part.block}"))
        stage.bind(thread, te.thread_axis(f"threadIdx.{part.thread}"))
        blocks.append(outer)
        threads.append(thread)
    elif part.block:
        stage.bind(axis, te.thread_axis(f"blockIdx.{part.block}"))
        blocks.append(axis)
    elif part.thread:
        thread, rest = stage.split(axis, nparts=part.threads)
        stage.bind(thread, te.thread_axis(f"threadIdx.{part.thread}"))
        threads.append(thread)
        inner.append(rest)
    else:
        inner.append(axis)


def _mark(stage: Any, loop: Any, kind: str) -> None:
    """Vectorize a loop, unroll it, or the like, unless that is refused: a second parallel loop is."""
    if kind != "serial":
        with suppress(ScheduleError):
            getattr(stage, kind)(loop)


def _reduced(stage: Any, factor: int) -> list[Any]:
    """Return the loops of the reduction, the first split."""
    axes = list(stage.op.reduce_axis)
    if axes and factor > 1:
        return [*stage.split(axes[0], factor=factor), *axes[1:]]
    return axes


def _inlined(stage: Any, tensor: Any, case: Case, draw: Draw) -> bool:
    if tensor in case.args or draw.rng.random() > 0.15:
        return False
    try:
        stage.compute_inline()
    except ScheduleError:
        return False
    return True


def _inside(schedule: Any, tensor: Any, case: Case, draw: Draw) -> bool:
    """Compute a stage inside the kernel of its one reader at times: by the block's threads, or by each thread."""
    readers = schedule.readers[tensor.op]
    if tensor in case.args or not readers or draw.rng.random() < (0.35 if len(readers) == 1 else 0.6):
        return False
    reader, stage = schedule[readers[-1]], schedule[tensor]
    loops = list(reader.leaf_iter_vars)
    if not loops or isinstance(reader.op, ScanOp):
        return False
    try:
        stage.compute_at(reader, draw.rng.choice(loops))
    except ScheduleError:
        return False
    _cooperate(schedule, stage, draw)
    return True


def _cooperate(schedule: Any, stage: Any, draw: Draw) -> None:
    """Say which memory the stage's result is in, and which threads share its work."""
    rng = draw.rng
    tags = tags_around(schedule, stage)
    in_threads = any(tag.startswith("threadIdx") for tag in tags)
    shared = rng.random() < (0.5 if in_threads else 0.9)
    if shared == in_threads:
        stage.set_scope("shared" if shared else "local")
    axes = list(stage.op.axis)
    if shared and axes and rng.random() < 0.8:
        _share_out(stage, axes, tags, draw)
    elif axes and rng.random() < 0.5:
        _, last = stage.split(axes[-1], factor=rng.choice([2, 4]))
        _mark(stage, last, rng.choice(["vectorize", "unroll", "parallel"]))


def _share_out(stage: Any, axes: list[Any], tags: list[str], draw: Draw) -> None:
    """Bind one or two loops of a stage that a block computes together: the last two axes apart, or all as one."""
    rng = draw.rng
    around = sorted({tag for tag in tags if tag.startswith("threadIdx")})
    threads = around + [tag for tag in ("threadIdx.x", "threadIdx.y") if tag not in around]
    if len(axes) == 1 or rng.random() < 0.6:
        axes = [stage.fuse(*axes)]
    for axis, thread in zip(axes[-2:], threads, strict=False):
        size = rng.choice([2, 4, 7, draw.factor] if len(axes) > 1 else [2, 4, draw.factor, 16])
        if rng.random() < 0.5:
            _, axis = stage.split(axis, factor=size)
        else:
            axis, _ = stage.split(axis, nparts=size)
        stage.bind(axis, te.thread_axis(thread))


def tags_around(schedule: Any, stage: Any) -> list[str]:
    """Return the threads that the loops around a stage are bound to, up to the kernel's outermost."""
    found: list[str] = []
    while hasattr(stage.state.attach, "axis"):
        around = schedule[stage.state.attach.op]
        leaves = around.state.leaves
        for axis in leaves[: leaves.index(schedule.attach_axis(stage.origin)) + 1]:
            mark = around.state.loops.get(axis)
            if mark is not None and mark.thread is not None:
                found.append(mark.thread.thread_tag)
        stage = around
    return found
