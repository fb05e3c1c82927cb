"""Multiplications of a warp agree with NumPy's on whole matrices."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tecomp.instructions.matrix_values import as_multiplied
from tecomp.instructions.mma import MMA, MMA_NAMES
from tests.instructions.matrix_kernels import numbers


@pytest.mark.parametrize("row", MMA.values(), ids=lambda row: row.cuda_name)
def test_what_lanes_have_of_a_product(row) -> None:
    rng = np.random.default_rng(0)
    a, b = numbers(rng, row.a, 3, row.m, row.k), numbers(rng, row.b, 3, row.k, row.n)
    c = numbers(rng, row.result, 3, row.m, row.n)
    places = row.places
    d = row.compute(*(places[name].registers(of) for name, of in zip("abc", (a, b, c), strict=True)))
    assert d.shape == (3, 32, row.m * row.n // 32) and d.dtype == c.dtype
    kind = np.int64 if row.result == "int32" else np.float64
    left, right = (as_multiplied(of).astype(kind) if row.a == "float32" else of.astype(kind) for of in (a, b))
    expected = (np.einsum("wmk,wkn->wmn", left, right) + c.astype(kind)).astype(c.dtype)
    found = places["d"].matrices(d)
    if row.result == "int32":
        assert np.array_equal(found, expected)
    else:
        assert np.allclose(found.astype(float), expected.astype(float), rtol=2**-9 if row.result == "float16" else 1e-6)


def test_integers_wrap() -> None:
    row = MMA["mma_m16n8k32", "int32", "int8", "uint8"]
    a, b = np.full((1, 32, 16), -128, np.int8), np.full((1, 32, 8), 255, np.uint8)
    d = row.compute(a, b, np.full((1, 32, 4), -(2**31), np.int32))
    assert (d == 2**31 - 32 * 128 * 255).all()


def test_tf32_is_the_upper_19_bits() -> None:
    values = np.array([1 + 2**-10, 1 + 2**-11, -1 - 2**-10 - 2**-11, np.inf], np.float32)
    assert as_multiplied(values).tolist() == [1 + 2**-10, 1.0, -1 - 2**-10, np.inf]
    assert as_multiplied(values.astype(np.float64))[1] == 1 + 2**-11


def test_one_rounding_and_what_is_not_finite() -> None:
    row = MMA["mma_m16n8k16", "float16", "float16", "float16"]
    a, b = np.full((1, 32, 8), 60000, np.float16), np.ones((1, 32, 4), np.float16)
    c = np.full((1, 32, 4), -60000, np.float16)
    assert (row.compute(a, b, c) == np.inf).all()
    assert np.isnan(row.compute(np.full_like(a, np.inf), 0 * b, c)).all()


def test_names_and_numbers() -> None:
    assert {"mma_m16n8k16", "mma_m16n8k8", "mma_m16n8k32", "mma_m8n8k4"} == MMA_NAMES
    row = MMA["mma_m16n8k16", "float32", "bfloat16", "bfloat16"]
    assert (row.cuda_name, row.flops, row.since) == ("mma_m16n8k16_f32_bf16", 4096, 80)
    assert row.cuda.format("d", "a", "b", "d") == "mma_m16n8k16_f32_bf16(d, a, b, d)"
    assert as_multiplied(np.ones(2, ml_dtypes.float8_e5m2)).dtype == np.float64
    assert len({row.cuda_name for row in MMA.values()}) == len(MMA)
