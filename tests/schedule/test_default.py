"""te.default_schedule, and `build` of tensors: every graph gets a legal schedule, on a CPU and on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.ir.interpret import interpret
from tecomp.target import Target
from tests.intrinsics import gemv, numbers

from ..differential.programs import case
from ..differential.running import check
from .test_text import made_again

SEEDS = range(64)


@pytest.mark.parametrize("seed", SEEDS)
def test_on_a_cpu(seed):
    program, _ = case(seed)
    s = te.default_schedule(list(program.expected), "llvm")
    check(s.text(), program, tecomp.build(s, program.args))
    assert made_again(s) == s.text()


@pytest.mark.parametrize("seed", SEEDS)
def test_on_a_gpu_without_one(seed):
    program, _ = case(seed)
    s = te.default_schedule(list(program.expected), "cuda")
    func = tecomp.lower(s, program.args, target="cuda")
    check(s.text(), program, lambda *arrays: interpret(func, *arrays))


@pytest.mark.gpu
@pytest.mark.parametrize("seed", SEEDS)
def test_on_a_gpu(seed):
    cupy = pytest.importorskip("cupy")
    program, _ = case(seed)
    s = te.default_schedule(list(program.expected), "cuda")
    check(s.text(), program, tecomp.build(s, program.args, target="cuda"), cupy)


def matmul(n):
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    return A, B, te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")


def softmax(n, m):
    X, k, l = te.placeholder((n, m), name="X"), te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="l")
    M = te.compute((n,), lambda i: te.max(X[i, k], axis=k), name="M")
    E = te.compute((n, m), lambda i, j: te.exp(X[i, j] - M[i]), name="E")
    S = te.compute((n,), lambda i: te.sum(E[i, l], axis=l), name="S")
    return X, te.compute((n, m), lambda i, j: E[i, j] / S[i], name="Y")


@pytest.mark.parametrize("target", ["llvm", "cuda -arch=sm_80"])
def test_what_it_says(target, golden):
    *_, C = matmul(256)
    _, Y = softmax(te.var("n"), 1024)
    golden(f"{te.default_schedule(C, target).text()}\n{te.default_schedule([Y], target).text()}", target.split()[0])


def test_build_of_tensors():
    A, B, C = matmul(37)
    a, b = np.random.default_rng(0).standard_normal((2, 37, 37)).astype("f")
    for module in (tecomp.build(C), tecomp.build([C]), tecomp.build([C], [A, B, C])):
        c = np.full((37, 37), np.nan, "f")
        module(a, b, c)
        np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


def test_lower_of_tensors():
    _, Y = softmax(4, 64)
    func = tecomp.lower(Y)
    assert [param.name for param in func.params] == ["X", "Y"]


def test_the_target_of_the_block():
    *_, C = matmul(64)
    with Target("cuda -arch=sm_80"):
        assert "blockIdx" in te.default_schedule(C).text()
    assert "blockIdx" not in te.default_schedule(C).text()


def test_arguments_of_a_scan():
    X, state = te.placeholder((6, 5), name="X"), te.placeholder((6, 5), name="state")
    init = te.compute((1, 5), lambda _, i: X[0, i], name="init")
    update = te.compute((6, 5), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    x, out = np.random.default_rng(0).standard_normal((2, 6, 5)).astype("f")
    tecomp.build([S])(x, out)
    np.testing.assert_allclose(out, np.cumsum(x, 0), rtol=1e-5, atol=1e-6)


@te.hybrid.script
def reflected(a):
    b = output_tensor(a.shape, a.dtype)  # noqa: F821 (names of hybrid functions)
    for i in range(a.shape[0]):
        b[i] = a[i] + a[a.shape[0] - 1 - i]
    return b


@te.hybrid.script
def summed(a):
    b = output_tensor(a.shape, a.dtype)  # noqa: F821
    b[0] = a[0]
    for i in range(1, a.shape[0]):
        b[i] = b[i - 1] + a[i]
    return b


@te.hybrid.script
def threaded(a):
    b = output_tensor(a.shape, a.dtype)  # noqa: F821
    for i in bind("threadIdx.x", a.shape[0]):  # noqa: F821
        b[i] = a[i] * 3
    return b


@te.hybrid.script
def at_once(a):
    b = output_tensor(a.shape, a.dtype)  # noqa: F821
    for i in parallel(a.shape[0]):  # noqa: F821
        b[i] = a[i] * 5
    return b


FUNCTIONS = {
    reflected: lambda a: a + a[::-1],
    summed: np.cumsum,
    threaded: lambda a: a * 3,
    at_once: lambda a: a * 5,
}


@pytest.mark.parametrize(("function", "want"), FUNCTIONS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_hybrid_function_between_kernels(function, want):
    n, a = te.var("n"), np.arange(9, dtype="f")
    A = te.placeholder((n,), name="A")
    H = function(te.compute((n,), lambda i: te.exp(A[i]) * 0 + A[i], name="B"))
    C = te.compute((n,), lambda i: H[i] * 2, name="C")
    c = np.full(9, np.nan, "f")
    interpret(tecomp.lower(te.default_schedule([C], "cuda"), [A, C], target="cuda"), a, c)
    np.testing.assert_array_equal(c, want(a) * 2)


def statements_of_ones_own(thread=None):
    A = te.placeholder((4,), name="A")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        a, c = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        if thread is not None:
            ib.scope_attr(thread, "thread_extent", 1)
        with ib.for_range(0, 4) as i:
            c[i] = a[i] + 1.0
        return ib.get()

    return A, te.extern((4,), [A], body, name="C", dtype="float32")


@pytest.mark.parametrize("target", ["llvm", "cuda"])
@pytest.mark.parametrize("thread", [None, te.thread_axis("threadIdx.x")])
def test_statements_of_ones_own(target, thread):
    """One thread runs those that do not say which threads do; what reads them is another kernel."""
    A, C = statements_of_ones_own(thread if target == "cuda" else None)
    D = te.compute((4,), lambda i: C[i] * 2, name="D")
    s = te.default_schedule([D], target)
    assert made_again(s) == s.text()
    d = np.zeros(4, "float32")
    interpret(tecomp.lower(s, [A, D], target=target), np.arange(4, dtype="float32"), d)
    np.testing.assert_array_equal(d, [2, 4, 6, 8])


def times(a, w):
    return gemv(16, 12)(a, w[0:16, 0:12])


CALLS = {
    (): lambda A, W: lambda: times(A[0:12], W),
    (5,): lambda A, W: lambda i: times(A[i, 0:12], W),
    (3, 4): lambda A, W: lambda i, j: times(A[i, j, 0:12], W),
}


@pytest.mark.parametrize("rows", CALLS, ids=str)
@pytest.mark.parametrize("target", ["llvm", "cuda"])
def test_a_call_of_an_intrinsic(rows, target):
    A, W = te.placeholder((*rows, 12), name="A"), te.placeholder((16, 12), name="W")
    D = te.compute((*rows, 16), CALLS[rows](A, W), name="D")
    s = te.default_schedule([D], target)
    assert made_again(s) == s.text()
    a, w = numbers((*rows, 12), (16, 12))
    d = np.zeros((*rows, 16), "float32")
    interpret(tecomp.lower(s, [A, W, D], target=target), a, w, d)
    np.testing.assert_array_equal(d, a @ w.T)
