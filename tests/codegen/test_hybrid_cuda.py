"""Hybrid functions as kernels: compiled by NVRTC, interpreted as they are printed, and run where there is a GPU."""

# ruff: noqa: F821 (the names of the language)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError, UserError
from tecomp.ir.interpret import interpret
from tests.te.hybrid_check import compiled, floats

TARGET = "cuda -arch=sm_90a"


@te.hybrid.script
def reversed_blocks(a):
    """Values pass through the memory of one block."""
    b = output_tensor((64,), a.dtype)
    t = allocate((64,), "float32", "shared")
    for i in bind("threadIdx.x", 64):
        t[i] = a[i] * 2
    for i in bind("threadIdx.x", 64):
        b[i] = t[63 - i]
    return b


@te.hybrid.script
def gemm(a, b):  # noqa: C901, PLR0912
    """Tiles of 16 by 16, a tile a block, an element a thread."""
    n, m, l = a.shape[0], b.shape[1], a.shape[1]
    c = output_tensor((n, m), a.dtype)
    for by in bind("blockIdx.y", ceil_div(n, 16)):
        for bx in bind("blockIdx.x", ceil_div(m, 16)):
            left = allocate((16, 16), "float32", "shared")
            right = allocate((16, 16), "float32", "shared")
            total = allocate((16, 16), "float32", "shared")
            for ty in bind("threadIdx.y", 16):
                for tx in bind("threadIdx.x", 16):
                    total[ty, tx] = 0.0
            for ko in range(ceil_div(l, 16)):
                for ty in bind("threadIdx.y", 16):
                    for tx in bind("threadIdx.x", 16):
                        y = by * 16 + ty
                        x = bx * 16 + tx
                        left[ty, tx] = a[y, ko * 16 + tx] if y < n and ko * 16 + tx < l else 0.0
                        right[ty, tx] = b[ko * 16 + ty, x] if ko * 16 + ty < l and x < m else 0.0
                for ty in bind("threadIdx.y", 16):
                    for tx in bind("threadIdx.x", 16):
                        for k in range(16):
                            total[ty, tx] += left[ty, k] * right[k, tx]
            for ty in bind("threadIdx.y", 16):
                for tx in bind("threadIdx.x", 16):
                    if by * 16 + ty < n and bx * 16 + tx < m:
                        c[by * 16 + ty, bx * 16 + tx] = total[ty, tx]
    return c


@te.hybrid.script
def row_sums(a):
    """A variable in each thread, a loop that the thread runs alone."""
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(a.shape[1]):
            total += exp(a[i, k]) if a[i, k] < 1.0 else a[i, k]
        b[i] = total
    return b


@te.hybrid.script
def two_kernels(a):
    """What the second kernel reads, the first has written."""
    t = allocate((a.shape[0],), a.dtype)
    b = output_tensor(a.shape, a.dtype)
    for i in bind("blockIdx.x", a.shape[0]):
        t[i] = a[i] + 1
    for i in bind("blockIdx.x", a.shape[0]):
        b[i] = t[a.shape[0] - 1 - i]
    return b


def rows_in_threads(s: Any, op: Any) -> None:
    outer, inner = s[op].split(op.axis[0], 32)
    s[op].bind(outer, te.thread_axis("blockIdx.x"))
    s[op].bind(inner, te.thread_axis("threadIdx.x"))


Case = tuple[Any, tuple[Any, ...], Callable[[Any, Any], None] | None]
CASES: dict[str, Case] = {
    "shared": (reversed_blocks, (floats(64),), None),
    "gemm": (gemm, (floats(17, 5), floats(5, 35)), None),
    "gemm of nothing": (gemm, (floats(3, 0), floats(0, 4)), None),
    "rows": (row_sums, (floats(37, 5),), rows_in_threads),
    "no rows": (row_sums, (floats(0, 5),), rows_in_threads),
    "two kernels": (two_kernels, (floats(9),), None),
}
by_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def built(case: Case) -> tuple[Any, list[Any], np.ndarray[Any, Any]]:
    """Return the module, the values of its inputs, and what plain Python makes of them."""
    function, args, schedule = case
    params, (out,), values = compiled(function, *args)
    s = te.create_schedule(out.op)
    if schedule is not None:
        schedule(s, out.op)
    return tecomp.build(s, params, target=TARGET), values, function(*args)


@by_case
def test_kernels_compile_and_mean_what_python_means(case: Case) -> None:
    module, values, wanted = built(case)
    assert module.artifact.binary.startswith(b"\x7fELF")
    found = np.zeros(wanted.shape, wanted.dtype)
    interpret(module.ir, *values, found)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.gpu
@by_case
def test_kernels_run(case: Case) -> None:
    import cupy

    module, values, wanted = built(case)
    found = cupy.zeros(wanted.shape, wanted.dtype)
    module(*map(cupy.asarray, values), found)
    np.testing.assert_allclose(found.get(), wanted, rtol=1e-5, atol=1e-5)


def test_one_kernel_passes_values_through_shared_memory() -> None:
    module, _, _ = built(CASES["shared"])
    assert repr(module.ir).count("with launch") == 1 and repr(module.ir).count("barrier_block()") == 1


def test_without_threads() -> None:
    a = te.placeholder((8, 8), name="a")
    b = row_sums(a)
    s = te.create_schedule(b.op)
    with pytest.raises(ScheduleError) as caught:
        tecomp.build(s, [a, b], target=TARGET)
    assert caught.value.asked == "stage row_sums has no axis bound to a block or thread"
    assert caught.value.legal == (
        "s[stage].bind(axis, te.thread_axis('blockIdx.x')), compute_at inside a bound stage, threads in a body"
    )


def test_threads_on_a_cpu() -> None:
    a = te.placeholder((64,), name="a")
    b = reversed_blocks(a)
    with pytest.raises(ScheduleError) as caught:
        tecomp.build(te.create_schedule(b.op), [a, b])
    assert caught.value.because == "the target llvm has no such threads"


@te.hybrid.script
def shared_outside(a):
    b = output_tensor((64,), a.dtype)
    t = allocate((16,), "float32", "shared")
    for i in bind("blockIdx.x", 4):
        for j in bind("threadIdx.x", 16):
            b[i * 16 + j] = a[i * 16 + j]
        t[i] = 1.0
    return b


def test_memory_of_a_block_outside_of_the_blocks(refused) -> None:
    a = te.placeholder((64,), name="a")
    b = shared_outside(a)
    with refused(
        UserError,
        """
        shared memory 't' outside the loop over blockIdx.x
          --> test_hybrid_cuda.py:LINE
           |     t = allocate((16,), "float32", "shared")
           |     ^
          because: each block has its own, which lasts as long as the block
          legal: make it inside the loop over blockIdx.x
        """,
    ):
        tecomp.lower(te.create_schedule(b.op), [a, b])
