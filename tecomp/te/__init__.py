"""TE, the tensor expression language: what to compute, apart from how.

A program, and the schedule that says how it is computed:

    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
"""

import importlib as _importlib

from ..schedule.default import default_schedule
from ..schedule.schedule import Schedule, Stage, create_schedule
from . import hybrid
from . import math as _math
from .absent import SpecializedCondition, trace
from .autodiff.gradient import gradient
from .axis import reduce_axis, thread_axis
from .bits import dp4a, q_multiply_shift, q_multiply_shift_per_axis, reinterpret
from .compute import compute
from .element import TensorSlice
from .extern import extern
from .extern_op import ExternOp
from .extern_primfunc import extern_primfunc
from .hybrid import HybridOp
from .logic import Select, all, any, if_then_else, likely
from .math import *
from .placeholder import placeholder
from .reducers import argmax, argmin, comm_reducer, max, min, prod, sum
from .scan import scan
from .separator import AXIS_SEPARATOR
from .symbol import const, infinity, max_value, min_value, nan, size_var, var
from .tag import tag_scope
from .tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor
from .tensor_compute import TensorComputeOp
from .tensor_intrin import TensorIntrin, decl_tensor_intrin

__all__ = [
    "AXIS_SEPARATOR",
    "ComputeOp", "ExternOp", "HybridOp", "Operation", "PlaceholderOp", "ScanOp", "Schedule", "Select", "Stage",
    "Tensor", "TensorComputeOp", "TensorIntrin", "TensorSlice",
    "all", "any", "argmax", "argmin", "comm_reducer", "compute", "const", "create_schedule", "decl_tensor_intrin",
    "default_schedule", "extern", "extern_primfunc", "gradient", "hybrid", "if_then_else", "infinity",
    "likely", "max", "max_value", "min", "min_value", "nan", "placeholder", "prod", "reduce_axis",
    "scan", "size_var", "sum", "tag_scope", "thread_axis", "var",
]  # fmt: skip
__all__ += _math.__all__
__all__ += [
    "SpecializedCondition", "dp4a", "q_multiply_shift", "q_multiply_shift_per_axis", "reinterpret", "trace",
]  # fmt: skip

_ON_FIRST_USE = {
    "schedule": ("tecomp.te_schedule", ""),
    "create_prim_func": ("tecomp.te_schedule", "create_prim_func"),
    "save": ("tecomp.saved", "save"),
    "load": ("tecomp.saved", "load"),
}
"""Names whose modules need the compiler: it is loaded when they are asked for."""


def __getattr__(name: str) -> object:
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place, attribute = _ON_FIRST_USE[name]
    module = _importlib.import_module(place)
    globals()[name] = value = getattr(module, attribute) if attribute else module
    return value
