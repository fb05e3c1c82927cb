"""What a build gives: plain data that runs where no compiler is installed, and that serialises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .errors import UserError


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
    packed: tuple[dict[str, Any], ...] = ()
    """The calls of Python functions, JSON-able: the function's name and, on a CPU, the symbol and the arguments."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled; UserError where a function it calls has no name that another process knows."""
        unnamed = next((call["function"] for call in self.packed if call["function"].startswith("<")), None)
        if unnamed is None:
            return self.__dict__
        raise UserError(
            f"{self.name} cannot be serialised",
            because=f"it calls the Python function {unnamed}, which has no name outside this process",
            legal='tecomp.register_func("my.name")(f), and tir.call_packed("my.name", ...)',
        )
