"""What is asked of each node and statement, by level: the table of rules that `verify` goes by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..dtype import BOOL, INDEX
from . import expr as E
from . import make
from .func import Level
from .instruction import wrong
from .matrix import MATRIX_CALLS, fragments, is_matrix_call
from .node import Expr
from .stmt import CLUSTER, Across, For, If, Launch, Let, LoopKind, Store
from .visit import walk

LOOPS, DEVICE, FLAT = Level
EVERYWHERE: Final = (LOOPS, DEVICE, FLAT)


class Question(NamedTuple):
    """At these levels, of a node of these types: what is wrong with it (None when nothing is)."""

    levels: tuple[Level, ...]
    nodes: tuple[type, ...]
    ask: Callable[[Any, Level], str | None]


def operands_agree(node: E.Binary, _: Level) -> str | None:
    """Both operands of an operator have one type."""
    return None if node.a.dtype is node.b.dtype else f"{_word(node)} of {node.a.dtype} and {node.b.dtype}"


def arithmetic_on_numbers(node: E.Binary, _: Level) -> str | None:
    """bool is no number."""
    return f"{_word(node)} of bools" if node.dtype.is_bool else None


def division_by_kind(node: E.Binary, _: Level) -> str | None:
    """Div is of floats, the other divisions of integers."""
    wanted = node.dtype.is_float if isinstance(node, E.Div) else node.dtype.is_integer
    return None if wanted else f"{_word(node)} of {node.dtype}"


def logic_on_bools(node: Any, _: Level) -> str | None:
    """and, or, not take bools."""
    wrong = [operand.dtype for operand in node.operands() if not operand.dtype.is_bool]
    return f"{_word(node)} of {wrong[0]}" if wrong else None


def choice_agrees(node: E.Select | E.IfElse, _: Level) -> str | None:
    """A choice is by a bool, between two values of one type, lane by lane or as a whole."""
    if not node.condition.dtype.is_bool:
        return f"{_word(node)} by {node.condition.dtype}"
    if node.yes.dtype is not node.no.dtype:
        return f"{_word(node)} between {node.yes.dtype} and {node.no.dtype}"
    if node.condition.dtype.lanes not in (1, node.dtype.lanes):
        return f"{_word(node)} of {node.dtype.lanes} lanes by {node.condition.dtype.lanes}"
    return None


def vector_of_scalars(node: E.Ramp | E.Broadcast, _: Level) -> str | None:
    """Vectors are made of scalars, two lanes at least; a ramp's are integers of one type."""
    parts = node.operands()
    if node.lanes < 2 or any(part.dtype.lanes > 1 for part in parts):
        return f"{_word(node)} of {', '.join(part.dtype for part in parts)} with {node.lanes} lanes"
    if isinstance(node, E.Ramp) and not (node.base.dtype.is_integer and node.base.dtype is node.stride.dtype):
        return f"ramp from {node.base.dtype} by {node.stride.dtype}"
    return None


def cast_keeps_lanes(node: E.Cast, _: Level) -> str | None:
    """A cast has as many lanes as its operand."""
    same = node.dtype.lanes == node.value.dtype.lanes
    return None if same else f"cast of {node.value.dtype} to {node.dtype}"


def access_fits(node: E.Load | Store, level: Level) -> str | None:
    """One integer index a dimension (FLAT: one offset for all); as many lanes in each, and in the mask."""
    rank = len(node.buffer.shape)
    wanted = min(rank, 1) if level is FLAT else rank
    if len(node.indices) != wanted:
        return f"{node.buffer.name!r} of rank {rank} with {len(node.indices)} indices, {level.value} wants {wanted}"
    for index in node.indices:
        if not index.dtype.is_integer:
            return f"{node.buffer.name!r} indexed by {index.dtype}"
    lanes = {index.dtype.lanes for index in node.indices} - {1}
    if len(lanes) > 1:
        return f"{node.buffer.name!r} indexed by {' and '.join(map(str, sorted(lanes)))} lanes"
    if not node.mask.dtype.is_bool or node.mask.dtype.lanes not in (1, *lanes):
        return f"{node.buffer.name!r} masked by {node.mask.dtype}"
    return None


