"""Targets: parsing, limits, refusals."""

from __future__ import annotations

import pytest

from tecomp import target as module
from tecomp.errors import UserError, UserTypeError
from tecomp.target import CUDA_LIMITS, Target


def refusal(spec: object) -> str:
    with pytest.raises(UserError) as caught:
        Target.of(spec)  # type: ignore[arg-type]
    lines = str(caught.value).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("  -->", "   |")))


@pytest.mark.parametrize("spec", ["llvm", "llvm -mcpu=skylake", "cuda -arch=sm_80", "cuda -arch=sm_90a"])
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

    monkeypatch.setattr(module.ctypes, "CDLL", missing)
    assert module.present_arch() is None


def test_limits() -> None:
    limits = Target.of("cuda -arch=sm_90a").limits
    assert (limits.threads_per_block, limits.block, limits.grid) == (1024, (1024, 1024, 64), (2**31 - 1, 65535, 65535))
    assert (limits.shared_static, limits.shared_optin, limits.warp) == (49152, 232448, 32)
    assert {CUDA_LIMITS[arch].shared_optin // 1024 for arch in ("sm_86", "sm_89")} == {99}
    assert CUDA_LIMITS["sm_80"].shared_optin == 163 * 1024


KINDS = '"llvm", "llvm -mcpu=NAME", "cuda", "cuda -arch=sm_90a"'


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rocm", f"unknown target 'rocm'\n  because: there is no target kind 'rocm'\n  legal: {KINDS}"),
        ("", f"unknown target ''\n  because: there is no target kind ''\n  legal: {KINDS}"),
        (90, f"90 is no target\n  because: its type is int\n  legal: {KINDS}"),
        (
            "cuda -mcpu=x",
            "unknown target 'cuda -mcpu=x'\n  because: cuda has no option '-mcpu=x'\n  legal: -arch=NAME",
        ),
        (
            "llvm skylake",
            "unknown target 'llvm skylake'\n  because: llvm has no option 'skylake'\n  legal: -mcpu=NAME",
        ),
        (
            "cuda -arch=sm_1",
            "unknown target 'cuda -arch=sm_1'\n  because: there is no architecture 'sm_1'\n  legal: "
            + ", ".join(CUDA_LIMITS),
        ),
    ],
)
def test_refusals(spec: object, message: str) -> None:
    assert refusal(spec) == message


def test_a_cpu_has_no_launch_limits() -> None:
    with pytest.raises(UserTypeError, match="the target llvm has no launch limits"):
        _ = Target.of("llvm").limits
