"""Single matrix instructions in the simulator: what they compute of every type, and what is wrong with one."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

import tecomp
from tecomp.dtype import DType
from tecomp.instructions import MATRIX_ROWS
from tecomp.instructions.matrix_values import numpy_type
from tecomp.instructions.mma import MMA_NAMES, Mma
from tecomp.ir import parse
from tecomp.sim import SimulationFault
from tests.instructions.matrix_kernels import numbers

MULTIPLICATIONS = [(name, types) for name in sorted(MMA_NAMES) for types in MATRIX_ROWS[name].types]


@pytest.mark.parametrize(("name", "types"), MULTIPLICATIONS)
def test_registers_are_multiplied(name: str, types: tuple[str, ...]) -> None:
    row = MATRIX_ROWS[name].typed[types]
    assert isinstance(row, Mma)
    kinds = dict(zip("dabc", (*types, types[0]), strict=True))
    counts = {of: row.bytes_held[of] // numpy_type(kinds[of]).itemsize for of in "dabc"}
    short = {of: DType(kinds[of]).short for of in "dabc"}
    params = ", ".join(f"G{of}: {short[of]}[64, {counts[of]}]" for of in "abc")
    lines = [f"def f({params}, Gd: out[{short['d']}[64, {counts['d']}]]) -> device:"]
    lines.append("    with launch(blockIdx_x=1, threadIdx_x=64) as (_, t):")
    for of in "dabc":
        lines.append(f"        {of} = alloc({short[of]}[{counts[of]}], 'local')")
    for of in "abc":
        lines.append(f"        for i in range({counts[of]}):\n            {of}[i] = G{of}[t, i]")
    given = ", ".join(f"address({of}, '{'w' if of == 'd' else 'r'}')" for of in "dabc")
    lines.append(f"        {name}({given})\n        for i in range({counts['d']}):\n            Gd[t, i] = d[i]")
    rng = np.random.default_rng(0)
    a, b, c, d = (numbers(rng, kinds[of], 64, counts[of]) for of in "abcd")
    tecomp.build(parse("\n".join(lines) + "\n"), target="cuda-sim -arch=sm_90a")(a, b, c, d)
    expected = row.compute(*(x.reshape(2, 32, -1) for x in (a, b, c)))
    assert np.array_equal(d.reshape(expected.shape), expected)


HELD = """
    def f(A: f16[64, 16], B: f16[64, 16], C: out[f32[64, 64]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x=THREADS) as (_, t):
            T = alloc(f16[64, 16], 'shared')
            d = alloc(f32[32], 'local')
            a = alloc(f16[8], 'local')
            r = t % 128 // 32 * 16 + t % 32 // 4
            for i in unrolled(COUNT):
                a[i] = A[r + i // 2 % 2 * 8, t % 4 * 2 + i % 2 + i // 4 * 8]
            if t < 64:
                for k in range(16):
                    T[t // 8 * 8 + k // 8 * 4 + t % 8 // 2, t % 2 * 8 + k % 8] = B[t, k]
            FENCE
            barrier_block()
            for e in unrolled(FILLED):
                d[e] = 1.0
            wgmma_fence()
            CALL
            wgmma_commit()
            BETWEEN
            wgmma_wait(0)
            if t < 128:
                for e in unrolled(32):
                    C[r + e // 2 % 2 * 8, t % 4 * 2 + e // 4 * 8 + e % 2] = d[e]
"""
"""C = A @ B.T + 1 of factors in registers and, in blocks of 8 rows and 8 columns, in shared memory."""
RIGHT = {
    "THREADS": "128",
    "COUNT": "8",
    "FILLED": "32",
    "FENCE": "fence_proxy_async()",
    "BETWEEN": "fence_block()",
    "CALL": "wgmma_rs_m64n64k16(address(d, 'rw'), address(a, 'r'), address(T, 'r'), 0, 128, 256, 0, 1)",
}


def run(**changed: str) -> tuple[np.ndarray, np.ndarray]:
    text = HELD
    for word, part in (RIGHT | changed).items():
        text = text.replace(word, part)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((64, 16)).astype("f2") for _ in range(2))
    c = np.zeros((64, 64), "f4")
    tecomp.build(parse(dedent(text).strip() + "\n"), target="cuda-sim -arch=sm_90a")(a, b, c)
    return c, a.astype("f8") @ b.T.astype("f8") + 1


def test_a_factor_in_registers() -> None:
    found, expected = run()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


FAULTS = {
    "sums that hold nothing": ({"FILLED": "31"}, "uninitialised", "'d[31]' in local memory holds nothing"),
    "a factor that holds nothing": ({"COUNT": "7"}, "uninitialised", "'a[7]' in local memory holds nothing"),
    "no fence behind the stores": (
        {"FENCE": "fence_block()"},
        "async",
        "'T[0, 0]' is read by an asynchronous operation that need not see it",
    ),
    "registers change before it ends": ({"BETWEEN": "a[3] = f16(0.0)"}, "async", "'a[3]' in local memory is in flight"),
    "sums are read before it ends": (
        {"BETWEEN": "C[0, 0] = d[2]"},
        "async",
        "'d[2]' in local memory is in flight",
    ),
    "shared memory changes before it ends": (
        {"BETWEEN": "T[0, t % 16] = f16(0.0)"},
        "async",
        "'T[0, 0]' in shared memory is in flight",
    ),
    "half a warpgroup comes": (
        {"CALL": f"if t < 64:\n                {RIGHT['CALL']}"},
        "divergence",
        "an instruction of a warpgroup diverges",
    ),
    "half a warp comes": (
        {"CALL": f"if t < 112:\n                {RIGHT['CALL']}"},
        "divergence",
        "an instruction of a warp diverges",
    ),
    "the rest of a block is no warpgroup": (
        {"THREADS": "192"},
        "divergence",
        "an instruction of a warpgroup diverges",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    changed, kind, what = FAULTS[name]
    with pytest.raises(SimulationFault) as caught:
        run(**changed)
    assert (kind, what) in [(one.kind, one.what) for one in caught.value.faults]


MOVED = """
    def f(A: f16[16, 16], C: out[f16[16, 16]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x=32) as (_, t):
            S = alloc(f16[16, 16], 'shared')
            T = alloc(f16[16, 16], 'shared')
            f = alloc(f16[8], 'local')
            for i in range(8):
                S[i * 2 + t // 16, t % 16] = A[i * 2 + t // 16, t % 16]
            barrier_block()
            LOAD
            STORE
            barrier_block()
            for i in range(8):
                C[i * 2 + t // 16, t % 16] = T[i * 2 + t // 16, t % 16]
"""
LOAD = "ldmatrix_x4_trans(address(f, 'w'), address(S[ROW, t // 16 * 8], 'r'))".replace("ROW", "t % 16")
STORE = "stmatrix_x4(address(T[t // 16 * 8 + t % 8, t % 16 // 8 * 8], 'w'), address(f, 'r'))"


def moved(load: str, store: str = STORE) -> tuple[np.ndarray, np.ndarray]:
    text = dedent(MOVED).strip().replace("LOAD", load).replace("STORE", store) + "\n"
    a = np.arange(256, dtype="f2").reshape(16, 16)
    c = np.zeros_like(a)
    tecomp.build(parse(text), target="cuda-sim -arch=sm_90a")(a, c)
    return a, c


def test_matrices_are_transposed_on_their_way() -> None:
    a, c = moved(LOAD)
    np.testing.assert_array_equal(c, a.T)


OF_MOVES = {
    "a row outside": (LOAD.replace("t % 16,", "t % 16 + 1,"), STORE, "bounds"),
    "registers that hold nothing": (LOAD.replace("x4", "x2"), STORE, "uninitialised"),
    "half a warp": (f"if t < 16:\n            {LOAD}", STORE, "divergence"),
    "two rows in one place": (LOAD, STORE.replace("t % 8,", "t % 4,"), "race"),
}


@pytest.mark.parametrize("name", OF_MOVES)
def test_faults_of_moves(name: str) -> None:
    load, store, kind = OF_MOVES[name]
    with pytest.raises(SimulationFault) as caught:
        moved(load, store)
    assert kind in {one.kind for one in caught.value.faults}
