"""Clusters of blocks: what a kernel says of them, and which there are not."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp.codegen.cuda import printed
from tecomp.errors import InternalError, UnsupportedError
from tecomp.ir.interpret import interpret
from tecomp.target import Target
from tests.codegen.cuda_programs import HOPPER, compiles, flat

PAIRS = """
    def pairs(A: f32[n, 64], B: out[f32[n, 64]]) -> device:
        with launch(blockIdx_x={grid}, cluster_x={size}, threadIdx_x=64) as (b, rank, t):
            barrier_cluster()
            B[b, t] = A[b, t] + f32(rank)
"""


def test_a_kernel_says_how_many_blocks_are_a_cluster() -> None:
    artifact = printed(flat(PAIRS.format(grid="n // 2 * 2", size=2)), HOPPER)
    compiles(artifact.source, ["sm_90a"])
    assert "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64)\npairs_B(" in artifact.source
    assert "const int rank = cluster_rank();" in artifact.source
    assert "launch('pairs_B', (n // 2 * 2, 1, 1), (64, 1, 1), 0, A, B)" in artifact.host


@pytest.mark.parametrize(
    ("grid", "size", "arch", "because"),
    [
        ("8", 2, "sm_80", "GPUs have clusters from sm_90 on, and the target is sm_80"),
        ("32", 16, "sm_90a", "a cluster has at most 8"),
        ("n", 2, "sm_90a", "the grid has i32(n) blocks, which need not be a multiple"),
    ],
)
def test_refusals(grid: str, size: int, arch: str, because: str) -> None:
    target = Target.of(f"cuda -arch={arch}")
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(PAIRS.format(grid=grid, size=size), target), target)
    assert (caught.value.asked, caught.value.because) == (f"clusters of {size} blocks in pairs_B", because)


@pytest.mark.parametrize(
    ("grid", "size", "because"),
    [("7", "2", "clusters of 2 blocks in a grid of 7"), ("8", "n", "clusters of i32(n) blocks")],
)
def test_what_is_no_cluster(grid: str, size: str, because: str) -> None:
    with pytest.raises(InternalError) as caught:
        flat(PAIRS.format(grid=grid, size=size))
    assert caught.value.because == because


def test_the_interpreter_has_none() -> None:
    with pytest.raises(UnsupportedError) as caught:
        interpret(flat(PAIRS.format(grid="4", size=2)), *np.zeros((2, 4, 64), "f4"))
    assert caught.value.legal == 'target="cuda-sim"'
