"""One lane: loops that were to be vectors run serially. It stands in the place of `vectorize` where that is disabled.

for i in vectorized(8):            for i in range(8):
    B[i] = A[i] + 1         ->         B[i] = A[i] + 1
"""

from __future__ import annotations

from ..ir.func import Func
from ..ir.stmt import For, LoopKind, Stmt
from ..target import Target


def run(func: Func, target: Target) -> Func:
    """Return `func` without VECTORIZED loops."""
    return func.with_body(_serial(func.body))


def _serial(node: Stmt) -> Stmt:
    new = node.map(_serial, lambda expr: expr)
    if isinstance(new, For) and new.kind is LoopKind.VECTORIZED:
        return new.copy(kind=LoopKind.SERIAL)
    return new
