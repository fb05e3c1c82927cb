"""Running programs: each level, each kind of statement, and what is undefined is found and named."""

from __future__ import annotations

import time
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tecomp.dtype import FLOAT32, INDEX
from tecomp.errors import InternalError, UnsupportedError, UserError
from tecomp.ir import expr as E
from tecomp.ir import make as M
from tecomp.ir.evaluate import ExecutionError
from tecomp.ir.func import Func, Level
from tecomp.ir.interpret import interpret, program
from tecomp.ir.parse import parse
from tecomp.ir.stmt import Evaluate, If, Stmt
from tecomp.ir.subst import substitute_stmt
from tests.ir.programs import PROGRAMS, at, axis, barrier, loop, size, store

RANDOM = np.random.default_rng(7)


def f32(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def run(source: str, *arguments: Any) -> None:
    interpret(parse(source), *arguments)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_scale(n: int) -> None:
    X, Y = f32(n), f32(n)
    interpret(PROGRAMS["scale"](), X, Y, 2.5)
    assert np.array_equal(Y, X * np.float32(2.5) + np.float32(0.1))


def test_loops() -> None:
    X, Y = np.arange(20, dtype=np.int32).reshape(4, 5), np.full((4, 5), -1, np.int32)
    interpret(PROGRAMS["loops"](), X, Y)
    want = np.full((4, 5), -1, np.int32)
    for i in range(4):
        for j in range(1, 5):
            for k in range(2, 5):
                for t in range(4):
                    value = X[i, j] + k * 10 + t * 100 + 3
                    if k < 3:
                        want[i, j] = value
                    elif t <= 1:
                        want[0, j] = value
    assert np.array_equal(Y, want)


def test_every_scalar_operator() -> None:
    n = 6
    A = np.array([0, 1, -5, 7, 2**31 - 1, -(2**31)], np.int32)
    B = np.array([0.0, 0.3, 1.5, -2.25, 3.0, np.nan], np.float32)
    kinds = ("int32", "float32", "int8", "uint32", "float16", ml_dtypes.bfloat16, "float64", "bool")
    outs = [np.zeros(n, kind) for kind in kinds]
    c = np.int32(12)
    interpret(PROGRAMS["scalars"](), A, int(c), B, *outs)
    d = np.maximum(A, np.int32(1))
    wide = A.astype(np.int64)
    with np.errstate(all="ignore"):
        quotient = np.trunc(wide / -3).astype(np.int32)
        assert np.array_equal(outs[0], (A + c) * (A - 7) - (c - (A - 1)) + A // d * (A % d) + quotient - np.fmod(A, d))
        half = np.where(B == B, B * np.float32(-1), B - (B - np.float32(1.5)))
        first = np.minimum(B, np.float32(2)) / (B + np.float32(3))
        assert np.array_equal(outs[1], np.where((np.arange(n) < 2) | (B < 0.5), first, half), equal_nan=True)
        whole = np.nan_to_num(B * np.float32(10)).astype(np.int8)
        assert np.array_equal(outs[2], (A * np.int32(100)).astype(np.int8) + whole)
        assert np.array_equal(outs[3], (A.astype(np.uint32) >> 3) ^ (np.uint32(c) & 255 | 1) << 2)
        h = B.astype(np.float16)
        assert np.array_equal(
            outs[4], h * np.float16(0.1) + np.exp(h.astype(np.float32)).astype(np.float16), equal_nan=True
        )
        w = (B.astype(np.float64) * 1.001).astype(np.float32).astype(ml_dtypes.bfloat16)
        assert np.array_equal(outs[5], w - ml_dtypes.bfloat16(3), equal_nan=True)
        assert np.array_equal(outs[6], A * 1e-3 + B.astype(np.float64) ** 2 + np.inf, equal_nan=True)
        assert np.array_equal(outs[7], (B != 0) & ~(B < 1) & (A != 0) & np.isfinite(B))


def test_names_and_scopes() -> None:
    X, Y = f32(3), np.zeros(3, np.float32)
    source = PROGRAMS["names"]()
    with pytest.raises(ExecutionError, match="which holds nothing"):
        bad = "def f(X: f32[n], Y: out[f32[n]]):\n    T = alloc(f32[2], 'local')\n    T[0] = X[0]\n    Y[0] = T[1]\n"
        run(bad, X, Y)
    interpret(source, X, Y)
    assert np.array_equal(Y, X * np.float32(2) + np.float32(1.5))


def test_strides_scopes_and_requirements() -> None:
    big = f32(6, 8)
    X, Y = big[::2, ::4], np.full((4, 2), -1, np.float32)
    interpret(PROGRAMS["strided"](), X, Y, 3)
    assert np.array_equal(Y, np.vstack([np.full((1, 2), -1, np.float32), X]))
    with pytest.raises(UserError, match=r"strided was called with m=100\n(.|\n)*because: the rows are short"):
        interpret(PROGRAMS["strided"](), f32(1, 100), f32(2, 100), 1)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 8])
