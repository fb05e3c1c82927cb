"""What programs for TVM call `te.schedule`: the steps of lowering one by one, and questions about the graph.

bounds = te.schedule.InferBound(s.normalize())
bounds[B.op.axis[0]].extent                        # an expression over the sizes of the program
print(te.schedule.ScheduleOps(s, bounds))          # the first loop nest, a statement
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn

from .arith import simplify
from .bounds.infer import infer
from .bounds.program import Program, data_axes
from .bounds.run_over import StageBounds
from .dtype import INDEX, INT32, INT64, DType
from .errors import UserError, UserTypeError
from .ir import expr as E
from .ir import make
from .ir.axis import IterVar, Range
from .ir.func import Func
from .ir.node import Expr
from .ir.stmt import Stmt
from .ir.visit import rewrite_expr, walk
from .lowering.func import lower_schedule
from .schedule.schedule import Schedule, Stage, create_schedule
from .schedule.stage import ROOT, At
from .te.fixed_axes import fixed_axes
from .te.graph import post_order, scan_body
from .te.tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor


def InferBound(sch: Schedule) -> dict[IterVar, Range]:  # noqa: N802
    """Return over which values each axis of each stage runs, with whole placeholders and outputs as arguments.

    An axis of the data has the part of the tensor that is computed; it may depend on the axes of the stage in whose
    loops that happens. Ranges are written over the axes and sizes that the program was declared with.
    """
    program = Program(_schedule(sch, "InferBound"), _arguments(sch))
    declared: dict[Expr, Expr] = {lowered: size for size, lowered in program.indexer.sizes.items()}
    found: dict[IterVar, Range] = {}
    for stage in infer(program).values():
        for axis, domain in _ranges(stage, program).items():
            kind = axis.dtype if axis.dtype in (INT32, INT64) else INT32
            low, extent = (_as_declared(part, declared, kind) for part in domain)
            found[axis] = Range(low, extent)
            var = stage.loops.get(axis)
            if var is not None:  # a loop counts from 0
                declared[var] = make.sub(axis.var, low)
    return found


def _ranges(stage: StageBounds, program: Program) -> dict[IterVar, Range]:
    ranges = stage.domains | dict(zip(data_axes(stage.op), stage.region, strict=False))
    if isinstance(stage.op, ScanOp):
        time = stage.op.scan_axis
        ranges[time] = Range(program.depth(stage.op), ranges[time].extent)
    for axis, mark in stage.state.loops.items():
        if mark.thread is not None:
            ranges[mark.thread] = stage.domains[axis]
    return ranges


def _as_declared(expr: Expr, declared: dict[Expr, Expr], kind: DType) -> Expr:
    """Return index arithmetic in the integers of the declaration: int64 where a size is, else those of the axis."""
    known = [declared[node] for node in walk(expr) if node in declared]
    kind = INT64 if any(value.dtype is INT64 for value in known) else kind
    return simplify(
        rewrite_expr(
            expr,
            {
                E.Var: lambda var: make.cast(kind, declared.get(var, var)),
                E.Const: lambda const: E.Const(const.value, kind) if const.dtype is INDEX else const,
                E.Cast: lambda cast: make.cast(kind, cast.value) if cast.dtype is INDEX else cast,
            },
        )
    )


def ScheduleOps(sch: Schedule, bounds: Any = None, debug_keep_trivial_loop: bool = False) -> Stmt:  # noqa: N802
    """Return the first loop nest of a schedule: the body of the program before any pass. The bounds are inferred."""
    if debug_keep_trivial_loop:
        raise UserError(
            "ScheduleOps with debug_keep_trivial_loop=True", "a loop of one iteration is its value here", "no such flag"
        )
    return lower_schedule(_schedule(sch, "ScheduleOps"), _arguments(sch), "main").body


def create_prim_func(ops: Sequence[Tensor], index_dtype_override: str | None = None) -> Func:
    """Return the program that computes tensors in plain loops; `ops` are its arguments in order, inputs included."""
    if index_dtype_override is not None:
        because = "loop variables are exact integers, for which each target chooses a width"
        raise UserError("te.create_prim_func with index_dtype_override", because, "no index_dtype_override")
    tensors: list[Any] = list(ops) if isinstance(ops, (list, tuple)) else [ops]
    if not tensors or not all(isinstance(tensor, Tensor) for tensor in tensors):
        because = f"it is of type {type(ops).__name__}" if not isinstance(ops, (list, tuple)) else "it takes tensors"
        raise UserTypeError(f"te.create_prim_func of {ops!r}", because, "[A, B, C], the inputs and what they give")
    read = {source.op for op in post_order(tensors) for source in op.input_tensors}
    ends = [tensor.op for tensor in tensors if not isinstance(tensor.op, PlaceholderOp)]
    outputs = [op for op in ends if op not in read] or ends
    return lower_schedule(create_schedule(list(dict.fromkeys(outputs))), tensors, "main")


def CreateReadGraph(ops: Iterable[Operation]) -> dict[Operation, tuple[Tensor, ...]]:  # noqa: N802
    """Return the tensors that each operation reads, for `ops` and all they need."""
    return {op: op.input_tensors for op in post_order(_operations(ops, "CreateReadGraph"))}


def CreateFeedGraph(graph: dict[Operation, tuple[Tensor, ...]]) -> dict[Tensor, tuple[Operation, ...]]:  # noqa: N802
    """Return the operations that read each tensor of a read graph."""
    fed: dict[Tensor, tuple[Operation, ...]] = {}
    for op, tensors in graph.items():
        for tensor in tensors:
            fed[tensor] = (*fed.get(tensor, ()), op)
    return fed


def PostDFSOrder(ops: Iterable[Operation], graph: Any = None) -> list[Operation]:  # noqa: N802
    """Return `ops` and all they need, each after what it reads."""
    return list(post_order(_operations(ops, "PostDFSOrder")))


def CreateAttachPath(sch: Schedule) -> dict[Operation, list[IterVar]]:  # noqa: N802
    """Return the loops of other stages in which each stage is computed, the innermost first."""
    return {stage.origin: _attach_path(sch, stage.origin) for stage in _schedule(sch, "CreateAttachPath").stages}


def _attach_path(sch: Schedule, op: Operation) -> list[IterVar]:
    attach = sch.states[op].attach
    if not isinstance(attach, At):
        return []
    leaves = sch.states[attach.op].leaves
    around = leaves[: leaves.index(sch.attach_axis(op)) + 1]
    return [*reversed(around), *_attach_path(sch, attach.op)]


def ScanGetBody(scan: ScanOp) -> list[Operation]:  # noqa: N802
    """Return the operations that a scan computes in each step, each after what it reads."""
    return list(scan_body(_scan(scan, "ScanGetBody")))


def ScanFixPointAnalysis(scan: ScanOp) -> dict[IterVar, Expr]:  # noqa: N802
    """Return for each axis of the states, but time, 1 where elements need those of their own index only, else 0."""
    fixed = fixed_axes(_scan(scan, "ScanFixPointAnalysis"))
    return {axis: make.const(int(axis in fixed), INT32) for axis in scan.spatial_axis_}


def AutoInlineElemWise(sch: Schedule) -> None:  # noqa: N802
    """Inline each stage whose elements read elements of the same index only."""
    _inline(
        sch, "AutoInlineElemWise", lambda op: all(_own(op, read) == tuple(range(len(op.axis))) for read in _reads(op))
    )


def AutoInlineBroadcast(sch: Schedule) -> None:  # noqa: N802
    """Inline each stage whose elements read elements of the same index, or of a part of it in order."""
    _inline(sch, "AutoInlineBroadcast", lambda op: all(_rising(_own(op, read)) for read in _reads(op)))


def AutoInlineInjective(sch: Schedule) -> None:  # noqa: N802
    """Inline each stage that is no reduction."""
    _inline(sch, "AutoInlineInjective", lambda op: True)


def _inline(sch: Schedule, asked: str, suits: Callable[[ComputeOp], bool]) -> None:
    """Inline the stages that suit, compute one tensor without reducing, are no outputs, and are not scheduled yet."""
    for stage in _schedule(sch, asked).stages:
        op, state = stage.op, stage.state
        plain = isinstance(op, ComputeOp) and op.num_outputs == 1 and not op.reduce_axis
        free = state.attach is ROOT and not state.is_output and not state.relations and state.feeds is None
        if plain and free and isinstance(op, ComputeOp) and suits(op):
            stage.compute_inline()


def _reads(op: ComputeOp) -> Iterable[E.TensorRead]:
    return (node for part in op.body for node in walk(part) if isinstance(node, E.TensorRead))


def _own(op: ComputeOp, read: E.TensorRead) -> tuple[int, ...]:
    """Return which axis of `op` each index is; -1 for one that is none."""
    position = {axis.var: number for number, axis in enumerate(op.axis)}
    return tuple(position.get(index, -1) if isinstance(index, E.Var) else -1 for index in read.indices)


def _rising(axes: tuple[int, ...]) -> bool:
    return -1 not in axes and list(axes) == sorted(set(axes))


def VerifyCompactBuffer(stmt: Any) -> NoReturn:  # noqa: N802
    """Refuse: whether arrays have gaps is found at each call."""
    because = "every function takes arrays of any strides; where a foreign function needs none, the call sees to that"
    raise UserError("te.schedule.VerifyCompactBuffer", because, "tecomp.build, whose module takes both")


def SchedulePostProcToPrimFunc(args: Any, stmt: Any, binds: Any = None) -> NoReturn:  # noqa: N802
    """Refuse: there is no form between the schedule and the Func."""
    raise UserError(
        "te.schedule.SchedulePostProcToPrimFunc",
        "a loop nest is made with its arguments",
        "tecomp.lower(s, args, simple_mode=True), which is a Func",
    )


def _operations(ops: Any, asked: str) -> list[Operation]:
    if isinstance(ops, (list, tuple)) and all(isinstance(op, Operation) for op in ops):
        return list(ops)
    raise UserTypeError(f"te.schedule.{asked} of {ops!r}", "it is no list of operations", "[C.op]")


def _schedule(sch: Any, asked: str) -> Schedule:
    if isinstance(sch, Schedule):
        return sch
    raise UserTypeError(f"te.schedule.{asked} of {sch!r}", f"it is a {type(sch).__name__}", "te.create_schedule(...)")


def _scan(scan: Any, asked: str) -> ScanOp:
    if isinstance(scan, ScanOp):
        return scan
    raise UserTypeError(f"te.schedule.{asked} of {scan!r}", f"it is a {type(scan).__name__}", "S.op, S of te.scan")


def _arguments(sch: Schedule) -> list[Tensor]:
    """Return the placeholders that are read, then the outputs; states of scans are no arguments."""
    states = {state for op in sch.ops if isinstance(op, ScanOp) for state in op.state_placeholder}
    inputs = [op.output(0) for op in sch.ops if isinstance(op, PlaceholderOp) and op.output(0) not in states]
    return [*inputs, *(tensor for op in sch.outputs for tensor in op.outputs)]


__all__: Final = [
    "AutoInlineBroadcast",
    "AutoInlineElemWise",
    "AutoInlineInjective",
    "CreateAttachPath",
    "CreateFeedGraph",
    "CreateReadGraph",
    "InferBound",
    "PostDFSOrder",
    "ScanFixPointAnalysis",
    "ScanGetBody",
    "Schedule",
    "ScheduleOps",
    "SchedulePostProcToPrimFunc",
    "Stage",
    "VerifyCompactBuffer",
    "create_prim_func",
    "create_schedule",
]