def address_fits(node: E.Address, level: Level) -> str | None:
    """An address has a scalar integer index for each dimension or none (FLAT: none), and a scalar offset."""
    rank = len(node.buffer.shape)
    if len(node.indices) not in ((0,) if level is FLAT else (0, rank)):
        return f"the address of {node.buffer.name!r} of rank {rank} with {len(node.indices)} indices"
    wrong = [part.dtype for part in (*node.indices, node.offset) if not part.dtype.is_integer or part.dtype.lanes > 1]
    return f"the address of {node.buffer.name!r} at {wrong[0]}" if wrong else None


def regroup_keeps_bits(node: E.Call, _: Level) -> str | None:
    """Lanes of one width become lanes of another, of as many bits together."""
    if node.name != "regroup":
        return None
    before, after = node.args[0].dtype, node.dtype
    return None if before.bits * before.lanes == after.bits * after.lanes else f"regroup of {before} to {after}"


def matrices_are_fragments(node: E.Call, _: Level) -> str | None:
    """What a warp does with matrices names a fragment for each."""
    if not is_matrix_call(node):
        return None
    wanted = 4 if MATRIX_CALLS[node.name].verb == "mma" else 1
    return None if len(fragments(node)) == wanted else f"{node.name} of {len(fragments(node))} fragments"


def instruction_fits(node: E.Call, _: Level) -> str | None:
    """An instruction has the operands and the type that the table of instructions says."""
    return wrong(node)


def store_agrees(node: Store, _: Level) -> str | None:
    """A stored value has the buffer's type, and the lanes of the indices."""
    wanted = node.buffer.dtype.with_lanes(node.lanes)
    if node.value.dtype is wanted:
        return None
    return f"{node.value.dtype} stored to {node.buffer.name!r}, which takes {wanted}"


def condition_is_bool(node: If, _: Level) -> str | None:
    """An if asks one bool."""
    return None if node.condition.dtype is BOOL else f"if of {node.condition.dtype}"


def let_agrees(node: Let, _: Level) -> str | None:
    """A name has its value's type."""
    same = node.var.dtype is node.value.dtype
    return None if same else f"{node.var.name!r} is {node.var.dtype}, its value {node.value.dtype}"


def loop_has_range(node: For | Launch, _: Level) -> str | None:
    """A loop or thread variable has a least value and an extent of its own integer type.

    They read no memory: a Let outside names what they need, because passes rewrite the reads of statements only.
    """
    for var in [node.var] if isinstance(node, For) else [var for _, var in node.threads]:
        if var.min is None or var.extent is None:
            return f"{var.name!r} has no range"
        if not (var.dtype.is_integer and var.min.dtype is var.dtype and var.extent.dtype is var.dtype):
            return f"{var.name!r} is {var.dtype}, its range {var.min.dtype} and {var.extent.dtype}"
        if any(isinstance(part, (E.Load, E.Address)) for end in (var.min, var.extent) for part in walk(end)):
            return f"the range of {var.name!r} reads memory"
    return None


def clusters_fill_the_grid(node: Launch, _: Level) -> str | None:
    """So many blocks are a cluster: a constant, which divides the grid where that is one too."""
    extents = {tag: var.extent for tag, var in node.threads}
    size, grid = extents.get(CLUSTER), extents.get("blockIdx.x", make.index(1))
    if size is None:
        return None
    if not isinstance(size, E.Const):
        return f"clusters of {size!r} blocks"
    if isinstance(grid, E.Const) and int(grid.value) % int(size.value):
        return f"clusters of {size.value} blocks in a grid of {grid.value}"
    return None


def thread_is_named(node: For, _: Level) -> str | None:
    """A thread loop, and only one, has a thread axis."""
    if (node.kind is LoopKind.THREAD) == bool(node.thread):
        return None
    return f"{node.kind.value} loop with thread {node.thread!r}"


def no_thread_loop(node: For, _: Level) -> str | None:
    """From DEVICE on, threads come from Launch, and virtual threads are gone."""
    return (
        f"{node.kind.value} loop over {node.var.name!r}" if node.kind in (LoopKind.THREAD, LoopKind.VIRTUAL) else None
    )


