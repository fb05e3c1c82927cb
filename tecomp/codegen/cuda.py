"""From a function at level FLAT to CUDA: a __global__ function for each Launch, and Python text that launches them."""

from __future__ import annotations

from ..artifact import Artifact
from ..errors import InternalError
from ..ir.func import Func, Level
from ..target import Target
from .cuda_prelude import prelude
from .launch import HostPrinter
from .signature import signature


def generate(func: Func, target: Target) -> Artifact:
    """Return the CUDA C++ of `func` with its host part; `binary` is for `nvrtc.compile_cuda` to fill.

    Raises UnsupportedError, with both numbers, where a launch asks for more than `target` has.
    """
    if func.level is not Level.FLAT:
        raise InternalError(
            f"code for a {func.level.value} program", because="code is generated from flat ones", ir=repr(func)
        )
    host = HostPrinter(func, target)
    host_text = host.print()
    kernels = "\n\n".join(kernel.text for kernel in host.kernels)
    return Artifact(
        kind="cuda",
        name=func.name,
        source="\n\n".join(filter(None, [prelude(kernels), kernels])) + "\n",
        signature=signature(func),
        host=host_text,
        kernels=tuple(kernel.plain() for kernel in host.kernels),
        target=str(target),
    )
