"""What the compiler makes of schedules, with one of its barriers taken away: matrix products, and a fold by threads."""

from __future__ import annotations

from typing import Any

import tecomp
from tecomp import te
from tests.tensor_cores import matmul

from .case import Case, Given, clean, faulty, floats, given, zeros

_TARGET = "cuda -arch=sm_80"
_BARRIER = "barrier_block()"


def without(text: str, number: int) -> str:
    """Return a program without its barrier of that number."""
    parts = text.split(_BARRIER)
    assert number < len(parts) - 1
    return f"{_BARRIER.join(parts[: number + 1])}pass{_BARRIER.join(parts[number + 1 :])}"


def planted(name: str, s: Any, tensors: list[Any], arrays: Given, expected: Any, *barriers: int) -> list[Case]:
    """Return a schedule's program, and one without each of these barriers."""
    text = str(tecomp.lower(s, tensors, target=_TARGET, name=name))
    return [
        clean(name, text, arrays, expected),
        *(faulty(f"{name}_without_{at}", without(text, at), arrays, "race", "racecheck") for at in barriers),
    ]


def _folded() -> tuple[Any, list[Any]]:
    """Return the sums of rows, which the threads of a block share out."""
    A = te.placeholder((3, 256), name="A")
    k = te.reduce_axis((0, 256), name="k")
    B = te.compute((3,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(k, te.thread_axis("threadIdx.x"))
    return s, [A, B]


def _smoothed() -> tuple[Any, list[Any]]:
    """Return sums of neighbours of squares, which are in shared memory."""
    A = te.placeholder((200,), name="A")
    P = te.compute((200,), lambda i: A[i] * A[i], name="P")
    B = te.compute((190,), lambda i: P[i] + P[i + 10], name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=64)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    s[P].compute_at(s[B], outer)
    s[P].set_scope("shared")
    _, inner = s[P].split(P.op.axis[0], factor=64)
    s[P].bind(inner, te.thread_axis("threadIdx.x"))
    return s, [A, B]


_HALF = {"dtype": "float16"}

CASES: list[Case] = [
    *planted(
        "tensor_cores", *matmul(32, 32, 64),
        given(floats(32, 64, **_HALF), floats(64, 32, **_HALF), zeros(32, 32)),
        lambda a, b, _: a.astype("float32") @ b.astype("float32"), 0, 1,
    ),
    *planted(
        "tensor_cores_by_vectors", *matmul(32, 64, 32, vector=4, b_layout="col_major"),
        given(floats(32, 32, **_HALF), floats(64, 32, **_HALF), zeros(32, 64)),
        lambda a, b, _: a.astype("float32") @ b.astype("float32").T, 1,
    ),
    *planted("fold", *_folded(), given(floats(3, 256), zeros(3)), lambda a, _: a.sum(1), 0),
    *planted(
        "stage_in_shared_memory", *_smoothed(), given(floats(200), zeros(190)),
        lambda a, _: a[:190] ** 2 + a[10:] ** 2, 0,
    ),
]  # fmt: skip
