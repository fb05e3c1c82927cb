"""What passes do around calls that may do anything: nothing that changes how often, in what order, on what memory."""

from __future__ import annotations

import pytest

from tecomp.errors import UserError
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import barrier, carry, flatten, hoist, launch, narrow, simplify, vectorize
from tests.passes.programs import CPU, GPU


def unchanged(run, source: str, target=CPU) -> None:
    """Check that a pass leaves the program as it is."""
    before = parse(source)
    assert text(run(before, target)) == text(before)


def test_simplify_keeps_a_call_whose_value_nobody_needs() -> None:
    source = """\
def f(Y: out[f32[n]]):
    x = call_extern[i32]('f', address(Y, 'w'))
    if x == 0:
        pass
"""
    assert text(simplify.run(parse(source), CPU)) == (
        "def f(Y: out[f32[n]]):\n    call_extern[i32]('f', address(Y, 'w'))\n"
    )
    pure = source.replace("call_extern", "call_pure_extern")
    assert text(simplify.run(parse(pure), CPU)) == "def f(Y: out[f32[n]]):\n    pass\n"


@pytest.mark.parametrize("source", [
    """\
def f(Y: out[f32[n]]):
    for i in range(n):
        x = call_extern[f32]('random')
        Y[i] = x
""",
    """\
def f(Y: out[f32[n]]):
    for i in range(n):
        if call_extern[bool]('random'):
            Y[i] = 1.0
""",
    """\
def f(Y: out[f32[n]]):
    for i in range(n):
        x = call_pure_extern[f32]('sum', address(Y, 'r'))
        Y[i] = x
""",
])  # fmt: skip
def test_hoist_leaves_in_its_loop_what_is_not_the_same_each_time(source) -> None:
    unchanged(hoist.run, source)


def test_hoist_moves_a_pure_call_of_numbers() -> None:
    source = """\
def f(Y: out[f32[n]], a: f32):
    for i in range(n):
        x = call_pure_extern[f32]('sinf', a)
        Y[i] = x
"""
    assert "    x = call_pure_extern[f32]('sinf', a)\n    for i" in text(hoist.run(parse(source), CPU))


@pytest.mark.parametrize("body", [
    "call_extern[i32]('f', address(Y, 'rw', i))",
    "Y[i] = call_extern[f32]('random')",
    "Y[ramp(i * 4, 1, 4)] = X[ramp(i * 4, 1, 4)]",
])  # fmt: skip
def test_vectorize_leaves_serial_what_no_lane_owns(body) -> None:
    source = f"def f(X: f32[64], Y: out[f32[64]]):\n    for i in vectorized(8):\n        {body}\n"
    after = text(vectorize.run(parse(source), CPU))
    assert after == text(parse(source.replace("vectorized", "range")))


def test_vectorize_calls_a_pure_function_lane_by_lane() -> None:
    source = """\
def f(X: f32[8], Y: out[f32[8]]):
    for i in vectorized(8):
        x = X[i] * 2.0
        Y[i] = call_pure_extern[f32]('sinf', x)
"""
    assert text(vectorize.run(parse(source), CPU)) == (
        "def f(X: f32[8], Y: out[f32[8]]):\n"
        "    for i in range(8):\n"
        "        x = X[i] * 2.0\n"
        "        Y[i] = call_pure_extern[f32]('sinf', x)\n"
    )


def test_carry_keeps_in_memory_what_a_function_looks_at() -> None:
    source = """\
def f(X: f32[m, n], S: out[f32[m, n]]):
    for bx in thread('blockIdx.x', n):
        for t in range(1, m):
            S[t, bx] = S[t - 1, bx] + X[t, bx]
            call_extern[i32]('look', address(S, 'r'))
"""
    unchanged(carry.run, source, GPU)


