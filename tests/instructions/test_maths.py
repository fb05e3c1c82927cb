"""Operations on numbers: each has its CUDA text and its NumPy meaning, which is that of one number, for all at once."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp.dtype import DType
from tecomp.instructions.maths import MATHS
from tecomp.ir.interpret_calls import meaning
from tecomp.sim.vectorized import vectorized
from tests.codegen.test_cuda_intrinsics import ARITY, FLOATS, INTEGERS, operation

VALUES = [0.0, -0.0, 0.25, 0.5, 1.0, -1.5, 2.5, -2.5, 3.0, 7.75, -100.0, np.inf, -np.inf, np.nan]
WHOLE = [0, 1, 2, 3, 5, 7, 30, 100, -1, -2, -77, -128]


def test_no_row_lacks_either_column() -> None:
    for name, row in MATHS.items():
        assert row.cuda, name
        assert row.floats is not None or row.integers is not None or name == "reinterpret", name


def arguments(name: str, dtype: str) -> list[np.ndarray]:
    """Return an array for each operand: all pairs of values, whatever the operation makes of them."""
    kind = DType(dtype).numpy
    if dtype in FLOATS:
        one = np.array(VALUES).astype(kind)
    else:
        one = np.array([value % (1 << DType(dtype).bits) if kind.kind == "u" else value for value in WHOLE], kind)
    grids = [grid.ravel() for grid in np.meshgrid(*[one] * ARITY.get(name, 1), indexing="ij")]
    if name == "ldexp":
        grids[1] = np.array([int(n) for n in np.nan_to_num(grids[1].astype(float), posinf=9, neginf=-9)], np.int32)
    if name in ("shift_left", "shift_right"):
        grids[1] = (np.abs(grids[1].astype(np.int64)) % DType(dtype).bits).astype(kind)
    return grids


CELLS = [
    (name, dtype)
    for name in MATHS
    for dtype in (*FLOATS, *INTEGERS)
    if name != "reinterpret" and meaning(operation(name, dtype)) is not None
]
"""Each operation with each type that has it."""


@pytest.mark.parametrize(("name", "dtype"), CELLS)
def test_all_at_once_as_one_by_one(name: str, dtype: str) -> None:
    """Each element is what the interpreter gives of one number; powers to the last bit but one, as NumPy has two."""
    node = operation(name, dtype)
    single = meaning(node)
    assert single is not None
    given = arguments(name, dtype)
    with np.errstate(all="ignore"):
        found = vectorized(name, node)(*given)
        whole = [array.dtype.kind in "iu" for array in given]
        wanted = [
            float(single(*(int(arg) if is_whole else arg for arg, is_whole in zip(args, whole, strict=True))))
            for args in zip(*given, strict=True)
        ]
    near = 2 * np.finfo(np.float32 if dtype != "float64" else dtype).eps if name == "pow" else 0
    np.testing.assert_allclose(
        found.astype(np.float64), np.array(wanted), rtol=near if dtype in FLOATS[2:] else 1e-2 * (near > 0)
    )
    assert found.dtype == node.dtype.numpy
