"""Calls that leave a program for the CPU: intrinsics of LLVM, C functions, Python functions."""

from __future__ import annotations

import json
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

import tecomp
import tecomp_runtime
from tecomp import te, tir
from tecomp.codegen.llvm_compile import cpu
from tecomp.errors import UnsupportedError, UserError
from tecomp.ir.foreign import FUNCTIONS
from tecomp_runtime import ArgumentError, Kernel, LaunchError
from tecomp_runtime.package import packed, unpacked

n = te.var("n")
A = te.placeholder((n,), name="A")


def built(body, *, shape=(n,), dtype=None, inputs=(A,), target="llvm"):
    """Return the module of an opaque operation alone."""
    C = te.extern(shape, list(inputs), body, name="C", dtype=dtype)
    return tecomp.build(te.create_schedule(C.op), [*inputs, C], target=target)


def elementwise(function, dtype: str = "float32", **kwargs):
    X = te.placeholder((n,), dtype, name="X")
    Y = te.compute((n,), lambda i: function(X[i]), name="Y")
    return tecomp.build(te.create_schedule(Y.op), [X, Y], **kwargs)


@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("llvm.sqrt", "float32", np.sqrt),
        ("llvm.fabs", "float64", np.abs),
        ("llvm.sqrt", "float16", np.sqrt),
        ("llvm.fabs", "bfloat16", np.abs),
        ("llvm.bitreverse", "uint8", lambda x: np.array([int(f"{v:08b}"[::-1], 2) for v in x], "uint8")),
    ],
)
def test_an_intrinsic_takes_its_types_from_its_arguments(name, dtype, expected) -> None:
    module = elementwise(lambda x: tir.call_llvm_pure_intrin(dtype, name, x), dtype)
    kind = te.const(0, dtype).dtype.numpy
    x = np.arange(9).astype(kind)
    y = np.zeros(9, kind)
    module(x, y)
    np.testing.assert_array_equal(y.astype("float64"), expected(x).astype(kind).astype("float64"))


def test_one_name_for_several_types() -> None:
    def root(x):
        single = tir.call_llvm_pure_intrin("float32", "llvm.sqrt", x)
        return single.astype("float64") + tir.call_llvm_pure_intrin("float64", "llvm.sqrt", x.astype("float64"))

    module = elementwise(lambda x: root(x).astype("float32"))
    x, y = np.array([4, 9], "float32"), np.zeros(2, "float32")
    module(x, y)
    np.testing.assert_array_equal(y, [4, 6])


@pytest.mark.skipif(not cpu().has("avx512vnni"), reason="the CPU has no AVX-512 VNNI")
def test_an_instruction_of_this_cpu() -> None:
    a, b = te.placeholder((64,), "uint8", name="a"), te.placeholder((64,), "int8", name="b")

    def body(ins, outs):
        zero = te.const(0, "int32").astype("int32x16")
        vectors = ins[0].vload([0], "uint8x64"), ins[1].vload([0], "int8x64")
        return outs[0].vstore([0], tir.call_llvm_pure_intrin("int32x16", VNNI, zero, *vectors))

    module = built(body, shape=(16,), dtype="int32", inputs=(a, b))
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, 64).astype("uint8"), rng.integers(-128, 128, 64).astype("int8")
    out = np.zeros(16, "int32")
    module(x, y, out)
    np.testing.assert_array_equal(out, (x.astype("int32") * y).reshape(16, 4).sum(axis=1))


VNNI = "llvm.x86.avx512.vpdpbusd.512"


def test_an_instruction_that_the_cpu_lacks(refused) -> None:
    zero = te.const(0, "int32").astype("int32x16")
    bytes_ = te.const(1, "uint8").astype("uint8x64")

    def body(ins, outs):
        return outs[0].vstore([0], tir.call_llvm_pure_intrin("int32x16", VNNI, zero, bytes_, bytes_))

    with refused(
        UnsupportedError,
        """
        the intrinsic 'llvm.x86.avx512.vpdpbusd.512' on x86-64
          --> test_llvm_foreign.py:LINE
           |     return tecomp.build(te.create_schedule(C.op), [*inputs, C], target=target)
           |     ^
          because: LLVM finds no instruction for it
          legal: target="llvm -mattr=+..."
    """,
    ):
        built(body, shape=(16,), dtype="int32", inputs=(), target="llvm -mcpu=x86-64")


def test_an_intrinsic_that_llvm_does_not_have(refused) -> None:
    with refused(
        UserError,
        """
        the intrinsic 'llvm.frobnicate'
          --> test_llvm_foreign.py:LINE
           |     return tecomp.build(te.create_schedule(Y.op), [X, Y], **kwargs)
           |     ^
          because: LLVM knows no intrinsic of that name
          legal: the name as LLVM's manual has it
    """,
    ):
        elementwise(lambda x: tir.call_llvm_pure_intrin("float32", "llvm.frobnicate", x))


