"""From what a stage computes to its loops: domains down to the leaves, values back up to the axes."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..arith import simplify
from ..dtype import INDEX
from ..errors import UnsupportedError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar, Range
from ..ir.node import Expr
from ..ir.visit import walk
from ..schedule.relation import Relation
from ..schedule.stage import StageState
from ..te.tensor import ComputeOp, Operation, ScanOp
from .program import Program, data_axes

ZERO, ONE = make.const(0, INDEX), make.const(1, INDEX)


@dataclass(slots=True)
class StageBounds:
    """The ranges of one stage. Every domain starts at 0; a root axis adds the minimum of its range to its value."""

    op: Operation
    state: StageState
    scope: str
    region: tuple[Range, ...]
    """What is computed of each dimension of its results; also what their buffer holds."""
    domains: dict[IterVar, Range] = field(default_factory=dict)
    loops: dict[IterVar, E.Var | None] = field(default_factory=dict)
    """The loop variable of each leaf; None for a leaf of one iteration that needs no loop."""
    values: dict[IterVar, Expr] = field(default_factory=dict)
    """Each axis in terms of the loop variables."""
    guards: list[Expr] = field(default_factory=list)
    """What must hold for the element that the loop variables name to exist."""
    predicate: Expr | None = None
    """What must hold for the element to be stored, where the schedule says so."""
    body: tuple[Expr, ...] = ()
    """The body over loop variables, tensors read at index expressions: of a reduction its sources and condition."""
    start: StageBounds | None = None
    """Of a reduction: over what its start runs; its body are the start values where they are given."""


Bounds = dict[Operation, StageBounds]


def run_over(stage: StageBounds, program: Program) -> None:
    """Fill `domains`, `loops`, `values` and the guards of splits, from `stage.region` and the relations.

    Where the extent of a reduce axis depends on data axes, those are settled first.
    """
    roots = dict(zip(data_axes(stage.op), stage.region, strict=False))
    if isinstance(stage.op, ScanOp):
        first = program.depth(stage.op)
        roots[stage.op.scan_axis] = Range(first, simplify(make.sub(stage.region[0].extent, first)))
    reduce_axes = stage.op.reduce_axis if isinstance(stage.op, ComputeOp) else ()
    waiting = stage.state.relations
    if _ragged(reduce_axes, roots):
        waiting = _settle(stage, program, roots, waiting)
        roots = {}
    known = {axis.var: value for axis, value in stage.values.items()}
    roots |= {axis: _domain(axis, program, known) for axis in reduce_axes}
    if _settle(stage, program, roots, waiting):
        raise UnsupportedError(
            f"fuse of '{stage.op.name}'",
            because="a reduce axis whose extent depends on a data axis is fused with it",
            legal="fuse data axes with data axes",
            location=stage.op.loc,
        )


def _ragged(reduce_axes: tuple[IterVar, ...], roots: dict[IterVar, Range]) -> bool:
    """Return whether the domain of a reduce axis depends on a data axis."""
    variables = {axis.var for axis in roots}
    parts = [part for axis in reduce_axes if axis.dom is not None for part in axis.dom]
    return any(node in variables for part in parts for node in walk(part) if isinstance(node, E.Var))


def _domain(axis: IterVar, program: Program, known: dict[E.Var, Expr]) -> Range:
    assert axis.dom is not None
    low, extent = (simplify(make.index(program.indexer.lower(part, known))) for part in axis.dom)
    return Range(low, extent)


def _settle(
    stage: StageBounds, program: Program, roots: dict[IterVar, Range], relations: tuple[Relation, ...]
) -> tuple[Relation, ...]:
    """Descend from `roots` through the relations that they reach, then ascend; return the relations not reached."""
    kept = {axis for axis, mark in stage.state.loops.items() if mark.thread is not None}
    stage.domains.update((axis, Range(ZERO, domain.extent)) for axis, domain in roots.items())

    def exact(factor: Expr) -> Expr:
        return make.index(program.indexer.lower(factor, {}))

    reached: list[Relation] = []
    waiting: list[Relation] = []
    for relation in relations:
        if all(parent in stage.domains for parent in relation.parents):
            relation.domain_down(stage.domains, kept, exact)
            reached.append(relation)
        else:
            waiting.append(relation)
    for leaf in stage.state.leaves:
        if leaf in stage.domains and leaf not in stage.loops:
            stage.loops[leaf] = var = loop_of(leaf, stage)
            stage.values[leaf] = ZERO if var is None else var
    for relation in reversed(reached):
        relation.index_up(stage.values, stage.domains)
        stage.guards += relation.guards(stage.values, stage.domains)
    for axis, domain in roots.items():
        stage.values[axis] = simplify(make.add(domain.min, stage.values[axis]))
    return tuple(waiting)


def loop_of(leaf: IterVar, stage: StageBounds) -> E.Var | None:
    """Return a new loop variable for a leaf; a loop of one iteration is needed only to name a thread."""
    extent = stage.domains[leaf].extent
    mark = stage.state.loops.get(leaf)
    threaded = mark is not None and mark.thread is not None
    if isinstance(extent, E.Const) and extent.value == 1 and not threaded:
        return None
    return E.Var(leaf.name, INDEX, ZERO, extent)
