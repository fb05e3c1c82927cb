"""The whole function: every stage's nest in its place, memory for temporaries around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..arith import can_prove
from ..bounds.infer import infer
from ..bounds.program import Program
from ..bounds.run_over import StageBounds
from ..bounds.shared_out import shared_out
from ..dtype import INDEX
from ..errors import UserError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.func import Func, Level
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, LoopKind, Seq, Stmt, Store, in_order
from ..location import Location
from ..schedule.extent import show
from ..schedule.opaque import has_own_loops
from ..schedule.schedule import Schedule
from ..te.hybrid import HybridOp
from ..te.index import is_exact
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor, domain
from .arguments import check_arguments
from .atomic_nest import AtomicNest
from .binds import NO_BINDS, Binds, as_tensors, declared
from .body import Body
from .fragments import check_fragments
from .hybrid import hybrid_nest, required
from .layout import check_own_memory, copies_of
from .living import in_threads, one_kernel
from .nest import Nest, Producers
from .opaque import opaque
from .prefetch import prefetches
from .shared_nest import SharedNest, check_not_shared_out
from .storage import Storage
from .tensor_nest import TensorNest


def lower_schedule(schedule: Schedule, args: Sequence[Any], name: str, binds: Binds = NO_BINDS) -> Func:
    """Return the loop program of `schedule` with these arguments, in their order.

    Every placeholder that is read and every output must be among `args`; an intermediate result may be, and is then
    written whole. A scalar variable is an argument of its own type; sizes that only shapes name need not be. A tensor
    in `binds`, or in its place the buffer it is bound to, is an argument as that buffer says.
    """
    args = as_tensors(args, binds)
    check_arguments(schedule, args)
    program = Program(schedule, [arg for arg in args if isinstance(arg, Tensor)])
    params = tuple(_parameter(arg, program, binds) for arg in args)
    buffers = {arg: param for arg, param in zip(args, params, strict=True) if isinstance(arg, Tensor)}
    assert all(isinstance(buffer, Buffer) for buffer in buffers.values())
    assembly = _Assembly(program, buffers)  # pyright: ignore[reportArgumentType]
    outputs = tuple(
        param
        for arg, param in zip(args, params, strict=True)
        if isinstance(arg, Tensor) and isinstance(param, Buffer) and not isinstance(arg.op, PlaceholderOp)
    )
    body, scalars = assembly.root(), [arg for arg in args if isinstance(arg, E.Var)]
    check_fragments(program, body)
    whole = (need for stage in assembly.bounds.values() for need in stage.requires)
    requires = (*_required_steps(program), *_required_fits(program, scalars), *required(program), *dict.fromkeys(whole))
    return Func(name, params, outputs, body, Level.LOOPS, requires)


def _required_steps(program: Program) -> Iterator[tuple[Expr, str]]:
    """Yield that each scan has as many steps as its initial value gives: those rows are always written."""
    for scan in program.scans:
        depth, steps = program.depth(scan), program.shape(scan)[0]
        enough = make.le(depth, steps)
        if not can_prove(enough):
            yield enough, f"the scan '{scan.name}' needs the steps of its init, {depth!r}"


def _required_fits(program: Program, scalars: Sequence[E.Var]) -> Iterator[tuple[Expr, str]]:
    """Yield that a scalar argument fits in its declared type, where a value of that type is made of it."""
    for arg in scalars:
        size = program.indexer.sizes.get(arg)
        if size is not None and size in program.indexer.wrapped and arg.dtype.bits < 64:
            least, greatest = arg.dtype.limits()
            for fits in (make.le(make.index(least), size), make.le(size, make.index(greatest))):
                if not can_prove(fits):
                    yield fits, f"'{arg.name}' is an {arg.dtype}, and used as one"


def _parameter(arg: Tensor | E.Var, program: Program, binds: Binds) -> Buffer | E.Var:
    if isinstance(arg, Tensor):
        shape = tuple(program.indexer.extent(extent) for extent in arg.shape)
        layout = program.schedule.states[arg.op].layout if arg.op in program.schedule.states else None
        shape = shape if layout is None else layout.shape(shape)
        if arg in binds and layout is not None:
            because = "transform_layout said where its elements lie, so its array has other dimensions"
            raise UserError(f"binds: '{arg.name}' to buffer '{binds[arg].name}'", because, "one of both")
        if arg in binds:
            return declared(arg, binds[arg], shape, program.indexer)
        return Buffer(arg.name, shape, arg.dtype, loc=arg.op.loc)
    return program.indexer.size(arg) if is_exact(arg.dtype) else arg


class _Assembly:
    def __init__(self, program: Program, arguments: dict[Tensor, Buffer]) -> None:
        self.program = program
        self.bounds = infer(program)
        check_own_memory(program)
        self.storage = Storage(program, self.bounds, arguments)
        self.inside: dict[tuple[Operation, IterVar] | None, list[Operation]] = {}
        for op in program.ops:
            self.inside.setdefault(program.placement.point(op), []).append(op)

    def root(self) -> Stmt:
        """Return the body of the function."""
        steps = self.inside.get(None, [])
        self.storage.share(steps)
        return self._with_stages(steps, Seq(()))

    def _with_stages(self, ops: list[Operation], rest: Stmt) -> Stmt:
        """Return the nests of `ops`, one after the other, then `rest`, with memory for their results around all."""
        nests = [nest for op in ops for nest in self._nests(op)]
        if not nests:
            return rest
        steps = (*nests, *in_order(rest))
        stmt = steps[0] if len(steps) == 1 else Seq(steps)
        copies = {buffer: self._copies(op) for op in ops for buffer in self._fresh(op)}
        for buffer, count in reversed(copies.items()):
            stmt = Alloc(buffer, stmt, *count)
        return stmt

    def _copies(self, op: Operation) -> tuple[int, Location | None]:
        """Return in how many copies the results of `op` are held, and the user's line that says so."""
        count = copies_of(self.program, self.bounds, op)
        return count, self.program.schedule.location_of(op, "double_buffer") if count > 1 else op.loc

    def _fresh(self, op: Operation) -> list[Buffer]:
        """Return the memory that each iteration of the loop at which `op` is computed has anew."""
        if self.bounds[op].rolling is not None:
            return []
        outputs = map(op.output, range(op.num_outputs))
        return [self.storage.buffer(output) for output in outputs if self.storage.is_temporary(output)]

    def _nests(self, op: Operation) -> list[Stmt]:
        stage = self.bounds[op]

        def producers(leaf: IterVar, rest: Stmt) -> Stmt:
            ahead = prefetches(stage, leaf, self.storage)
            rest = Seq((*ahead, *in_order(rest))) if ahead else rest
            return self._with_stages(self.inside.get((op, leaf), []), rest)

        if has_own_loops(op):
            return [self._nest(stage, producers).around(opaque(op, self.storage))]
        nest = self._nest(stage, producers)
        if isinstance(op, ComputeOp):
            body = Body(self.program, self.storage, stage)
            if stage.start is None:
                return [in_threads(stage, nest.compute(body))]
            return [in_threads(stage, nest.reduce(body, stage.start, Body(self.program, self.storage, stage.start)))]
        if isinstance(op, HybridOp):
            return [hybrid_nest(op, nest, self.storage)]
        assert isinstance(op, ScanOp)
        copies = [
            self._initial_rows(op, number) for number, init in enumerate(op.init) if not self.program.owns_init(init)
        ]
        return [*copies, self._living(op, nest.around(Seq(())))]

    def _nest(self, stage: StageBounds, producers: Producers) -> Nest:
        """Return what builds the nest of a stage, by what takes part in it."""
        if stage.state.tensorized is not None:
            check_not_shared_out(stage, self.program)
            return TensorNest(self.program, stage, producers, self.storage)
        if any(mark.atomic for mark in stage.state.loops.values()):
            return AtomicNest(stage, producers, self.storage)
        return (SharedNest if shared_out(stage.state) else Nest)(stage, producers, self.storage)

    def _living(self, scan: ScanOp, steps: Stmt) -> Stmt:
        """Return a scan's steps behind what its threads compute before all of them."""
        env = self.bounds[scan].state.env
        for axis in reversed(env):
            steps = self._with_stages(self.inside.get((scan, axis), []), steps)
        return one_kernel(steps, [f"{axis.thread_tag}={show(domain(axis).extent)}" for axis in env]) if env else steps

    def _initial_rows(self, scan: ScanOp, number: int) -> Stmt:
        """Return the copy of initial values that live in a tensor of their own into the scan's first rows."""
        init, output = scan.init[number], scan.output(number)
        zero = make.const(0, INDEX)
        extents = [self.program.indexer.extent(extent) for extent in init.shape]
        at = [E.Var(f"i{dim}", INDEX, zero, extent) for dim, extent in enumerate(extents)]
        value = make.load(self.storage.buffer(init), self.storage.indices(init, at))
        stmt: Stmt = Store(
            self.storage.buffer(output), self.storage.indices(output, at), value, make.TRUE, loc=scan.loc
        )
        for var in reversed(at):
            stmt = For(var, LoopKind.SERIAL, stmt, loc=scan.loc)
        return stmt
