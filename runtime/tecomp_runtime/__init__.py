"""Runs what tecomp builds. It needs NumPy, and CuPy for CUDA; no compiler."""

from .array import Device as Device
from .array import enabled as enabled
from .bench import BenchmarkResult as BenchmarkResult
from .errors import AccessError as AccessError
from .errors import ArgumentError as ArgumentError
from .errors import CallError as CallError
from .errors import LaunchError as LaunchError
from .errors import NotCompact as NotCompact
from .errors import OutOfMemoryError as OutOfMemoryError
from .function import BuiltFunction as BuiltFunction
from .kernel import Kernel as Kernel
from .package import load_module as load_module
from .packed import register_func as register_func
