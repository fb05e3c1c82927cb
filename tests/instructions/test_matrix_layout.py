"""Which lane and register hold which element: what NVIDIA's manual says of each instruction, and each element once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tecomp.instructions.ldmatrix import MATRIX_MOVES
from tecomp.instructions.matrix_layout import Places, fragment
from tecomp.instructions.mma import MMA
from tecomp.instructions.wgmma import WGMMA

Rule = Callable[[int, int, int], tuple[int, int]]
"""Row and column by lane // 4, lane % 4 and register, in the words of the PTX manual."""

PTX: dict[str, dict[str, Rule]] = {
    "m16n8k16": {
        "a": lambda g, t, i: (g if i < 2 or 4 <= i < 6 else g + 8, t * 2 + (i & 1) + (0 if i < 4 else 8)),
        "b": lambda g, t, i: (t * 2 + (i & 1) + (0 if i < 2 else 8), g),
        "c": lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
    },
    "m16n8k8": {
        "a": lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
        "b": lambda g, t, i: (t * 2 + i, g),
        "c": lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
    },
    "m16n8k8 tf32": {
        "a": lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
        "b": lambda g, t, i: (t if i == 0 else t + 4, g),
        "c": lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
    },
    "m16n8k32": {
        "a": lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (0 if i < 8 else 16)),
        "b": lambda g, t, i: (t * 4 + (i & 3) + (0 if i < 4 else 16), g),
        "c": lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
    },
    "m8n8k4": {
        "a": lambda g, t, i: (g, t),
        "b": lambda g, t, i: (t, g),
        "c": lambda g, t, i: (g, t * 2 + i),
    },
}


def each_once(places: Places, shape: tuple[int, int]) -> bool:
    flat = places.rows * shape[1] + places.columns
    return places.shape == shape and np.array_equal(np.sort(flat, axis=None), np.arange(shape[0] * shape[1]))


@pytest.mark.parametrize("row", MMA.values(), ids=lambda row: row.cuda_name)
def test_operands_of_a_warp(row) -> None:
    rules = PTX[row.name[4:] + (" tf32" if row.a == "float32" else "")]
    shapes = {"a": (row.m, row.k), "b": (row.k, row.n), "c": (row.m, row.n), "d": (row.m, row.n)}
    for name, places in row.places.items():
        assert each_once(places, shapes[name])
        for (lane, register), at in np.ndenumerate(places.rows):
            found = rules["c" if name == "d" else name](lane // 4, lane % 4, register)
            assert (at, places.columns[lane, register]) == found


@pytest.mark.parametrize("row", [row for row in WGMMA.values() if row.n in (8, 40, 256)], ids=lambda row: row.cuda_name)
def test_operands_of_a_warpgroup(row) -> None:
    """Four warps, one below the other, each with the registers of a multiplication of a warp."""
    assert each_once(row.d_places, (64, row.n))
    assert each_once(row.a_places, (64, row.types.k))
    rules = PTX["m16n8k8 tf32" if row.types.k == 8 else f"m16n8k{row.types.k}"]
    for (thread, register), at in np.ndenumerate(row.a_places.rows):
        down, along = rules["a"](thread % 32 // 4, thread % 4, register)
        assert (at, row.a_places.columns[thread, register]) == (thread // 32 * 16 + down, along)
    for (thread, register), at in np.ndenumerate(row.d_places.rows):
        down = 16 * (thread // 32) + thread % 32 // 4 + 8 * (register >> 1 & 1)
        assert (at, row.d_places.columns[thread, register]) == (
            down,
            8 * (register >> 2) + 2 * (thread % 4) + register % 2,
        )


@pytest.mark.parametrize("row", MATRIX_MOVES.values(), ids=lambda row: row.name)
def test_moved_matrices(row) -> None:
    for size in row.element_bytes:
        assert each_once(row.places(size), (8 * row.matrices, 16 // size))


def test_sums_of_one_multiplication_are_a_factor_of_the_next() -> None:
    a = MMA["mma_m16n8k16", "float32", "float16", "float16"].places["a"]
    sums = WGMMA["wgmma_m64n16k16", "float32", "float16", "float16"].d_places
    assert np.array_equal(a.rows, sums.rows[:32]) and np.array_equal(a.columns, sums.columns[:32])


def test_registers_of_matrices_and_back() -> None:
    places = fragment(64, 24, 2)
    matrices = np.arange(3 * 64 * 24).reshape(3, 64, 24)
    registers = places.registers(matrices)
    assert registers.shape == (3, 128, 12)
    assert registers[1, 33, 5] == matrices[1, places.rows[33, 5], places.columns[33, 5]]
    assert np.array_equal(places.matrices(registers), matrices)
