"""On a GPU: what runs agrees with the interpreter, for every type, alignment, size and stream."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.dtype import DType
from tecomp.errors import UnsupportedError
from tecomp.ir import interpret
from tecomp.target import Target
from tecomp_runtime import ArgumentError, Kernel, LaunchError, NotCompact
from tests.codegen.cuda_programs import built, flat

pytestmark = pytest.mark.gpu

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SHORT = {name: DType(name).short for name in (*FLOATS, *INTEGERS, "bool")}
COUNT = 300


@pytest.fixture(scope="module")
def cupy() -> Any:
    return importlib.import_module("cupy")


@functools.lru_cache(maxsize=8)
def kernel(text: str, target: str = "cuda") -> Kernel:
    return Kernel(built(text, Target.of(target)))


def check(cupy: Any, text: str, *arrays: Any, ulps: float = 0) -> list[np.ndarray]:
    """Run a program on the GPU and in the interpreter on copies of `arrays`; all must agree. Return the GPU's."""
    expected = [array.copy() if isinstance(array, np.ndarray) else array for array in arrays]
    given = [to_gpu(cupy, array) if isinstance(array, np.ndarray) else array for array in arrays]
    kernel(text)(*given)
    with np.errstate(all="ignore"):
        interpret(flat(text), *expected)
    found = [to_cpu(array, like) for array, like in zip(given, expected, strict=True) if isinstance(like, np.ndarray)]
    for got, want in zip(found, (array for array in expected if isinstance(array, np.ndarray)), strict=True):
        same(got, want, ulps)
    return found


def to_gpu(cupy: Any, array: np.ndarray) -> Any:
    if array.dtype.name != "bfloat16":
        return cupy.asarray(array)
    return BFloat16(cupy.asarray(array.view(np.uint16)))


def to_cpu(array: Any, like: np.ndarray) -> np.ndarray:
    if isinstance(array, BFloat16):
        return array.words.get().view(like.dtype)
    return array.get()


class BFloat16:
    """CuPy's array of 16-bit words, shown as what they mean: not every CuPy knows bfloat16."""

    dtype = "bfloat16"

    def __init__(self, words: Any) -> None:
        self.words = words

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.words.__cuda_array_interface__, "typestr": "<V2"}


def same(got: np.ndarray, want: np.ndarray, ulps: float) -> None:
    if got.dtype.kind not in "fV" and got.dtype.name != "bfloat16":
        np.testing.assert_array_equal(got, want)
        return
    epsilon = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}[want.dtype.name]
    least = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074}[want.dtype.name]
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=ulps * epsilon, atol=ulps * least)


def samples(dtype: str, count: int, seed: int = 0) -> np.ndarray:
    """Return limits, zeros, specials and random values of a type, shuffled."""
    kind, random = DType(dtype), np.random.default_rng(seed)
    if kind.is_float:
        special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 3.5]
        values = np.r_[special, random.normal(size=count - len(special)) * 10]
        return random.permutation(values).astype(kind.numpy)
    low, high = kind.limits()
    drawn = random.integers(low, high, count - 8, dtype=bool if kind.is_bool else kind.numpy, endpoint=True)
    edges = np.array([low, low, high, high, 0, 1, min(7, high), max(-1, low)], kind.numpy)
    return random.permutation(np.concatenate([edges, drawn]))


def elementwise(value: str, types: list[str], result: str) -> str:
    parameters = ", ".join(f"{name}: {SHORT[dtype]}[n]" for name, dtype in zip("ABC", types, strict=False))
    operands = dict(zip("abc", (f"{name}[i]" for name in "ABC"), strict=True))
    for letter in reversed(operands):
        value = value.replace(f"${letter}", operands[letter])
    return f"""
def f({parameters}, out_: out[{SHORT[result]}[n]]) -> device:
    with launch(blockIdx_x=(n + 63) // 64, threadIdx_x=64) as (bx, tx):
        if bx * 64 + tx < n:
            let_ = bx * 64 + tx
            out_[let_] = {value}
""".replace("[i]", "[let_]")


ARITHMETIC = [
    *("$a + $b", "$a - $b", "$a * $b", "min($a, $b)", "max($a, $b)"),
    *("select($a < $b, $a, $b)", "$a if $b <= $a else $b"),
]
OF_INTEGERS = [
    *("$a // $b", "$a % $b", "truncdiv($a, $b)", "truncmod($a, $b)", "$a & $b", "$a | $b", "$a ^ $b"),
    *("abs($a)", "popcount($a)", "clz($a)", "$a << three", "$a >> two"),
]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("value", ARITHMETIC)
def test_arithmetic(cupy: Any, dtype: str, value: str) -> None:
    a, b = samples(dtype, COUNT, 1), samples(dtype, COUNT, 2)
    check(cupy, elementwise(value, [dtype, dtype], dtype), a, b, np.zeros_like(a))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("value", OF_INTEGERS)
