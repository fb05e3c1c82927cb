"""Intrinsics of x86: products of small numbers by AVX-512 and AMX, as tensorize puts them into a program."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import UnsupportedError
from tecomp.ir import interpret
from tecomp.tir.tensor_intrin import x86
from tecomp_runtime import LaunchError
from tecomp_runtime.libraries import cpu_flags, tiles_granted
from tests.conftest import Refused

NUMPY = {"bfloat16": ml_dtypes.bfloat16}
BYTES, HALVES = ("uint8", "int8", "int32", 4), ("bfloat16", "bfloat16", "float32", 2)


def product(kind: tuple[str, str, str, int], m: int, n: int, k: int) -> Any:
    """C = A @ B, of B `group` values of k side by side, 16 columns in a block."""
    left, right, result, group = kind
    A = te.placeholder((m, k), left, name="A")
    B = te.placeholder((n // 16, k // group, 16, group), right, name="B")
    r = te.reduce_axis((0, k), name="k")
    C = te.compute(
        (m, n),
        lambda i, j: te.sum(A[i, r].astype(result) * B[j // 16, r // group, j % 16, r % group].astype(result), axis=r),
        name="C",
    )
    s = te.create_schedule(C.op)
    jo, ji = s[C].split(C.op.axis[1], factor=16)
    ko, ki = s[C].split(r, factor=group)
    s[C].reorder(C.op.axis[0], jo, ko, ji, ki)
    return s, [A, B, C], ji


def arrays(kind: tuple[str, str, str, int], m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left, right, result, group = kind
    rng = np.random.default_rng(0)
    a = rng.integers(0, 200 if left == "uint8" else 9, (m, k)).astype(NUMPY.get(left, left))
    b = rng.integers(-4, 5, (n // 16, k // group, 16, group)).astype(NUMPY.get(right, right))
    flat = b.astype("float64").transpose(1, 3, 0, 2).reshape(k, n)
    return a, b, (a.astype("float64") @ flat).astype(result)


@pytest.mark.parametrize(
    ("kind", "intrin", "instruction", "flag"),
    [
        (BYTES, x86.dot_u8s8(), "vpdpbusd", "avx512_vnni"),
        (HALVES, x86.dot_bf16(), "vdpbf16ps", "avx512_bf16"),
    ],
    ids=["bytes", "halves"],
)
def test_products_in_32_bits(kind: Any, intrin: Any, instruction: str, flag: str) -> None:
    s, args, inner = product(kind, 5, 32, 24)
    s[args[2]].tensorize(inner, intrin)
    a, b, expected = arrays(kind, 5, 32, 24)
    result = np.zeros_like(expected)
    interpret(tecomp.lower(s, args), a, b, result)
    np.testing.assert_array_equal(result, expected)
    module = tecomp.build(s, args, target="llvm -mcpu=znver4")
    assert instruction in module.get_source("asm")
    if flag in cpu_flags():
        result[...] = 0
        module(a, b, result)
        np.testing.assert_array_equal(result, expected)


def test_a_cpu_without_the_instruction(refused: Refused) -> None:
    s, args, inner = product(BYTES, 5, 32, 24)
    s[args[2]].tensorize(inner, x86.dot_u8s8())
    with refused(
        UnsupportedError,
        """
        the intrinsic 'llvm.x86.avx512.vpdpbusd.512' on haswell
          --> test_x86.py:LINE
           |     tecomp.build(s, args, target="llvm -mcpu=haswell")
           |     ^
          because: LLVM finds no instruction for it
          legal: target="llvm -mattr=+..."
        """,
    ):
        tecomp.build(s, args, target="llvm -mcpu=haswell")


def tiles(kind: tuple[str, str, str, int], m: int, n: int, k: int) -> Any:
    """C = A @ B by tiles of 16 x 16 results, B[k // group, j, k % group]."""
    left, right, result, group = kind
    A, B = te.placeholder((m, k), left, name="A"), te.placeholder((k // group, n, group), right, name="B")
    r = te.reduce_axis((0, k), name="k")
    C = te.compute(
        (m, n),
        lambda i, j: te.sum(A[i, r].astype(result) * B[r // group, j, r % group].astype(result), axis=r),
        name="C",
    )
    s = te.create_schedule(C.op)
    io, jo, ii, ji = s[C].tile(*C.op.axis, 16, 16)
    ko, ki = s[C].split(r, factor=16 * group)
    s[C].reorder(io, jo, ko, ii, ji, ki)
    return s, [A, B, C], ii


@pytest.mark.parametrize(
    ("kind", "intrin", "instruction", "flag"),
    [(BYTES, x86.amx_u8s8(), "tdpbusd", "amx_int8"), (HALVES, x86.amx_bf16(), "tdpbf16ps", "amx_bf16")],
    ids=["bytes", "halves"],
)
def test_tiles_build_for_a_cpu_that_has_them(kind: Any, intrin: Any, instruction: str, flag: str) -> None:
    s, args, inner = tiles(kind, 32, 32, 128)
    s[args[2]].tensorize(inner, intrin)
    module = tecomp.build(s, args, target="llvm -mcpu=sapphirerapids")
    code = module.get_source("asm")
    assert all(re.search(rf"\b{name}\b", code) for name in (instruction, "tileloadd", "tilestored", "ldtilecfg"))
    assert {flag, "amx_tile"} <= set(module.artifact.requires)
    group = kind[3]
    if {*module.artifact.requires} <= cpu_flags() and tiles_granted():
        a, b, expected = arrays(kind, 32, 32, 128)
        wide = b.transpose(1, 0, 2, 3).reshape(128 // group, 32, group)
        c = np.zeros_like(expected)
        module(a, np.ascontiguousarray(wide), c)
        np.testing.assert_array_equal(c, expected)
    else:
        shapes = ((32, 128), kind[0]), ((128 // group, 32, group), kind[1]), ((32, 32), kind[2])
        with pytest.raises(LaunchError, match=r"it is built for a CPU with .*amx_tile, which this one lacks"):
            module(*(np.zeros(shape, NUMPY.get(name, name)) for shape, name in shapes))


def test_a_cpu_without_tiles(refused: Refused) -> None:
    s, args, inner = tiles(BYTES, 32, 32, 128)
    s[args[2]].tensorize(inner, x86.amx_u8s8())
    with refused(
        UnsupportedError,
        """
        the intrinsic 'llvm.x86.tdpbusd.internal' on znver4
          --> test_x86.py:LINE
           |     tecomp.build(s, args, target="llvm -mcpu=znver4")
           |     ^
          because: it needs amx-int8, which that CPU has not
          legal: target="llvm -mcpu=sapphirerapids"
        """,
    ):
        tecomp.build(s, args, target="llvm -mcpu=znver4")
