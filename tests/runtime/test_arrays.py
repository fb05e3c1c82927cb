"""Arrays of other libraries: DLPack of both versions, without copying."""

import ml_dtypes
import numpy as np
import pytest

from tecomp_runtime.arrays import place, view


class Exporter:
    """An array that speaks only DLPack, as PyTorch's and JAX's do."""

    def __init__(self, array, versioned=True, device=(1, 0)):
        self.array, self.versioned, self.device = array, versioned, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if not self.versioned and options:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**options)


TYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
def test_dlpack(dtype, versioned):
    array = np.zeros((4, 6), dtype)
    for given in (array, array[1:, ::2], array.T, array[:0]):
        found = view(Exporter(given, versioned), "cpu")
        assert found is not None
        assert found.type == dtype
        assert found.shape == given.shape
        if given.size:
            assert found.pointer == given.__array_interface__["data"][0]
            assert (found.strides or given.strides) == given.strides
        assert not found.readonly


def test_what_is_read_only_says_so():
    array = np.zeros(4, "float32")
    array.flags.writeable = False
    found = view(Exporter(array), "cpu")
    assert found is not None and found.readonly


def test_memory_lives_as_long_as_the_view():
    found = view(Exporter(np.arange(1000, dtype="int64")), "cpu")
    assert found is not None
    others = [np.full(1000, 7, "int64") for _ in range(10)]
    import ctypes

    assert list((ctypes.c_int64 * 1000).from_address(found.pointer)) == list(range(1000))
    assert len(others) == 10


def test_places():
    array = np.zeros(4)
    assert place(array) == place(Exporter(array)) == "cpu"
    assert place(Exporter(array, device=(2, 1))) == place(Exporter(array, device=(13, 0))) == "cuda"
    assert place(Exporter(array, device=(3, 0))) == "cpu"
    assert place(Exporter(array, device=(10, 0))) == "DLPack device 10"
    assert place(3) == place([1]) == ""
    assert view(Exporter(array, device=(2, 0)), "cpu") is None
    assert view(array, "cuda") is None


def test_bfloat16_by_name():
    found = view(np.zeros(3, ml_dtypes.bfloat16), "cpu")
    assert found is not None and found.type == "bfloat16"
