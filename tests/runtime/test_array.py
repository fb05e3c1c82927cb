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


def test_devices_by_name():
    assert tecomp.device("cuda", 1) == tecomp.cuda(1) == tecomp.gpu(1) and tecomp.device("llvm -mcpu=x") == tecomp.cpu()
    cpu = tecomp.cpu(0)
    assert (cpu.max_threads_per_block, cpu.warp_size, cpu.max_shared_memory_per_block, cpu.multi_processor_count) == (
        1,
        1,
        0,
        1,
    )
    cpu.sync()
    with pytest.raises(ArgumentError, match="there is no such kind of device"):
        tecomp.device("metal")


def test_copies_and_values():
    array = tecomp.nd.array(np.arange(6, dtype="float32").reshape(2, 3))
    other = tecomp.nd.empty((2, 3))
    assert array.copyto(other) is other and (other.numpy() == array.numpy()).all()
    assert array.copyto(tecomp.cpu()).data is not array.data
    other[:] = 7
    assert (other.asnumpy() == 7).all()
    other[:] = np.arange(6).reshape(2, 3)
    assert (other.asnumpy() == array.numpy()).all()
    with pytest.raises(ArgumentError, match="an array is set as a whole"):
        other[0] = 1


def test_bytes_take_the_order_of_this_machine():
    assert tecomp.nd.array(np.arange(3, dtype=">f4")).data.dtype == np.dtype("<f4")


TYPES = "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, bfloat16"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tecomp.nd.array("abc"), ("an array of <U3", "no element type is called so", TYPES)),
        (lambda: tecomp.nd.array(None), ("an array of object", "no element type is called so", TYPES)),
        (lambda: tecomp.nd.empty((2,), "foo"), ("an array of foo", "no element type is called so", TYPES)),
        (lambda: tecomp.nd.array([1], "cpu"), ("'cpu' as a device", "it is a str", "cpu(), cuda(0)")),
        (lambda: tecomp.nd.from_dlpack(3), ("from_dlpack of 3", "it exports no memory", "an array, a tensor")),
    ],
)
def test_what_makes_no_array(call, said):
    with pytest.raises(ArgumentError) as refused:
        call()
    assert (refused.value.asked, refused.value.because, refused.value.legal) == said


def test_memory_is_shared_through_dlpack():
    host = np.arange(3)
    array = tecomp.nd.from_dlpack(host)
    host[0] = 9
    assert array.numpy().tolist() == [9, 1, 2] and np.from_dlpack(array)[0] == 9


def test_which_targets_run_here():
    assert tecomp.testing.device_enabled("llvm") and tecomp.runtime.enabled("llvm -mcpu=x86-64")
    assert not tecomp.testing.device_enabled("metal")
    assert ("llvm", tecomp.cpu(0)) in tecomp.testing.enabled_targets()
    assert tecomp.testing.device_enabled("cuda") == tecomp.cuda(0).exist


@tecomp.testing.parametrize_targets
def test_for_each_target(target, dev):
    assert dev == tecomp.device(target)


@tecomp.testing.parametrize_targets("llvm")
@tecomp.testing.requires_llvm
def test_for_one_target(target, dev):
    assert (target, dev) == ("llvm", tecomp.cpu(0))


@pytest.mark.gpu
def test_an_array_on_a_gpu():
    values = np.random.default_rng(0).standard_normal((5, 7)).astype("float32")
    array = tecomp.nd.array(values, tecomp.cuda(0))
    assert str(array.device) == "cuda(0)"
    assert not hasattr(array, "__array_interface__")
    np.testing.assert_array_equal(array.numpy(), values)
    np.testing.assert_array_equal(tecomp.nd.array(array, tecomp.cpu()).numpy(), values)
