"""Matrix instructions on arrays of threads: both tables agree, programs of them read back and compile, what is wrong is
said."""

from __future__ import annotations

import re

import pytest

from tecomp.codegen.cuda import printed
from tecomp.codegen.cuda_instruction import has
from tecomp.codegen.cuda_prelude import PRELUDE, prelude, used
from tecomp.errors import InternalError, UnsupportedError
from tecomp.instructions import MATRIX_ROWS, matrix_functions
from tecomp.ir import parse, verify
from tecomp.ir import text as text_of
from tecomp.ir.foreign import gives_nothing, is_opaque
from tecomp.ir.instruction import INSTRUCTIONS, signature_of
from tecomp.ir.matrix_instruction import MATRIX_INSTRUCTIONS
from tecomp.ir.visit import walk
from tecomp.target import Target
from tests.codegen.cuda_programs import HOPPER, compiles, flat
from tests.instructions.matrix_programs import Types, program, row_of, some_rows

SOME = some_rows()
MMA = ("mma_m16n8k16", ("float32", "float16", "float16"))
WGMMA = ("wgmma_m64n64k16", ("float32", "float16", "float16"))


def test_both_tables_have_the_same_instructions_of_as_many_operands() -> None:
    assert MATRIX_ROWS.keys() == MATRIX_INSTRUCTIONS.keys()
    for name, row in MATRIX_ROWS.items():
        operands = INSTRUCTIONS[name].operands
        for types, one in row.typed.items():
            assert {int(at) for at in re.findall(r"\{(\d+)\}", one.cuda)} == {*range(len(operands))}
            assert len(types) in (0, 3)
            held = {operand.name for operand in operands if operand.memory == "local"}
            assert held <= one.bytes_held.keys()


def test_each_function_has_one_name() -> None:
    assert len(matrix_functions()) == sum(len(row.typed) for row in MATRIX_ROWS.values())
    assert not matrix_functions().keys() & PRELUDE.keys()


def test_a_program_holds_the_functions_that_it_calls() -> None:
    call = "wgmma_m64n8k16_f32_f16<1>(d); ldmatrix_x4(f)"
    assert used(call) == ["shared_address", "put_word", "wgmma_descriptor", "ldmatrix_x4", "wgmma_m64n8k16_f32_f16"]
    assert "mma_m16n8k16" not in prelude(call)


@pytest.mark.parametrize(("name", "types"), SOME)
def test_its_program_reads_back(name: str, types: Types) -> None:
    func = flat(program(name, types))
    again = parse(text_of(func))
    verify(again)
    assert text_of(again) == text_of(func)
    call = next(node for node in walk(func.body) if signature_of(node) is not None and node.name == name)
    assert is_opaque(call) and gives_nothing(call)


@pytest.mark.parametrize(("name", "types"), SOME)
def test_it_compiles_where_there_is_one(name: str, types: Types) -> None:
    row = row_of(name, types)
    for arch in ("sm_80", "sm_90a"):
        target = Target.of(f"cuda -arch={arch}")
        if has(arch, row):
            compiles(printed(flat(program(name, types), target), target).source, [arch])
            continue
        with pytest.raises(UnsupportedError) as caught:
            printed(flat(program(name, types), target), target)
        assert f"sm_{row.since}{row.needs}" in caught.value.because and caught.value.asked.endswith(f" on {arch}")


