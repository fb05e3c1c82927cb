"""Functions in machine code that CPython calls directly."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_FAST_CALL = 0x80
"""METH_FASTCALL: the function gets an array of arguments and their number."""


class Definition(ctypes.Structure):
    """CPython's PyMethodDef; it must live as long as what is made of it."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


_new: Any = ctypes.pythonapi.PyCFunction_NewEx
_new.restype = ctypes.py_object
_new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)


def definition(name: str, address: int) -> Definition:
    """Return what CPython must know of the function at `address`."""
    return Definition(name.encode(), address, _FAST_CALL, None)


def callable_of(function: Definition, fallback: Callable[..., None], owner: object) -> Callable[..., None]:
    """Return the function as a callable, which hands on to `fallback` the calls that it cannot run itself.

    It keeps `owner` alive, who has the code and the definition.
    """
    return _new(ctypes.addressof(function), fallback, owner)
