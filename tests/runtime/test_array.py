"""Arrays on named devices: what programs written for TVM's front end use."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp_runtime import ArgumentError


def test_an_array_is_a_copy_with_a_device():
    values = np.arange(6, dtype="float32").reshape(2, 3)
    array = tecomp.nd.array(values)
    values[0, 0] = 9
    assert (array.shape, array.ndim, array.dtype, str(array.device), len(array)) == ((2, 3), 2, "float32", "cpu(0)", 2)
    assert array.numpy()[0, 0] == 0
    assert repr(array) == "<Array (2, 3) float32 on cpu(0)>"


def test_functions_read_and_write_arrays():
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
    double = tecomp.build(te.create_schedule(B.op), [A, B])
    for size in (0, 1, 17):
        a = tecomp.nd.array(np.arange(size, dtype="float32"))
        b = tecomp.nd.empty((size,), "float32", tecomp.cpu())
        double(a, b)
        tecomp.testing.assert_allclose(b.asnumpy(), 2 * a.numpy())


def test_numpy_and_dlpack_read_an_array():
    array = tecomp.nd.array([1.0, 2.0])
    assert np.asarray(array).tolist() == [1.0, 2.0]
    assert np.from_dlpack(array).tolist() == [1.0, 2.0]
    assert not hasattr(array, "__cuda_array_interface__")


def test_copyfrom_converts_and_checks_the_shape():
    array = tecomp.nd.empty((3,), "int32")
    assert array.copyfrom(np.array([1.0, 2.0, 3.0])).numpy().tolist() == [1, 2, 3]
    with pytest.raises(ArgumentError, match=r"copyfrom: expected shape \(3,\), got \(2,\)"):
        array.copyfrom([1, 2])


def test_an_array_on_a_device_that_is_not_there():
    nowhere = tecomp.cuda(99)
    assert not nowhere.exist
    with pytest.raises(ArgumentError) as refused:
        tecomp.nd.array([1.0], nowhere)
    assert str(refused.value).splitlines() == [
        "no array can be put on cuda(99)",
        "  because: there is no such device, or CuPy is not installed",
        "  legal: cpu()",
    ]


def test_assert_allclose_compares_shapes_first():
    tecomp.testing.assert_allclose(np.float32(1), tecomp.nd.array(1.0), rtol=1e-6)
    with pytest.raises(AssertionError, match=r"shapes differ: \(2,\) and \(3,\)"):
        tecomp.testing.assert_allclose(np.zeros(2), np.zeros(3))
    with pytest.raises(AssertionError):
        tecomp.testing.assert_allclose(np.zeros(2), np.ones(2))


@pytest.mark.gpu
def test_an_array_on_a_gpu():
    values = np.random.default_rng(0).standard_normal((5, 7)).astype("float32")
    array = tecomp.nd.array(values, tecomp.cuda(0))
    assert str(array.device) == "cuda(0)"
    assert not hasattr(array, "__array_interface__")
    np.testing.assert_array_equal(array.numpy(), values)
    np.testing.assert_array_equal(tecomp.nd.array(array, tecomp.cpu()).numpy(), values)
