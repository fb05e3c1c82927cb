"""Calling functions built for CUDA, on arrays of CuPy, PyTorch, JAX, or whatever speaks for itself as an array.

CuPy loads the code and starts it; it is imported when a function is first called. A function is loaded once for each
device, and runs on the current stream of its arrays' device.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from .arguments import Arguments
from .arrays import INTERFACES, View, place
from .cuda_launch import LoadedKernel
from .errors import ArgumentError, LaunchError

Host = Callable[..., None]
"""host(launch, alloc, *buffers and scalars, *sizes): the generated host part."""


class CudaFunction:
    """A function for a GPU, called with arrays and numbers; where there is no GPU, the call says so."""

    def __init__(self, artifact: Any) -> None:
        self.artifact = artifact
        self.arguments = Arguments(artifact.signature, "cuda")
        self._host = host_part(artifact.host)
        self._kernels: dict[int, dict[str, LoadedKernel]] = {}

    def __call__(self, *args: Any) -> None:
        """Check the arguments, and start the kernels; the outputs are written when their stream gets there."""
        cuda = library()
        values, views = self.arguments.bind(tuple(exchanged(cuda, arg) for arg in args))
        device = self._device(cuda, views)
        with on_device(cuda, device), on_stream(cuda, device, views) as stream:
            kernels = self._kernels.get(device) or self._load(cuda, device)
            memory: list[Any] = []

            def launch(name: str, grid: tuple[int, ...], block: tuple[int, ...], shared: int, *operands: Any) -> None:
                kernels[name].launch(grid, block, shared, operands, stream)

            def alloc(dtype: str, elements: int) -> int:
                memory.append(cuda.cuda.alloc(max(elements, 1) * item_bytes(dtype)))
                return memory[-1].ptr

            self._host(launch, alloc, *values)
"""
"""
