"""Group K: what a call is given, what a launch may ask for, and what one build serves."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.target import CUDA_LIMITS, Target
from tecomp_runtime import ArgumentError, LaunchError
from tests.cases.places import CUDA, SIMULATOR, Program
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)
made = pytest.mark.parametrize("target", [CUDA, SIMULATOR])
"""What makes kernels: of a program it says the same in each."""
called = pytest.mark.parametrize("target", ["llvm", SIMULATOR])
"""What takes arrays of NumPy: of a call it says the same in each."""


def doubled(n=128, dtype="float32", target="llvm"):
    """Vectors of four of them, and where it is CUDA a thread for each vector."""
    x = te.placeholder((n,), dtype, name="x")
    y = te.compute((n,), lambda i: x[i] * 2, name="y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], 4)
    s[y].vectorize(inner)
    if target != "llvm":
        bound(s, y, 8, outer)
    return s, [x, y]


def read_only(array):
    array.flags.writeable = False
    return array


WRONG = {
    "rank": (lambda: np.zeros((1, 128), "f"), lambda: np.zeros(128, "f"),
             "argument x: expected 1 dimension, got 2\n  because: its shape is (1, 128)"),
    "no dimensions": (lambda: np.zeros((), "f"), lambda: np.zeros(128, "f"),
                      "argument x: expected 1 dimension, got 0\n  because: its shape is ()"),
    "dtype": (lambda: np.zeros(128), lambda: np.zeros(128, "f"), "argument x: expected float32, got float64"),
    "extent": (lambda: np.zeros(127, "f"), lambda: np.zeros(128, "f"),
               "argument x: expected extent of dimension 0 to be 128, got 127"),
    "read-only": (lambda: np.zeros(128, "f"), lambda: read_only(np.zeros(128, "f")),
                  "argument y: it is written, and the array is read-only"),
    "no array": (lambda: [0.0] * 128, lambda: np.zeros(128, "f"),
                 "argument x: expected an array of float32, got list\n"
                 "  because: it has no array interface and no DLPack"),
}  # fmt: skip


@called
@pytest.mark.parametrize("what", WRONG)
def test_an_array_that_does_not_fit(what, target):
    """TL#1011: an array of another rank was taken."""
    given, result, said = WRONG[what]
    module = tecomp.build(*doubled(target=target), target=target)
    with pytest.raises(ArgumentError) as caught:
        module(given(), result())
    assert str(caught.value) == f"{said}\n  legal: main(x: float32[128], y: float32[128])"


@called
def test_sizes_that_disagree(target):
    module = tecomp.build(*doubled(te.var("n"), target=target), target=target)
    with pytest.raises(ArgumentError) as caught:
        module(np.zeros(5, "f"), np.zeros(4, "f"))
    assert str(caught.value) == (
        "argument y: expected extent of dimension 0 to be n = 5, got 4\n  because: n is 5\n"
        "  legal: main(x: float32[n], y: float32[n])"
    )


@called
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize("shift", [0, 1, 2, 3])
def test_arrays_that_start_between_vectors(dtype, shift, target):
    """pytorch/tvm#80, tvm PR 12586: x[1:] of an aligned array, and every other start."""
    module = tecomp.build(*doubled(te.var("n"), dtype, target), target=target)
    for n in around(4):
        base, out = DATA.integers(-9, 9, n + shift).astype(dtype), np.zeros(n + shift + 1, dtype)
        module(base[shift:], out[shift : shift + n])
        assert (out[shift : shift + n] == base[shift:] * 2).all()
        assert not out[:shift].any() and not out[shift + n :].any()


@called
@pytest.mark.parametrize("shift", [1, 2, 3])
def test_bytes_that_start_between_elements(shift, target):
    """An address that is no multiple of the element is refused or right, never a fault."""
    module = tecomp.build(*doubled(target=target), target=target)
    x = np.zeros(129 * 4, "uint8")[shift : shift + 512].view("float32")
    with pytest.raises(ArgumentError) as caught:
        module(x, np.zeros(128, "f"))
    where = {
        "llvm": f"its address is {x.ctypes.data:#x}",
        SIMULATOR: f"it starts at byte {shift} of the array that it is a view of",
    }
    assert str(caught.value) == (
        f"argument x: needs 4-byte alignment\n  because: {where[target]}\n"
        "  legal: main(x: float32[128], y: float32[128])"
    )


@called
def test_an_output_in_the_memory_of_an_input(target):
    module = tecomp.build(*doubled(target=target), target=target)
    x = np.zeros(192, "f")
    for y in (x[:128], x[64:]):
        with pytest.raises(ArgumentError) as caught:
            module(x[:128], y)
        assert str(caught.value) == (
            "argument y: shares memory with argument x\n"
            "  because: an output is written while the other arguments are in use\n"
            "  legal: main(x: float32[128], y: float32[128])"
        )


