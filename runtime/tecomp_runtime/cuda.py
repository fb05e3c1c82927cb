"""Calling functions built for CUDA, on arrays of CuPy, PyTorch, JAX, or whatever speaks for itself as an array.

CuPy loads the code and starts it; it is imported when a function is first called. A function is loaded once for each
device, and runs on the current stream of its arrays' device: PyTorch's when all of them are PyTorch's, else CuPy's.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from .arguments import Arguments
from .arrays import INTERFACES, ITEM_BYTES, View, place
from .cuda_launch import Limits, LoadedKernel
from .errors import ArgumentError, LaunchError, OutOfMemoryError
from .layout import compact_strides, span
from .packed import FUNCTIONS, element_type, found
from .tensor_map import tensor_map

Host = Callable[..., None]
"""host(launch, alloc, *buffers and scalars, *sizes): the generated host part. One that calls Python functions takes
`call` after these, and describes an array as (address, type, shape, strides in elements); one whose kernels copy
boxes of tensors takes `tensor_map` after these too."""


class CudaFunction:
    """A function for a GPU, called with arrays and numbers; where there is no GPU, the call says so."""

    def __init__(self, artifact: Any, functions: Mapping[str, Callable[..., Any]] = FUNCTIONS) -> None:
        self._artifact = artifact
        self._functions = found(artifact, functions)
        self._arguments = Arguments(artifact.signature, "cuda")
        self._host = host_part(artifact.name, artifact.host)
        self._tensors = any("tensor_map" in info["arguments"] for info in artifact.kernels)
        self._kernels: dict[int, dict[str, LoadedKernel]] = {}

    def __call__(self, *args: Any) -> None:
        """Check the arguments and start the kernels; what they write is there when their stream gets to it."""
        cupy = library(self._artifact.name)
        values, views = self._arguments.bind(tuple(exchanged(cupy, arg) for arg in args))
        device = self._device(cupy, views)
        with current_device(cupy, device), current_stream(cupy, views) as stream:
            kernels = self._kernels.get(device) or self._load(cupy, device)
            memory: list[Any] = []

            def launch(name: str, grid: Any, block: Any, shared: int, *operands: Any) -> None:
                kernels[name].launch(grid, block, shared, operands, stream)

            def alloc(dtype: str, elements: int, zero: bool = False) -> int:
                size = max(elements, 1) * ITEM_BYTES[dtype]
                memory.append(self._allocate(cupy, size))
                if zero:
                    cupy.cuda.runtime.memsetAsync(memory[-1].ptr, 0, size, stream)
                return memory[-1].ptr

            given = (tensor_map,) if self._tensors else ()
            if not self._functions:
                self._host(launch, alloc, *given, *values)
                return

            def call(name: str, *operands: Any) -> None:
                self._functions[name](*(array(cupy, arg) if isinstance(arg, tuple) else arg for arg in operands))

            self._host(launch, alloc, call, *given, *values)

    def _device(self, cupy: Any, views: list[View]) -> int:
        """Return the device that all arrays are on; ArgumentError where they are on several."""
        devices = [device_of(cupy, view) for view in views]
        found = {device for device in devices if device is not None}
        if len(found) > 1:
            where = ", ".join(f"argument {n} on device {d}" for n, d in enumerate(devices) if d is not None)
            raise ArgumentError(f"{self._artifact.name}: its arrays are on several devices", where, "one device")
        return found.pop() if found else cupy.cuda.runtime.getDevice()

    def _load(self, cupy: Any, device: int) -> dict[str, LoadedKernel]:
        driver = importlib.import_module("cupy_backends.cuda.api.driver")
        module = cupy.cuda.function.Module()
        try:
            module.load(self._artifact.binary)
        except driver.CUDADriverError as error:
            capability = cupy.cuda.Device(device).compute_capability
            raise LaunchError(
                f"{self._artifact.name}: its code does not run on device {device}",
                f"it is for {self._artifact.target}, and the device has capability {capability} ({error})",
                f'target="cuda -arch=sm_{capability}{"a" if capability == "90" else ""}"',
            ) from error
        limits = Limits(cupy.cuda.Device(device).attributes)
        self._kernels[device] = {
            info["name"]: LoadedKernel(driver, module.get_function(info["name"]), info, limits)
            for info in self._artifact.kernels
        }
        return self._kernels[device]

    def _allocate(self, cupy: Any, size: int) -> Any:
        try:
            return cupy.cuda.alloc(size)
        except cupy.cuda.memory.OutOfMemoryError as error:
            raise OutOfMemoryError(f"{self._artifact.name}: no memory for a temporary of {size} bytes") from error


def array(cupy: Any, described: tuple[int, str, tuple[int, ...], tuple[int, ...] | None]) -> Any:
    """Return CuPy's array over memory of the program; row-major where there are no strides."""
    pointer, name, shape, steps = described
    dtype = element_type(name)
    if 0 in shape:
        return cupy.empty(shape, dtype)
    size = dtype.itemsize
    strides = compact_strides(shape, size) if steps is None else tuple(step * size for step in steps)
    _, end = span(shape, strides, size)
    memory = cupy.cuda.UnownedMemory(pointer, end, None)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0), strides)


