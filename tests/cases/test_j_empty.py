"""Group J: tensors without elements or without dimensions, and indices that are out of range whatever the data."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tests.cases.tiling import bound

DATA = np.random.default_rng(0)


def matmul(m, n, k):
    A, B = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="r")
    return A, B, r, te.compute((m, n), lambda i, j: te.sum(A[i, r] * B[r, j], axis=r), name="C")


SHAPES = [(2, 3, 0), (0, 3, 2), (2, 0, 3), (0, 0, 0), (1, 1, 0), (3, 2, 1)]


def check_matmul(program, A, B, C, shape):
    m, n, k = shape
    a, b = DATA.integers(-9, 9, (m, k)).astype("float32"), DATA.integers(-9, 9, (k, n)).astype("float32")
    program({A: a, B: b}, {C: a @ b})


@pytest.mark.parametrize("shape", SHAPES)
def test_a_matmul_over_nothing(cpu, shape):
    """tvm#19578: its result was left as memory was."""
    A, B, r, C = matmul(*shape)
    s = te.create_schedule(C.op)
    s[C].split(r, 4)
    s[C].vectorize(s[C].split(C.op.axis[1], 4)[1])
    check_matmul(cpu(s, [A, B, C]), A, B, C, shape)


def test_a_matmul_over_nothing_of_symbolic_size(cpu):
    A, B, _, C = matmul(te.var("m"), te.var("n"), te.var("k"))
    program = cpu(te.create_schedule(C.op), [A, B, C])
    for shape in SHAPES:
        check_matmul(program, A, B, C, shape)


def test_a_matmul_over_nothing_on_cuda(cuda):
    A, B, _, C = matmul(te.var("m"), te.var("n"), te.var("k"))
    s = te.create_schedule(C.op)
    bound(s, C, 4, s[C].fuse(*C.op.axis))
    program = cuda(s, [A, B, C])
    for shape in SHAPES:
        check_matmul(program, A, B, C, shape)


IDENTITY = {
    "sum": {"float32": 0, "int8": 0},
    "prod": {"float32": 1, "int8": 1},
    "max": {"float32": -np.inf, "int8": -128},
    "min": {"float32": np.inf, "int8": 127},
}


@pytest.mark.parametrize("name", IDENTITY)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_reduction_over_nothing(cpu, name, dtype, n):
    """Its result is what the reduction starts from."""
    A = te.placeholder((2, n), dtype, name="A")
    k = te.reduce_axis((0, n), name="k")
    B = te.compute((2,), lambda i: getattr(te, name)(A[i, k], axis=k), name="B")
    a = DATA.integers(-4, 4, (2, n)).astype(dtype)
    want = getattr(np, name)(a, axis=1, initial=IDENTITY[name][dtype]).astype(dtype)
    cpu(te.create_schedule(B.op), [A, B])({A: a}, {B: want})


@pytest.mark.parametrize("shape", [(0, 10), (10, 0), (0, 0), (1, 0, 5)])
@pytest.mark.parametrize("how", ["fuse", "tile", "vectorize", "parallel", "inner"])
def test_an_empty_tensor(cpu, shape, how):
    """tvm#19922: the simplifier divided by the extent."""
    A = te.placeholder(shape, name="A")
    B = te.compute(shape, lambda *i: A(*i) * 2, name="B")
    C = te.compute(shape, lambda *i: B(*i) + 1, name="C")
    s = te.create_schedule(C.op)
    axes = C.op.axis
    if how == "tile":
        s[C].tile(*axes[:2], 3, 4)
    elif how == "parallel":
        s[C].parallel(axes[0])
    else:
        outer, inner = s[C].split(s[C].fuse(*axes), 4)
        if how == "vectorize":
            s[C].vectorize(inner)
        elif how == "inner":
            s[B].compute_at(s[C], outer)
    a = np.zeros(shape, "float32")
    cpu(s, [A, C])({A: a}, {C: a + np.float32(1)})


def test_an_empty_tensor_on_cuda(cuda):
    A = te.placeholder((0, 10), name="A")
    C = te.compute((0, 10), lambda i, j: A[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    bound(s, C, 4, s[C].fuse(*C.op.axis))
    a = np.zeros((0, 10), "float32")
    cuda(s, [A, C])({A: a}, {C: a})


def without_dimensions(n):
    """A sum scaled by a 0-D tensor, a reduction of that 0-D tensor alone, and a 0-D chain."""
    A, scale = te.placeholder((n,), name="A"), te.placeholder((), name="scale")
    k, l = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, 3), name="l")
    S = te.compute((), lambda: te.sum(A[k] * scale(), axis=k), name="S")
    T = te.compute((), lambda: te.sum(scale() + l.astype("float32"), axis=l), name="T")
    return A, scale, S, T, te.compute((), lambda: S() - T[()], name="U")


