"""Bound inference: over which ranges each stage runs, from the outputs backwards.

A reader's index expressions, written in its loop variables, are bounded while the loops inside the attach point run
over their ranges and those outside stand still. The union over all reads of all outputs is what the stage computes:

    C(i) = B[i] + B[i + 1], i split by 4, B at C's i.outer    ->    B computes [i.outer * 4, i.outer * 4 + 5)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..arith import bounds_of, can_prove, constant_upper, defined, simplify
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar, Range
from ..ir.node import Expr
from ..ir.visit import walk
from ..schedule.mark import CONSTANT_EXTENT, check_extent
from ..te.extern_op import ExternOp
from ..te.tensor import ComputeOp, Operation, ScanOp
from ..te.tensor_compute import TensorComputeOp
from . import predicate
from .attach import Place
from .cover import check_covered
from .nested import check_nested
from .padding import beyond, filled
from .program import Program, data_axes
from .rolling import rolling_of
from .run_over import ONE, ZERO, Bounds, StageBounds, rounded, run_over
from .scope import default_scope, relaxes
from .start import outside_reduction, start_of
from .whole import required
from .window import Rolling


def infer(program: Program) -> Bounds:
    """Return the ranges of every stage of `program` that has loops, consumers first."""
    check_nested(program)
    bounds: Bounds = {}
    for op in reversed(program.ops):
        bounds[op] = stage = _Inference(program, bounds, op).run()
        program.record_reads(op, stage.evaluated())
    check_covered(program, bounds)
    return bounds


class _Inference:
    def __init__(self, program: Program, bounds: Bounds, op: Operation) -> None:
        self.program, self.bounds, self.op = program, bounds, op
        self.state = program.placement.states[op]
        self.path = program.placement.path(op)

    def run(self) -> StageBounds:
        tags = [tag for place in self.path if (tag := self._thread(place))]
        scope = self.state.scope or default_scope(tags)
        stage = StageBounds(self.op, self.state, scope, self._padded(self._region(scope)))
        stage.living, stage.private = self._living(), self._private(scope)
        run_over(stage, self.program)
        self._check_extents(stage)
        stage.requires += required(stage, self.program)
        stage.rolling = rolling_of(stage, self.program, self.bounds) if self.state.rolling else None
        self._say(stage, stage.rolling)
        if stage.reduce_axis:
            stage.start = start_of(stage)
            self._say(stage.start, stage.rolling, is_start=True)
        return stage

    def _say(self, stage: StageBounds, rolling: Rolling | None, is_start: bool = False) -> None:
        """Write what the stage asks and computes over its loop variables."""
        stage.guards += self._existence(stage)
        if rolling is not None:
            stage.guards += rolling.fresh([stage.values[axis] for axis in data_axes(self.op)], stage.region)
        stage.body = self._body(stage, is_start)
        predicate.ask(stage, self.path, self.bounds, self.program)

    def _check_extents(self, stage: StageBounds) -> None:
        """Raise ScheduleError for a loop that cannot be vectorized or unrolled, now that every extent is known."""
        schedule = self.program.schedule
        for axis, mark in self.state.loops.items():
            verb = CONSTANT_EXTENT.get(mark.kind)
            if verb is not None:
                location = schedule.location_of(self.op, verb, axis)
                check_extent(schedule[self.op], axis, mark.kind, stage.domains[axis].extent, location)

    def _living(self) -> dict[str, E.Var]:
        """Return the threads over the steps of the scan that this stage belongs to, less those of loops around it."""
        scan = self.state.group or self.state.feeds
        if scan is None and self.path and isinstance(self.path[0].op, ScanOp):
            scan = self.path[0].op
        if scan is None or scan is self.op:
            return {}
        around = {tag for place in self.path if (tag := self._thread(place)) and place.op is not scan}
        found = {axis.thread_tag: self.bounds[scan].loops[axis] for axis in self.program.placement.states[scan].env}
        return {tag: var for tag, var in found.items() if tag not in around and var is not None}

    def _private(self, scope: str) -> tuple[E.Var, ...]:
        """Return those threads of which each computes this stage for itself, before all steps."""
        point = self.program.placement.point(self.op)
        if point is None or point.axis not in self.program.placement.states[point.op].env:
            return ()
        own = tuple(self._kept_loops(scope))
        for reader, _ in self.program.readers_of(self.op):
            loops = [*self.bounds[reader].loops.values()]
            loops += [self.bounds[place.op].loops[place.axis] for place in self.program.placement.path(reader)]
            stranger = next((var for var in own if var not in loops), None)
            if stranger is not None:
                raise self._another_thread(reader, point, stranger)
        return own

    def _another_thread(self, reader: Operation, point: Place, var: E.Var) -> ScheduleError:
        return ScheduleError(
            f"compute_at: '{self.op.name}' cannot be placed at thread '{point.axis.name}' of '{point.op.name}'",
            because=f"each thread has a result of its own, and '{reader.name}' binds no loop to {var.name}",
            legal=f"bind a loop of '{reader.name}' to {var.name}, or place '{self.op.name}' at a thread outside of it",
            location=self.program.schedule.location_of(self.op, "compute_at"),
        )

    def _thread(self, place: Place) -> str:
        mark = self.program.placement.states[place.op].loops.get(place.axis)
        return mark.thread.thread_tag if mark is not None and mark.thread is not None else ""

    def _region(self, scope: str) -> tuple[Range, ...]:
        shape = self.program.shape(self.op)
        whole = tuple(Range(ZERO, extent) for extent in shape)
        if self.state.is_update and self.state.group is not None:
            scan = self.state.group
            return (Range(self.bounds[scan].values[scan.scan_axis], ONE), *whole[1:])
        readers = self.program.readers_of(self.op)
        scan = [self.state.feeds] if self.state.feeds is not None else []
        self.program.placement.check(self.op, [*scan, *(reader for reader, _ in readers)])
        self._check_before()
        if not readers or self._is_whole():
            return whole
        kept = set(self._kept_loops(scope))
        if isinstance(self.op, ScanOp):
            steps = self._dimension([indices[0] for _, indices in readers], shape[0], kept)
            return (self._prefix(steps, shape[0]), *whole[1:])
        by_intrinsic = self.op.within if isinstance(self.op, TensorComputeOp) else ()
        return tuple(
            whole[number]
            if axis in by_intrinsic
            else self._dimension([indices[number] for _, indices in readers], window.extent, kept)
            for number, (axis, window) in enumerate(zip(data_axes(self.op), self._padded(whole), strict=True))
        )

    def _padded(self, region: tuple[Range, ...]) -> tuple[Range, ...]:
        """Return a region as far as the stage runs along padded axes."""
        axes = data_axes(self.op) if self.state.padding else ()
        lengths = [rounded(part.extent, self.state, axis) for part, axis in zip(region, axes, strict=False)]
        return tuple(Range(part.min, length) for part, length in zip(region, lengths, strict=True)) if axes else region

    def _is_whole(self) -> bool:
        """Return whether all of the result is computed, whoever reads what of it."""
        kept = self.program.is_argument(self.op) and not self.path
        return kept or isinstance(self.op, ExternOp) or self.program.is_init(self.op)

    def _check_before(self) -> None:
        """Raise ScheduleError where this stage is in a loop of its reader that begins after the reader needs it.

        A reduction's start is before the loops that reduce; how long a loop is, is asked before it.
        """
        point = self.program.placement.point(self.op)
        if point is None:
            return
        reader = self.bounds[point.op]
        loops = reader.state.leaves[: reader.state.leaves.index(point.axis) + 1]
        longest = next((axis for axis in loops if self._reads(_extents(reader, axis))), None)
        because = "" if longest is None else f"how long '{longest.name}' is depends on it"
        start = reader.start
        if start is not None and point.axis not in loops[: outside_reduction(reader)] and self._reads(start.body):
            because = f"the start values of the reduction '{point.op.name}' read it before that loop"
        if because:
            raise ScheduleError(
                f"compute_at: '{self.op.name}' cannot be placed at loop '{point.axis.name}' of '{point.op.name}'",
                because=because,
                legal="a loop outside those that reduce, or root",
                location=self.program.schedule.location_of(self.op, "compute_at"),
            )

    def _reads(self, parts: Iterable[Expr]) -> bool:
        """Return whether any of the expressions reads this stage."""
        nodes = (node for part in parts for node in walk(part))
        return any(isinstance(node, E.TensorRead) and node.tensor.op is self.op for node in nodes)

    def _prefix(self, steps: Range, extent: Expr) -> Range:
        """Return the time from 0 to the last step that is read, the initial ones at least, and no step beyond its end.

        Nothing guards a step: the last that might be read, k < min(8, n) in k < 8, may be none.
        """
        assert isinstance(self.op, ScanOp)
        end = simplify(make.add(steps.min, steps.extent))
        enough = can_prove(make.le(self.program.depth(self.op), end))
        return Range(ZERO, simplify(make.minimum(end, extent)) if enough else extent)

    def _kept_loops(self, scope: str) -> Iterator[E.Var]:
        """Yield the variables of the loops around this stage that stand still while it runs."""
        for place in self.path:
            var = self.bounds[place.op].loops[place.axis]
            if var is not None and not relaxes(scope, self._thread(place)):
                yield var

    def _dimension(self, reads: list[Expr], extent: Expr, kept: set[E.Var]) -> Range:
        low: Expr | None = None
        high: Expr | None = None
        for read in dict.fromkeys(reads):
            first, last = bounds_of(read, _running(read, kept))
            if first is None or last is None or _depends_on_data(first) or _depends_on_data(last):
                return Range(ZERO, extent)
            low = first if low is None else make.minimum(low, first)
            high = last if high is None else make.maximum(high, last)
        assert low is not None and high is not None
        return self._clipped(defined(simplify(low)), defined(simplify(high)), extent)

    def _clipped(self, low: Expr, high: Expr, extent: Expr) -> Range:
        """Return [low, high] as far as it lies in [0, extent): cut where that is provable, guarded where it is not."""
        inside = can_prove(make.le(ZERO, low)), can_prove(make.lt(high, extent))
        if not inside[0] and can_prove(make.le(low, ZERO)):
            low, inside = ZERO, (True, inside[1])
        if not inside[1] and can_prove(make.le(extent, make.add(high, ONE))):
            high, inside = make.sub(extent, ONE), (inside[0], True)
        if not self.path and not all(inside):
            return Range(ZERO, extent)
        length = simplify(make.add(make.sub(high, low), ONE))
        if not isinstance(length, E.Const):
            upper = constant_upper(length)
            length = length if upper is None else make.const(max(upper, 0), INDEX)
        return Range(ZERO, extent) if can_prove(make.le(extent, length)) else Range(low, length)

    def _existence(self, stage: StageBounds) -> Iterator[Expr]:
        """Yield what must hold for the element to lie in the declared shape, where the region may reach beyond it."""
        for axis, extent, domain in zip(data_axes(self.op), self._shape(), stage.region, strict=False):
            value = stage.values[axis]
            if not can_prove(make.le(ZERO, domain.min)):
                yield simplify(make.le(ZERO, value))
            if axis not in self.state.padding and not can_prove(make.le(make.add(domain.min, domain.extent), extent)):
                yield simplify(make.lt(value, extent))

    def _shape(self) -> tuple[Expr, ...]:
        """Return the extents that exist: those declared, of an update as many steps as its scan computes."""
        shape = self.program.shape(self.op)
        scan = self.state.group if self.state.is_update else None
        return shape if scan is None else (self.bounds[scan].region[0].extent, *shape[1:])

    def _body(self, stage: StageBounds, is_start: bool) -> tuple[Expr, ...]:
        """Return the body over the loop variables: of a reduction its sources and condition, of a start its values."""
        if isinstance(self.op, ExternOp):
            return tuple(map(self.program.whole, self.op.input_tensors))
        if not isinstance(self.op, ComputeOp):
            return ()
        parts: Sequence[Expr] = self.program.bodies[self.op]
        first = parts[0]
        if isinstance(first, E.Reduce):
            parts = first.init if is_start else (*first.source, first.condition)
        axes = {axis.var: value for axis, value in stage.values.items()}
        found = tuple(self.program.indexer.data(part, axes) for part in parts)
        outside = list(beyond(stage, self.program)) if self.state.padding else []
        if not outside:
            return found
        if isinstance(first, E.Reduce) and not is_start:
            return (*found[:-1], make.logical_and(*outside, found[-1]))
        return filled(found, outside)


def _extents(stage: StageBounds, axis: IterVar) -> Iterator[Expr]:
    """Yield the extent of a loop, where there is one."""
    var = stage.loops[axis]
    if var is not None and var.extent is not None:
        yield var.extent


def _running(read: Expr, kept: set[E.Var]) -> dict[E.Var, Range]:
    """Return the ranges of the loop variables of `read` that run, and of those that their ranges name."""
    found: dict[E.Var, Range] = {}
    waiting = [read]
    while waiting:
        for node in walk(waiting.pop()):
            if isinstance(node, E.Var) and node.extent is not None and node not in kept and node not in found:
                assert node.min is not None
                found[node] = Range(node.min, node.extent)
                waiting += [node.min, node.extent]
    return found


def _depends_on_data(expr: Expr) -> bool:
    return any(isinstance(node, E.TensorRead) for node in walk(expr))
