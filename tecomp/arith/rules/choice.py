"""select and if_else. Of `if_else` the side not taken is never evaluated, so it may not become part of a select."""

from __future__ import annotations

from ...ir import expr as E
from ..pattern import RING, Rule, Table

SELECT = Table(E.Select, [
    Rule("select(True, x, y)", "x"),
    Rule("select(False, x, y)", "y"),
    Rule("select(p, x, x)", "x"),
    Rule("select(p, True, False)", "p"),
    Rule("select(p, False, True)", "not p"),
    Rule("select(p, True, q)", "p or q"),
    Rule("select(p, q, False)", "p and q"),
    Rule("select(not p, x, y)", "select(p, y, x)"),
    Rule("select(p, select(p, x, y), z)", "select(p, x, z)"),
    Rule("select(p, x, select(p, y, z))", "select(p, x, z)"),
    Rule("select(p, select(q, x, y), y)", "select(p and q, x, y)"),
    Rule("select(p, x, select(q, x, y))", "select(p or q, x, y)"),
    Rule("select(x < y, x, y)", "min(x, y)", kind=RING),
    Rule("select(x < y, y, x)", "max(x, y)", kind=RING),
    Rule("select(x <= y, x, y)", "min(x, y)", kind=RING),
    Rule("select(x <= y, y, x)", "max(x, y)", kind=RING),
    Rule("select(broadcast(p, L), broadcast(x, L), broadcast(y, L))", "broadcast(select(p, x, y), L)"),
])  # fmt: skip

IF_ELSE = Table(E.IfElse, [
    Rule("if_else(True, x, y)", "x"),
    Rule("if_else(False, x, y)", "y"),
    Rule("if_else(p, x, x)", "x"),
    Rule("if_else(p, True, False)", "p"),
    Rule("if_else(p, False, True)", "not p"),
    Rule("if_else(p, True, q)", "p or q"),
    Rule("if_else(p, q, False)", "p and q"),
    Rule("if_else(not p, x, y)", "if_else(p, y, x)"),
    Rule("if_else(p, if_else(p, x, y), z)", "if_else(p, x, z)"),
    Rule("if_else(p, x, if_else(p, y, z))", "if_else(p, x, z)"),
    Rule("if_else(p, if_else(q, x, y), y)", "if_else(p and q, x, y)"),
    Rule("if_else(p, x, if_else(q, x, y))", "if_else(p or q, x, y)"),
    Rule("if_else(broadcast(p, L), broadcast(x, L), broadcast(y, L))", "broadcast(if_else(p, x, y), L)"),
])  # fmt: skip
