"""One kernel: all steps of a scan whose threads live over them, with barriers of the whole grid between steps.

    for bx in thread("blockIdx.x", 24):                  for bx in thread("blockIdx.x", 24):
        for tx in thread("threadIdx.x", 96):                 for tx in thread("threadIdx.x", 96):
            W_local[bx, tx] = W[...]               ->            W_local[bx, tx] = W[...]
    for t in range(1, m):  # one kernel                      for t in range(1, m):
        for bx in thread("blockIdx.x", 24):                      for tx in thread("threadIdx.x", 96):
            for tx in thread("threadIdx.x", 96):                     h[t, ...] = h[t - 1, ...] ...
                h[t, ...] = h[t - 1, ...] ...                    barrier_grid()

A barrier of the grid stands where a block needs what another one did, and nowhere else. On the left any order of the
threads gives the same; on the right they must run at once, so this is part of making kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..arith.overlap import Overlap
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.stmt import Alloc, Evaluate, For, If, LoopKind, Seq, Stmt, in_order
from ..ir.subst import substitute_stmt
from ..ir.visit import rewrite, walk
from ..lowering.living import ONE_KERNEL
from .accesses import allocated, bound_vars, loaded, stored, uses
from .conflicts import reads_apart
from .events import GRID_BARRIER, Events, Scope, is_grid_barrier
from .kernel_checks import check_block_memory, last_store, writer_tags
from .one_launch import meeting

ONE = make.const(1, INDEX)
Blocks = dict[str, E.Var]
"""The indices of the blocks that live over all steps, by tag."""


def merged(stmt: Stmt) -> Stmt:
    """Return a statement of the host's part with each scan that is to be one kernel as one nest of thread loops."""
    loop = next((node for node in walk(stmt) if isinstance(node, For) and _tags(node)), None)
    if loop is None:
        return stmt
    match stmt:
        case Seq():
            return _among(stmt.stmts, _tags(loop))
        case Alloc() if stmt.buffer.scope != "global":
            return _kernel(stmt, _blocks(loop))
        case For() if _tags(stmt):
            return _kernel(stmt, _blocks(loop))
        case _:
            return stmt.map(merged, lambda expr: expr)


def _tags(loop: For) -> list[str]:
    """Return the tags of the threads that run all steps of a loop in one kernel; none for any other loop."""
    given = str(dict(loop.pragmas).get(ONE_KERNEL, ""))
    return [thread.split("=")[0] for thread in given.split()]


def _among(stmts: Sequence[Stmt], tags: Sequence[str]) -> Stmt:
    """Merge the statement that has the steps, with those just before it that are nests of the same blocks."""
    steps = [next((node for node in walk(part) if isinstance(node, For) and _tags(node)), None) for part in stmts]
    at, loop = next((number, loop) for number, loop in enumerate(steps) if loop is not None)
    first = at
    while first and _is_nest(stmts[first - 1], tags, _blocks(loop)):
        first -= 1
    kernel = merged(stmts[at]) if first == at else _kernel(Seq(tuple(stmts[first : at + 1])), _blocks(loop))
    return Seq((*stmts[:first], *in_order(kernel), *map(merged, stmts[at + 1 :])))


def _is_nest(stmt: Stmt, tags: Sequence[str], blocks: Blocks) -> bool:
    """Return whether a statement is a nest of those threads, in as many blocks as live over the steps."""
    loops = [node for node in walk(stmt) if isinstance(node, For) and node.thread.startswith("blockIdx")]
    same = all(loop.thread in blocks and loop.extent is blocks[loop.thread].extent for loop in loops)
    return isinstance(stmt, For) and stmt.thread in tags and same