REFUSED = {
    "ldmatrix_x4: row in 'row'": (
        program("ldmatrix_x4", (), at_row="threadIdx_x % 32 * 4"),
        "its address is that of element i64(threadIdx_x % 32 * 4)",
        "multiples of 8 elements, which are 16 bytes",
    ),
    "ldmatrix_x2: to in 'to'": (
        program("ldmatrix_x2", (), size_to="3"),
        "it holds 3 float16, and the instruction takes 4",
        "an array with 4 elements from there on",
    ),
    "ldmatrix_x4_trans: row in 'row'": (
        program("ldmatrix_x4_trans", (), type_row="float32"),
        "it holds float32",
        "elements of 16 bits",
    ),
    "mma_m16n8k16: a in 'a'": (
        program(*MMA, size_a="12", at_a="8"),
        "it holds 12 float16, and the instruction takes 8 from element 8 on",
        "an array with 8 elements from there on",
    ),
    "mma_m16n8k16: c in 'c'": (
        program(*MMA, type_c="float16"),
        "it holds float16, and what is added has the type of d",
        "float32",
    ),
    "mma_m16n8k16 of float16 and bfloat16 in float32": (
        program(*MMA, type_b="bfloat16"),
        "no matrix instruction of that shape multiplies those types",
        "float16 and float16 in float32, bfloat16 and bfloat16 in float32, float16 and float16 in float16",
    ),
    "wgmma_m64n64k16 of int8 and float16 in float32": (
        program(*WGMMA, type_a="int8"),
        "no matrix instruction of that shape multiplies those types",
        "float16 and float16 in float32, bfloat16 and bfloat16 in float32, float16 and float16 in float16",
    ),
    "wgmma_m64n64k16: d in 'd'": (
        program(*WGMMA, size_d="16"),
        "it holds 16 float32, and the instruction takes 32",
        "an array with 32 elements from there on",
    ),
    "wgmma_m64n64k16: b in 'b'": (
        program(*WGMMA, at_b="n"),
        "its address is that of element i64(n)",
        "multiples of 8 elements, which are 16 bytes",
    ),
    "wgmma_m64n64k16": (
        program(*WGMMA).replace("threadIdx_x=128", "threadIdx_x=96"),
        "a block has 96 threads, and 128 do it together",
        "blocks of 128 threads or more",
    ),
    "wgmma_m64n64k32: a in 'a'": (
        program("wgmma_m64n64k32", ("int32", "int8", "int8"), major_a="1"),
        "it holds int8, and its rows lie along the bytes",
        "major 0; elements of 16 bits have both",
    ),
}


@pytest.mark.parametrize("asked", REFUSED)
def test_refusals(asked: str) -> None:
    text, because, legal = REFUSED[asked]
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(text), HOPPER)
    assert (caught.value.asked, caught.value.because, caught.value.legal) == (asked, because, legal)


WRONG = {
    "swizzle_b is 96, and must be 0 or 32 or 64 or 128": {"swizzle_b": "96"},
    "stride_a is 1000, and must be 0 to 262128 in steps of 16": {"stride_a": "1000"},
    "leading_a is 8, and must be 0 to 262128 in steps of 16": {"leading_a": "8"},
    "major_a is 2, and must be 0 or 1": {"major_a": "2"},
    "scale_d is 2, and must be 0 or 1": {"scale_d": "2"},
    "stride_b is n, which is no constant integer": {"stride_b": "n"},
}


@pytest.mark.parametrize("because", WRONG)
def test_what_is_no_such_instruction(because: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify(parse(program(*WGMMA, **WRONG[because])))
    assert caught.value.because == f"wgmma_m64n64k16: {because}"


def test_names_are_seen_through() -> None:
    """What an address is a multiple of is known though its parts have names."""
    text = program("ldmatrix_x4", (), at_row="r").replace("row = ", "r = threadIdx_x % 32 * 8\n        row = ")
    compiles(printed(flat(text), HOPPER).source, ["sm_90a"])


def test_an_element_of_several() -> None:
    """A loop's index says where in an array the registers are; the last of them are inside."""
    text = program(*MMA, size_d="8", at_d="i * 4")
    call = next(line for line in text.splitlines() if "mma_" in line)
    looped = text.replace(call, f"        for i in unrolled(2):\n    {call}")
    compiles(printed(flat(looped), HOPPER).source, ["sm_90a"])
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(looped.replace("unrolled(2)", "unrolled(3)")), HOPPER)
    assert caught.value.because.endswith("the instruction takes 4 from element i64(i * 4) on")


@pytest.mark.parametrize(("swizzle", "align"), [(0, 16), (32, 256), (64, 512), (128, 1024)])
def test_swizzled_factors_begin_where_the_pattern_does(swizzle: int, align: int) -> None:
    source = printed(flat(program(*WGMMA, swizzle_a=str(swizzle), swizzle_b="0")), HOPPER).source
    assert f"__shared__ __align__({align}) half a[" in source and "__shared__ __align__(16) half b[" in source


def test_names_of_functions_are_taken() -> None:
    text = program(*MMA).replace("(n: i32)", "(mma_m16n8k16_f32_f16: i32)")
    text = text.replace("        mma_", "        c[0] = f32(mma_m16n8k16_f32_f16)\n        mma_", 1)
    assert "int mma_m16n8k16_f32_f16_" in printed(flat(text), HOPPER).source
