"""reduce_update="atomic": reductions whose iterations run at once on several cores or blocks; scatters by them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import TecompError
from tecomp.ir.interpret import interpret
from tecomp.schedule import create_schedule

from .test_text import made_again

DTYPES = ["float32", "float64", "int32", "int64", "float16", "bfloat16", "uint32", "int16"]
KINDS = ["sum", "max", "min", "prod"]


def rows(n, m, kind, dtype):
    A = te.placeholder((n, m), dtype, name="A")
    k = te.reduce_axis((0, m), name="k")
    return A, k, te.compute((n,), lambda i: getattr(te, kind)(A[i, k], axis=k, where=k % 7 != 3), name="C")


def values(n, m, kind, dtype):
    """Return a matrix whose reductions are exact in every type, in any order, and the result."""
    choices = [1, 1, 1, 1, 2] if kind == "prod" else [-1, 0, 1, 2, 1] if not dtype.startswith("u") else [0, 1, 2]
    a = np.random.default_rng(m).choice(choices, (n, m))
    kept = a[:, np.arange(m) % 7 != 3]
    kept[:, 8:] = np.where(kept[:, 8:] == 2, 1, kept[:, 8:]) if kind == "prod" else kept[:, 8:]
    a[:, np.arange(m) % 7 != 3] = kept
    start = {"sum": 0, "prod": 1, "max": -9, "min": 9}[kind]
    result = getattr(np, kind)(kept, axis=1, initial=start)
    return a.astype(_numpy(dtype)), result


def _numpy(dtype):
    return tecomp.dtype.DType(dtype).numpy


def run(call, a, result, dtype):
    out = np.full(result.shape, 77).astype(_numpy(dtype))
    call(a, out)
    np.testing.assert_array_equal(out.astype("float64"), result)


def on_blocks(C, k, factor=8):
    s = create_schedule(C.op)
    outer, inner = s[C].split(k, factor=factor)
    s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_update="atomic")
    s[C].bind(inner, te.thread_axis("threadIdx.x"), reduce_update="atomic")
    return s


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_on_a_cpu(dtype, kind):
    A, k, C = rows(3, 61, kind, dtype)
    s = create_schedule(C.op)
    s[C].parallel(k, reduce_update="atomic")
    a, result = values(3, 61, kind, dtype)
    run(tecomp.build(s, [A, C]), a, result, dtype)
    func = tecomp.lower(s, [A, C])
    run(lambda *arrays: interpret(func, *arrays), a, result, dtype)
    assert made_again(s) == s.text()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_on_blocks_without_a_gpu(dtype, kind):
    A, k, C = rows(3, 61, kind, dtype)
    s = on_blocks(C, k)
    a, result = values(3, 61, kind, dtype)
    func = tecomp.lower(s, [A, C], target="cuda")
    run(lambda *arrays: interpret(func, *arrays), a, result, dtype)
    tecomp.build(s, [A, C], target="cuda")
    assert made_again(s) == s.text()


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bfloat16"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 61, 1031])
def test_on_a_gpu(dtype, kind, m):
    cupy = pytest.importorskip("cupy")
    A, k, C = rows(3, m, kind, dtype)
    module = tecomp.build(on_blocks(C, k, factor=64), [A, C], target="cuda")
    a, result = values(3, m, kind, dtype)

    def call(*arrays):
        given = [cupy.asarray(array) for array in arrays]
        module(*given)
        arrays[-1][...] = given[-1].get()

    run(call, a, result, dtype)


@pytest.mark.parametrize("m", [0, 1, 7, 8, 9, 13])
@pytest.mark.parametrize("symbolic", [False, True])
def test_sizes(m, symbolic):
    size = te.var("m") if symbolic else m
    A, k, C = rows(3, size, "sum", "float32")
    a, result = values(3, m, "sum", "float32")
    s = on_blocks(C, k)
    func = tecomp.lower(s, [A, C], target="cuda")
    run(lambda *arrays: interpret(func, *arrays), a, result, "float32")
    s = create_schedule(C.op)
    s[C].parallel(k, reduce_update="atomic")
    run(tecomp.build(s, [A, C]), a, result, "float32")


def scatter(m, n):
    """C[j] = the sum of all V[i] with I[i] == j, by a loop over i."""
    I, V = te.placeholder((m,), "int32", name="I"), te.placeholder((m,), name="V")
    i = te.reduce_axis((0, m), name="i")
    C = te.compute((n,), lambda j: te.sum(V[i], axis=i, where=I[i] == j), name="C")
    return I, V, i, C


@pytest.mark.parametrize("n", [1, 7, 8, 9, 13])
def test_scatter(n):
    """Serial, by the cores of a CPU, and by the blocks of a GPU; what lies outside is left out."""
    I, V, i, C = scatter(te.var("m"), te.var("n"))
    plain, cores, blocks = (create_schedule(C.op) for _ in range(3))
    plain[C].reorder(i, C.op.axis[0])
    cores[C].parallel(i, reduce_update="atomic")
    cores[C].reorder(i, C.op.axis[0])
    outer, inner = blocks[C].split(i, factor=32)
    blocks[C].reorder(outer, inner, C.op.axis[0])
    blocks[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_update="atomic")
    blocks[C].bind(inner, te.thread_axis("threadIdx.x"), reduce_update="atomic")
    data = np.random.default_rng(n)
    at, v = data.integers(-2, n + 2, 100).astype("int32"), data.integers(-9, 9, 100).astype("f")
    inside = (at >= 0) & (at < n)
    want = np.zeros(n, "f")
    np.add.at(want, at[inside], v[inside])
    device = tecomp.lower(blocks, [I, V, C], target="cuda")
    calls = [
        tecomp.build(plain, [I, V, C]),
        tecomp.build(cores, [I, V, C]),
        lambda *arrays: interpret(device, *arrays),
    ]
    for call in calls:
        out = np.full(n, 77, "f")
        call(at, v, out)
        np.testing.assert_array_equal(out, want)


def test_the_programs(golden):
    A, k, C = rows(te.var("n"), te.var("m"), "sum", "float32")
    I, V, i, D = scatter(100, 17)
    s = create_schedule(D.op)
    s[D].parallel(i, reduce_update="atomic")
    s[D].reorder(i, D.op.axis[0])
    blocks = on_blocks(C, k)
    golden(
        f"{tecomp.lower(blocks, [A, C])!r}\n\n{tecomp.lower(blocks, [A, C], target='cuda')!r}\n\n"
        f"{tecomp.lower(s, [I, V, D])!r}\n\n{tecomp.build(blocks, [A, C], target='cuda').source}"
    )


def test_partial_results_by_blocks(golden):
    """Each block folds a part with all its threads, and updates the element once."""
    A, k, C = rows(3, 256, "sum", "float32")
    s = create_schedule(C.op)
    partial = s.rfactor(C, s[C].split(k, factor=64)[0])
    s[partial].bind(s[partial].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    joined = s[C].op.reduce_axis[0]
    s[C].reorder(joined, C.op.axis[0])
    s[C].bind(joined, te.thread_axis("blockIdx.x"), reduce_update="atomic")
    s[partial].compute_at(s[C], C.op.axis[0])
    device = tecomp.lower(s, [A, C], target="cuda")
    a, result = values(3, 256, "sum", "float32")
    run(lambda *arrays: interpret(device, *arrays), a, result, "float32")
    golden(repr(device) + "\n")


def _pairs():
    A, k = te.placeholder((3, 9), name="A"), te.reduce_axis((0, 9), name="k")
    return A, k, te.compute((3,), lambda i: te.argmax((k.var, A[i, k]), axis=k), name="C")[0]


def _bind(C, axis, tag="blockIdx.x", update="atomic"):
    s = create_schedule(C.op)
    s[C].bind(axis, te.thread_axis(tag), reduce_update=update)


def _inside(C, k):
    D = te.compute((3,), lambda i: C[i] * 2, name="D")
    s = create_schedule(D.op)
    s[C].compute_at(s[D], D.op.axis[0])
    s[C].parallel(k, reduce_update="atomic")


def _shared(C, k):
    s = create_schedule(C.op)
    outer, inner = s[C].split(k, factor=4)
    s[C].bind(inner, te.thread_axis("threadIdx.x"))
    s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_update="atomic")


def _two(C, k):
    s = create_schedule(C.op)
    s[C].parallel(C.op.axis[0])
    s[C].parallel(k, reduce_update="atomic")


BAD = {
    "another word": lambda: _bind(*rows(3, 9, "sum", "float32")[:0:-1], update="locked"),
    "a data axis": lambda: _bind((C := rows(3, 9, "sum", "float32")[2]), C.op.axis[0]),
    "a pair": lambda: _bind(*_pairs()[:0:-1]),
    "bytes": lambda: _bind(*rows(3, 9, "sum", "int8")[:0:-1]),
    "computed inside other loops": lambda: _inside(*rows(3, 9, "sum", "float32")[:0:-1]),
    "shared out by threads too": lambda: _shared(*rows(3, 9, "sum", "float32")[:0:-1]),
    "blocks without it": lambda: _bind(*rows(3, 9, "sum", "float32")[:0:-1], update=""),
    "two parallel loops": lambda: _two(*rows(3, 9, "sum", "float32")[:0:-1]),
}


def test_refused(golden):
    messages = []
    for name, attempt in BAD.items():
        with pytest.raises(TecompError) as caught:
            attempt()
        message = re.sub(r"(--> \w+\.py):\d+", r"\1:LINE", str(caught.value))
        messages.append(f"# {name}\n{type(caught.value).__name__}: {message}\n")
    golden("\n".join(messages))


def test_the_guard_of_an_update_stays_above_it():
    """What a block shares is made by all of its threads; the update is each thread's own, where its element exists."""
    A, K = te.placeholder((6,), name="A"), te.placeholder((3,), name="K")
    P = te.compute((5,), lambda i: A[i] + 1, name="P")
    k = te.reduce_axis((0, 3), name="k")
    C = te.compute((3,), lambda i: te.sum(P[i + k] * K[k], axis=k), name="C")
    s = create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=4)
    s[C].bind(outer, te.thread_axis("blockIdx.y"))
    s[C].bind(inner, te.thread_axis("threadIdx.x"))
    s[C].bind(k, te.thread_axis("blockIdx.x"), reduce_update="atomic")
    s[P].compute_at(s[C], k)
    s[P].set_scope("shared")
    a, b = np.arange(6, dtype="f"), np.array([1, 2, 3], "f")
    out = np.full(3, 77, "f")
    interpret(tecomp.lower(s, [A, K, C], target="cuda"), a, b, out)
    np.testing.assert_array_equal(out, [np.dot(a[i : i + 3] + 1, b) for i in range(3)])


@pytest.mark.parametrize("steps", [7, 8])
def test_a_step_that_is_none_starts_nothing(steps):
    """The steps of a scan in two loops, of which the last iteration may be no step: it is not begun either."""
    W, state = te.placeholder((4, 4), name="W"), te.placeholder((steps, 4), name="state")
    first = te.compute((1, 4), lambda t, i: W[0, i], name="first")
    k = te.reduce_axis((0, 4), name="k")
    new = te.compute((steps, 4), lambda t, i: te.max(state[t - 1, k] - W[k, i], axis=k), name="new")
    S = te.scan(first, new, state, name="S")
    s = create_schedule(S.op)
    s[S].split(S.op.scan_axis, nparts=4)
    s[new].parallel(k, reduce_update="atomic")
    w = np.random.default_rng(0).integers(-9, 9, (4, 4)).astype("f")
    want = np.zeros((steps, 4), "f")
    want[0] = w[0]
    for t in range(1, steps):
        want[t] = (want[t - 1][:, None] - w).max(0)
    out = np.full((steps, 4), 77, "f")
    interpret(tecomp.lower(s, [W, S]), w, out)
    np.testing.assert_array_equal(out, want)
