"""Results kept as matrices in the registers of warps: which elements are one matrix, and who may touch them.

A.wmma: f16[32, 48], loaded by an intrinsic 16 x 16 at a time      f16[2, 3, 16, 16]
"""

from __future__ import annotations

from ..bounds.program import Program
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir.matrix import is_fragment
from ..ir.stmt import Buffer, Stmt, Store
from ..ir.visit import walk
from ..schedule.layout import Digit, Layout, Number
from ..schedule.stage import StageState
from ..te.tensor import domain


def fragment_layout(state: StageState) -> Layout | None:
    """Return how the elements of a fragment lie: matrix by matrix, each as the intrinsic that makes it is declared.

    None where no intrinsic makes it, or its matrices have no two dimensions.
    """
    if state.tensorized is None:
        return None
    matrix = [domain(axis).extent for axis in state.tensorized.intrin.op.axis]
    rank = len(state.op.outputs[0].shape)
    if len(matrix) != 2 or rank < 2 or not all(isinstance(extent, E.Const) for extent in matrix):
        return None
    rows, columns = (int(extent.value) for extent in matrix)  # type: ignore[attr-defined]
    whole: list[Number] = [(Digit(axis, 1, None),) for axis in range(rank - 2)]
    outer: list[Number] = [(Digit(rank - 2, rows, None),), (Digit(rank - 1, columns, None),)]
    inner: list[Number] = [(Digit(rank - 2, 1, rows),), (Digit(rank - 1, 1, columns),)]
    numbers = (*whole, *outer, *inner)
    return Layout(numbers, numbers)


def check_fragments(program: Program, body: Stmt) -> None:
    """Raise ScheduleError where an ordinary statement would touch an element of a fragment."""
    for node in walk(body):
        if isinstance(node, (E.Load, Store)) and is_fragment(node.buffer):
            raise _touched(program, node.buffer, "stored to" if isinstance(node, Store) else "read")


def _touched(program: Program, buffer: Buffer, how: str) -> ScheduleError:
    scheduled = program.schedule
    op = next((op for op in program.ops if any(output.name == buffer.name for output in op.outputs)), None)
    return ScheduleError(
        f"'{buffer.name}' in {buffer.scope} memory is {how} element by element",
        because="which thread of the warp holds an element of a matrix only matrix instructions know",
        legal=f"tensorize '{buffer.name}', and every stage that reads it, by wmma intrinsics",
        location=None if op is None else scheduled.location_of(op, "set_scope") or op.loc,
    )
