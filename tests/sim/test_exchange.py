"""Shuffles, votes, elections and updates in the simulator: every type and width, and lanes that do not come."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tecomp.dtype import DType

from .kernels import Row, Wrong, checks, f32, fault, left, said, zeros

LANES = np.arange(96)
SHORT = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
}  # fmt: skip


def values(dtype: str, count: int = 96) -> np.ndarray:
    """Return bits of every kind: what is exchanged is moved, whatever it means."""
    kind = DType(dtype).numpy
    if dtype == "bool":
        return np.random.default_rng(0).integers(0, 2, count).astype(bool)
    found = np.random.default_rng(0).integers(0, 256, count * kind.itemsize, dtype=np.uint8).view(kind)
    return np.where(np.isnan(found), np.ones((), kind), found) if found.dtype.kind == "f" else found


def bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.itemsize}")


SHUFFLES = {
    "shuffle(A[t], 7, -1)": LANES // 32 * 32 + 7,
    "shuffle(A[t], (t * 5 + 3) % 32, -1)": LANES // 32 * 32 + (LANES * 5 + 3) % 32,
    "shuffle(A[t], t + 1, -1)": LANES // 32 * 32 + (LANES + 1) % 32,
    "shuffle_xor(A[t], 31, -1)": LANES ^ 31,
    "shuffle_xor(A[t], t % 2 * 0 + 16, -1)": LANES ^ 16,
    "shuffle_up(A[t], 5, -1)": np.where(LANES % 32 < 5, LANES, LANES - 5),
    "shuffle_down(A[t], 5, -1)": np.where(LANES % 32 > 26, LANES, LANES + 5),
    "shuffle_up(A[t], 0, -1)": LANES,
    "shuffle_down(A[t], 31, -1)": np.where(LANES % 32 > 0, LANES, LANES + 31),
    "shuffle_up(A[t], 33, -1)": np.where(LANES % 32 < 1, LANES, LANES - 1),  # five bits count
    "shuffle_xor(A[t], 40, -1)": LANES ^ 8,
}
"""Whose value each lane gets."""


@pytest.mark.parametrize("dtype", SHORT)
def test_shuffles_of_every_type(dtype: str) -> None:
    kind = SHORT[dtype]
    stores = "\n                ".join(f"B[{at}, t] = {call}" for at, call in enumerate(SHUFFLES))
    text = f"""
        def f(A: {kind}[96], B: out[{kind}[{len(SHUFFLES)}, 96]]) -> device:
            with launch(threadIdx_x=96) as t:
                {stores}
    """
    a = values(dtype)
    for warps in ("", "apart"):
        found = left(text, a, np.zeros((len(SHUFFLES), 96), a.dtype), warps=warps)[1]
        for row, whose in zip(found, SHUFFLES.values(), strict=True):
            np.testing.assert_array_equal(bits(row), bits(a[whose]))


VOTES = {
    "i64(vote_ballot(A[t] < i32(3), -1))": lambda p: (p.reshape(3, 32) << np.arange(32)).sum(1).repeat(32),
    "i64(1) if vote_any(A[t] < i32(3), -1) else i64(0)": lambda p: p.reshape(3, 32).any(1).repeat(32),
    "i64(1) if vote_all(A[t] < i32(3), -1) else i64(0)": lambda p: p.reshape(3, 32).all(1).repeat(32),
    "i64(1) if elect_one(-1) else i64(0)": lambda p: LANES % 32 == 0,
}


@pytest.mark.parametrize("call", VOTES)
@pytest.mark.parametrize("below", [3, 8, 100])
def test_votes(call: str, below: int) -> None:
    a = np.random.default_rng(0).integers(0, below, 96, dtype="i4")
    text = f"""
        def f(A: i32[96], B: out[i64[96]]) -> device:
            with launch(threadIdx_x=96) as t:
                B[t] = {call}
    """
    np.testing.assert_array_equal(left(text, a, zeros(96, dtype="i8"))[1], VOTES[call](a < 3))


ROWS: dict[str, Row] = {
    "votes in branches": Row(
        """
        def f(A: i32[64], B: out[u32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                if t % 2 == 0:
                    B[t] = vote_ballot(A[t] < i32(40), 1431655765)
                else:
                    B[t] = vote_ballot(A[t] < i32(40), -1431655766)
        """,
        lambda: [np.arange(64, dtype="i4"), zeros(64, dtype="u4")],
        lambda a, _: np.where(LANES[:64] < 32, 0x55555555, 0x55) << LANES[:64] % 2,
    ),
    "votes of half a warp more": Row(
        """
        def f(A: i32[48], B: out[u32[48]]) -> device:
            with launch(threadIdx_x=48) as t:
                B[t] = vote_ballot(A[t] < i32(40), -1) if vote_all(A[t] < i32(48), -1) else u32(7)
        """,
        lambda: [np.arange(48, dtype="i4"), zeros(48, dtype="u4")],
        lambda a, _: np.where(a < 32, 0xFFFFFFFF, 0xFF),
    ),
    "shuffles of half a warp more": Row(
        """
        def f(A: f32[48], B: out[f32[48]]) -> device:
            with launch(threadIdx_x=48) as t:
                B[t] = shuffle_xor(A[t], 15, -1) + shuffle_up(A[t], 1, -1)
        """,
        lambda: [f32(48), zeros(48)],
        lambda a, _: a[LANES[:48] ^ 15] + a[np.where(LANES[:48] % 32, LANES[:48] - 1, LANES[:48])],
    ),
    "shuffles of eight lanes": Row(
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                B[t] = 0.0
                if t % 32 < 8:
                    B[t] = shuffle(A[t], 7 - t % 32, 255)
        """,
        lambda: [f32(64), zeros(64)],
        lambda a, _: np.where(LANES[:64] % 32 < 8, LANES[:64] // 32 * 32 + 7 - LANES[:64] % 32, 0),
    ),
    "one of each warp": Row(
        """
        def f(B: out[i32[4]]) -> device:
            with launch(threadIdx_x=112) as t:
                if elect_one(-1):
                    B[t // 32] = i32(t) + 1
        """,
        lambda: [zeros(4, dtype="i4")],
        lambda _: [1, 33, 65, 97],
    ),
    "one of some lanes": Row(
        """
        def f(B: out[i32[2]]) -> device:
            with launch(threadIdx_x=64) as t:
                if 4 <= t % 32:
                    if elect_one(-16):
                        B[t // 32] = i32(t)
        """,
        lambda: [zeros(2, dtype="i4")],
        lambda _: [4, 36],
    ),
    "the last block adds up": Row(
        """
        def f(A: f32[4, 64], P: out[f32[4]], N: out[i32[1]], B: out[f32[1]]) -> device:
            with launch(blockIdx_x=4, threadIdx_x=64) as (b, t):
                S = alloc(f32[64], 'shared')
                last = alloc(i32[1], 'shared')
                total: f32
                S[t] = A[b, t]
                barrier_block()
                if t == 0:
                    total = 0.0
                    for k in range(64):
                        total = total + S[k]
                    P[b] = total
                    fence_device()
                    old = fetch_add(address(N[0], 'rwu'), i32(1))
                    fence_device()
                    last[0] = old
                barrier_block()
                if last[0] == 3:
                    if t == 32:
                        total = 0.0
                        for k in range(4):
                            total = total + P[k]
                        B[0] = total
        """,
        lambda: [f32(4, 64), zeros(4), zeros(1, dtype="i4"), zeros(1)],
        lambda a, *_: a.sum()[None],
    ),
    "the last warp adds up": Row(
        """
        def f(A: f32[2, 128], B: out[f32[2]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=128) as (b, t):
                S = alloc(f32[4], 'shared')
                n = alloc(i32[1], 'shared')
                total: f32
                if t == 0:
                    n[0] = 0
                barrier_block()
                if t % 32 == 0:
                    S[t // 32] = A[b, t]
                    fence_block()
                    old = fetch_add(address(n[0], 'rwu'), i32(1))
                    fence_block()
                    if old == i32(3):
                        total = 0.0
                        for k in range(4):
                            total = total + S[k]
                        B[b] = total
        """,
        lambda: [f32(2, 128), zeros(2)],
        lambda a, _: a[:, ::32].sum(1),
    ),
    "whoever comes last tells the system": Row(
        """
        def f(P: out[i32[5]], N: out[u32[1]], B: out[i32[5]]) -> device:
            with launch(blockIdx_x=5) as b:
                P[b] = i32(b) * 3
                fence_system()
                old = fetch_add(address(N[0], 'rwu'), u32(1))
                fence_system()
                if old == u32(4):
                    for k in range(5):
                        B[k] = P[k]
        """,
        lambda: [zeros(5, dtype="i4"), zeros(1, dtype="u4"), zeros(5, dtype="i4")],
        lambda *_: np.arange(5) * 3,
    ),
}  # fmt: skip
WRONG: list[Wrong] = [
    Wrong("votes in branches", "1431655765", "-1", "divergence"),
    Wrong("votes in branches", "-1431655766", "1431655765", "divergence"),
    Wrong("votes of half a warp more", "vote_all(A[t] < i32(48), -1)", "vote_all(A[t] < i32(48), 255)", "divergence"),
    Wrong("votes of half a warp more", "B[t] = vote", "if t < 47:\n                    B[t] = vote", "divergence"),
    Wrong("shuffles of half a warp more", "shuffle_xor(A[t], 15,", "shuffle_xor(A[t], 16,", "undefined"),
    Wrong("shuffles of half a warp more", "shuffle_up(A[t], 1,", "shuffle_down(A[t], 1,", "undefined"),
    Wrong("shuffles of eight lanes", "7 - t % 32, 255", "8 + t % 32, 255", "undefined"),
    Wrong("shuffles of eight lanes", "255", "-1", "divergence"),
    Wrong("one of each warp", "if elect_one(-1):", "if t < 40:\n                  if elect_one(-1):", "divergence"),
    Wrong("one of each warp", "if elect_one(-1):", "if vote_any(t < 40, -1):", "race"),
    Wrong("one of some lanes", "-16", "-1", "divergence"),
    Wrong("one of some lanes", "if elect_one(-16)", "if vote_all(4 <= t % 32, -16)", "race"),
    Wrong("the last block adds up", "fence_device()", "pass", "race"),
    Wrong("the last block adds up", "fence_device()", "fence_block()", "race"),
    Wrong("the last block adds up", "fence_device()\n                    old", "old", "race"),
    Wrong("the last block adds up", "fence_device()\n                    last", "last", "race"),
    Wrong("the last block adds up", "if last[0] == 3", "if last[0] == 2", "race"),
    Wrong("the last block adds up", "barrier_block()\n                if last", "if last", "race"),
    Wrong("the last block adds up", "old = fetch_add(address(N[0], 'rwu'), i32(1))", "old = N[0]\n"
          "                    N[0] = old + i32(1)", "race"),
    Wrong("the last warp adds up", "fence_block()", "pass", "race"),
    Wrong("the last warp adds up", "fence_block()\n                    old", "old", "race"),
    Wrong("the last warp adds up", "fence_block()\n                    if", "if", "race"),
    Wrong("the last warp adds up", "i32(3)", "i32(2)", "race"),
    Wrong("whoever comes last tells the system", "fence_system()", "pass", "race"),
    Wrong("whoever comes last tells the system", "u32(4)", "u32(3)", "race"),
]  # fmt: skip


test_it_is_right, test_it_is_reported = checks(ROWS, WRONG)


@pytest.mark.parametrize("scope", ["global", "shared"])
@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint64", "float32"])
def test_tickets_are_each_given_once(dtype: str, scope: str) -> None:
    kind = SHORT[dtype]
    counter = "N" if scope == "global" else "S"
    text = f"""
        def f(N: out[{kind}[1]], B: out[{kind}[96]]) -> device:
            with launch(threadIdx_x=96) as t:
                S = alloc({kind}[1], 'shared')
                if t == 0:
                    S[0] = {kind}(0)
                barrier_block()
                old = fetch_add(address({counter}[0], 'rwu'), {kind}(2))
                B[t] = old
    """
    tickets = []
    for seed in range(3):
        found = left(text, zeros(1, dtype=dtype), zeros(96, dtype=dtype), seed=seed)[1]
        np.testing.assert_array_equal(np.sort(found), np.arange(96) * 2)
        tickets.append(tuple(found))
    assert len(set(tickets)) == 3  # the seed decides who comes first


UPDATES = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def folded(dtype: str, join: Any, start: np.ndarray, value: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return the elements after all updates, one after the other."""
    found = start.copy()
    for at, one in zip(where, value, strict=True):
        found[at] = join(found[at], one)
    return found


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("dtype", [dtype for dtype in SHORT if dtype != "bool"])
def test_updates_of_every_type_with_collisions(dtype: str, name: str) -> None:
    """Integers wrap; floats are small powers of two, so that no order rounds."""
    kind, random = DType(dtype), np.random.default_rng(0)
    start, where = np.ones(5, kind.numpy), random.integers(0, 5, 64).astype("i4")
    if kind.is_integer:
        value = random.integers(*kind.limits(), 64, dtype=kind.numpy, endpoint=True)
    else:
        value = random.choice([0.5, 1, 2] if name == "mul" else [-1, 0.5, 2], 64).astype(kind.numpy)
        value[np.flatnonzero(where == 3)[1]] = np.nan
    text = f"""
        def f(A: {SHORT[dtype]}[64], I: i32[64], B: out[{SHORT[dtype]}[5]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=32) as (b, t):
                atomic_{name}(address(B[index(I[b * 32 + t])], 'rwu'), A[b * 32 + t])
    """
    with np.errstate(all="ignore"):
        want = folded(dtype, UPDATES[name], start, value, where)
    for seed in range(2):
        found = left(text, value, where, start, seed=seed)[2]
        if found.dtype == ml_dtypes.bfloat16:
            found = found.astype("f4")
        np.testing.assert_array_equal(found, want.astype(found.dtype))
    assert kind.is_integer or np.isnan(float(found[3]))


def test_an_update_of_registers() -> None:
    """Each thread has its own, and may choose which."""
    text = """
        def f(A: f32[64], B: out[f32[2, 64]]) -> device:
            with launch(threadIdx_x=64) as t:
                x = alloc(f32[2], 'local')
                x[0] = 1.0
                x[1] = 2.0
                if t < 32:
                    atomic_max(address(x[1], 'rwu'), A[t])
                atomic_add(address(x[t % 2], 'rwu'), A[t])
                old = fetch_add(address(x[0], 'rwu'), f32(8.0))
                B[0, t] = x[0] + x[1]
                B[1, t] = old
    """
    a, odd = f32(64), np.arange(64) % 2
    found = left(text, a, zeros(2, 64))[1]
    np.testing.assert_array_equal(found[0], 9 + np.where(a < 32, np.maximum(a, 2), 2) + a)
    np.testing.assert_array_equal(found[1], 1 + np.where(odd, 0, a))


def test_an_update_of_a_register_that_holds_nothing() -> None:
    text = """
        def f(B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                x: f32
                atomic_add(address(x, 'rwu'), f32(8.0))
                B[t] = x
    """
    assert fault(text, zeros(64)).kind == "uninitialised"


def test_updates_and_other_accesses_race() -> None:
    text = """
        def f(A: f32[64], B: out[f32[2]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[1], 'shared')
                if t == 0:
                    S[0] = 0.0
                FIRST
                atomic_add(address(S[0], 'rwu'), A[t])
                LAST
                if t == 63:
                    B[0] = S[0]
    """
    for first, last, kind in (
        ("barrier_block()", "barrier_block()", ""),
        ("pass", "barrier_block()", "race"),
        ("barrier_block()", "pass", "race"),
        ("barrier_block()", "barrier_warp(-1)", "race"),
    ):
        whole = text.replace("FIRST", first).replace("LAST", last)
        if kind:
            assert fault(whole, f32(64), zeros(2)).kind == kind
        else:
            assert left(whole, f32(64), zeros(2))[1][0] == f32(64).sum()


CALLS = [*(f"i64({call})" for call in SHUFFLES), *VOTES]


@pytest.mark.parametrize("call", CALLS)
def test_a_lane_that_does_not_come_is_told_of_each(call: str) -> None:
    text = f"""
        def f(A: i32[96], B: out[i64[96]]) -> device:
            with launch(threadIdx_x=96) as t:
                if t != 77:
                    B[t] = {call}
    """
    for warps in ("", "apart"):
        found = fault(text, np.arange(96, dtype="i4"), zeros(96, dtype="i8"), warps=warps)
        assert found.kind == "divergence" and "waits for lane 13 of its warp, which does not come" in said(found)


def test_a_lane_that_its_mask_leaves_out() -> None:
    text = """
        def f(A: f32[32], B: out[f32[32]]) -> device:
            with launch(threadIdx_x=32) as t:
                B[t] = shuffle_xor(A[t], 1, 65535)
    """
    found = fault(text, f32(32), zeros(32))
    assert found.kind == "divergence"
    assert "thread (threadIdx.x=16) is lane 16, which the mask 0xffff does not name" in said(found)


@pytest.mark.parametrize("update", ["atomic_add", "atomic_mul", "atomic_min", "atomic_max", "fetch_add"])
@pytest.mark.parametrize("kind", ["i32", "f32"])
def test_what_depends_on_the_order_of_updates_is_a_fault_where_asked(update: str, kind: str) -> None:
    text = f"""
        def f(A: {kind}[64], B: out[{kind}[1]]) -> device:
            with launch(threadIdx_x=64) as t:
                {"old = " * (update == "fetch_add")}{update}(address(B[0], 'rwu'), A[t])
    """
    given = [np.ones(64, kind[0] + "4"), np.ones(1, kind[0] + "4")]
    left(text, *given)
    if kind == "f32" and update not in ("atomic_min", "atomic_max"):
        found = fault(text, *given, deterministic=True)
        assert found.kind == "atomic" and "'B[0]' is not deterministic" in said(found)
    else:
        left(text, *given, deterministic=True)
