"""One kernel as steps that a gang takes: every statement of the program that the CUDA printer prints, compiled once.

A step is a function of the gang and its mask. One that may wait (a barrier, an mbarrier, and whatever holds one) is a
generator, which yields what it waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from ..codegen.cuda_kernel import Kernel
from ..codegen.cuda_limits import cluster_size
from ..codegen.cuda_memory import elements
from ..codegen.cuda_tensor import box_alignments
from ..errors import InternalError, UnsupportedError
from ..ir import expr as E
from ..ir import make
from ..ir.atomic import is_atomic
from ..ir.foreign import addressed, foreign
from ..ir.instruction import INSTRUCTIONS
from ..ir.matrix import is_fragment, is_matrix_call
from ..ir.stmt import Alloc, Evaluate, For, If, Launch, Let, LoopKind, Stmt, Store
from ..ir.visit import suite, walk
from ..passes.flatten import row_major
from .expressions import ExprSource, Slots
from .gang import Gang
from .instructions import BETWEEN_WARPS, WAITING, meaning
from .registers import Registers
from .side_by_side import side_by_side
from .site import Sites
from .values import Mask, both
from .work import turn


class Step(NamedTuple):
    """What a statement does; `waits` says that `run` is a generator."""

    waits: bool
    run: Callable[[Gang, Mask], Any]


class Program:
    """A kernel ready to be taken by gangs."""

    def __init__(self, launch: Launch, kernel: Kernel) -> None:
        self.name, self.launch, self.arguments = kernel.name, launch, kernel.arguments
        self.slots = Slots()
        self.sites = Sites(self.slots)
        self.threads = [(tag, self.slots[var]) for tag, var in launch.threads]
        self.cluster = cluster_size(launch) or 1
        """How many neighbouring blocks wait for each other."""
        nodes = list(walk(launch.body))
        names = {node.name for node in nodes if isinstance(node, E.Call)}
        self.between_warps = bool(names & BETWEEN_WARPS)
        """Whether warps wait for each other other than all together: then each is a gang of its own."""
        self.meets, self.tells = "barrier_grid" in names, "fetch_add" in names
        """Whether blocks wait for each other, or tell each other something."""
        self.fences = any(name.startswith("fence_") for name in names)
        self.read = {node.buffer for node in nodes if isinstance(node, E.Load)} | addressed(launch.body, "r")
        self.written = {node.buffer for node in nodes if isinstance(node, Store)} | addressed(launch.body, "w")
        self.shared = [node.buffer for node in nodes if isinstance(node, Alloc) and node.buffer.is_shared]
        counted = {arg.buffer for node in nodes if _counts(node) for arg in node.args if _is_barrier(arg)}
        self.barriers = sum(elements(buffer) for buffer in counted)
        """How many barriers in memory a block has at most."""
        self.aligns = box_alignments(launch.body)
        """What shared memory begins at a multiple of, where that is more than its own alignment."""
        self.body = self.block(launch.body)

    def block(self, root: Stmt | None) -> Step:
        """Return the step of a suite."""
        steps = [] if root is None else [_COMPILE[type(stmt)](self, stmt) for stmt in _statements(root)]
        if len(steps) == 1:
            return steps[0]
        if not any(step.waits for step in steps):
            runs = [step.run for step in steps]

            def plain(g: Gang, mask: Mask) -> None:
                for run in runs:
                    run(g, mask)

            return Step(False, plain)

        def waiting(g: Gang, mask: Mask) -> Iterator[Any]:
            for step in steps:
                if step.waits:
                    yield from step.run(g, mask)
                else:
                    step.run(g, mask)

        return Step(True, waiting)

    def value(self, stmt: Stmt, *roots: E.Expr) -> Callable[[Gang, Mask], Any]:
        """Return the function that evaluates expressions of a statement."""
        return ExprSource(self.slots, self.sites, stmt).function_of(list(roots))

    def loop(self, stmt: For) -> Step:
        if stmt.kind in (LoopKind.THREAD, LoopKind.VECTORIZED):
            raise InternalError(f"a {stmt.kind.value} loop in a kernel", "a pass should have lowered it", ir=repr(stmt))
        bounds = self.value(stmt, stmt.min, make.add(stmt.min, stmt.extent))
        slot, kind, body = self.slots[stmt.var], stmt.var.dtype.numpy.type, self.block(stmt.body)
        turned = turn(stmt)

        def iterations(g: Gang, mask: Mask) -> Iterator[Mask]:
            first, end = bounds(g, mask)
            if np.ndim(first) == 0 and np.ndim(end) == 0:
                for number in range(int(first), int(end)):
                    g.run.step(stmt)
                    g.v[slot] = kind(number)
                    g.run.turned(g, turned, mask)
                    yield mask
                return
            var = np.broadcast_to(np.asarray(first), (g.size,))
            while (going := both(mask, var < end)) is not False:
                g.run.step(stmt)
                g.v[slot] = var
                g.run.turned(g, turned, going)
                yield going
                var = var + kind(1)

        def plain(g: Gang, mask: Mask) -> None:
            for going in iterations(g, mask):
                body.run(g, going)

        def waiting(g: Gang, mask: Mask) -> Iterator[Any]:
            for going in iterations(g, mask):
                yield from body.run(g, going)

        return Step(body.waits, waiting if body.waits else plain)

    def branch(self, stmt: If) -> Step:
        condition = self.value(stmt, stmt.condition)
        then, otherwise = self.block(stmt.then), self.block(stmt.otherwise)

        def sides(g: Gang, mask: Mask) -> Iterator[tuple[Step, Mask]]:
            g.run.step(stmt)
            holds = condition(g, mask)
            for step, where in ((then, holds), (otherwise, ~holds)):
                if (going := both(mask, where)) is not False:
                    yield step, going

        def plain(g: Gang, mask: Mask) -> None:
            for step, going in sides(g, mask):
                step.run(g, going)

        def waiting(g: Gang, mask: Mask) -> Iterator[Any]:
            started: list[Any] = []
            for step, going in sides(g, mask):
                if step.waits:
                    started.append(step.run(g, going))
                else:
                    step.run(g, going)
            yield from side_by_side(g, started)

        waits = then.waits or otherwise.waits
        return Step(waits, waiting if waits else plain)

    def alloc(self, stmt: Alloc) -> Step:
        buffer = stmt.buffer
        slot = self.slots[buffer]
        count = elements(buffer) if not is_fragment(buffer) or buffer.shape else 1
        if buffer.scope == "local":

            def registers(g: Gang, mask: Mask) -> None:
                g.v[slot] = Registers(buffer, count, g.size)

            return Step(False, registers)

        def in_common(g: Gang, mask: Mask) -> None:
            g.v[slot] = g.run.memory_of(buffer, count)

        return Step(False, in_common)

    def let(self, stmt: Let) -> Step:
        value, slot = self.value(stmt, stmt.value), self.slots[stmt.var]

        def run(g: Gang, mask: Mask) -> None:
            g.v[slot] = value(g, mask)

        return Step(False, run)

    def store(self, stmt: Store) -> Step:
        site = self.sites.of(stmt, stmt)
        index = stmt.indices or (make.const(0, "int32"),)
        parts = self.value(stmt, *index, stmt.value)
        if stmt.mask is make.TRUE:

            def run(g: Gang, mask: Mask) -> None:
                g.run.step(stmt)
                at, value = parts(g, mask)
                g.store(site, at, value, mask)

            return Step(False, run)
        masked = self.value(stmt, stmt.mask)

        def run_masked(g: Gang, mask: Mask) -> None:
            g.run.step(stmt)
            going = both(mask, masked(g, mask))
            if going is not False:
                at, value = parts(g, going)
                g.store(site, at, value, going)

        return Step(False, run_masked)

    def evaluate(self, stmt: Evaluate) -> Step:
        call = stmt.value
        if not isinstance(call, E.Call) or call.name == "prefetch":
            return Step(False, lambda g, mask: None)
        if not (call.name in INSTRUCTIONS or is_atomic(call) or is_matrix_call(call)):
            raise _unknown(stmt, call)
        site = self.sites.of(stmt, call)
        more = _layout(call.args) if call.name.startswith("tensor_") else ()
        args = self.value(stmt, *call.args, *more) if call.args else None
        one, run_it, waits = len(call.args) == 1, meaning(call), call.name in WAITING

        def given(g: Gang, mask: Mask) -> tuple[Any, ...]:
            g.run.step(stmt)
            if args is None:
                return ()
            return (args(g, mask),) if one else args(g, mask)

        def plain(g: Gang, mask: Mask) -> None:
            run_it(g, site, mask, *given(g, mask))

        def waiting(g: Gang, mask: Mask) -> Iterator[Any]:
            yield from run_it(g, site, mask, *given(g, mask))

        return Step(waits, waiting if waits else plain)


def _statements(root: Stmt) -> Iterator[Stmt]:
    for stmt in suite(root):
        if type(stmt) not in _COMPILE:
            raise InternalError(f"a {type(stmt).__name__} in a kernel", "no pass should leave one", ir=repr(stmt))
        yield stmt


def _counts(node: Any) -> bool:
    return isinstance(node, E.Call) and node.name in BETWEEN_WARPS


def _is_barrier(arg: E.Expr) -> bool:
    """Return whether an operand is the address of a barrier in memory."""
    return isinstance(arg, E.Address) and arg.buffer.is_shared and arg.buffer.dtype == "uint64"


def _layout(args: tuple[E.Expr, ...]) -> tuple[E.Expr, ...]:
    """Return extents and strides of the tensor among the operands of a copy."""
    tensor = next(arg.buffer for arg in args if isinstance(arg, E.Address) and arg.buffer.scope == "global")
    return (*tensor.shape, *(tensor.strides or row_major(tensor.shape)))


def _unknown(stmt: Stmt, call: E.Call) -> UnsupportedError:
    called = foreign(call.name)
    return UnsupportedError(
        f"{call.name if called is None else called.symbol} on cuda-sim",
        because="the simulator does not know what this function does",
        legal='target="cuda"',
        ir=repr(call),
        location=stmt.loc,
    )


_COMPILE: Final[dict[type[Stmt], Callable[[Program, Any], Step]]] = {
    For: Program.loop,
    If: Program.branch,
    Alloc: Program.alloc,
    Let: Program.let,
    Store: Program.store,
    Evaluate: Program.evaluate,
}
