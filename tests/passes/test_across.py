"""How the threads of a block join their parts: text before and after, and the same results."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp.errors import InternalError
from tecomp.ir.evaluate import ExecutionError
from tecomp.ir.expr import Call
from tecomp.ir.func import Func
from tecomp.ir.instruction import EXCHANGES
from tecomp.ir.interpret import interpret
from tecomp.ir.parse import parse
from tecomp.ir.stmt import Across, Alloc
from tecomp.ir.text import text
from tecomp.ir.visit import walk
from tecomp.passes import across, barrier, launch, simplify, vectorize
from tests.goldens import Golden
from tests.passes.programs import GPU, refusal, same_results

SUM = "[B_part], [0.0], lambda x, y: x + y"


def joined(source: str) -> tuple[Func, Func, Func]:
    """Return the program, its kernels, and these with the joins written out and barriers in place."""
    loops = parse(source)
    device = simplify.run(launch.run(loops, GPU), GPU)
    return loops, device, barrier.run(across.run(device, GPU), GPU)


def rows(threads: int, inner: int = 8) -> str:
    return f"""
def f(A: f32[n, {inner}, {threads}], B: out[f32[n]]):
    for i in thread('blockIdx.x', n):
        B_part: f32
        with across(['threadIdx.x'], {SUM}):
            for t in thread('threadIdx.x', {threads}):
                for k in range({inner}):
                    B_part = B_part + A[i, k, t]
        B[i] = B_part
"""


def groups(joining: str, x: int, y: int) -> str:
    """Return sums along one of two thread axes, one sum fewer than the other has threads."""
    data, here = ("x", "y") if joining == "y" else ("y", "x")
    count, length = (x, y) if joining == "y" else (y, x)
    return f"""
def f(A: f32[{count - 1}, {length}], B: out[f32[{count - 1}]]):
    for i in thread('threadIdx.{data}', {count}):
        if i < {count - 1}:
            B_part: f32
            with across(['threadIdx.{here}'], {SUM}):
                for k in thread('threadIdx.{here}', {length}):
                    B_part = B_part + A[i, k]
            B[i] = B_part
"""


def counted(func: Func) -> tuple[int, int, int]:
    """Return how many exchanges between lanes, stages through shared memory, and barriers a program has."""
    nodes = list(walk(func.body))
    exchanges = text(func).count("shuffle")
    shared = sum(isinstance(node, Alloc) and node.buffer.scope == "shared" for node in nodes)
    assert any(isinstance(node, Call) and node.name in EXCHANGES for node in nodes) == bool(exchanges)
    return exchanges, shared, text(func).count("barrier_block()")


@pytest.mark.parametrize("threads", [1, 7, 16, 32, 49, 64, 512])
def test_one_group(golden: Golden, threads: int) -> None:
    loops, device, after = joined(rows(threads))
    if threads == 16:
        golden(text(device), "before")
    golden(text(after), "after")
    for func in (device, after):
        same_results(loops, func, n=2)


COSTS = {
    1: (0, 0, 0),
    2: (1, 0, 0),
    7: (4, 0, 0),
    32: (5, 0, 0),
    33: (6, 1, 1),
    64: (5, 1, 1),
    256: (5, 1, 1),
    320: (10, 1, 1),
    512: (9, 1, 1),
    1024: (10, 1, 1),
}


@pytest.mark.parametrize("threads", COSTS)
def test_one_barrier_at_most(threads: int) -> None:
    """Lanes exchange first; one barrier does for all that is left; none where a warp is enough."""
    assert counted(joined(rows(threads))[2]) == COSTS[threads]


@pytest.mark.parametrize("x, y", [(8, 4), (4, 64), (32, 4), (7, 5), (5, 8), (48, 3)])
@pytest.mark.parametrize("joining", ["x", "y"])
def test_several_groups(golden: Golden, joining: str, x: int, y: int) -> None:
    """The guard of groups that have no row goes around what they fold and store; they exchange as the others do."""
    loops, device, after = joined(groups(joining, x, y))
    golden(text(after))
    for func in (device, after):
        same_results(loops, func)


@pytest.mark.parametrize("threads", [32, 64])
def test_tuples(golden: Golden, threads: int) -> None:
    """Both orders of two pairs may give different bits, so the first lane's result is that of all."""
    loops, _, after = joined(f"""
def f(A: f32[n, {threads}], I: out[i32[n]], V: out[f32[n]]):
    for i in thread('blockIdx.x', n):
        I_part: i32
        V_part: f32
        with across(['threadIdx.x'], [I_part, V_part], [i32(2147483647), f32(-inf)],
                    lambda x0, x1, y0, y1: (select(y1 < x1, x0, y0), max(x1, y1))):
            for k in thread('threadIdx.x', {threads}):
                new = select(A[i, k] < V_part, I_part, i32(k))
                V_part = max(V_part, A[i, k])
                I_part = new
        I[i] = I_part
        V[i] = V_part
""")
    golden(text(after))
    same_results(loops, after, n=1)


