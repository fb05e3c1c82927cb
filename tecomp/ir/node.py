"""What every expression node shares: interning, children, operators."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Self

from ..dtype import DType
from .flat import found, placed, rows_of

OPERATORS: dict[str, Callable[..., Any]] = {}
"""What Python's operators build; `make` fills it, so that nodes need not know how types are promoted."""


class Operators:
    """Python's arithmetic and comparison operators, for whatever `make.convert` turns into an expression."""

    __slots__ = ()

    # fmt: off
    def __add__(self, other: Any) -> Expr: return OPERATORS["add"](self, other)
    def __radd__(self, other: Any) -> Expr: return OPERATORS["add"](other, self)
    def __sub__(self, other: Any) -> Expr: return OPERATORS["sub"](self, other)
    def __rsub__(self, other: Any) -> Expr: return OPERATORS["sub"](other, self)
    def __mul__(self, other: Any) -> Expr: return OPERATORS["mul"](self, other)
    def __rmul__(self, other: Any) -> Expr: return OPERATORS["mul"](other, self)
    def __truediv__(self, other: Any) -> Expr: return OPERATORS["div"](self, other)
    def __rtruediv__(self, other: Any) -> Expr: return OPERATORS["div"](other, self)
    def __floordiv__(self, other: Any) -> Expr: return OPERATORS["floordiv"](self, other)
    def __rfloordiv__(self, other: Any) -> Expr: return OPERATORS["floordiv"](other, self)
    def __pow__(self, other: Any) -> Expr: return OPERATORS["pow"](self, other)
    def __rpow__(self, other: Any) -> Expr: return OPERATORS["pow"](other, self)
    def __mod__(self, other: Any) -> Expr: return OPERATORS["floormod"](self, other)
    def __rmod__(self, other: Any) -> Expr: return OPERATORS["floormod"](other, self)
    def __neg__(self) -> Expr: return OPERATORS["neg"](self)
    def __invert__(self) -> Expr: return OPERATORS["bitwise_not"](self)
    def __lshift__(self, other: Any) -> Expr: return OPERATORS["shift_left"](self, other)
    def __rlshift__(self, other: Any) -> Expr: return OPERATORS["shift_left"](other, self)
    def __rshift__(self, other: Any) -> Expr: return OPERATORS["shift_right"](self, other)
    def __rrshift__(self, other: Any) -> Expr: return OPERATORS["shift_right"](other, self)
    def __and__(self, other: Any) -> Expr: return OPERATORS["bitwise_and"](self, other)
    def __rand__(self, other: Any) -> Expr: return OPERATORS["bitwise_and"](other, self)
    def __or__(self, other: Any) -> Expr: return OPERATORS["bitwise_or"](self, other)
    def __ror__(self, other: Any) -> Expr: return OPERATORS["bitwise_or"](other, self)
    def __xor__(self, other: Any) -> Expr: return OPERATORS["bitwise_xor"](self, other)
    def __rxor__(self, other: Any) -> Expr: return OPERATORS["bitwise_xor"](other, self)
    def __lt__(self, other: Any) -> Expr: return OPERATORS["lt"](self, other)
    def __le__(self, other: Any) -> Expr: return OPERATORS["le"](self, other)
    def __gt__(self, other: Any) -> Expr: return OPERATORS["lt"](other, self)
    def __ge__(self, other: Any) -> Expr: return OPERATORS["le"](other, self)
    def __eq__(self, other: object) -> Any: return OPERATORS["eq"](self, other)
    def __ne__(self, other: object) -> Any: return OPERATORS["ne"](self, other)
    def __abs__(self) -> Expr: return OPERATORS["abs"](self)
    # fmt: on
    __hash__ = object.__hash__
    __array_ufunc__ = None
    """Tells NumPy's numbers and arrays that operators beside one of these are this one's."""

    def __int__(self) -> int:
        """Return the value of a constant."""
        return int(OPERATORS["number"](self))

    def __float__(self) -> float:
        """Return the value of a constant."""
        return float(OPERATORS["number"](self))

    def equal(self, other: Any) -> Expr:
        """Return the condition that both are equal, as == does."""
        return OPERATORS["eq"](self, other)

    def astype(self, dtype: str) -> Expr:
        """Return this value converted to `dtype` (float to int truncates toward zero)."""
        return OPERATORS["cast"](dtype, self)


