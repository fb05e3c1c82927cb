"""What a kernel may not do: bind blocks twice, divide block memory among blocks, pass registers between threads."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..arith.overlap import Overlap
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir.matrix import is_fragment
from ..ir.stmt import Across, Alloc, Buffer, Evaluate, For, LoopKind, Seq, Stmt, Store
from ..ir.visit import rewrite, walk
from .accesses import bound_vars, stored_here
from .conflicts import reads_apart
from .events import Events, Scope, is_barrier


def check_kernel(root: Stmt) -> None:
    """Raise ScheduleError where the nest cannot be one kernel."""
    _check_blocks(root, root, ())
    _check_joins(root, {})
    writers = thread_writers(root)
    for node in walk(root):
        if isinstance(node, Alloc):
            _check_alloc(root, node, writers[node])


def _check_blocks(root: Stmt, node: Stmt, blocks: tuple[str, ...]) -> None:
    """Refuse a loop over blocks inside one over the same blocks, or beside work that those blocks would repeat."""
    if isinstance(node, For) and node.kind is LoopKind.THREAD and node.thread.startswith("blockIdx"):
        if node.thread in blocks:
            _refuse_blocks(root, node)
        blocks = (*blocks, node.thread)
    for part in node.substatements():
        _check_blocks(root, part, blocks)


def _check_joins(node: Stmt, around: dict[str, For]) -> None:
    """Refuse a reduction that threads share out inside a loop over those same threads: each would need all of them."""
    if isinstance(node, For) and node.kind is LoopKind.THREAD:
        around = {**around, node.thread: node}
    for tag in (tag for tag in (node.threads if isinstance(node, Across) else ()) if tag in around):
        raise ScheduleError(
            f"the threads of {tag} share out the reduction of {last_store(node)}",
            because=f"each of them runs an iteration of '{around[tag].var.name}', with a reduction of its own in it",
            legal=f"compute_at outside the loop bound to {tag}, or bind one of both loops to another thread axis",
            location=node.loc,
        )
    for part in node.substatements():
        _check_joins(part, around)


def _refuse_blocks(root: Stmt, node: Stmt) -> None:
    inner, outer = _first_store(node), last_store(root)
    raise ScheduleError(
        f"stage {inner} is attached inside {outer}'s kernel; it may bind threads, not blocks",
        because=f"{outer}'s blocks would each run all of {inner}'s blocks",
        legal=f"bind {inner} to threads only, or compute_root",
        location=node.loc,
    )


def _first_store(node: Stmt) -> str:
    return next((below.buffer.name for below in walk(node) if isinstance(below, Store)), "(no store)")


def last_store(node: Stmt) -> str:
    """Return what the work of `node` itself is called: the last buffer it stores to, or lets a call store to."""
    written = (
        below.buffer.name
        for below in walk(node)
        if isinstance(below, Store) or (isinstance(below, E.Address) and "w" in below.mode)
    )
    return next(iter([*written][::-1]), "(no store)")


def _check_alloc(root: Stmt, node: Alloc, writers: Sequence[For]) -> None:
    buffer = node.buffer
    if buffer.scope == "global":
        raise ScheduleError(
            f"buffer {buffer.name} is in global memory but computed inside {last_store(root)}'s kernel",
            because="a kernel cannot allocate global memory",
            legal=f"compute_root, or set_scope('shared') or set_scope('local') of {buffer.name}",
            location=buffer.loc or node.loc,
        )
    for loop in writers:
        if loop.thread.startswith("blockIdx"):
            _refuse_blocks(root, loop)
        if loop.thread.startswith("threadIdx") and is_fragment(buffer):
            _refuse_shared_out(buffer, loop)


def _refuse_shared_out(buffer: Buffer, loop: For) -> None:
    raise ScheduleError(
        f"the matrices of {buffer.name} are shared out among the threads of {loop.thread}",
        because=f"{buffer.scope} memory is the registers of one warp, and another warp cannot read them",
        legal=f"compute_at of {buffer.name} inside the loop bound to {loop.thread}",
        location=buffer.loc or loop.loc,
    )


def thread_writers(root: Stmt) -> dict[Alloc, tuple[For, ...]]:
    """Return by allocation the thread loops inside it that divide the stores to its buffer, outer ones first.

    One walk finds all: a kernel may allocate hundreds.
    """
    found: dict[Alloc, dict[For, None]] = {}
    living: dict[Buffer, tuple[Alloc, int]] = {}

    def visit(node: Stmt, around: tuple[For, ...]) -> None:
        if isinstance(node, Alloc):
            found[node], living[node.buffer] = {}, (node, len(around))
        elif isinstance(node, For) and node.kind is LoopKind.THREAD:
            around = (*around, node)
        for buffer in stored_here(node) & living.keys():
            alloc, outside = living[buffer]
            found[alloc].update(dict.fromkeys(around[outside:]))
        for part in node.substatements():
            visit(part, around)

    visit(root, ())
    return {alloc: tuple(loops) for alloc, loops in found.items()}


def writer_tags(root: Stmt) -> dict[Alloc, frozenset[str]]:
    """Return by allocation the thread axes among whose threads loops inside it divide the stores to its buffer."""
    return {alloc: frozenset(loop.thread for loop in loops) for alloc, loops in thread_writers(root).items()}


def check_local(node: Alloc, owners: Collection[E.Var], tags: Collection[str]) -> None:
    """Refuse registers that one thread of `owners` fills and another reads."""
    if _keep_apart(node, owners):
        return
    name = node.buffer.name
    raise ScheduleError(
        f"{node.buffer.scope} buffer {name} read by another thread",
        because=f"the threads of {', '.join(sorted(tags))} divide its elements, each in registers of its own",
        legal=f"set_scope('shared') of {name}, or compute_at inside the loop bound to the thread",
        location=node.buffer.loc or node.loc,
    )


def check_block_memory(node: Alloc, owners: Collection[E.Var], tags: Collection[str]) -> None:
    """Refuse memory of a block, or of its threads, that one block of `owners` fills and another reads."""
    if _keep_apart(node, owners):
        return
    name = node.buffer.name
    raise ScheduleError(
        f"{node.buffer.scope} buffer {name} read by another block",
        because=f"the blocks of {', '.join(sorted(tags))} divide its elements, each in memory of its own",
        legal=f"bind {name} to threads only, so that each block has all of it; or set_scope('global') of {name}",
        location=node.buffer.loc or node.loc,
    )


def _keep_apart(node: Alloc, owners: Collection[E.Var]) -> bool:
    """Return whether each owner reads only what it wrote. Barriers are no help: each has memory of its own."""
    body = rewrite(node.body, stmts={Evaluate: lambda stmt: Seq(()) if is_barrier(stmt) else stmt})
    touches = Events([node.buffer]).first(body, Scope(varying=frozenset(owners)))
    return reads_apart(Overlap(owners, bound_vars(body).__contains__), node.buffer, touches)
