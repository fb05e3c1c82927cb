"""Runs what tecomp builds. It needs NumPy, and CuPy for CUDA; no compiler."""

from .errors import ArgumentError as ArgumentError
from .errors import CallError as CallError
from .errors import LaunchError as LaunchError
from .errors import NotCompact as NotCompact
from .errors import OutOfMemoryError as OutOfMemoryError
from .kernel import Kernel as Kernel
