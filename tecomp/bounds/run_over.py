"""From what a stage computes to its loops: domains down to the leaves, values back up to the axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..arith import can_prove, simplify
from ..dtype import INDEX
from ..errors import ScheduleError, UnsupportedError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar, Range
from ..ir.node import Expr
from ..ir.visit import walk
from ..schedule.extent import kept_lengths
from ..schedule.relation import Relation, is_whole
from ..schedule.stage import StageState
from ..te.hybrid import HybridOp
from ..te.tensor import ComputeOp, Operation, ScanOp, domain
from .program import Program, data_axes
from .window import Rolling

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
    living: dict[str, E.Var] = field(default_factory=dict)
    """The threads that live over the steps of a scan, by tag: loops bound to one of these are that thread."""
    private: tuple[E.Var, ...] = ()
    """Those of them each of which has a result of its own: the outermost dimensions of the buffer."""
    requires: list[tuple[Expr, str]] = field(default_factory=list)
    """What must hold of sizes, and why, where the schedule leaves guards out."""
    predicate: Expr | None = None
    """What must hold for the element to be stored, where the schedule says so."""
    asked_of: dict[E.Var, str] = field(default_factory=dict)
    """The threads for each of which it is asked besides those that the stage's loops are bound to, by their tags."""
    body: tuple[Expr, ...] = ()
    """The body over loop variables, tensors read at index expressions: of a reduction its sources and condition."""
    rolling: Rolling | None = None
    """How memory is kept over iterations of loops around the stage, where it is."""
    start: StageBounds | None = None
    """Of a reduction: over what its start runs; its body are the start values where they are given."""

    @property
    def reduce_axis(self) -> tuple[IterVar, ...]:
        """The axes whose values are joined into one."""
        made = self.state.definition
        return made.reduce_axis if isinstance(made, ComputeOp) else ()

    def evaluated(self) -> Iterator[Expr]:
        """Yield all that reads tensors: how long loops are, the body, start values."""
        yield from (var.extent for var in self.loops.values() if var is not None and var.extent is not None)
        yield from self.body
        if self.start is not None:
            yield from self.start.body


Bounds = dict[Operation, StageBounds]


def run_over(stage: StageBounds, program: Program) -> None:
    """Fill `domains`, `loops`, `values` and the guards of splits, from `stage.region` and the relations.

    A reduce axis whose ends depend on other axes is settled after those. A stage without axes may have a loop too, of
    one iteration.
    """
    roots = dict(zip(data_axes(stage.op), stage.region, strict=False))
    if isinstance(stage.op, ScanOp):
        roots |= {axis: Range(ZERO, make.index(domain(axis).extent)) for axis in stage.state.env}
        first = program.depth(stage.op)
        roots[stage.op.scan_axis] = Range(first, simplify(make.sub(stage.region[0].extent, first)))
    if isinstance(stage.op, HybridOp):
        roots |= {axis: _domain(axis, stage.state, program, {}) for axis in stage.op.spine}
    waiting, left = stage.state.relations, [*roots, *stage.reduce_axis]
    while True:
        unknown = {axis.var for axis in left}
        known = {axis.var: value for axis, value in stage.values.items()}
        ready = [axis for axis in left if axis in roots or unknown.isdisjoint(_named(axis))]
        waiting = _settle(
            stage,
            program,
            {axis: roots.get(axis) or _domain(axis, stage.state, program, known) for axis in ready},
            waiting,
        )
        left = [axis for axis in left if axis not in ready]
        if not left:
            return


def _named(axis: IterVar) -> set[E.Var]:
    """Return the variables that the ends of a reduce axis depend on."""
    assert axis.dom is not None
    return {node for part in axis.dom for node in walk(part) if isinstance(node, E.Var)}


def _domain(axis: IterVar, state: StageState, program: Program, known: dict[E.Var, Expr]) -> Range:
    assert axis.dom is not None
    low, extent = (simplify(make.index(program.indexer.lower(program.inlined(part), known))) for part in axis.dom)
    return Range(low, rounded(extent, state, axis))