def test_a_barrier_stands_between_a_call_and_what_it_wrote() -> None:
    source = """\
def f(X: f32[64], Y: out[f32[64]]):
    for tx in thread('threadIdx.x', 64):
        t = alloc(f32[64], 'shared')
        t[tx] = X[tx]
        call_extern[i32]('turn_round', address(t, 'rw'))
        Y[tx] = t[63 - tx]
"""
    after = text(barrier.run(launch.run(parse(source), GPU), GPU))
    assert [line.strip() for line in after.splitlines()[3:]] == [
        "t[threadIdx_x] = X[threadIdx_x]",
        "barrier_block()",
        "call_extern[i32]('turn_round', address(t, 'rw'))",
        "barrier_block()",
        "Y[threadIdx_x] = t[63 - threadIdx_x]",
    ]


def test_blocks_may_meet_in_functions_alone() -> None:
    source = """\
def f(X: f32[64], Y: out[f32[1]]):
    for bx in thread('blockIdx.x', 64):
        call_extern[f32]('atomicAdd', address(Y, 'rw'), X[bx])
"""
    assert "barrier" not in text(barrier.run(launch.run(parse(source), GPU), GPU))
    beside = source + "        Y[0] = 0.0\n"
    with pytest.raises(UserError) as caught:
        barrier.run(launch.run(parse(beside), GPU), GPU)
    assert caught.value.asked == "global buffer Y is written by one block and read by another of the same kernel"


def test_threads_that_a_name_tells_apart_race_all_the_same() -> None:
    source = """\
def f(X: f32[64], Y: out[f32[1]]):
    for tx in thread('threadIdx.x', 64):
        x = X[tx]
        Y[0] = x
"""
    with pytest.raises(UserError) as caught:
        launch.run(parse(source), GPU)
    assert caught.value.asked == "several threads write one element of Y"


def test_an_address_becomes_one_offset() -> None:
    source = """\
def f(X: f32[n, m], Y: out[f32[n, m]]):
    for i in range(n):
        call_extern[i32]('f', address(X[i, 3], 'r', 2), address(Y, 'w', i), address(Y, 'w'))
"""
    after = text(narrow.run(flatten.run(parse(source), CPU), CPU))
    assert "call_extern[i32]('f', address(X, 'r', i * m + 5), address(Y, 'w', i), address(Y, 'w'))" in after.replace(
        "i64(", ""
    ).replace("m * i", "i * m")


def test_what_an_instruction_gives_is_each_threads_own() -> None:
    source = """\
def f(X: f32[64], Y: out[f32[64]], C: i32[1]):
    for tx in thread('threadIdx.x', 64):
        at = fetch_add(address(C[0], 'rwu'), i32(1))
        Y[index(at)] = 1.0
        if elect_one(-1):
            Y[0] = 2.0
"""
    after = text(launch.run(parse(source), GPU))
    assert [line.strip() for line in after.splitlines()[2:]] == [
        "at = fetch_add(address(C[0], 'rwu'), i32(1))",
        "Y[index(at)] = 1.0",
        "if elect_one(-1):",
        "Y[0] = 2.0",
    ]


def test_no_barrier_stands_where_one_lane_goes() -> None:
    source = """\
def f(X: f32[64], Y: out[f32[64]]):
    for tx in thread('threadIdx.x', 64):
        t = alloc(f32[64], 'shared')
        t[tx] = X[tx]
        if elect_one(-1):
            Y[tx] = t[63 - tx]
"""
    after = text(barrier.run(launch.run(parse(source), GPU), GPU))
    assert [line.strip() for line in after.splitlines()[3:]] == [
        "t[threadIdx_x] = X[threadIdx_x]",
        "barrier_block()",
        "if elect_one(-1):",
        "Y[threadIdx_x] = t[63 - threadIdx_x]",
    ]


def test_a_barrier_that_one_lane_would_need_is_refused() -> None:
    source = """\
def f(X: f32[64], Y: out[f32[64]]):
    for tx in thread('threadIdx.x', 64):
        t = alloc(f32[64], 'shared')
        if elect_one(-1):
            t[tx] = X[tx]
            call_extern[i32]('turn_round', address(t, 'rw'))
"""
    with pytest.raises(UserError) as caught:
        barrier.run(launch.run(parse(source), GPU), GPU)
    assert "the condition elect_one(-1), which is asked once" in caught.value.because