class Expr(Operators):
    """A pure value. Two expressions of the same parts are the same object, so `is` compares structure.

    A subclass names its parts once, in `fields`; `children` are those that hold an Expr or a tuple of them. From that
    follow construction (`Add(a, b)`), interning, traversal and rebuilding.
    """

    __slots__ = ("__weakref__", "bounds", "dtype")
    fields: ClassVar[tuple[str, ...]] = ()
    children: ClassVar[tuple[str, ...]] = ()
    dtype: DType
    bounds: Any
    """A slot of `arith.interval`, which stores there what it computed; None until then."""

    def __new__(cls, *parts: Any) -> Self:
        """Return the node of these parts, the one that exists already if any does."""
        key = (cls, *parts)
        known = _INTERNED.get(key)
        if known is not None:
            node = known()
            if node is not None:
                return node  # type: ignore[return-value]
        return cls._create(key, parts)

    @classmethod
    def _create(cls, key: tuple[Any, ...], parts: tuple[Any, ...]) -> Self:
        node = object.__new__(cls)
        for field, part in zip(cls.fields, parts, strict=True):
            setattr(node, field, part)
        node.bounds = None
        node.dtype = node.result_type()
        _INTERNED[key] = _Entry(node, key)
        return node

    def result_type(self) -> DType:
        """Return the type of this node's value, from its parts."""
        raise NotImplementedError

    def parts(self) -> tuple[Any, ...]:
        """Return what this node was made of, in the order of `fields`."""
        return tuple(getattr(self, field) for field in self.fields)

    def operands(self) -> list[Expr]:
        """Return the expressions directly below this one, in order."""
        found: list[Expr] = []
        for field in self.children:
            part = getattr(self, field)
            if isinstance(part, tuple):
                found.extend(part)
            else:
                found.append(part)
        return found

    def with_operands(self, operands: list[Expr]) -> Expr:
        """Return this node over other operands (as many as `operands()` gives)."""
        supply = iter(operands)
        parts: list[Any] = []
        for field in self.fields:
            part = getattr(self, field)
            if field not in self.children:
                parts.append(part)
            elif isinstance(part, tuple):
                parts.append(tuple(next(supply) for _ in part))
            else:
                parts.append(next(supply))
        return type(self)(*parts)

    def check_portable(self) -> None:
        """Raise UserError for what another process would not know, or would take for something else."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a list of nodes; read back, it is interned again."""
        return _rebuilt, (rows_of(self, lambda node: node.operands(), _row),)

    def __bool__(self) -> bool:
        """Refuse: the value is known only when the program runs."""
        return OPERATORS["bool"](self)

    def __repr__(self) -> str:
        return OPERATORS["repr"](self)


def _row(node: Expr, places: dict[Any, int]) -> Any:
    """Return a node of a pickled list: a leaf as it is, another as its class and its parts."""
    node.check_portable()
    if not node.children:
        return node
    parts = zip(node.fields, node.parts(), strict=True)
    return type(node), tuple(placed(part, places) if field in node.children else part for field, part in parts)


def _rebuilt(rows: list[Any]) -> Expr:
    nodes: list[Any] = []
    for row in rows:
        if isinstance(row, Expr):
            nodes.append(row)
            continue
        kind, parts = row
        named = zip(kind.fields, parts, strict=True)
        nodes.append(kind(*(found(part, nodes) if field in kind.children else part for field, part in named)))
    return nodes[-1]


class _Entry(weakref.ref[Expr]):
    """A weak entry of the intern table that removes itself when its node dies."""

    __slots__ = ("key",)
    key: tuple[Any, ...]

    def __new__(cls, node: Expr, key: tuple[Any, ...]) -> Self:
        entry = super().__new__(cls, node, _forget)
        entry.key = key
        return entry


_INTERNED: dict[tuple[Any, ...], _Entry] = {}


def _forget(entry: weakref.ref[Expr]) -> None:
    assert isinstance(entry, _Entry)
    if _INTERNED.get(entry.key) is entry:
        del _INTERNED[entry.key]
