"""What `build` returns: a callable that holds its program, its source and the machine code."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from tecomp_runtime import Kernel, NotCompact
from tecomp_runtime.cache import kept

from .artifact import Artifact
from .dtype import INDEX
from .ir.expr import Var
from .ir.func import Func
from .ir.stmt import Buffer
from .ir.subst import substitute_stmt
from .passes.manager import Pass, run_pipeline
from .target import Target

_GENERATORS: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "llvm": ("tecomp.codegen.llvm", ()),
    "cuda": ("tecomp.codegen.cuda", (kept,)),
}
"""Whose `generate` makes each kind of artifact, and what it gets besides function and target.

Loaded when first used: one target's compiler is not needed for the other.
"""
_ALIGN: Final = {"llvm": 1, "cuda": 16}
"""What addresses are a multiple of, in bytes: a GPU's vector loads fault elsewhere, and its allocators see to it."""


class Module:
    """A built function. Call it with one array (or scalar) for each argument, results included.

    Arrays are row-major without gaps, and on a GPU aligned to 16 bytes, for the function built first; the first call
    with others builds a second one, whose strides are arguments too, and later calls use whichever fits.
    """

    def __init__(self, func: Func, target: Target, pipeline: Sequence[Pass]) -> None:
        self.target = target
        self._loops, self._pipeline = func, pipeline
        self.ir: Func = run_pipeline(aligned(func, _ALIGN[target.kind]), target, pipeline)
        """The program that the source was printed from."""
        self.artifact = _generate(self.ir, target)
        self._kernel = Kernel(self.artifact)
        self._strided: Kernel | None = None
        self._entry = self._kernel.entry(self._run)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.artifact.name

    @property
    def source(self) -> str:
        """The generated code: LLVM IR or CUDA C++."""
        return self.artifact.source

    @property
    def signature(self) -> dict[str, Any]:
        """The arguments, as the runtime knows them: names, dtypes, shapes."""
        return self.artifact.signature

    @property
    def __call__(self) -> Callable[..., None]:
        """Run on the arguments; an error about one of them is raised before anything runs."""
        return self._entry

    def _run(self, *args: Any) -> None:
        try:
            self._kernel(*args)
        except NotCompact:
            self._with_strides()(*args)

    def _with_strides(self) -> Kernel:
        if self._strided is None:
            func = run_pipeline(strided(self._loops), self.target, self._pipeline)
            self._strided = Kernel(_generate(func, self.target))
        return self._strided

    def __repr__(self) -> str:
        return f"<Module {self.name} for {self.target}>"


def strided(func: Func) -> Func:
    """Return `func` with the strides of its arguments as sizes that a call takes from the arrays."""

    def change(old: Buffer) -> Buffer:
        strides = tuple(Var(f"{old.name}_s{dim}", INDEX) for dim in range(len(old.shape)))
        return Buffer(old.name, old.shape, old.dtype, old.scope, strides, loc=old.loc)

    return _with_arrays(func, change)


def aligned(func: Func, align: int) -> Func:
    """Return `func` for arrays whose first element lies at a multiple of `align` bytes."""

    def change(old: Buffer) -> Buffer:
        return Buffer(old.name, old.shape, old.dtype, old.scope, old.strides, max(align, old.align), old.loc)

    return _with_arrays(func, change)


def _with_arrays(func: Func, change: Callable[[Buffer], Buffer]) -> Func:
    """Return `func` with each of its array arguments changed, everywhere."""
    arrays = [param for param in func.params if isinstance(param, Buffer) and param.shape]
    others = {buffer: change(buffer) for buffer in arrays}
    params = tuple(others.get(param, param) if isinstance(param, Buffer) else param for param in func.params)
    outputs = tuple(others.get(output, output) for output in func.outputs)
    return Func(func.name, params, outputs, substitute_stmt(func.body, {}, others), func.level, func.requires)


def _generate(func: Func, target: Target) -> Artifact:
    module, more = _GENERATORS[target.kind]
    return importlib.import_module(module).generate(func, target, *more)