def test_integers(cupy: Any, dtype: str, value: str) -> None:
    a, b = samples(dtype, COUNT, 1), samples(dtype, COUNT, 2)
    b[b == 0] = 3
    short = SHORT[dtype]
    value = value.replace("three", f"{short}(3)").replace("two", f"{short}(2)")
    check(cupy, elementwise(value, [dtype, dtype], dtype), a, b, np.zeros_like(a))


def test_division_by_zero_gives_zero(cupy: Any) -> None:
    a, zero = samples("int32", COUNT), np.zeros(COUNT, "int32")
    for value in ("$a // $b", "$a % $b", "truncdiv($a, $b)", "truncmod($a, $b)"):
        out = cupy.ones(COUNT, "int32")
        kernel(elementwise(value, ["int32", "int32"], "int32"))(cupy.asarray(a), cupy.asarray(zero), out)
        assert not out.get().any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_division_and_comparison_of_floats(cupy: Any, dtype: str) -> None:
    a, b = samples(dtype, COUNT, 1), samples(dtype, COUNT, 2)
    check(cupy, elementwise("$a / $b", [dtype, dtype], dtype), a, b, np.zeros_like(a))
    for value in ("$a < $b", "$a <= $b", "$a == $b", "$a != $b", "not ($a < $b)", "isnan($a) or isinf($b)"):
        check(cupy, elementwise(value, [dtype, dtype], "bool"), a, b, np.zeros(COUNT, bool))


@pytest.mark.parametrize("old", [*FLOATS, *INTEGERS, "bool"])
@pytest.mark.parametrize("new", [*FLOATS, *INTEGERS, "bool"])
def test_casts(cupy: Any, old: str, new: str) -> None:
    if old == new:
        return
    a = samples(old, COUNT)
    if DType(old).is_float and DType(new).is_integer:  # what does not fit is undefined
        low, high = DType(new).limits()
        a = np.clip(np.nan_to_num(a.astype("float64")), max(low, -100), min(high, 100)).astype(a.dtype)
    check(
        cupy,
        elementwise(f"{SHORT[new]}($a)", [old], new),
        a,
        np.zeros(COUNT, DType(new).numpy),
        ulps=1 if new == "bfloat16" else 0,
    )


def test_float64_to_float16_rounds_once(cupy: Any) -> None:
    a = np.array([np.nextafter(1.00048828125, 2), 65519.999999999, 65520.0, 2.0**-25, np.nan, -np.inf])
    (_, out) = check(cupy, elementwise("f16($a)", ["float64"], "float16"), a, np.zeros(6, "float16"))
    assert out[0] == np.float16(1.0009765625)


def test_nan_and_infinity_survive(cupy: Any) -> None:
    a = np.array([np.nan, 1, np.inf, -np.inf, 0.0], "float32")
    b = np.array([1, np.nan, np.nan, 2, np.nan], "float32")
    for dtype in FLOATS:
        x, y = a.astype(DType(dtype).numpy), b.astype(DType(dtype).numpy)
        for value in ("max($a, $b)", "min($a, $b)", "max(min($a, $b), $a)"):
            check(cupy, elementwise(value, [dtype, dtype], dtype), x, y, np.zeros_like(x))


NEAR = "exp exp2 log log2 log10 log1p expm1 sqrt sin cos tanh atan".split()
ROUGH = "asin acos sinh cosh tan asinh acosh atanh erf sigmoid rsqrt exp10".split()
EXACT = "floor ceil trunc round nearbyint abs".split()
MATHS = {**dict.fromkeys(NEAR, 4), **dict.fromkeys(ROUGH, 8), **dict.fromkeys(EXACT, 0)}
"""How many units in the last place the GPU and NumPy may be apart."""
OF_SEVERAL = {
    **dict.fromkeys(("pow(abs($a), $b)", "atan2($a, $b)", "hypot($a, $b)"), 8),
    **dict.fromkeys(("fmod($a, $b)", "copysign($a, $b)", "nextafter($a, $b)", "fma($a, $b, $a)"), 0),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", MATHS)
def test_maths(cupy: Any, dtype: str, name: str) -> None:
    a = np.random.default_rng(0).uniform(-3, 3, COUNT).astype(DType(dtype).numpy)
    a[:6] = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], a.dtype)
    check(cupy, elementwise(f"{name}($a)", [dtype], dtype), a, np.zeros_like(a), ulps=MATHS[name])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("value", OF_SEVERAL)
