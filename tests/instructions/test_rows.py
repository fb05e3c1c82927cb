"""Both tables name the same instructions; each of them parses, prints, and compiles for every GPU that has it."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

from tecomp.codegen.cuda import printed
from tecomp.codegen.cuda_instruction import has
from tecomp.errors import InternalError, UnsupportedError
from tecomp.instructions import MATRIX_ROWS, ROWS
from tecomp.instructions.exchange_numpy import ATOMICS_NUMPY
from tecomp.instructions.fragments import FRAGMENT_ROWS, WMMA
from tecomp.instructions.updates import UPDATES
from tecomp.ir import parse, verify
from tecomp.ir import text as text_of
from tecomp.ir.atomic import ATOMICS
from tecomp.ir.foreign import gives_nothing, is_opaque
from tecomp.ir.func import Func
from tecomp.ir.instruction import INSTRUCTIONS, signature_of
from tecomp.ir.interpret import interpret
from tecomp.ir.matrix import MATRIX_CALLS
from tecomp.ir.visit import walk
from tecomp.target import Target
from tests.codegen.cuda_programs import ARCHS, compiles, flat
from tests.instructions.programs import around, program

KINDS = {"barrier", "fence", "mbarrier", "vote", "shuffle", "copy", "matrix", "atomic", "registers"}


def parsed(statement: str) -> Func:
    return parse(dedent(around(statement)).strip() + "\n")


def test_each_instruction_has_a_row_and_each_row_an_instruction() -> None:
    assert INSTRUCTIONS.keys() == ROWS.keys() | MATRIX_ROWS.keys()
    assert not ROWS.keys() & MATRIX_ROWS.keys()
    assert {row.kind for row in ROWS.values()} == KINDS
    assert all(name == row.name for name, row in ROWS.items())


def test_each_update_and_each_instruction_on_fragments_says_both_too() -> None:
    assert ATOMICS_NUMPY.keys() == ATOMICS.keys() == UPDATES.keys()
    assert all(row.cuda and callable(row.numpy) for row in UPDATES.values())
    assert FRAGMENT_ROWS.keys() == MATRIX_CALLS.keys()
    assert all(all(row.functions.values()) and row.functions and callable(row.numpy) for row in FRAGMENT_ROWS.values())
    assert len(WMMA) == 1 + sum(len(row.functions) for name, row in FRAGMENT_ROWS.items() if "fill" not in name)


def test_each_row_says_what_it_is_in_cuda_and_what_it_does() -> None:
    assert all(row.cuda and callable(row.numpy) for row in ROWS.values())
    assert all(callable(row.numpy) and row.typed for row in MATRIX_ROWS.values())
    assert all(one.cuda for row in MATRIX_ROWS.values() for one in row.typed.values())


@pytest.mark.parametrize("name", ROWS)
def test_its_program_reads_back(name: str) -> None:
    func = flat(program(name))
    again = parse(text_of(func))
    verify(again)
    assert text_of(again) == text_of(func)
    call = next(node for node in walk(func.body) if signature_of(node) is not None and node.name == name)
    assert is_opaque(call) == INSTRUCTIONS[name].stays
    assert gives_nothing(call) == (INSTRUCTIONS[name].stays and not INSTRUCTIONS[name].gives)


@pytest.mark.parametrize("name", ROWS)
def test_it_compiles_where_there_is_one(name: str) -> None:
    for arch in filter(lambda arch: has(arch, ROWS[name]), ARCHS):
        target = Target.of(f"cuda -arch={arch}")
        compiles(printed(flat(program(name), target), target).source, [arch])
    with_it = [arch for arch in ("sm_75", *ARCHS, "sm_100") if has(arch, ROWS[name])]
    assert with_it, f"{name} is compiled nowhere"


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.since > 70])
def test_it_is_refused_where_there_is_none(name: str) -> None:
    target = Target.of("cuda -arch=sm_75")
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(program(name), target), target)
    assert caught.value.asked.endswith(" on sm_75")
    assert f"sm_{ROWS[name].since}" in caught.value.because and "sm_75" in caught.value.because


def test_a_refusal_says_which_gpu_has_it() -> None:
    target = Target.of("cuda -arch=sm_80")
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(program("elect_one"), target), target)
    assert caught.value.because == "GPUs have it from sm_90 on, and the target is sm_80"
    assert (caught.value.legal, caught.value.ir) == ('target="cuda -arch=sm_90"', "elect_one(i32(-1))")
    target = Target.of("cuda -arch=sm_100")
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(program("wgmma_fence"), target), target)
    assert caught.value.because == "only sm_90a has it, and the target is sm_100"
    assert caught.value.legal == 'target="cuda -arch=sm_90a"'


def test_what_changes_memory_stands_alone() -> None:
    target = Target.of("cuda -arch=sm_80")
    text = around("C[0] = fetch_add(address(C[0], 'rwu'), i32(1)) + i32(1)")
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(text, target), target)
    assert caught.value.asked == "fetch_add in a kernel"
    assert caught.value.legal == "a name for its whole value, and that in its place"


@pytest.mark.parametrize("name", ["barrier_warp", "vote_all", "cp_async_wait", "mbarrier_wait", "fetch_add"])
def test_the_interpreter_points_at_the_simulator(name: str) -> None:
    func = parse(dedent(program(name)).strip() + "\n")
    with pytest.raises(UnsupportedError) as caught:
        interpret(
            func,
            np.zeros(64, "f4"),
            np.zeros((64, 64), "f2"),
            np.zeros((4, 64, 64), "f2"),
            np.zeros(64, "f4"),
            np.zeros(1, "i4"),
        )
    assert (caught.value.asked, caught.value.legal) == (f"{name} in the interpreter", 'target="cuda-sim"')


def test_lanes_beyond_the_warp_keep_their_own_under_the_interpreter() -> None:
    statement = "B[threadIdx_x] = shuffle_{way}(f32(threadIdx_x), 3, -1)"
    for way, last in (("up", [26, 27, 28]), ("down", [29, 30, 31])):
        text = dedent(around(statement.format(way=way))).replace("128", "32").replace("blockIdx_x=2", "blockIdx_x=1")
        result = np.zeros(64, "f4")
        interpret(
            parse(text.strip() + "\n"),
            np.zeros(64, "f4"),
            np.zeros((64, 64), "f2"),
            np.zeros((4, 64, 64), "f2"),
            result,
            np.zeros(1, "i4"),
        )
        assert list(result[29:32]) == last
        assert list(result[:3]) == ([0, 1, 2] if way == "up" else [3, 4, 5])


WRONG = {
    "barrier_warp()": "barrier_warp takes mask",
    "fence_block(1)": "fence_block takes nothing",
    "barrier_named(threadIdx_x, 64)": "barrier_named: id is threadIdx_x, which is no constant integer",
    "barrier_named(16, 64)": "barrier_named: id is 16, and must be 1 to 15",
    "barrier_named(1, 65)": "barrier_named: threads is 65, and must be 32 to 1024 in steps of 32",
    "cp_async(address(S[0], 'w'), address(A[0], 'r'), 5)": "cp_async: bytes is 5, and must be 4 or 8 or 16",
    "cp_async(address(B[0], 'w'), address(A[0], 'r'), 4)": "cp_async: dst lies in global memory, and must in shared",
    "cp_async(address(S[0], 'rw'), address(A[0], 'r'), 4)": (
        "cp_async: dst is an address for 'rw', and must be one for 'w'"
    ),
    "cp_async(S[0], address(A[0], 'r'), 4)": "cp_async: dst is S[0], which is no address",
    "mbarrier_arrive(address(S[0], 'rw'))": "mbarrier_arrive: barrier is the address of float32, and must be of uint64",
    "bulk_store(address(B[0], 'w'), address(S[0], 'r'), 24)": (
        "bulk_store: bytes is 24, and must be 16 to 1048560 in steps of 16"
    ),
    "mbarrier_init(address(bar[0], 'w'), 0)": "mbarrier_init: count is 0, and must be 1 to 1048575",
    "x = vote_all(1, -1)": "vote_all: p is index, and must be one bool",
    "x = vote_ballot[i32](A[0] < 1.0, -1)": "vote_ballot of type int32, and it gives uint32",
    "prefetch(1)": "prefetch: element is 1, which is no element of a buffer",
    "x = fetch_add(address(C[0], 'rwu'), f32(1))": "fetch_add: float32 to 'C', which holds int32",
    "x = fetch_add(address(C[0], 'rwu'), f16(1.0))": (
        "fetch_add: value is float16, and must be int32 or uint32 or uint64 or float32"
    ),
}


@pytest.mark.parametrize("statement", WRONG)
def test_what_is_no_such_instruction(statement: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify(parsed(statement))
    assert caught.value.because == WRONG[statement]
