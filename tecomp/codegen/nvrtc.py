"""CUDA C++ to machine code through NVRTC, NVIDIA's compiler library, which needs no GPU."""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..errors import InternalError, UnsupportedError

OPTIONS: Final = ("--std=c++17", "--ptxas-options=-v")
_PLACE: Final = re.compile(r"\((\d+)\): error")
_INSTALL: Final = 'pip install "tecomp[cuda13]", or "tecomp[cuda12]" for a CUDA 12 driver'

Keep = Callable[[str, Callable[[], bytes]], bytes]
"""keep(key, make): what make() returns, or returned for that key before. `tecomp_runtime.cache` keeps on disk."""


class Compiled(NamedTuple):
    """Machine code for one architecture, and what the compiler said: registers and shared memory of each kernel."""

    cubin: bytes
    log: str


def compile_cuda(source: str, arch: str, keep: Keep | None = None) -> Compiled:
    """Return `source` compiled for exactly `arch` (sm_90a); through `keep` only what it does not hold yet.

    Raises UnsupportedError where NVRTC is not installed or does not know `arch`, InternalError with the lines in
    question where it refuses the program.
    """
    compiler = _nvrtc()
    options = (f"-arch={arch}", *OPTIONS)
    if keep is None:
        return _compile(compiler, source, options)
    version = ".".join(map(str, compiler.getVersion()))
    key = hashlib.sha256("\0".join([version, *options, source]).encode()).hexdigest()
    log, _, cubin = keep(key, lambda: _joined(_compile(compiler, source, options))).partition(b"\0")
    return Compiled(cubin, log.decode())


def _joined(compiled: Compiled) -> bytes:
    return compiled.log.encode() + b"\0" + compiled.cubin


def _nvrtc() -> Any:
    """Return CuPy's binding of the library; UnsupportedError that says what to install."""
    try:
        module = importlib.import_module("cupy_backends.cuda.libs.nvrtc")
        module.getVersion()
    except (ImportError, RuntimeError, OSError) as error:
        raise UnsupportedError("target cuda", because=f"NVRTC is not installed: {error}", legal=_INSTALL) from error
    return module


def _compile(compiler: Any, source: str, options: tuple[str, ...]) -> Compiled:
    program = compiler.createProgram(source, "kernel.cu", (), ())
    try:
        compiler.compileProgram(program, options)
        log = compiler.getProgramLog(program).rstrip("\0")  # CuPy gives C's end of the text too
        return Compiled(bytes(compiler.getCUBIN(program)), log)
    except compiler.NVRTCError as error:
        log = compiler.getProgramLog(program).strip()
        if "invalid value for --gpu-architecture" in log:
            known = [f"sm_{number}" for number in compiler.getSupportedArchs()]
            raise UnsupportedError(
                f"target cuda {options[0]}", because=f"this NVRTC says: {log}", legal=known
            ) from error
        raise InternalError("NVRTC refused the generated CUDA", because=log, ir=_excerpt(source, log)) from error
    finally:
        compiler.destroyProgram(program)


def _excerpt(source: str, log: str) -> str:
    """Return the lines that the log complains of, each with two around it."""
    lines = source.splitlines()
    wanted = {near for place in _PLACE.findall(log) for near in range(int(place) - 2, int(place) + 3)}
    numbers = [number for number in sorted(wanted or range(1, 41)) if 1 <= number <= len(lines)]
    return "\n".join(f"{number:4} {lines[number - 1]}" for number in numbers)
