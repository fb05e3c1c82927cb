"""TE, the tensor expression language: what to compute, apart from how.

A program, and the schedule that says how it is computed:

    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
"""

from ..schedule.schedule import Schedule, Stage, create_schedule
from . import math as _math
from .axis import reduce_axis, thread_axis
from .compute import compute
from .element import TensorSlice
from .logic import Select, all, any, if_then_else, likely
from .math import *
from .placeholder import placeholder
from .reducers import argmax, argmin, comm_reducer, max, min, prod, sum
from .scan import scan
from .symbol import const, infinity, max_value, min_value, nan, size_var, var
from .tag import tag_scope
from .tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor

__all__ = [
    "ComputeOp", "Operation", "PlaceholderOp", "ScanOp", "Schedule", "Select", "Stage", "Tensor", "TensorSlice",
    "all", "any", "argmax", "argmin", "comm_reducer", "compute", "const", "create_schedule", "if_then_else",
    "infinity", "likely", "max", "max_value", "min", "min_value", "nan", "placeholder", "prod", "reduce_axis",
    "scan", "size_var", "sum", "tag_scope", "thread_axis", "var",
]  # fmt: skip
__all__ += _math.__all__
