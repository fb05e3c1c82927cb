"""Launch: maximal nests of thread loops become kernels, one variable for each thread axis; the rest is the host's.

    for i_o in thread("blockIdx.x", (n + 255) // 256):       with launch(blockIdx_x=(n + 255) // 256, threadIdx_x=256):
        for i_i in thread("threadIdx.x", 256):          ->       if blockIdx_x*256 + threadIdx_x < n:
            if i_o*256 + i_i < n:                                    B[blockIdx_x*256 + threadIdx_x] = ...
                B[i_o*256 + i_i] = ...

Serial loops around a nest stay on the host, which launches once an iteration. On a CPU there are no threads to launch:
thread loops are refused.
"""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir.expr import Call, Load
from ..ir.foreign import foreign
from ..ir.func import Func, Level
from ..ir.stmt import Alloc, Evaluate, For, If, LoopKind, Stmt, Store
from ..ir.visit import walk
from ..target import Target
from .accesses import has, joined_across
from .kernel import kernel
from .kernel_checks import last_store
from .one_kernel import merged


def run(func: Func, target: Target) -> Func:
    """Return `func` at level DEVICE."""
    if target.kind != "cuda":
        _refuse_threads(func, target)
        return func.with_body(func.body, Level.DEVICE)
    return func.with_body(_host(merged(func.body)), Level.DEVICE)


def _refuse_threads(func: Func, target: Target) -> None:
    for node in walk(func.body):
        if isinstance(node, For) and node.kind is LoopKind.THREAD:
            raise ScheduleError(
                f"stage {last_store(node)} is bound to {node.thread}",
                because=f"the target {target} has no such threads",
                legal='parallel, vectorize; or target="cuda"',
                location=node.loc,
            )


def _host(node: Stmt) -> Stmt:
    """Return a statement of the host's part with its thread nests as kernels."""
    match node:
        case For(kind=LoopKind.THREAD):
            return kernel(node)
        case Evaluate(value=Call() as call) if call.name.startswith("call_packed:"):
            return node
        case Evaluate(value=Call() as call) if (called := foreign(call.name)) is not None:
            _refuse_call(node, called.symbol)
        case Store() | Evaluate():
            _refuse_unbound(node)
        case Alloc() if joined_across(node):
            return kernel(node)
        case Alloc() if node.buffer.scope != "global":
            _refuse_scope(node)
        case For() if node.kind in (LoopKind.PARALLEL, LoopKind.VECTORIZED):
            return node.copy(kind=LoopKind.SERIAL, body=_host(node.body))
        case If() if has(node.condition, Load):
            _refuse_host_read(node)
        case _:
            pass
    return node.map(_host, lambda expr: expr)


def _refuse_unbound(node: Stmt) -> None:
    raise ScheduleError(
        f"stage {last_store(node)} has no axis bound to a block or thread",
        because="all work of a CUDA program is done by kernels",
        legal="s[stage].bind(axis, te.thread_axis('blockIdx.x')), compute_at inside a bound stage, threads in a body",
        location=node.loc,
    )


def _refuse_call(node: Evaluate, symbol: str) -> None:
    raise ScheduleError(
        f"the function {symbol!r} is called outside every kernel",
        because="the host cannot reach device memory, and it is no Python function, which would launch kernels itself",
        legal='ib.scope_attr(te.thread_axis("threadIdx.x"), "thread_extent", 1) before it, or tir.call_packed',
        location=node.loc,
    )


def _refuse_scope(node: Alloc) -> None:
    """Refuse memory of a kernel outside of every kernel; where it is a variable, what should be a kernel is none."""
    buffer = node.buffer
    if not buffer.shape:
        _refuse_unbound(node)
    raise ScheduleError(
        f"buffer {buffer.name} is in {buffer.scope} memory but outside every kernel",
        because=f"{buffer.scope} memory lives as long as one kernel",
        legal="compute_at under a loop bound to a block, or set_scope('global')",
        location=buffer.loc or node.loc,
    )


def _refuse_host_read(node: If) -> None:
    buffer = next(load.buffer for load in walk(node.condition) if isinstance(load, Load))
    raise ScheduleError(
        f"a condition outside every kernel reads {buffer.name}",
        because="the host cannot read device memory between launches",
        legal="bind a loop outside the condition",
        location=node.loc,
    )
