"""Index arithmetic in 32 bits where it is proved to fit, in 64 otherwise."""

from __future__ import annotations

from tecomp.dtype import INDEX
from tecomp.ir.func import Func
from tecomp.ir.node import Expr
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.ir.visit import walk
from tecomp.passes import flatten, launch, narrow, simplify, vectorize
from tecomp.target import Target
from tests.goldens import Golden
from tests.passes.programs import CPU, GPU, same_results, through


def narrowed(source: str, target: Target) -> tuple[Func, Func]:
    before = parse(source)
    func = through(before, vectorize, simplify, launch, simplify, flatten, narrow, target=target)
    assert not any(isinstance(node, Expr) and node.dtype.element is INDEX for node in walk(func.body))
    return before, func


def test_gpu_with_known_sizes(golden: Golden) -> None:
    _, after = narrowed(
        """
def f(A: f32[1024, 1024], B: out[f32[1024, 1024]]):
    for i in thread('blockIdx.x', 1024):
        for j in thread('threadIdx.x', 256):
            for k in range(4):
                B[i, j * 4 + k] = A[i, j * 4 + k]
""",
        GPU,
    )
    golden(text(after))


def test_gpu_with_unknown_sizes(golden: Golden) -> None:
    before, after = narrowed(
        """
def f(A: f32[n, m], B: out[f32[n, m]]):
    for i in thread('blockIdx.x', n):
        for jo in range((m + 31) // 32):
            for j in thread('threadIdx.x', 32):
                if jo * 32 + j < m:
                    B[i, jo * 32 + j] = A[i, jo * 32 + j]
""",
        GPU,
    )
    golden(text(after))
    same_results(before, after, n=2, m=40)


def test_more_than_two_gigabytes_of_elements() -> None:
    _, after = narrowed(
        """
def f(A: u8[65536, 65536], B: out[u8[65536, 65536]]):
    for i in thread('blockIdx.x', 65536):
        for j in range(65536):
            B[i, j] = A[i, j]
""",
        GPU,
    )
    assert "i64(blockIdx_x)" in text(after)


def test_cpu_gathers_by_narrow_vectors(golden: Golden) -> None:
    before, after = narrowed(
        """
def f(A: f32[100], I: i32[n, 8], B: out[f32[n, 8]], D: out[i32[n, 8]]):
    for i in range(n):
        for v in vectorized(8):
            B[i, v] = A[index(I[i, v]) % 100]
            D[i, v] = i32(i * 8 + v)
""",
        CPU,
    )
    golden(text(after))
    same_results(before, after, n=3)


def test_scalar_index_argument_is_64_bit() -> None:
    _, after = narrowed(
        """
def f(A: f32[n], B: out[f32[n]], k: index[0:]):
    for i in range(n):
        if i < k:
            B[i] = A[i]
""",
        CPU,
    )
    assert "k: i64[0:]" in text(after).splitlines()[0]


def test_a_comparison_takes_its_operands_as_they_are() -> None:
    text = "def f(B: out[f32[n]]) -> device:\n    for i in range(n):\n        if i % 2 == 1:\n            B[i] = 1.0\n"
    assert "if i % 2 == 1:" in repr(narrow.run(flatten.run(parse(text), GPU), GPU))
