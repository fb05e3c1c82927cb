"""Arguments declared as buffers: names, strides, alignment; what a caller's array cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError, UserTypeError
from tecomp_runtime import ArgumentError


def doubled(n=None):
    n = te.var("n") if n is None else n
    A = te.placeholder((n, 3), name="A")
    B = te.compute((n, 3), lambda i, j: A[i, j] * 2, name="B")
    return A, B, te.create_schedule(B.op)


def test_strides_of_ones_own() -> None:
    A, B, s = doubled()
    buffer = tir.decl_buffer(A.shape, A.dtype, name="rows", strides=[te.var("step"), 1], data_alignment=4)
    func = tecomp.lower(s, [buffer, B], binds={A: buffer})
    assert str(func).startswith("def main(rows: buffer(f32[n, 3], strides=[step, 1]), B: out[f32[n, 3]]):")
    module = tecomp.build(s, [A, B], binds={A: buffer})
    a, b = np.arange(24, dtype="float32").reshape(4, 6)[:, :3], np.zeros((4, 3), "float32")
    module(a, b)
    np.testing.assert_array_equal(b, a * 2)


def test_binds_are_a_dict(refused) -> None:
    A, B, s = doubled()
    with refused(
        UserTypeError,
        """
        binds=[1]
          --> test_binds.py:LINE
           |     tecomp.lower(s, [A, B], binds=[1])
           |     ^
          because: it is a list
          legal: {A: tir.decl_buffer(A.shape, A.dtype)}
        """,
    ):
        tecomp.lower(s, [A, B], binds=[1])


def test_constant_strides_are_asked_of_a_call() -> None:
    A, B, s = doubled(4)
    buffer = tir.decl_buffer(A.shape, A.dtype, strides=[6, 1])
    module = tecomp.build(s, [A, B], binds={A: buffer})
    a, b = np.arange(24, dtype="float32").reshape(4, 6)[:, :3], np.zeros((4, 3), "float32")
    module(a, b)
    np.testing.assert_array_equal(b, a * 2)
    with pytest.raises(ArgumentError):
        module(a.copy(), b)


def test_strides_over_sizes_of_the_shape() -> None:
    n = te.var("n")
    A, B, s = doubled(n)
    buffer = tir.decl_buffer(A.shape, A.dtype, name="turned", strides=[1, n])
    module = tecomp.build(s, [A, B], binds={A: buffer})
    a, b = np.asfortranarray(np.arange(15, dtype="float32").reshape(5, 3)), np.zeros((5, 3), "float32")
    module(a, b)
    np.testing.assert_array_equal(b, a * 2)


A_, B_, s_ = doubled(4)


@pytest.mark.parametrize(
    ("binds", "kind", "asked", "because"),
    [
        ({A_: 3}, UserTypeError, "binds: A: f32[4, 3] to 3", "a tensor is bound to a buffer"),
        (
            {A_: tir.decl_buffer((4, 4), "float32", name="x")}, UserError, "binds: 'A' to buffer 'x'",
            "the buffer is float32[4, 4], the tensor float32[4, 3]",
        ),
        (
            {A_: tir.decl_buffer((4, 3), "int32", name="x")}, UserError, "binds: 'A' to buffer 'x'",
            "the buffer is int32[4, 3], the tensor float32[4, 3]",
        ),
        (
            {A_: tir.decl_buffer((4, 3), "float32", name="x", scope="shared")}, UserError, "binds: 'A' to buffer 'x'",
            "its scope is shared, and a caller's array is global",
        ),
        (
            {A_: tir.decl_buffer((4, 3), "float32", name="x", elem_offset=te.var("o"))}, UserError,
            "binds: 'A' to buffer 'x'", "an argument is the address of its element 0, wherever that lies",
        ),
    ],
)  # fmt: skip
def test_refusals(binds, kind, asked: str, because: str) -> None:
    with pytest.raises(UserError) as caught:
        tecomp.lower(s_, [A_, B_], binds=binds)
    assert (type(caught.value), caught.value.asked, caught.value.because) == (kind, asked, because)
    assert caught.value.legal
