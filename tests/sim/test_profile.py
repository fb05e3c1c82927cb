"""A profile: what it says of a kernel on a GPU, of a part of its blocks, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import UserError, UserTypeError
from tecomp.sim import profile
from tecomp.sim.cubin import registers
from tecomp.sim.gpus import GPUS, gpu_named
from tecomp.sim.occupancy import occupancy
from tests.sim.counted import KERNELS


def test_it_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    one = KERNELS["transpose"]
    found = profile(one.build("cuda-sim"), *one.given())
    said = capsys.readouterr().out
    assert said == f"{found}\n"
    row = next(line.split() for line in said.partition("shared memory  ")[2].splitlines() if "load" in line)
    assert row == ["load", "512", "65.5", "kB", "16384", "32.00", "15872"]
    assert "registers: unknown" in said
    assert "bound by shared memory" in said


def test_a_module_for_cuda_has_registers_too() -> None:
    one = KERNELS["gemm"]
    module = one.build("cuda -arch=sm_90a")
    (kernel,) = profile(module, *one.given(), show=False).kernels.values()
    assert registers(module.artifact.binary) == {kernel.name: kernel.occupancy.registers}
    assert f"Used {kernel.occupancy.registers} registers" in module.artifact.log
    assert registers(b"no cubin") == {}


def test_some_blocks_stand_for_all() -> None:
    one = KERNELS["transpose"]
    (whole,) = profile(one.build(), *one.given(), show=False).kernels.values()
    sampled = profile(one.build(), *one.given(), blocks=4, show=False)
    (part,) = sampled.kernels.values()
    assert sampled.sampled and "only some blocks ran" in str(sampled)
    assert part.counts == whole.counts


def test_each_kernel_and_launch_is_counted() -> None:
    A = te.placeholder((64, 64), name="A")
    B = te.compute((64, 64), lambda i, j: A[i, j] + 1.0, name="B")
    C = te.compute((64, 64), lambda i, j: B[j, i] * 2.0, name="C")
    s = te.create_schedule(C.op)
    for stage in (B, C):
        rows, columns = s[stage].op.axis
        s[stage].bind(rows, te.thread_axis("blockIdx.x"))
        s[stage].bind(columns, te.thread_axis("threadIdx.x"))
    found = profile(tecomp.build(s, [A, C], target="cuda-sim"), *(np.ones((64, 64), np.float32),) * 1,
                    np.zeros((64, 64), np.float32), show=False)  # fmt: skip
    assert [kernel.flops for kernel in found.kernels.values()] == [{"float32": 4096}] * 2
    assert [kernel.global_load.sectors for kernel in found.kernels.values()] == [64 * 2 * 4, 64 * 2 * 32]
    assert found.seconds == sum(kernel.seconds for kernel in found.kernels.values())


def test_arrays_with_gaps() -> None:
    one = KERNELS["copy"]
    wide = np.ones(2 * 4096, np.float32)
    (found,) = profile(one.build(), wide[::2], np.zeros(4096, np.float32), show=False).kernels.values()
    assert found.global_load.sectors == 8 * 128


@pytest.mark.parametrize(
    ("threads", "shared", "held", "expected"),
    [
        (256, 0, None, (8, 64, "threads")),
        (32, 0, None, (32, 32, "blocks")),
        (256, 48 * 1024, None, (4, 32, "shared memory")),
        (256, 0, 64, (4, 32, "registers")),
        (256, 0, 33, (6, 48, "registers")),
        (96, 0, 168, (4, 12, "registers")),
    ],
)
def test_occupancy(threads: int, shared: int, held: int | None, expected: tuple[int, int, str]) -> None:
    found = occupancy(gpu_named("h200"), threads, shared, held)
    assert (found.blocks, found.warps, found.limit) == expected
    assert found.fraction == found.warps / 64


def test_a_large_copy_is_bound_by_dram() -> None:
    A = te.placeholder((1 << 22,), name="A")
    B = te.compute(A.shape, lambda i: A[i], name="B")
    s = te.create_schedule(B.op)
    block, thread = s[B].split(B.op.axis[0], factor=256)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    a, b = (np.zeros(1 << 22, np.float32) for _ in range(2))
    found = profile(tecomp.build(s, [A, B], target="cuda-sim"), a, b, gpu="RTX 4090", blocks=64, show=False)
    (kernel,) = found.kernels.values()
    assert kernel.bound.name == "DRAM"
    assert kernel.seconds == 2 * a.nbytes / GPUS["rtx4090"].dram


def test_what_it_refuses() -> None:
    one = KERNELS["copy"]
    with pytest.raises(UserError, match=r"nothing is known of it(.|\n)*a10, a100, .*h200, .*rtx4090"):
        profile(one.build(), *one.given(), gpu="voodoo2")
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1.0, name="B")
    with pytest.raises(UserTypeError, match="built for llvm"):
        profile(tecomp.build(te.create_schedule(B.op), [A, B], target="llvm"), *one.given())


def test_a_plot_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    one = KERNELS["copy"]
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UserError, match=r"pip install \"tecomp\[plot\]\""):
        profile(one.build(), *one.given(), show=False).plot()


def test_a_plot(tmp_path: Path) -> None:
    one = KERNELS["gemm"]
    figure = profile(one.build(), *one.given(), show=False).plot(tmp_path / "roofline.svg")
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["float32", "tensor cores, float16", "gemm_kernel, shared memory"]
    assert (tmp_path / "roofline.svg").read_text().startswith("<?xml")
