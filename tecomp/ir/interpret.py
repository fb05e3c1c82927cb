"""Running programs of any level on NumPy arrays, slowly and exactly: what every back end is compared with.

The function becomes Python source, every access checked. Loops run in order, whatever their kind; a Launch runs its
blocks one after the other and the threads of a block in turns, from barrier to barrier; where two of them meet in one
element of memory, and one writes, something must order them.
"""

from __future__ import annotations

import functools
from types import TracebackType
from typing import Any

import numpy as np

from .evaluate import UNDEFINED, ExecutionError, executed, reason
from .expr import Var
from .func import Func, Level
from .interpret_arguments import arguments
from .interpret_foreign import Raised
from .interpret_memory import Memory, flat_view
from .interpret_races import Clock
from .interpret_stmt import ProgramSource
from .interpret_threads import Host
from .stmt import Launch, Stmt
from .text import headline
from .visit import walk


def interpret(func: Func, *given: Any) -> None:
    """Run `func` on NumPy arrays and numbers in the order of its parameters; outputs are written in place.

    Raises UserError for arguments that do not fit, ExecutionError where the program does something undefined.
    """
    program(func)(*given)


@functools.lru_cache(maxsize=64)
def program(func: Func) -> Program:
    """Return `func` ready to run many times."""
    return Program(func)


class Program:
    """A function ready to run; `source` is what runs."""

    def __init__(self, func: Func) -> None:
        self.func, self.file = func, f"<program {func.name}>"
        code = ProgramSource(func)
        self.source = code.text()
        self.owners: list[Stmt | None] = [owner for _, _, owner in code.lines]
        self.run = executed(code, self.file)["program"]
        self.has_kernels = any(isinstance(node, Launch) for node in walk(func.body))

    def __call__(self, *given: Any) -> None:
        """Run on arrays and numbers."""
        func = self.func
        values = arguments(func, given)
        clock = Clock() if self.has_kernels else None
        passed: list[Any] = []
        copies: list[tuple[np.ndarray, np.ndarray]] = []
        for thing in (*func.params, *func.sizes()):
            value = values[thing]
            if isinstance(thing, Var):
                passed.append(value)
                continue
            array = value
            if func.level is Level.FLAT and thing.shape:
                array, copied = flat_view(thing, value)
                copies += [(value, array)] if copied and any(thing is output for output in func.outputs) else []
            memory = Memory(thing, array, None, clock)
            passed += [memory.read, memory.write]
        self.guarded([Host(clock), *passed])
        for array, flat in copies:
            array[...] = flat.reshape(array.shape)

    def guarded(self, passed: list[Any]) -> None:
        """Run, and report what is undefined with the statement and the user's line."""
        try:
            with np.errstate(all="ignore"):
                self.run(*passed)
        except Raised as called:
            raise called.error from None
        except UNDEFINED as problem:
            culprit = self.culprit(problem.__traceback__)
            shown = "" if culprit is None else headline(culprit)
            location = None if culprit is None else culprit.loc
            asked = f"{self.func.name} cannot go on"
            raise ExecutionError(asked, because=reason(problem), ir=shown, location=location) from None

    def culprit(self, trace: TracebackType | None) -> Stmt | None:
        """Return the statement that was running."""
        found = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file:
                found = self.owners[trace.tb_lineno - 1]
            trace = trace.tb_next
        return found
