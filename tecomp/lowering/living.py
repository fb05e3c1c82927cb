"""Threads that live over all steps of a scan: what each computes for itself, and the loop that is one kernel."""

from __future__ import annotations

from collections.abc import Sequence

from ..bounds.run_over import StageBounds
from ..ir.stmt import Alloc, For, If, LoopKind, Seq, Stmt

ONE_KERNEL = "one_kernel"
"""The pragma of a loop whose steps run in one kernel; its value lists the kernel's threads."""


def in_threads(stage: StageBounds, nest: Stmt) -> Stmt:
    """Return the nest of a stage once for each thread that has a result of its own.

    for k in range(4): W_local[bx, tx, k] = ...   ->   for bx in thread("blockIdx.x", 24):
                                                           for tx in thread("threadIdx.x", 96): ...
    """
    tags = {var: tag for tag, var in stage.living.items()}
    for var in reversed(stage.private):
        nest = For(var, LoopKind.THREAD, nest, tags[var], loc=stage.op.loc)
    return nest


def one_kernel(steps: Stmt, threads: Sequence[str]) -> Stmt:
    """Mark the loop over time, the last statement, as one kernel of these threads: "blockIdx.x=24", ..."""
    match steps:
        case Seq():
            return steps.copy(stmts=(*steps.stmts[:-1], one_kernel(steps.stmts[-1], threads)))
        case Alloc():
            return steps.copy(body=one_kernel(steps.body, threads))
        case If():
            return steps.copy(then=one_kernel(steps.then, threads))
        case For():
            return steps.copy(pragmas=(*steps.pragmas, (ONE_KERNEL, " ".join(threads))))
        case _:
            return steps
