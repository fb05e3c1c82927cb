"""What a build gives: plain data that runs where no compiler is installed, and that serialises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Artifact:
    """One built function. `tecomp_runtime.Kernel` makes a callable of it."""

    kind: str
    """llvm or cuda: who can load `binary`."""
    name: str
    source: str
    """What a reader wants to see: LLVM IR before optimisation, or CUDA C++."""
    binary: bytes = b""
    """Object code (ELF) or a cubin."""
    signature: dict[str, Any] = field(default_factory=dict[str, Any])
    """Parameters with their types, shapes and strides as JSON-able data: all that the runtime knows of the program."""
    host: str = ""
    """Python text of the host part that launches CUDA kernels."""
    kernels: tuple[Any, ...] = ()
    """The symbols in `binary`: an llvm artifact's entry point, or CUDA kernels with what a launch of each needs."""
    target: str = ""
    requires: tuple[str, ...] = ()
    """What the CPU must have, as Linux names it: avx2, avx512f."""
    log: str = ""
    """What the compiler said."""
