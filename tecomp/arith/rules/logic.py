"""and, or, not. Their right side is evaluated only where the left one leaves the answer open."""

from __future__ import annotations

from ...ir import expr as E
from ..pattern import Rule, Table

AND = Table(E.And, [
    Rule("True and p", "p"),
    Rule("p and True", "p"),
    Rule("False and p", "False"),
    Rule("p and False", "False"),
    Rule("p and p", "p"),
    Rule("p and (p and q)", "p and q"),
    Rule("(p and q) and p", "p and q"),
    Rule("(p and q) and q", "p and q"),
    Rule("p and not p", "False"),
    Rule("not p and p", "False"),
    Rule("p and (p or q)", "p"),
    Rule("p and (q or p)", "p"),
    Rule("(p or q) and p", "p"),
    Rule("(q or p) and p", "p"),
    Rule("p and (q and r)", "(p and q) and r"),
    Rule("broadcast(p, L) and broadcast(q, L)", "broadcast(p and q, L)"),
])  # fmt: skip

OR = Table(E.Or, [
    Rule("False or p", "p"),
    Rule("p or False", "p"),
    Rule("True or p", "True"),
    Rule("p or True", "True"),
    Rule("p or p", "p"),
    Rule("(p or q) or p", "p or q"),
    Rule("(p or q) or q", "p or q"),
    Rule("p or not p", "True"),
    Rule("not p or p", "True"),
    Rule("p or (p and q)", "p"),
    Rule("p or (q and p)", "p"),
    Rule("(p and q) or p", "p"),
    Rule("(q and p) or p", "p"),
    Rule("(p and q) or (p and r)", "p and (q or r)"),
    Rule("p or (q or r)", "(p or q) or r"),
    Rule("broadcast(p, L) or broadcast(q, L)", "broadcast(p or q, L)"),
])  # fmt: skip

NOT = Table(E.Not, [
    Rule("not True", "False"),
    Rule("not False", "True"),
    Rule("not not p", "p"),
    Rule("not (x < y)", "y <= x", when="integer(x)"),
    Rule("not (x <= y)", "y < x", when="integer(x)"),
    Rule("not (x == y)", "x != y"),
    Rule("not (x != y)", "x == y"),
    Rule("not (p and q)", "not p or not q"),
    Rule("not (p or q)", "not p and not q"),
    Rule("not broadcast(p, L)", "broadcast(not p, L)"),
])  # fmt: skip
