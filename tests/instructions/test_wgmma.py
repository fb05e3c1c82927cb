"""Multiplications of a warpgroup: where factors lie in shared memory, and what each lane has of the sums."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp.instructions.wgmma import WGMMA, WGMMA_NAMES
from tecomp.instructions.wgmma_layout import operand_addresses, plain_offsets, swizzled
from tests.instructions.matrix_kernels import numbers

SWIZZLES = (32, 64, 128)


def nested(index: int, sizes: tuple[int, ...], steps: tuple[int, ...]) -> int:
    """Return where a nested layout (sizes):(steps) puts an index, the first size runs fastest."""
    found = 0
    for size, step in zip(sizes, steps, strict=True):
        found += index % size * step
        index //= size
    return found


@pytest.mark.parametrize("element", [1, 2, 4])
@pytest.mark.parametrize("swizzle", [0, *SWIZZLES])
def test_k_major_is_the_canonical_layout(swizzle, element) -> None:
    """CUTLASS: ((8,m),(T,2)):((1T,SBO),(1,LBO)), and with W bytes a line ((8,m),(T,2)):((W,SBO),(1,T))."""
    many, chunk, leading, stride = 1 << 20, 16 // element, 5008, 8 * swizzle or 7008
    found = plain_offsets(24, 32 // element, swizzle, leading, stride, 0, element)
    for row, step in np.ndindex(found.shape):
        down = nested(row, (8, many), (swizzle or 16, stride))
        assert found[row, step] == down + nested(step, (chunk, 2), (element, 16 if swizzle else leading))


@pytest.mark.parametrize("swizzle", [0, *SWIZZLES])
def test_row_major_is_the_canonical_layout(swizzle) -> None:
    """CUTLASS: ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO)), and with W a line ((T,W/T,m),(8,k)):((1,T,LBO),(W,SBO))."""
    many, leading, stride = 1 << 20, 5008, 7008
    found = plain_offsets(136, 16, swizzle, leading, stride, 1, 2)
    for row, step in np.ndindex(found.shape):
        along = nested(row, (8, max(swizzle // 16, 1), many), (2, 16, leading if swizzle else stride))
        assert found[row, step] == along + nested(step, (8, many), (swizzle or 16, stride if swizzle else leading))


def tile_in_memory(tile: np.ndarray, swizzle: int, begin: int, size: int) -> np.ndarray:
    """Return shared memory with a tile of `swizzle` bytes a row, as a swizzled tensor copy leaves it at 1024 n bytes.

    Pieces of 16 bytes of a row change places: with row % 8 of 128 bytes, row // 2 % 4 of 64, row // 4 % 2 of 32.
    """
    memory, pieces, each = np.zeros(size, tile.dtype), swizzle // 16, 16 // tile.itemsize
    for row, piece in np.ndindex(len(tile), pieces):
        other = piece ^ row * swizzle // 128 % pieces
        to = (begin + row * swizzle) // tile.itemsize + other * each
        memory[to : to + each] = tile[row, piece * each :][:each]
    return memory


@pytest.mark.parametrize("element", [1, 2, 4])
@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_a_swizzled_tile_read_k_major(swizzle, element) -> None:
    """A step of 32 bytes along k stays inside the line: the start moves, and address bits decide."""
    rows, kind = 64, np.dtype(f"u{element}")
    tile = np.random.default_rng(0).integers(0, 256, (rows, swizzle // element)).astype(kind)
    memory = tile_in_memory(tile, swizzle, 2048, 16384 // element)
    per_step = 32 // element
    for step in range(swizzle // 32):
        start = 2048 + 32 * step
        found = operand_addresses(np.array(start), rows, per_step, swizzle, 16, 8 * swizzle, 0, element)
        assert np.array_equal(memory[found // element], tile[:, step * per_step :][:, :per_step])


@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_a_swizzled_tile_read_row_major(swizzle) -> None:
    """Tiles of 32 steps of k and a line of rows each, side by side: 16 steps further is 16 lines further."""
    k, across, slabs = 32, swizzle // 2, 3
    factor = np.random.default_rng(0).integers(0, 1 << 16, (k, across * slabs)).astype(np.uint16)
    memory = np.zeros(32768 // 2, np.uint16)
    for slab in range(slabs):
        tile = factor[:, slab * across :][:, :across]
        memory += tile_in_memory(tile, swizzle, 1024 + slab * k * swizzle, len(memory))
    for step in range(2):
        starts = np.array([1024 + 16 * step * swizzle])
        found = operand_addresses(starts, across * slabs, 16, swizzle, k * swizzle, 8 * swizzle, 1, 2)
        assert np.array_equal(memory[found[0] // 2], factor[16 * step :][:16].T)


@pytest.mark.parametrize("swizzle", [0, *SWIZZLES])
def test_every_byte_of_a_tile_once(swizzle) -> None:
    line = swizzle or 32
    found = operand_addresses(np.array(4096), 64, line // 2, swizzle, 128, 8 * line, 0, 2) - 4096
    assert np.array_equal(np.sort(found, axis=None), np.arange(0, 64 * line, 2))
    assert np.array_equal(swizzled(swizzled(np.arange(4096), swizzle), swizzle), np.arange(4096))


ROWS = [row for row in WGMMA.values() if row.n in (8, 24, 256)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.cuda_name)
def test_what_lanes_have_of_a_product(row) -> None:
    rng, types = np.random.default_rng(0), row.types
    a, b = numbers(rng, types.a, 2, 64, types.k), numbers(rng, types.b, 2, row.n, types.k)
    c = numbers(rng, types.result, 2, 64, row.n)
    given = row.a_places.registers(a) if row.a_in_registers else a
    d = row.compute(given, b, row.d_places.registers(c), np.array([1, 0]))
    assert d.shape == (2, 128, row.n // 2) and d.dtype == c.dtype
    wide = np.int64 if types.result == "int32" else np.float64
    expected = np.einsum("gmk,gnk->gmn", a.astype(wide), b.astype(wide))
    expected[0] += c[0]
    found = row.d_places.matrices(d)
    if types.result == "int32":
        assert np.array_equal(found, expected.astype(np.int32))
    else:
        near = {"float16": 2**-7, "float32": 1e-5}[types.result] if types.a != "float32" else 2**-7
        assert np.allclose(found.astype(float), expected, rtol=near, atol=near)


def test_what_d_held_means_nothing_where_it_is_not_added() -> None:
    row = WGMMA["wgmma_m64n8k16", "float32", "float16", "float16"]
    a, b = np.ones((1, 64, 16), np.float16), np.ones((1, 8, 16), np.float16)
    held = np.full((1, 128, 4), np.nan, np.float32)
    assert (row.compute(a, b, held, 0) == 16).all()
    assert np.isnan(row.compute(a, b, held)).all()


def test_names_and_numbers() -> None:
    assert len({row.cuda_name for row in WGMMA.values()}) == len(WGMMA) == 656
    assert len(WGMMA_NAMES) == 2 * 3 * 32
    row = WGMMA["wgmma_m64n256k16", "float32", "bfloat16", "bfloat16"]
    assert (row.flops, row.since, row.needs, row.types.majors) == (2 * 64 * 256 * 16, 90, "a", (0, 1))
    constants = (128, 16, 1024, 0, 64, 16, 512, 1)
    assert row.cuda.format("d", "a", "b", *constants, "k > 0") == (
        "wgmma_m64n256k16_f32_bf16<128, 16, 1024, 0, 64, 16, 512, 1>(d, a, b, k > 0)"
    )
    row = WGMMA["wgmma_rs_m64n32k32", "int32", "int8", "uint8"]
    call = "wgmma_rs_m64n32k32_s32_s8_u8<0, 128, 256, 0>(d, a, b, 1)"
    assert row.cuda.format("d", "a", "b", 0, 128, 256, 0, 1) == call
    assert ("wgmma_m64n40k32", "int32", "int8", "int8") not in WGMMA
