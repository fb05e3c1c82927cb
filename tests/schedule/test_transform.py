"""transform_layout: where elements lie then, in which loops they are computed, and that every reader finds them."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.codegen import nvrtc
from tecomp.schedule import create_schedule

from .built import built
from .test_cache import SIZES, computed
from .test_text import made_again


def cube(shape, halfway=True):
    """A -> B = A + 1 -> C = B * 2, of one shape."""
    A = te.placeholder(shape, name="A")
    B = te.compute(shape, lambda *at: A[at] + 1, name="B")
    C = te.compute(shape, lambda *at: B[at] * 2, name="C")
    return A, B, C


MAPS = {
    "a permutation": (lambda i, j, k: [k, i, j], lambda x: x.transpose(2, 0, 1)),
    "blocks": (lambda i, j, k: [i, k // 8, j, k % 8], lambda x: x.reshape(4, 6, 5, 8).transpose(0, 2, 1, 3)),
    "two levels of blocks": (
        lambda i, j, k: [k // 8, k % 8 // 2, i, j, k % 2],
        lambda x: x.reshape(4, 6, 5, 4, 2).transpose(2, 3, 0, 1, 4),
    ),
    "one dimension": (lambda i, j, k: [(i * 6 + j) * 40 + k], lambda x: x.reshape(-1)),
    "a cut through a fused index": (
        lambda i, j, k: [(i * 6 + j) // 3, k, (i * 6 + j) % 3],
        lambda x: x.reshape(8, 3, 40).transpose(0, 2, 1),
    ),
    "a cut beyond an index": (
        lambda i, j, k: [(i * 6 + j) // 12, k, (i * 6 + j) % 12],
        lambda x: x.reshape(2, 12, 40).transpose(0, 2, 1),
    ),
    "digits joined anew": (
        lambda i, j, k: [k % 4 * 4 + i, j, k // 4],
        lambda x: x.reshape(4, 6, 10, 4).transpose(3, 0, 1, 2).reshape(16, 6, 10),
    ),
    "dimensions of one": (lambda i, j, k: [0, i, j, k // 64, k], lambda x: x.reshape(1, 4, 6, 1, 40)),
    "separators": (
        lambda i, j, k: [j, k // 8, te.AXIS_SEPARATOR, i, k % 8],
        lambda x: x.reshape(4, 6, 5, 8).transpose(1, 2, 0, 3).reshape(30, 32),
    ),
    "of any number of axes": (lambda *at: [*at[1:], at[0]], lambda x: x.transpose(1, 2, 0)),
    "divided as C divides": (
        lambda i, j, k: [te.truncdiv(k, 8), i, j, te.truncmod(k, 8)],
        lambda x: x.reshape(4, 6, 5, 8).transpose(2, 0, 1, 3),
    ),
}


@pytest.mark.parametrize("name", MAPS)
def test_input_and_output_in_another_layout(name):
    mapping, arranged = MAPS[name]
    A, B, C = cube((4, 6, 40))
    s = create_schedule(C.op)
    for tensor in (A, B, C):
        s[tensor].transform_layout(mapping)
    a = np.random.default_rng(0).standard_normal((4, 6, 40)).astype("f")
    want = arranged((a + 1) * 2)
    (c,) = computed(s, [A, C], [np.ascontiguousarray(arranged(a))], [want.shape])
    np.testing.assert_array_equal(c, want)


def test_the_loops_of_a_stage_follow(golden):
    A, B, C = cube((4, 6, 40))
    s = create_schedule(C.op)
    s[A].transform_layout(lambda i, j, k: [i, j, k // 8, k % 8])
    ko, ij, ki = s[B].transform_layout(lambda i, j, k: [k // 8, i * 6 + j, k % 8])
    j, k, i, lane = s[C].transform_layout(lambda i, j, k: [j, k // 4, i, te.AXIS_SEPARATOR, k % 4])
    assert s[B].leaf_iter_vars == (ko, ij, ki)
    assert (i, j) == (C.op.axis[0], C.op.axis[1])
    s[C].vectorize(lane)
    s[C].parallel(s[C].fuse(j, k))
    golden(f"{s!r}\n\n{s.text()}\n{tecomp.lower(s, [A, C])!r}\n")
    assert made_again(s) == s.text()


@pytest.mark.parametrize("place", ["root", "outer", "inner"])
def test_a_temporary_may_have_gaps(place):
    """Constants need not divide the extents of a tensor in memory of its own, wherever it is computed."""
    m = te.var("m")
    A, B, C = cube((te.var("n"), m))
    s = create_schedule(C.op)
    s[B].transform_layout(lambda i, j: [j // 8, i // 3, i % 3, j % 8])
    outer, inner = s[C].split(C.op.axis[0], factor=4)
    if place != "root":
        s[B].compute_at(s[C], outer if place == "outer" else inner)
    run = built(s, [A, C])
    for n in SIZES:
        a = np.random.default_rng(n).standard_normal((n, 11)).astype("f")
        (c,) = run([a], [a.shape])
        np.testing.assert_array_equal(c, (a + 1) * 2)


def test_a_part_in_another_layout_is_held_alone():
    A, B, C = cube((16, 6))
    s = create_schedule(C.op)
    s[B].transform_layout(lambda i, j: [i // 4, j, i % 4])
    outer, _ = s[C].split(C.op.axis[0], factor=4)
    s[B].compute_at(s[C], outer)
    assert "B = alloc(f32[1, 6, 4], align=64)" in repr(tecomp.lower(s, [A, C]))


def test_symbolic_extents():
    n, m = te.var("n"), te.var("m")
    A, B, C = cube((n * 4, m))
    s = create_schedule(C.op)
    s[A].transform_layout(lambda i, j: [i // 4, j, i % 4])
    s[C].transform_layout(lambda i, j: [j, i])
    s[B].transform_layout(lambda i, j: [i * m + j])
    a = np.random.default_rng(1).standard_normal((12, 5)).astype("f")
    (c,) = computed(s, [A, C], [np.ascontiguousarray(a.reshape(3, 4, 5).transpose(0, 2, 1))], [(5, 12)])
    np.testing.assert_array_equal(c, (a.T + 1) * 2)


def test_a_reduction_and_its_copies():
    """Loops of a transformed stage are split, marked, and host other stages; copies of it lie as they were declared."""
    size = te.var("n")
    A, B = te.placeholder((size, size), name="A"), te.placeholder((size, size * 4), name="B")
    k = te.reduce_axis((0, size), name="k")
    C = te.compute((size, size * 4), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = create_schedule(C.op)
    s[B].transform_layout(lambda k, j: [j // 4, k, j % 4])
    packed = s.cache_read(B, "global", [C])
    s[packed].transform_layout(lambda k, j: [j // 4, k // 2, k % 2, j % 4])
    jo, i, ji = s[C].transform_layout(lambda i, j: [j // 4, i, j % 4])
    io, ii = s[C].split(i, factor=4)
    s[C].reorder(jo, io, k, ii, ji)
    s[C].vectorize(ji)
    s[packed].compute_at(s[C], jo)
    run = built(s, [A, B, C])
    for n in SIZES:
        a, b = np.random.default_rng(n).standard_normal((n, n)), np.random.default_rng(n).standard_normal((n, n * 4))
        lying = np.ascontiguousarray(b.reshape(n, n, 4).transpose(1, 0, 2)).astype("f")
        (c,) = run([a.astype("f"), lying], [(n, n, 4)])
        np.testing.assert_allclose(c, (a @ b).reshape(n, n, 4).transpose(1, 0, 2), rtol=1e-4, atol=1e-5)


def test_a_result_written_from_a_cache():
    A, B, C = cube((8, 12))
    s = create_schedule(C.op)
    s[B].compute_inline()
    s[C].transform_layout(lambda i, j: [j // 4, i, j % 4])
    s.cache_write(C, "global")
    a = np.random.default_rng(3).standard_normal((8, 12)).astype("f")
    (c,) = computed(s, [A, C], [a], [(3, 8, 4)])
    np.testing.assert_array_equal(c, ((a + 1) * 2).reshape(8, 3, 4).transpose(1, 0, 2))


def test_two_results_of_one_operation():
    A = te.placeholder((6, 8), name="A")
    X, Y = te.compute((6, 8), lambda i, j: (A[i, j] + 1, A[i, j] * 2), name="XY")
    s = create_schedule(X.op)
    s[X].transform_layout(lambda i, j: [j, i])
    a = np.random.default_rng(4).standard_normal((6, 8)).astype("f")
    x, y = computed(s, [A, X, Y], [a], [(8, 6), (8, 6)])
    np.testing.assert_array_equal(x, (a + 1).T)
    np.testing.assert_array_equal(y, (a * 2).T)


def test_a_tensor_without_dimensions():
    A = te.placeholder((), name="A")
    B = te.compute((), lambda: A() + 1, name="B")
    s = create_schedule(B.op)
    s[B].transform_layout(lambda: [0])
    (b,) = computed(s, [A, B], [np.array(3, "f")], [(1,)])
    assert b.tolist() == [4]


def test_an_axis_of_one_value_that_the_map_leaves_out():
    A, B, C = cube((1, 8))
    s = create_schedule(C.op)
    s[B].transform_layout(lambda i, j: [j])
    a = np.random.default_rng(5).standard_normal((1, 8)).astype("f")
    (c,) = computed(s, [A, C], [a], [(1, 8)])
    np.testing.assert_array_equal(c, (a + 1) * 2)


def kernel():
    """Rows of four elements, each read and written as one by a thread."""
    A, B, C = cube((64, 96))
    s = create_schedule(C.op)
    s[B].compute_inline()
    s[A].transform_layout(lambda i, j: [j // 4, i, j % 4])
    block, thread, lane = s[C].transform_layout(lambda i, j: [j // 4, i, j % 4])
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    s[C].vectorize(lane)
    return A, C, s


def test_a_kernel_compiles():
    A, C, s = kernel()
    source = tecomp.build(s, [A, C], target="cuda -arch=sm_90").source
    assert "vec<4>(C + blockIdx_x * 256 + threadIdx_x * 4)" in source
    assert nvrtc.compile_cuda(source, "sm_90").cubin


@pytest.mark.gpu
def test_on_a_gpu():
    import cupy

    A, C, s = kernel()
    a = cupy.random.default_rng(0).standard_normal((24, 64, 4), dtype="float32")
    c = cupy.zeros((24, 64, 4), "float32")
    tecomp.build(s, [A, C], target="cuda")(a, c)
    np.testing.assert_array_equal(c.get(), (a.get() + 1) * 2)
