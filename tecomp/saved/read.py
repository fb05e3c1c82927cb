"""Reading the text of a schedule: its statements are evaluated one by one, over TE and the primitives alone."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from .. import te
from ..dtype import INT32, DType
from ..errors import TecompError, UserTypeError
from ..ir import expr as E
from ..ir.node import Expr, Operators
from ..ir.parse_expr import ExprReader, ParseError, SourceText, python_tree
from ..schedule.primitive import PRIMITIVES
from ..schedule.schedule import Schedule, Stage
from ..te.reducers import Combination, Reducer, folding
from ..te.tensor import Operation, Tensor
from .formula import Body, Formula, elements
from .intrinsics import by_intrinsic, declared
from .statements import operation

_OPERATORS: Final[dict[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Invert: operator.invert,
    ast.USub: operator.neg,
}
_ATTRIBUTES: Final = {"op", "axis", "reduce_axis", "scan_axis", "shape", "stages"}
_METHODS: Final[dict[type, set[str]]] = {
    Schedule: set(PRIMITIVES),
    Stage: set(PRIMITIVES),
    Operation: {"output"},
    Operators: {"astype"},
}
"""What may be called, of what."""


class _Te:
    """What stands for the name `te` in a text."""


def load(text: str) -> Schedule:
    """Return the schedule that `text` describes, made anew with its computation; ParseError where it describes none."""
    if not isinstance(text, str):
        raise UserTypeError(f"te.load of {text!r}", f"it is a {type(text).__name__}", "what te.save gave")
    reader = _Reader(SourceText(text))
    tree = python_tree(text)
    for statement in tree.body:
        reader.statement(statement)
    schedule = reader.scope.get("s")
    if not isinstance(schedule, Schedule):
        raise ParseError("te.load: the text makes no schedule", "nothing in it is called s", "what te.save gave")
    return schedule


class _Reader:
    """Evaluates a text; `scope` holds what its names stand for."""

    def __init__(self, source: SourceText, scope: Mapping[str, Any] | None = None) -> None:
        self.source = source
        self.scope: dict[str, Any] = {"te": _Te()} if scope is None else dict(scope)

    def statement(self, node: ast.stmt) -> None:
        """Evaluate one; ParseError for what Python itself refuses of its values, as it does where they do not fit."""
        try:
            self._statement(node)
        except TecompError:
            raise
        except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
            raise self.source.error(node, f"{type(error).__name__}: {error}", "what te.save gave") from error

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef):
            self.scope[node.name] = Formula(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self.bind(node.targets[0], self.value(node.value))
        elif isinstance(node, ast.Expr):
            self.value(node.value)
        else:
            raise self.source.error(node, f"{type(node).__name__} is not part of a saved schedule")

    def bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.scope[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(value):
            for part, one in zip(target.elts, value, strict=True):
                self.bind(part, one)
        else:
            raise self.source.error(target, "the value has other parts than the names")

    def value(self, node: ast.expr) -> Any:
        """Return what an expression of the schedule gives."""
        verb = _VALUE.get(type(node))
        if verb is None:
            raise self.source.error(node, f"{type(node).__name__} is not part of a saved schedule")
        return verb(self, node)

    def constant(self, node: ast.Constant) -> Any:
        return node.value

    def name(self, node: ast.Name) -> Any:
        if node.id not in self.scope:
            raise self.source.error(node, f"nothing is called {node.id!r} here")
        return self.scope[node.id]

    def sequence(self, node: ast.Tuple | ast.List) -> Any:
        values = [self.value(part) for part in node.elts]
        return tuple(values) if isinstance(node, ast.Tuple) else values

    def mapping(self, node: ast.Dict) -> Any:
        return ast.literal_eval(node)

    def formula(self, node: ast.Lambda) -> Any:
        return Formula(node)

    def attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, _Te) and node.attr in te.__all__:
            return getattr(te, node.attr)
        if node.attr not in _ATTRIBUTES:
            raise self.source.error(node, f"'.{node.attr}' is not part of a saved schedule")
        return getattr(owner, node.attr)

    def subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.value(node.slice)]

    def operation(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(left, (str, tuple, list)) or isinstance(right, (str, tuple, list)):
            raise self.source.error(node, "it is an operation of numbers")
        return self.operator(node, node.op)(left, right)

    def unary(self, node: ast.UnaryOp) -> Any:
        return self.operator(node, node.op)(self.value(node.operand))

    def comparison(self, node: ast.Compare) -> Any:
        return self.operator(node, node.ops[0])(self.value(node.left), self.value(node.comparators[0]))

    def operator(self, node: ast.expr, symbol: ast.AST) -> Callable[..., Any]:
        if type(symbol) not in _OPERATORS:
            raise self.source.error(node, f"{type(symbol).__name__} is not part of a saved schedule")
        return _OPERATORS[type(symbol)]

    def call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Attribute):
            return self.exprs(self.scope)(node)
        owner, name = self.value(node.func.value), node.func.attr
        special = _SPECIAL.get(name) if isinstance(owner, _Te) else None
        args = [self.value(argument) for argument in node.args]
        more = {keyword.arg or "": self.value(keyword.value) for keyword in node.keywords}
        if special is not None:
            return special(self, *args, **more)
        return self.function(node, owner, name)(*map(self.callable, args), **more)

    def function(self, node: ast.Call, owner: Any, name: str) -> Callable[..., Any]:
        if isinstance(owner, _Te) and name in te.__all__:
            return getattr(te, name)
        if any(isinstance(owner, kind) and name in methods for kind, methods in _METHODS.items()):
            return getattr(owner, name)
        raise self.source.error(node, f"'{name}' is not part of a saved schedule")

    def callable(self, value: Any) -> Any:
        """Return a formula that a primitive takes as a function; any other value as it is."""
        if not isinstance(value, Formula):
            return value

        def apply(*arguments: Any) -> Any:
            inner = _Reader(self.source, self.scope | dict(zip(value.arguments, arguments, strict=True)))
            return inner.value(value.value(self.source))

        return apply

    def placeholder(self, shape: Any, dtype: str, name: str, tag: str = "", attrs: Any = None) -> Tensor:
        if not tag:
            return te.placeholder(shape, dtype, name)
        with te.tag_scope(tag):
            return te.placeholder(shape, dtype, name)

    def reducer(self, join: Formula, identity: Formula, name: str, dtypes: list[str]) -> Reducer:
        kinds = [DType(dtype) for dtype in dtypes]
        operands = [E.Var(one, kind) for one, kind in zip(join.arguments, kinds * 2, strict=True)]
        read = self.exprs(dict(zip(join.arguments, operands, strict=True)))
        result, starts = (tuple(map(read, elements(part.value(self.source)), kinds)) for part in (join, identity))
        half = len(kinds)
        return folding(Combination(name, tuple(operands[:half]), tuple(operands[half:]), result, starts))

    def extern(
        self,
        inputs: list[Tensor],
        body: Formula,
        kind: str,
        known: list[Expr],
        name: str,
        tag: str = "",
        attrs: Any = None,
    ) -> Any:
        made: Any = operation("\n".join(self.lines(body)), inputs, kind, known, name, tag, attrs)
        return made.outputs if made.num_outputs > 1 else made.output(0)

    def intrinsic(self, result: Tensor, parts: list[Any], scalars: list[E.Var], offsets: list[Any], name: str) -> Any:
        texts = [part and ("\n".join(self.lines(part[0])), part[1]) for part in parts]
        return declared(result.op, texts, scalars, offsets, name)

    def lines(self, function: Formula) -> list[str]:
        return self.source.lines[function.node.lineno - 1 : function.node.end_lineno]

    def compute(self, shape: Any, formula: Formula, name: str, varargs_names: Any = None, **notes: Any) -> Any:
        names = varargs_names if varargs_names is not None else formula.arguments

        def element(*axes: Expr) -> Any:
            return Body(self.source, self.scope | dict(zip(formula.arguments, axes, strict=True))).value(formula)

        call = {key: notes.pop(key) for key in ("intrin", "within") if key in notes}
        made = te.compute(shape, element, name, varargs_names=names, **notes)
        return by_intrinsic(made, **call) if call else made

    def exprs(self, local: Mapping[str, Any]) -> ExprReader:
        return ExprReader(self.source, local, INT32)


_VALUE: Final[dict[type[ast.AST], Callable[[_Reader, Any], Any]]] = {
    ast.Constant: _Reader.constant,
    ast.Name: _Reader.name,
    ast.Tuple: _Reader.sequence,
    ast.List: _Reader.sequence,
    ast.Dict: _Reader.mapping,
    ast.Lambda: _Reader.formula,
    ast.Attribute: _Reader.attribute,
    ast.Subscript: _Reader.subscript,
    ast.BinOp: _Reader.operation,
    ast.UnaryOp: _Reader.unary,
    ast.Compare: _Reader.comparison,
    ast.Call: _Reader.call,
}
_SPECIAL: Final[dict[str, Callable[..., Any]]] = {
    "compute": _Reader.compute,
    "comm_reducer": _Reader.reducer,
    "decl_tensor_intrin": _Reader.intrinsic,
    "extern": _Reader.extern,
    "placeholder": _Reader.placeholder,
}
"""Functions of te that a text gives other arguments than a program does."""