def test_maths_of_several(cupy: Any, dtype: str, value: str) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-3, 3, COUNT).astype(DType(dtype).numpy) for _ in range(2))
    twice = value.startswith("fma") and DType(dtype).bits == 16  # the interpreter rounds through float32
    ulps = 1 if twice else OF_SEVERAL[value]
    check(cupy, elementwise(value, [dtype, dtype], dtype), a, b, np.zeros_like(a), ulps=ulps)


def vectors(dtype: str, lanes: int, align: int) -> str:
    """Return a sum in vectors, whose tail is masked."""
    kind = f"buffer({SHORT[dtype]}[n], align={align})"
    place = f"ramp(i*{lanes}, 1, {lanes})"
    tail = f".where({place} < broadcast(n, {lanes}))[{place}]"
    return f"""
def f(A: {kind}, B: {kind}, C: out[{kind}]) -> device:
    with launch(blockIdx_x=(n + {lanes * 32 - 1}) // {lanes * 32}, threadIdx_x=32) as (bx, tx):
        i = bx * 32 + tx
        if i * {lanes} + {lanes} <= n:
            C[{place}] = A[{place}] + B[{place}]
        else:
            C{tail} = A{tail} + B{tail}
"""


@pytest.mark.parametrize("dtype", ["int8", "float16", "bfloat16", "float32", "float64", "int64"])
@pytest.mark.parametrize("lanes", [2, 3, 4, 8, 16])
def test_vectors(cupy: Any, dtype: str, lanes: int) -> None:
    rng = np.random.default_rng(0)
    for n in (0, 1, 31, 32, 97, 1000):
        a, b, c = (rng.integers(0, 50, n).astype(DType(dtype).numpy) for _ in range(3))
        check(cupy, vectors(dtype, lanes, 16), a, b, c)


def test_views_that_are_not_aligned(cupy: Any) -> None:
    whole, out = cupy.arange(1001, dtype="float32"), cupy.zeros(1001, "float32")
    with pytest.raises(NotCompact):
        kernel(vectors("float32", 4, 16))(whole[1:], whole[1:], out[1:])
    kernel(vectors("float32", 4, 4))(whole[1:], whole[1:], out[1:])
    np.testing.assert_array_equal(out.get(), np.r_[np.float32(0), 2 * whole.get()[1:]])


def test_a_module_takes_views_of_every_alignment_and_stride(cupy: Any) -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2, name="B")
    schedule = te.create_schedule(b.op)
    outer, lanes = schedule[b].split(b.op.axis[0], factor=4)
    outer, thread = schedule[b].split(outer, factor=64)
    schedule[b].bind(outer, te.thread_axis("blockIdx.x"))
    schedule[b].bind(thread, te.thread_axis("threadIdx.x"))
    schedule[b].vectorize(lanes)
    double = tecomp.build(schedule, [a, b], target="cuda")
    whole = cupy.arange(4001, dtype="float32")
    for view in (whole, whole[1:], whole[2:999], whole[::3], whole[::-1], whole[:0], whole[3:4]):
        out = cupy.zeros(view.shape, "float32")
        double(view, out)
        np.testing.assert_array_equal(out.get(), 2 * view.get())


@pytest.mark.parametrize("size", [64, 12288, 50000])
def test_shared_memory(cupy: Any, size: int) -> None:
    text = f"""
def f(A: f32[n], B: out[f32[n]]) -> device:
    with launch(blockIdx_x=(n + 63) // 64, threadIdx_x=64) as (bx, tx):
        S = alloc(f32[{size}], 'shared')
        for k in range(3):
            if bx * 64 + tx < n:
                S[tx + {size - 64}] = A[bx * 64 + tx] + f32(k)
            else:
                S[tx + {size - 64}] = 0.0
            barrier_block()
            if bx * 64 + tx < n:
                B[bx * 64 + tx] = S[{size - 1} - tx]
            barrier_block()
"""
    a = np.random.default_rng(0).random(1000, "float32")
    check(cupy, text, a, np.zeros_like(a))


