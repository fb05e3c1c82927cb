"""The host part: Python text that starts kernels, run here with a launch that only notes them."""

from __future__ import annotations

from typing import Any

import pytest

from tecomp.codegen.cuda import printed
from tecomp.errors import InternalError, UnsupportedError
from tecomp.ir import make
from tecomp.ir.stmt import Evaluate
from tecomp_runtime.cuda import host_part
from tests.codegen.cuda_programs import HOPPER, cuda, flat
from tests.codegen.test_cuda_limits import message
from tests.goldens import Golden


def run(host: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return what the host part asks for, called with these arrays and numbers."""
    asked: list[tuple[Any, ...]] = []

    def alloc(dtype: str, elements: int) -> str:
        asked.append((dtype, elements))
        return f"memory {len(asked)}"

    host_part("f", host)(lambda *launched: asked.append(launched), alloc, *values)
    return asked


STEPS = """
    def steps(X: f32[m, n], S: out[f32[m, n]]) -> device:
        T = alloc(f32[n, 2], 'global')
        with launch(blockIdx_x=(n + 31) // 32, threadIdx_x=32):
            if blockIdx_x * 32 + threadIdx_x < n:
                S[0, blockIdx_x * 32 + threadIdx_x] = X[0, blockIdx_x * 32 + threadIdx_x]
                T[blockIdx_x * 32 + threadIdx_x, 0] = 0.0
        if m < 100:
            for t in range(1, m):
                with launch(blockIdx_x=n) as i:
                    S[t, i] = S[t - 1, i] + X[t, i] * T[i, t % 2]
        else:
            half = m // 2
            with launch(blockIdx_x=half, blockIdx_y=n) as (t, i):
                S[t + half, i] = X[t, i]
"""


def test_loops_and_conditions_around_launches(golden: Golden) -> None:
    artifact = cuda(STEPS)
    golden(f"{artifact.host}\n{artifact.source}")
    assert run(artifact.host, "X", "S", 3, 40) == [
        ("float32", 80),
        ("steps_T", (2, 1, 1), (32, 1, 1), 0, "X", "S", 40, "memory 1"),
        ("steps_S", (40, 1, 1), (1, 1, 1), 0, "X", "S", 40, "memory 1", 1),
        ("steps_S", (40, 1, 1), (1, 1, 1), 0, "X", "S", 40, "memory 1", 2),
    ]
    assert run(artifact.host, "X", "S", 200, 7)[-1] == ("steps_S_1", (100, 7, 1), (1, 1, 1), 0, "X", "S", 7, 100)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257])
def test_grids_cover_every_size(n: int) -> None:
    host = cuda("""
        def f(A: f32[n], B: out[f32[n]]) -> device:
            with launch(blockIdx_x=(n + 255) // 256, threadIdx_x=256):
                if blockIdx_x * 256 + threadIdx_x < n:
                    B[blockIdx_x * 256 + threadIdx_x] = A[blockIdx_x * 256 + threadIdx_x]
    """).host
    ((_, grid, block, *_),) = run(host, "A", "B", n)
    assert (grid, block) == (((n + 255) // 256, 1, 1), (256, 1, 1))


def test_names_that_python_or_the_host_part_needs() -> None:
    artifact = cuda("""
        def f(launch: f32[alloc], lambda_: out[f32[alloc]], min_: i32) -> device:
            with launch(blockIdx_x=min(alloc, index(min_))) as i:
                lambda_[i] = launch[i]
    """)
    assert artifact.host.startswith("def host(launch, alloc, launch_, lambda_, min_, alloc_):")
    assert run(artifact.host, "A", "B", 3, 9) == [("f_lambda_", (3, 1, 1), (1, 1, 1), 0, "A", "B")]


def test_kernels_are_called_after_the_function_and_what_they_store() -> None:
    artifact = cuda("""
        def fma(A: f32[n], half: out[f32[n]], B: out[f32[n]]) -> device:
            with launch(threadIdx_x=n) as i:
                half[i] = A[i]
            for k in range(3):
                with launch(threadIdx_x=n) as i:
                    S = alloc(f32[4], 'local')
                    S[0] = half[i]
                    B[i] = S[0]
            with launch(threadIdx_x=n) as i:
                half[i] = B[i]
    """)
    assert [kernel["name"] for kernel in artifact.kernels] == ["fma_half_", "fma_B", "fma_half__1"]


@pytest.mark.parametrize(("a", "b"), [(7, 2), (-7, 2), (-8, 2), (7, -2), (-1, 2), (0, 3)])
def test_divisions_of_sizes_are_exact(a: int, b: int) -> None:
    artifact = cuda("""
        def f(B: out[f32[4]], a: i64, b: i64) -> device:
            q = index(truncdiv(a, b) + 100)
            r = index(select(a < b, truncmod(a, b), 5) + 100)
            with launch(blockIdx_x=q, blockIdx_y=r) as (i, j):
                B[i] = f32(j)
    """)
    ((_, grid, *_),) = run(artifact.host, "B", a, b)
    quotient = abs(a) // abs(b) * (1 if a * b >= 0 else -1)
    assert grid[:2] == (quotient + 100, (a - b * quotient if a < b else 5) + 100)


REFUSALS = {
    "B[0] = 0.0": "'B' on cuda\n  because: no axis of it is bound to a block or thread\n"
    '  legal: bind one of its axes: s[T].bind(axis, te.thread_axis("blockIdx.x"))',
    "S = alloc(f32[4], 'shared')\n    with launch(blockIdx_x=n):\n        B[blockIdx_x] = S[0]": (
        "'S' in shared memory outside every kernel\n  because: shared memory belongs to the threads of one kernel\n"
        "  legal: compute_at a loop bound to blockIdx or threadIdx, or leave its scope out"
    ),
    "k = index(A[0])\n    with launch(blockIdx_x=k):\n        B[blockIdx_x] = 0.0": (
        "a launch on cuda that depends on A[i32(0)]\n  because: the host knows sizes and scalars only\n"
        "  legal: bind the loop to a thread, so that the kernel computes it"
    ),
}


@pytest.mark.parametrize("body", REFUSALS)
def test_what_the_host_cannot_do(body: str) -> None:
    func = flat(f"def f(A: i32[n], B: out[f32[n]]) -> device:\n    {body}\n")
    with pytest.raises(UnsupportedError) as caught:
        printed(func, HOPPER)
    assert message(caught.value) == REFUSALS[body]


def test_a_statement_without_meaning_on_the_host() -> None:
    func = flat(STEPS)
    barrier = Evaluate(make.call("barrier_block", "int32"))
    with pytest.raises(InternalError, match="a Evaluate on the host"):
        printed(func.with_body(barrier), HOPPER)


def test_an_empty_program_does_nothing() -> None:
    func = flat("def f(A: f32[n], B: out[f32[n]]) -> device:\n    for i in range(n):\n        pass\n")
    artifact = printed(func, HOPPER)
    assert run(artifact.host, "A", "B", 3) == []
    assert artifact.kernels == ()
