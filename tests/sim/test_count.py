"""The counts of a profile against what a person computes, kernel by kernel."""

from __future__ import annotations

from typing import Any

import pytest

from tecomp.sim import profile
from tests.sim.counted import KERNELS

from .kernels import built, f32

_WARPS = 16 * 256 // 32

GLOBAL = {
    # name: requests and sectors of loads, of stores
    "copy": (_WARPS, 4 * _WARPS, _WARPS, 4 * _WARPS),
    "stride2": (_WARPS, 8 * _WARPS, _WARPS, 4 * _WARPS),
    "stride8": (_WARPS, 32 * _WARPS, _WARPS, 4 * _WARPS),
    "stride32": (_WARPS, 32 * _WARPS, _WARPS, 4 * _WARPS),
    "off_by_one": (_WARPS, 5 * _WARPS, _WARPS, 4 * _WARPS),
    "one_for_all": (_WARPS, _WARPS, _WARPS, 4 * _WARPS),
    "odd_lanes": (_WARPS, 4 * _WARPS, _WARPS, 4 * _WARPS),
    "partial_warp": (2 * 16, (4 + 1) * 16, 2 * 16, (4 + 1) * 16),
    "halves": (_WARPS, 2 * _WARPS, _WARPS, 2 * _WARPS),
    "doubles": (_WARPS, 8 * _WARPS, _WARPS, 8 * _WARPS),
    "squares": (_WARPS, 2 * 2 * _WARPS, _WARPS, 2 * 2 * _WARPS),
    "vector2": (_WARPS, 8 * _WARPS, _WARPS, 8 * _WARPS),
    "vector4": (_WARPS, 16 * _WARPS, _WARPS, 16 * _WARPS),
    "vector8_halves": (_WARPS, 16 * _WARPS, _WARPS, 16 * _WARPS),
    "vector4_for_all": (_WARPS, _WARPS, _WARPS, 16 * _WARPS),
    "vector4_apart": (_WARPS, 32 * _WARPS, _WARPS, 16 * _WARPS),
    "transpose_direct": (512, 512 * 4, 512, 512 * 32),
    "transpose": (512, 512 * 4, 512, 512 * 4),
    "transpose_halves": (512, 512 * 2, 512, 512 * 2),
    "halo": (_WARPS + 16, 4 * _WARPS + 16, _WARPS, 4 * _WARPS),
    "gemm": (512, 512 * 2, 16 * 4, 16 * 4 * 8),
    "gemm_vectors": (128, 128 * 8, 16 * 4, 16 * 4 * 8),
}

SHARED = {
    # name: requests, wavefronts and conflicts of loads, of stores
    "transpose": (512, 512 * 32, 512 * 31, 512, 512, 0),
    "transpose_padded": (512, 512, 0, 512, 512, 0),
    "transpose_halves": (512, 512 * 16, 512 * 15, 512, 512, 0),
    "column1": (_WARPS, _WARPS, 0, _WARPS, _WARPS, 0),
    "column2": (_WARPS, 2 * _WARPS, _WARPS, _WARPS, 2 * _WARPS, _WARPS),
    "column4": (_WARPS, 4 * _WARPS, 3 * _WARPS, _WARPS, 4 * _WARPS, 3 * _WARPS),
    "column8": (_WARPS, 8 * _WARPS, 7 * _WARPS, _WARPS, 8 * _WARPS, 7 * _WARPS),
    "column32": (_WARPS, 32 * _WARPS, 31 * _WARPS, _WARPS, 32 * _WARPS, 31 * _WARPS),
    "column33": (_WARPS, _WARPS, 0, _WARPS, _WARPS, 0),
    "column1_doubles": (_WARPS, 2 * _WARPS, 0, _WARPS, 2 * _WARPS, 0),
    "column2_halves": (_WARPS, _WARPS, 0, _WARPS, _WARPS, 0),
    "shared2": (_WARPS, 2 * _WARPS, 0, _WARPS, 2 * _WARPS, 0),
    "shared4": (_WARPS, 4 * _WARPS, 0, _WARPS, 4 * _WARPS, 0),
    "shared2_pairs": (_WARPS, _WARPS, 0, _WARPS, 2 * _WARPS, 0),
    "shared4_pairs": (_WARPS, 2 * _WARPS, 0, _WARPS, 4 * _WARPS, 0),
    "shared4_for_all": (_WARPS, 2 * _WARPS, 0, _WARPS, 4 * _WARPS, 0),
    "shared4_apart": (_WARPS, 32 * _WARPS, 28 * _WARPS, _WARPS, 4 * _WARPS, 0),
    # 4 + 2 + 1 warps, and one for each of 16, 8, 4, 2, 1 threads; two loads each, and all read S[0]
    "row_sums": (16 * (2 * 12 + 8), 16 * (2 * 12 + 8), 0, 16 * (8 + 12), 16 * (8 + 12), 0),
    "halo": (3 * _WARPS, 3 * _WARPS, 0, _WARPS + 16, _WARPS + 16, 0),
}


