"""What a launch may ask of a GPU, refused when the program is built, with both numbers."""

from __future__ import annotations

import pytest

from tecomp.codegen.cuda import printed
from tecomp.errors import TecompError, UnsupportedError
from tecomp.target import Target
from tests.codegen.cuda_programs import compiles, cuda, flat
from tests.goldens import Golden


def message(error: TecompError) -> str:
    """Return a message without the line it points at."""
    return "\n".join(line for line in str(error).splitlines() if not line.startswith(("  -->", "   |")))


def launching(extents: str, body: str = "C[threadIdx_x] = 0.0") -> str:
    return f"""
def f(C: out[f32[4096]]) -> device:
    with launch({extents}):
        {body}
"""


SPLIT = "  legal: split the loop further before it is bound"


@pytest.mark.parametrize(
    ("extents", "said"),
    [
        ("threadIdx_x=1025", "an extent of 1025 on threadIdx.x in f_C\n  because: sm_80 has at most 1024\n"),
        (
            "threadIdx_x=64, threadIdx_y=32",
            "2048 threads in a block of f_C\n  because: sm_80 has at most 1024 in a block\n",
        ),
        (
            "threadIdx_x=1, threadIdx_z=65",
            "an extent of 65 on threadIdx.z in f_C\n  because: sm_80 has at most 64\n",
        ),
        (
            "blockIdx_y=65536, threadIdx_x=1",
            "an extent of 65536 on blockIdx.y in f_C\n  because: sm_80 has at most 65535\n",
        ),
    ],
)
def test_too_many_threads(extents: str, said: str) -> None:
    target = Target.of("cuda -arch=sm_80")
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(launching(extents), target), target)
    assert message(caught.value) == said + SPLIT


def test_as_many_threads_as_there_may_be() -> None:
    artifact = cuda(launching("blockIdx_x=2147483647, blockIdx_y=65535, threadIdx_x=16, threadIdx_z=64"))
    assert "__launch_bounds__(1024)" in artifact.source
    assert artifact.kernels[0]["threads"] == 1024


def test_a_block_whose_size_only_the_call_knows() -> None:
    artifact = cuda("""
        def f(A: f32[n], C: out[f32[n]]) -> device:
            with launch(threadIdx_x=min(n, 16), threadIdx_y=2):
                if threadIdx_y == 0:
                    C[threadIdx_x] = A[threadIdx_x]
    """)
    assert artifact.kernels[0]["threads"] == 1024
    assert "(min(n, 16), 2, 1)" in artifact.host


def shared(count: int) -> str:
    return f"""
def f(A: f32[n], C: out[f32[n]]) -> device:
    with launch(blockIdx_x=n, threadIdx_x=32):
        P = alloc(f32, 'shared')
        S = alloc(f32[{count}], 'shared')
        P = 1.0
        S[threadIdx_x] = A[threadIdx_x]
        barrier_block()
        C[threadIdx_x] = S[31 - threadIdx_x] + P
"""


def test_static_shared_memory() -> None:
    artifact = cuda(shared(12276))  # with 16 bytes for P, and what each is filled up by, 48 KiB
    assert "__shared__ __align__(16) float S[12276];" in artifact.source
    assert "__shared__ __align__(16) float P;" in artifact.source
    assert artifact.kernels[0]["shared"] == 0


def test_more_shared_memory_is_asked_for_at_the_launch(golden: Golden) -> None:
    artifact = cuda(shared(12288))
    assert artifact.kernels[0]["shared"] == 16 + 12288 * 4
    golden(f"{artifact.source}\n{artifact.host}")


def test_shared_memory_that_a_launch_is_to_size(golden: Golden) -> None:
    """One buffer that asks for it takes all of the kernel's shared memory there."""
    artifact = cuda(shared(64).replace("f32[64], 'shared'", "f32[64], 'shared.dyn'"))
    assert artifact.kernels[0]["shared"] == 16 + 64 * 4
    compiles(artifact.source)
    golden(artifact.source)


@pytest.mark.parametrize(("arch", "most"), [("sm_80", 163), ("sm_86", 99), ("sm_90a", 227)])
def test_more_shared_memory_than_a_block_can_have(arch: str, most: int) -> None:
    target = Target.of(f"cuda -arch={arch}")
    fits = most * 256 - 4
    printed(flat(shared(fits), target), target)
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(shared(fits + 1), target), target)
    total = most * 1024 + 4
    assert message(caught.value) == (
        f"{total} bytes of shared memory in f_C\n"
        f"  because: a block has at most {most * 1024} on {arch} (P 4, S {fits * 4 + 4})\n"
        "  legal: smaller tiles"
    )


def test_memory_that_no_kernel_has() -> None:
    for scope, extent, said in (
        ("global", "8", "'T' in global memory inside a kernel\n  because: a kernel has shared and local memory only"),
        ("local", "n", "'T' in local memory\n  because: its extent n is known only when the program runs"),
    ):
        text = f"""
def f(C: out[f32[n]]) -> device:
    with launch(threadIdx_x=1):
        T = alloc(f32[{extent}], '{scope}')
        T[threadIdx_x] = 0.0
        C[threadIdx_x] = T[0]
"""
        with pytest.raises(UnsupportedError) as caught:
            printed(flat(text), Target.of("cuda -arch=sm_80"))
        assert message(caught.value).startswith(said)


def test_padded_rows_take_what_their_strides_span() -> None:
    source = cuda("""
        def f(C: out[f32[32, 32]]) -> device:
            with launch(threadIdx_x=32):
                S = alloc(f32[32, 32], 'shared', strides=[33, 1])
                for k in range(32):
                    S[threadIdx_x, k] = f32(k)
                barrier_block()
                for k in range(32):
                    C[threadIdx_x, k] = S[k, threadIdx_x]
    """).source
    assert "float S[1056];" in source
    assert "S[k * 33 + threadIdx_x]" in source or "S[threadIdx_x + k * 33]" in source


@pytest.mark.parametrize(("count", "fits"), [(600, True), (4200, False)])
def test_kernels_of_many_tensors(count: int, fits: bool) -> None:
    names = [f"A{k}" for k in range(count)]
    tensors = ", ".join(f"{name}: f32[4]" for name in names)
    lines = [f"def f({tensors}, C: out[f32[4]]) -> device:", "    with launch(threadIdx_x=4):"]
    starts = range(0, count, 60)
    for start in starts:
        terms = " + ".join(f"{name}[threadIdx_x]" for name in names[start : start + 60])
        lines.append(f"        sum{start} = {terms}")
    text = "\n".join([*lines, f"        C[threadIdx_x] = {' + '.join(f'sum{start}' for start in starts)}"])
    if fits:
        compiles(printed(flat(text), Target.of("cuda -arch=sm_90a")).source)
        return
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(text), Target.of("cuda -arch=sm_90a"))
    assert message(caught.value) == (
        "4201 arguments of f_C\n"
        "  because: they are 33608 bytes, and a launch passes at most 32764\n"
        "  legal: compute_root for some stages, so that each kernel reads fewer tensors"
    )


def test_buffers_of_vectors_are_refused() -> None:
    text = """
def f(C: out[f32x4[8]]) -> device:
    with launch(threadIdx_x=8):
        C[threadIdx_x] = f32x4(0.0)
"""
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(text), Target.of("cuda -arch=sm_80"))
    said = "a buffer of float32x4 on cuda\n  because: its elements are vectors\n  legal: float32"
    assert message(caught.value) == said
