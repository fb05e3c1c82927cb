"""Group E: reductions that the threads of a block share out."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tecomp import te
from tests.cases.places import ON_CUDA, Program
from tests.cases.tiling import around

DATA = np.random.default_rng(0)
WHOLE = 100
"""Up to this, sums of small integers are exact in every type."""


@pytest.fixture(params=["interpreter", *ON_CUDA])
def threads(request):
    """Return `threads(schedule, args)`: a Program of loops, of kernels interpreted, as CUDA text, on a GPU."""
    return lambda schedule, args: Program(request.param, schedule, args)


def axis(tag):
    return te.thread_axis(tag)


def rows(reducer, dtype="float32", where=None):
    """Return A[n, m] and its rows reduced, sizes symbolic."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), dtype, name="A")
    k = te.reduce_axis((0, m), name="k")
    condition = None if where is None else where(k)
    return A, te.compute((n,), lambda i: reducer(A[i, k], axis=k, where=condition), name="B")


def shared_out(B, count, tag="threadIdx.x"):
    """Return a schedule with a row a block, whose threads share the reduction out."""
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], axis("blockIdx.x"))
    _, inner = s[B].split(s[B].op.reduce_axis[0], count)
    s[B].bind(inner, axis(tag))
    return s


@pytest.mark.parametrize("count", [1, 7, 11, 16, 31, 32, 33, 64])
def test_no_lane_without_a_value_is_read(threads, count):
    """tvm#12274: a shuffle in fewer lanes than a warp has read zeros of lanes that took no part; negatives tell."""
    A, B = rows(te.max)
    program = threads(shared_out(B, count), [A, B])
    for size in around(count):
        a = -1 - DATA.integers(0, 9, (3, size)).astype("float32")
        program({A: a}, {B: a.max(1, initial=-np.inf)})


@pytest.mark.parametrize("threads_of_it", [49, 128, 3])
@pytest.mark.parametrize("inside", [True, False])
def test_mean_over_positions(threads, threads_of_it, inside):
    """tvm#12976: a mean over 49 positions with a loop over channels in the kernel, inside the threads or outside."""
    n, c = te.var("n"), 5
    A = te.placeholder((n, c, 49), name="A")
    k = te.reduce_axis((0, 49), name="k")
    S = te.compute((n, c), lambda i, j: te.sum(A[i, j, k], axis=k), name="S")
    B = te.compute((n, c), lambda i, j: S[i, j] / 49, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], axis("blockIdx.x"))
    s[S].compute_at(s[B], B.op.axis[0])
    outer, inner = s[S].split(k, nparts=threads_of_it)
    order = (outer, S.op.axis[1], inner) if inside else (S.op.axis[1], inner, outer)
    s[S].reorder(*order)
    s[S].bind(outer, axis("threadIdx.x"))
    a = DATA.integers(0, 2, (2, c, 49)).astype("float32")
    threads(s, [A, B])({A: a}, {B: a.sum(2) / np.float32(49)})


@pytest.mark.parametrize("scope", ["local", "shared"])
@pytest.mark.parametrize("count", [128, 32, 50])
def test_every_thread_has_the_result(threads, scope, count):
    """tvm PR 15373: only thread 0 had the sum, and the others divided by what was in their registers."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    S = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="S")
    B = te.compute((n, m), lambda i, j: A[i, j] / S[i], name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], axis("blockIdx.x"))
    _, inner = s[B].split(B.op.axis[1], count)
    s[B].bind(inner, axis("threadIdx.x"))
    s[S].compute_at(s[B], B.op.axis[0])
    s[S].set_scope(scope)
    s[S].bind(s[S].split(k, count)[1], axis("threadIdx.x"))
    program = threads(s, [A, B])
    for size in around(count)[1:]:
        a = DATA.integers(1, 3, (3, size)).astype("float32")
        program({A: a}, {B: a / a.sum(1, keepdims=True)})


@pytest.mark.parametrize("count", [16, 32, 64, 1024, 48])
def test_whole_and_parts_of_warps(threads, count):
    """tvm PR 17307: a mask of lanes that was not that of those which come stopped an H100."""
    A, B = rows(te.sum)
    program = threads(shared_out(B, count), [A, B])
    a = DATA.integers(-4, 5, (2, count + 3)).astype("float32")
    program({A: a}, {B: a.sum(1)})


@pytest.mark.parametrize("reducer", ["sum", "max", "min"])
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("count", [8, 64])
def test_wide_integers(threads, reducer, dtype, count):
    """TL PR 2782: an exchange between lanes kept the lower 32 bits only."""
    A, B = rows(getattr(te, reducer), dtype)
    a = DATA.integers(1 << 33, 1 << 40, (3, count + 5)).astype(dtype)
    threads(shared_out(B, count), [A, B])({A: a}, {B: getattr(a, reducer)(1)})


@pytest.mark.parametrize("count", [7, 32, 256])
def test_a_reduction_onto_what_is_there(threads, count):
    """TL#1666: the value that the reduction starts from was lost, or taken once a thread."""
    n, m = te.var("n"), te.var("m")
    A, X = te.placeholder((n, m), name="A"), te.placeholder((n,), name="X")
    k = te.reduce_axis((0, m), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k, init=X[i] + 1), name="B")
    program = threads(shared_out(B, count), [A, X, B])
    for size in (0, 1, count + 1):
        a, x = (DATA.integers(-9, 9, shape).astype("float32") for shape in ((3, size), 3))
        program({A: a, X: x}, {B: a.sum(1) + x + 1})


