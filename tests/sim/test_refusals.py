"""What the simulator refuses before it runs, with whole messages, and unusual arguments that it takes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import sim, te, tir
from tecomp.errors import TecompError, UnsupportedError
from tecomp_runtime.errors import ArgumentError, LaunchError
from tests.goldens import Golden

from .kernels import TARGET, built, f32, fault, said, zeros

DOUBLE = """
    def double(A: f32[n, 4], B: out[f32[n, 4]]) -> device:
        with launch(blockIdx_x=n, threadIdx_x=4) as (b, t):
            B[b, t] = A[b, t] * 2.0
"""


class OnGpu:
    """What CuPy's arrays tell of themselves."""

    __cuda_array_interface__ = {"version": 3, "shape": (4, 4), "typestr": "<f4", "data": (1 << 20, False)}


def fixed(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def overlapping(first: int) -> list[np.ndarray]:
    whole = f32(9, 4)
    return [whole[:4], whole[first : first + 4]]


ARGUMENTS: dict[str, Callable[[], list[Any]]] = {
    "dtype": lambda: [f32(4, 4).astype("f8"), zeros(4, 4)],
    "rank": lambda: [f32(4), zeros(4, 4)],
    "extent": lambda: [f32(4, 3), zeros(4, 4)],
    "extents that differ": lambda: [f32(3, 4), zeros(4, 4)],
    "read-only output": lambda: [f32(4, 4), fixed(zeros(4, 4))],
    "GPU": lambda: [OnGpu(), zeros(4, 4)],
    "list": lambda: [[[1.0]], zeros(4, 4)],
    "too few": lambda: [f32(4, 4)],
    "too many": lambda: [f32(4, 4), zeros(4, 4), 4],
    "overlap": lambda: overlapping(3),
    "no multiple of an element": lambda: [np.zeros(65, "u1")[1:].view("f4").reshape(4, 4), zeros(4, 4)],
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name: str, golden: Golden) -> None:
    with pytest.raises(ArgumentError) as caught:
        built(DOUBLE)(*ARGUMENTS[name]())
    golden(str(caught.value))


OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"sed": 1},
    "seed": {"seed": -1},
    "truth as a seed": {"seed": True},
    "warps": {"warps": "alone"},
    "blocks": {"blocks": 0},
    "truth as blocks": {"blocks": True},
    "block numbers": {"blocks": [1, -1]},
    "no block": {"blocks": []},
    "blocks that there are not": {"blocks": [4, 100]},
    "steps": {"steps": 0},
    "threads": {"threads": 2.5},
    "faults": {"faults": 0},
    "sanitize": {"sanitize": 1},
    "deterministic": {"deterministic": None},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name: str, golden: Golden) -> None:
    """At the line of the call, whichever it is."""
    module = built(DOUBLE)
    with pytest.raises(TecompError) as caught:
        sim.simulate(module, f32(4, 4), zeros(4, 4), **OPTIONS[name])
    assert "test_refusals.py" in str(caught.value).splitlines()[1]
    golden(said(caught.value))


def test_options_are_checked_where_they_are_given() -> None:
    with pytest.raises(TecompError) as caught, sim.options(seed=-1):
        pass
    assert caught.value.location is not None and "sim.options(seed=-1)" in caught.value.location.source()


def test_some_of_the_blocks_that_are_named_suffice() -> None:
    out = zeros(4, 4)
    sim.simulate(built(DOUBLE), f32(4, 4), out, blocks=[1, 100])
    np.testing.assert_array_equal(out, np.where(np.arange(4)[:, None] == 1, f32(4, 4) * 2, 0))


def test_warps_that_wait_for_each_other_do_not_run_together(golden: Golden) -> None:
    text = """
        def pairs(B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                barrier_named(1, 64)
                B[t] = 1.0
    """
    with pytest.raises(TecompError) as caught:
        sim.simulate(built(text), zeros(64), warps="together")
    golden(said(caught.value))


@pytest.mark.parametrize("ask", [sim.simulate, sim.profile])
def test_modules_for_a_cpu(ask: Any, golden: Golden) -> None:
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    module = tecomp.build(te.create_schedule(B.op), [A, B])
    with pytest.raises(TecompError) as caught:
        ask(module, f32(8), f32(8))
    golden(said(caught.value))


def test_what_is_no_module() -> None:
    with pytest.raises(TypeError, match="its type is int"):
        sim.simulate(3)


def test_a_gpu_of_which_nothing_is_known(golden: Golden) -> None:
    with pytest.raises(TecompError) as caught:
        sim.profile(built(DOUBLE), f32(4, 4), zeros(4, 4), gpu="h300")
    golden(said(caught.value))


