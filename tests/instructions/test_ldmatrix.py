"""Matrices of 8 rows of 16 bytes: which row each lane names, what it gets, and that these are factors of mma."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp.instructions.ldmatrix import MATRIX_MOVES
from tecomp.instructions.mma import MMA

MMA_16 = MMA["mma_m16n8k16", "float32", "float16", "float16"]


def rows_of(tile: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return the rows of 8 elements that begin at these places of a tile, for one warp."""
    return np.stack([tile[r, c : c + 8] for r, c in zip(row, column, strict=True)])[None]


@pytest.mark.parametrize("row", MATRIX_MOVES.values(), ids=lambda row: row.name)
def test_a_lane_gets_two_elements_of_each_matrix(row) -> None:
    memory = np.arange(2 * 8 * row.matrices * 8, dtype=np.uint16).reshape(2, 8 * row.matrices, 8)
    got = row.gather(memory)
    assert got.shape == (2, 32, 2 * row.matrices)
    for warp, lane, register in np.ndindex(got.shape):
        matrix, down, along = register // 2, lane // 4, 2 * (lane % 4) + register % 2
        at = (along, down) if row.trans else (down, along)
        assert got[warp, lane, register] == memory[warp, 8 * matrix + at[0], at[1]]
    assert np.array_equal(row.scatter(got), memory)


def test_lanes_that_name_rows() -> None:
    assert {name: row.addressing_lanes for name, row in MATRIX_MOVES.items() if "trans" not in name} == {
        "ldmatrix_x1": 8,
        "ldmatrix_x2": 16,
        "ldmatrix_x4": 32,
        "stmatrix_x1": 8,
        "stmatrix_x2": 16,
        "stmatrix_x4": 32,
    }
    assert MATRIX_MOVES["stmatrix_x2"].since == 90 and not MATRIX_MOVES["stmatrix_x2"].is_load


def test_four_matrices_are_the_first_factor() -> None:
    tile, lane = np.arange(256, dtype=np.uint16).reshape(16, 16), np.arange(32)
    got = MATRIX_MOVES["ldmatrix_x4"].gather(rows_of(tile, lane % 16, lane // 16 * 8))
    assert np.array_equal(got[0], MMA_16.places["a"].registers(tile))


def test_two_transposed_matrices_are_the_second_factor() -> None:
    tile, lane = np.arange(128, dtype=np.uint16).reshape(16, 8), np.arange(16)
    got = MATRIX_MOVES["ldmatrix_x2_trans"].gather(rows_of(tile, lane, 0 * lane))
    assert np.array_equal(got[0], MMA_16.places["b"].registers(tile))


def test_bytes_and_words_move_as_well() -> None:
    bytes_ = MMA["mma_m16n8k32", "int32", "int8", "int8"].places["a"]
    tile, lane = np.arange(512).astype(np.int8).reshape(16, 32), np.arange(32)
    rows = np.stack([tile[at % 16, at // 16 * 16 :][:16] for at in lane])[None]
    assert np.array_equal(MATRIX_MOVES["ldmatrix_x4"].gather(rows)[0], bytes_.registers(tile))
    words = MMA["mma_m16n8k8", "float32", "float32", "float32"].places["a"]
    tile = np.arange(128, dtype=np.float32).reshape(16, 8)
    rows = np.stack([tile[at % 16, at // 16 * 4 :][:4] for at in lane])[None]
    assert np.array_equal(MATRIX_MOVES["ldmatrix_x4"].gather(rows)[0], words.registers(tile))
