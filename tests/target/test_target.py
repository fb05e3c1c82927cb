"""Targets: parsing, limits, refusals."""

from __future__ import annotations

import pickle

import pytest

import tecomp
from tecomp import te
from tecomp.errors import UserError, UserTypeError
from tecomp.target import CUDA_LIMITS, Target, cuda, device, llvm
from tecomp.target import target as module


def refusal(spec: object) -> str:
    with pytest.raises(UserError) as caught:
        Target.of(spec)  # type: ignore[arg-type]
    lines = str(caught.value).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("  -->", "   |")))


@pytest.mark.parametrize(
    "spec", ["llvm", "llvm -mcpu=skylake", "cuda -arch=sm_80", "cuda -arch=sm_90a", "llvm -mattr=+avx2,-fma"]
)
def test_text_round_trip(spec: str) -> None:
    target = Target.of(spec)
    assert str(target) == spec
    assert Target.of(str(target)) == target
    assert Target.of(target) is target
    assert len({target, Target.of(spec)}) == 1


def test_cuda_takes_the_present_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "present_arch", lambda: "sm_89")
    assert Target.of("cuda").arch == "sm_89"
    monkeypatch.setattr(module, "present_arch", lambda: None)
    assert Target.of("cuda").arch == "sm_80"


def test_a_device_too_new_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "present_arch", lambda: "sm_999")
    assert "there is no architecture 'sm_999'" in refusal("cuda")


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(device.ctypes, "CDLL", missing)
    assert device.present_arch() is None


def test_limits() -> None:
    limits = Target.of("cuda -arch=sm_90a").limits
    assert (limits.threads_per_block, limits.block, limits.grid) == (1024, (1024, 1024, 64), (2**31 - 1, 65535, 65535))
    assert (limits.shared_static, limits.shared_optin, limits.warp) == (49152, 232448, 32)
    assert {CUDA_LIMITS[arch].shared_optin // 1024 for arch in ("sm_86", "sm_89")} == {99}
    assert CUDA_LIMITS["sm_80"].shared_optin == 163 * 1024


CUDA_FORMS = "-arch=NAME, -max_num_threads=THREADS, -max_shared_memory_per_block=BYTES, -thread_warp_size=32"
LLVM_FORMS = "-mcpu=NAME, -mattr=+FEATURE,-FEATURE, -mtriple=TRIPLE"
KINDS = '"llvm", "llvm -mcpu=NAME", "cuda", "cuda -arch=sm_90a", "cuda-sim"'


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rocm", f"unknown target 'rocm'\n  because: there is no target kind 'rocm'\n  legal: {KINDS}"),
        ("", f"unknown target ''\n  because: there is no target kind ''\n  legal: {KINDS}"),
        (90, f"90 is no target\n  because: its type is int\n  legal: {KINDS}"),
        (
            "cuda -mcpu=x",
            f"unknown target 'cuda -mcpu=x'\n  because: cuda has no option '-mcpu=x'\n  legal: {CUDA_FORMS}",
        ),
        (
            "llvm skylake",
            f"unknown target 'llvm skylake'\n  because: llvm has no option 'skylake'\n  legal: {LLVM_FORMS}",
        ),
        (
            "cuda -arch=sm_1",
            "unknown target 'cuda -arch=sm_1'\n  because: there is no architecture 'sm_1'\n  legal: "
            + ", ".join(CUDA_LIMITS),
        ),
        (
            "cuda -libs=cublas",
            "unknown target 'cuda -libs=cublas'\n  because: cuda has no option '-libs=cublas'\n"
            "  legal: te.extern, which calls the functions of a library",
        ),
        (
            "llvm -mattr=avx2",
            "unknown target 'llvm -mattr=avx2'\n  because: 'avx2' is no list of features\n"
            "  legal: -mattr=+avx2,-avx512f",
        ),
        (
            "cuda -thread_warp_size=64",
            "unknown target 'cuda -thread_warp_size=64'\n  because: the warp of every GPU here has 32 threads\n"
            "  legal: no -thread_warp_size",
        ),
        (
            "cuda -max_num_threads=2048",
            "unknown target 'cuda -max_num_threads=2048'\n  because: '2048' is no number of threads from 1 to 1024",
        ),
    ],
)
def test_refusals(spec: object, message: str) -> None:
    assert refusal(spec) == message


def test_a_cpu_has_no_launch_limits() -> None:
    with pytest.raises(UserTypeError, match="the target llvm has no launch limits"):
        _ = Target.of("llvm").limits


def test_a_triple_of_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "AMD64")
    assert Target("llvm -mtriple=x86_64-pc-linux-gnu").kind == "llvm"
    assert refusal("llvm -mtriple=aarch64-linux-gnu") == (
        "unknown target 'llvm -mtriple=aarch64-linux-gnu'\n"
        "  because: code is made for the machine it is made on, x86_64 under Linux\n"
        "  legal: no -mtriple"
    )


def test_a_host_is_a_cpu() -> None:
    assert Target("cuda -arch=sm_80", host="llvm") == Target("cuda -arch=sm_80")
    with pytest.raises(UserError, match="no host: the host part of a CUDA function is Python"):
        Target("cuda", host="cuda")


def test_other_ways_to_name_a_target() -> None:
    assert Target({"kind": "cuda", "arch": "sm_90a"}) == cuda(arch="sm_90a") == Target("cuda", arch="sm_90a")
    assert llvm(mcpu="skylake", mattr="+avx2") == Target("llvm -mattr=+avx2 -mcpu=skylake")
    assert Target(llvm()) == Target("llvm")
    assert pickle.loads(pickle.dumps(cuda(arch="sm_90a"))) == cuda(arch="sm_90a")
    assert (Target("llvm").kind.name, Target("cuda").kind.name) == ("llvm", "cuda")


def test_the_limits_of_a_device_and_smaller_ones_of_ones_own() -> None:
    target = cuda(arch="sm_90a")
    assert (target.max_num_threads, target.thread_warp_size, target.max_shared_memory_per_block) == (1024, 32, 232448)
    small = Target("cuda -arch=sm_86 -max_num_threads=256 -max_shared_memory_per_block=232448 -thread_warp_size=32")
    assert (small.limits.threads_per_block, small.limits.shared_optin) == (256, 99 * 1024)
    host = Target("llvm")
    assert (host.max_num_threads, host.thread_warp_size, host.max_shared_memory_per_block) == (1, 1, 0)


def test_the_target_of_a_block_is_the_default_of_a_build() -> None:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    with tecomp.target.Target("llvm"):
        with Target("cuda -arch=sm_90a") as inner:
            assert Target.current() is inner
            assert str(tecomp.build(s, [A, B]).target) == "cuda -arch=sm_90a"
        assert str(Target.current(allow_none=False)) == "llvm"
    assert Target.current() is None


def test_no_target_in_force() -> None:
    with pytest.raises(UserError) as caught:
        Target.current(allow_none=False)
    assert caught.value.because == "no target is in force"


def test_by_tvms_names() -> None:
    assert Target(target="llvm", host="llvm") == Target("llvm")
