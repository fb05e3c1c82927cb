"""Loops divided into parts of a length: onto blocks and threads, and the sizes at which that goes wrong."""

from __future__ import annotations

from typing import Any

from tecomp import te

PRIMES = (13, 37, 53, 97, 131, 263)


def around(factor: int) -> list[int]:
    """Return 0, 1, a prime above `factor`, and the numbers at it."""
    prime = next(p for p in PRIMES if p > factor + 1)
    return sorted({0, 1, factor - 1, factor, factor + 1, prime})


def bound(schedule: Any, tensor: Any, factor: int, axis: Any = None) -> tuple[Any, Any]:
    """Split a loop of `tensor` (its first, where none is given) onto blocks of `factor` threads; return both loops."""
    stage = schedule[tensor]
    outer, inner = stage.split(tensor.op.axis[0] if axis is None else axis, factor)
    stage.bind(outer, te.thread_axis("blockIdx.x"))
    stage.bind(inner, te.thread_axis("threadIdx.x"))
    return outer, inner
