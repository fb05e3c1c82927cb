"""Indivisible updates under the interpreter: threads run in turns, so it is enough that nothing comes between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .expr import Address, Call

if TYPE_CHECKING:
    from .interpret_expr import Source

_JOINS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "atomic_add": np.add,
    "atomic_mul": np.multiply,
    "atomic_min": np.minimum,
    "atomic_max": np.maximum,
}
"""Each in the element's own type: integers wrap, and NaN stays."""


def atomic_call(source: Source, node: Call, operands: list[str]) -> str:
    """Return the text of an update; its value is 0, which nothing asks for."""
    address, _ = node.args
    assert isinstance(address, Address)
    place, value = operands
    function = source.constant(f"{node.name}_{address.buffer.dtype}", _meaning(node.name, address))
    return f"{function}({place}, {value})"


def _meaning(name: str, address: Address) -> Callable[[Any, Any], int]:
    element = np.dtype(address.buffer.dtype.numpy).type
    join = _JOINS[name]

    def update(place: Any, value: Any) -> int:
        scalar = place.memory.array.ndim == 0
        indices = () if scalar else place.indices or (place.offset,)
        place.memory.update(*indices, lambda so_far, more: join(element(so_far), element(more)), value)
        return 0

    return update
