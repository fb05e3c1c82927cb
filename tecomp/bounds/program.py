"""A schedule read as a program: which stages have loops, who reads whom, which results share memory."""

from __future__ import annotations

from collections.abc import Iterable

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.visit import walk
from ..schedule.schedule import Schedule
from ..te.extern_op import ExternOp
from ..te.index import Indexer
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor, domain
from .attach import Placement
from .inline import inlined_bodies

Read = tuple[Operation, tuple[Expr, ...]]


class Program:
    """What bound inference and lowering share about one schedule and its arguments."""

    def __init__(self, schedule: Schedule, tensors: Iterable[Tensor]) -> None:
        self.schedule = schedule
        self.indexer = Indexer()
        for extent in (extent for stage in schedule.stages for tensor in stage.op.outputs for extent in tensor.shape):
            self.indexer.extent(extent)
        self.arguments = set(tensors)
        self.bodies, self.inlined = inlined_bodies(schedule)
        looped = [
            stage
            for stage in schedule.stages
            if stage.origin in self.bodies or isinstance(stage.op, (ScanOp, ExternOp))
        ]
        self.ops: list[Operation] = [stage.origin for stage in looped]
        reduced = [axis for stage in looped if isinstance(stage.op, ComputeOp) for axis in stage.op.reduce_axis]
        ends = [self.inlined(end) for axis in reduced for end in domain(axis)]
        opaque = [self.whole(tensor) for op in self.ops if isinstance(op, ExternOp) for tensor in op.inputs]
        parts = [*ends, *opaque, *(part for body in self.bodies.values() for part in body)]
        self._read = {node.tensor for part in parts for node in walk(part) if isinstance(node, E.TensorRead)}
        self.scans = [op for op in self.ops if isinstance(op, ScanOp)]
        self.placement = Placement(schedule)
        self.alias = self._aliases()
        self._shapes: dict[Operation, tuple[Expr, ...]] = {}
        self._reads: dict[Operation, list[Read]] = {}

    def _aliases(self) -> dict[Tensor, Tensor]:
        """Map a scan's states, updates and the initial values it owns to its outputs: they are one memory."""
        alias: dict[Tensor, Tensor] = {}
        for scan in self.scans:
            for number, (init, update, state) in enumerate(
                zip(scan.init, scan.update, scan.state_placeholder, strict=True)
            ):
                output = scan.output(number)
                alias[state] = alias[update] = output
                if self.owns_init(init):
                    alias[init] = output
        return alias

    def owns_init(self, init: Tensor) -> bool:
        """Return whether `init` is computed for its scan alone, so that it can be written into its first rows."""
        if isinstance(init.op, PlaceholderOp) or init in self.arguments or init.op not in self.bodies:
            return False
        return init.op.num_outputs == 1 and init not in self._read

    def shape(self, op: Operation) -> tuple[Expr, ...]:
        """Return the extents of the results of `op` as index expressions."""
        if op not in self._shapes:
            self._shapes[op] = tuple(self.indexer.extent(extent) for extent in op.output(0).shape)
        return self._shapes[op]

    def is_inlined(self, tensor: Tensor) -> bool:
        """Return whether the formula of `tensor` stands in place of each read of it."""
        return isinstance(tensor.op, ComputeOp) and tensor.op not in self.bodies

    def whole(self, tensor: Tensor) -> Expr:
        """Return the read of all elements of a tensor, as one at variables of those ranges; its formula if inlined."""
        zero = make.const(0, INDEX)
        at = (E.Var("any", INDEX, zero, self.indexer.extent(extent)) for extent in tensor.shape)
        return self.indexer.data(self.inlined(E.TensorRead(tensor, tuple(at))), {})

    def is_init(self, op: Operation) -> bool:
        """Return whether `op` writes the first rows of a scan's result."""
        return self.placement.states[op].is_init and self.writes_scan(op)

    def writes_scan(self, op: Operation) -> bool:
        """Return whether a result of `op` lies in the memory of a scan's result."""
        return any(output in self.alias for output in _outputs(op))

    def is_argument(self, op: Operation) -> bool:
        """Return whether a result of `op` is an argument of the function."""
        return any(output in self.arguments for output in _outputs(op))

    def depth(self, scan: ScanOp) -> Expr:
        """Return how many steps the initial value gives."""
        return self.indexer.extent(scan.init[0].shape[0])

    def record_reads(self, op: Operation, parts: Iterable[Expr]) -> None:
        """Note what `op` reads, by the stage that computes it."""
        seen: set[Expr] = set()
        for part in parts:
            for node in walk(part):
                if isinstance(node, E.TensorRead) and node not in seen:
                    seen.add(node)
                    self._reads.setdefault(node.tensor.op, []).append((op, node.indices))

    def readers_of(self, op: Operation) -> list[Read]:
        """Return who reads any result of `op`, and at which index expressions."""
        return self._reads.get(op, [])


def data_axes(op: Operation) -> tuple[IterVar, ...]:
    """Return the axes that name an element of a result."""
    return op.axis if isinstance(op, ComputeOp) else ()


def _outputs(op: Operation) -> list[Tensor]:
    return [op.output(number) for number in range(op.num_outputs)]
