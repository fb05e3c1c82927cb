"""Matrix instructions of opaque bodies: calls, what is refused, and a body that becomes a kernel and multiplies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError
from tests.codegen.cuda_programs import compiles
from tests.goldens import Golden
from tests.tir.refusals import check_refusal

S = tir.decl_buffer((64, 64), "float16", name="S", scope="shared")
A = tir.decl_buffer((8,), "float16", name="A", scope="local")
B = tir.decl_buffer((4,), "float16", name="B", scope="local")
D = tir.decl_buffer((4,), "float32", name="D", scope="local")
i = te.var("i")
ib = tir.ir_builder.create()
s, a, b, d = (ib.buffer_ptr(buffer) for buffer in (S, A, B, D))

LOAD = "ldmatrix_x4(address(A, 'w', i32(0)), address(S[i, i32(8)], 'r', i32(0)))"
OPERANDS = "address(A, 'r', i32(0)), address(B, 'r', i32(0)), address(D, 'r', i32(0))"
CALLS: dict[str, Callable[[], Any]] = {
    LOAD: lambda: tir.ldmatrix_x4(A, s[i, 8]),
    "stmatrix_x2_trans(address(S[i, i32(0)], 'w', i32(0)), address(B, 'r', i32(0)))": lambda: tir.stmatrix_x2_trans(
        row=s[i, 0], of=B
    ),
    f"mma_m16n8k16(address(D, 'w', i32(0)), {OPERANDS})": lambda: tir.mma_m16n8k16(D, A, B, D),
    "wgmma_rs_m64n8k16(address(D, 'rw', i32(0)), address(A, 'r', i32(0)), address(S, 'r', i32(0)), "
    "i32(128), i32(16), i32(1024), i32(0), i)": lambda: tir.wgmma_rs_m64n8k16(D, A, S, 128, 16, 1024, 0, scale_d=i),
    "ldmatrix_x2_trans(address(B, 'w', i32(0)), address(S, 'r', i))": lambda: tir.ptx_ldmatrix(
        "float16", True, 2, ".b16", B, 0, S, i
    ),
    f"mma_m16n8k8(address(D, 'w', i), {OPERANDS.replace('i32(0)', 'i')})": lambda: tir.call_intrin(
        "float32", "tir.ptx_mma", "m16n8k8", "row", "col", "fp16", "fp16", "fp32", A, i, B, i, D, i, False
    ),
}


@pytest.mark.parametrize("text", CALLS)
def test_a_call(text: str) -> None:
    assert repr(CALLS[text]()) == text


def _mma(shape: str, *layouts: str, saturate: bool = False) -> Any:
    return tir.ptx_mma("float32", shape, *layouts, "fp16", "fp16", "fp32", A, 0, B, 0, D, 0, saturate)


REFUSALS: list[tuple[Callable[[], Any], str, str, str]] = [
    (
        lambda: tir.ldmatrix_x4(s[0, 0], s[0, 8]),
        "tir.ldmatrix_x4: to S[i32(0), i32(0)]",
        "to lies in shared memory, and must in local",
        "S[i], or S.access_ptr('w'), of a buffer in local memory",
    ),
    (
        lambda: tir.wgmma_rs_m64n8k16(D, A, S, 96, 16, 1024, 0, 1),
        "tir.wgmma_rs_m64n8k16: swizzle_b 96",
        "swizzle_b is 96, and must be 0 or 32 or 64 or 128",
        "0 or 32 or 64 or 128, a constant",
    ),
    (
        lambda: tir.wgmma_rs_m64n8k16(D, A, S, 128, 16, 1000, 0, 1),
        "tir.wgmma_rs_m64n8k16: stride_b 1000",
        "stride_b is 1000, and must be 0 to 262128 in steps of 16",
        "0 to 262128 in steps of 16, a constant",
    ),
    (
        lambda: _mma("m8n8k16", "row", "col"),
        "tir.ptx_mma m8n8k16",
        "there is none of that shape",
        "m16n8k16 or m16n8k8 or m16n8k32 or m8n8k4",
    ),
    (
        lambda: _mma("m16n8k16", "row", "row"),
        "tir.ptx_mma m16n8k16",
        "a lies by rows and b by columns in registers",
        '"row" and "col"',
    ),
    (
        lambda: _mma("m16n8k16", "row", "col", saturate=True),
        "tir.ptx_mma m16n8k16",
        "it multiplies and adds, and integers wrap",
        "saturate=False and no operator",
    ),
    (
        lambda: tir.ptx_ldmatrix("float16", False, 3, ".b16", A, 0, S, 0),
        "tir.ptx_ldmatrix of 3 matrices of '.b16'",
        "there is none",
        '1, 2 or 4 matrices of ".b16"',
    ),
]


@pytest.mark.parametrize(("call", "asked", "because", "legal"), REFUSALS, ids=[row[2] for row in REFUSALS])
def test_refusals(call: Callable[[], Any], asked: str, because: str, legal: str) -> None:
    check_refusal(__file__, call, UserError, asked, because, legal)


def product(ins: Any, outs: Any) -> Any:
    """Return a body: a warp multiplies 16 x 32 by 32 x 8."""
    ib = tir.ir_builder.create()
    x, y, z = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1]), ib.buffer_ptr(outs[0])
    lane = te.thread_axis("threadIdx.x")
    ib.scope_attr(lane, "thread_extent", 32)
    left = ib.allocate("float16", (16, 40), name="left", scope="shared")
    right = ib.allocate("float16", (32, 8), name="right", scope="shared")
    a = ib.allocate("float16", (8,), name="a", scope="local")
    b = ib.allocate("float16", (4,), name="b", scope="local")
    d = ib.allocate("float32", (4,), name="d", scope="local")
    with ib.for_range(0, 16, name="r") as r:
        left[r, lane] = x[r, lane]
    with ib.for_range(0, 8, name="c") as c:
        right[lane, c] = y[lane, c]
    ib.emit(tir.barrier_block())
    with ib.for_range(0, 4, name="e", kind="unroll") as e:
        d[e] = 0.0
    with ib.for_range(0, 2, name="k", kind="unroll") as k:
        ib.emit(tir.ldmatrix_x4(a[0], left[lane % 16, k * 16 + lane // 16 * 8]))
        ib.emit(tir.ldmatrix_x2_trans(b[0], right[k * 16 + lane % 16, 0]))
        ib.emit(tir.mma_m16n8k16(d[0], a[0], b[0], d[0]))
    with ib.for_range(0, 4, name="e", kind="unroll") as e:
        z[e // 2 * 8 + lane // 4, lane % 4 * 2 + e % 2] = d[e]
    return ib.get()


def scheduled() -> tuple[Any, list[Any]]:
    x, y = te.placeholder((16, 32), "float16", name="X"), te.placeholder((32, 8), "float16", name="Y")
    z = te.extern((16, 8), [x, y], product, dtype="float32", name="Z")
    return te.create_schedule(z.op), [x, y, z]


def test_a_body_becomes_a_kernel(golden: Golden) -> None:
    source = tecomp.build(*scheduled(), target="cuda -arch=sm_80").imported_modules[0].get_source()
    compiles(source)
    golden(source[source.index('extern "C"') :])


def test_it_multiplies() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((16, 32)).astype("f2"), rng.standard_normal((32, 8)).astype("f2")
    z = np.zeros((16, 8), "f4")
    tecomp.build(*scheduled(), target="cuda-sim -arch=sm_80")(x, y, z)
    np.testing.assert_allclose(z, x.astype("f8") @ y.astype("f8"), rtol=1e-5, atol=1e-5)
