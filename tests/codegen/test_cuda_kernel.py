"""Whole kernels: what a reader sees. Every one compiles for sm_80 and sm_90a."""

from __future__ import annotations

import pytest

import tecomp
from tecomp import te
from tecomp.codegen.cuda import printed
from tecomp.dtype import DType
from tecomp.errors import InternalError
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.func import Func, Level
from tecomp.ir.stmt import Buffer, Launch, Seq, Store
from tecomp.location import Location
from tests.codegen.cuda_programs import HOPPER, compiles, cuda, flat
from tests.goldens import Golden

SCAN = """
    def myscan(X: f32[m, n], scan: out[f32[m, n]]) -> device:
        with launch(blockIdx_x=(n + 255) // 256, threadIdx_x=256) as (i_outer, i_inner):
            if i_outer * 256 + i_inner < n:
                carry: f32
                carry = X[0, i_outer * 256 + i_inner]
                scan[0, i_outer * 256 + i_inner] = carry
                for t in range(1, m):
                    carry = carry + X[t, i_outer * 256 + i_inner]
                    scan[t, i_outer * 256 + i_inner] = carry
"""

REVERSE = """
    def reverse(A: f32[n], B: out[f32[n]]) -> device:
        with launch(blockIdx_x=(n + 63) // 64, threadIdx_x=64):
            for k in range(2):
                S = alloc(f32[64], 'shared')
                if blockIdx_x * 64 + threadIdx_x < n:
                    S[threadIdx_x] = A[blockIdx_x * 64 + threadIdx_x]
                else:
                    S[threadIdx_x] = 0.0
                barrier_block()
                if blockIdx_x * 64 + threadIdx_x < n:
                    B[blockIdx_x * 64 + threadIdx_x] = S[63 - threadIdx_x]
                barrier_block()
"""

LOOPS = """
    def loops(A: f32[n, 64], L: i32[n], B: out[f32[n, 4]]) -> device:
        with launch(blockIdx_x=n):
            sums = alloc(f32[4], 'local')
            for r in unrolled(4):
                sums[r] = 0.0
            for k in range(16):
                for r in unrolled(4):
                    sums[r] = sums[r] + A[blockIdx_x, k * 4 + r]
            length = index(L[blockIdx_x])
            for k in range(length):
                sums[0] = max(sums[0], f32(k))
            scale = 1.0 / sums[0]
            for r in unrolled(4):
                B.where(r < blockIdx_x)[blockIdx_x, r] = sums[r] * scale
"""

HALVES = """
    def halves(A: f16[n], B: bf16[n], C: out[f16[n]], flag: out[bool[n]]) -> device:
        with launch(blockIdx_x=n):
            C[blockIdx_x] = (A[blockIdx_x] + f16(B[blockIdx_x])) * A[blockIdx_x]
            flag[blockIdx_x] = A[blockIdx_x] < C[blockIdx_x] and not isnan(A[blockIdx_x])
"""


@pytest.mark.parametrize("program", [SCAN, REVERSE, LOOPS, HALVES], ids=["scan", "reverse", "loops", "halves"])
def test_kernel(program: str, golden: Golden) -> None:
    artifact = cuda(program)
    golden(f"{artifact.source}\n{artifact.host}")


def test_the_users_line_stands_at_the_first_line_of_a_stage() -> None:
    n = make.const(4, "int64")
    out = Buffer("B", (n,), DType("float32"))
    i = E.Var("i", DType("int32"), make.const(0), make.const(4))
    lines = [("a.py", 3), ("a.py", 3), ("b.py", 7), ("a.py", 3)]
    stores = [
        Store(out, (i,), make.const(k, "float32"), make.TRUE, Location(f, line)) for k, (f, line) in enumerate(lines)
    ]
    func = Func("f", (out,), (out,), Launch((("threadIdx.x", i),), Seq(tuple(stores))), Level.FLAT)
    source = printed(func, HOPPER).source
    assert [line.partition(";")[2].strip() for line in source.splitlines() if "B[i]" in line] == [
        "// a.py:3",
        "",
        "// b.py:7",
        "// a.py:3",
    ]


def test_a_thread_variable_may_start_above_zero() -> None:
    out = Buffer("B", (make.const(8, "int64"),), DType("float32"))
    i = E.Var("i", DType("int32"), make.const(4), make.const(4))
    store = Store(out, (i,), make.cast("float32", i), make.TRUE)
    source = printed(Func("f", (out,), (out,), Launch((("threadIdx.x", i),), store), Level.FLAT), HOPPER).source
    assert "const int i = threadIdx.x + 4;" in source
    compiles(source)


def test_scalars_and_sizes_are_passed_by_value() -> None:
    artifact = cuda("""
        def f(A: f32[n], B: out[f32[n]], alpha: f16, k: i32, flip: bool) -> device:
            with launch(blockIdx_x=n):
                if flip:
                    B[blockIdx_x] = A[blockIdx_x] * f32(alpha) + f32(k * k)
    """)
    assert "half alpha, int k, bool flip" in artifact.source
    assert "(float)wrapping_mul(k, k)" in artifact.source
    (kernel,) = artifact.kernels
    assert kernel == {
        "name": "f_B",
        "arguments": ["pointer", "pointer", "float16", "int32", "bool"],
        "shared": 0,
        "threads": 1,
        "cooperative": False,
    }


def test_only_flat_programs_are_printed() -> None:
    func = flat(SCAN)
    with pytest.raises(InternalError, match="'myscan' is at level device"):
        printed(func.with_body(func.body, Level.DEVICE), HOPPER)


def test_a_prefetch_is_an_address() -> None:
    source = cuda("""
        def f(A: f32[n], B: out[f32[n]]) -> device:
            with launch(blockIdx_x=n) as i:
                prefetch(A[i])
                B[i] = A[i]
    """).source
    assert "  prefetch(&A[i]);" in source


def test_scalars_in_global_memory() -> None:
    source = cuda("""
        def f(A: buffer(f32), B: out[f32]) -> device:
            with launch(threadIdx_x=1):
                B[()] = A[()] + 1.0
    """).source
    assert "B[0] = A[0] + 1.0f;" in source


def test_only_what_is_written_is_restricted():
    """A const __restrict__ input made NVVM 13.0 read an output through the non-coherent cache: a wrong argmax."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
    s = te.create_schedule(B.op)
    block, thread = s[B].split(B.op.axis[0], factor=64)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    source = tecomp.build(s, [A, B], target="cuda -arch=sm_90a", name="f").source
    assert "const float* A, float* __restrict__ B" in source
