"""The CUDA runtime without a GPU: what it says then, how it packs arguments, what it checks before a launch."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tecomp_runtime import ArgumentError, Kernel, LaunchError, cuda
from tecomp_runtime.arrays import View
from tecomp_runtime.cuda_launch import Limits, LoadedKernel, Packing
from tests.codegen.cuda_programs import built
from tests.conftest import missing_for_gpu

ADD = """
    def add(A: f32[n], B: out[f32[n]]) -> device:
        with launch(blockIdx_x=n):
            B[blockIdx_x] = A[blockIdx_x] + 1.0
"""
ATTRIBUTES = {f"Max{what}Dim{axis}": most for what, most in (("Grid", 65535), ("Block", 1024)) for axis in "XYZ"}
ATTRIBUTES |= {"MaxGridDimX": 2**31 - 1, "MaxBlockDimZ": 64, "MultiProcessorCount": 132}
ATTRIBUTES |= {"MaxSharedMemoryPerBlockOptin": 232448}


@pytest.mark.skipif(not missing_for_gpu(), reason="there is a GPU: the call works")
def test_a_call_without_a_gpu_says_why() -> None:
    kernel = Kernel(built(ADD))
    assert kernel.source.startswith('extern "C"')
    with pytest.raises(LaunchError) as caught:
        kernel(np.zeros(4, "float32"), np.zeros(4, "float32"))
    assert caught.value.asked == "add cannot run here"
    assert caught.value.because.startswith("there is no usable CUDA device: ")


def test_a_call_without_cupy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    cuda._cupy.cache_clear()
    monkeypatch.setattr(cuda.importlib, "import_module", missing)
    with pytest.raises(LaunchError) as caught:
        cuda.library("add")
    assert str(caught.value) == (
        "add cannot run here\n"
        "  because: CuPy cannot be imported: No module named 'cupy'\n"
        "  legal: pip install cupy-cuda13x (or cupy-cuda12x)"
    )


def test_a_driver_without_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = SimpleNamespace(getDeviceCount=lambda: 0)
    cuda._cupy.cache_clear()
    found = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setattr(cuda.importlib, "import_module", lambda _: found)
    with pytest.raises(LaunchError, match="there is no usable CUDA device: none is visible"):
        cuda.library("add")


VALUES: dict[str, tuple[Any, Any]] = {
    "pointer": (0x7F0000001000, ctypes.c_void_p),
    "bool": (1, ctypes.c_bool),
    "int8": (-5, ctypes.c_int8),
    "int16": (-500, ctypes.c_int16),
    "int32": (-(2**31), ctypes.c_int32),
    "int64": (2**62, ctypes.c_int64),
    "uint8": (255, ctypes.c_uint8),
    "uint16": (65535, ctypes.c_uint16),
    "uint32": (2**32 - 1, ctypes.c_uint32),
    "uint64": (2**64 - 1, ctypes.c_uint64),
    "float32": (0.5, ctypes.c_float),
    "float64": (0.1, ctypes.c_double),
}


def addresses(packing: Packing, count: int) -> list[int]:
    return list((ctypes.c_uint64 * count).from_address(packing.pointer))


def test_arguments_stand_where_their_addresses_say() -> None:
    types = [*VALUES, *reversed(VALUES)]
    packing = Packing(types)
    packing.fill([VALUES[type][0] for type in types])
    for type, address in zip(types, addresses(packing, len(types)), strict=True):
        value, c_type = VALUES[type]
        assert c_type.from_address(address).value == value
        assert address % ctypes.alignment(c_type) == 0


def test_sixteen_bit_floats() -> None:
    packing = Packing(["float16", "int8", "bfloat16"])
    packing.fill([0.333251953125, 1, -1.5])
    half, _, brain = addresses(packing, 3)
    assert np.frombuffer(ctypes.string_at(half, 2), "float16") == np.float16(0.333251953125)
    assert np.frombuffer(ctypes.string_at(brain, 2), ml_dtypes.bfloat16) == ml_dtypes.bfloat16(-1.5)


def test_a_kernel_without_arguments() -> None:
    Packing([]).fill([])


class Driver:
    """Notes what it is asked to launch."""

    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_NUM_REGS = 0, 4
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8

    def __init__(self, fitting: int = 1024) -> None:
        self.known = {0: fitting, 4: 40}
        self.launched: list[tuple[Any, ...]] = []
        self.attributes: list[tuple[Any, ...]] = []

    def launchKernel(self, *asked: Any) -> None:
        self.launched.append(asked)

    def launchCooperativeKernel(self, *asked: Any) -> None:
        self.launched.append(asked)

    def funcGetAttribute(self, attribute: int, function: int) -> int:
        return self.known[attribute]

    def funcSetAttribute(self, *asked: Any) -> None:
        self.attributes.append(asked)


def loaded(driver: Driver, shared: int = 0, threads: int = 256) -> LoadedKernel:
    info = {"name": "k", "arguments": ["int32"], "shared": shared, "threads": threads, "cooperative": False}
    return LoadedKernel(driver, SimpleNamespace(ptr=77), info, Limits(ATTRIBUTES))


def test_a_launch() -> None:
    driver = Driver()
    kernel = loaded(driver, shared=65536)
    assert driver.attributes == [(77, 8, 65536)]
    kernel.launch((4, 2, 1), (32, 8, 1), 65536, [5], 99)
    ((function, *extents, shared, stream, _, extra),) = driver.launched
    assert (function, extents, shared, stream, extra) == (77, [4, 2, 1, 32, 8, 1], 65536, 99, 0)


@pytest.mark.parametrize(("grid", "block"), [((0, 1, 1), (1, 1, 1)), ((1, 0, 1), (1, 1, 1)), ((1, 1, 1), (1, 1, -3))])
def test_over_nothing_nothing_is_launched(grid: Any, block: Any) -> None:
    driver = Driver()
    loaded(driver).launch(grid, block, 0, [1], 0)
    assert driver.launched == []


@pytest.mark.parametrize(
    ("grid", "block", "said"),
    [
        (
            (2**31, 1, 1),
            (1, 1, 1),
            "k: an extent of 2147483648 on blockIdx.x\n  because: the device allows at most 2147483647",
        ),
        ((1, 1, 1), (1, 2000, 1), "k: an extent of 2000 on threadIdx.y\n  because: the device allows at most 1024"),
        (
            (1, 1, 1),
            (32, 9, 1),
            "k: 288 threads in a block\n  because: at most 256 are allowed, with 40 registers in each",
        ),
        ((1, 1, 1), (1, 1, 65), "k: an extent of 65 on threadIdx.z\n  because: the device allows at most 64"),
        ((1, 70000, 1), (1, 1, 1), "k: an extent of 70000 on blockIdx.y\n  because: the device allows at most 65535"),
    ],
)
def test_extents_that_only_the_call_knows(grid: Any, block: Any, said: str) -> None:
    driver = Driver()
    with pytest.raises(LaunchError) as caught:
        loaded(driver).launch(grid, block, 0, [1], 0)
    assert str(caught.value).removesuffix("\n  legal: smaller arrays") == said
    assert driver.launched == []


def test_more_threads_than_their_registers_leave_room_for() -> None:
    kernel = loaded(Driver(fitting=192))
    kernel.launch((1, 1, 1), (192, 1, 1), 0, [1], 0)
    with pytest.raises(LaunchError) as caught:
        kernel.launch((1, 1, 1), (200, 1, 1), 0, [1], 0)
    assert str(caught.value) == (
        "k: 200 threads in a block\n  because: at most 192 are allowed, with 40 registers in each"
    )


def test_more_shared_memory_than_the_device_has() -> None:
    with pytest.raises(LaunchError) as caught:
        loaded(Driver(), shared=300000)
    assert str(caught.value) == "k: 300000 bytes of shared memory\n  because: the device allows at most 232448"


def test_arrays_on_several_devices() -> None:
    function = cuda.CudaFunction(built(ADD), {})
    devices = {1000: 0, 2000: 1}
    pointed = SimpleNamespace(
        ndarray=int,
        cuda=SimpleNamespace(
            runtime=SimpleNamespace(pointerGetAttributes=lambda p: SimpleNamespace(device=devices[p]))
        ),
    )
    views = [View(pointer, "<f4", (4,), None, False, None) for pointer in devices]
    with pytest.raises(ArgumentError) as caught:
        function._device(pointed, views)
    assert str(caught.value) == (
        "add: its arrays are on several devices\n"
        "  because: argument 0 on device 0, argument 1 on device 1\n"
        "  legal: one device"
    )
    assert function._device(pointed, views[1:]) == 1


def test_an_array_in_cpu_memory_is_refused_with_the_way_to_copy_it() -> None:
    function = cuda.CudaFunction(built(ADD), {})
    with pytest.raises(ArgumentError) as caught:
        function._arguments.bind((np.zeros(4, "float32"), np.zeros(4, "float32")))
    assert str(caught.value) == (
        "argument A: expected an array on the GPU\n"
        "  because: a numpy.ndarray is in CPU memory\n"
        "  legal: cupy.asarray(x), which copies it there"
    )