def no_launch(_node: Launch, level: Level) -> str | None:
    """Before DEVICE, threads are loops."""
    return f"a launch at level {level.value}"


def parts_are_scalars(node: Across, _: Level) -> str | None:
    """What threads join lies in registers, a scalar of each type that the combiner joins."""
    wanted = [var.dtype for var in node.combiner.lhs]
    if [buffer.dtype for buffer in node.buffers] != wanted:
        return f"parts of {', '.join(buffer.dtype for buffer in node.buffers)} joined as {', '.join(wanted)}"
    wrong = next((buffer for buffer in node.buffers if buffer.shape or buffer.scope != "local"), None)
    return None if wrong is None else f"a part in {wrong!r}"


def no_across(_node: Across, level: Level) -> str | None:
    """How threads join their parts is decided before FLAT."""
    return f"a join of parts at level {level.value}"


def no_index_type(node: Expr, _: Level) -> str | None:
    """FLAT programs have machine integers only."""
    return f"{_word(node)} of type index" if node.dtype.element is INDEX else None


def lowered(node: Expr, _: Level) -> str | None:
    """Tensors and reductions end with lowering."""
    return f"{_word(node)} in a lowered program"


_ARITHMETIC: Final = (E.Add, E.Sub, E.Mul, E.Div, E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod, E.Min, E.Max)
_DIVISIONS: Final = (E.Div, E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod)
_COMPARISONS: Final = (E.Eq, E.Ne, E.Lt, E.Le)
_LOGIC: Final = (E.And, E.Or, E.Not)
_EXPRS: Final = (
    *_ARITHMETIC, *_COMPARISONS, *_LOGIC,
    E.Var, E.Const, E.Cast, E.Select, E.IfElse, E.Ramp, E.Broadcast, E.Load, E.Address, E.Call, E.TensorRead,
    E.Reduce,
)  # fmt: skip

QUESTIONS: Final = (
    Question(EVERYWHERE, (*_ARITHMETIC, *_COMPARISONS, E.And, E.Or), operands_agree),
    Question(EVERYWHERE, _ARITHMETIC, arithmetic_on_numbers),
    Question(EVERYWHERE, _DIVISIONS, division_by_kind),
    Question(EVERYWHERE, _LOGIC, logic_on_bools),
    Question(EVERYWHERE, (E.Select, E.IfElse), choice_agrees),
    Question(EVERYWHERE, (E.Ramp, E.Broadcast), vector_of_scalars),
    Question(EVERYWHERE, (E.Cast,), cast_keeps_lanes),
    Question(EVERYWHERE, (E.Load, Store), access_fits),
    Question(EVERYWHERE, (E.Address,), address_fits),
    Question(EVERYWHERE, (E.Call,), regroup_keeps_bits),
    Question(EVERYWHERE, (E.Call,), matrices_are_fragments),
    Question(EVERYWHERE, (E.Call,), instruction_fits),
    Question(EVERYWHERE, (Store,), store_agrees),
    Question(EVERYWHERE, (If,), condition_is_bool),
    Question(EVERYWHERE, (Let,), let_agrees),
    Question(EVERYWHERE, (For, Launch), loop_has_range),
    Question(EVERYWHERE, (For,), thread_is_named),
    Question(EVERYWHERE, (Launch,), clusters_fill_the_grid),
    Question((DEVICE, FLAT), (For,), no_thread_loop),
    Question((LOOPS,), (Launch,), no_launch),
    Question(EVERYWHERE, (Across,), parts_are_scalars),
    Question((FLAT,), (Across,), no_across),
    Question((FLAT,), _EXPRS, no_index_type),
    Question(EVERYWHERE, (E.TensorRead, E.Reduce), lowered),
)


def _by_type(level: Level) -> dict[type, list[Question]]:
    table: dict[type, list[Question]] = {}
    for question in QUESTIONS:
        for node in question.nodes if level in question.levels else ():
            table.setdefault(node, []).append(question)
    return table


TABLES: Final = {level: _by_type(level) for level in Level}


def _word(node: Expr) -> str:
    return type(node).__name__.lower()