def test_vectors_read_and_write_only_lanes_that_take_part(n: int) -> None:
    X = f32(n)
    J = np.arange(n, dtype=np.int32)
    Y = np.full(n, 99, np.float32)
    interpret(PROGRAMS["vectors"](), X, J, Y)
    want = np.where(X < 0.5, X * 2, X) + np.concatenate([[-1], X[:-1]])[:n]
    assert np.array_equal(Y, want.astype(np.float32))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 255), (2, 257), (4, 0)])
def test_one_launch(m: int, n: int) -> None:
    X, S = f32(m, n), f32(m, n)
    interpret(PROGRAMS["scan"](), X, S)
    assert np.array_equal(S, np.cumsum(X, 0, dtype=np.float32))


@pytest.mark.parametrize("name", ["reverse", "reverse_flat"])
def test_threads_meet_at_barriers(name: str) -> None:
    X = f32(24)
    Y = np.zeros_like(X)
    interpret(PROGRAMS[name](), X, Y)
    assert np.array_equal(Y, X.reshape(3, 8)[:, ::-1].ravel())


def test_shared_memory_is_the_blocks_and_local_the_threads() -> None:
    source = """
def f(X: f32[n], Y: out[f32[n]]) -> device:
    with launch(blockIdx_x=2, threadIdx_x=4, threadIdx_y=2):
        T = alloc(f32[4, 2], 'shared')
        c: f32
        T[threadIdx_x, threadIdx_y] = X[blockIdx_x * 8 + threadIdx_x * 2 + threadIdx_y]
        c = X[blockIdx_x * 8 + threadIdx_x * 2 + threadIdx_y]
        for k in range(2):
            barrier_block()
            c = c + T[(threadIdx_x + k) % 4, threadIdx_y]
        Y[blockIdx_x * 8 + threadIdx_x * 2 + threadIdx_y] = c
"""
    X, Y = f32(16), f32(16)
    run(source, X, Y)
    T = X.reshape(2, 4, 2)
    assert np.array_equal(Y.reshape(2, 4, 2), T + T + np.roll(T, -1, 1))


def test_flat_programs_take_strided_arrays_too() -> None:
    X = f32(5, 6).T
    Y = np.zeros((6, 5), np.float32)
    interpret(PROGRAMS["flat"](), X, Y, 5)
    assert np.array_equal(Y, np.cumsum(X, 1, dtype=np.float32))
    out = np.zeros((5, 6), np.float32).T
    interpret(PROGRAMS["flat"](), X, out, 5)
    assert np.array_equal(out, Y)
    source = """
def f(X: buffer(f32[n], strides=[s]), Y: out[f32[n]]) -> flat:
    for i in range(n):
        Y[i] = X[i * s]
"""
    whole = f32(12)
    Y = np.zeros(4, np.float32)
    run(source, whole[::3], Y)
    assert np.array_equal(Y, whole[::3])


def test_vector_elements() -> None:
    X, Y = RANDOM.integers(-128, 127, (3, 4)).astype(np.int8), np.zeros((3, 4), np.int8)
    run("def f(X: i8x4[n], Y: out[i8x4[n]]):\n    for i in range(n):\n        Y[i] = X[i] + 100\n", X, Y)
    assert np.array_equal(Y, X + np.int8(100))


