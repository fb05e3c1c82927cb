"""Reading what an array tells of itself through DLPack, without copying and without importing who made it."""

from __future__ import annotations

import ctypes
from typing import Any, Final, NamedTuple

CPU_DEVICES: Final = (1, 3)
"""kDLCPU, kDLCUDAHost."""
CUDA_DEVICES: Final = (2, 13)
"""kDLCUDA, kDLCUDAManaged."""

_TYPES: Final = {(0, 8 << n): f"int{8 << n}" for n in range(4)} | {(1, 8 << n): f"uint{8 << n}" for n in range(4)} | {
    (2, 16): "float16",
    (2, 32): "float32",
    (2, 64): "float64",
    (4, 16): "bfloat16",
    (6, 8): "bool",
}  # fmt: skip
"""Element types by DLPack's code and bits."""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_capsule_pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_capsule_is: Any = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.argtypes = (ctypes.py_object, ctypes.c_char_p)


class Exported(NamedTuple):
    """What DLPack says of an array; strides are in bytes, None is row-major without gaps. `owner` keeps it alive."""

    pointer: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    readonly: bool
    owner: object


def exported(array: Any) -> Exported:
    """Return what an array on the CPU exports."""
    capsule = _capsule(array)
    if _capsule_is(capsule, b"dltensor_versioned"):
        whole = _Versioned.from_address(_capsule_pointer(capsule, b"dltensor_versioned"))
        return _read(whole.tensor, readonly=bool(whole.flags & 1), owner=capsule)
    return _read(_Tensor.from_address(_capsule_pointer(capsule, b"dltensor")), readonly=False, owner=capsule)


def _capsule(array: Any) -> Any:
    try:
        return array.__dlpack__(max_version=(1, 0))
    except TypeError:  # made for the DLPack before versions
        return array.__dlpack__()


def _read(tensor: _Tensor, readonly: bool, owner: object) -> Exported:
    name = _TYPES.get((tensor.code, tensor.bits), f"DLPack type {tensor.code} of {tensor.bits} bits")
    size = tensor.bits // 8
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(stride * size for stride in tensor.strides[: tensor.ndim]) if tensor.strides else None
    return Exported((tensor.data or 0) + tensor.byte_offset, name, shape, strides, readonly, owner)
