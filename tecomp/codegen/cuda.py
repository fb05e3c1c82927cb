"""The CUDA back end: a FLAT function becomes CUDA C++, machine code, and Python text that launches the kernels."""

from __future__ import annotations

import dataclasses

from ..artifact import Artifact
from ..errors import InternalError
from ..ir.func import Func, Level
from ..target import Target
from .cuda_prelude import prelude
from .launch import HostPrinter
from .nvrtc import Keep, compile_cuda
from .signature import signature


def generate(func: Func, target: Target, keep: Keep | None = None) -> Artifact:
    """Return the artifact of `func` for a GPU: readable source, host part, cubin. It needs NVRTC, and no GPU.

    `keep` keeps what was compiled before (see `nvrtc.compile_cuda`). Raises UnsupportedError, with both numbers, where
    a launch asks for more than `target` has.
    """
    artifact = printed(func, target)
    compiled = compile_cuda(artifact.source, target.arch, keep)
    return dataclasses.replace(artifact, binary=compiled.cubin, log=compiled.log)


def printed(func: Func, target: Target) -> Artifact:
    """Return the artifact of `func` without its machine code."""
    if func.level is not Level.FLAT:
        raise InternalError(
            f"{func.name!r} is at level {func.level.value}", because="code is generated from level flat"
        )
    host = HostPrinter(func, target)
    text = host.print()
    kernels = "\n\n".join(kernel.text for kernel in host.kernels)
    return Artifact(
        kind="cuda",
        name=func.name,
        source="\n\n".join(filter(None, [prelude(kernels), kernels])) + "\n",
        signature=signature(func),
        host=text,
        kernels=tuple(kernel.plain() for kernel in host.kernels),
        target=str(target),
        packed=tuple({"function": name} for name in host.functions),
    )