def _blocks(loop: For) -> Blocks:
    """Return a variable for each index of the blocks that run all steps of a loop; there is one block at least."""
    given = dict(thread.split("=") for thread in str(dict(loop.pragmas)[ONE_KERNEL]).split())
    extents = {tag: extent for tag, extent in given.items() if tag.startswith("blockIdx")} or {"blockIdx.x": "1"}
    zero = make.const(0, INDEX)
    return {tag: E.Var(tag.replace(".", "_"), INDEX, zero, make.index(int(n))) for tag, n in extents.items()}


def _kernel(stmt: Stmt, blocks: Blocks) -> Stmt:
    """Return the statement as one nest of thread loops, with memory that all of the grid shares around it."""
    held = [node for node in walk(stmt) if isinstance(node, Alloc) and node.buffer.scope == "global"]
    steps = {var for node in walk(stmt) if isinstance(node, For) for var in [node.var]}
    for node in held:
        if any(uses(extent, steps) for extent in node.buffer.shape):
            raise ScheduleError(
                f"'{node.buffer.name}' in each step of a kernel that runs all steps",
                because=f"its shape {node.buffer.shape!r} changes from step to step, and a kernel allocates no memory",
                legal="a stage of constant shape in each step, or no env_threads",
                location=node.loc,
            )
    inside = rewrite(stmt, stmts={Alloc: lambda node: node.body if node.buffer.scope == "global" else node})
    body = _Meetings(blocks).stmt(inside, []).stmt
    _check_memory(stmt, body, blocks)
    for tag, var in reversed(blocks.items()):
        body = For(var, LoopKind.THREAD, body, tag, loc=stmt.loc or body.loc)
    for node in reversed(held):
        body = node.copy(body=body)
    return body


def _check_memory(stmt: Stmt, merged: Stmt, blocks: Blocks) -> None:
    """Raise ScheduleError where loops of `stmt` over living blocks divide memory among them of which another reads."""
    tags = {alloc.buffer: found & blocks.keys() for alloc, found in writer_tags(stmt).items()}
    for node in walk(merged):
        if isinstance(node, Alloc) and tags[node.buffer]:
            check_block_memory(node, [blocks[tag] for tag in tags[node.buffer]], tags[node.buffer])


class Step(NamedTuple):
    """A statement as threads run it that live over all steps; what it leaves to be waited for, and what it asks for
    before its first barrier."""

    stmt: Stmt
    pending: list[Stmt]
    first: list[Stmt]


