"""The arguments of a call, checked against a signature before anything runs.

Checked: number, kind, device, type, rank, extents, strides, writability, alignment, overlap. A layout that was seen
before is known to be right, and only the addresses are looked at again.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .arrays import INTERFACES, View, place, view
from .check import check
from .errors import ArgumentError
from .layout import shares
from .scalars import converted
from .signature import BufferParameter, ScalarParameter, Signature, read, render

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
        self._interface = INTERFACES[device]
        self._aligned = [(param.place, param.align) for param in self._params if isinstance(param, BufferParameter)]
        self._known: dict[tuple[Any, ...], _Known] = {}

    def bind(self, args: tuple[Any, ...]) -> tuple[list[Any], Any]:
        """Return what the function is called with, and what must stay alive until it returns.

        The former are addresses of arrays and numbers in the order of parameters, then the sizes. ArgumentError for a
        call that must not run; NotCompact for one that a variant with strides can run.
        """
        if len(args) != len(self._params):
            raise ArgumentError(f"{self.name}: expected {len(self._params)} arguments, got {len(args)}", "", self.text)
        alive: Any = args
        values, key = self._seen(args)
        known = self._known.get(key) if key else None
        if known is None:
            values, known, alive = self._first(args, key)
        for at, align in self._aligned:
            if values[at] % align:
                self._refuse_alignment(at, values[at])
        for a, low, high, b, other_low, other_high in known.pairs:
            if values[a] + low < values[b] + other_high and values[b] + other_low < values[a] + high:
                self._check_shared(a, b, args)
        return values + known.sizes, alive

    def _seen(self, args: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
        """Return addresses and numbers, and what the layouts are told by; () where an array has no array interface."""
        values: list[Any] = []
        key: list[Any] = []
        for param, arg in zip(self._params, args, strict=True):
            if isinstance(param, ScalarParameter):
                values.append(converted(arg, param.dtype, param.name, self.text))
                if param.shapes:
                    key.append(values[-1])
                continue
            interface = getattr(arg, self._interface, None)
            if interface is None:
                return values, ()
            pointer, readonly = interface["data"]
            type = interface["typestr"]
            values.append(pointer)
            key.append((arg.dtype if type[1] == "V" else type, interface["shape"], interface.get("strides"), readonly))
        return values, tuple(key)

    def _first(self, args: tuple[Any, ...], key: tuple[Any, ...]) -> tuple[list[Any], _Known, Any]:
        """Check a call whose layout was not seen before, and remember it under `key`."""
        values: list[Any] = []
        scalars: dict[str, int] = {}
        arrays: list[tuple[BufferParameter, View]] = []
        for param, arg in zip(self._params, args, strict=True):
            if isinstance(param, ScalarParameter):
                values.append(converted(arg, param.dtype, param.name, self.text))
                scalars |= {param.name: int(values[-1])} if param.shapes else {}
                continue
            found = view(arg, self.device) or self._refuse_place(param, arg)
            values.append(found.pointer)
            arrays.append((param, found))
        layout = check(self.name, self.text, arrays, self._sizes, scalars)
        known = _Known([layout.sizes[name] for name in self._sizes], _pairs([param for param, _ in arrays], layout.spans))
        if len(self._known) >= _KNOWN_LAYOUTS:
            self._known.clear()
        if key:
            self._known[key] = known
        return values, known, [found.owner for _, found in arrays]

    def _refuse_place(self, param: BufferParameter, arg: Any) -> View:
        here = place(arg)
        kind = f"{type(arg).__module__}.{type(arg).__name__}".removeprefix("builtins.")
        if not here:
            asked = f"argument {param.name}: expected an array of {param.dtype}, got {kind}"
            raise ArgumentError(asked, "it has no array interface and no DLPack", self.text)
        where = {"cpu": "in CPU memory", "cuda": "on the GPU"}
        because = f"a {kind} is {where.get(here, f'on {here}')}"
        raise ArgumentError(f"argument {param.name}: expected an array {where[self.device]}", because, self.text)

    def _refuse_alignment(self, at: int, pointer: int) -> None:
        param = self._params[at]
        assert isinstance(param, BufferParameter)
        asked = f"argument {param.name}: needs {param.align}-byte alignment"
        raise ArgumentError(asked, f"its address is {pointer:#x}", self.text)

    def _check_shared(self, output: int, other: int, args: tuple[Any, ...]) -> None:
        if shares(args[output], args[other]):
            names = self._params[output].name, self._params[other].name
            because = "an output is written while the other arguments are in use"
            raise ArgumentError(f"argument {names[0]}: shares memory with argument {names[1]}", because, self.text)


def _pairs(
    params: list[BufferParameter], spans: list[tuple[int, int]]
) -> list[tuple[int, int, int, int, int, int]]:
    """Return each output with each other array, once, as `_Known` has them."""
    covering = [(param, *span) for param, span in zip(params, spans, strict=True) if span != (0, 0)]
    return [
        (a.place, a_low, a_high, b.place, b_low, b_high)
        for a, a_low, a_high in covering
        for b, b_low, b_high in covering
        if a.output and a is not b and (a.place < b.place or not b.output)
    ]
