"""Arrays as the caller has them: NumPy's, and whatever speaks an array interface or DLPack."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from . import dlpack

_TYPES: Final = {
    "|b1": "bool",
    "|i1": "int8",
    "<i2": "int16",
    "<i4": "int32",
    "<i8": "int64",
    "|u1": "uint8",
    "<u2": "uint16",
    "<u4": "uint32",
    "<u8": "uint64",
    "<f2": "float16",
    "<f4": "float32",
    "<f8": "float64",
}
ITEM_BYTES: Final = {name: int(text[2:]) for text, name in _TYPES.items()} | {"bfloat16": 2}
"""The bytes of one element of each type."""

INTERFACES: Final = {"cpu": "__array_interface__", "cuda": "__cuda_array_interface__"}


class View(NamedTuple):
    """An array: address of its element 0, and its layout. `strides` are in bytes; None is row-major without gaps."""

    pointer: int
    type: str
    """As an array interface spells it, or a name."""
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    readonly: bool
    owner: object
    """What keeps the memory alive."""


def view(array: Any, device: str) -> View | None:
    """Return what `array` is, None where it is no array on `device`."""
    interface = getattr(array, INTERFACES[device], None)
    if interface is not None:
        pointer, readonly = interface["data"]
        type = interface["typestr"]
        if type[1] == "V":  # NumPy has no letter for bfloat16
            type = str(getattr(array, "dtype", type)).removeprefix("torch.")
        return View(pointer, type, interface["shape"], interface.get("strides"), readonly, array)
    if device == "cpu" and place(array) == "cpu":
        found = dlpack.exported(array)
        return View(found.pointer, found.dtype, found.shape, found.strides, found.readonly, found.owner)
    return None


def place(array: Any) -> str:
    """Return where an array is: cpu, cuda, another DLPack device, or nothing for what is no array."""
    for device, attribute in INTERFACES.items():
        if getattr(array, attribute, None) is not None:
            return device
    device_of = getattr(array, "__dlpack_device__", None)
    if device_of is None:
        return ""
    number = int(device_of()[0])
    if number in dlpack.CPU_DEVICES:
        return "cpu"
    return "cuda" if number in dlpack.CUDA_DEVICES else f"DLPack device {number}"


def dtype_name(type: str) -> str:
    """Return the element type as tecomp names it: <f4 is float32. A type it has not stays as it is."""
    return _TYPES.get(type, type)
