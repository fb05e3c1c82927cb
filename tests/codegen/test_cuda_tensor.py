"""Boxes of tensors: the map that a launch passes, where memory begins, and what cannot be copied so."""

from __future__ import annotations

from typing import Any

import pytest

from tecomp.codegen.cuda import printed
from tecomp.codegen.cuda_tensor import BYTES, KIND, TENSOR_TYPES
from tecomp.errors import UnsupportedError
from tecomp_runtime import tensor_map
from tecomp_runtime.cuda import host_part
from tecomp_runtime.errors import LaunchError
from tests.codegen.cuda_programs import HOPPER, compiles, flat
from tests.goldens import Golden

_COPY = """
    def copy(A: f16[m, n], B: out[f16[m, n]]) -> device:
        with launch(blockIdx_x=(n + {width} - 1) // {width}, threadIdx_x=32):
            S = alloc(f16[2, 32, {width}], 'shared')
            bar = alloc(u64[1], 'shared')
            if threadIdx_x == 0:
                mbarrier_init(address(bar[0], 'w'), 1)
                fence_mbarrier_init()
                for k in range(2):
                    tensor_load_2d(address(S[k, 0, 0], 'w'), address(A, 'r'), address(bar[0], 'rw'), {box})
                mbarrier_arrive_expect_tx(address(bar[0], 'rw'), {bytes})
            barrier_block()
            mbarrier_wait(address(bar[0], 'rw'), 0)
            if threadIdx_x == 0:
                for k in range(2):
                    tensor_store_2d(address(B, 'w'), address(S[k, 0, 0], 'r'), {box})
                bulk_commit()
                bulk_wait(0)
"""


def copy_program(width: int, swizzle: int) -> str:
    """Return the program that copies up to 64 rows of a matrix in boxes of 32 rows, so wide and swizzled."""
    box = f"{swizzle}, {width}, 32, blockIdx_x * {width}, k * 32"
    return _COPY.format(width=width, box=box, bytes=width * 128)


COPY = copy_program(64, 128)


def test_a_launch_passes_maps(golden: Golden) -> None:
    artifact = printed(flat(COPY), HOPPER)
    compiles(artifact.source, ["sm_90a"])
    golden(f"{artifact.host}\n{artifact.source}")
    asked: list[Any] = []
    host_part("f", artifact.host)(lambda *launched: asked.append(launched), None, lambda *of: of, "A", "B", 3, 64)
    described = ("float16", (64, 3), (2, 128), (64, 32), 128)
    assert asked == [("copy_B", (1, 1, 1), (32, 1, 1), 0, ("A", *described), ("B", *described))]
    assert artifact.kernels[0]["arguments"] == ["tensor_map", "tensor_map"]


def test_the_dynamic_block_begins_where_a_box_must() -> None:
    text = COPY.replace("alloc(f16[2, 32, 64], 'shared')", "alloc(f16[2, 32, 64], 'shared.dyn')")
    source = printed(flat(text), HOPPER).source
    assert "extern __shared__ __align__(1024) unsigned char shared_memory[];" in source


def test_a_tensor_that_is_read_otherwise_too_is_passed_twice() -> None:
    text = COPY.replace("bulk_commit()", "B[0, 0] = A[0, 0]\n                bulk_commit()")
    source = printed(flat(text), HOPPER).source
    maps = "const __grid_constant__ TensorMap A_map, const __grid_constant__ TensorMap B_map"
    assert f"copy_B(const half* A, half* __restrict__ B, {maps})" in source


LOAD = """
    def f({A}) -> device:
        with launch(blockIdx_x=1, threadIdx_x=32):
            S = alloc({S}, 'shared')
            bar = alloc(u64[1], 'shared')
            tensor_load_2d(address(S[{at}], 'w'), address(A{of}, 'r'), address(bar[0], 'rw'), {swizzle}, {box}, 8, 0, 0)
"""
RIGHT = {"A": "A: f32[64, 64]", "S": "f32[512]", "at": "0", "of": "", "swizzle": 128, "box": 32}
WRONG = [
    ({"A": "A: f32[64]"}, "it has 1 dimensions, and the box 2", "a tensor of 2 dimensions"),
    ({"A": "A: bool[64, 64]"}, "it holds bool", ", ".join(TENSOR_TYPES)),
    ({"of": "[1, 0]"}, "its address is that of element 64", "its first element, and coordinates"),
    ({"A": "A: f32[64, 30]"}, "its rows are 120 bytes apart", "rows at multiples of 16 bytes"),
    ({"box": 6}, "a row of the box has 24 bytes", "multiples of 16 bytes"),
    ({"box": 64}, "a row of the box has 256 bytes, and the swizzle 128", "rows of so many bytes at most"),
    (
        {"at": "threadIdx_x * 4"},
        "the box begins at element i64(threadIdx_x * 4) of 'S'",
        "multiples of 32 elements, which are 128 bytes",
    ),
]


def test_what_the_refusals_are_about_is_right() -> None:
    compiles(printed(flat(LOAD.format(**RIGHT)), HOPPER).source, ["sm_90a"])


@pytest.mark.parametrize(("change", "because", "legal"), WRONG, ids=[because for _, because, _ in WRONG])
def test_refusals(change: dict[str, Any], because: str, legal: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(LOAD.format(**RIGHT | change)), HOPPER)
    assert caught.value.asked == "tensor_load_2d of 'A'"
    assert (caught.value.because, caught.value.legal) == (because, legal)


def test_compiler_and_runtime_mean_the_same() -> None:
    assert tensor_map.TYPES.keys() == set(TENSOR_TYPES)
    assert (tensor_map.BYTES, tensor_map.tensor_map.__name__) == (BYTES, KIND)


REFUSED = [
    ((8, "float32", (64, 64), (4, 256)), "it begins at address 8, no multiple of 16"),
    ((16, "float32", (64, 64), (8, 256)), "its innermost elements are 8 bytes apart"),
    ((16, "float32", (30, 64), (4, 120)), "its rows are 120 bytes apart"),
    ((16, "float32", (0, 64), (4, 256)), "its extents must be 1 to 4294967296"),
]


@pytest.mark.parametrize(("of", "because"), REFUSED, ids=[because for _, because in REFUSED])
def test_what_the_runtime_refuses(of: tuple[Any, ...], because: str) -> None:
    with pytest.raises(LaunchError) as caught:
        tensor_map.tensor_map(*of, (32, 8), 128)
    assert because in str(caught.value)


def test_the_driver_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def encode(
        to: Any, dtype: int, rank: int, at: Any, extents: Any, strides: Any, box: Any, steps: Any, *rest: int
    ) -> int:
        assert to.value % 64 == 0
        asked.append((dtype, rank, at.value, list(extents), list(strides), list(box), list(steps), rest))
        return len(asked) - 1

    monkeypatch.setattr(tensor_map, "_encode", lambda: encode)
    tensor_map.tensor_map.cache_clear()
    of = (256, "float16", (64, 10, 3), (2, 128, 1280), (64, 8, 1), 64)
    assert tensor_map.tensor_map(*of) == tensor_map.tensor_map(*of) == bytes(128)
    assert asked == [(6, 3, 256, [64, 10, 3], [128, 1280], [64, 8, 1], [1, 1, 1], (0, 2, 2, 0))]
    with pytest.raises(LaunchError) as caught:
        tensor_map.tensor_map(512, *of[1:])
    assert "the driver refused it with error 1" in str(caught.value)
    tensor_map.tensor_map.cache_clear()
