"""Copies of boxes of tensors in the simulator, beside NumPy: every rank, type and swizzle, and boxes over the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tecomp.dtype import DType
from tecomp_runtime.errors import LaunchError
from tests.runtime.test_instructions_gpu import swizzled

from .kernels import fault, left, said, zeros

LOAD = """
    def f(A: {A}, B: out[{kind}[{size}]]) -> device:
        with launch(threadIdx_x=32) as t:
            S = alloc({kind}[{size}], 'shared', align=1024)
            bar = alloc(u64[1], 'shared')
            if t == 0:
                mbarrier_init(address(bar[0], 'w'), 1)
                fence_mbarrier_init()
                mbarrier_arrive_expect_tx(address(bar[0], 'rw'), {bytes})
                tensor_load_{rank}d(address(S, 'w'), address(A, 'r'), address(bar[0], 'rw'), {box})
            barrier_warp(-1)
            mbarrier_wait(address(bar[0], 'rw'), 0)
            for k in range({size} // 32):
                B[k * 32 + t] = S[k * 32 + t]
"""
STORE = """
    def f(B: {kind}[{size}], A: out[{A}]) -> device:
        with launch(threadIdx_x=32) as t:
            S = alloc({kind}[{size}], 'shared', align=1024)
            for k in range({size} // 32):
                S[k * 32 + t] = B[k * 32 + t]
            fence_proxy_async()
            barrier_warp(-1)
            if t == 0:
                tensor_store_{rank}d(address(A, 'w'), address(S, 'r'), {box})
                bulk_commit()
                bulk_wait(0)
"""
CORNERS = {
    1: [(0,), (-3,), (30,), (64,)],
    2: [(0, 0), (-4, 2), (12, -1), (4, 9)],
    3: [(0, 0, 0), (-1, 8, -2), (3, 1, 2)],
}
"""Where boxes begin, outermost first: inside, before the tensor, over its end, behind it."""
SHAPES = {1: (40,), 2: (13, 48), 3: (4, 9, 48)}
BOXES = {1: (32,), 2: (8, 32), 3: (2, 4, 32)}


def box_of(array: np.ndarray, box: tuple[int, ...], corner: tuple[int, ...]) -> np.ndarray:
    """Return a box of an array, zeros outside of it."""
    found = np.zeros(box, array.dtype)
    for place in itertools.product(*map(range, box)):
        at = tuple(a + b for a, b in zip(corner, place, strict=True))
        if all(0 <= one < extent for one, extent in zip(at, array.shape, strict=True)):
            found[place] = array[at]
    return found


def text_of(
    template: str, kind: str, shape: tuple[int, ...], box: tuple[int, ...], corner: tuple[int, ...], swizzle: int
) -> str:
    size = int(np.prod(box))
    bytes_of = size * DType({"f16": "float16", "f32": "float32", "u8": "uint8", "i64": "int64"}[kind]).numpy.itemsize
    operands = [swizzle, *reversed(box), *(f"0 - {-at}" if at < 0 else at for at in reversed(corner))]
    tensor = f"{kind}[{', '.join(map(str, shape))}]"
    given = {"A": tensor, "kind": kind, "size": size, "bytes": bytes_of, "rank": len(box)}
    return template.format(**given, box=", ".join(map(str, operands)))


@pytest.mark.parametrize(("rank", "corner"), [(rank, at) for rank, all_ in CORNERS.items() for at in all_])
def test_boxes_of_every_rank_over_the_edges(rank: int, corner: tuple[int, ...]) -> None:
    shape, box = SHAPES[rank], BOXES[rank]
    a = 1 + np.arange(np.prod(shape), dtype="f4").reshape(shape)
    want = box_of(a, box, corner)
    found = left(text_of(LOAD, "f32", shape, box, corner, 0), a, zeros(want.size) - 1)[1]
    np.testing.assert_array_equal(found, want.ravel())

    stored = left(text_of(STORE, "f32", shape, box, corner, 0), -1 - np.arange(want.size, dtype="f4"), a)[1]
    number = np.arange(np.prod(shape)).reshape(shape) + 1
    inside = box_of(number, box, corner).ravel()
    expected = a.copy().ravel()
    expected[inside[inside > 0] - 1] = (-1 - np.arange(want.size, dtype="f4"))[inside > 0]
    np.testing.assert_array_equal(stored.ravel(), expected)


@pytest.mark.parametrize("kind", ["u8", "f16", "f32", "i64"])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_every_swizzle_of_every_width(kind: str, swizzle: int) -> None:
    item = {"u8": 1, "f16": 2, "f32": 4, "i64": 8}[kind]
    box, shape = (16, (swizzle or 128) // item), (20, 256 // item)
    a = (
        np.random.default_rng(0)
        .integers(1, 100, shape)
        .astype({"u8": "u1", "f16": "f2", "f32": "f4", "i64": "i8"}[kind])
    )
    want = swizzled(box_of(a, box, (7, 16 // item)), swizzle)
    found = left(text_of(LOAD, kind, shape, box, (7, 16 // item), swizzle), a, np.zeros(want.size, a.dtype))[1]
    np.testing.assert_array_equal(found, want)

    back = left(text_of(STORE, kind, shape, box, (7, 16 // item), swizzle), want, np.zeros_like(a))[1]
    np.testing.assert_array_equal(back[7:, 16 // item :][:13, : box[1]], a[7:, 16 // item :][:13, : box[1]])
    assert np.count_nonzero(back) == np.count_nonzero(a[7:, 16 // item :][:13, : box[1]])


WRONG = {
    "mbarrier_wait(address(bar[0], 'rw'), 0)": ("pass", "async"),
    "fence_mbarrier_init()": ("pass", "async"),
    "'rw'), 1024)": ("'rw'), 1028)", "deadlock"),
    "f32[256], 'shared', align=1024": ("f32[224], 'shared', align=1024", "bounds"),
    "tensor_load_2d": ("pass  # ", "deadlock"),
    "if t == 0:\n": ("S[t] = 0.0\n            barrier_warp(-1)\n            if t == 0:\n", "async"),
}
WRONG_STORES = {
    "fence_proxy_async()": ("pass", "async"),
    "bulk_commit()": ("pass", "async"),
    "bulk_wait(0)": ("pass", "async"),
    "f32[256], 'shared'": ("f32[240], 'shared'", "bounds"),
    "range(256 // 32)": ("range(7)", "uninitialised"),
    "barrier_warp(-1)": ("pass", "race"),
    "bulk_wait(0)\n": ("bulk_wait_read(0)\n                A[0, 0] = 1.0\n", "async"),
}


@pytest.mark.parametrize("old", WRONG)
def test_a_load_that_is_wrong_is_reported(old: str) -> None:
    text, (new, kind) = text_of(LOAD, "f32", (13, 48), (8, 32), (2, 4), 0), WRONG[old]
    assert old in text
    found = fault(text.replace(old, new), zeros(13, 48), zeros(256))
    assert kind in {one.kind for one in found.faults}, said(found)


@pytest.mark.parametrize("old", WRONG_STORES)
def test_a_store_that_is_wrong_is_reported(old: str) -> None:
    text, (new, kind) = text_of(STORE, "f32", (13, 48), (8, 32), (0, 0), 0), WRONG_STORES[old]
    assert old in text
    found = fault(text.replace(old, new), zeros(256), zeros(13, 48))
    assert kind in {one.kind for one in found.faults}, said(found)


def test_what_no_map_can_describe_is_refused_as_on_a_gpu() -> None:
    text = text_of(LOAD, "f32", (13, 48), (8, 32), (0, 0), 0).replace("f32[13, 48]", "f32[m, n]")
    for shape, because in (
        ((0, 48), "its extents must be 1 to 4294967296"),
        ((13, 49), "its rows are 196 bytes apart"),
    ):
        with pytest.raises(LaunchError) as caught:
            left(text, zeros(*shape), zeros(256))
        assert because in str(caught.value)
