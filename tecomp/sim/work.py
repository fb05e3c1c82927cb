"""What evaluating an expression costs: instructions of a warp by class, and floating-point operations of a thread.

The count is of the program as it is printed: one instruction for an operation, one for a multiplication and the
addition that its product goes to, and each operation once in a statement. The compiler of the GPU makes more of some
(a division by a variable), and fewer of others (offsets that loops share); operations on floats are as they stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from ..dtype import DType
from ..instructions.maths import MATHS
from ..ir import expr as E
from ..ir.foreign import foreign
from ..ir.node import Expr
from ..ir.stmt import For, If, LoopKind, Stmt

FLOAT, INTEGER, SPECIAL, MEMORY, CONTROL, OTHER = "float", "integer", "special", "memory", "control", "other"
"""Classes of instructions; special is what the special function unit does, other what is none of these: barriers,
shuffles, matrix instructions."""


class Work(NamedTuple):
    """What is done each time: instructions of a warp by class, operations of a thread by type."""

    instructions: tuple[tuple[str, int], ...]
    flops: tuple[tuple[str, int], ...]


_ONE_FLOP: Final = (E.Add, E.Sub, E.Mul, E.Div)
_ARITHMETIC: Final = (
    *_ONE_FLOP, E.Min, E.Max, E.Compare, E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod, E.And, E.Or,
)  # fmt: skip
_PLAIN_MATHS: Final = frozenset(
    "abs fma floor ceil trunc round nearbyint isnan isinf isfinite copysign popcount clz dp4a shift_left shift_right "
    "bitwise_and bitwise_or bitwise_xor nextafter".split()
)
"""Functions that need no special function unit."""
_FREE_MATHS: Final = frozenset(("reinterpret",))
_NO_FLOP: Final = _PLAIN_MATHS - {"fma"} | _FREE_MATHS


def work(nodes: Iterable[Expr], stmt: Stmt) -> Work:
    """Return what evaluating these nodes, each once and by itself, and then doing `stmt` costs."""
    instructions: Counter[str] = Counter()
    flops: Counter[str] = Counter()
    together = list(dict.fromkeys(nodes))
    products = {node for node in together if isinstance(node, E.Mul)}
    for node in together:
        instructions[_class_of(node)] += node.dtype.lanes
        flops[str(_operands(node).element)] += _flops(node)
        if isinstance(node, (E.Add, E.Sub)) and (fused := products & {node.a, node.b}):
            products.discard(next(iter(fused)))
            instructions[_class_of(node)] -= node.dtype.lanes
    if isinstance(stmt, If):
        instructions[CONTROL] += 1
    del instructions[""]
    return Work(*(tuple((name, count) for name, count in sums.items() if count) for sums in (instructions, flops)))


def turn(stmt: For) -> Work:
    """Return what each turn of a loop costs beside its body: an addition, a comparison and a branch, or nothing."""
    if stmt.kind is LoopKind.UNROLLED:
        return Work((), ())
    return Work(((INTEGER, 2), (CONTROL, 1)), ())


def _operands(node: Expr) -> DType:
    """Return the type that an operation is of: of its operands, where the result is none."""
    return node.a.dtype if isinstance(node, E.Compare) else node.dtype


def _class_of(node: Expr) -> str:
    """Return the class of an instruction; none for what costs nothing, and for what is counted elsewhere."""
    if isinstance(node, E.Call):
        return _class_of_call(node)
    if isinstance(node, E.Cast):
        return _class_of_cast(node.value.dtype, node.dtype)
    if isinstance(node, E.Div) and node.dtype.is_float:
        return SPECIAL
    if isinstance(node, (*_ARITHMETIC, E.Select, E.IfElse)):
        return FLOAT if _operands(node).is_float else INTEGER
    return ""


def _class_of_call(node: E.Call) -> str:
    name = maths_name(node)
    if not name or name in _FREE_MATHS:
        return ""
    if name in _PLAIN_MATHS or not node.dtype.is_float:
        return FLOAT if node.args and node.args[0].dtype.is_float else INTEGER
    return SPECIAL


def _class_of_cast(old: DType, new: DType) -> str:
    if old.is_float and new.is_float:
        return FLOAT if old.element is not new.element else ""
    if old.is_float or new.is_float:
        return SPECIAL
    return INTEGER if old.bits != new.bits else ""


def _flops(node: Expr) -> int:
    if not node.dtype.is_float:
        return 0
    if isinstance(node, _ONE_FLOP):
        return node.dtype.lanes
    name = maths_name(node) if isinstance(node, E.Call) else ""
    if not name or name in _NO_FLOP:
        return 0
    return node.dtype.lanes * (2 if name == "fma" else 1)


def maths_name(node: E.Call) -> str:
    """Return which function of C's maths library a call is; none where it is another."""
    called = foreign(node.name)
    name = node.name if called is None else called.symbol
    return next((known for known in (name, name.removesuffix("f")) if known in MATHS), "")
