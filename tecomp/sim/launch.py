"""One launch of a kernel: its blocks in groups that run at once, and what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import UserError
from ..ir.evaluate import evaluate
from ..ir.expr import Var
from ..ir.stmt import Buffer, Stmt
from .clock import Ticker
from .faults import Fault, SimulationFault, Stopped
from .flags import Flags
from .kernel import Program
from .memory import Memory
from .options import APART, TOGETHER, Options
from .run import Run
from .shape import Shape


class Launch:
    """A kernel over a grid, with its arguments."""

    def __init__(
        self, program: Program, grid: Sequence[int], block: Sequence[int], options: Options, counters: Any
    ) -> None:
        self.program, self.options, self.counters = program, options, counters
        self.shape = Shape(grid, block)
        self.given: dict[int, Any] = {}
        self.sizes: Mapping[Var, Any] = {}
        self.types: dict[int, Any] = {
            program.slots[var]: var.dtype.numpy for _, var in program.launch.threads if isinstance(var, Var)
        }
        self.faults: list[Fault] = []
        self.flags = Flags()

    def pass_arguments(self, operands: Mapping[Buffer | Var, Any]) -> None:
        """Give the kernel its arguments: memories, and numbers in their types."""
        for thing, operand in operands.items():
            if isinstance(thing, Buffer):
                assert isinstance(operand, Memory)
                self.given[self.program.slots[thing]] = _seen(operand, thing, self._also_read(thing), self)
            else:
                self.given[self.program.slots[thing]] = np.asarray(operand).astype(thing.dtype.numpy)[()]

    def pass_sizes(self, sizes: Mapping[Var, Any]) -> None:
        """Give the kernel numbers that the host has, whether it asks for them or not: extents of tensors are such."""
        self.sizes = sizes
        for var, value in sizes.items():
            self.given[self.program.slots[var]] = np.asarray(value).astype(var.dtype.numpy)[()]

    def _also_read(self, buffer: Buffer) -> bool:
        return buffer in self.program.read

    def go(self, ticker: Ticker, random: np.random.Generator) -> None:
        """Run all blocks; SimulationFault where something is wrong."""
        self.ticker, self.random, self.start = ticker, random, ticker.tick()
        if not self.shape.threads or not self.shape.blocks:
            return
        if self.options.warps == TOGETHER and self.program.between_warps:
            because = f"warps of {self.program.name} wait for each other"
            raise UserError(
                f"tecomp.sim.options(warps={TOGETHER!r})", because, f"{APART!r}, which they are then anyway"
            )
        apart = self.options.warps == APART or self.program.between_warps
        try:
            ticker.steps += 1
            if ticker.steps > self.options.steps:
                self.too_long(self.program.launch)
            with np.errstate(all="ignore"):
                for numbers in self._groups(apart):
                    if self.counters is not None:
                        self.counters.ran(len(numbers))
                    Run(self, numbers, apart).go()
        except Stopped:
            pass
        finally:
            self.given.clear()
        if self.faults:
            raise SimulationFault(self.program.name, self.faults)

    def _groups(self, apart: bool) -> Iterator[range]:
        """Yield the numbers of blocks that run at once."""
        total, lanes = self.shape.blocks, self.shape.lanes
        together = (
            total
            if self.program.meets or self.program.tells
            else self.program.cluster
            if apart
            else max(1, self.options.threads // lanes)
        )
        chosen = self.options.blocks
        if chosen is None or self.program.meets or self.program.tells:
            yield from (range(first, min(first + together, total)) for first in range(0, total, together))
            return
        if isinstance(chosen, int):
            count = min(chosen, total)
            chosen = [number * total // count for number in range(count)]
        size = together if apart else 1
        numbers = {one // size * size for one in chosen if one < total}
        if not numbers:
            because = f"{self.program.name} has {total} blocks"
            raise UserError(f"tecomp.sim.options(blocks={chosen!r})", because, "numbers from 0 on, less than that")
        for number in sorted(numbers):
            yield range(number, min(number + size, total))

    def too_long(self, stmt: Stmt) -> None:
        """Report a program that has run as many statements as it may, and stop it."""
        because = "so many statements, each by many threads at once, and launches may run in a call"
        self.report(Fault("limit", f"no end after {self.options.steps} steps", because, stmt))
        raise Stopped

    def report(self, fault: Fault) -> None:
        """Note a fault; the first of its kind at a statement counts."""
        if any(known.kind == fault.kind and known.stmt is fault.stmt for known in self.faults):
            return
        self.faults.append(fault)
        if len(self.faults) >= self.options.faults:
            raise Stopped


def _seen(memory: Memory, buffer: Buffer, also_read: bool, launch: Launch) -> Memory:
    """Return a memory of the host as a kernel's parameter sees it."""
    seen = Memory(buffer, memory.owner, memory.count, 1, memory.data)
    seen.marks, seen.address, seen.first = memory.marks, memory.address, memory.first
    sizes = launch.sizes
    seen.number = lambda extent: int(evaluate(extent, sizes))
    if launch.options.sanitize and buffer in launch.program.written:
        seen.watch(launch.shape, also_read, launch.program.between_warps)
    return seen
