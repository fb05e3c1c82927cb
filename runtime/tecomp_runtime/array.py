"""Arrays on a named device, for programs that expect the front end of TVM; functions take NumPy's and CuPy's as well.

b = array(np.zeros((m, n), "float32"), cuda(0))
function(a, b)
b.numpy()
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .arrays import ITEM_BYTES, place
from .errors import ArgumentError


@dataclass(frozen=True)
class Device:
    """A processor: the host's, or the CUDA device of that index."""

    kind: str
    """cpu or cuda."""
    index: int = 0

    @property
    def exist(self) -> bool:
        """Whether arrays can be put there now."""
        if self.kind == "cpu":
            return True
        try:
            return self.index < importlib.import_module("cupy").cuda.runtime.getDeviceCount()
        except (ImportError, RuntimeError):
            return False

    @property
    def max_threads_per_block(self) -> int:
        """The most threads in a block; 1 of a CPU."""
        return self._attribute("MaxThreadsPerBlock", 1)

    @property
    def warp_size(self) -> int:
        """The threads that run in step; 1 of a CPU."""
        return self._attribute("WarpSize", 1)

    @property
    def max_shared_memory_per_block(self) -> int:
        """Bytes of shared memory that a block may have when it asks for them; 0 of a CPU."""
        return self._attribute("MaxSharedMemoryPerBlockOptin", 0)

    @property
    def multi_processor_count(self) -> int:
        """The multiprocessors; 1 of a CPU."""
        return self._attribute("MultiProcessorCount", 1)

    def sync(self) -> None:
        """Wait until the device has done all that it was given."""
        if self.kind == "cuda":
            importlib.import_module("cupy").cuda.Device(self.index).synchronize()

    def _attribute(self, name: str, of_cpu: int) -> int:
        if self.kind == "cpu":
            return of_cpu
        return int(importlib.import_module("cupy").cuda.Device(self.index).attributes[name])

    def __str__(self) -> str:
        return f"{self.kind}({self.index})"


def cpu(index: int = 0) -> Device:
    """Return the host's processor."""
    return Device("cpu", index)


def cuda(index: int = 0) -> Device:
    """Return the CUDA device of that number."""
    return Device("cuda", index)


_KINDS: Final = {"cpu": "cpu", "llvm": "cpu", "c": "cpu", "cuda": "cuda", "gpu": "cuda"}
"""What programs call a kind of device."""


def device(kind: str, index: int = 0) -> Device:
    """Return a device by name: device("cuda", 0); the kind of a target and its options will do."""
    words = str(kind).split() or [""]
    if words[0] not in _KINDS:
        raise ArgumentError(f"device({kind!r})", "there is no such kind of device", "cpu, cuda")
    return Device(_KINDS[words[0]], index)


def enabled(kind: str) -> bool:
    """Return whether functions built for a target of that kind run here."""
    words = str(kind).split() or [""]
    return words[0] in _KINDS and device(kind).exist


class Array:
    """Data on a device: NumPy's on the CPU, CuPy's on a GPU, which `data` is."""

    __slots__ = ("data", "device")

    def __init__(self, data: Any, device: Device) -> None:
        self.data, self.device = data, device

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.data.ndim

    @property
    def dtype(self) -> str:
        """The element type's name."""
        return str(self.data.dtype)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy as a NumPy array, after what the device still has to do with it."""
        return self.data.get() if self.device.kind == "cuda" else self.data.copy()

    asnumpy = numpy

    def copyfrom(self, values: Any) -> Array:
        """Take the values of an array of the same shape, converted to this element type; return self."""
        host = _host(values).astype(self.data.dtype)
        if host.shape != self.shape:
            raise ArgumentError(f"copyfrom: expected shape {self.shape}, got {host.shape}", "", "values of that shape")
        self.data[...] = importlib.import_module("cupy").asarray(host) if self.device.kind == "cuda" else host
        return self

    def copyto(self, target: Any) -> Any:
        """Copy the values into another array of the shape, or into a new one on a device; return that."""
        if isinstance(target, Device):
            return array(self, target)
        if isinstance(target, np.ndarray):
            Array(target, cpu()).copyfrom(self)
            return target
        if isinstance(target, Array):
            return target.copyfrom(self)
        raise ArgumentError(f"copyto({target!r})", f"it is a {type(target).__name__}", "an array, a device")

    def __setitem__(self, part: slice, values: Any) -> None:
        """Take all values anew: a[:] = values."""
        if part != slice(None):
            raise ArgumentError(f"a[{part!r}] = ...", "an array is set as a whole", "a[:] = values, or a.data[...]")
        self.copyfrom(values if np.ndim(_host(values)) else np.full(self.shape, values))

    @property
    def __array_interface__(self) -> Any:
        return _interface(self.data, "__array_interface__")

    @property
    def __cuda_array_interface__(self) -> Any:
        return _interface(self.data, "__cuda_array_interface__")

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.data.__dlpack_device__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<Array {self.shape} {self.dtype} on {self.device}>"


def _interface(data: Any, name: str) -> Any:
    found = getattr(data, name, None)
    if found is None:
        raise AttributeError(name)
    return found


def _host(values: Any) -> np.ndarray[Any, Any]:
    if isinstance(values, Array):
        return values.numpy()
    return values.get() if place(values) == "cuda" and hasattr(values, "get") else np.asarray(values)


def array(values: Any, device: Device | None = None) -> Array:
    """Return a copy of `values` (an array, a list, a number) on `device`, the CPU if none is given."""
    host = np.array(_host(values), order="C")
    _check_type(host.dtype)
    return _placed(host.astype(host.dtype.newbyteorder("="), copy=False), device or cpu())


def empty(shape: Sequence[int], dtype: str = "float32", device: Device | None = None) -> Array:
    """Return an array whose elements hold anything until they are written."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = dtype
    _check_type(kind)
    return _placed(np.empty(tuple(shape), kind), device or cpu())


def from_dlpack(source: Any) -> Array:
    """Return an array of the memory that `source` exports: NumPy's on a CPU, CuPy's on a GPU."""
    if not hasattr(source, "__dlpack__"):
        raise ArgumentError(f"from_dlpack of {source!r}", "it exports no memory", "an array, a tensor")
    if place(source) == "cuda":
        data = importlib.import_module("cupy").from_dlpack(source)
        return Array(data, cuda(data.device.id))
    return Array(np.from_dlpack(source), cpu())


def _check_type(kind: Any) -> None:
    """Raise ArgumentError for what functions take no arrays of: texts, objects, dates."""
    if getattr(kind, "name", kind) not in ITEM_BYTES:
        raise ArgumentError(f"an array of {kind}", "no element type is called so", ", ".join(ITEM_BYTES))


def _placed(host: np.ndarray[Any, Any], device: Device) -> Array:
    if not isinstance(device, Device):
        raise ArgumentError(f"{device!r} as a device", f"it is a {type(device).__name__}", "cpu(), cuda(0)")
    if device.kind == "cpu":
        return Array(host, device)
    if not device.exist:
        because = "there is no such device, or CuPy is not installed"
        raise ArgumentError(f"no array can be put on {device}", because, "cpu()")
    cupy = importlib.import_module("cupy")
    with cupy.cuda.Device(device.index):
        return Array(cupy.asarray(host), device)
