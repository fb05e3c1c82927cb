"""Element types: one object a name, what they hold, how they print."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from tecomp import te
from tecomp.dtype import BOOL, FLOAT32, INDEX, INT32, INT64, DType

NAMES = "bool index int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64".split()


@pytest.mark.parametrize("name", NAMES)
def test_one_object_a_name(name: str) -> None:
    dtype = DType(name)
    assert dtype is DType(name) is DType(dtype) is dtype.element
    assert dtype == name
    assert f"{dtype}" == name
    assert (dtype.lanes, dtype.with_lanes(4).lanes, dtype.with_lanes(1)) == (1, 4, dtype)
    assert dtype.with_lanes(4).element is dtype
    assert dtype.with_lanes(4) is DType(f"{name}x4")
    for again in (pickle.loads(pickle.dumps(dtype)), copy.deepcopy(dtype)):
        assert again is dtype


def test_numpy_types_are_accepted() -> None:
    assert DType(np.float32) is DType(np.dtype("float32")) is FLOAT32
    assert DType(ml_dtypes.bfloat16) is DType("bfloat16")
    assert DType("bfloat16").numpy == np.dtype(ml_dtypes.bfloat16)
    assert (INDEX.numpy, BOOL.numpy, DType("int8x4").numpy) == (np.dtype("int64"), np.dtype("bool"), np.dtype("int8"))


@pytest.mark.parametrize(
    "name",
    [
        "",
        "float",
        "int",
        "int7",
        "int032",
        "float128",
        "bool8",
        "index64",
        "int8x",
        "int8x0",
        "int8x1",
        "int8x04",
        " int8",
    ],
)
def test_no_types(name: str) -> None:
    with pytest.raises(
        ValueError, match=f"^unknown dtype {name!r}; known: bool, int8..int64, uint8..uint64, float16, "
    ):
        DType(name)


def test_none_is_no_type() -> None:
    with pytest.raises(ValueError, match=r"^no dtype was given; known: bool, "):
        DType(None)


def test_kinds() -> None:
    assert [name for name in NAMES if DType(name).is_float] == ["float16", "bfloat16", "float32", "float64"]
    assert [name for name in NAMES if DType(name).is_bool] == ["bool"]
    assert all(DType(name).is_integer for name in NAMES if "int" in name or name == "index")
    assert [DType(name).bytes for name in ("bool", "int8", "bfloat16", "float64", "float16x8", "boolx4")] == [
        1,
        1,
        2,
        8,
        16,
        4,
    ]


def test_short_names() -> None:
    assert [DType(name).short for name in NAMES] == (
        "bool index i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64".split()
    )
    assert DType("float16x8").short == "f16x8"


def test_limits() -> None:
    assert (INT32.limits(), DType("uint8").limits(), BOOL.limits()) == ((-(2**31), 2**31 - 1), (0, 255), (0, 1))
    assert INT64.limits() == (-(2**63), 2**63 - 1)
    for name in ("float32", "index"):
        with pytest.raises(ValueError, match=f"^{name} has no integer limits$"):
            DType(name).limits()


@pytest.mark.parametrize(("kind", "meant"), [("float", "float32"), ("int", "int32"), ("uint", "uint32")])
def test_a_kind_alone(kind: str, meant: str) -> None:
    A = te.placeholder((4,), kind, name="A")
    assert A.dtype == meant and te.compute((4,), lambda i: A[i].astype(kind)).dtype == meant
