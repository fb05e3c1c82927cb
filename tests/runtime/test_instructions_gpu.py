"""What each instruction does, by what a program that is made of it leaves: in the simulator, and on a GPU."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tecomp.target import Target
from tecomp_runtime import Kernel
from tecomp_runtime.errors import LaunchError
from tests.codegen.cuda_programs import built
from tests.codegen.test_cuda_tensor import copy_program
from tests.sim.kernels import left


@pytest.fixture(params=["simulator", pytest.param("gpu", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> str:
    if request.param == "gpu" and Target.of("cuda").arch != "sm_90a":
        pytest.skip("only sm_90a has all of them")
    return request.param


def run(where: str, text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """Return what a program leaves in copies of the arrays."""
    if where == "simulator":
        return left(text, *arrays)
    cupy = importlib.import_module("cupy")
    given = [cupy.asarray(array) for array in arrays]
    Kernel(built(text, Target.of("cuda")))(*given)
    return [array.get() for array in given]


LANES = np.arange(64, dtype="i4")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("shuffle_up(x, 5, -1)", np.where(LANES % 32 < 5, LANES, LANES - 5)),
        ("shuffle_down(x, 5, -1)", np.where(LANES % 32 > 26, LANES, LANES + 5)),
        ("shuffle_up(x, 33, -1)", np.where(LANES % 32 < 1, LANES, LANES - 1)),
        ("shuffle_xor(x, 40, -1)", LANES ^ 8),
        ("shuffle(x, 7, -1)", LANES // 32 * 32 + 7),
        ("shuffle_xor(x, 3, -1)", LANES ^ 3),
        ("i32(vote_ballot(x % i32(2) == i32(1) and x < i32(32), -1))", np.where(LANES < 32, -1431655766, 0)),
        ("i32(1) if vote_all(x < i32(40), -1) else i32(0)", np.where(LANES < 32, 1, 0)),
        ("i32(1) if vote_any(x == i32(40), -1) else i32(0)", np.where(LANES < 32, 0, 1)),
    ],
)
def test_lanes(where: str, value: str, expected: np.ndarray) -> None:
    text = f"""
    def f(A: i32[64], B: out[i32[64]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x=64):
            x = A[threadIdx_x]
            B[threadIdx_x] = {value}
    """
    assert list(run(where, text, LANES, np.zeros(64, "i4"))[1]) == list(expected)


def test_one_lane_is_elected(where: str) -> None:
    text = """
    def f(B: out[i32[64]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x=64):
            B[threadIdx_x] = i32(1) if elect_one(-1) else i32(0)
    """
    (found,) = run(where, text, np.zeros(64, "i4"))
    assert list(found.reshape(2, 32).sum(1)) == [1, 1]


@pytest.mark.parametrize("dtype", ["i32", "u32", "u64", "f32"])
def test_tickets_are_each_given_once(where: str, dtype: str) -> None:
    text = f"""
    def f(C: out[{dtype}[1]], B: out[{dtype}[256]]) -> device:
        with launch(blockIdx_x=4, threadIdx_x=64):
            old = fetch_add(address(C[0], 'rwu'), {dtype}({1.0 if dtype == "f32" else 1}))
            B[blockIdx_x * 64 + threadIdx_x] = old
    """
    kind = {"i32": "i4", "u32": "u4", "u64": "u8", "f32": "f4"}[dtype]
    last, tickets = run(where, text, np.zeros(1, kind), np.zeros(256, kind))
    assert last[0] == 256 and sorted(tickets) == list(range(256))


TURN = """
    def f(A: f32[64], B: out[f32[64]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x=128):
            S = alloc(f32[64], 'shared')
            bar = alloc(u64[1], 'shared')
            if threadIdx_x == 0:
                mbarrier_init(address(bar[0], 'w'), {count})
                fence_mbarrier_init()
            barrier_block()
            if threadIdx_x < 64:
                {give}
            else:
                {wait}
                B[threadIdx_x - 64] = S[127 - threadIdx_x]
"""
WAIT = "mbarrier_wait(address(bar[0], 'rw'), 0)"
ARRIVE = "mbarrier_arrive(address(bar[0], 'rw'))"
STORE = "S[threadIdx_x] = A[threadIdx_x]"
WHOLE = ("cp_async_commit()", "cp_async_wait(0)")
COPY_4 = "cp_async(address(S[threadIdx_x], 'w'), address(A[threadIdx_x], 'r'), 4)"


def _few(width: int, call: str) -> str:
    return f"if threadIdx_x < {64 // width}:\n                    {call}".replace("@", f"threadIdx_x * {width}")


@pytest.mark.parametrize(
    ("give", "wait", "count"),
    [
        ((STORE, "barrier_named_arrive(1, 128)"), "barrier_named(1, 128)", 1),
        ((STORE, "fence_block()", ARRIVE), WAIT, 64),
        ((COPY_4, *WHOLE, ARRIVE), WAIT, 64),
        ((COPY_4, "cp_async_mbarrier_arrive(address(bar[0], 'rw'))"), WAIT, 64),
        ((_few(2, "cp_async(address(S[@], 'w'), address(A[@], 'r'), 8)"), *WHOLE, ARRIVE), WAIT, 64),
        ((_few(4, "cp_async(address(S[@], 'w'), address(A[@], 'r'), 16)"), *WHOLE, ARRIVE), WAIT, 64),
        (
            (
                _few(64, "bulk_load(address(S[@], 'w'), address(A[@], 'r'), 256, address(bar[0], 'rw'))"),
                _few(64, "mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)"),
            ),
            WAIT,
            1,
        ),
        (
            (
                _few(
                    64,
                    "tensor_load_1d(address(S, 'w'), address(A, 'r'), address(bar[0], 'rw'), 0, 64, 0)",
                ),
                _few(64, "mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)"),
            ),
            WAIT,
            1,
        ),
    ],
)
def test_one_half_of_a_block_waits_for_the_other(where: str, give: tuple[str, ...], wait: str, count: int) -> None:
    text = TURN.format(give="\n                ".join(give), wait=wait, count=count)
    a = np.random.default_rng(0).random(64, dtype="f4")
    np.testing.assert_array_equal(run(where, text, a, np.zeros(64, "f4"))[1], a[::-1])


@pytest.mark.parametrize("bytes_of", [4, 8, 16])
def test_what_is_not_copied_is_zero(where: str, bytes_of: int) -> None:
    each = bytes_of // 4
    text = f"""
    def f(A: f32[64], B: out[f32[64]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x={64 // each}):
            S = alloc(f32[64], 'shared')
            at = threadIdx_x * {each}
            cp_async_zfill(address(S[at], 'w'), address(A[at], 'r'), {bytes_of}, 4 if threadIdx_x < 2 else 0)
            cp_async_commit()
            cp_async_wait(0)
            for k in range({each}):
                B[at + k] = S[at + k]
    """
    a = 1 + np.random.default_rng(0).random(64, dtype="f4")
    expected = np.zeros(64, "f4")
    expected[[0, each]] = a[[0, each]]
    np.testing.assert_array_equal(run(where, text, a, np.ones(64, "f4"))[1], expected)


def test_a_run_is_stored(where: str) -> None:
    text = """
    def f(A: f32[64], B: out[f32[80]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x=64):
            S = alloc(f32[64], 'shared')
            S[threadIdx_x] = A[threadIdx_x]
            fence_proxy_async()
            barrier_block()
            if threadIdx_x == 0:
                bulk_store(address(B[4], 'w'), address(S[0], 'r'), 256)
                bulk_commit()
                bulk_wait_read(0)
                bulk_wait(0)
    """
    a = np.random.default_rng(0).random(64, dtype="f4")
    found = run(where, text, a, np.zeros(80, "f4"))[1]
    np.testing.assert_array_equal(found, np.pad(a, (4, 12)))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (40, 72), (3, 200), (65, 8)])
def test_boxes_keep_their_elements(where: str, swizzle: int, rows: int, columns: int) -> None:
    text = copy_program((swizzle or 128) // 2, swizzle)
    a = np.random.default_rng(0).random((rows, columns)).astype("f2")
    found = run(where, text, a, np.zeros_like(a))[1]
    np.testing.assert_array_equal(found[:64], a[:64])
    assert not found[64:].any()


def swizzled(box: np.ndarray, swizzle: int) -> np.ndarray:
    """Return the elements of a box in the order in which they lie in memory."""
    offsets = np.arange(box.size) * box.itemsize
    bits = {0: 0, 32: 1, 64: 3, 128: 7}[swizzle]
    places = (offsets ^ ((offsets >> 7 & bits) << 4)) // box.itemsize
    memory = np.empty(box.size, box.dtype)
    memory[places] = box.ravel()
    return memory


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_what_lies_where_in_shared_memory_and_zeros_outside(where: str, swizzle: int) -> None:
    width = (swizzle or 128) // 4
    box = f"{swizzle}, {width}, 16, 2, 4, 0 - 1, 2"
    text = f"""
    def f(A: f32[3, 10, {width}], B: out[f32[{width * 32}]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x=32):
            S = alloc(f32[{width * 32}], 'shared')
            bar = alloc(u64[1], 'shared')
            if elect_one(-1):
                mbarrier_init(address(bar[0], 'w'), 1)
                fence_mbarrier_init()
                mbarrier_arrive_expect_tx(address(bar[0], 'rw'), {width * 128})
                tensor_load_3d(address(S, 'w'), address(A, 'r'), address(bar[0], 'rw'), {box})
            barrier_warp(-1)
            mbarrier_wait(address(bar[0], 'rw'), 0)
            for k in range({width}):
                B[k * 32 + threadIdx_x] = S[k * 32 + threadIdx_x]
    """
    a = 1 + np.random.default_rng(0).random((3, 10, width), dtype="f4")
    box = np.zeros((2, 16, width), "f4")
    box[0, 1:11, : width - 4] = a[2, :, 4:]
    found = run(where, text, a, np.ones(width * 32, "f4"))[1]
    np.testing.assert_array_equal(found, swizzled(box, swizzle))


def test_a_tensor_whose_rows_are_not_aligned_is_refused_at_the_call(where: str) -> None:
    a = np.zeros((64, 60), "f2")
    with pytest.raises(LaunchError) as caught:
        run(where, copy_program(64, 128), a, a)
    assert "its rows are 120 bytes apart" in str(caught.value)


def test_blocks_of_a_cluster(where: str) -> None:
    text = """
    def f(B: out[i32[8]]) -> device:
        with launch(blockIdx_x=8, cluster_x=4, threadIdx_x=32):
            barrier_cluster()
            if threadIdx_x == 0:
                B[blockIdx_x] = i32(cluster_x)
    """
    assert list(run(where, text, np.zeros(8, "i4"))[0]) == [0, 1, 2, 3] * 2


def test_warpgroups_give_each_other_registers(where: str) -> None:
    text = """
    def f(A: f32[256], B: out[f32[256]]) -> device:
        with launch(blockIdx_x=1, threadIdx_x=256):
            if threadIdx_x < 128:
                registers_decrease(40)
                B[threadIdx_x] = A[threadIdx_x]
            else:
                registers_increase(160)
                wgmma_fence()
                wgmma_commit()
                wgmma_wait(0)
                fence_device()
                fence_system()
                B[threadIdx_x] = A[threadIdx_x] * 2.0
    """
    a = np.random.default_rng(0).random(256, dtype="f4")
    found = run(where, text, a, np.zeros(256, "f4"))[1]
    np.testing.assert_array_equal(found, a * np.repeat(np.float32([1, 2]), 128))