def test_an_intrinsic_of_other_types() -> None:
    with pytest.raises(UserError) as caught:
        elementwise(lambda x: tir.call_llvm_pure_intrin("float32", "llvm.ctpop", x))
    assert caught.value.asked == "the intrinsic 'llvm.ctpop'"
    assert caught.value.because == "LLVM says: Intrinsic has incorrect return type"
    assert "declare float @llvm.ctpop(float)" in caught.value.ir


def test_the_interpreter_knows_no_intrinsic(refused) -> None:
    X = te.placeholder((n,), name="X")
    Y = te.compute((n,), lambda i: tir.call_llvm_pure_intrin("float32", "llvm.sqrt", X[i]), name="Y")
    program = tecomp.lower(te.create_schedule(Y.op), [X, Y])
    with refused(
        UnsupportedError,
        """
        the intrinsic 'llvm.sqrt' in the interpreter
          --> test_llvm_foreign.py:LINE
           |     tecomp.ir.interpret(program, np.ones(2, "float32"), np.ones(2, "float32"))
           |     ^
          because: LLVM knows what it does, and only for a CPU
          legal: tecomp.build(..., target="llvm")
    """,
    ):
        tecomp.ir.interpret(program, np.ones(2, "float32"), np.ones(2, "float32"))


@pytest.mark.parametrize("where", ["llvm", "the interpreter"])
def test_c_has_no_half(where) -> None:
    X = te.placeholder((n,), "float16", name="X")
    Y = te.compute((n,), lambda i: tir.call_pure_extern("float16", "f", X[i]), name="Y")
    s = te.create_schedule(Y.op)
    with pytest.raises(UnsupportedError) as caught:
        if where == "llvm":
            tecomp.build(s, [X, Y])
        else:
            tecomp.ir.interpret(tecomp.lower(s, [X, Y]), np.ones(2, "float16"), np.ones(2, "float16"))
    assert caught.value.asked == f"the C function 'f' {'on' if where == 'llvm' else 'in'} {where}"
    assert caught.value.because == "a float16 is passed to it or comes back, which C has not"


def test_a_c_function_that_is_not_there() -> None:
    with pytest.raises(LaunchError) as caught:
        elementwise(lambda x: tir.call_pure_extern("float32", "no_such_function", x))
    assert caught.value.asked == "no library here has 'no_such_function'"


def test_a_c_function_gets_no_array_with_gaps() -> None:
    def body(ins, outs):
        return tir.call_extern("handle", "memcpy", outs[0], ins[0], (n * 4).astype("uint64"))

    module = built(body)
    wide, out = np.arange(12, dtype="float32"), np.zeros(6, "float32")
    with pytest.raises(ArgumentError) as caught:
        module(wide[::2], out)
    assert str(caught.value) == (
        "main: argument A has gaps\n"
        "  because: a C function gets its address, and takes it for row-major without gaps\n"
        "  legal: a contiguous copy, numpy.ascontiguousarray(x)"
    )
    module(wide[:6], out)
    np.testing.assert_array_equal(out, wide[:6])


class Stop(Exception):
    pass


def fail(*_: object) -> None:
    raise Stop("enough")


@pytest.mark.parametrize("kind", ["serial", "parallel"])
def test_an_exception_comes_out_of_the_call_and_ends_the_program(kind) -> None:
    """What comes behind would read garbage; memory on the heap is given back."""

    def body(ins, outs):
        ib = tir.ir_builder.create()
        with ib.for_range(0, n, name="i", kind=kind):
            ib.allocate("float32", (100_000,), name="t")[0] = 1.0
            ib.emit(tir.call_packed(fail, ins[0], outs[0]))
            ib.buffer_ptr(outs[0])[0] = 5.0
        return ib.get()

    module = built(body)
    for _ in range(3):
        out = np.zeros(4, "float32")
        with pytest.raises(Stop, match="enough"):
            module(np.ones(4, "float32"), out)
        assert out[0] == 0
    module(np.ones(0, "float32"), np.ones(0, "float32"))


def test_an_interrupt_is_not_lost() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    module = built(lambda ins, outs: tir.call_packed(interrupt, ins[0], outs[0]))
    with pytest.raises(KeyboardInterrupt):
        module(np.ones(4, "float32"), np.ones(4, "float32"))


def test_a_function_may_call_the_module_again() -> None:
    depth: list[int] = []

    def again(x: np.ndarray, out: np.ndarray) -> None:
        depth.append(len(x))
        if len(x):
            module(x[1:].copy(), out[1:])
        out[:1] = len(x)

    module = built(lambda ins, outs: tir.call_packed(again, ins[0], outs[0]))
    out = np.zeros(3, "float32")
    module(np.ones(3, "float32"), out)
    assert depth == [3, 2, 1, 0]
    np.testing.assert_array_equal(out, [3, 2, 1])


