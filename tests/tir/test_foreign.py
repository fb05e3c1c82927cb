"""Calls of functions that are no part of the program, as expressions."""

from __future__ import annotations

from typing import Any

import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError, UserTypeError
from tecomp.ir.foreign import FUNCTIONS
from tests.tir.refusals import check_refusal

n = te.var("n")
B = tir.decl_buffer((n,), name="B")


def test_calls() -> None:
    assert repr(tir.call_pure_extern("float32", "sinf", te.const(1.0))) == "call_pure_extern[f32]('sinf', f32(1.0))"
    assert repr(tir.call_extern("handle", "f", B, n)) == "call_extern[handle]('f', address(B, 'rw', i32(0)), n)"
    assert repr(tir.call_extern("float32", "ns::f")) == "call_extern[f32]('ns::f')"
    assert (
        repr(tir.call_packed("my.f", B.access_ptr("w"), True)) == "call_packed('my.f', address(B, 'w', i32(0)), True)"
    )
    assert repr(tir.call_intrin("float32", "tir.exp", te.const(1.0))) == "exp(f32(1.0))"


def test_a_leading_uint32_counts_types_in_tvm() -> None:
    x = te.const(1.0)
    plain = tir.call_llvm_pure_intrin("float32", "llvm.sqrt", x)
    assert repr(plain) == "call_llvm_pure_intrin[f32]('llvm.sqrt', f32(1.0))"
    assert tir.call_llvm_pure_intrin("float32", "llvm.sqrt", te.const(1, "uint32"), x) is plain
    assert (
        repr(tir.call_llvm_intrin("int32", "llvm.f", te.const(7, "uint32")))
        == "call_llvm_intrin[i32]('llvm.f', u32(7))"
    )


def test_names_of_python_functions() -> None:
    def sort(x):
        return x

    first, second = tir.call_packed(sort, B), tir.call_packed(sort, B)
    assert first is second
    assert first.name.startswith("call_packed:<sort ")
    named = tecomp.register_func("tests.sort")(sort)
    assert named is sort
    assert FUNCTIONS["tests.sort"] is sort
    tecomp.register_func("tests.sort", sort)
    tecomp.register_func("tests.sort", len, override=True)
    assert tir.call_packed(len, B).name == "call_packed:tests.sort"
    del FUNCTIONS["tests.sort"]


def taken() -> None:
    FUNCTIONS["tests.taken"] = len
    try:
        tecomp.register_func("tests.taken", print)
    finally:
        del FUNCTIONS["tests.taken"]


REFUSED = [
    (
        lambda: tir.call_extern("float32", "a b"),
        UserTypeError,
        "tir.call_extern 'a b'",
        "it is no name of a C function",
        'tir.call_extern("float32", "sinf", x)',
    ),
    (lambda: tir.call_packed(3), UserTypeError, "tir.call_packed of 3", "it is a int", "a function, or its name"),
    (
        lambda: tir.call_packed("f", B.access_ptr("r", offset=4)),
        UserError,
        "tir.call_packed 'f': argument 0 is an address inside 'B'",
        "a Python function gets whole arrays",
        "the buffer itself; numbers that say where",
    ),
    (
        lambda: tir.call_packed("f", B, "fast"),
        UserTypeError,
        "tir.call_packed 'f' with 'fast'",
        "a Python function gets arrays and numbers, no text",
        "functools.partial(f, 'fast'), or a function for each text",
    ),
    (
        lambda: tir.call_packed("f", B.vload([0], "float32x4")),
        UserTypeError,
        "tir.call_packed 'f': argument 0 is float32x4",
        "a Python function gets arrays and numbers",
        "a buffer, a number",
    ),
    (
        lambda: tir.call_llvm_pure_intrin("float32", "sqrt", 1.0),
        UserError,
        "tir.call_llvm_pure_intrin 'sqrt'",
        "an intrinsic of LLVM is named llvm.…",
        "llvm.fma, llvm.x86.…",
    ),
    (
        lambda: tir.call_intrin("handle", "tir.tvm_storage_sync", "shared"),
        UserError,
        "tir.tvm_storage_sync 'shared'",
        "the threads of a block wait for each other where they have to",
        'nothing; tir.tvm_storage_sync("warp")',
    ),
    (
        lambda: tecomp.register_func(""),
        UserTypeError,
        "register_func('')",
        "a name is a text that does not begin with <",
        '"my.sort"',
    ),
    (
        lambda: tecomp.register_func("f", 3),
        UserTypeError,
        "register_func('f') of 3",
        "it is a int",
        "a function",
    ),
    (
        taken,
        UserError,
        "register_func('tests.taken')",
        "another function has this name",
        "another name, or override=True",
    ),
]


@pytest.mark.parametrize(("call", "kind", "asked", "because", "legal"), REFUSED, ids=[case[2] for case in REFUSED])
def test_refused(call, kind, asked, because, legal) -> None:
    check_refusal(__file__, call, kind, asked, because, legal)


def test_an_operation_that_no_target_knows() -> None:
    with pytest.raises(UserError) as caught:
        tir.call_intrin("float32", "tir.frobnicate", 1.0)
    assert caught.value.asked == "tir.call_intrin 'tir.frobnicate'"
    assert caught.value.because == "no operation is called so"
    assert "exp, " in caught.value.legal


def test_a_function_alone_has_its_own_name() -> None:
    try:

        @tecomp.register_func
        def tests_alone(x: Any) -> None:
            pass

        assert FUNCTIONS["tests_alone"] is tests_alone
    finally:
        del FUNCTIONS["tests_alone"]


def test_an_instruction_that_there_is_not_says_what_serves() -> None:
    with pytest.raises(UserError) as caught:
        tir.call_intrin("int32", "tir.mma_fill", 1)
    assert (caught.value.asked, caught.value.because) == ("tir.call_intrin 'tir.mma_fill'", "there is none")
    assert "loop" in caught.value.legal
