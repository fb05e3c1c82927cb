"""Statements as Python source: one function for the program, one inside it for each kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any, Final

from ..errors import InternalError, UnsupportedError
from . import expr as E
from .func import Func, Level
from .instruction import EXCHANGES
from .interpret_expr import Memo, Source
from .interpret_matrix import matrix_function, matrix_operands
from .interpret_meet import Parts, Shuffle
from .matrix import is_matrix_call
from .node import Expr
from .stmt import CLUSTER, Across, Alloc, Evaluate, For, If, Launch, Let, Stmt, Store
from .text import flattened
from .visit import walk

BARRIERS: Final = ("barrier_block", "barrier_grid")
_NESTED_LOOPS: Final = 15
"""Python allows 20 blocks inside each other in one function."""


def is_barrier(node: Any) -> bool:
    """Answer whether `node` is a statement at which the threads of a block, or of the grid, wait for each other."""
    return isinstance(node, Evaluate) and isinstance(node.value, E.Call) and node.value.name in BARRIERS


def waits(root: Stmt) -> bool:
    """Answer whether a thread that runs `root` may wait for others."""
    return any(
        isinstance(node, Across)
        or is_barrier(node)
        or is_matrix_call(node)
        or (isinstance(node, E.Call) and node.name in EXCHANGES)
        for node in walk(root)
    )


class ProgramSource(Source):
    """The source of a function: `program(here, <parameters>, <sizes>)`; `here` gives memory and launches kernels."""

    def __init__(self, func: Func) -> None:
        super().__init__()
        self.flat = func.level is Level.FLAT
        self.loops = 0
        self.waits = False
        """Whether the function being written is a generator, which yields where its thread waits."""
        arguments: list[str] = []
        for thing in (*func.params, *func.sizes()):
            name = self.names[thing] = self.fresh("p")
            arguments += [name] if isinstance(thing, E.Var) else [f"{name}_read", f"{name}_write"]
        self.line(f"def program({', '.join(['here', *arguments])}):")
        self.block(func.body)
        self.write_parts()

    def block(self, root: Stmt) -> None:
        """Add a suite one deeper."""
        self.depth += 1
        start = len(self.lines)
        pending = flattened(root)[::-1]
        while pending:
            stmt = self.owner = pending.pop()
            if type(stmt) not in _WRITE:
                raise InternalError(f"the interpreter met {type(stmt).__name__}", because="it has no meaning for it")
            _WRITE[type(stmt)](self, stmt)
            if isinstance(stmt, (Let, Alloc)):
                pending += reversed(flattened(stmt.body))
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1

    def loop(self, stmt: For) -> None:
        if self.loops >= _NESTED_LOOPS:
            self.apart(stmt)
            return
        low, extent = self.value(stmt.min), self.value(stmt.extent)
        name = self.names[stmt.var] = self.fresh("v")
        bounds = extent if low == "0" else f"{low}, {low} + {extent}"
        self.line(f"for {name} in range({bounds}):")
        self.loops += 1
        self.block(stmt.body)
        self.loops -= 1

    def apart(self, stmt: For) -> None:
        """Write a loop that is nested too deeply as a function of its own."""
        loops, self.loops = self.loops, 0
        name = self.fresh("part")
        self.line(f"def {name}():")
        self.block(stmt)
        self.loops = loops
        self.line(f"yield from {name}()" if self.waits and waits(stmt) else f"{name}()")

    def launch(self, stmt: Launch) -> None:
        extents = [self.value(extent) for extent in stmt.expressions()]
        names = [self.fresh("v") for _ in stmt.threads]
        self.names.update(zip((var for _, var in stmt.threads), names, strict=True))
        outside = self.loops, self.waits
        self.loops, self.waits = 0, waits(stmt.body)
        kernel = self.fresh("kernel")
        self.line(f"def {kernel}({', '.join(['here', *names])}):")
        self.block(stmt.body)
        tags = [tag for tag, _ in stmt.threads]
        if CLUSTER in tags:
            because = "blocks run one after the other there, and those of a cluster together"
            legal = 'target="cuda-sim"'
            raise UnsupportedError("a cluster in the interpreter", because, legal, location=stmt.loc)
        self.owner = stmt
        self.line(f"here.launch({kernel}, {self.waits}, {tags!r}, [{', '.join(extents)}])")
        self.loops, self.waits = outside

    def across(self, stmt: Across) -> None:
        """In a kernel each thread waits with its part for the others; elsewhere one thread does all parts."""
        memory = [self.local(buffer) for buffer in stmt.buffers]
        for name, value in zip(memory, stmt.combiner.identity, strict=True):
            self.line(f"{name}_write({self.value(value)})")
        self.depth -= 1
        self.block(stmt.body)
        self.depth += 1
        if self.waits:
            self.owner = stmt
            place, parts = self.constant(self.fresh("across"), stmt), _tuple([f"{name}_read()" for name in memory])
            self.line(f"parts = yield {self.constant('Parts', Parts)}({place}, {parts})")
            for number, name in enumerate(memory):
                self.line(f"{name}_write(parts[{number}])")

    def shuffle(self, node: E.Call, operands: list[str]) -> str:
        """Let the thread wait for the lanes that it exchanges values with; return the name of what it is given."""
        if self.nested or not self.waits:
            return super().shuffle(node, operands)
        name, site = self.fresh("t"), self.constant(self.fresh("site"), self.owner)
        self.line(f"{name} = yield {self.constant('Shuffle', Shuffle)}({site}, {node.name!r}, {', '.join(operands)})")
        return name

    def alloc(self, stmt: Alloc) -> None:
        buffer = stmt.buffer
        shape = _tuple([self.value(extent) for extent in buffer.shape])
        strides = None if buffer.strides is None else _tuple([self.value(stride) for stride in buffer.strides])
        name = self.names[buffer] = self.fresh("m")
        spec = self.constant(self.fresh("buffer"), buffer)
        self.line(f"{name}_read, {name}_write = here.alloc({spec}, {shape}, {strides}, {self.flat})")

    def let(self, stmt: Let) -> None:
        name = self.fresh("v")
        if stmt.value.dtype.lanes == 1:
            self.line(f"{name} = {self.value(stmt.value)}")
        else:
            self.line(f"{name} = []")
            with self.each_lane(stmt.value.dtype.lanes) as lane:
                self.line(f"{name}.append({self.value(stmt.value, lane)})")
        self.names[stmt.var] = name

    def store(self, stmt: Store) -> None:
        write, memo = f"{self.local(stmt.buffer)}_write", Memo()
        if stmt.lanes == 1:
            with self.where(stmt.mask, "0", memo):
                self.line(f"{write}({', '.join(self.stored(stmt, '0', memo))})")
            return
        parts = self.fresh("parts")
        self.line(f"{parts} = []")  # all lanes are read before any is written
        with self.each_lane(stmt.lanes) as lane, self.where(stmt.mask, lane, memo):
            self.line(f"{parts}.append({_tuple(self.stored(stmt, lane, memo))})")
        self.line(f"for part in {parts}: {write}(*part)")

    def stored(self, stmt: Store, lane: str, memo: Memo) -> list[str]:
        """Return the indices and the value of a store in one lane."""
        return [*self.indices(stmt.buffer, stmt.indices, lane, memo), self.value(stmt.value, lane, memo)]

    @contextlib.contextmanager
    def each_lane(self, count: int) -> Generator[str]:
        """Write a loop over lanes around what is written inside; give the name of the lane."""
        lane = self.fresh("lane")
        self.line(f"for {lane} in range({count}):")
        self.depth += 1
        yield lane
        self.depth -= 1

    @contextlib.contextmanager
    def where(self, mask: Expr, lane: str, memo: Memo) -> Generator[None]:
        """Write an if around what is written inside, unless the mask is the constant True."""
        masked = not (isinstance(mask, E.Const) and mask.value)
        if masked:
            self.line(f"if {self.value(mask, lane, memo)}:")
        self.depth += masked
        yield
        self.depth -= masked

    def branch_stmt(self, stmt: If) -> None:
        self.line(f"if {self.value(stmt.condition)}:")
        self.block(stmt.then)
        if stmt.otherwise is not None:
            self.line("else:")
            self.block(stmt.otherwise)

    def matrices(self, stmt: Evaluate, call: E.Call) -> None:
        """In a kernel the threads of a warp meet, and one does it; elsewhere the one thread there is."""
        args = matrix_operands(self, call)
        function = self.constant(self.fresh("matrices"), matrix_function(call))
        if self.waits:
            site = self.constant(self.fresh("site"), stmt)
            self.line(f"yield here.together({', '.join([site, function, *args])})")
        else:
            self.line(f"{function}({', '.join(args)})")

    def evaluate(self, stmt: Evaluate) -> None:
        if isinstance(stmt.value, E.Call) and is_matrix_call(stmt.value):
            self.matrices(stmt, stmt.value)
        elif not is_barrier(stmt):
            self.line(self.value(stmt.value))
        elif self.waits:
            self.line(f"yield {self.constant(self.fresh('barrier'), stmt)}")


def _tuple(parts: list[str]) -> str:
    return f"({''.join(f'{part}, ' for part in parts)})"


_WRITE: dict[type[Stmt], Callable[[ProgramSource, Any], None]] = {
    For: ProgramSource.loop,
    Launch: ProgramSource.launch,
    Across: ProgramSource.across,
    Alloc: ProgramSource.alloc,
    Let: ProgramSource.let,
    Store: ProgramSource.store,
    If: ProgramSource.branch_stmt,
    Evaluate: ProgramSource.evaluate,
}
