"""Every access is guarded, under the conditions under which it happens; a call names the place it finds."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import UnsupportedError
from tecomp.ir.expr import Var
from tecomp.ir.interpret import interpret
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import check_accesses, one_lane, simplify
from tecomp.transform import PassContext
from tecomp_runtime import AccessError
from tests.goldens import Golden
from tests.passes.programs import CPU

CHECKED = {"tir.instrument_bound_checkers": True}

GATHER = """
def f(A: f32[n], at: i32[m], B: out[f32[m]]):
    for i in range(m):
        B[i] = A[index(at[i])] * 2.0
"""
LAZY = """
def f(A: f32[n], at: i32[m], B: out[f32[m]]):
    for i in range(m):
        B[i] = A[index(at[i + 1])] if i + 1 < m and at[i + 1] < 9 else 0.0
"""


@pytest.mark.parametrize("source", [GATHER, LAZY], ids=["gather", "lazy"])
def test_before_and_after(source: str, golden: Golden) -> None:
    func = check_accesses.run(parse(source), CPU)
    golden(text(simplify.run(func, CPU)))


def test_what_is_noted() -> None:
    func = parse(GATHER)
    checked = check_accesses.run(func, CPU)
    a, b = np.arange(4, dtype="float32"), np.full(3, -1, "float32")
    faults = np.zeros(16, "int64")
    interpret(checked, a, np.array([3, 7, 0], "int32"), b, faults)
    assert b.tolist() == [6, -1, 0]
    site = check_accesses.sites(func)[int(faults[0]) - 1]
    assert (site.verb, site.buffer.name, faults[1]) == ("read", "A", 7)


def test_an_access_that_is_not_reached_is_not_asked() -> None:
    checked = check_accesses.run(parse(LAZY), CPU)
    a, b, faults = np.arange(9, dtype="float32"), np.zeros(3, "float32"), np.zeros(16, "int64")
    interpret(checked, a, np.array([0, 8, 99], "int32"), b, faults)
    assert faults[0] == 0 and b.tolist() == [8, 0, 0]


def test_an_index_of_lanes_that_are_no_ramp() -> None:
    source = """
def f(A: f32[n], at: i32[8], B: out[f32[8]]):
    B[ramp(0, 1, 8)] = A[indexx8(at[ramp(0, 1, 8)])]
"""
    with pytest.raises(UnsupportedError) as caught:
        check_accesses.run(parse(source), CPU)
    assert caught.value.because == "each of its lanes is another element"


def test_ramps_are_checked_at_their_ends() -> None:
    func = check_accesses.run(
        parse("def f(A: f32[n], B: out[f32[8]]):\n    B[ramp(0, 1, 8)] = A[ramp(n - 8, 1, 8)]\n"), CPU
    )
    for n, fault in ((8, 0), (9, 0), (7, 1)):
        faults = np.zeros(16, "int64")
        interpret(func, np.zeros(n, "float32"), np.zeros(8, "float32"), faults)
        assert (faults[0] != 0) == fault


@pytest.mark.parametrize("target", ["llvm", "cuda -arch=sm_80"])
def test_a_build_of_it(target: str) -> None:
    n, m = te.var("n"), te.var("m")
    A, at = te.placeholder((n,), name="A"), te.placeholder((m,), "int32", name="at")
    B = te.compute((m,), lambda i: A[at[i]] + 1, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], 8)
    if target == "llvm":
        s[B].vectorize(inner)
    else:
        s[B].bind(outer, te.thread_axis("blockIdx.x"))
        s[B].bind(inner, te.thread_axis("threadIdx.x"))
    with PassContext(config=CHECKED):
        module = tecomp.build(s, [A, at, B], target, name="gather")
    assert module.ir.params[-1].name == "faults"
    if target != "llvm":
        return
    a, b = np.arange(5, dtype="float32"), np.zeros(9, "float32")
    module(a, np.arange(9, dtype="int32") % 5, b)
    np.testing.assert_array_equal(b, np.arange(9) % 5 + 1)
    wrong = np.arange(9, dtype="int32") % 5
    wrong[6] = -3
    with pytest.raises(AccessError) as caught:
        module(a, wrong, b)
    assert isinstance(caught.value, IndexError)
    lines = str(caught.value).splitlines()
    assert lines[0] == "gather: 'A' is read at [-3]"
    assert lines[1].startswith("  because: its shape is [n] (test_check_accesses.py:")
    assert lines[1].endswith('B = te.compute((m,), lambda i: A[at[i]] + 1, name="B"))')


def test_lanes_run_alone() -> None:
    source = "def f(B: out[f32[8]]):\n    for i in vectorized(8):\n        B[i] = 1.0\n"
    before = parse(source)
    assert text(one_lane.run(before, CPU)) == text(before).replace("vectorized", "range")
    assert one_lane.run(one_lane.run(before, CPU), CPU).body is not None
    assert isinstance(before.body.loop_var, Var)


@pytest.mark.gpu
def test_a_read_outside_on_a_gpu() -> None:
    A, at = te.placeholder((5,), name="A"), te.placeholder((9,), "int32", name="at")
    B = te.compute((9,), lambda i: A[at[i]] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    with PassContext(config=CHECKED):
        module = tecomp.build(s, [A, at, B], "cuda", name="gather")
    gpu = tecomp.cuda(0)
    a, b = tecomp.nd.array(np.arange(5, dtype="float32"), gpu), tecomp.nd.empty((9,), "float32", gpu)
    module(a, tecomp.nd.array(np.arange(9, dtype="int32") % 5, gpu), b)
    np.testing.assert_array_equal(b.numpy(), np.arange(9) % 5 + 1)
    with pytest.raises(AccessError, match=r"gather: 'A' is read at \[7\]"):
        module(a, tecomp.nd.array(np.full(9, 7, "int32"), gpu), b)
