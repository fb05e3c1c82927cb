"""Warp memory: which thread keeps an element, how the others read it, and what is refused."""

from __future__ import annotations

import pytest

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import across, launch, simplify, warp_memory
from tests.goldens import Golden
from tests.passes.programs import refusal, same_results, through


def exchanged(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, through(before, launch, simplify, across, warp_memory)


def program(read: str, size: int = 32, width: int = 32, store: str = "j * WIDTH + t", **more: str) -> str:
    """Return a program that copies a row into warp memory, and reads it."""
    return f"""
def f(A: f32[n, {size}], N: i32[64], B: out[f32[n, {width}]]):
    for i in thread('blockIdx.x', n):
        P = alloc(f32[{size}], 'warp')
        for j in range({(size + width - 1) // width}):
            for t in thread('threadIdx.x', {width}):
                if j * {width} + t < {size}:
                    P[{store.replace("WIDTH", str(width))}] = A[i, j * {width} + t]
        for t in thread('threadIdx.x', {width}):
            {more.get("before", "if t < n:")}
                B[i, t] = {read}
"""


@pytest.mark.parametrize(
    "read, size, width",
    [
        ("P[t]", 32, 32),
        ("P[31 - t]", 32, 32),
        ("P[(t + 1) % 32] + P[t]", 32, 32),
        ("P[t] + P[t + 1] + P[t + 2]", 34, 32),
        ("P[t + 64] + P[t * 2]", 128, 32),
        ("P[7 - t]", 8, 8),
        ("P[0] + P[5]", 8, 8),
        ("P[19 - t * 2]", 20, 4),
        ("P[t + 4] if t < 3 else 0.0", 7, 4),
    ],
)
def test_reads(golden: Golden, read: str, size: int, width: int) -> None:
    before, after = exchanged(program(read, size, width))
    golden(text(after))
    assert "'warp'" not in text(after)
    same_results(before, after, n=5)


def test_in_a_loop_and_in_what_threads_fold(golden: Golden) -> None:
    before, after = exchanged("""
def f(A: f32[n, 16], B: out[f32[n]]):
    for i in thread('threadIdx.y', 3):
        if i < n:
            P = alloc(f32[16], 'warp')
            for t in thread('threadIdx.x', 16):
                P[t] = A[i, t]
            B_part: f32
            with across(['threadIdx.x'], [B_part], [0.0], lambda x, y: x + y):
                for t in thread('threadIdx.x', 16):
                    for k in range(4):
                        if k < t:
                            B_part = B_part + P[(t + k) % 16] * P[k]
            B[i] = B_part
""")
    golden(text(after))
    same_results(before, after, n=2)


def test_rows(golden: Golden) -> None:
    """A row beyond the last is read where a guard, now below, keeps the value from being used."""
    before, after = exchanged("""
def f(A: f32[3, 32], B: out[f32[4, 32]]):
    for b in thread('blockIdx.x', 1):
        P = alloc(f32[3, 32], 'warp')
        for i in range(3):
            for t in thread('threadIdx.x', 32):
                P[i, t] = A[i, t]
        for i in range(4):
            for t in thread('threadIdx.x', 32):
                B[i, t] = 1.0
                if i + t // 64 < 3 and t < 20:
                    B[i, t] = P[i, 31 - t]
""")
    golden(text(after))
    same_results(before, after)


def test_never_read() -> None:
    before, after = exchanged(program("A[i, t]"))
    assert "'warp'" not in text(after)
    same_results(before, after, n=2)


def test_without_threads_along_x() -> None:
    before, after = exchanged("""
def f(A: f32[n, 3], B: out[f32[n]]):
    for i in thread('threadIdx.y', n):
        P = alloc(f32[3], 'warp')
        for j in range(3):
            P[j] = A[i, j]
        B[i] = P[0] + P[2]
""")
    assert "shuffle" not in text(after)
    same_results(before, after, n=2)


@pytest.mark.parametrize(
    "source",
    {
        "threads": program("P[t]", 48, 48),
        "stored by another": program("P[t]", store="(j * WIDTH + t + 1) % 32"),
        "stored by all": program("P[t]", store="j * WIDTH"),
        "many registers": program("P[t * 9]", 288),
        "index from memory": program("P[N[t] % 32]"),
        "rows": """
def f(A: f32[2, 32], B: out[f32[32]]):
    for b in thread('blockIdx.x', 1):
        P = alloc(f32[2, 32], 'warp')
        for i in range(2):
            for t in thread('threadIdx.x', 32):
                P[i, t] = A[i, t]
        for t in thread('threadIdx.x', 32):
            B[t] = P[t % 2, 31 - t]
""",
        "vector": """
def f(A: f32[32], B: out[f32[32]]):
    for b in thread('blockIdx.x', 1):
        P = alloc(f32[32], 'warp')
        for t in thread('threadIdx.x', 32):
            P[t] = A[t]
        for t in thread('threadIdx.x', 32):
            if t < 8:
                B[ramp(t * 4, 1, 4)] = P[ramp(t * 4, 1, 4)]
""",
        "no dimension": """
def f(A: f32[32], B: out[f32[32]]):
    for b in thread('blockIdx.x', 1):
        P = alloc(f32, 'warp')
        P[()] = A[0]
        for t in thread('threadIdx.x', 32):
            B[t] = P[()]
""",
        "loop": program("P[31 - t]", before="for q in range(t):"),
        "value under a guard": """
def f(A: f32[32], B: out[f32[32]]):
    for b in thread('blockIdx.x', 1):
        P = alloc(f32[32], 'warp')
        for t in thread('threadIdx.x', 32):
            P[t] = A[t]
        for t in thread('threadIdx.x', 32):
            if t < 20:
                v = P[31 - t]
                B[t] = v * v
""",
        "divided along y": """
def f(A: f32[2, 32], B: out[f32[2, 32]]):
    for b in thread('blockIdx.x', 1):
        P = alloc(f32[2, 32], 'warp')
        for i in thread('threadIdx.y', 2):
            for t in thread('threadIdx.x', 32):
                P[i, t] = A[i, t]
        for i in thread('threadIdx.y', 2):
            for t in thread('threadIdx.x', 32):
                B[i, t] = P[1 - i, t]
""",
    }.items(),
    ids=lambda item: item[0],
)
def test_refused(golden: Golden, source: tuple[str, str]) -> None:
    golden(refusal(exchanged, source[1]))