class _Meetings:
    """Takes the loops over living blocks away, and puts barriers of the grid between what blocks do to each other."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.loops = [For(var, LoopKind.THREAD, Seq(())) for var in blocks.values()]

    def stmt(self, node: Stmt, pending: list[Stmt]) -> Step:
        """Return a statement behind `pending`, the nests that ran since the last barrier."""
        match node:
            case Seq():
                return self.sequence(node.stmts, pending)
            case Alloc():
                inner = self.stmt(node.body, pending)
                return inner._replace(stmt=node.copy(body=inner.stmt))
            case If():
                return self.branch(node, pending)
            case For() if not node.thread and any(isinstance(below, For) and below.thread for below in walk(node.body)):
                return self.loop(node, pending)
            case _:
                return self.nest(node, pending)

    def sequence(self, stmts: Sequence[Stmt], pending: list[Stmt]) -> Step:
        steps: list[Stmt] = []
        first: list[Stmt] = []
        met = False
        for part in stmts:
            step = self.stmt(part, pending)
            steps += in_order(step.stmt)
            first += [] if met else step.first
            met = met or any(is_grid_barrier(below) for below in walk(step.stmt))
            pending = step.pending
        return Step(Seq(tuple(steps)), pending, first)

    def branch(self, node: If, pending: list[Stmt]) -> Step:
        """What either side needs is waited for before both: all blocks come to the same side."""
        sides = [side for side in (node.then, node.otherwise) if side is not None]
        nests = [nest for side in sides for nest in self.stmt(side, []).first]
        barrier = self.barrier(pending, nests)
        pending = [] if barrier else pending
        then = self.stmt(node.then, [])
        otherwise = None if node.otherwise is None else self.stmt(node.otherwise, [])
        after = [*pending, *then.pending, *(otherwise.pending if otherwise else ())]
        new = node.copy(then=then.stmt, otherwise=otherwise.stmt if otherwise else None)
        return Step(Seq((*barrier, new)) if barrier else new, after, [] if barrier else nests)

    def loop(self, node: For, pending: list[Stmt]) -> Step:
        """What is waited for from before the loop, before it; what an iteration needs of the one before, at its end."""
        step = self.stmt(node.body, [])
        before = self.barrier(pending, step.first)
        pending = [] if before else pending
        again = self.barrier(step.pending, step.first, node.var)
        body = Seq((*in_order(step.stmt), *again)) if again else step.stmt
        left = [] if again else step.pending
        pragmas = tuple(pragma for pragma in node.pragmas if pragma[0] != ONE_KERNEL)
        new = node.copy(body=body, pragmas=pragmas)
        return Step(Seq((*before, new)) if before else new, [*pending, *left], [] if before else step.first)

    def nest(self, node: Stmt, pending: list[Stmt]) -> Step:
        """Return a nest of thread loops in the blocks that there are."""
        own = self.inside(node)
        self.check(own)
        barrier = self.barrier(pending, [own])
        return Step(Seq((*barrier, own)) if barrier else own, [own] if barrier else [*pending, own], [own])

    def inside(self, node: Stmt) -> Stmt:
        """Return a nest without its loops over living blocks."""
        if not isinstance(node, For):
            return node.map(self.inside, lambda expr: expr)
        var = self.blocks.get(node.thread)
        if var is None or node.extent is not var.extent:
            self.check_blocks(node)
            return node.copy(body=self.inside(node.body))
        return self.inside(substitute_stmt(node.body, {node.var: var}))

    def barrier(self, before: Sequence[Stmt], after: Sequence[Stmt], carrier: E.Var | None = None) -> list[Stmt]:
        """Return the barrier, if any, that must stand between statements, the first of an earlier iteration of the
        loop over `carrier` where there is one."""
        for a in before:
            for b in after:
                if self.meet(a, b, carrier):
                    return [Evaluate(GRID_BARRIER, loc=b.loc)]
        return []

    def meet(self, a: Stmt, b: Stmt, carrier: E.Var | None = None) -> bool:
        """Return whether a block touches what another one does."""
        private = bound_vars(a) | bound_vars(b) | ({carrier} if carrier is not None else set())
        return meeting(self.loops, a, b, private) is not None

    def check_blocks(self, loop: For) -> None:
        """Raise ScheduleError for a loop over blocks that do not live over all steps: for each of those that do, every
        one of its iterations would be there, and none waits for another."""
        if loop.thread.startswith("blockIdx") and loop.extent is not ONE:
            living = ", ".join(f"{tag}={var.extent!r}" for tag, var in self.blocks.items())
            raise ScheduleError(
                f"{loop.thread} runs '{loop.var.name}' of {last_store(loop)} in a kernel that runs all steps",
                because=f"the blocks that live over the steps are {living}",
                legal=f"env_threads with {loop.thread} too, or a loop bound to these or to threads of a block",
                location=loop.loc,
            )

    def check(self, nest: Stmt) -> None:
        """Raise ScheduleError where a block reads in a nest what another one writes in it."""
        blocks = frozenset(self.blocks.values())
        overlap = Overlap(blocks, bound_vars(nest).__contains__)
        for buffer in (stored(nest) & loaded(nest)) - allocated(nest):
            events = Events([buffer]).first(nest, Scope(varying=blocks))
            if not reads_apart(overlap, buffer, events):
                raise ScheduleError(
                    f"'{buffer.name}' is read and written in one nest of a kernel that runs all steps",
                    because="a block reads in it what another one writes, and blocks wait between nests only",
                    legal="compute what is read in a nest of its own: compute_root, bound to the same threads",
                    location=nest.loc,
                )
