"""Stores that nothing reads go, with the memory they fill; what has an effect stays."""

from __future__ import annotations

import pytest

from tecomp.ir.parse import parse
from tecomp.passes.unread import without_unread

BEFORE = """
def f(A: f32[n], C: out[f32[n]]):
    T = alloc(f32[n])
    for i in range(n):
        T[i] = A[i] + 1.0
        C[i] = {value}
"""


@pytest.mark.parametrize(("value", "kept"), [("A[i]", False), ("T[i]", True), ("T[i] if A[i] < 0.0 else 1.0", True)])
def test_what_is_read_stays(value, kept):
    func = parse(BEFORE.format(value=value))
    assert ("T" in repr(without_unread(func.body))) is kept


def test_a_call_with_an_effect_stays():
    func = parse(BEFORE.format(value="A[i]").replace("A[i] + 1.0", "call_extern[f32]('rand', A[i])"))
    text = repr(without_unread(func.body))
    assert "T[" not in text
    assert "call_extern[f32]('rand', A[i])" in text


@pytest.mark.parametrize(
    ("call", "kept"),
    [("atomic_add(address(T[i], 'rwu'), A[i])", False), ("call_extern('fill', address(T, 'w'))", True)],
)
def test_a_function_that_gets_an_address_finds_memory_there(call, kept):
    """An atomic update of what nothing reads goes, a call of anything else stays, and so does what it writes."""
    func = parse(BEFORE.format(value="A[i]").replace("C[i] =", f"{call}\n        C[i] ="))
    text = repr(without_unread(func.body))
    assert ("address(T" in text, "T = alloc" in text) == (kept, kept)
