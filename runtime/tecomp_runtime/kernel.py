"""A built function as the user holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .cpu import CpuFunction
from .cuda import CudaFunction
from .errors import LaunchError
from .packed import FUNCTIONS

Functions = Mapping[str, Callable[..., Any]]

LOADERS: Final[dict[str, Callable[[Any, Functions], Callable[..., None]]]] = {
    "llvm": CpuFunction,
    "cuda": CudaFunction,
}
"""Who makes a callable of each kind of artifact. The simulator, which needs the compiler, adds itself."""


class Kernel:
    """A callable made from an artifact: ``kernel(X, out)`` checks the arguments, runs, and has written the outputs.

    An argument that does not fit raises ArgumentError, and nothing has run.
    """

    def __init__(self, artifact: Any, functions: Functions = FUNCTIONS) -> None:
        """Load the artifact, which may call Python functions of these names; LaunchError where this machine cannot."""
        loader = LOADERS.get(artifact.kind)
        if loader is None:
            raise LaunchError(
                f"{artifact.name} cannot be loaded", f"its kind is {artifact.kind!r}", ", ".join(LOADERS)
            )
        self.artifact = artifact
        self._function = loader(artifact, functions)
        self._entry = self.entry(self._function)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.artifact.name

    @property
    def signature(self) -> dict[str, Any]:
        """What it takes: parameters with types and shapes, and the sizes that a call solves."""
        return self.artifact.signature

    @property
    def source(self) -> str:
        """The generated code: LLVM IR or CUDA C++."""
        return self.artifact.source

    def entry(self, fallback: Callable[..., None]) -> Callable[..., None]:
        """Return the quickest callable for this kernel; what that cannot run itself it hands on to `fallback`."""
        return self._function.quick(fallback) if isinstance(self._function, CpuFunction) else fallback

    @property
    def __call__(self) -> Callable[..., None]:
        """Run on arrays and numbers in the order of the signature.

        A property, so that Python calls machine code without a frame of its own between.
        """
        return self._entry

    def __repr__(self) -> str:
        return f"<Kernel {self.name} for {self.artifact.target or self.artifact.kind}>"