def test_host_loops_and_temporaries(cupy: Any) -> None:
    text = """
def f(X: f32[m, n], S: out[f32[m, n]]) -> device:
    T = alloc(f32[n], 'global')
    with launch(blockIdx_x=(n + 63) // 64, threadIdx_x=64) as (bx, tx):
        if bx * 64 + tx < n:
            T[bx * 64 + tx] = X[0, bx * 64 + tx]
            S[0, bx * 64 + tx] = T[bx * 64 + tx]
    for t in range(1, m):
        with launch(blockIdx_x=(n + 63) // 64, threadIdx_x=64) as (bx, tx):
            if bx * 64 + tx < n:
                T[bx * 64 + tx] = T[bx * 64 + tx] + X[t, bx * 64 + tx]
                S[t, bx * 64 + tx] = T[bx * 64 + tx]
"""
    for m, n in ((1, 1), (5, 63), (7, 64), (3, 65), (2, 0), (40, 1000)):
        x = np.random.default_rng(0).integers(0, 100, (m, n)).astype("float32")
        (_, out) = check(cupy, text, x, np.zeros_like(x))
        np.testing.assert_array_equal(out, np.cumsum(x, axis=0))


ADD_ONE = elementwise("$a + 1.0", ["float32"], "float32")


def test_it_runs_on_the_current_stream(cupy: Any) -> None:
    add, a, b = kernel(ADD_ONE), cupy.zeros(1000, "float32"), cupy.zeros(1000, "float32")
    add(a, b)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        for _ in range(3):
            add(a, b)
            add(b, a)
        graph = stream.end_capture()
    assert not a.get().any(), "captured, not run"
    graph.launch(stream)
    stream.synchronize()
    assert (a.get() == 6).all()


def test_the_device_of_the_arrays_counts(cupy: Any) -> None:
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one GPU only")
    add = kernel(ADD_ONE)
    with cupy.cuda.Device(1):
        a, b = cupy.zeros(100, "float32"), cupy.zeros(100, "float32")
    c = cupy.zeros(100, "float32")
    add(a, b)
    assert (b.get() == 1).all() and cupy.cuda.runtime.getDevice() == 0
    with pytest.raises(ArgumentError, match="its arrays are on several devices"):
        add(a, c)


def test_arrays_of_pytorch(cupy: Any) -> None:
    torch = pytest.importorskip("torch")
    add = kernel(ADD_ONE)
    a, b = torch.zeros(1000, device="cuda"), torch.zeros(1000, device="cuda")
    add(a, b)
    assert bool((b == 1).all())
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10_000_000)
        a.fill_(5)
        add(a, b)
    stream.synchronize()
    assert bool((b == 6).all())
    bf16 = torch.full((100,), 1.5, device="cuda", dtype=torch.bfloat16)
    out = torch.zeros_like(bf16)
    kernel(elementwise("$a + $a", ["bfloat16"], "bfloat16"))(bf16, out)
    assert bool((out == 3).all())


def test_arrays_that_speak_dlpack_only(cupy: Any) -> None:
    class Exported:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    a, b = cupy.zeros(1000, "float32"), cupy.zeros(1000, "float32")
    kernel(ADD_ONE)(Exported(a), Exported(b))
    assert (b.get() == 1).all()


def test_numpy_arrays_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"cupy\.asarray"):
        kernel(ADD_ONE)(np.zeros(4, "float32"), np.zeros(4, "float32"))


def test_a_grid_that_is_too_large(cupy: Any) -> None:
    text = """
def f(A: f32[n], B: out[f32[1]]) -> device:
    with launch(blockIdx_y=n):
        if blockIdx_y == 0:
            B[0] = A[0]
"""
    with pytest.raises(LaunchError) as caught:
        kernel(text)(cupy.zeros(65536, "float32"), cupy.zeros(1, "float32"))
    assert caught.value.asked == "f_B: an extent of 65536 on blockIdx.y"
    assert caught.value.because == "the device allows at most 65535"


def test_code_for_another_device(cupy: Any) -> None:
    capability = cupy.cuda.Device().compute_capability
    other = "sm_120" if capability != "120" else "sm_90"
    try:
        add = kernel(ADD_ONE, f"cuda -arch={other}")
    except UnsupportedError as error:
        pytest.skip(f"this NVRTC makes no other code: {error.because}")
    with pytest.raises(LaunchError) as caught:
        add(cupy.zeros(4, "float32"), cupy.zeros(4, "float32"))
    assert caught.value.because.startswith(f"it is for cuda -arch={other}, and the device has capability {capability}")


def test_scalars_of_every_type(cupy: Any) -> None:
    for dtype in (*FLOATS, *INTEGERS):
        text = f"""
def f(alpha: {SHORT[dtype]}, flip: bool, B: out[{SHORT[dtype]}[n]]) -> device:
    with launch(blockIdx_x=n):
        if flip:
            B[blockIdx_x] = alpha
"""
        out = np.zeros(3, DType(dtype).numpy)
        given = to_gpu(cupy, out)
        kernel(text)(3, True, given)
        assert (to_cpu(given, out).astype("float64") == 3).all(), dtype
