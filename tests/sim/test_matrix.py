"""Matrix instructions in the simulator: kernels of them give what NumPy gives, and it says what one lacks."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp.codegen.cuda import printed
from tecomp.ir import parse
from tecomp.sim import SimulationFault
from tests.codegen.cuda_programs import HOPPER, compiles, flat
from tests.sim.matrix_kernels import GEMM, STORED, WGMMA, kernel

SECONDS = 5
"""How long a product of 256 x 256 x 256 may take."""


def multiplied(text: str, m: int, n: int, k: int, without: str = "", **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what a kernel gives in the simulator, and what NumPy does."""
    by_rows = text is GEMM
    rng = np.random.default_rng(m + n + k)
    a = rng.standard_normal((m, k)).astype("f2")
    b = rng.standard_normal((k, n) if by_rows else (n, k)).astype("f2")
    c = np.zeros((m, n), "f2" if text is STORED else "f4")
    module = tecomp.build(parse(kernel(text, m, n, k, without)), target="cuda-sim -arch=sm_90a")
    tecomp.sim.simulate(module, a, b, c, **options)
    return c, a.astype("f8") @ (b if by_rows else b.T).astype("f8")


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (64, 128, 128), (128, 64, 192)])
@pytest.mark.parametrize("text", [GEMM, WGMMA, STORED], ids=["mma", "wgmma", "stmatrix"])
def test_the_product(text: str, m: int, n: int, k: int) -> None:
    found, expected = multiplied(text, m, n, k)
    near = 1e-5 if found.dtype == np.float32 else 1e-3
    np.testing.assert_allclose(found, expected, rtol=near, atol=near * np.sqrt(k))


@pytest.mark.parametrize("text", [GEMM, WGMMA, STORED], ids=["mma", "wgmma", "stmatrix"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_product_whichever_warp_is_first(text: str, seed: int) -> None:
    found, expected = multiplied(text, 64, 64, 128, seed=seed, warps="apart")
    near = 1e-5 if found.dtype == np.float32 else 1e-3
    np.testing.assert_allclose(found, expected, rtol=near, atol=near * 12)


@pytest.mark.parametrize("text", [GEMM, WGMMA, STORED], ids=["mma", "wgmma", "stmatrix"])
def test_nvrtc_takes_it_without_a_word(text: str) -> None:
    compiles(printed(flat(kernel(text, 64, 128, 128)), HOPPER).source, ["sm_90a"])


LACKS = [
    (GEMM, "copied", "async"),
    (GEMM, "copied_by_all", "race"),
    (GEMM, "read_by_all", "race"),
    (WGMMA, "fenced", "async"),
    (WGMMA, "multiplied", "async"),
    (STORED, "seen", "async"),
]


@pytest.mark.parametrize(("text", "without", "kind"), LACKS, ids=[name for _, name, _ in LACKS])
@pytest.mark.parametrize("warps", ["", "apart"])
def test_what_it_lacks(text: str, without: str, kind: str, warps: str) -> None:
    with pytest.raises(SimulationFault) as caught:
        multiplied(text, 64, 64, 128, without, warps=warps)
    assert kind in {one.kind for one in caught.value.faults}


def test_it_is_quick() -> None:
    start = time.process_time()
    found, expected = multiplied(GEMM, 256, 256, 256)
    assert time.process_time() - start < SECONDS
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
