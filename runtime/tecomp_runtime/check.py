"""One layout of arguments against a signature: type, rank, extents, strides, writability.

What is found here holds for every call with the same types, shapes and strides, so it is asked once.
"""

from __future__ import annotations

from typing import NamedTuple

from . import layout
from .arrays import View, dtype_name
from .errors import ArgumentError, NotCompact
from .extents import Equation, evaluated, solve
from .signature import BufferParameter

Array = tuple[BufferParameter, View, tuple[int, ...]]
"""A parameter, the array given for it, and that array's strides in bytes."""


class Layout(NamedTuple):
    """A layout that is right: the values of the sizes, and for each array the bytes it covers from its element 0."""

    sizes: dict[str, int]
    spans: list[tuple[int, int]]


def check(
    name: str, legal: str, arrays: list[tuple[BufferParameter, View]], sizes: list[str], known: dict[str, int]
) -> Layout:
    """Return the layout of arrays given for the parameters of function `name`, with the `sizes` solved.

    `known` are the scalars that extents depend on. ArgumentError where the call must not run, with `legal` as what
    would be right; NotCompact where only a variant with strides can run it.
    """
    for param, found in arrays:
        _check_type(param, found, legal)
    whole = [
        (param, found, found.strides or layout.compact_strides(found.shape, param.item)) for param, found in arrays
    ]
    solved = _solve(whole, dict(known), legal)
    missing = [size for size in sizes if size not in solved]
    if missing:
        because = "no extent is that size, or a multiple of it plus a constant"
        raise ArgumentError(f"{name}: the size {missing[0]} cannot be found", because, legal)
    for array in whole:
        _check_output(array, legal)
    gaps = [param.name for param, found, steps in whole if param.strides is None and _has_gaps(param, found, steps)]
    if gaps:
        raise NotCompact(tuple(gaps))
    return Layout(solved, [layout.span(found.shape, steps, param.item) for param, found, steps in whole])


def _has_gaps(param: BufferParameter, found: View, strides: tuple[int, ...]) -> bool:
    return not layout.is_compact(found.shape, strides, param.item)


def _check_type(param: BufferParameter, found: View, legal: str) -> None:
    got = dtype_name(found.type)
    if got != param.dtype:
        swapped = dtype_name(f"<{found.type[1:]}") == param.dtype
        because = "its bytes are in the other order" if swapped else ""
        got = f"{param.dtype} with swapped bytes" if swapped else got
        raise ArgumentError(f"argument {param.name}: expected {param.dtype}, got {got}", because, legal)
    rank, given = len(param.shape), len(found.shape)
    if rank != given:
        asked = f"argument {param.name}: expected {rank} dimension{'' if rank == 1 else 's'}, got {given}"
        raise ArgumentError(asked, f"its shape is {found.shape}", legal)


def _solve(arrays: list[Array], known: dict[str, int], legal: str) -> dict[str, int]:
    """Return all sizes: solved from extents first, then from strides; every equation is checked."""
    equations = _extents(arrays) + _strides(arrays, legal)
    unsolved = solve(equations, known)
    for equation in ([] if unsolved is None else [unsolved]) + equations:
        _check_equation(equation, known, legal)
    return known


def _extents(arrays: list[Array]) -> list[Equation]:
    return [
        Equation(extent, given, f"extent of dimension {dimension}", param.name)
        for param, found, _ in arrays
        for dimension, (extent, given) in enumerate(zip(param.shape, found.shape, strict=True))
    ]


def _strides(arrays: list[Array], legal: str) -> list[Equation]:
    equations: list[Equation] = []
    for param, found, steps in arrays:
        for dimension, stride in enumerate(param.strides or ()):
            whole, rest = divmod(steps[dimension], param.item)
            if rest:
                because = f"dimension {dimension} steps {steps[dimension]} bytes, and an element has {param.item}"
                raise ArgumentError(f"argument {param.name}: its stride is no whole number of elements", because, legal)
            free = found.shape[dimension] <= 1 and not _is_name(stride.text)  # a step never taken may be any
            if not free:
                equations.append(Equation(stride, whole, f"stride of dimension {dimension}", param.name))
    return equations


def _is_name(text: str) -> bool:
    return text.isidentifier()


def _check_equation(equation: Equation, known: dict[str, int], legal: str) -> None:
    expected = evaluated(equation.extent, known)
    if expected == equation.given:
        return
    text, form = equation.extent.text, equation.extent.linear
    if expected is None and (form is None or form.name in known or form.factor == 0):
        return  # a size is missing, and that is said of the size
    sizes = ", ".join(f"{name} is {known[name]}" for name in sorted(equation.extent.names & known.keys()))
    wanted = text if expected is None or text == str(expected) else f"{text} = {expected}"
    because = sizes or (f"no size {form.name} makes it so" if form is not None else "")
    asked = f"argument {equation.parameter}: expected {equation.what} to be {wanted}, got {equation.given}"
    raise ArgumentError(asked, because, legal)


def _check_output(array: Array, legal: str) -> None:
    param, found, steps = array
    if not param.output:
        return
    if found.readonly:
        raise ArgumentError(f"argument {param.name}: it is written, and the array is read-only", "", legal)
    if layout.overlaps_itself(found.shape, steps, param.item):
        because = f"its strides are {steps} bytes for the shape {found.shape}"
        raise ArgumentError(f"argument {param.name}: elements of an output share memory", because, legal)
