"""Rules in the IR's own notation, compiled to functions at first use.

    Rule("min(min(x, c0), c1)", "min(x, min(c0, c1))")
    Rule("max(x, c0) == c0", "x <= c0", kind=EXACT)
    Rule("x < y and y < x", "False", when="integer(x)")

x y z w stand for anything, p q r for anything of type bool, c0 c1 ... for integer constants (in every lane of a
vector), L for a number of lanes; the same name twice is the same expression. Numbers, True and False stand for
themselves. In `after` and `when`, arithmetic on constants alone is done in Python's integers. `when` is a Python
condition that may also ask `proved(condition)` and `integer(x)`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ..dtype import DType
from ..ir import expr as E
from ..ir import make
from ..ir.constant import wrap
from ..ir.node import Expr
from .affine import number
from .canonical import is_exact
from .facts import Facts
from .prove import proves
from .sums import constant

ANY, RING, EXACT, FLOAT = "any", "ring", "exact", "float"
"""For what a rule is right: values of every type; integers that wrap too; integers where nothing wraps; floats."""


class Rule(NamedTuple):
    """before -> after, where `when` holds, for operands of that kind."""

    before: str
    after: str
    when: str = "True"
    kind: str = ANY


_BINARY: Final[dict[type, str]] = {
    ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul", ast.Div: "Div", ast.FloorDiv: "FloorDiv", ast.Mod: "FloorMod",
    ast.Lt: "Lt", ast.LtE: "Le", ast.Eq: "Eq", ast.NotEq: "Ne", ast.And: "And", ast.Or: "Or",
}  # fmt: skip
_NAMED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "min": ("Min", ("a", "b")),
    "max": ("Max", ("a", "b")),
    "truncdiv": ("TruncDiv", ("a", "b")),
    "truncmod": ("TruncMod", ("a", "b")),
    "select": ("Select", ("condition", "yes", "no")),
    "if_else": ("IfElse", ("condition", "yes", "no")),
    "ramp": ("Ramp", ("base", "stride", "lanes")),
    "broadcast": ("Broadcast", ("value", "lanes")),
}


def _pieces(node: ast.expr) -> tuple[str, tuple[str, ...], list[ast.expr]] | None:
    """Return (node class, its fields, what stands in them) of a composite; None for a name or a number."""
    match node:
        case ast.BinOp(left, op, right):
            return _BINARY[type(op)], ("a", "b"), [left, right]
        case ast.Compare(left, [op], [right]):
            return _BINARY[type(op)], ("a", "b"), [left, right]
        case ast.BoolOp(op, [left, right]):
            return _BINARY[type(op)], ("a", "b"), [left, right]
        case ast.UnaryOp(ast.Not(), operand):
            return "Not", ("a",), [operand]
        case ast.Call(ast.Name(name), args):
            kind, fields = _NAMED[name]
            return kind, fields, args
        case _:
            return None


class _Matcher:
    """Writes the tests of one pattern, outermost first, as Python conditions that bind its names."""

    def __init__(self) -> None:
        self.tests: list[str] = []
        self.bound: set[str] = set()
        self._temporaries = 0

    def match(self, pattern: ast.expr, at: str, root: bool = False) -> None:
        composite = _pieces(pattern)
        if composite is None:
            self._match_leaf(pattern, at)
            return
        kind, fields, parts = composite
        if not root:
            self._temporaries += 1
            held = f"t{self._temporaries}"
            self.tests.append(f"type({held} := {at}) is {kind}")
            at = held
        for field, part in zip(fields, parts, strict=True):
            self.match(part, f"{at}.{field}")

    def _match_leaf(self, pattern: ast.expr, at: str) -> None:
        if isinstance(pattern, ast.Name):
            self._match_name(pattern.id, at)
            return
        value = ast.literal_eval(pattern)
        self.tests.append(f"stands_for({at}, {value!r})")

    def _match_name(self, name: str, at: str) -> None:
        value = f"constant({at})" if _is_constant(name) else at
        same = "==" if _is_constant(name) or name == "L" else "is"
        if name in self.bound:
            self.tests.append(f"{value} {same} {name}")
        else:
            self.tests.append(f"({name} := {value}) is not None")
            self.bound.add(name)


def _is_constant(name: str) -> bool:
    return name[0] == "c" and name[1:].isdigit()


def _only_constants(node: ast.expr) -> bool:
    names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id not in ("min", "max")]
    return bool(names) and all(_is_constant(name) for name in names) and not isinstance(node, ast.Compare)


def construction(node: ast.expr, like: str) -> str:
    """Write the construction of `after`; `like` is the Python text of the type that its constants have."""
    if _only_constants(node):
        return f"number({ast.unparse(node)}, {like})"
    composite = _pieces(node)
    if composite is None:
        if isinstance(node, ast.Name):
            return node.id
        value = ast.literal_eval(node)
        return f"truth({value}, {like}.lanes)" if isinstance(value, bool) else f"literal({value!r}, {like})"
    kind, _, parts = composite
    if kind in ("Ramp", "Broadcast"):
        like = f"{like}.element"
    built = [construction(part, like) for part in parts]
    return f"{kind}({', '.join(built)})"


def _new_constants(node: ast.expr) -> list[str]:
    """Return the constants that `after` computes, outermost expressions only."""
    if _only_constants(node):
        return [] if isinstance(node, ast.Name) else [ast.unparse(node)]
    composite = _pieces(node)
    return [] if composite is None else [text for part in composite[2] for text in _new_constants(part)]


class _Conditions(ast.NodeTransformer):
    """Turns proved(i < n) into a proof of the condition that it builds."""

    def __init__(self, like: str) -> None:
        self.like = like

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id == "proved":
            return ast.parse(f"proves({construction(node.args[0], self.like)}, facts)", mode="eval").body
        return node


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _source(rule: Rule, position: int) -> str:
    """Write one rule: the cheap tests first, what is asked of the result last."""
    matcher = _Matcher()
    matcher.match(_expression(rule.before), "node", root=True)
    after = _expression(rule.after)
    tests = [*_KIND_TESTS[rule.kind], *matcher.tests]
    if rule.when != "True":
        tests.append(f"({ast.unparse(_Conditions('like').visit(_expression(rule.when)))})")
    new = construction(after, "like")
    if rule.kind == EXACT:
        tests += [f"holds({text}, like)" for text in _new_constants(after)]
        tests += ["is_exact(node)", f"is_exact(new := {new})"]
    else:
        tests.append(f"(new := {new}) is not node")
    return f"    if {' and '.join(tests)}:\n        fired[{position}] += 1\n        return new\n"


_KIND_TESTS: Final = {ANY: [], RING: ["like.is_integer"], EXACT: ["like.is_integer"], FLOAT: ["like.is_float"]}


def _stands_for(node: Expr, value: int | float | bool) -> bool:
    """Return whether `node` is the number `value`, of its own kind, in every lane."""
    if isinstance(node, E.Broadcast):
        node = node.value
    if not isinstance(node, E.Const) or type(node.value) is not type(value):
        return False
    return E.Const(value, node.dtype) is node


def _truth(value: bool, lanes: int) -> Expr:
    return make.broadcast(make.TRUE if value else make.FALSE, lanes)


def _holds(value: int, dtype: DType) -> bool:
    return wrap(value, dtype) == value


def _literal(value: int | float, like: DType) -> Expr:
    return make.broadcast(make.const(value, like.element), like.lanes)


_NODES = (
    *(E.Add, E.Sub, E.Mul, E.Div, E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod, E.Min, E.Max),
    *(E.Eq, E.Ne, E.Lt, E.Le, E.And, E.Or, E.Not, E.Select, E.IfElse, E.Ramp, E.Broadcast),
)
NAMES: Final[dict[str, Any]] = {
    "constant": constant,
    "holds": _holds,
    "integer": lambda x: x.dtype.is_integer,
    "is_exact": is_exact,
    "literal": _literal,
    "number": number,
    "proves": proves,
    "stands_for": _stands_for,
    "truth": _truth,
    **{node.__name__: node for node in _NODES},
}
"""What compiled rules call."""


class Table:
    """The rules of one operator, tried in order; `fired` counts how often each was used."""

    def __init__(self, operator: type[Expr], rules: Sequence[Rule]) -> None:
        self.operator, self.rules = operator, tuple(rules)
        self.fired = [0] * len(self.rules)
        self._function: Callable[[Any, Facts], Expr | None] | None = None

    def __call__(self, node: Expr, facts: Facts) -> Expr | None:
        """Return what the first rule that matches makes of `node`, None when none does."""
        if self._function is None:
            self._function = self._compile()
        return self._function(node, facts)

    def source(self) -> str:
        """Return the Python text that the rules are compiled to."""
        first = self.operator.children[0]
        held = "yes" if "yes" in self.operator.children else first
        head = f"def {self.operator.__name__.lower()}_rules(node, facts):\n    like = node.{held}.dtype\n"
        return head + "".join(_source(rule, position) for position, rule in enumerate(self.rules)) + "    return None\n"

    def _compile(self) -> Callable[[Any, Facts], Expr | None]:
        names: dict[str, Any] = {}
        code = compile(self.source(), f"<rules of {self.operator.__name__}>", "exec")
        exec(code, {**NAMES, "fired": self.fired}, names)
        return names[f"{self.operator.__name__.lower()}_rules"]
