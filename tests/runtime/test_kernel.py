"""A kernel as its user holds it; and threads that stand in for an OpenMP runtime."""

import dataclasses
import json
import pickle

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp_runtime import ArgumentError, Kernel, LaunchError, libraries, threads


@pytest.fixture(scope="module")
def artifact():
    n = te.size_var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
    return tecomp.build(te.create_schedule(B.op), [A, B], name="twice").artifact


def test_what_a_kernel_tells(artifact):
    kernel = Kernel(artifact)
    assert kernel.name == "twice"
    assert repr(kernel) == "<Kernel twice for llvm>"
    assert kernel.source.startswith("define i32 @te.twice(")
    assert [param["name"] for param in kernel.signature["params"]] == ["A", "B"]
    assert kernel.signature["sizes"] == ["n"]


def test_an_artifact_is_plain_data(artifact):
    """It survives JSON and pickle, and the copy runs."""
    signature = json.loads(json.dumps(artifact.signature))
    again = pickle.loads(pickle.dumps(dataclasses.replace(artifact, signature=signature)))
    result = np.zeros(5, "float32")
    Kernel(again)(np.arange(5, dtype="float32"), result)
    assert result.tolist() == [0, 2, 4, 6, 8]


def test_nothing_runs_when_an_argument_is_wrong(artifact):
    kernel = Kernel(artifact)
    result = np.full(5, 7, "float32")
    with pytest.raises(ArgumentError) as error:
        kernel(np.zeros(4, "float32"), result)
    assert str(error.value) == (
        "argument B: expected extent of dimension 0 to be n = 4, got 5\n"
        "  because: n is 4\n"
        "  legal: twice(A: float32[n], B: float32[n])"
    )
    assert (result == 7).all()


def test_what_cannot_be_loaded(artifact):
    with pytest.raises(LaunchError) as error:
        Kernel(dataclasses.replace(artifact, kind="metal"))
    assert error.value.asked == "twice cannot be loaded"
    assert error.value.because == "its kind is 'metal'"
    with pytest.raises(LaunchError, match=r"its object code has no symbol 'te\.thrice'"):
        Kernel(dataclasses.replace(artifact, kernels=("te.thrice",)))


def test_a_cpu_that_lacks_what_the_code_uses(artifact):
    """Without the question, the first such instruction would kill the process."""
    assert set(artifact.requires) <= libraries.cpu_flags()
    kernel = Kernel(dataclasses.replace(artifact, requires=("sse4_1", "avx1024")))
    with pytest.raises(LaunchError) as error:
        kernel(np.ones(4, "float32"), np.ones(4, "float32"))
    assert error.value.asked == "twice cannot run here"
    assert error.value.because == "it is built for a CPU with avx1024, which this one lacks"


def test_a_kernel_may_be_called_from_many_threads(artifact):
    kernel = Kernel(artifact)
    inputs = [np.full(1000, n, "float32") for n in range(16)]
    outputs = [np.zeros(1000, "float32") for _ in inputs]
    workers = [threads.threading.Thread(target=kernel, args=pair) for pair in zip(inputs, outputs, strict=True)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((out == 2 * n).all() for n, out in enumerate(outputs))


@pytest.mark.parametrize(("text", "expected"), [("3", 3), ("4,2", 4), (" 2 ", 2)])
def test_the_number_of_threads_is_the_users(monkeypatch, text, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert threads.most_threads() == expected


@pytest.mark.parametrize("text", ["", "0", "-1", "many"])
def test_otherwise_it_is_the_cores(monkeypatch, text):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert threads.most_threads() >= 1


def test_functions_of_the_system():
    assert libraries.address("expf") == libraries.address("expf") != 0
    with pytest.raises(LaunchError, match="no library here has 'no_such_thing'"):
        libraries.address("no_such_thing")
    assert libraries.library("libno-such-thing.so.9") is None
