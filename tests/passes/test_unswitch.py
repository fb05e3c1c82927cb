"""Choices that a thread makes alike in every iteration, in front of its loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.codegen.nvrtc import compile_cuda
from tecomp.ir.func import Func
from tecomp.ir.interpret import interpret
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import unswitch
from tests.goldens import Golden
from tests.passes.programs import GPU, same_results


def unswitched(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, unswitch.run(before, GPU)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 9])
def test_one_choice_before_loops_and_for_all_statements(golden: Golden, n: int) -> None:
    before, after = unswitched("""
def f(A: f32[m, n], B: out[f32[m, n]]):
    for tx in thread('threadIdx.x', (n + 1) // 2):
        if tx * 2 + 1 < n:
            B[0, tx * 2] = A[0, tx * 2]
            B[0, tx * 2 + 1] = A[0, tx * 2 + 1]
        else:
            B[0, tx * 2] = A[0, tx * 2]
        for t in range(1, m):
            for u in range(2):
                if tx * 2 + 1 < n:
                    B[t, tx * 2 + u] = A[t, tx * 2 + u] * 2.0
                else:
                    B[t, tx * 2] = A[t, tx * 2]
""")
    if n == 0:
        golden(text(after))
    same_results(before, after, m=3, n=n)


STAYS = {
    "threads_meet_in_memory": """
        for i in range(4):
            if tx < n:
                B[tx] = A[tx]
            else:
                B[7 - tx] = B[tx]
""",
    "the_condition_reads_memory": """
        for i in range(4):
            if A[tx] < 3.0:
                B[tx] = B[tx] + 1.0
            else:
                B[tx] = 0.0
""",
    "the_condition_changes": """
        for i in range(4):
            if i < n:
                B[tx] = B[tx] + 1.0
            else:
                B[tx] = 0.0
""",
    "nothing_is_chosen": """
        for i in range(4):
            B[tx] = B[tx] + 1.0
""",
}


@pytest.mark.parametrize("body", STAYS)
def test_what_stays(body: str) -> None:
    header = "def f(A: f32[8], B: out[f32[8]], n: index):\n    for tx in thread('threadIdx.x', 8):"
    before, after = unswitched(header + STAYS[body])
    assert after is before


def vectorized_scan(m: Any, n: Any, dtype: str, lanes: int) -> tuple[Any, list[Any]]:
    """Running sums of the columns, `lanes` of them in each of 8 threads a block."""
    X, state = te.placeholder((m, n), dtype, name="X"), te.placeholder((m, n), dtype, name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X])
    s = te.create_schedule(scan.op)
    for stage in (init, update):
        columns, lane = s[stage].split(stage.op.axis[1], factor=lanes)
        block, thread = s[stage].split(columns, factor=8)
        s[stage].bind(block, te.thread_axis("blockIdx.x"))
        s[stage].bind(thread, te.thread_axis("threadIdx.x"))
        s[stage].vectorize(lane)
    return s, [X, scan]


@pytest.mark.parametrize(("dtype", "lanes"), [("float32", 4), ("float32", 8), ("float64", 2), ("int8", 16)])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 31), (9, 32), (40, 33), (33, 130)])
def test_a_vectorized_scan_of_any_width(dtype: str, lanes: int, m: int, n: int) -> None:
    schedule, args = vectorized_scan(te.var("m"), te.var("n"), dtype, lanes)
    x = np.random.default_rng(m * n).integers(-50, 50, (m, n)).astype(dtype)
    result = np.zeros_like(x)
    interpret(tecomp.lower(schedule, args, target="cuda -arch=sm_80"), x, result)
    np.testing.assert_array_equal(result, np.cumsum(x, axis=0, dtype=dtype))


def test_a_vectorized_scan_carries_and_moves_whole_vectors(golden: Golden) -> None:
    """Rows of a width that is a multiple of the lanes: every access of the main part is one of 16 bytes."""
    schedule, args = vectorized_scan(te.var("m"), 4 * te.var("n"), "float32", 4)
    module = tecomp.build(schedule, args, target="cuda -arch=sm_90a", name="sums")
    golden(module.source[module.source.index('extern "C"') :])
    compile_cuda(module.source, "sm_80")
    x = np.random.default_rng(0).integers(-50, 50, (21, 44)).astype("float32")
    result = np.zeros_like(x)
    interpret(module.ir, x, result)
    np.testing.assert_array_equal(result, np.cumsum(x, axis=0))
