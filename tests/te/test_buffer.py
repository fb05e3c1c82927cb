"""Buffers that users declare: their elements, vectors and addresses."""

from __future__ import annotations

import pytest

from tecomp import te, tir
from tests.te.message import message, text

n, s, o = te.var("n"), te.var("s"), te.var("o")
B = tir.decl_buffer((n, 8), "int8", name="B")
Z = tir.decl_buffer((), name="Z")


def test_what_is_declared() -> None:
    X = tir.decl_buffer((16, 16), "float16", "X", strides=[s, 1], elem_offset=o, scope="shared", data_alignment=64)
    assert (X.name, X.dtype, X.scope, X.align, X.elem_offset) == ("X", "float16", "shared", 64, o)
    assert X.strides is not None
    assert X.strides[0] is s
    plain = tir.decl_buffer(n)
    assert (plain.dtype, plain.scope, plain.strides, plain.align, plain.elem_offset) == (
        "float32",
        "global",
        None,
        4,
        None,
    )
    asked = tir.decl_buffer(n, offset_factor=4)
    assert (asked.offset_factor, repr(asked.elem_offset)) == (4, "buffer_elem_offset")


def test_elements() -> None:
    assert repr(B[n, 1]) == "B[n, i32(1)]"
    assert repr(Z[()]) == "Z"


def test_vectors() -> None:
    assert repr(B.vload((n, 0), "int8x8")) == "B[n, ramp(i32(0), i32(1), 8)]"
    assert repr(B.vload([n, 0])) == "B[n, i32(0)]"
    assert repr(B.vstore((0, 0), B.vload((n, 0), "int8x8"))).startswith(
        "B[i32(0), ramp(i32(0), i32(1), 8)] = B[n, ramp(i32(0), i32(1), 8)]  # test_buffer.py:"
    )
    assert repr(B.vstore((0, 0), 3)).startswith("B[i32(0), i32(0)] = 3  #")


def test_addresses() -> None:
    assert repr(B.access_ptr("r")) == "address(B, 'r', i32(0))"
    assert repr(B.access_ptr(2, offset=s * 4, extent=8)) == "address(B, 'w', s * 4)"
    assert repr(B.data) == "address(B, 'rw', i32(0))"
    assert B.data.dtype == "handle"


REFUSED = [
    (
        lambda: tir.decl_buffer((n,), data=B.data),
        text(
            "decl_buffer 'buffer': data=address(B, 'rw', i32(0))",
            "a declared buffer is memory of its own, with one address for each element",
            "leave data out",
        ),
    ),
    (
        lambda: tir.decl_buffer((n,), buffer_type="auto_broadcast"),
        text(
            "decl_buffer 'buffer': buffer_type='auto_broadcast'",
            "a declared buffer is memory of its own, with one address for each element",
            "leave buffer_type out",
        ),
    ),
    (
        lambda: tir.decl_buffer((n,), scope="shred"),
        text(
            "decl_buffer 'buffer': scope='shred'",
            "no memory is called so",
            "global, shared, shared.dyn, warp, local, wmma.matrix_a, wmma.matrix_b, wmma.accumulator",
        ),
    ),
    (
        lambda: tir.decl_buffer((n, 2), strides=[1]),
        text("decl_buffer 'buffer': 1 strides", "its shape (n, 2) has 2 dimensions", "one for each"),
    ),
    (
        lambda: tir.decl_buffer((n,), strides=[1.5]),
        text("decl_buffer 'buffer': stride 0 is 1.5", "it is float32", "an integer"),
    ),
    (
        lambda: tir.decl_buffer((n,), "handle"),
        text("decl_buffer 'buffer': dtype 'handle'", "it is the type of addresses", "uint64, float32, ..."),
    ),
    (lambda: B.access_ptr("x"), text("access_ptr of 'B': mask 'x'", "no access is called so", "r, w, rw")),
    (
        lambda: B.access_ptr("r", ptr_type="float32", content_lanes=4),
        text(
            "access_ptr of 'B' as 'float32' of 4 lanes",
            "an address has the type of the buffer, int8",
            "access_ptr(mask), vload and vstore for vectors",
        ),
    ),
    (lambda: B.access_ptr("r", offset=0.5), text("access_ptr of 'B': offset is 0.5", "it is float32", "an integer")),
    (lambda: B[n], text("[] of 'B' with 1 indices", "it has 2 dimensions", "one index for each")),
    (lambda: list(B), text("'B' as a sequence", "it is a buffer", "its elements by index")),
    (
        lambda: B.vload((0, 0), "int16x4"),
        text(
            "vload of 'B' as int16x4",
            "its elements are int8",
            "int8 of any lanes; .astype, te.reinterpret on the value",
        ),
    ),
    (
        lambda: Z.vload((), "float32x4"),
        text(
            "vload of 'Z' of 4 lanes",
            "it has no dimension",
            "a scalar index, and a buffer of one dimension or more",
        ),
    ),
    (
        lambda: B.vload((0, B.vload((0, 0), "int8x4").astype("int32")), "int8x4"),
        text(
            "vload of 'B' of 4 lanes",
            "the last index has lanes already",
            "a scalar index, and a buffer of one dimension or more",
        ),
    ),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_refused(call, said) -> None:
    assert message(call) == said