def check_without_dimensions(program, A, scale, U, sizes):
    for n in sizes:
        a, x = DATA.integers(-9, 9, n).astype("float32"), np.array(2.0, "float32")
        program({A: a, scale: x}, {U: np.asarray(a.sum() * x - (3 * x + 3), "float32")})


def test_tensors_without_dimensions(cpu):
    """tvm#19676, #3240."""
    A, scale, _, _, U = without_dimensions(te.var("n"))
    check_without_dimensions(cpu(te.create_schedule(U.op), [A, scale, U]), A, scale, U, (0, 1, 4, 13))


def test_tensors_without_dimensions_on_cuda(cuda):
    A, scale, S, T, U = without_dimensions(te.var("n"))
    s = te.create_schedule(U.op)
    for tensor in (S, T, U):
        s[tensor].bind(s[tensor].fuse(), te.thread_axis("threadIdx.x"))
    check_without_dimensions(cuda(s, [A, scale, U]), A, scale, U, (0, 1, 4, 13))


def small(values=(1.0, 2.0, 3.0)):
    def element(i):
        value = te.const(values[-1], "float32")
        for at, number in reversed(list(enumerate(values[:-1]))):
            value = te.Select(i == at, te.const(number, "float32"), value)
        return value

    return te.compute((len(values),), element, name="inline_tensor")


@pytest.mark.parametrize("reach", [4, 64])
def test_a_read_beyond_a_small_tensor(refused, reach):
    """tvm#15205: NaN, or another number under another schedule."""
    table = small()
    k = te.reduce_axis((0, reach), name="k")
    with refused(f"""
        te.compute 'B': inline_tensor[k] reads outside 'inline_tensor'
          because: index 0, k, lies in [0, {reach - 1}] and is 3 at k = 3; 'inline_tensor' has extent 3 there
          legal: 0 to 2, or te.if_then_else(condition, inline_tensor[k], otherwise)
        """):
        te.compute((2,), lambda i: te.sum(table[k], axis=k), name="B")


def test_reads_that_reach_the_ends(cpu):
    table = small()
    B = te.compute((3,), lambda i: table[2 - i] + table[te.min(i * 2, 2)], name="B")
    s = te.create_schedule(B.op)
    s[table].compute_inline()
    cpu(s, [B])({}, {B: np.array([4, 5, 4], "float32")})


OUTSIDE = {
    "i + 1": (lambda A, i: A[i + 1], "lies in [1, 8] and is 8 at i = 7"),
    "i - 1": (lambda A, i: A[i - 1], "lies in [-1, 6] and is -1 at i = 0"),
    "i * 2": (lambda A, i: A[i * 2], "lies in [0, 14] and is 8 at i = 4"),
    "(i + 1) % 9": (lambda A, i: A[(i + 1) % 9], "lies in [1, 8] and is 8 at i = 7"),
    "7 - i * 2": (lambda A, i: A[7 - i * 2], "lies in [-7, 7] and is -1 at i = 4"),
    "8": (lambda A, i: A[8], "is 8"),
    "-1": (lambda A, i: A[-1], "is -1"),
}


@pytest.mark.parametrize("index", OUTSIDE)
def test_reads_outside(refused, index):
    """Whatever the schedule: before the first and behind the last element, of axes, and constant."""
    read, reach = OUTSIDE[index]
    A = te.placeholder((8,), name="A")
    with refused(f"""
        te.compute 'B': A[{index}] reads outside 'A'
          because: index 0, {index}, {reach}; 'A' has extent 8 there
          legal: 0 to 7, or te.if_then_else(condition, A[{index}], otherwise)
        """):
        B = te.compute((8,), lambda i: read(A, i), name="B")
        te.create_schedule(B.op)


def test_a_condition_that_leaves_too_much(refused):
    """The condition around the read is counted in, and does not suffice."""
    A = te.placeholder((8,), name="A")
    with refused("""
        te.compute 'B': A[i + 2] reads outside 'A'
          because: index 0, i + 2, lies in [2, 8] and is 8 at i = 6; 'A' has extent 8 there
          legal: 0 to 7, or te.if_then_else(condition, A[i + 2], otherwise)
        """):
        te.compute((8,), lambda i: te.if_then_else(i < 7, A[i + 2], 0.0), name="B")
