"""A TVM user's script runs when its imports are changed, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp as tvm
from tecomp import te


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64-v3"])
def test_matrix_product(target):
    """Arrays on a device, a named function, a time evaluator, a comparison: as in a tutorial."""
    n = 48
    A = te.placeholder((n, n), name="A", dtype="float32")
    B = te.placeholder((n, n), name="B", dtype="float32")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((n, n), lambda x, y: te.sum(A[x, k] * B[k, y], axis=k), name="C")
    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], 16, 16)
    (kaxis,) = s[C].op.reduce_axis
    ko, ki = s[C].split(kaxis, factor=4)
    s[C].reorder(xo, yo, ko, ki, xi, yi)
    s[C].vectorize(yi)
    assert "mmult" in str(tvm.lower(s, [A, B, C], name="mmult", simple_mode=True))
    with tvm.transform.PassContext(opt_level=3):
        func = tvm.build(s, [A, B, C], target=target, name="mmult")
    dev = tvm.device(target, 0)
    a = tvm.nd.array(np.random.rand(n, n).astype("float32"), dev)
    b = tvm.nd.array(np.random.rand(n, n).astype("float32"), dev)
    c = tvm.nd.array(np.zeros((n, n), dtype="float32"), dev)
    func(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), np.dot(a.numpy(), b.numpy()), rtol=1e-5)
    evaluator = func.time_evaluator(func.entry_name, dev, number=1)
    assert evaluator(a, b, c).mean > 0


def test_tuple_reduction():
    """A reducer of pairs and te.create_schedule of two outputs, called with NumPy arrays made into nd.arrays."""

    def fcombine(x, y):
        lhs = tvm.tir.Select((x[1] >= y[1]), x[0], y[0])
        rhs = tvm.tir.Select((x[1] >= y[1]), x[1], y[1])
        return lhs, rhs

    def fidentity(t0, t1):
        return tvm.tir.const(-1, t0), tvm.te.min_value(t1)

    argmax = te.comm_reducer(fcombine, fidentity, name="argmax")
    m, n = te.var("m"), te.var("n")
    idx = te.placeholder((m, n), name="idx", dtype="int32")
    val = te.placeholder((m, n), name="val", dtype="int32")
    k = te.reduce_axis((0, n), "k")
    T0, T1 = te.compute((m,), lambda i: argmax((idx[i, k], val[i, k]), axis=k), name="T")
    s = te.create_schedule(T0.op)
    fargmax = tvm.build(s, [idx, val, T0, T1], "llvm")
    dev = tvm.cpu(0)
    np_idx = np.repeat(np.arange(7, dtype="int32").reshape(1, 7), 3, axis=0)
    np_val = np.random.randint(0, 1000, (3, 7)).astype("int32")
    t0, t1 = (tvm.nd.array(np.zeros(3, dtype="int32"), dev) for _ in range(2))
    fargmax(tvm.nd.array(np_idx, dev), tvm.nd.array(np_val, dev), t0, t1)
    tvm.testing.assert_allclose(t1.numpy(), np.max(np_val, axis=1))
    tvm.testing.assert_allclose(t0.asnumpy(), np.argmax(np_val, axis=1))


def test_vector_addition_for_a_gpu():
    """The CUDA source of a function is there on any machine; it runs where tvm.cuda(0) exists."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    bx, tx = s[C].split(C.op.axis[0], factor=64)
    s[C].bind(bx, te.thread_axis("blockIdx.x"))
    s[C].bind(tx, te.thread_axis("threadIdx.x"))
    tgt = tvm.target.Target("cuda", host="llvm")
    fadd = tvm.build(s, [A, B, C], tgt, name="myadd")
    assert "__global__" in fadd.imported_modules[0].get_source()
    if not tvm.cuda(0).exist:
        return
    dev = tvm.cuda(0)
    a = tvm.nd.array(np.random.uniform(size=1000).astype(A.dtype), dev)
    b = tvm.nd.array(np.random.uniform(size=1000).astype(B.dtype), dev)
    c = tvm.nd.array(np.zeros(1000, dtype=C.dtype), dev)
    fadd(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a.numpy() + b.numpy())


def test_sort_by_a_packed_function():
    """te.extern with a function registered by name."""

    @tvm.register_func("tests.programs.argsort", override=True)
    def argsort(data, out):
        out[:] = np.argsort(data, axis=1, kind="stable")

    data = te.placeholder((5, 9), name="data", dtype="float32")
    out = te.extern(
        data.shape,
        [data],
        lambda ins, outs: tvm.tir.call_packed("tests.programs.argsort", ins[0], outs[0]),
        dtype="int32",
        name="sort",
    )
    s = te.create_schedule(out.op)
    f = tvm.build(s, [data, out], "llvm")
    dev = tvm.cpu()
    a = tvm.nd.array(np.random.rand(5, 9).astype("float32"), dev)
    b = tvm.nd.array(np.zeros((5, 9), dtype="int32"), dev)
    f(a, b)
    tvm.testing.assert_allclose(b.numpy(), np.argsort(a.numpy(), axis=1))
