"""A built function by the names of TVM's modules: timing, source, files; packages that load without a compiler."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp_runtime import ArgumentError, LaunchError, load_module
from tecomp_runtime.bench import BenchmarkResult, TimeEvaluator
from tecomp_runtime.package import LoadedModule, packed, unpacked

ROOT = Path(__file__).parent.parent.parent


def doubled(target: str = "llvm", name: str = "double"):
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    if target != "llvm":
        s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    return tecomp.build(s, [A, B], target, name=name)


@pytest.fixture(scope="module")
def module():
    return doubled()


@pytest.fixture(scope="module")
def kernel():
    return doubled("cuda -arch=sm_80")


def test_time_evaluator(module) -> None:
    a, b = np.arange(9, dtype="float32"), np.zeros(9, "float32")
    calls = []
    timed = TimeEvaluator(lambda *args: calls.append(args), tecomp.cpu(), number=3, repeat=4)
    assert len(timed(a, b).results) == 4 and len(calls) == 1 + 3 * 4
    result = module.time_evaluator(module.entry_name, tecomp.cpu(0), number=5, repeat=3)(a, b)
    np.testing.assert_array_equal(b, a * 2)
    assert 0 < result.min <= result.median <= result.max
    assert result.min <= result.mean <= result.max


def test_calls_are_added_until_a_repeat_is_long_enough(module) -> None:
    a, b = np.arange(9, dtype="float32"), np.zeros(9, "float32")
    calls = []
    TimeEvaluator(lambda *args: calls.append(args), tecomp.cpu(), number=1, min_repeat_ms=2)(a, b)
    assert len(calls) > 100
    cooled = module.time_evaluator("double", tecomp.cpu(), 1, 2, cooldown_interval_ms=1, repeats_to_cooldown=2)
    assert len(cooled(a, b).results) == 2


def test_what_results_say() -> None:
    result = BenchmarkResult((0.001, 0.002, 0.006))
    assert result.mean == pytest.approx(0.003)
    assert (result.median, result.min, result.max) == (0.002, 0.001, 0.006)
    assert result.std == pytest.approx(0.0021602, rel=1e-4)
    assert str(result) == "mean 3.0000 ms, median 2.0000 ms, max 6.0000 ms, min 1.0000 ms, std 2.1602 ms"


def test_source(module, kernel) -> None:
    assert module.get_source() == module.get_source("ll") == module.source
    assert "te.double" in module.get_source("asm") and module.imported_modules == []
    assert kernel.get_source().startswith("def host(") and (module.type_key, kernel.type_key) == ("llvm", "cuda")
    (device,) = kernel.imported_modules
    assert device.get_source() == kernel.source and "__global__" in kernel.source


def test_names(module) -> None:
    assert module["double"] is module and module.get_function("double") is module
    assert module.entry_name == module.name == "double"


@pytest.mark.parametrize(
    ("target", "ending"), [("llvm", "o"), ("llvm", "ll"), ("cuda", "cubin"), ("cuda", "cu"), ("cuda", "py")]
)
def test_one_part_in_a_file(module, kernel, tmp_path, target: str, ending: str) -> None:
    built = module if target == "llvm" else kernel
    path = tmp_path / f"double.{ending}"
    built.save(path)
    want = {"o": built.artifact.binary, "cubin": built.artifact.binary, "py": built.artifact.host.encode()}
    assert path.read_bytes() == want.get(ending, built.source.encode())


def test_a_package_runs_on_arrays_of_any_strides(module, tmp_path) -> None:
    module.export_library(tmp_path / "double.json")
    loaded = load_module(str(tmp_path / "double.json"))
    assert (loaded.name, loaded.source, loaded.signature) == (module.name, module.source, module.signature)
    for step in (1, 2):
        a, b = np.arange(9, dtype="float32"), np.zeros(9 * step, "float32")
        loaded(a, b[::step])
        np.testing.assert_array_equal(b[::step], a * 2)
    assert loaded.time_evaluator("double", tecomp.cpu())(a, b[::2]).mean > 0


def test_a_package_of_cuda_is_whole(kernel, tmp_path) -> None:
    kernel.export_library(tmp_path / "double")
    loaded = tecomp.runtime.load_module(tmp_path / "double")
    assert loaded.artifact.binary == kernel.artifact.binary and loaded.artifact.kernels == kernel.artifact.kernels
    assert loaded.get_source() == kernel.get_source() and loaded.imported_modules == kernel.imported_modules


def test_no_compiler_is_needed_where_it_is_loaded(module, tmp_path) -> None:
    module.export_library(tmp_path / "double")
    code = (
        "import sys, numpy, tecomp_runtime\n"
        f"f = tecomp_runtime.load_module({str(tmp_path / 'double')!r})\n"
        "b = numpy.zeros(3, 'float32'); f(numpy.ones(3, 'float32'), b)\n"
        "print(b.tolist(), [m for m in ('tecomp', 'llvmlite') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, cwd=ROOT / "runtime"
    )
    assert done.stdout.split("\n")[0] == "[2.0, 2.0, 2.0] []"


def test_strided_arrays_for_a_package_without(module) -> None:
    (only,) = unpacked(packed([module.artifact]))
    with pytest.raises(LaunchError) as caught:
        LoadedModule([only])(np.zeros(4, "float32")[::2], np.zeros(2, "float32"))
    assert caught.value.because == "an argument has gaps, and the package has code for arrays without only"


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("[]", "it is no package of a function"),
        ("x", "it is no package of a function"),
        (json.dumps({"format": "tecomp 9", "artifacts": []}), "its format is 'tecomp 9'"),
        (None, "No such file"),
    ],
)
def test_what_is_no_package(tmp_path, text: str | None, because: str) -> None:
    if text is not None:
        (tmp_path / "f").write_text(text)
    with pytest.raises(LaunchError) as caught:
        load_module(tmp_path / "f")
    assert caught.value.asked == f"{tmp_path / 'f'} cannot be loaded"
    assert because in caught.value.because


def test_a_damaged_package(module) -> None:
    text = packed([module.artifact])
    for other in (text.replace("float32", "float64", 1), text.replace('"name": "double"', '"name": "treble"')):
        assert other != text
        with pytest.raises(LaunchError) as caught:
            unpacked(other)
        assert caught.value.because == "its content is not what was written into it"


def test_refusals(module, kernel, tmp_path) -> None:
    calls = {
        "time_evaluator of double on None": lambda: module.time_evaluator("double", None),
        "double has no function 'main'": lambda: module["main"],
        "time_evaluator of double on cuda(0)": lambda: module.time_evaluator("double", tecomp.cuda(0)),
        "get_source('asm') of double": lambda: kernel.get_source("asm"),
        f"save double as {tmp_path / 'f.so'}": lambda: module.save(tmp_path / "f.so"),
    }
    for asked, call in calls.items():
        with pytest.raises(ArgumentError) as caught:
            call()
        assert caught.value.asked == asked and caught.value.because and caught.value.legal
    with pytest.raises(LaunchError, match="nothing would be measured"):
        module.time_evaluator("double", tecomp.cpu(), number=0)


@pytest.mark.gpu
def test_timing_and_packages_on_a_gpu(tmp_path) -> None:
    built = doubled("cuda")
    a, b = (
        tecomp.nd.array(np.arange(9, dtype="float32"), tecomp.cuda(0)),
        tecomp.nd.empty((9,), "float32", tecomp.cuda(0)),
    )
    result = built.time_evaluator(built.entry_name, tecomp.cuda(0), number=5, repeat=2)(a, b)
    assert len(result.results) == 2 and result.mean > 0
    built.export_library(tmp_path / "double")
    b[:] = 0
    load_module(tmp_path / "double")(a, b)
    tecomp.cuda(0).sync()
    np.testing.assert_array_equal(b.numpy(), np.arange(9) * 2)
    assert tecomp.cuda(0).warp_size == 32 and tecomp.cuda(0).max_threads_per_block >= 1024