UNDEFINED = [
    ("Y[n] = X[0]", "it writes Y[3], but dimension 0 has extent 3 (shape [3])"),
    ("Y[0] = X[0 - 1]", "it reads X[-1], but dimension 0 has extent 3 (shape [3])"),
    ("Y[ramp(1, 1, 4)] = 0.0", "it writes Y[3], but dimension 0 has extent 3 (shape [3])"),
    ("Y[0] = select(n < 3, X[n], X[0])", "it reads X[3], but dimension 0 has extent 3 (shape [3])"),
    ("Y[0 // (i64(n) - 3)] = X[0]", "an integer is divided by zero"),
    ("Y[n % (n - 3)] = X[0]", "an integer is divided by zero"),
    ("Y[truncdiv(n, n - 3)] = X[0]", "an integer is divided by zero"),
    ("Y[0] = f32(1 << i32(n + 30))", "a shift by 33 of int32, which has 32 bits"),
]


@pytest.mark.parametrize(("statement", "because"), UNDEFINED, ids=[because for _, because in UNDEFINED])
def test_what_is_undefined_is_reported(statement: str, because: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        run(f"def f(X: f32[n], Y: out[f32[n]]):\n    {statement}\n", f32(3), f32(3))
    assert caught.value.asked == "f cannot go on"
    assert caught.value.because == because
    assert caught.value.ir == statement


def test_the_report_has_the_users_line() -> None:
    n = size("n")
    func = PROGRAMS["scale"]()
    X, Y, _ = func.params
    bad = loop(axis("i", 2), store(Y, (n,), M.load(X, (at(0),)), line=42))
    with pytest.raises(ExecutionError, match=r"scale cannot go on\n  --> program.py:42"):
        interpret(Func("scale", func.params, func.outputs, _sized(bad, n, func), Level.LOOPS), f32(3), f32(3), 1.0)


def _sized(body: Stmt, n: E.Var, func: Func) -> Stmt:
    """The same body over the function's own size."""
    return substitute_stmt(body, {n: func.sizes()[0]})


def test_lazy_sides_are_not_evaluated() -> None:
    X, Y = f32(3), np.zeros(3, np.float32)
    source = """
def f(X: f32[n], Y: out[f32[n]]):
    for i in range(n):
        Y[i] = X[i + 1] if i + 1 < n and X[i + 1] < 9.0 else 5.0
"""
    run(source, X, Y)
    assert np.array_equal(Y, [X[1], X[2], 5])


def test_long_expressions_keep_their_laziness() -> None:
    i, n = axis("i", 4), size("n")
    func = PROGRAMS["scale"]()
    X, Y, alpha = func.params
    assert isinstance(alpha, E.Var)
    total: Any = M.const(0.0, FLOAT32)
    for term in range(200):
        inside = i + term < n
        total = M.if_then_else(inside, M.load(X, (i + term,)), M.const(0.0, FLOAT32)) + total
    nested: Any = M.const(0.0, FLOAT32)
    for term in reversed(range(400)):
        nested = M.if_then_else(i + term < n, M.load(X, (i + term,)) + nested, nested * 1.0)
    body = _sized(loop(i, store(Y, (i,), total + nested)), n, func)
    X_, Y_ = np.ones(9, np.float32), np.zeros(9, np.float32)
    interpret(Func("long", func.params, func.outputs, body, Level.LOOPS), X_, Y_, 0.0)
    assert Y_[:4].tolist() == [18, 16, 14, 12]


def test_deep_chains_and_nests_run() -> None:
    func = PROGRAMS["scale"]()
    X, Y, alpha = func.params
    total: Any = M.load(X, (at(0),))
    for _ in range(5000):
        total = total + 1.0
    body: Stmt = store(Y, (at(0),), total)
    for depth in range(30):
        body = loop(axis(f"i{depth}", 1), body)
    X_, Y_ = np.zeros(1, np.float32), np.zeros(1, np.float32)
    interpret(Func("deep", (X, Y, alpha), func.outputs, body, Level.LOOPS), X_, Y_, 0.0)
    assert Y_[0] == 5000


def test_divergent_barriers_are_reported() -> None:
    func = PROGRAMS["reverse"]()
    launch = func.body
    tx = launch.threads[1][1]  # type: ignore[attr-defined]
    bad = launch.copy(body=If(M.lt(tx, 3), barrier(7)))
    with pytest.raises(ExecutionError) as caught:
        interpret(func.with_body(bad), f32(8), f32(8))
    assert caught.value.because == (
        "a barrier diverges: thread (blockIdx.x=0, threadIdx.x=0) waits at program.py:7, "
        "thread (blockIdx.x=0, threadIdx.x=3) has ended"
    )


def test_a_kernel_launches_no_kernel() -> None:
    source = """
def f(X: out[f32[n]]) -> device:
    with launch(blockIdx_x=n):
        with launch(threadIdx_x=n):
            X[0] = 1.0
"""
    with pytest.raises(ExecutionError, match="a kernel from within a kernel"):
        run(source, f32(2))


def test_a_barrier_among_thread_loops_does_nothing() -> None:
    Y = np.zeros(2, np.float32)
    run(
        "def f(Y: out[f32[n]]):\n    for t in thread('threadIdx.x', n):\n        barrier_block()\n        Y[t] = 1.0\n",
        Y,
    )
    assert Y.tolist() == [1, 1]


ARGUMENTS: list[tuple[tuple[Any, ...], str, str]] = [
    ((1,), "f was given 1 arguments", "it takes 3"),
    (([1.0], np.zeros(1, np.float32), 0), "'X' was given list", "it takes a NumPy array"),
    (
        (np.zeros(1), np.zeros(1, np.float32), 0),
        "'X' was given an array of float64 with 1 dimensions",
        "it takes float32 with 1",
    ),
    ((f32(2), f32(3), 0), "extent 0 of 'Y' is 3", "n is 2"),
    ((f32(2), f32(2), 300), "300 does not fit in int8", ""),
    ((f32(2), f32(2), 1.5), "1.5 does not fit in int8", ""),
]


@pytest.mark.parametrize(("arguments", "asked", "because"), ARGUMENTS, ids=[asked for _, asked, _ in ARGUMENTS])
def test_arguments_that_do_not_fit(arguments: tuple[Any, ...], asked: str, because: str) -> None:
    with pytest.raises(UserError) as caught:
        run("def f(X: f32[n], Y: out[f32[n]], k: i8):\n    pass\n", *arguments)
    assert (caught.value.asked, caught.value.because) == (asked, because)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_sizes_are_solved_from_multiples(n: int) -> None:
    X, Y = np.zeros(n * 3 + 2, "float32"), np.zeros((n - 1) * -2 + 40 + n, "float32")
    source = """
def f(X: f32[n * 3 + 2], Y: out[f32[40 + n - (n - 1) * 2]]):
    for i in range(n):
        Y[i] = 1.0
"""
    run(source, X, Y)
    assert Y.sum() == n
    with pytest.raises(UserError, match="extent 0 of 'X' is"):
        run(source, X[1:], Y)


def test_sizes_that_cannot_be_solved() -> None:
    with pytest.raises(UserError, match="cannot be solved from the shapes alone"):
        run("def f(X: f32[n * n]):\n    pass\n", f32(4))


def test_programs_that_are_not_well_formed_are_refused() -> None:
    func = PROGRAMS["scale"]()
    X, Y, _ = func.params
    stray = store(Y, (E.Var("stray", INDEX),), M.load(X, (at(0),)))
    with pytest.raises(InternalError, match="variable 'stray' has no value"):
        program(func.with_body(stray))
    with pytest.raises(InternalError, match="buffer 'X' has no value"):
        program(Func("f", (Y,), (Y,), store(Y, (at(0),), M.load(X, (at(0),))), Level.LOOPS))
    with pytest.raises(InternalError, match=r"call of warp(.|\n)*knows no such operation"):
        program(func.with_body(Evaluate(M.call("warp", "int32", M.const(1)))))


def test_a_hundred_thousand_elements_are_quick() -> None:
    source = "def f(X: f32[n], Y: out[f32[n]]):\n    for i in range(n):\n        Y[i] = X[i] * 2.0 + X[i]\n"
    ready = program(parse(source))
    X, Y = f32(50_000), f32(50_000)
    start = time.process_time()
    ready(X, Y)
    assert time.process_time() - start < 1.0
    assert np.array_equal(Y, X * np.float32(2) + X)


def test_clusters_are_for_the_simulator(refused: Any) -> None:
    func = parse("""
def f(B: out[f32[4]]) -> device:
    with launch(blockIdx_x=4, cluster_x=2) as (b, r):
        B[b] = f32(r)
""")
    with refused(
        UnsupportedError,
        """
        a cluster in the interpreter
          --> test_interpret.py:LINE
           |     interpret(func, np.zeros(4, np.float32))
           |     ^
          because: blocks run one after the other there, and those of a cluster together
          legal: target="cuda-sim"
        """,
    ):
        interpret(func, np.zeros(4, np.float32))
