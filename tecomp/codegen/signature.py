"""The signature of a function: what a runtime must know to check a call, as plain data."""

from __future__ import annotations

from typing import Any, Final

from ..errors import InternalError
from ..ir import expr as E
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Buffer
from .names import PYTHON_RESERVED, Names

_INFIX: Final[dict[type[Expr], str]] = {
    E.Add: "+", E.Sub: "-", E.Mul: "*", E.FloorDiv: "//", E.FloorMod: "%",
    E.Lt: "<", E.Le: "<=", E.Eq: "==", E.Ne: "!=",
}  # fmt: skip
_PREFIX: Final[dict[type[Expr], str]] = {E.Min: "min", E.Max: "max"}


def signature(func: Func) -> dict[str, Any]:
    """Return the signature of `func`, JSON-able.

    X: float32[m, n + 1] -> {"name": "X", "kind": "buffer", "dtype": "float32", "shape": ["m", "n + 1"],
    "strides": None, "output": False, "align": 4}; a scalar -> {"name": "a", "kind": "scalar", "dtype": "float32"},
    and "least": 0 where it is a size. An extent is an int or a Python expression over scalar parameters and "sizes",
    which a call solves from its arrays.
    Strides count elements; None is row-major without gaps. A buffer of vectors has their lanes as its last dimension.
    What the function requires of its sizes is in "requires", each condition with its reason.
    """
    names = Names(PYTHON_RESERVED)
    labels = [names.fresh(param.name) for param in func.params]
    known: dict[E.Var, str] = {
        param: label for param, label in zip(func.params, labels, strict=True) if isinstance(param, E.Var)
    }
    sizes = {var: names.fresh(var.name) for var in func.sizes()}
    known.update(sizes)
    params = [
        _buffer(param, label, param in func.outputs, known) if isinstance(param, Buffer) else _scalar(param, label)
        for param, label in zip(func.params, labels, strict=True)
    ]
    requires = [[_text(condition, known), reason] for condition, reason in func.requires]
    return {"name": func.name, "params": params, "sizes": list(sizes.values()), "requires": requires}


def _scalar(param: E.Var, label: str) -> dict[str, Any]:
    least = {"least": int(param.min.value)} if isinstance(param.min, E.Const) else {}
    return {"name": label, "kind": "scalar", "dtype": _plain(param.dtype), **least}


def _buffer(buffer: Buffer, label: str, output: bool, known: dict[E.Var, str]) -> dict[str, Any]:
    lanes = buffer.dtype.lanes
    shape: list[int | str] = [_text(extent, known) for extent in buffer.shape]
    strides = None if buffer.strides is None else [_text(stride, known) for stride in buffer.strides]
    if lanes > 1:
        shape.append(lanes)
        strides = None if strides is None else [*(_scaled(stride, lanes) for stride in strides), 1]
    return {
        "name": label,
        "kind": "buffer",
        "dtype": _plain(buffer.dtype.element),
        "shape": shape,
        "strides": strides,
        "output": output,
        "align": buffer.align,
    }


def _plain(dtype: str) -> str:
    return "int64" if dtype == "index" else str.__str__(dtype)


def _scaled(stride: int | str, lanes: int) -> int | str:
    return stride * lanes if isinstance(stride, int) else f"({stride}) * {lanes}"


def _text(extent: Expr, known: dict[E.Var, str]) -> int | str:
    """Return an extent as an int, or as Python text with every inner operation in parentheses."""
    if isinstance(extent, E.Const):
        return int(extent.value)
    text = _inner(extent, known)
    return text[1:-1] if text.startswith("(") else text


def _inner(node: Expr, known: dict[E.Var, str]) -> str:
    if isinstance(node, E.Var):
        return known[node]
    if isinstance(node, E.Const):
        return str(int(node.value))
    if isinstance(node, E.Cast):
        return _inner(node.value, known)
    if isinstance(node, E.Binary):
        a, b = _inner(node.a, known), _inner(node.b, known)
        if type(node) in _INFIX:
            return f"({a} {_INFIX[type(node)]} {b})"
        if type(node) in _PREFIX:
            return f"{_PREFIX[type(node)]}({a}, {b})"
    raise InternalError(
        "an extent has no text in a signature", because=f"it holds a {type(node).__name__}", ir=repr(node)
    )
