"""A built function with the names that programs for TVM ask a module for: source, timing, export."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from .array import Device
from .bench import TimeEvaluator
from .errors import ArgumentError, NotCompact
from .kernel import Functions, Kernel
from .packed import FUNCTIONS

_DEVICE_KIND: Final = {"llvm": "cpu", "cuda": "cuda", "cuda-sim": "cpu"}
_FILES: Final = {
    "llvm": {"o": "binary", "ll": "source"},
    "cuda": {"cubin": "binary", "cu": "source", "py": "host"},
    "cuda-sim": {"cu": "source", "py": "host"},
}
"""What of an artifact a file holds, by its ending."""


class DeviceCode(NamedTuple):
    """The part of a function that runs on its device."""

    type_key: str
    source: str

    def get_source(self, fmt: str = "") -> str:
        """Return the text that was compiled; there is one form of it."""
        return self.source


class BuiltFunction:
    """A callable made from an artifact, on arrays of any strides: another artifact, made or read when first needed."""

    def __init__(self, artifact: Any, functions: Functions = FUNCTIONS) -> None:
        self.artifact, self._functions = artifact, functions
        self._kernel = Kernel(artifact, functions)
        self._strided: Kernel | None = None
        self._entry = self._kernel.entry(self._run)

    def strided_artifact(self) -> Any:
        """Return the artifact that takes strides as arguments."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The function's name."""
        return self.artifact.name

    entry_name = name

    @property
    def source(self) -> str:
        """The generated code: LLVM IR or CUDA C++."""
        return self.artifact.source

    @property
    def signature(self) -> dict[str, Any]:
        """The arguments, as the runtime knows them: names, dtypes, shapes."""
        return self.artifact.signature

    @property
    def type_key(self) -> str:
        """The kind of the target: llvm or cuda."""
        return self.artifact.kind

    @property
    def imported_modules(self) -> list[DeviceCode]:
        """The part for the GPU, of a CUDA function; of others nothing."""
        return [DeviceCode("cuda", self.source)] if self.type_key != "llvm" else []

    @property
    def __call__(self) -> Callable[..., None]:
        """Run on the arguments; an error about one of them is raised before anything runs."""
        return self._entry

    def __getitem__(self, name: str) -> BuiltFunction:
        """Return the function of that name: this one; ArgumentError for another."""
        if name != self.name:
            raise ArgumentError(f"{self.name} has no function {name!r}", "it is one function", repr(self.name))
        return self

    get_function = __getitem__

    def get_source(self, fmt: str = "") -> str:
        """Return the text of the host part: LLVM IR; of a CUDA function Python, as its kernels are `imported_modules`.

        ArgumentError for a form that there is not.
        """
        if fmt not in ("", "ll") or (fmt and self.type_key != "llvm"):
            legal = "get_source()" if self.type_key == "llvm" else "imported_modules[0].get_source()"
            raise ArgumentError(f"get_source({fmt!r}) of {self.name}", "it is not kept in that form", legal)
        return self.source if self.type_key == "llvm" else self.artifact.host

    def time_evaluator(
        self,
        func_name: str,
        dev: Device,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        cooldown_interval_ms: float = 0,
        repeats_to_cooldown: int = 1,
    ) -> TimeEvaluator:
        """Return a callable that calls this function on its arguments and tells the seconds: .mean, .median, .results.

        Each of `repeat` results is the average of `number` calls, of more where those take less than `min_repeat_ms`.
        """
        kind = _DEVICE_KIND[self.type_key]
        if not isinstance(dev, Device) or dev.kind != kind:
            raise ArgumentError(f"time_evaluator of {self.name} on {dev}", f"it runs on {kind}", f"{kind}(0)")
        return TimeEvaluator(
            self[func_name]._entry, dev, number, repeat, min_repeat_ms, cooldown_interval_ms, repeats_to_cooldown
        )

    def save(self, path: str | os.PathLike[str], fmt: str = "") -> None:
        """Write one part into a file: .o or .ll of a CPU's function, .cubin, .cu or .py of a CUDA function."""
        ending = fmt or Path(path).suffix[1:]
        parts = _FILES[self.type_key]
        if ending not in parts:
            legal = f"{', '.join(f'.{known}' for known in parts)}, or export_library for the whole"
            raise ArgumentError(
                f"save {self.name} as {path}", f"a {self.type_key} function has no part .{ending}", legal
            )
        content = getattr(self.artifact, parts[ending])
        Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())

    def _run(self, *args: Any) -> None:
        try:
            self._kernel(*args)
        except NotCompact:
            self._with_strides(*args)

    def _with_strides(self, *args: Any) -> None:
        if self._strided is None:
            self._strided = Kernel(self.strided_artifact(), self._functions)
        try:
            self._strided(*args)
        except NotCompact as gaps:
            because = "a C function gets its address, and takes it for row-major without gaps"
            legal = "a contiguous copy, numpy.ascontiguousarray(x)"
            raise ArgumentError(f"{self.name}: argument {gaps} has gaps", because, legal) from None
