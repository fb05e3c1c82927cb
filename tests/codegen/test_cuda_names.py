"""Names in CUDA: the user's own, changed only where C++ would not take them."""

from __future__ import annotations

import pytest

from tecomp.codegen.cuda_names import KEYWORDS, Scopes, legal
from tests.codegen.cuda_programs import compiles, cuda


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("A", "A"),
        ("A.shared", "A_shared"),
        ("i.outer.inner", "i_outer_inner"),
        ("float", "float_"),
        ("threadIdx", "threadIdx_"),
        ("2x", "_2x"),
        ("größe", "gr__e"),
        ("__global__", "v__global__"),
        ("", "v"),
        ("linux", "linux"),
        ("exp", "exp"),
    ],
)
def test_legal(wanted: str, name: str) -> None:
    assert legal(wanted) == name


def test_names_are_unique_among_what_is_in_scope() -> None:
    scopes = Scopes({"expf"})
    assert [scopes.declare(name) for name in ("A", "A", "A.x", "A_x", "expf")] == ["A", "A_1", "A_x", "A_x_1", "expf_"]
    with scopes.block():
        assert scopes.declare("i") == "i"
        with scopes.block():
            assert scopes.declare("i") == "i_1"
    assert scopes.declare("i") == "i"


def test_every_keyword_is_mangled_to_something_that_compiles() -> None:
    names = [legal(word) for word in sorted(KEYWORDS)]
    assert not KEYWORDS & set(names)
    parameters = ", ".join(f"float* {name}" for name in names[:80])
    compiles(f'extern "C" __global__ void k({parameters}) {{ {names[0]}[0] = 0.0f; }}')


def test_tensors_called_like_what_the_program_uses() -> None:
    """Two of one name, keywords, a function and a type that the kernel itself needs."""
    artifact = cuda("""
        def main(float_: f32[n], expf: f32[n], vec: out[buffer(f32[n], align=16)], half: f16[n]) -> device:
            with launch(blockIdx_x=(n + 3) // 4) as int_:
                vec[ramp(int_*4, 1, 4)] = exp(float_[ramp(int_*4, 1, 4)]) + expf[ramp(int_*4, 1, 4)]
                vec[int_] = f32(half[int_])
    """)
    assert "main_vec(const float* float_, const float* expf_, " in artifact.source
    assert "float* __restrict__ vec_, const half* half_" in artifact.source