def rounded(extent: Expr, state: StageState, axis: IterVar) -> Expr:
    """Return how far a stage runs along an axis of that extent: up to a multiple, where it is padded."""
    multiple = state.padding.get(axis)
    return extent if multiple is None else simplify(make.mul(make.ceildiv(extent, multiple), multiple))


def _settle(
    stage: StageBounds, program: Program, roots: dict[IterVar, Range], relations: tuple[Relation, ...]
) -> tuple[Relation, ...]:
    """Descend from `roots` through the relations that they reach, then ascend; return the relations not reached."""
    kept = kept_lengths(stage.state) | {*stage.state.by_intrinsic}
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
            _check_thread(leaf, stage, exact)
            stage.loops[leaf] = var = loop_of(leaf, stage)
            stage.values[leaf] = ZERO if var is None else var
    for relation in reversed(reached):
        if any(child not in stage.values for child in relation.children):
            continue
        relation.index_up(stage.values, stage.domains)
        stage.guards += [] if is_whole(relation) else relation.guards(stage.values, stage.domains)
    for axis, ran in roots.items():
        if axis not in stage.values:
            raise _fused_with_its_dependant(axis, stage, program)
        alone = _is_one(ran) and stage.state.tensorized is None  # an intrinsic's loops keep their length
        value = ZERO if alone else stage.values[axis]  # where the guards hold, however long its loops are
        stage.values[axis] = simplify(make.add(ran.min, value))
    return tuple(waiting)


def _is_one(domain: Range) -> bool:
    return isinstance(domain.extent, E.Const) and domain.extent.value == 1


def _fused_with_its_dependant(axis: IterVar, stage: StageBounds, program: Program) -> UnsupportedError:
    """Return the refusal of a loop made of an axis and a reduce axis, where reduce axes depend on other axes."""
    return UnsupportedError(
        f"fuse of '{axis.name}' and a reduce axis of '{stage.op.name}'",
        because="the extent of a reduce axis depends on other axes, which must be loops outside of it",
        legal="fuse axes whose extents depend on the same axes",
        location=program.schedule.location_of(stage.op, "fuse"),
    )


def _check_thread(leaf: IterVar, stage: StageBounds, exact: Callable[[Expr], Expr]) -> None:
    """Raise ScheduleError where a loop turns out to have another extent than its thread axis was declared with."""
    mark = stage.state.loops.get(leaf)
    if mark is None or mark.thread is None:
        return
    tag, name = mark.thread.thread_tag, stage.op.name
    living = stage.living.get(tag)
    declared = living.extent if living is not None else _extent(mark.thread, exact)
    found = stage.domains[leaf].extent
    if declared is None or can_prove(make.eq(found, declared)):
        return
    raise ScheduleError(
        f"{tag} of '{name}' was declared with the extent {declared!r}",
        because=f"where '{name}' is computed, its loop '{leaf.name}' has the extent {found!r}",
        legal=f'te.thread_axis("{tag}"), which has the extent of its loop',
        location=stage.op.loc,
    )


def _extent(thread: IterVar, exact: Callable[[Expr], Expr]) -> Expr | None:
    """Return the extent that a thread axis was declared with, if any."""
    return None if thread.dom is None else simplify(exact(thread.dom.extent))


def loop_of(leaf: IterVar, stage: StageBounds) -> E.Var | None:
    """Return a new loop variable for a leaf; a loop of one iteration is needed only to name a thread."""
    extent = stage.domains[leaf].extent
    mark = stage.state.loops.get(leaf)
    tag = mark.thread.thread_tag if mark is not None and mark.thread is not None else ""
    if tag in stage.living:
        return stage.living[tag]
    if _is_one(stage.domains[leaf]) and not tag:
        return None
    return E.Var(leaf.name, INDEX, ZERO, extent)
