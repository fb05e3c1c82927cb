"""What a function takes, read from the plain data of its artifact."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from .arrays import ITEM_BYTES
from .extents import Extent


class Parameter(TypedDict, total=False):
    """A parameter as an artifact describes it: name, kind, dtype; of a number its least value, the rest of buffers."""

    name: str
    kind: str
    dtype: str
    shape: list[int | str]
    strides: list[int | str] | None
    output: bool
    align: int
    least: int | None


class Signature(TypedDict):
    """A function: parameters in order, then the names of the sizes that a call solves.

    `requires` are conditions on sizes and scalars, as Python text, each with the reason.
    """

    name: str
    params: list[Parameter]
    sizes: list[str]
    requires: list[tuple[str, str]]


class BufferParameter(NamedTuple):
    """A parameter that is an array. `place` counts all parameters; `align` and `item` are bytes."""

    place: int
    name: str
    dtype: str
    item: int
    align: int
    output: bool
    shape: list[Extent]
    strides: list[Extent] | None
    """Counted in elements; None is row-major without gaps."""


class ScalarParameter(NamedTuple):
    """A parameter that is a number, `least` or more; `shapes` tells whether an extent or requirement depends on it."""

    place: int
    name: str
    dtype: str
    shapes: bool
    least: int | None


def read(signature: Signature) -> list[BufferParameter | ScalarParameter]:
    """Return the parameters of a signature."""
    buffers = {
        place: _buffer(place, param) for place, param in enumerate(signature["params"]) if param.get("kind") == "buffer"
    }
    used = {
        name
        for buffer in buffers.values()
        for extent in (*buffer.shape, *(buffer.strides or ()))
        for name in extent.names
    }
    used.update(name for condition, _ in requirements(signature) for name in condition.names)
    return [
        buffers.get(place)
        or ScalarParameter(
            place, param.get("name", ""), param.get("dtype", ""), param.get("name") in used, param.get("least")
        )
        for place, param in enumerate(signature["params"])
    ]


def requirements(signature: Signature) -> list[tuple[Extent, str]]:
    """Return the conditions that a call must meet, each with its reason."""
    return [(Extent(text), reason) for text, reason in signature.get("requires", [])]


def _buffer(place: int, param: Parameter) -> BufferParameter:
    dtype = param.get("dtype", "")
    strides = param.get("strides")
    return BufferParameter(
        place,
        param.get("name", ""),
        dtype,
        ITEM_BYTES[dtype],
        max(param.get("align", 1), ITEM_BYTES[dtype]),
        param.get("output", False),
        [Extent(extent) for extent in param.get("shape", [])],
        None if strides is None else [Extent(stride) for stride in strides],
    )


def render(signature: Signature) -> str:
    """Return a signature for people: ``f(X: float32[m, n], a: int32)``."""
    texts = [
        f"{param.get('name')}: {param.get('dtype')}"
        + (f"[{', '.join(map(str, param.get('shape', [])))}]" if param.get("kind") == "buffer" else "")
        for param in signature["params"]
    ]
    return f"{signature['name']}({', '.join(texts)})"