REDUCERS = {
    "sum": (te.sum, lambda a: a.sum(1, dtype=a.dtype)),
    "prod": (te.prod, lambda a: a.prod(1, dtype=a.dtype)),
    "min": (te.min, lambda a: a.min(1)),
    "max": (te.max, lambda a: a.max(1)),
}
DTYPES = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64"]
DTYPES += ["uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reducer", REDUCERS)
@pytest.mark.parametrize("count", [7, 32, 96])
def test_every_type(threads, dtype, reducer, count):
    make, expected = REDUCERS[reducer]
    A, B = rows(make, dtype)
    chosen = DATA.random((2, WHOLE)) < (0.03 if reducer == "prod" else 0.5)
    a = (chosen + (reducer == "prod")).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    threads(shared_out(B, count), [A, B])({A: a}, {B: expected(a).astype(a.dtype)})


@pytest.mark.parametrize("count", [5, 32, 64])
@pytest.mark.parametrize("reducer", ["min", "max"])
def test_nan_wins(threads, reducer, count):
    A, B = rows(getattr(te, reducer))
    a = DATA.random((40, 40)).astype("float32")
    a[np.arange(40), np.arange(40)] = np.nan
    a[7] = 1
    threads(shared_out(B, count), [A, B])({A: a}, {B: getattr(np, reducer)(a, axis=1)})


@pytest.mark.parametrize("count", [5, 32, 64, 33])
@pytest.mark.parametrize("reducer", ["argmin", "argmax"])
def test_lowest_index_wins(threads, reducer, count):
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    B = te.compute((n,), lambda i: getattr(te, reducer)((k, A[i, k]), axis=k), name="B")
    s = shared_out(B[0], count)
    program = threads(s, [A, *B])
    for size in (1, count, 2 * count + 1):
        a = DATA.integers(0, 3, (4, size)).astype("float32")
        if size > 2:
            a[0, [1, size - 1]] = np.nan
        program({A: a}, {B[0]: getattr(a, reducer)(1).astype("int32"), B[1]: getattr(a, reducer[3:])(1)})


@pytest.mark.parametrize("count", [3, 32, 64, 33])
def test_a_reducer_of_ones_own(threads, count):
    """Its result takes each part more than once, and in which order two are joined shows in neither."""
    parallel = te.comm_reducer(lambda x, y: x + y - x * y, lambda dtype: te.const(0, dtype), name="parallel")
    A, B = rows(parallel)
    a = DATA.integers(0, 2, (5, 70)).astype("float32") * (DATA.random((5, 70)) < 0.02)
    a = a.astype("float32")
    threads(shared_out(B, count), [A, B])({A: a}, {B: 1 - (1 - a).prod(1)})


@pytest.mark.parametrize("count", [3, 32, 64])
def test_bools(threads, count):
    """C's || does not evaluate its right side where the left decides: no exchange may stand there."""
    some = te.comm_reducer(te.any, lambda dtype: te.const(False, dtype), name="some")
    A, B = rows(some, "bool")
    a = DATA.random((6, 65)) < 0.02
    threads(shared_out(B, count), [A, B])({A: a}, {B: a.any(1)})


@pytest.mark.parametrize("count", [6, 32, 64])
def test_where(threads, count):
    """In TVM a condition on the reduce axis was lost, and kept the result from being stored."""
    A, B = rows(te.sum, where=lambda k: k % 3 == 1)
    program = threads(shared_out(B, count), [A, B])
    for size in (0, 1, count, count + 1):
        a = DATA.integers(-9, 9, (3, size)).astype("float32")
        program({A: a}, {B: a[:, 1::3].sum(1)})