def test_two_in_a_row_share_their_barriers() -> None:
    """The second one's barrier parts the first one's reads from its stores in the next iteration."""
    loops, device, after = joined(f"""
def f(A: f32[n, 64], B: out[f32[n, 64]]):
    for b in thread('blockIdx.x', 1):
        for i in range(n):
            M: f32
            with across(['threadIdx.x'], [M], [-inf], lambda x, y: max(x, y)):
                for k in thread('threadIdx.x', 64):
                    M = max(M, A[i, k])
            B_part: f32
            with across(['threadIdx.x'], {SUM}):
                for k in thread('threadIdx.x', 64):
                    B_part = B_part + A[i, k] * M
            for j in thread('threadIdx.x', 64):
                B[i, j] = A[i, j] + B_part
""")
    assert text(after).count("barrier_block()") == 2
    for func in (device, after):
        same_results(loops, func, n=3)


def test_one_in_a_loop(golden: Golden) -> None:
    """Memory that parts went through is written again when all have read it."""
    loops, device, after = joined(f"""
def f(A: f32[n, 40], B: out[f32[n]]):
    for b in thread('blockIdx.x', 1):
        for i in range(n):
            B_part: f32
            with across(['threadIdx.x'], {SUM}):
                for k in thread('threadIdx.x', 40):
                    B_part = B_part + A[i, k]
            B[i] = B_part
""")
    golden(text(after))
    for func in (device, after):
        same_results(loops, func, n=3)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 70])
def test_as_many_threads_as_the_caller_says(golden: Golden, n: int) -> None:
    loops, device, after = joined(f"""
def f(A: f32[n], B: out[f32[()]]):
    B_part: f32
    with across(['threadIdx.x'], {SUM}):
        for k in thread('threadIdx.x', n):
            B_part = B_part + A[k]
    B[()] = B_part
""")
    if n == 1:
        golden(text(after))
    for func in (device, after):
        same_results(loops, func, n=n)


def test_lanes_join_one_after_the_other() -> None:
    """The part that threads join is one value; a lane dimension around it would join only the first lane's."""
    loops = parse(f"""
def f(A: f32[6, 8, 4], B: out[f32[6, 4]]):
    for i in thread('blockIdx.x', 6):
        for v in vectorized(4):
            B_part: f32
            with across(['threadIdx.x'], {SUM}):
                for t in thread('threadIdx.x', 8):
                    B_part = B_part + A[i, t, v]
            B[i, v] = B_part
""")
    in_turn = vectorize.run(loops, GPU)
    assert "for v in range(4):" in text(in_turn)
    assert [node.buffer.shape for node in walk(in_turn.body) if isinstance(node, Alloc)] == [()]
    device = barrier.run(across.run(simplify.run(launch.run(in_turn, GPU), GPU), GPU), GPU)
    same_results(loops, device)


def test_of_nothing() -> None:
    """No thread folds anything, and the result is still there."""
    source = rows(64).replace("A: f32[n, 8, 64]", "A: f32[n, 8, m]").replace("'threadIdx.x', 64", "'threadIdx.x', m")
    for func in joined(source):
        result = np.full(2, 7, "float32")
        interpret(func, np.zeros((2, 8, 0), "float32"), result)
        assert result.tolist() == [0, 0]


def test_a_join_in_what_another_folds() -> None:
    loops, device, after = joined(f"""
def f(A: f32[n, 4, 8], B: out[f32[n]]):
    for i in thread('blockIdx.x', n):
        B_part: f32
        with across(['threadIdx.x'], {SUM}):
            for k in range(4):
                P: f32
                with across(['threadIdx.x'], [P], [0.0], lambda x, y: x + y):
                    for t in thread('threadIdx.x', 8):
                        P = P + A[i, k, t]
                for t in thread('threadIdx.x', 8):
                    B_part = B_part + P * f32(t)
        B[i] = B_part
""")
    for func in (device, after):
        same_results(loops, func, n=2)


GUARDED = """
def f(A: f32[n, 8], N: i32[8], B: out[f32[n]]):
    for i in thread('threadIdx.y', 8):
        {before}
            B_part: f32
            with across(['threadIdx.x'], [B_part], [0.0], lambda x, y: x + y):
                for k in thread('threadIdx.x', 8):
                    B_part = B_part + A[i, k]
            B[i] = B_part
"""


@pytest.mark.parametrize(
    "guard",
    [
        "if i < n:",
        "if i < n and N[i] < 50:",
        "if N[i] < 50:",
    ],
)
def test_guards_go_below(golden: Golden, guard: str) -> None:
    source = GUARDED.format(before=guard)
    if guard == "if N[i] < 50:":
        source = source.replace("[n", "[8")
    loops, device, after = joined(source)
    golden(text(after))
    same_results(loops, after, n=5)
    assert any(isinstance(node, Across) for node in walk(device.body))