def host_part(name: str, text: str) -> Host:
    """Return the function that the text of a host part defines."""
    namespace: dict[str, Any] = {}
    exec(compile(text, f"<host part of {name}>", "exec"), namespace)
    return namespace["host"]


@functools.cache
def _cupy() -> Any:
    cupy = importlib.import_module("cupy")
    if not cupy.cuda.runtime.getDeviceCount():
        raise RuntimeError("none is visible")
    return cupy


def library(name: str) -> Any:
    """Return CuPy; LaunchError where it or a GPU is missing."""
    try:
        return _cupy()
    except ImportError as error:
        legal = "pip install cupy-cuda13x (or cupy-cuda12x)"
        raise LaunchError(f"{name} cannot run here", f"CuPy cannot be imported: {error}", legal) from error
    except RuntimeError as error:  # CuPy's CUDARuntimeError
        because, legal = f"there is no usable CUDA device: {error}", 'target="cuda-sim", which needs none'
        raise LaunchError(f"{name} cannot run here", because, legal) from error


def exchanged(cupy: Any, arg: Any) -> Any:
    """Return an array that speaks only DLPack as CuPy's array of the same memory; anything else as it is."""
    if getattr(arg, INTERFACES["cuda"], None) is None and place(arg) == "cuda":
        return cupy.from_dlpack(arg)
    return arg


def device_of(cupy: Any, view: View) -> int | None:
    """Return the number of the device that an array is on; None for one without memory."""
    if not view.pointer:
        return None
    owner: Any = view.owner
    if isinstance(owner, cupy.ndarray):
        return owner.device.id
    return cupy.cuda.runtime.pointerGetAttributes(view.pointer).device


def current_device(cupy: Any, device: int) -> AbstractContextManager[Any]:
    """Make `device` current, where it is not."""
    return nullcontext() if cupy.cuda.runtime.getDevice() == device else cupy.cuda.Device(device)


@contextmanager
def current_stream(cupy: Any, views: list[View]) -> Generator[int]:
    """Yield the stream to launch on; CuPy's temporaries belong to it too."""
    torch = sys.modules.get("torch")
    if torch is None or not views or not all(isinstance(view.owner, torch.Tensor) for view in views):
        yield cupy.cuda.get_current_stream().ptr
        return
    owner: Any = views[0].owner
    stream = int(torch.cuda.current_stream(owner.device).cuda_stream)
    with _foreign_stream(cupy, stream):
        yield stream


class _Foreign:
    """Another library's stream, in the way CuPy takes one."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version of this protocol, and the stream's address."""
        return 0, self.address


def _foreign_stream(cupy: Any, address: int) -> Any:
    """Return CuPy's view of a stream; before CuPy 14 it had another name."""
    from_external = getattr(cupy.cuda.Stream, "from_external", None)
    return cupy.cuda.ExternalStream(address) if from_external is None else from_external(_Foreign(address))
