"""One element offset an access."""

from __future__ import annotations

from tecomp.ir.func import Level
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import flatten, simplify, vectorize
from tests.goldens import Golden
from tests.passes.programs import CPU


def test_row_major_and_strided(golden: Golden) -> None:
    before = parse("""
def f(A: buffer(f32[n, m, 4], strides=[s, t, 1]), B: out[f32[n, m, 4]], C: out[f32[()]]):
    for i in range(n):
        for j in range(m):
            for k in range(4):
                B[i, j, k] = A[i, j, k]
    C[()] = 1.0
""")
    after = flatten.run(before, CPU)
    golden(text(after))
    assert after.level is Level.FLAT


def test_vectors_stay_ramps(golden: Golden) -> None:
    before = parse("""
def f(A: f32[n, 64], I: i32[8], B: out[f32[64, n]]):
    for i in range(n):
        for j in range(8):
            for v in vectorized(8):
                B[j * 8 + v, i] = A[i, j * 8 + v] + A[i, index(I[v]) % 64]
""")
    after = flatten.run(simplify.run(vectorize.run(before, CPU), CPU), CPU)
    golden(text(after))


def test_quotients_join_again() -> None:
    before = parse("""
def f(A: f32[12, 32], B: out[f32[12, 32]]):
    for f in range(384):
        B[f // 32, f % 32] = A[f // 32, f % 32]
""")
    assert "B[f] = A[f]" in text(flatten.run(before, CPU))