def test_threads_of_python_call_at_once() -> None:
    def double(x: np.ndarray, out: np.ndarray) -> None:
        out[:] = 2 * x

    module = built(lambda ins, outs: tir.call_packed(double, ins[0], outs[0]))
    outs = [np.zeros(5, "float32") for _ in range(8)]
    threads = [threading.Thread(target=module, args=(np.full(5, k, "float32"), out)) for k, out in enumerate(outs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(outs, np.repeat(2.0 * np.arange(8), 5).reshape(8, 5))


def test_numbers_arrive_in_their_types() -> None:
    given: list[tuple[object, ...]] = []
    numbers = [
        te.var(name, dtype) for name, dtype in (("i", "int32"), ("b", "bool"), ("f", "float32"), ("u", "uint64"))
    ]
    C = te.extern(
        (1,),
        [],
        lambda ins, outs: tir.call_packed(lambda *args: given.append(args), outs[0], *numbers, n, 2.5),
        dtype="int8",
    )
    module = tecomp.build(te.create_schedule(C.op), [C, *numbers, n])
    module(np.zeros(1, "int8"), -3, True, 0.5, 2**63, 7)
    assert given[0][1:] == (-3, True, 0.5, 2**63, 7, 2.5)
    assert [type(value) for value in given[0][1:]] == [int, bool, float, int, int, float]


def test_a_function_of_no_name_that_others_know() -> None:
    module = built(lambda ins, outs: tir.call_packed(fail, ins[0], outs[0]))
    for save in (pickle.dumps, lambda artifact: packed([artifact])):
        with pytest.raises(UserError) as caught:
            save(module.artifact)
        assert caught.value.asked == "main cannot be serialised"
        assert caught.value.because.startswith("it calls the Python function <fail ")
        assert caught.value.legal == 'tecomp.register_func("my.name")(f), and tir.call_packed("my.name", ...)'


def test_a_function_by_its_name() -> None:
    def double(x: np.ndarray, out: np.ndarray) -> None:
        out[:] = 2 * x

    tecomp.register_func("tests.double")(double)
    try:
        artifact = built(lambda ins, outs: tir.call_packed("tests.double", ins[0], outs[0])).artifact
    finally:
        del FUNCTIONS["tests.double"]
    (again,) = unpacked(json.dumps(json.loads(packed([artifact]))))
    for copy in (pickle.loads(pickle.dumps(artifact)), again):
        out = np.zeros(3, "float32")
        Kernel(copy, {"tests.double": double})(np.ones(3, "float32"), out)
        np.testing.assert_array_equal(out, [2, 2, 2])
    tecomp_runtime.register_func("tests.double", lambda x, out: np.copyto(out, 3 * x))
    Kernel(artifact)(np.ones(3, "float32"), out)
    np.testing.assert_array_equal(out, [3, 3, 3])


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(LaunchError) as caught:
        built(lambda ins, outs: tir.call_packed("tests.nobody", ins[0], outs[0]))
    assert str(caught.value) == (
        "main calls the Python function 'tests.nobody'\n"
        "  because: no function of that name is registered\n"
        '  legal: tecomp.register_func("tests.nobody")(f)'
    )


def test_bfloat16_arrays_and_arrays_of_vectors() -> None:
    B = te.placeholder((n,), "bfloat16", name="B")
    seen: list[np.ndarray] = []
    module = built(lambda ins, outs: tir.call_packed(seen_by(seen), ins[0], outs[0]), inputs=(B,))
    x = np.arange(4).astype(ml_dtypes.bfloat16)
    out = np.zeros_like(x)
    module(x, out)
    assert seen[0].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(out.astype("float32"), [0, 1, 2, 3])


def seen_by(seen: list[np.ndarray]):
    def copy(x: np.ndarray, out: np.ndarray) -> None:
        seen.append(x)
        out[:] = x

    return copy


def test_a_function_may_wait_for_another_call_of_the_program() -> None:
    """From another thread, and from the threads of a parallel loop."""

    def doubled(a, c, k=slice(None)):
        if not waited.is_set():
            waited.set()
            other = threading.Thread(target=module, args=(a, np.zeros(4, "float32")), daemon=True)
            other.start()
            other.join(10)
            assert not other.is_alive()
        c[k] = a[k] * 2

    def loop(ins, outs):
        ib = tir.ir_builder.create()
        with ib.for_range(0, 4, "i", kind="parallel") as i:
            ib.emit(tir.call_packed(doubled, ins[0], outs[0], i))
        return ib.get()

    for body in (lambda ins, outs: tir.call_packed(doubled, ins[0], outs[0]), loop):
        waited, module, got = threading.Event(), built(body), np.zeros(4, "float32")
        module(np.arange(4, dtype="float32"), got)
        assert got.tolist() == [0, 2, 4, 6]


def test_each_call_raises_what_its_own_function_raised() -> None:
    meeting = threading.Barrier(4, timeout=10)

    def fails(a, c):
        meeting.wait()
        raise KeyError(int(a[0]))

    module, raised = built(lambda ins, outs: tir.call_packed(fails, ins[0], outs[0])), {}

    def call(number):
        try:
            module(np.full(1, number, "float32"), np.zeros(1, "float32"))
        except KeyError as error:
            raised[number] = error.args[0]

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert raised == {0: 0, 1: 1, 2: 2, 3: 3}
