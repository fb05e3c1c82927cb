"""rolling_buffer: windows that move along, of which each element is computed once."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.codegen import nvrtc
from tecomp.schedule import create_schedule
from tests.cases.counting import stores
from tests.schedule.built import built
from tests.schedule.test_cache import computed

SHAPES = [(2, 2), (3, 3), (4, 7), (5, 4), (9, 18), (13, 11)]


def window(h, w, step=1, size=3):
    """B = A * 2 + 1, and C the sums of its windows of size x size, `step` apart."""
    A = te.placeholder((h, w), name="A")
    B = te.compute((h, w), lambda y, x: A[y, x] * 2 + 1, name="B")
    ry, rx = te.reduce_axis((0, size), name="ry"), te.reduce_axis((0, size), name="rx")
    shape = tuple((extent - size) // step + 1 for extent in (h, w))
    C = te.compute(shape, lambda y, x: te.sum(B[y * step + ry, x * step + rx], axis=[ry, rx]), name="C")
    return A, B, C


def sums(a, step=1, size=3):
    b = a * 2 + 1
    h, w = ((extent - size) // step + 1 for extent in a.shape)
    parts = (b[y : y + (h - 1) * step + 1 : step, x : x + (w - 1) * step + 1 : step] for y, x in np.ndindex(size, size))
    return sum(parts) if h > 0 and w > 0 else np.zeros((max(h, 0), max(w, 0)), "f")


def in_rows(s, y, x):
    return y


def in_elements(s, y, x):
    return x


def in_pieces(s, y, x):
    return s.split(y, factor=4)[0]


def in_rows_of_pieces(s, y, x):
    return s.split(y, factor=4)[1]


def in_elements_of_pieces(s, y, x):
    s.split(y, factor=4)
    return s.split(x, factor=2)[1]


def in_columns_at_once(s, y, x):
    outer, inner = s.split(x, factor=4)
    s.reorder(outer, y, inner)
    s.parallel(outer)
    return y


def columns_first(s, y, x):
    s.reorder(x, y)
    return y


PLACES = [in_rows, in_elements, in_pieces, in_rows_of_pieces, in_elements_of_pieces, in_columns_at_once, columns_first]


@pytest.mark.parametrize("place", PLACES)
def test_windows_of_a_plane(place):
    A, B, C = window(te.var("h"), te.var("w"))
    s = create_schedule(C.op)
    s[B].compute_at(s[C], place(s[C], *C.op.axis))
    s[B].rolling_buffer()
    run = built(s, [A, C])
    for shape in SHAPES:
        a = np.random.default_rng(0).standard_normal(shape).astype("f")
        want = sums(a)
        (c,) = run([a], [want.shape])
        np.testing.assert_allclose(c, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("place", PLACES)
def test_each_element_is_computed_once(place):
    A, B, C = window(14, 12)
    s = create_schedule(C.op)
    s[B].compute_at(s[C], place(s[C], *C.op.axis))
    arrays = np.zeros((14, 12), "f"), np.zeros((12, 10), "f")
    assert stores(tecomp.lower(s, [A, C]), "B", *arrays) > 14 * 12
    s[B].rolling_buffer()
    again = 2 * 14 * 2 if place is in_columns_at_once else 0
    assert stores(tecomp.lower(s, [A, C]), "B", *arrays) == 14 * 12 + again


def test_before_and_after(golden):
    A, B, C = window(16, te.var("w"))
    s = create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    before = repr(tecomp.lower(s, [A, C]))
    s[B].rolling_buffer()
    golden(f"{before}\n# {s[B]}.rolling_buffer()\n\n{s!r}\n\n{s.text()}\n{tecomp.lower(s, [A, C])!r}\n")


@pytest.mark.parametrize(("step", "size"), [(2, 3), (2, 5), (3, 4)])
def test_steps_of_more_than_one(step, size):
    A, B, C = window(17, 13, step, size)
    s = create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[1])
    s[B].rolling_buffer()
    a = np.random.default_rng(1).standard_normal((17, 13)).astype("f")
    (c,) = computed(s, [A, C], [a], [C.shape and sums(a, step, size).shape])
    np.testing.assert_allclose(c, sums(a, step, size), rtol=1e-4, atol=1e-5)
    rows, columns = ((extent - size) // step * step + size for extent in (17, 13))
    assert stores(tecomp.lower(s, [A, C]), "B", a, c) == rows * columns


def test_a_window_that_moves_down():
    size = te.var("n")
    A = te.placeholder((size,), name="A")
    B = te.compute((size,), lambda i: A[i] * 2, name="B")
    C = te.compute((size - 2,), lambda i: B[size - 1 - i] + B[size - 3 - i], name="C")
    s = create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].rolling_buffer()
    run, func = built(s, [A, C]), tecomp.lower(s, [A, C])
    for n in (2, 3, 4, 9):
        a = np.random.default_rng(n).standard_normal(n).astype("f")
        (c,) = run([a], [(n - 2,)])
        np.testing.assert_allclose(c, (a[::-1] * 2)[:-2] + (a[::-1] * 2)[2:], rtol=1e-5)
        assert stores(func, "B", a, c) == (n if n > 2 else 0)


def test_a_chain_of_padded_convolutions():
    """Two convolutions with zeros around the image, each in rows of the next, and a reduction that rolls."""
    h, w = te.var("h"), te.var("w")
    A = te.placeholder((h, w), name="A")

    def convolved(X, name):
        padded = te.compute(
            (h + 2, w + 2),
            lambda y, x: te.if_then_else(te.all(y >= 1, y <= h, x >= 1, x <= w), X[y - 1, x - 1], 0.0),
            name=f"{name}_padded",
        )
        ry, rx = te.reduce_axis((0, 3), name="ry"), te.reduce_axis((0, 3), name="rx")
        return padded, te.compute((h, w), lambda y, x: te.sum(padded[y + ry, x + rx], axis=[ry, rx]), name=name)

    P, B = convolved(A, "B")
    Q, C = convolved(B, "C")
    s = create_schedule(C.op)
    y = C.op.axis[0]
    for stage in (P, B, Q):
        s[stage].compute_at(s[C], y)
        s[stage].rolling_buffer()
    func = tecomp.lower(s, [A, C])
    s[B].vectorize(s[B].split(B.op.axis[1], factor=4)[1])
    run = built(s, [A, C])

    def conv(x):
        x = np.pad(x, 1)
        return sum(x[i : x.shape[0] - 2 + i, j : x.shape[1] - 2 + j] for i, j in np.ndindex(3, 3))

    for shape in [(1, 1), (2, 3), (8, 8), (13, 5)]:
        a = np.random.default_rng(2).standard_normal(shape).astype("f")
        (c,) = run([a], [shape])
        np.testing.assert_allclose(c, conv(conv(a)), rtol=1e-4, atol=1e-4)
        assert stores(func, "B", a, c) == shape[0] * shape[1] * 10


def test_windows_along_time_only():
    """A dimension that does not move is held as it is; so is one that another loop moves without overlap."""
    A = te.placeholder((9, 8), name="A")
    B = te.compute((9, 8), lambda t, i: A[t, i] + 1, name="B")
    C = te.compute((7, 4), lambda t, i: B[t, 2 * i] + B[t + 2, 2 * i + 1], name="C")
    s = create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[1])
    s[B].rolling_buffer()
    assert "B = alloc(f32[3, 8], align=64)" in repr(tecomp.lower(s, [A, C]))
    a = np.random.default_rng(3).standard_normal((9, 8)).astype("f")
    (c,) = computed(s, [A, C], [a], [(7, 4)])
    np.testing.assert_allclose(c, (a + 1)[:7, ::2] + (a + 1)[2:, 1::2], rtol=1e-5)
    assert stores(tecomp.lower(s, [A, C]), "B", a, c) == 72


def kernel():
    """A column of the image is each thread's; it keeps three rows of the window in its own memory."""
    A, B, C = window(34, 66)
    s = create_schedule(C.op)
    y, x = C.op.axis
    block, thread = s[C].split(x, factor=32)
    s[C].reorder(block, thread, y)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], y)
    s[B].rolling_buffer()
    return A, C, s


def test_in_the_threads_of_a_kernel():
    A, C, s = kernel()
    built = tecomp.build(s, [A, C], target="cuda -arch=sm_90")
    assert nvrtc.compile_cuda(built.source, "sm_90").cubin
    assert "B = alloc(f32[3, 3], 'local'" in repr(tecomp.lower(s, [A, C], target="cuda"))


@pytest.mark.gpu
def test_on_a_gpu():
    import cupy

    A, C, s = kernel()
    a = cupy.random.default_rng(0).standard_normal((34, 66), dtype="float32")
    c = cupy.zeros((32, 64), "float32")
    tecomp.build(s, [A, C], target="cuda")(a, c)
    np.testing.assert_allclose(c.get(), sums(a.get()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_loop_of_few_iterations(n):
    """In one iteration there is nothing to roll, and the schedule is the same."""
    A, B, C = window(n + 2, 6)
    s = create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].rolling_buffer()
    a = np.random.default_rng(n).standard_normal((n + 2, 6)).astype("f")
    (c,) = computed(s, [A, C], [a], [(n, 4)])
    np.testing.assert_allclose(c, sums(a), rtol=1e-5, atol=1e-5)
