"""Tensor cores by tensorize: the program means what it says before and after its warps are there, NVRTC takes it, and a
GPU gives the same."""

from __future__ import annotations

import importlib
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tecomp
from tecomp.codegen import nvrtc
from tecomp.codegen.cuda_prelude import prelude
from tecomp.instructions.fragments import WMMA
from tecomp.ir import interpret
from tecomp.ir.matrix import Shape
from tests.runtime.test_cuda_gpu import to_gpu
from tests.tensor_cores import convolution, matmul

NUMPY = {"bfloat16": ml_dtypes.bfloat16}
KINDS = [
    ("float16", "float32", "row_major", Shape(16, 16, 16)),
    ("float16", "float16", "row_major", Shape(16, 16, 16)),
    ("float16", "float32", "col_major", Shape(32, 8, 16)),
    ("float16", "float32", "row_major", Shape(8, 32, 16)),
    ("bfloat16", "float32", "col_major", Shape(16, 16, 16)),
    ("int8", "int32", "row_major", Shape(16, 16, 16)),
    ("uint8", "int32", "col_major", Shape(32, 8, 16)),
]
"""Factors, result, how B lies, and the shape of one instruction."""


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Return small whole numbers, so that sums are exact in every type."""
    low = 0 if dtype.startswith("u") else -3
    return np.random.default_rng(seed).integers(low, 4, shape).astype(NUMPY.get(dtype, dtype))


def factors(m: int, n: int, k: int, kind: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, B as they lie, and A @ B."""
    factor, result, layout, _ = kind
    a, b = numbers((m, k), factor), numbers((k, n), factor, 1)
    product = (a.astype("float64") @ b.astype("float64")).astype(result)
    return a, b if layout == "row_major" else np.ascontiguousarray(b.T), product


def small(kind: tuple[Any, ...]) -> Any:
    factor, result, layout, shape = kind
    return matmul(
        32, 64, 32, factor=factor, result=result, b_layout=layout, shape=shape, block=(32, 32, 32), warp=(32, 32)
    )


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("target", [None, "cuda -arch=sm_80"])
def test_the_program_multiplies(kind: tuple[Any, ...], target: str | None) -> None:
    s, args = small(kind)
    a, b, expected = factors(32, 64, 32, kind)
    c = np.zeros_like(expected)
    interpret(tecomp.lower(s, args, target=target), a, b, c)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_nvrtc_takes_it(kind: tuple[Any, ...]) -> None:
    s, args = small(kind)
    assert tecomp.build(s, args, target="cuda -arch=sm_90a").artifact.binary.startswith(b"\x7fELF")


def test_each_instruction_is_one_of_the_architecture() -> None:
    body = "\n".join(f"  {{ {called(name, text)} }}" for name, text in WMMA.items() if name != "wmma_fill")
    kernel = f'extern "C" __global__ void k(void* p) {{\n{body}\n}}'
    assert nvrtc.compile_cuda(f"{prelude(kernel)}\n{kernel}", "sm_80").cubin


def called(name: str, text: str) -> str:
    """Return statements that call a function on registers of its types."""
    registers = re.findall(r"(unsigned int|int|float) \(&(\w)\)\[(\d+)\]", text)
    declared = " ".join(f"{kind} {of}[{count}] = {{}};" for kind, of, count in registers)
    rest = ["p", "32"] if "void* p" in text else []
    return f"{declared} {name}({', '.join([*(of for _, of, _ in registers), *rest])});"


def staged() -> Any:
    return matmul(96, 64, 64, block=(48, 32, 32), warp=(16, 32), vector=2, pad=8)


@pytest.mark.parametrize("target", [None, "cuda -arch=sm_80"])
def test_rows_of_staged_factors_may_be_padded(target: str | None) -> None:
    s, args = staged()
    a, b, expected = factors(96, 64, 64, KINDS[0])
    c = np.zeros_like(expected)
    interpret(tecomp.lower(s, args, target=target), a, b, c)
    np.testing.assert_array_equal(c, expected)


def images(batch: int, size: int, channels: int, filters: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return images, filters, and their convolution with one row of zeros around."""
    n, c, f = batch // 16, channels // 16, filters // 16
    a, w = numbers((n, size, size, c, 16, 16), "float16"), numbers((3, 3, c, f, 16, 16), "float16", 1)
    wide = np.zeros((n, size + 2, size + 2, c, 16, 16), "float32")
    wide[:, 1:-1, 1:-1] = a
    result = np.zeros((n, size, size, f, 16, 16), "float32")
    for y in range(size):
        for x in range(size):
            patch = wide[:, y : y + 3, x : x + 3]
            result[:, y, x] = np.einsum("nyxcbi,yxcfio->nfbo", patch, w.astype("float32"), optimize=True)
    return a, w, result


@pytest.mark.parametrize("target", [None, "cuda -arch=sm_80"])
def test_a_convolution(target: str | None) -> None:
    s, args = convolution(16, 2, 16, 32)
    a, w, expected = images(16, 2, 16, 32)
    c = np.zeros_like(expected)
    interpret(tecomp.lower(s, args, target=target), a, w, c)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_gpu_multiplies(kind: tuple[Any, ...]) -> None:
    factor, result, layout, shape = kind
    s, args = matmul(
        256, 256, 256, factor=factor, result=result, b_layout=layout, shape=shape, block=(64, 64, 32), warp=(32, 32),
        vector=4, pad=16,
    )  # fmt: skip
    a, b, expected = factors(256, 256, 256, kind)
    np.testing.assert_array_equal(on_gpu(tecomp.build(s, args, target="cuda"), a, b, expected), expected)


@pytest.mark.gpu
def test_a_gpu_convolves() -> None:
    s, args = convolution(32, 14, 64, 64)
    a, w, expected = images(32, 14, 64, 64)
    np.testing.assert_array_equal(on_gpu(tecomp.build(s, args, target="cuda"), a, w, expected), expected)


def on_gpu(module: Any, first: np.ndarray, second: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Run a module on copies of its inputs on the GPU; return the result."""
    cupy = importlib.import_module("cupy")
    result = cupy.full(like.shape, 77, like.dtype)
    module(to_gpu(cupy, first), to_gpu(cupy, second), result)
    return result.get()
