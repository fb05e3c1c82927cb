"""What the simulator says: the tensor and its indices, both threads, the statement, the user's line, what to do."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import sim, te
from tecomp.ir.stmt import Evaluate, Seq
from tecomp.ir.visit import rewrite
from tecomp.sim import SimulationFault
from tecomp.sim.function import SimFunction, generate
from tests.goldens import Golden

from .kernels import TARGET, built, f32, fault, said


def test_a_race_names_both_threads_and_both_lines() -> None:
    """A schedule whose barrier is gone: reported at the line of the stage that reads, with that of the one it meets."""
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    C = te.compute((64,), lambda i: B[63 - i] * 2, name="C")
    s = te.create_schedule(C.op)
    block, inside = s[C].split(C.op.axis[0], factor=64)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(inside, te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], block)
    s[B].set_scope("shared")
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    module = tecomp.build(s, [A, C], target=TARGET)
    func = module.ir.with_body(rewrite(module.ir.body, stmts={Evaluate: lambda node: Seq(())}))
    run = SimFunction(generate(func, module.target))
    with pytest.raises(SimulationFault) as caught:
        run(f32(64), f32(64))
    found = caught.value
    assert found.kind == "race"
    assert found.location is not None and found.location.source().strip().startswith("C = te.compute")
    assert "race on 'B[63]' in shared memory" in str(found)
    other = "thread (blockIdx.x=0, threadIdx.x=63) writes it at test_faults.py:"
    assert f"thread (blockIdx.x=0, threadIdx.x=0) reads it, {other}" in str(found)
    assert "C[threadIdx_x] = B" in str(found)


CASES: dict[str, tuple[str, Callable[[], list[Any]], str]] = {
    "read past the end": (
        """
        def f(A: f32[n, 4], B: out[f32[n, 4]]) -> device:
            with launch(threadIdx_x=4) as t:
                B[0, t] = A[n, t]
        """,
        lambda: [f32(2, 4), f32(2, 4)],
        "bounds",
    ),
    "write before the start": (
        """
        def f(A: f32[4], B: out[f32[4]]) -> device:
            with launch(threadIdx_x=4) as t:
                B[t - 1] = A[t]
        """,
        lambda: [f32(4), f32(4)],
        "bounds",
    ),
    "shared memory that nothing was stored to": (
        """
        def f(B: out[f32[8]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=4) as (b, t):
                S = alloc(f32[2, 4], 'shared')
                S[0, t] = 1.0
                barrier_block()
                B[b * 4 + t] = S[1, t]
        """,
        lambda: [f32(8)],
        "uninitialised",
    ),
    "a register that nothing was stored to": (
        """
        def f(A: f32[4], B: out[f32[4]]) -> device:
            with launch(threadIdx_x=4) as t:
                x: f32
                if t < 3:
                    x = A[t]
                B[t] = x
        """,
        lambda: [f32(4), f32(4)],
        "uninitialised",
    ),
    "a barrier that some threads do not come to": (
        """
        def f(B: out[f32[8]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=64) as (b, t):
                if t < 32 * b + 32:
                    barrier_block()
                if t < 4:
                    B[b * 4 + t] = 0.0
        """,
        lambda: [f32(8)],
        "divergence",
    ),
    "two threads write one element": (
        """
        def f(A: f32[4], B: out[f32[4]]) -> device:
            with launch(threadIdx_x=4) as t:
                B[t // 2] = A[t]
        """,
        lambda: [f32(4), f32(4)],
        "race",
    ),
    "two blocks": (
        """
        def f(A: f32[4], B: out[f32[4]]) -> device:
            with launch(blockIdx_x=4) as b:
                B[b] = A[b]
                B[0] = B[(b + 1) % 4]
        """,
        lambda: [f32(4), f32(4)],
        "race",
    ),
    "integer division by zero": (
        """
        def f(A: i32[4], B: out[i32[4]]) -> device:
            with launch(threadIdx_x=4) as t:
                B[t] = 7 // A[t]
        """,
        lambda: [np.array([3, 1, 0, 2], np.int32), np.zeros(4, np.int32)],
        "undefined",
    ),
    "a lane that does not come to an exchange": (
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                if t < 40:
                    B[t] = shuffle_xor(A[t], 1, -1)
        """,
        lambda: [f32(64), f32(64)],
        "divergence",
    ),
    "an exchange with a lane that takes no part": (
        """
        def f(A: f32[32], B: out[f32[32]]) -> device:
            with launch(threadIdx_x=32) as t:
                if t < 16:
                    B[t] = shuffle(A[t], 20, 65535)
        """,
        lambda: [f32(32), f32(32)],
        "undefined",
    ),
    "a named barrier that too few come to": (
        """
        def f(B: out[f32[4]]) -> device:
            with launch(threadIdx_x=96) as t:
                if t < 32:
                    barrier_named(1, 64)
                if t < 4:
                    B[t] = 0.0
        """,
        lambda: [f32(4)],
        "deadlock",
    ),
    "bytes that never come": (
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=32) as t:
                S = alloc(f32[64], 'shared', align=128)
                bar = alloc(u64[1], 'shared')
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 1)
                    fence_mbarrier_init()
                    mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)
                    bulk_load(address(S[0], 'w'), address(A[0], 'r'), 128, address(bar[0], 'rw'))
                barrier_warp(-1)
                mbarrier_wait(address(bar[0], 'rw'), 0)
                B[t] = S[t]
        """,
        lambda: [f32(64), f32(64)],
        "deadlock",
    ),
    "a copy that nobody waits for": (
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                cp_async(address(S[t], 'w'), address(A[t], 'r'), 4)
                cp_async_commit()
                B[t] = S[t]
        """,
        lambda: [f32(64), f32(64)],
        "async",
    ),
    "a copy to where it may not begin": (
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=8) as t:
                S = alloc(f32[64], 'shared')
                cp_async(address(S[t * 6], 'w'), address(A[t * 4], 'r'), 16)
                cp_async_commit()
                cp_async_wait(0)
                B[t] = S[t * 6]
        """,
        lambda: [f32(64), f32(64)],
        "misaligned",
    ),
    "a program that does not end": (
        """
        def f(count: i32, B: out[f32[4]]) -> device:
            with launch(threadIdx_x=4) as t:
                B[t] = 0.0
                for i in range(index(count)):
                    B[t] = B[t] + 1.0
        """,
        lambda: [1 << 30, f32(4)],
        "limit",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reports(name: str, golden: Golden) -> None:
    text, arrays, kind = CASES[name]
    found = fault(text, *arrays(), steps=1000)
    assert found.kind == kind
    golden(said(found))


def test_a_fault_is_pickled_whole() -> None:
    found = fault(CASES["two threads write one element"][0], f32(4), f32(4))
    again = pickle.loads(pickle.dumps(found.faults[0]._replace(stmt=None)))
    assert again.kind == "race" and again.times == 2


def test_the_first_kinds_are_causes() -> None:
    """Faults are sorted: a race before the element that it left empty."""
    assert list(sim.faults.KINDS)[:2] == ["race", "async"]


def test_what_is_atomic_may_depend_on_its_order(golden: Golden) -> None:
    """Only when asked, and where no barrier orders it: sums of floats that several threads update."""
    text = """
    def f(A: f32[64], B: out[f32[1]]) -> device:
        with launch(threadIdx_x=64) as t:
            if t < COUNT:
                atomic_add(address(B[0], 'rwu'), A[t])
            barrier_block()
            if t == 63:
                atomic_add(address(B[0], 'rwu'), A[t])
    """
    total = np.zeros(1, np.float32)
    built(text.replace("COUNT", "63"))(f32(64), total)
    assert total[0] == f32(64).sum()
    with sim.options(deterministic=True):
        built(text.replace("COUNT", "1"))(f32(64), total)
    golden(said(fault(text.replace("COUNT", "63"), f32(64), total, deterministic=True)))


def test_steps_are_those_of_a_call() -> None:
    """Launches that the host makes count too."""
    text = """
    def f(n: i32, B: out[f32[4]]) -> device:
        for i in range(index(n)):
            with launch(threadIdx_x=4) as t:
                B[t] = 0.0
    """
    assert fault(text, 3000, f32(4), steps=1000).kind == "limit"
    with sim.options(steps=6000):
        built(text)(3000, f32(4))


def test_expressions_that_nobody_asks_for_do_nothing() -> None:
    """The side of a conditional that is not taken reads nothing, and divides by nothing."""
    text = """
    def f(A: f32[4], D: i32[4], B: out[f32[4]]) -> device:
        with launch(threadIdx_x=8) as t:
            if t < 4:
                B[t] = (A[t - 1] if 0 < t else 9.0) + f32(8 // D[t] if D[t] != 0 else 0)
    """
    out = np.full(4, np.nan, np.float32)
    built(text)(f32(4), np.array([0, 2, 0, 4], np.int32), out)
    np.testing.assert_array_equal(out, np.array([9, 0 + 4, 1, 2 + 2], np.float32))


def test_a_program_of_no_file_is_reported_at_the_call() -> None:
    """Not in the host part, which is a text too, and between the call and the kernel."""
    module = built(CASES["two threads write one element"][0])
    with pytest.raises(SimulationFault) as caught:
        module(f32(4), f32(4))
    assert caught.value.faults[0].location is None and "test_faults.py" in str(caught.value).splitlines()[1]