def test_either_side_of_a_choice(golden: Golden) -> None:
    loops, _, after = joined(f"""
def f(A: f32[8, 8], B: out[f32[8]]):
    for i in thread('threadIdx.y', 8):
        if i % 2 == 0:
            B_part: f32
            with across(['threadIdx.x'], {SUM}):
                for k in thread('threadIdx.x', 8):
                    B_part = B_part + A[i, k]
            B[i] = B_part
        else:
            B[i] = A[i, 0]
""")
    golden(text(after))
    same_results(loops, after)


def test_a_loop_that_some_threads_leave_earlier() -> None:
    before = "for j in range(i):"
    assert (
        refusal(joined, GUARDED.format(before=before))
        == """\
threads share out the reduction of B where not all of them come
  because: how often the loop 'j' runs differs from thread to thread, and they wait for each other
  legal: compute_at outside it, or no loop bound to threads inside"""
    )


def test_a_condition_on_what_is_written() -> None:
    before = "if B[i] < 1.0:"
    assert (
        refusal(joined, GUARDED.format(before=before))
        == """\
threads share out the reduction of B where not all of them come
  because: the condition B[threadIdx_y] < 1.0, which reads what is written under it, differs from thread to thread, \
and they wait for each other
  legal: compute_at outside it, or no loop bound to threads inside"""
    )


def test_a_value_that_only_some_threads_may_read() -> None:
    """N may be read below the guard only, so the guard cannot go below the name that its value is given."""
    found = refusal(
        joined,
        f"""
def f(A: f32[n, 8], N: i32[n], B: out[f32[n]]):
    for i in thread('threadIdx.y', 8):
        if i < n:
            last = N[i]
            if last < 3:
                B_part: f32
                with across(['threadIdx.x'], {SUM}):
                    for k in thread('threadIdx.x', 8):
                        B_part = B_part + A[i, k]
                B[i] = B_part
""",
    )
    assert (
        found
        == """\
threads share out the reduction of B where not all of them come
  because: the condition threadIdx_y < n differs from thread to thread, and they wait for each other
  legal: compute_at outside it, or no loop bound to threads inside"""
    )


def test_one_loop_cannot_be_both(golden: Golden) -> None:
    golden(
        refusal(
            joined,
            f"""
def f(A: f32[8, 8], B: out[f32[8]]):
    for i in thread('threadIdx.x', 8):
        B_part: f32
        with across(['threadIdx.x'], {SUM}):
            for k in thread('threadIdx.x', 8):
                B_part = B_part + A[i, k]
        B[i] = B_part
""",
        )
    )


EXCHANGE = """
def f(A: f32[64], B: out[f32[64]]) -> device:
    with launch(threadIdx_x={threads}):
        {guard}
        x: f32
        x = A[threadIdx_x]
        B[threadIdx_x] = {value}
"""


@pytest.mark.parametrize("value", ["shuffle_xor(x, 3, -1)", "shuffle(x, (threadIdx_x + 1) % 32, -1)"])
def test_exchange(value: str) -> None:
    a, b = np.arange(64, dtype="float32"), np.empty(64, "float32")
    interpret(parse(EXCHANGE.format(threads=64, guard="", value=value)), a, b)
    lanes = np.arange(64)
    other = lanes ^ 3 if "xor" in value else lanes // 32 * 32 + (lanes + 1) % 32
    np.testing.assert_array_equal(b, a[other])


@pytest.mark.parametrize(
    "threads, value, because",
    [
        (20, "shuffle_xor(x, 16, 1048575)", "lane 4 reads lane 20, which takes no part"),
        (20, "shuffle_xor(x, 1, -1)", "the mask -1 of an exchange is wrong about lane 20"),
        (20, "shuffle_xor(x, 1, 255)", "the mask 255 of an exchange is wrong about lane 8"),
        (32, "shuffle(x, 32, -1)", "lane 0 reads lane 32, which takes no part"),
    ],
)
def test_exchange_with_a_lane_that_is_not_there(threads: int, value: str, because: str) -> None:
    func = parse(EXCHANGE.format(threads=threads, guard="", value=value))
    with pytest.raises(ExecutionError) as caught:
        interpret(func, np.zeros(64, "float32"), np.zeros(64, "float32"))
    assert caught.value.because == because


def test_exchange_in_what_is_not_always_evaluated() -> None:
    func = parse(EXCHANGE.format(threads=32, guard="", value="shuffle_xor(x, 1, -1) if x < 1.0 else x"))
    with pytest.raises(InternalError) as caught:
        interpret(func, np.zeros(64, "float32"), np.zeros(64, "float32"))
    assert caught.value.asked == "shuffle_xor outside a statement of a kernel"


def test_exchange_that_some_lanes_do_not_come_to() -> None:
    func = parse("""
def f(A: f32[32], B: out[f32[32]]) -> device:
    with launch(threadIdx_x=32):
        x: f32
        x = A[threadIdx_x]
        if threadIdx_x < 16:
            B[threadIdx_x] = shuffle_xor(x, 1, -1)
""")
    with pytest.raises(ExecutionError) as caught:
        interpret(func, np.zeros(32, "float32"), np.zeros(32, "float32"))
    assert caught.value.because == "thread (threadIdx.x=0) waits for thread (threadIdx.x=16), which does not come"
