"""The matrix calls of a warp: what they become, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tecomp import tir
from tecomp.errors import UserError, UserTypeError
from tests.conftest import Refused

a = tir.decl_buffer((16, 16), "float16", "a", scope="wmma.matrix_a", offset_factor=256)
b = tir.decl_buffer((16, 16), "float16", "b", scope="wmma.matrix_b", offset_factor=256)
c = tir.decl_buffer((16, 16), "float32", "c", scope="wmma.accumulator", offset_factor=256)
small = tir.decl_buffer((8, 8), "float16", "small", scope="wmma.matrix_a")
memory = tir.decl_buffer((16, 64), "float16", "memory", scope="shared")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: tir.tvm_load_matrix_sync(a.data, 16, 16, 16, 2, memory.access_ptr("r"), 64, "row_major"),
            "wmma_load_row_m16n16k16(address(a, 'w', 0 - a_elem_offset), i32(2), "
            "address(memory, 'r', i32(0)), i32(64))",
        ),
        (
            lambda: tir.call_intrin(
                "handle", "tir.tvm_store_matrix_sync", c.access_ptr("rw"), 16, 16, 16, 0, memory, 64, "col_major"
            ),
            "wmma_store_col_m16n16k16(address(c, 'r', i32(0)), i32(0), address(memory, 'w', i32(0)), i32(64))",
        ),
        (
            lambda: tir.tvm_fill_fragment(c.access_ptr("w"), 16, 16, 16, 1, 0),
            "wmma_fill_m16n16k16(address(c, 'w', i32(0)), i32(1), f32(0.0))",
        ),
        (
            lambda: tir.tvm_mma_sync(c, 0, a, 1, b, 2, c, 0),
            "wmma_mma_m16n16k16(address(c, 'w', i32(0)), i32(0), address(a, 'r', i32(0)), i32(1), "
            "address(b, 'r', i32(0)), i32(2), address(c, 'r', i32(0)), i32(0))",
        ),
    ],
)
def test_a_call(make: Callable[[], Any], text: str) -> None:
    assert repr(make()) == text


def test_an_unknown_layout(refused: Refused) -> None:
    with refused(
        UserError,
        """
        tvm_load_matrix_sync: layout 'rows'
          --> test_wmma.py:LINE
           |     tir.tvm_load_matrix_sync(a, 16, 16, 16, 0, memory, 64, "rows")
           |     ^
          because: no layout is called so
          legal: row_major, col_major
        """,
    ):
        tir.tvm_load_matrix_sync(a, 16, 16, 16, 0, memory, 64, "rows")


def test_what_is_no_address(refused: Refused) -> None:
    with refused(
        UserTypeError,
        """
        tvm_load_matrix_sync at 3
          --> test_wmma.py:LINE
           |     tir.tvm_load_matrix_sync(a, 16, 16, 16, 0, 3, 64, "row_major")
           |     ^
          because: it is no address
          legal: buffer.access_ptr("r"), buffer.data
        """,
    ):
        tir.tvm_load_matrix_sync(a, 16, 16, 16, 0, 3, 64, "row_major")


def test_what_is_no_fragment(refused: Refused) -> None:
    with refused(
        UserError,
        """
        tvm_fill_fragment: 'memory' as a fragment
          --> test_wmma.py:LINE
           |     tir.tvm_fill_fragment(memory, 16, 16, 16, 0, 0.0)
           |     ^
          because: it is declared in shared memory
          legal: decl_buffer(..., scope=...) of wmma.matrix_a, wmma.matrix_b, wmma.accumulator
        """,
    ):
        tir.tvm_fill_fragment(memory, 16, 16, 16, 0, 0.0)


def test_a_shape_that_hardware_has_not(refused: Refused) -> None:
    with refused(
        UserError,
        """
        tvm_fill_fragment of m16n16k8
          --> test_wmma.py:LINE
           |     tir.tvm_fill_fragment(c, 16, 16, 8, 0, 0.0)
           |     ^
          because: no instruction multiplies such matrices
          legal: m16n16k16, m32n8k16, m8n32k16
        """,
    ):
        tir.tvm_fill_fragment(c, 16, 16, 8, 0, 0.0)


def test_a_buffer_of_another_size(refused: Refused) -> None:
    with refused(
        UserError,
        """
        tvm_load_matrix_sync: 'small' as a matrix of m16n16k16
          --> test_wmma.py:LINE
           |     tir.tvm_load_matrix_sync(small, 16, 16, 16, 0, memory, 64, "row_major")
           |     ^
          because: that has 16 x 16 elements, the buffer 64
          legal: decl_buffer((16, 16), ...)
        """,
    ):
        tir.tvm_load_matrix_sync(small, 16, 16, 16, 0, memory, 64, "row_major")


def test_matrices_that_do_not_fit(refused: Refused) -> None:
    with refused(
        UserError,
        """
        tvm_mma_sync of matrices of 256, 64, 256, 256 elements
          --> test_wmma.py:LINE
           |     tir.tvm_mma_sync(c, 0, small, 0, b, 0, c, 0)
           |     ^
          because: no instruction multiplies such matrices
          legal: m16n16k16, m32n8k16, m8n32k16
        """,
    ):
        tir.tvm_mma_sync(c, 0, small, 0, b, 0, c, 0)