@pytest.mark.parametrize("count", [16, 7])
def test_rfactor(threads, count):
    """TVM's way to reduce across threads: the parts are a stage of their own, computed in each thread."""
    A, B = rows(te.sum)
    s = te.create_schedule(B.op)
    _, inner = s[B].split(s[B].op.reduce_axis[0], count)
    BF = s.rfactor(B, inner)
    tx = axis("threadIdx.x")
    s[B].bind(s[B].op.axis[0], axis("blockIdx.x"))
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    s[B].set_store_predicate(tx.var.equal(0))
    program = threads(s, [A, B])
    for size in around(count):
        a = DATA.integers(-9, 9, (3, size)).astype("float32")
        program({A: a}, {B: a.sum(1)})


def softmax(n, m):
    A = te.placeholder((n, m), name="A")
    k, l = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="l")
    M = te.compute((n,), lambda i: te.max(A[i, k], axis=k), name="M")
    S = te.compute((n,), lambda i: te.sum(te.exp(A[i, l] - M[i]), axis=l), name="S")
    B = te.compute((n, m), lambda i, j: te.exp(A[i, j] - M[i]) / S[i], name="B")
    return A, M, S, B


@pytest.mark.parametrize("scope", ["local", "shared"])
@pytest.mark.parametrize("count", [32, 128, 20])
def test_softmax(threads, count, scope):
    A, M, S, B = softmax(te.var("n"), te.var("m"))
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], axis("blockIdx.x"))
    s[B].bind(s[B].split(B.op.axis[1], count)[1], axis("threadIdx.x"))
    for stage in (S, M):
        s[stage].compute_at(s[B], B.op.axis[0])
        s[stage].set_scope(scope)
        s[stage].bind(s[stage].split(s[stage].op.reduce_axis[0], count)[1], axis("threadIdx.x"))
    program = threads(s, [A, B])
    for size in (1, count + 1, 3 * count):
        a = DATA.standard_normal((3, size)).astype("float32")
        e = np.exp(a - a.max(1, keepdims=True))
        program({A: a}, {B: e / e.sum(1, keepdims=True)}, near=1e-5)


@pytest.mark.parametrize("shape", [(8, 4), (32, 3), (7, 5), (16, 16), (64, 4)])
@pytest.mark.parametrize("reduced", ["x", "y"])
def test_several_groups_a_block(threads, shape, reduced):
    """Rows on one thread axis, the reduction on the other; the last rows of the last block are not there."""
    A, B = rows(te.sum)
    s = te.create_schedule(B.op)
    x, y = shape
    many, few = (x, y) if reduced == "x" else (y, x)
    outer, row = s[B].split(B.op.axis[0], few)
    s[B].bind(outer, axis("blockIdx.x"))
    s[B].bind(row, axis("threadIdx.y" if reduced == "x" else "threadIdx.x"))
    s[B].bind(s[B].split(s[B].op.reduce_axis[0], many)[1], axis(f"threadIdx.{reduced}"))
    program = threads(s, [A, B])
    for height in around(few)[1:]:
        a = DATA.integers(-9, 9, (height, many + 1)).astype("float32")
        program({A: a}, {B: a.sum(1)})


@pytest.mark.parametrize("axes", [("x", "y"), ("y", "z"), ("x", "z"), ("x", "y", "z")])
@pytest.mark.parametrize("shape", [(7, 5, 3), (8, 4, 2), (4, 8, 4)])
def test_several_axes(threads, axes, shape):
    n = te.var("n")
    A = te.placeholder((n, 10, 9, 4), name="A")
    ks = [te.reduce_axis((0, extent), name=f"k{number}") for number, extent in enumerate((10, 9, 4))]
    B = te.compute((n,), lambda i: te.sum(A[(i, *ks)], axis=ks), name="B")
    s = te.create_schedule(B.op)
    outer, row = s[B].split(B.op.axis[0], 3)
    s[B].bind(outer, axis("blockIdx.x"))
    spare = [letter for letter in "xyz" if letter not in axes]
    if spare:
        s[B].bind(row, axis(f"threadIdx.{spare[0]}"))
    for letter, k, count in zip(axes, ks, shape, strict=False):
        s[B].bind(s[B].split(k, count)[1], axis(f"threadIdx.{letter}"))
    a = DATA.integers(-9, 9, (4, 10, 9, 4)).astype("float32")
    threads(s, [A, B])({A: a}, {B: a.sum((1, 2, 3))})


@pytest.mark.parametrize("groups", [1, 3])
def test_as_many_threads_as_there_are_values(threads, groups):
    """The number of threads is known only when the program runs; with no values there is still a result."""
    A, B = rows(te.sum)
    s = te.create_schedule(B.op)
    outer, row = s[B].split(B.op.axis[0], groups)
    s[B].bind(outer, axis("blockIdx.x"))
    s[B].bind(row, axis("threadIdx.y"))
    s[B].bind(s[B].op.reduce_axis[0], axis("threadIdx.x"))
    program = threads(s, [A, B])
    for size in (0, 1, 31, 32, 33, 64, 100):
        a = DATA.integers(-9, 9, (4, size)).astype("float32")
        program({A: a}, {B: a.sum(1)})


