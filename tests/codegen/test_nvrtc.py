"""NVRTC: compiled for one architecture exactly, kept, and heard when it complains."""

from __future__ import annotations

from typing import Any

import pytest

from tecomp.codegen import nvrtc
from tecomp.codegen.cuda import generate
from tecomp.errors import InternalError, UnsupportedError
from tecomp.target import Target
from tecomp_runtime import cache
from tests.codegen.cuda_programs import flat
from tests.codegen.test_cuda_limits import message

KERNEL = 'extern "C" __global__ void k(float* A) { A[threadIdx.x] = 1.0f; }'


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_machine_code_without_a_gpu(arch: str) -> None:
    compiled = nvrtc.compile_cuda(KERNEL, arch)
    assert compiled.cubin.startswith(b"\x7fELF")
    assert f"Compiling entry function 'k' for '{arch}'" in compiled.log
    assert "Used" in compiled.log and "registers" in compiled.log


def test_what_was_compiled_is_not_compiled_again(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TECOMP_CACHE_DIR", str(tmp_path))
    first = nvrtc.compile_cuda(KERNEL, "sm_80", cache.kept)
    monkeypatch.setattr(nvrtc, "_compile", lambda *_: pytest.fail("compiled again"))
    assert nvrtc.compile_cuda(KERNEL, "sm_80", cache.kept) == first
    monkeypatch.undo()
    monkeypatch.setenv("TECOMP_CACHE_DIR", str(tmp_path))
    assert nvrtc.compile_cuda(KERNEL, "sm_90a", cache.kept).cubin != first.cubin
    assert nvrtc.compile_cuda(KERNEL + "\n", "sm_80", cache.kept).cubin
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 3


def test_a_program_that_does_not_compile_is_our_fault() -> None:
    source = "\n".join(["// one", "// two", KERNEL.replace("1.0f", "nothing"), "// four", "// five", "// six"])
    with pytest.raises(InternalError) as caught:
        nvrtc.compile_cuda(source, "sm_80")
    assert caught.value.asked == "NVRTC refused the generated CUDA"
    assert 'kernel.cu(3): error: identifier "nothing" is undefined' in caught.value.because
    assert caught.value.ir.splitlines() == [
        "   1 // one",
        "   2 // two",
        f"   3 {KERNEL.replace('1.0f', 'nothing')}",
        "   4 // four",
        "   5 // five",
    ]


def test_an_architecture_that_this_nvrtc_does_not_know() -> None:
    with pytest.raises(UnsupportedError) as caught:
        nvrtc.compile_cuda(KERNEL, "sm_12345")
    assert caught.value.asked == "target cuda -arch=sm_12345"
    assert "sm_90" in caught.value.legal


def test_nvrtc_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(nvrtc.importlib, "import_module", missing)
    with pytest.raises(UnsupportedError) as caught:
        nvrtc.compile_cuda(KERNEL, "sm_80")
    assert message(caught.value) == (
        "target cuda\n"
        "  because: NVRTC is not installed: No module named 'cupy_backends.cuda.libs.nvrtc'\n"
        '  legal: pip install "tecomp[cuda13]", or "tecomp[cuda12]" for a CUDA 12 driver'
    )


def test_generate_gives_the_whole_artifact() -> None:
    target = Target.of("cuda -arch=sm_90a")
    artifact = generate(
        flat("""
        def f(A: f32[n], B: out[f32[n]]) -> device:
            with launch(blockIdx_x=n):
                B[blockIdx_x] = A[blockIdx_x]
    """),
        target,
    )
    assert (artifact.kind, artifact.name, artifact.target) == ("cuda", "f", "cuda -arch=sm_90a")
    assert artifact.binary.startswith(b"\x7fELF") and "registers" in artifact.log
    assert artifact.signature["sizes"] == ["n"]
