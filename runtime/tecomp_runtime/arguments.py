"""The arguments of a call, checked against a signature before anything runs.

Checked: number, kind, device, type, rank, extents, strides, writability, alignment, overlap. A layout that was seen
before is known to be right, and only the addresses are looked at again.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .arrays import View, place, view
from .check import check
from .errors import ArgumentError, NotCompact
from .layout import shares
from .scalars import converted
from .signature import BufferParameter, ScalarParameter, Signature, read, render, requirements

_KNOWN_LAYOUTS: Final = 4096
"""How many layouts a function remembers before it forgets all."""


class _Known(NamedTuple):
    """What a layout that was checked gives: the sizes, and the pairs of arrays that must not share memory.

    A pair is (place of an output, first byte it covers, one past its last, and the same of another array), the bytes
    counted from the address of element 0. Empty arrays are in no pair.
    """

    sizes: list[int]
    pairs: list[tuple[int, int, int, int, int, int]]


class Arguments:
    """Checks calls of one function. `device` is where its arrays must be: cpu or cuda."""

    def __init__(self, signature: Signature, device: str = "cpu") -> None:
        self.name, self.device, self.text = signature["name"], device, render(signature)
        self._params = read(signature)
        self._sizes = signature["sizes"]
        self._requires = requirements(signature)
        self._aligned = [(param.place, param.align) for param in self._params if isinstance(param, BufferParameter)]
        self._known: dict[tuple[Any, ...], _Known] = {}

    def bind(self, args: tuple[Any, ...]) -> tuple[list[Any], list[View]]:
        """Return what the function is called with, and the arrays it was given, which must live until it returns.

        The former are addresses of arrays and numbers in the order of parameters, then the sizes. ArgumentError for a
        call that must not run; NotCompact for one that a variant with strides can run.
        """
        if len(args) != len(self._params):
            raise ArgumentError(f"{self.name}: expected {len(self._params)} arguments, got {len(args)}", "", self.text)
        values: list[Any] = []
        views: list[View] = []
        key: list[Any] = []
        for param, arg in zip(self._params, args, strict=True):
            if isinstance(param, BufferParameter):
                found = view(arg, self.device) or self._refuse_place(param, arg)
                values.append(found.pointer)
                views.append(found)
                key.append(found[1:5])
            else:
                values.append(converted(arg, param.dtype, param.name, self.text, param.least))
                if param.shapes:
                    key.append(values[-1])
        layout = tuple(key)
        known = self._known.get(layout) or self._remember(layout, values, views)
        self._check_addresses(values, known, args)
        return values + known.sizes, views

    def _check_addresses(self, values: list[Any], known: _Known, args: tuple[Any, ...]) -> None:
        for at, align in self._aligned:
            if values[at] % align:
                self._refuse_alignment(at, f"its address is {values[at]:#x}")
        self._check_shared_memory(values, known, args)

    def _check_shared_memory(self, values: list[Any], known: _Known, args: tuple[Any, ...]) -> None:
        for a, low, high, b, other_low, other_high in known.pairs:
            if values[a] + low < values[b] + other_high and values[b] + other_low < values[a] + high:
                self._check_shared(a, b, args)

    def _remember(self, key: tuple[Any, ...], values: list[Any], views: list[View]) -> _Known:
        """Check a layout that was not seen before, and note what it gives."""
        supply = iter(views)
        arrays = [(param, next(supply)) for param in self._params if isinstance(param, BufferParameter)]
        scalars = {
            param.name: int(value)
            for param, value in zip(self._params, values, strict=True)
            if isinstance(param, ScalarParameter) and param.shapes
        }
        layout = check(self.name, self.text, arrays, self._sizes, scalars)
        self._check_required(layout.sizes)
        pairs = _pairs([param for param, _ in arrays], layout.spans)
        if len(self._known) >= _KNOWN_LAYOUTS:
            self._known.clear()
        known = self._known[key] = _Known([layout.sizes[name] for name in self._sizes], pairs)
        return known

    def _check_required(self, sizes: dict[str, int]) -> None:
        for condition, reason in self._requires:
            if not condition.value(sizes):
                found = ", ".join(f"{name} is {sizes[name]}" for name in sorted(condition.names))
                raise ArgumentError(f"{self.name}: {condition.text} does not hold: {found}", reason, self.text)

    def _refuse_place(self, param: BufferParameter, arg: Any) -> View:
        here = place(arg)
        kind = f"{type(arg).__module__}.{type(arg).__name__}".removeprefix("builtins.")
        if not here:
            asked = f"argument {param.name}: expected an array of {param.dtype}, got {kind}"
            raise ArgumentError(asked, "it has no array interface and no DLPack", self.text)
        where = {"cpu": "in CPU memory", "cuda": "on the GPU"}
        because = f"a {kind} is {where.get(here, f'on {here}')}"
        copies = self.device == "cuda" and here == "cpu"
        legal = "cupy.asarray(x), which copies it there" if copies else self.text
        raise ArgumentError(f"argument {param.name}: expected an array {where[self.device]}", because, legal)

    def _refuse_alignment(self, at: int, because: str) -> None:
        param = self._params[at]
        assert isinstance(param, BufferParameter)
        if param.align > param.item:
            raise NotCompact((param.name,))
        asked = f"argument {param.name}: needs {param.align}-byte alignment"
        raise ArgumentError(asked, because, self.text)

    def _check_shared(self, output: int, other: int, args: tuple[Any, ...]) -> None:
        if shares(args[output], args[other]):
            names = self._params[output].name, self._params[other].name
            because = "an output is written while the other arguments are in use"
            raise ArgumentError(f"argument {names[0]}: shares memory with argument {names[1]}", because, self.text)


def _pairs(params: list[BufferParameter], spans: list[tuple[int, int]]) -> list[tuple[int, int, int, int, int, int]]:
    """Return each output with each other array, once, as `_Known` has them."""
    covering = [(param, *span) for param, span in zip(params, spans, strict=True) if span != (0, 0)]
    return [
        (a.place, a_low, a_high, b.place, b_low, b_high)
        for a, a_low, a_high in covering
        for b, b_low, b_high in covering
        if a.output and a is not b and (a.place < b.place or not b.output)
    ]