def test_a_sum_of_everything(threads):
    """No axis of data is bound, or there: a kernel of one block."""
    n = te.var("n")
    A, X = te.placeholder((n,), name="A"), te.placeholder((n,), name="X")
    k = te.reduce_axis((0, n), name="k")
    B = te.compute((), lambda: te.sum(A[k] * X[k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(s[B].split(k, 64)[1], axis("threadIdx.x"))
    program = threads(s, [A, X, B])
    for size in around(64):
        a, x = (DATA.integers(-4, 4, size).astype("float32") for _ in range(2))
        program({A: a, X: x}, {B: np.float32(a @ x)})


@pytest.mark.parametrize("count", [7, 64])
def test_blocks_and_threads(threads, count):
    """A row is cut over blocks; the threads of each join their parts, and one adds them to the row's sum atomically."""
    A, B = rows(te.sum)
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(s[B].op.reduce_axis[0], 2 * count)
    s[B].bind(B.op.axis[0], axis("blockIdx.x"))
    s[B].bind(outer, axis("blockIdx.y"), reduce_update="atomic")
    s[B].bind(s[B].split(inner, count)[1], axis("threadIdx.x"))
    program = threads(s, [A, B])
    for size in around(2 * count):
        a = DATA.integers(-9, 9, (3, size)).astype("float32")
        program({A: a}, {B: a.sum(1)})


@pytest.mark.parametrize("scope", ["shared", "local"])
def test_a_stage_inside_the_loop_that_reduces(threads, scope):
    """A tile that the block copies for each step of the loop around its threads' own."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    P = te.compute((n, m), lambda i, j: A[i, j] * 2, name="P")
    k = te.reduce_axis((0, m), name="k")
    B = te.compute((n,), lambda i: te.sum(P[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    outer, row = s[B].split(B.op.axis[0], 4)
    s[B].bind(outer, axis("blockIdx.x"))
    s[B].bind(row, axis("threadIdx.y"))
    step, inner = s[B].split(k, 16)
    s[B].bind(inner, axis("threadIdx.x"))
    if scope == "shared":
        s[P].compute_at(s[B], step)
        s[P].set_scope(scope)
        s[P].bind(P.op.axis[1], axis("threadIdx.x"))
        s[P].bind(P.op.axis[0], axis("threadIdx.y"))
    else:
        s[P].compute_at(s[B], inner)
    program = threads(s, [A, B])
    for size in around(16):
        a = DATA.integers(-9, 9, (5, size)).astype("float32")
        program({A: a}, {B: a.sum(1) * np.float32(2)})


@pytest.mark.parametrize("count", [32, 40])
def test_a_reduction_of_every_step_of_a_loop(threads, count):
    """Rows in a serial loop of the kernel: memory that one row's parts went through is used again for the next."""
    A, B = rows(te.sum)
    s = te.create_schedule(B.op)
    outer, _ = s[B].split(B.op.axis[0], 3)
    s[B].bind(outer, axis("blockIdx.x"))
    s[B].bind(s[B].split(s[B].op.reduce_axis[0], count)[1], axis("threadIdx.x"))
    a = DATA.integers(-9, 9, (7, count + 2)).astype("float32")
    threads(s, [A, B])({A: a}, {B: a.sum(1)})


def test_in_every_step_of_a_scan(threads):
    n, m = te.var("n"), 20
    W = te.placeholder((m, m), name="W")
    X = te.placeholder((1, m), name="X")
    state = te.placeholder((n, m), name="state")
    init = te.compute((1, m), lambda _, i: X[0, i], name="init")
    k = te.reduce_axis((0, m), name="k")
    update = te.compute((n, m), lambda t, i: te.sum(W[i, k] * state[t - 1, k], axis=k), name="update")
    scan = te.scan(init, update, state, inputs=[W, X], name="scan")
    s = te.create_schedule(scan.op)
    s[init].bind(init.op.axis[1], axis("threadIdx.x"))
    s[update].bind(update.op.axis[1], axis("blockIdx.x"))
    s[update].bind(s[update].split(k, 8)[1], axis("threadIdx.x"))
    w = np.where(DATA.random((m, m)) < 0.1, 1, 0).astype("float32")
    x = DATA.integers(-2, 3, (1, m)).astype("float32")
    steps = [x[0]]
    for _ in range(4):
        steps.append(w @ steps[-1])
    threads(s, [W, X, scan])({W: w, X: x}, {scan: np.array(steps)})