LIMITS = {
    "threads": """
        def f(A: f32[2048], B: out[f32[2048]]) -> device:
            with launch(threadIdx_x=2048) as t:
                B[t] = A[t]
    """,
    "threads of three axes": """
        def f(B: out[f32[32, 32, 2]]) -> device:
            with launch(threadIdx_x=2, threadIdx_y=32, threadIdx_z=32) as (x, y, z):
                B[z, y, x] = 1.0
    """,
    "shared memory": """
        def f(A: f32[4], B: out[f32[4]]) -> device:
            with launch(threadIdx_x=4) as t:
                S = alloc(f32[60000], 'shared.dyn')
                S[t] = A[t]
                B[t] = S[t]
    """,
    "clusters": """
        def f(B: out[f32[32]]) -> device:
            with launch(blockIdx_x=32, cluster_x=16) as (b, c):
                B[b] = 1.0
    """,
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_those_of_a_build_for_cuda(name: str) -> None:
    said_by = []
    for target in (TARGET, "cuda -arch=sm_90a"):
        with pytest.raises(UnsupportedError) as caught:
            built(LIMITS[name], target)
        said_by.append(said(caught.value))
    assert said_by[0] == said_by[1]


@pytest.mark.parametrize(
    ("call", "target"),
    [("fence_proxy_async()", "sm_80"), ("barrier_cluster()", "sm_80"), ("cp_async_commit()", "sm_75")],
)
def test_instructions_that_a_gpu_has_not(call: str, target: str) -> None:
    text = f"""
        def f(B: out[f32[32]]) -> device:
            with launch(threadIdx_x=32) as t:
                {call}
                B[t] = 1.0
    """
    said_by = []
    for kind in ("cuda-sim", "cuda"):
        with pytest.raises(UnsupportedError) as caught:
            built(text, f"{kind} -arch={target}")
        said_by.append(said(caught.value))
    assert said_by[0] == said_by[1]


@pytest.mark.parametrize("extents", [(1, 2000), (1, 1025)])
def test_a_launch_that_only_a_call_knows_to_be_too_large(extents: tuple[int, int], golden: Golden) -> None:
    text = """
        def f(A: f32[m, n], B: out[f32[m, n]]) -> device:
            with launch(blockIdx_y=m, threadIdx_x=n) as (b, t):
                B[b, t] = A[b, t]
    """
    with pytest.raises(LaunchError) as caught:
        built(text)(f32(*extents), zeros(*extents))
    golden(str(caught.value))


def test_too_many_blocks_along_an_axis() -> None:
    text = """
        def f(B: out[i8[m]]) -> device:
            with launch(blockIdx_y=m) as b:
                B[b] = i8(1)
    """
    with pytest.raises(LaunchError, match=r"an extent of 65536 on blockIdx\.y"):
        built(text)(np.zeros(65536, "i1"))


def unknown(name: str) -> Any:
    A = te.placeholder((32,), name="A")
    B = te.compute((32,), lambda i: tir.call_pure_extern("float32", name, A[i]), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    return tecomp.build(s, [A, B], target=TARGET)


def test_functions_of_the_device_that_it_does_not_know(golden: Golden) -> None:
    with pytest.raises(UnsupportedError) as caught:
        unknown("__fdividef_of_mine")
    golden(said(caught.value))


def test_functions_of_c_that_it_knows() -> None:
    out = zeros(32)
    unknown("sqrtf")(f32(32), out)
    np.testing.assert_array_equal(out, np.sqrt(f32(32)))


VIEWS: dict[str, tuple[Callable[[], np.ndarray], Callable[[tuple[int, ...]], np.ndarray]]] = {
    "from the second row on": (lambda: f32(9, 4)[1:], zeros_of := lambda shape: np.zeros(shape, "f4")),
    "from an odd element on": (lambda: f32(13)[1:].reshape(3, 4), zeros_of),
    "every other row": (lambda: f32(9, 4)[::2], zeros_of),
    "columns of more": (lambda: f32(5, 9)[:, 2:6], zeros_of),
    "every other column": (lambda: f32(5, 8)[:, ::2], zeros_of),
    "transposed": (lambda: f32(4, 6).T, zeros_of),
    "rows backwards": (lambda: f32(6, 4)[::-1], zeros_of),
    "all backwards": (lambda: f32(6, 4)[::-1, ::-1], zeros_of),
    "transposed and backwards": (lambda: f32(4, 6)[::-1].T[::-1], zeros_of),
    "one row again and again": (lambda: np.broadcast_to(f32(4), (5, 4)), zeros_of),
    "read-only": (lambda: fixed(f32(5, 4)), zeros_of),
    "no rows": (lambda: f32(0, 4), zeros_of),
    "into a transposed one": (lambda: f32(6, 4), lambda shape: np.zeros(shape[::-1], "f4").T),
    "into every third row": (lambda: f32(6, 4), lambda shape: np.zeros((shape[0] * 3, 4), "f4")[::3]),
    "into one backwards": (lambda: f32(6, 4), lambda shape: np.zeros(shape, "f4")[::-1, ::-1]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_arrays_of_every_layout(name: str) -> None:
    given, result = VIEWS[name]
    a = given()
    out = result(a.shape)
    module = built(DOUBLE)
    for _ in range(2):
        module(a, out)
        np.testing.assert_array_equal(out, a * 2)
    sim.profile(module, a, result(a.shape), show=False)


@pytest.mark.parametrize(
    ("view", "element"),
    [
        (lambda whole: whole, "B[2, 3]"),
        (lambda whole: whole.reshape(4, 5).T[:5], "B[2, 3]"),
        (lambda whole: whole[::-1], "B[2, 3]"),
        (lambda whole: whole[:, ::-1], "B[2, 3]"),
    ],
)
def test_an_element_is_named_by_its_indices_whatever_the_layout(view: Any, element: str) -> None:
    text = """
        def f(B: out[f32[5, 4]]) -> device:
            with launch(threadIdx_x=5) as t:
                B[t, 0] = 1.0
                B[2, 3] = f32(t)
    """
    with pytest.raises(sim.SimulationFault) as caught:
        built(text)(view(zeros(5, 4)))
    assert f"race on '{element}' in global memory" in str(caught.value)


def test_past_either_end_of_one_that_lies_backwards() -> None:
    for index in ("5", "0 - 1"):
        text = f"""
            def f(A: f32[5], B: out[f32[5]]) -> device:
                with launch(threadIdx_x=5) as t:
                    B[t] = A[{index}]
        """
        with pytest.raises(sim.SimulationFault) as caught:
            built(text)(np.arange(15, dtype="f4")[10:5:-1], zeros(5))
        assert caught.value.kind == "bounds"


def test_what_does_not_end() -> None:
    text = """
        def f(n: i32, B: out[f32[4]]) -> device:
            with launch(threadIdx_x=4) as t:
                B[t] = 0.0
                for i in range(index(n)):
                    B[t] = B[t] + 1.0
    """
    assert fault(text, 100, zeros(4), steps=201).kind == "limit"
    sim.simulate(built(text), 100, zeros(4), steps=202)


def test_a_module_is_pickled() -> None:
    again = pickle.loads(pickle.dumps(built(DOUBLE)))
    out = zeros(5, 4)
    again(f32(9, 4)[:5], out)
    again(f32(5, 4).copy(order="F"), out)
    np.testing.assert_array_equal(out, f32(5, 4) * 2)


def test_a_fault_is_pickled_with_its_statement() -> None:
    text = DOUBLE.replace("B[b, t] =", "B[b, 0] =")
    found = fault(text, f32(4, 4), zeros(4, 4))
    again = pickle.loads(pickle.dumps(found))
    assert said(again) == said(found) and again.kind == "race"


def test_a_module_is_not_exported(tmp_path: Path, golden: Golden) -> None:
    module = built(DOUBLE)
    with pytest.raises(UnsupportedError) as caught:
        module.export_library(tmp_path / "double.json")
    assert not list(tmp_path.iterdir())
    golden(said(caught.value))


def test_a_module_shows_its_sources_and_takes_its_time(tmp_path: Path) -> None:
    module = built(DOUBLE)
    assert module.get_source().startswith("def host(launch, alloc, A, B, n):")
    assert "__global__ void" in module.imported_modules[0].get_source()
    module.save(str(tmp_path / "double.cu"))
    assert "__global__ void" in (tmp_path / "double.cu").read_text()
    with pytest.raises(ArgumentError, match=r"a cuda-sim function has no part \.so"):
        module.save(str(tmp_path / "double.so"))
    with pytest.raises(ArgumentError, match="it is not kept in that form"):
        module.get_source("asm")
    assert module.time_evaluator("double", tecomp.cpu(0), number=2)(f32(4, 4), zeros(4, 4)).mean > 0
    assert repr(module) == "<Module double for cuda-sim -arch=sm_90a>"


def test_a_statement_that_the_simulator_does_not_know(refused: Any) -> None:
    text = """
    def f(B: out[f32[4]]) -> device:
        with launch(threadIdx_x=4) as t:
            call_extern[i32]('mystery', address(B, 'rw'))
    """
    with refused(
        UnsupportedError,
        """
        mystery on cuda-sim
          --> kernels.py:LINE
           |     return tecomp.build(parse(dedent(text)), target=target)
           |     ^
          because: the simulator does not know what this function does
          legal: target="cuda"
          in:
            call_extern[i32]('mystery', address(B, 'rw', i32(0)))
        """,
    ):
        built(text)
