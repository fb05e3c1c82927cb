"""Two threads in one element, one of them writing, are reported with both; what barriers order is not."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp.ir.evaluate import ExecutionError
from tecomp.ir.interpret import interpret
from tecomp.ir.parse import parse


def run(body: str) -> None:
    """Run a kernel of 2 blocks of 4 threads on A, zeros of [8], and the shared S of 8 elements."""
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    interpret(
        parse(f"""
def f(A: out[f32[8]]) -> device:
    with launch(blockIdx_x=2, threadIdx_x=4) as (bx, tx):
        S = alloc(f32[8], 'shared')
{lines}"""),
        np.zeros(8, np.float32),
    )


def race(body: str) -> str:
    with pytest.raises(ExecutionError) as caught:
        run(body)
    return str(caught.value).split("because: ")[1].split("\n")[0]


def test_read_of_what_another_thread_writes() -> None:
    assert race("""
S[tx] = 1.0
A[bx * 4 + tx] = S[tx // 2]
""") == (
        "it reads S[0] in thread (blockIdx.x=0, threadIdx.x=1) while thread (blockIdx.x=0, threadIdx.x=0) writes it: "
        "no barrier between"
    )


def test_write_of_what_another_thread_reads() -> None:
    """Thread 1 runs first: it writes S[1], and thread 2 reads it."""
    assert race("""
S[tx] = 1.0
barrier_block()
A[bx * 4 + tx] = S[3 - tx]
S[tx] = 2.0
""") == (
        "it reads S[1] in thread (blockIdx.x=0, threadIdx.x=2) while thread (blockIdx.x=0, threadIdx.x=1) writes it: "
        "no barrier between"
    )


def test_write_of_what_an_earlier_thread_has_read() -> None:
    assert race("""
S[tx] = 1.0
barrier_block()
A[bx * 4 + tx] = S[0]
if tx == 3:
    S[0] = 2.0
""") == (
        "it writes S[0] in thread (blockIdx.x=0, threadIdx.x=3) while thread (blockIdx.x=0, threadIdx.x=0) reads it: "
        "no barrier between"
    )


def test_write_of_what_another_thread_writes() -> None:
    assert race("S[tx // 4] = 1.0") == (
        "it writes S[0] in thread (blockIdx.x=0, threadIdx.x=1) while thread (blockIdx.x=0, threadIdx.x=0) writes it: "
        "no barrier between"
    )


def test_blocks_are_never_ordered() -> None:
    assert race("""
A[bx * 4 + tx] = 1.0
barrier_block()
S[tx] = A[tx]
""") == (
        "it reads A[0] in thread (blockIdx.x=1, threadIdx.x=0) while thread (blockIdx.x=0, threadIdx.x=0) writes it: "
        "no barrier between"
    )


def test_a_reader_of_an_earlier_block_counts() -> None:
    assert "while thread (blockIdx.x=0, threadIdx.x=0) reads it" in race("""
if bx == 0:
    S[tx] = A[7]
if bx == 1:
    S[tx] = A[7]
barrier_block()
if bx == 1:
    if tx == 0:
        A[7] = 1.0
""")


@pytest.mark.parametrize(
    "body",
    [
        "S[tx] = 1.0\nbarrier_block()\nA[bx * 4 + tx] = S[3 - tx]",
        "S[tx] = 1.0\nbarrier_block()\nA[bx * 4 + tx] = S[3 - tx]\nbarrier_block()\nS[tx] = 2.0",
        "S[tx] = 1.0\nA[bx * 4 + tx] = S[tx]\nS[tx] = 2.0",
        "S[tx] = A[0] + A[7]",
        "A[bx * 4 + tx] = 1.0\nbarrier_block()\nS[tx] = A[bx * 4 + 3 - tx]",
    ],
)
def test_what_barriers_order_is_no_race(body: str) -> None:
    run(body)


def test_launches_are_ordered() -> None:
    A = np.arange(4, dtype=np.float32)
    interpret(
        parse("""
def f(A: out[f32[4]], B: out[f32[4]]) -> device:
    with launch(threadIdx_x=4) as tx:
        B[tx] = A[3 - tx]
    with launch(threadIdx_x=4) as tx:
        A[tx] = B[3 - tx] + B[tx]
"""),
        A,
        np.zeros(4, np.float32),
    )
    assert (A == 3).all()
