"""On a GPU: products of matrix instructions, by kernels that the simulator runs too."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp.ir import parse
from tecomp.target import Target
from tests.sim.matrix_kernels import GEMM, STORED, WGMMA, kernel

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def cupy() -> Any:
    return importlib.import_module("cupy")


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (128, 192, 256), (1024, 512, 768)])
@pytest.mark.parametrize("text", [GEMM, WGMMA, STORED], ids=["mma", "wgmma", "stmatrix"])
def test_the_product(cupy: Any, text: str, m: int, n: int, k: int) -> None:
    if text is not GEMM and Target.of("cuda").arch != "sm_90a":
        pytest.skip("only sm_90a has all of its instructions")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((m, k)).astype("f2")
    b = rng.standard_normal((k, n) if text is GEMM else (n, k)).astype("f2")
    c = cupy.zeros((m, n), "f2" if text is STORED else "f4")
    tecomp.build(parse(kernel(text, m, n, k)), target="cuda")(cupy.asarray(a), cupy.asarray(b), c)
    expected = a.astype("f8") @ (b if text is GEMM else b.T).astype("f8")
    near = 1e-3 if text is STORED else 1e-5
    np.testing.assert_allclose(c.get(), expected, rtol=near, atol=near * np.sqrt(k))
