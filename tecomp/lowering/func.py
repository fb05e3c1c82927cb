"""The whole function: every stage's nest in its place, memory for temporaries around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..arith import can_prove
from ..bounds.index import is_exact
from ..bounds.infer import infer
from ..bounds.program import Program
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.func import Func, Level
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, LoopKind, Seq, Stmt, Store, in_order
from ..schedule.schedule import Schedule
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor
from .arguments import check_arguments
from .body import Body
from .nest import Nest
from .storage import Storage


def lower_schedule(schedule: Schedule, args: Sequence[Tensor | E.Var], name: str) -> Func:
    """Return the loop program of `schedule` with these arguments, in their order.

    Every placeholder that is read and every output must be among `args`; an intermediate result may be, and is then
    written whole. A scalar variable is an argument of its own type; sizes that only shapes name need not be.
    """
    check_arguments(schedule, args)
    program = Program(schedule, [arg for arg in args if isinstance(arg, Tensor)])
    params = tuple(_parameter(arg, program) for arg in args)
    buffers = {arg: param for arg, param in zip(args, params, strict=True) if isinstance(arg, Tensor)}
    assert all(isinstance(buffer, Buffer) for buffer in buffers.values())
    assembly = _Assembly(program, buffers)  # pyright: ignore[reportArgumentType]
    outputs = tuple(
        param
        for arg, param in zip(args, params, strict=True)
        if isinstance(arg, Tensor) and isinstance(param, Buffer) and not isinstance(arg.op, PlaceholderOp)
    )
    body, scalars = assembly.root(), [arg for arg in args if isinstance(arg, E.Var)]
    requires = (*_required_steps(program), *_required_fits(program, scalars))
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


def _parameter(arg: Tensor | E.Var, program: Program) -> Buffer | E.Var:
    if isinstance(arg, Tensor):
        shape = tuple(program.indexer.extent(extent) for extent in arg.shape)
        return Buffer(arg.name, shape, arg.dtype, loc=arg.op.loc)
    return program.indexer.size(arg) if is_exact(arg.dtype) else arg


class _Assembly:
    def __init__(self, program: Program, arguments: dict[Tensor, Buffer]) -> None:
        self.program = program
        self.bounds = infer(program)
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
        for buffer in reversed(dict.fromkeys(buffer for op in ops for buffer in self._temporaries(op))):
            stmt = Alloc(buffer, stmt, loc=buffer.loc)
        return stmt

    def _temporaries(self, op: Operation) -> list[Buffer]:
        outputs = map(op.output, range(op.num_outputs))
        return [self.storage.buffer(output) for output in outputs if self.storage.is_temporary(output)]

    def _nests(self, op: Operation) -> list[Stmt]:
        stage = self.bounds[op]

        def producers(leaf: IterVar, rest: Stmt) -> Stmt:
            return self._with_stages(self.inside.get((op, leaf), []), rest)

        nest = Nest(stage, producers, self.storage)
        if isinstance(op, ComputeOp):
            body = Body(self.program, self.storage, stage)
            if stage.start is None:
                return [nest.compute(body)]
            return [nest.reduce(body, stage.start, Body(self.program, self.storage, stage.start))]
        assert isinstance(op, ScanOp)
        copies = [
            self._initial_rows(op, number) for number, init in enumerate(op.init) if not self.program.owns_init(init)
        ]
        return [*copies, nest.around(Seq(()))]

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