@called
@pytest.mark.parametrize("step", [-1, 2, 3])
def test_arrays_with_steps(step, target):
    module = tecomp.build(*doubled(te.var("n"), target=target), target=target)
    for n in around(4):
        base = DATA.integers(-9, 9, n * abs(step)).astype("float32")[::step]
        out = np.zeros(2 * n, "f")
        module(base, out[::2])
        assert (out[::2] == base * 2).all() and not out[1::2].any()


NUMBERS = {
    "float32": [1.5, 2, np.float64(0.1), np.float32(-3.25), np.int64(7), True, np.array(2.5)],
    "float64": [0.1, 2, np.float32(0.1), np.int8(-3)],
    "float16": [0.1, 1000, np.float64(65504.0)],
    "int64": [2**62, -(2**63), 3.0, np.int32(-7), np.uint8(255)],
    "uint8": [0, 255, 3.0, np.int64(7)],
    "bool": [True, False, 1, 0, np.bool_(True)],
}


@pytest.mark.parametrize("where", ["llvm", "interpreter", "simulator"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_scalars_of_every_kind(where, dtype):
    """cupy#6940: a Python float was read as zero where a float32 was declared."""
    a = te.var("a", dtype)
    y = te.compute((3,), lambda i: a if dtype != "bool" else te.Select(a, 1, 2), name="y")
    s = te.create_schedule(y.op)
    if where == "simulator":
        bound(s, y, 2)
    program = Program(where, s, [a, y])
    for value in NUMBERS[dtype]:
        one = np.array(value).astype(dtype)
        want = np.full(3, one) if dtype != "bool" else np.full(3, 1 if one else 2, "int32")
        program({a: value}, {y: want})


@called
@pytest.mark.parametrize(
    ("dtype", "value", "said"),
    [
        ("uint8", 1.5, "argument a: expected a whole number for uint8, got 1.5"),
        ("uint8", -1, "argument a: -1 does not fit in uint8\n  because: uint8 holds 0 to 255"),
        ("float32", "1", "argument a: expected a number for float32, got '1'\n  because: its type is str"),
    ],
)
def test_scalars_that_do_not_fit(dtype, value, said, target):
    a = te.var("a", dtype)
    y = te.compute((3,), lambda i: a, name="y")
    s = te.create_schedule(y.op)
    if target != "llvm":
        bound(s, y, 2)
    module = tecomp.build(s, [a, y], target=target)
    with pytest.raises(ArgumentError) as caught:
        module(value, np.zeros(3, dtype))
    assert str(caught.value) == f"{said}\n  legal: main(a: {dtype}, y: {dtype}[3])"


@made
@pytest.mark.parametrize("call", ["build", "lower"])
def test_a_stage_without_threads(refused, call, target):
    """tvm#410, #18350, #19548."""
    A = te.placeholder((8,), name="A")
    C = te.compute((8,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    with refused("""
        stage C has no axis bound to a block or thread
          because: all work of a CUDA program is done by kernels
          legal: s[stage].bind(axis, te.thread_axis('blockIdx.x')), compute_at inside a bound stage, threads in a body
        """):
        getattr(tecomp, call)(s, [A, C], target=target)


@made
def test_a_program_that_was_lowered_for_a_cpu(refused, target):
    A = te.placeholder((8,), name="A")
    C = te.compute((8,), lambda i: A[i] + 1, name="C")
    program = tecomp.lower(te.create_schedule(C.op), [A, C], target="llvm")
    with refused("""
        'C' on cuda
          because: no axis of it is bound to a block or thread
          legal: bind one of its axes: s[T].bind(axis, te.thread_axis("blockIdx.x"))
        """):
        tecomp.build(program, target=target)


@made
def test_a_module_is_no_program(refused, target):
    with refused("""
        build of a Module
          because: what is built is a schedule of a computation
          legal: te.create_schedule(...), and its arguments as a list; or tensors
        """):
        tecomp.build(tecomp.build(*doubled()), target=target)


@made
def test_one_stage_of_two_without_threads(refused, target):
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    C = te.compute((8,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    bound(s, C, 4)
    with refused("""
        stage B has no axis bound to a block or thread
          because: all work of a CUDA program is done by kernels
          legal: s[stage].bind(axis, te.thread_axis('blockIdx.x')), compute_at inside a bound stage, threads in a body
        """):
        tecomp.build(s, [A, C], target=target)


def many(count):
    inputs = [te.placeholder((8,), name=f"A{number}") for number in range(count)]
    C = te.compute((8,), lambda i: sum((A[i] for A in inputs[1:]), inputs[0][i]), name="C")
    s = te.create_schedule(C.op)
    bound(s, C, 4)
    return s, inputs, C


def test_kernels_of_many_inputs():
    """csarofeen/pytorch#1993: past the 4096 bytes that older drivers took."""
    s, inputs, C = many(600)
    assert tecomp.build(s, [*inputs, C], target=CUDA).artifact.binary


@made
def test_kernels_of_too_many_inputs(refused, target):
    s, inputs, C = many(4200)
    with refused("""
        4201 arguments of main_C
          because: they are 33608 bytes, and a launch passes at most 32764
          legal: compute_root for some stages, so that each kernel reads fewer tensors
        """):
        tecomp.build(s, [*inputs, C], target=target)


@made
@pytest.mark.parametrize("threads", [1025, 2048, 1 << 20])
def test_too_many_threads(refused, threads, target):
    """TL#2633."""
    A = te.placeholder((threads,), name="A")
    C = te.compute((threads,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    with refused(f"""
        an extent of {threads} on threadIdx.x in main_C
          because: sm_90a has at most 1024
          legal: split the loop further before it is bound
        """):
        tecomp.build(s, [A, C], target=target)


@pytest.mark.parametrize("threads", [0, -1])
def test_no_threads(refused, threads):
    A = te.placeholder((8,), name="A")
    C = te.compute((8,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    with refused(f"""
        split: 'i' of 'C' by {threads}
          because: a loop of that many iterations computes nothing
          legal: a positive integer
        """):
        s[C].split(C.op.axis[0], threads)


def in_shared(kib):
    """A block copies so many KiB of float64 to shared memory, and each thread reads what others copied."""
    n = kib * 128
    A = te.placeholder((n,), "float64", name="A")
    P = te.compute((n,), lambda i: A[i] + 1, name="P")
    C = te.compute((n,), lambda i: P[n - 1 - i] * 2, name="C")
    s = te.create_schedule(C.op)
    block = s[C].fuse()
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(s[C].split(C.op.axis[0], 128)[1], te.thread_axis("threadIdx.x"))
    s[P].compute_at(s[C], block)
    s[P].set_scope("shared")
    s[P].bind(s[P].split(P.op.axis[0], 128)[1], te.thread_axis("threadIdx.x"))
    return s, A, C


@pytest.mark.parametrize("kib", [48, 49, 227])
def test_shared_memory_up_to_the_limit(cuda, kib):
    """tvm#668: more than the default is asked for at the launch."""
    s, A, C = in_shared(kib)
    a = DATA.integers(-9, 9, kib * 128).astype("float64")
    cuda(s, [A, C])({A: a}, {C: (a[::-1] + 1) * 2})


@pytest.mark.parametrize("kind", ["cuda", "cuda-sim"])
@pytest.mark.parametrize(("arch", "most"), [("sm_80", 163), ("sm_89", 99), ("sm_90a", 227)])
def test_more_shared_memory_than_there_is(refused, arch, most, kind):
    s, A, C = in_shared(most + 1)
    with refused(f"""
        {most * 1024 + 1024} bytes of shared memory in main_C
          because: a block has at most {most * 1024} on {arch} (P {most * 1024 + 1024})
          legal: smaller tiles
        """):
        tecomp.build(s, [A, C], target=f"{kind} -arch={arch}")


@pytest.mark.parametrize("kind", ["cuda", "cuda-sim"])
def test_an_architecture_that_is_not_known(refused, kind):
    s, args = doubled()
    with refused(f"""
        unknown target '{kind} -arch=sm_12'
          because: there is no architecture 'sm_12'
          legal: {", ".join(CUDA_LIMITS)}
        """):
        tecomp.build(s, args, target=f"{kind} -arch=sm_12")


def test_a_call_without_a_gpu():
    """The build needs none; the call says what is missing."""
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] * 2, name="y")
    s = te.create_schedule(y.op)
    bound(s, y, 4)
    module = tecomp.build(s, [x, y], target=CUDA)
    with pytest.raises((LaunchError, ArgumentError)):
        module(np.zeros(8, "f"), np.zeros(8, "f"))


@called
def test_one_build_serves_every_size(target):
    """TL#1934: rebuilt for each value although the size was symbolic."""
    module = tecomp.build(*doubled(te.var("n"), target=target), target=target)
    source = module.source
    for n in (*around(4), 1000):
        x, y = DATA.random(n, "float32"), np.zeros(n, "f")
        module(x, y)
        assert (y == x * 2).all()
    assert module.source is source


@called
def test_two_sizes_are_two_programs(target):
    """TL#1250: the shapes were left out of the key."""
    first, second = (tecomp.build(*doubled(n, target=target), target=target) for n in (8, 12))
    for n, module in ((8, first), (12, second)):
        x, y = DATA.random(n, "float32"), np.zeros(n, "f")
        module(x, y)
        assert (y == x * 2).all()
    with pytest.raises(ArgumentError, match="expected extent of dimension 0 to be 8, got 12"):
        first(np.zeros(12, "f"), np.zeros(12, "f"))


@pytest.mark.parametrize("target", ["llvm", CUDA, SIMULATOR])
def test_a_build_changes_nothing_that_it_is_given(target):
    """TL PR 1776: the compiler changed the options."""
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] * 2, name="y")
    s = te.create_schedule(y.op)
    if target != "llvm":
        bound(s, y, 4)
    args, text, goal = [x, y], s.text(), Target.of(target)
    sources = {tecomp.build(s, args, target=goal).source for _ in range(2)}
    assert len(sources) == 1
    assert (args, s.text(), goal) == ([x, y], text, Target.of(target))