def counts(name: str) -> Any:
    (found,) = profile(KERNELS[name].build(), *KERNELS[name].given(), show=False).kernels.values()
    return found


@pytest.mark.parametrize("name", GLOBAL)
def test_requests_and_sectors_of_global_memory(name: str) -> None:
    found = counts(name)
    load, store = found.global_load, found.global_store
    assert (load.requests, load.sectors, store.requests, store.sectors) == GLOBAL[name]
    assert load.sectors_per_request == load.sectors / load.requests


@pytest.mark.parametrize("name", SHARED)
def test_wavefronts_of_shared_memory(name: str) -> None:
    found = counts(name)
    numbers = [(one.requests, one.wavefronts, one.conflicts) for one in (found.shared_load, found.shared_store)]
    assert (*numbers[0], *numbers[1]) == SHARED[name]


def test_bytes_that_threads_ask_for_and_that_memory_moves() -> None:
    found = counts("stride8")
    assert found.global_load.bytes == found.global_store.bytes == 4096 * 4
    assert (found.dram_read, found.dram_written) == (4096 * 32, 4096 * 4)
    assert found.global_load.efficiency == 1 / 8


def test_what_all_ask_for_is_moved_once() -> None:
    found = counts("one_for_all")
    assert found.dram_read == 2 * 32  # 16 floats
    assert found.l2_sectors == 16 + 4 * _WARPS


def test_instructions_and_flops() -> None:
    found = counts("halo")
    assert found.flops == {"float32": 2 * 4096}
    assert found.named == {"barrier": _WARPS}
    assert found.instructions["float"] == 2 * _WARPS
    assert found.instructions["memory"] == (_WARPS + 16) * 2 + 4 * _WARPS


def test_matrix_instructions() -> None:
    found = counts("gemm")
    assert (found.matrix, found.matrix_flops) == (4 * 4 * 4, {"float16": 2 * 64**3})


def test_a_run_of_bytes_is_moved_once() -> None:
    """A bulk copy is one request, of as many sectors as it touches: here nine, from the middle of one on."""
    text = """
        def run(A: buffer(f32[72], align=16), B: out[buffer(f32[72], align=16)]) -> device:
            with launch(threadIdx_x=32) as t:
                S = alloc(f32[64], 'shared', align=128)
                bar = alloc(u64[1], 'shared')
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 1)
                    fence_mbarrier_init()
                    mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)
                    bulk_load(address(S[0], 'w'), address(A[4], 'r'), 256, address(bar[0], 'rw'))
                    mbarrier_wait(address(bar[0], 'rw'), 0)
                    bulk_store(address(B[8], 'w'), address(S[0], 'r'), 256)
                    bulk_commit()
                    bulk_wait(0)
    """
    (found,) = profile(built(text), f32(72), f32(72), show=False).kernels.values()
    copy = found.global_copy
    assert (copy.requests, copy.bytes, copy.sectors) == (2, 2 * 256, 9 + 8)
    assert (found.dram_read, found.dram_written) == (9 * 32, 8 * 32)
