"""Updates that nothing can come between: what an element holds is read, joined with a value and written back at once.

    atomic_add(address(C[i], 'rwu'), A[k])    C[i] = C[i] + A[k], whatever other threads do to C[i] meanwhile

Only such updates may meet in one element without a barrier. They are statements, and happen once for each iteration.
"""

from __future__ import annotations

from typing import Any, Final

from . import make
from .expr import Add, Address, Binary, Call, Combiner, Max, Min, Mul
from .node import Expr
from .stmt import Buffer

UPDATE: Final = "rwu"
"""The mode of an address at which one element is updated so, and nothing else is touched."""
ATOMICS: Final[dict[str, type[Binary]]] = {
    "atomic_add": Add,
    "atomic_mul": Mul,
    "atomic_min": Min,
    "atomic_max": Max,
}
"""How each joins a value with what an element holds."""


def atomic_of(combiner: Combiner) -> str | None:
    """Return the update that joins a value as a combiner does; None where there is none."""
    if len(combiner.result) != 1:
        return None
    (result,) = combiner.result
    name = next((name for name, kind in ATOMICS.items() if type(result) is kind), None)
    both = isinstance(result, Binary) and {result.a, result.b} == {combiner.lhs[0], combiner.rhs[0]}
    return name if both else None


def atomic_update(name: str, buffer: Buffer, indices: tuple[Expr, ...], value: Expr) -> Call:
    """Return the update of an element."""
    return Call(value.dtype, name, (Address(buffer, indices, make.index(0), UPDATE), value))


def is_atomic(node: Any) -> bool:
    """Return whether `node` is such an update."""
    return isinstance(node, Call) and node.name in ATOMICS
