"""Every argument is checked before anything runs, and the message names it, what was expected and what came."""

import ml_dtypes
import numpy as np
import pytest

from tecomp_runtime import ArgumentError, NotCompact
from tecomp_runtime.arguments import Arguments


def buffer(name, shape, dtype="float32", **more):
    plain = {"strides": None, "output": False, "align": 1}
    return {"name": name, "kind": "buffer", "dtype": dtype, "shape": shape, **plain, **more}


def scalar(name, dtype):
    return {"name": name, "kind": "scalar", "dtype": dtype}


def taking(*params, sizes=()):
    return Arguments({"name": "f", "params": list(params), "sizes": list(sizes), "requires": []})


MATRIX = taking(buffer("X", ["m", "n"]), buffer("out", ["m", "n"], output=True), sizes=["m", "n"])
SIGNATURE = "f(X: float32[m, n], out: float32[m, n])"


def zeros(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


def address(array):
    return array.__array_interface__["data"][0]


def refusal(arguments, *args):
    """Return the message of a refused call, without its last part, the signature."""
    with pytest.raises(ArgumentError) as error:
        arguments.bind(args)
    assert isinstance(error.value, ValueError)
    assert isinstance(error.value, TypeError)
    lines = str(error.value).splitlines()
    assert lines.pop() == f"  legal: {arguments.text}"
    return "\n".join(lines)


def test_addresses_and_sizes_are_what_the_function_is_called_with():
    x, out = zeros(3, 5), zeros(3, 5)
    for _ in range(2):
        values, alive = MATRIX.bind((x, out))
        assert values == [address(x), address(out), 3, 5]
        assert alive[0].owner is x


def test_the_text_of_a_signature():
    assert MATRIX.text == SIGNATURE
    assert taking(scalar("a", "int8"), buffer("x", [])).text == "f(a: int8, x: float32[])"


def test_the_number_of_arguments():
    assert refusal(MATRIX, zeros(3, 5)) == "f: expected 2 arguments, got 1"
    assert refusal(MATRIX) == "f: expected 2 arguments, got 0"


def test_the_rank():
    message = "argument X: expected 2 dimensions, got 1\n  because: its shape is (15,)"
    assert refusal(MATRIX, zeros(15), zeros(3, 5)) == message
    one = taking(buffer("x", [128]))
    assert refusal(one, zeros(1, 128)) == "argument x: expected 1 dimension, got 2\n  because: its shape is (1, 128)"


@pytest.mark.parametrize("given", ["float64", "float16", "int32", "bool", "uint8", "complex64", "datetime64[s]"])
def test_the_type(given):
    text = {"complex64": "<c8", "datetime64[s]": "<M8[s]"}.get(given, given)
    assert refusal(MATRIX, zeros(3, 5, dtype=given), zeros(3, 5)) == f"argument X: expected float32, got {text}"


def test_the_order_of_bytes():
    swapped = np.zeros((3, 5), ">f4")
    message = (
        "argument X: expected float32, got float32 with swapped bytes\n  because: its bytes are in the other order"
    )
    assert refusal(MATRIX, swapped, zeros(3, 5)) == message


def test_bfloat16_is_no_void_type():
    half = taking(buffer("x", [4], "bfloat16"))
    assert half.bind((np.zeros(4, ml_dtypes.bfloat16),))[0]
    assert refusal(half, np.zeros(4, "V2")) == "argument x: expected bfloat16, got |V2"
    assert refusal(half, zeros(4, dtype="float16")) == "argument x: expected bfloat16, got float16"
    eight = np.zeros(4, ml_dtypes.float8_e4m3fn)
    assert refusal(half, eight) == "argument x: expected bfloat16, got float8_e4m3fn"


def test_extents():
    assert refusal(MATRIX, zeros(3, 5), zeros(3, 4)) == (
        "argument out: expected extent of dimension 1 to be n = 5, got 4\n  because: n is 5"
    )
    fixed = taking(buffer("x", [8, 4]))
    assert refusal(fixed, zeros(8, 5)) == "argument x: expected extent of dimension 1 to be 4, got 5"


@pytest.mark.parametrize("n", [0, 1, 7])
def test_sizes_are_solved_from_multiples(n):
    arguments = taking(buffer("x", ["2 * n + 1"]), buffer("y", ["n * 3 - (n - 4)"]), sizes=["n"])
    assert arguments.bind((zeros(2 * n + 1), zeros(2 * n + 4)))[0][2:] == [n]


def test_a_size_that_no_integer_is():
    arguments = taking(buffer("x", ["2 * n + 1"]), sizes=["n"])
    assert refusal(arguments, zeros(4)) == (
        "argument x: expected extent of dimension 0 to be 2 * n + 1, got 4\n  because: no size n makes it so"
    )
    positive = taking(buffer("x", ["n + 4"]), sizes=["n"])
    assert refusal(positive, zeros(3)) == (
        "argument x: expected extent of dimension 0 to be n + 4, got 3\n  because: no size n makes it so"
    )


def test_what_cannot_be_solved_is_checked():
    arguments = taking(buffer("x", ["n * m"]), buffer("y", ["(n + 3) // 4"]), buffer("z", ["n", "m"]), sizes=["n", "m"])
    assert arguments.bind((zeros(15), zeros(2), zeros(5, 3)))[0][3:] == [5, 3]
    assert refusal(arguments, zeros(16), zeros(2), zeros(5, 3)) == (
        "argument x: expected extent of dimension 0 to be n * m = 15, got 16\n  because: m is 3, n is 5"
    )
    unsolvable = taking(buffer("x", ["n * m"]), sizes=["n", "m"])
    assert refusal(unsolvable, zeros(15)) == (
        "f: the size n cannot be found\n  because: no extent is that size, or a multiple of it plus a constant"
    )


def test_scalars_give_extents():
    arguments = taking(scalar("n", "int32"), buffer("x", ["n + 1"]), sizes=[])
    assert arguments.bind((4, zeros(5)))[0][0] == 4
    assert arguments.bind((6, zeros(7)))[0][0] == 6
    assert refusal(arguments, 5, zeros(5)) == (
        "argument x: expected extent of dimension 0 to be n + 1 = 6, got 5\n  because: n is 5"
    )


def test_scalars_that_shape_nothing_do_not_fill_the_memory():
    arguments = taking(scalar("a", "float32"), buffer("x", ["n"]), sizes=["n"])
    x = zeros(4)
    for a in range(100):
        arguments.bind((a, x))
    assert len(arguments._known) == 1


def test_the_memory_of_layouts_is_bounded(monkeypatch):
    monkeypatch.setattr("tecomp_runtime.arguments._KNOWN_LAYOUTS", 8)
    arguments = taking(buffer("x", ["n"]), sizes=["n"])
    for n in range(100):
        assert arguments.bind((zeros(n),))[0][1] == n
    assert len(arguments._known) <= 8


def test_empty_arrays():
    assert MATRIX.bind((zeros(0, 5), zeros(0, 5)))[0][2:] == [0, 5]
    nothing = zeros(0, 5)
    assert MATRIX.bind((nothing, nothing))[0][2:] == [0, 5]


def test_outputs_must_be_writable():
    fixed = zeros(3, 5)
    fixed.flags.writeable = False
    assert MATRIX.bind((fixed, zeros(3, 5)))
    assert refusal(MATRIX, zeros(3, 5), fixed) == "argument out: it is written, and the array is read-only"
    changing = zeros(3, 5)
    MATRIX.bind((fixed, changing))
    changing.flags.writeable = False
    assert refusal(MATRIX, fixed, changing) == "argument out: it is written, and the array is read-only"


def test_outputs_share_no_memory_with_other_arguments():
    memory = zeros(40)
    because = "an output is written while the other arguments are in use"
    shared = f"argument out: shares memory with argument X\n  because: {because}"
    assert refusal(MATRIX, memory[:15].reshape(3, 5), memory[10:25].reshape(3, 5)) == shared
    x = memory[:15].reshape(3, 5)
    assert refusal(MATRIX, x, x) == shared
    assert MATRIX.bind((memory[:15].reshape(3, 5), memory[15:30].reshape(3, 5)))
    two = taking(buffer("a", [4], output=True), buffer("b", [4], output=True))
    assert refusal(two, memory[:4], memory[2:6]).startswith("argument a: shares memory with argument b")
    assert two.bind((memory[4:8], memory[:4]))


def test_inputs_may_be_one_array():
    arguments = taking(buffer("a", [4]), buffer("b", [4]), buffer("out", [4], output=True))
    x = zeros(4)
    assert arguments.bind((x, x, zeros(4)))


STRIDED = taking(
    buffer("X", ["m", "n"], strides=["s0", "s1"]),
    buffer("out", ["m", "n"], strides=["t0", "t1"], output=True),
    sizes=["m", "n", "s0", "s1", "t0", "t1"],
)


def test_arrays_with_gaps_ask_for_the_variant_with_strides():
    x = zeros(6, 10)
    for gaps in (x[::2, :5], x[:3, ::2], x[:3, :5], zeros(5, 3).T, x[2::-1, :5], np.broadcast_to(zeros(1, 5), (3, 5))):
        with pytest.raises(NotCompact) as error:
            MATRIX.bind((gaps, zeros(3, 5)))
        assert error.value.names == ("X",)
        m, n = gaps.shape
        steps = [stride // 4 for stride in gaps.strides]
        assert STRIDED.bind((gaps, zeros(m, n)))[0] == [address(gaps), *STRIDED.bind((gaps, zeros(m, n)))[0][1:]]
        assert STRIDED.bind((gaps, zeros(m, n)))[0][2:] == [m, n, *steps, n, 1]


def test_single_rows_have_no_gaps():
    x = zeros(6, 10)
    assert MATRIX.bind((x[2:3, :10], zeros(1, 10)))
    assert MATRIX.bind((x[::2, :0], zeros(3, 0)))


def test_interleaved_arrays_do_not_overlap():
    memory = zeros(6, 10)
    assert STRIDED.bind((memory[:, ::2], memory[:, 1::2]))
    assert refusal(STRIDED, memory[:, :5], memory[:, 4:9]).startswith("argument out: shares memory with argument X")


def test_elements_of_an_output_share_no_memory():
    shape = np.broadcast_to(zeros(1, 5), (3, 5))
    writable = np.lib.stride_tricks.as_strided(zeros(5), (3, 5), (0, 4), writeable=True)
    text = (
        "argument out: elements of an output share memory\n  because: its strides are (0, 4) bytes for the shape (3, 5)"
    )
    assert refusal(STRIDED, shape, writable) == text
    assert refusal(MATRIX, zeros(3, 5), writable) == text
    window = np.lib.stride_tricks.as_strided(zeros(9), (3, 5), (8, 4), writeable=True)
    assert refusal(STRIDED, zeros(3, 5), window).startswith("argument out: elements of an output share memory")


def test_a_stride_is_a_whole_number_of_elements():
    fields = np.zeros(15, [("a", "f4"), ("b", "u1"), ("c", "u1")])["a"].reshape(3, 5)
    because = "dimension 0 steps 30 bytes, and an element has 4"
    text = f"argument X: its stride is no whole number of elements\n  because: {because}"
    assert refusal(STRIDED, fields, zeros(3, 5)) == text


def test_declared_strides_are_checked_where_they_are_taken():
    arguments = taking(buffer("X", ["m", 4], strides=[8, 1]), sizes=["m"])
    padded = zeros(3, 8)[:, :4]
    assert arguments.bind((padded,))[0][1:] == [3]
    assert refusal(arguments, zeros(3, 4)) == "argument X: expected stride of dimension 0 to be 8, got 4"
    assert arguments.bind((zeros(1, 4),))[0][1:] == [1]


def test_the_address_is_a_multiple_of_the_element():
    odd = np.zeros(61, "uint8")[1:].view("float32").reshape(3, 5)
    assert not odd.flags.aligned
    text = f"argument X: needs 4-byte alignment\n  because: its address is {address(odd):#x}"
    assert refusal(MATRIX, odd, zeros(3, 5)) == text


def test_code_that_needs_more_alignment_asks_for_the_variant_that_does_not():
    wide = taking(buffer("x", [4], align=64))
    memory = np.zeros(64, "float32")
    start = -(address(memory) // 4) % 16
    assert wide.bind((memory[start : start + 4],))
    with pytest.raises(NotCompact):
        wide.bind((memory[start + 1 : start + 5],))


class OnTheGpu:
    """An array as CuPy or PyTorch describe theirs."""

    def __init__(self, shape):
        self.__cuda_array_interface__ = {
            "data": (4096, False), "typestr": "<f4", "shape": shape, "strides": None, "version": 3,
        }  # fmt: skip


class Elsewhere:
    def __dlpack_device__(self):
        return 8, 0


@pytest.mark.parametrize("value", [3, None, "x", [1.0, 2.0], object])
def test_what_is_no_array(value):
    kind = "type" if value is object else type(value).__name__
    text = f"argument X: expected an array of float32, got {kind}\n  because: it has no array interface and no DLPack"
    assert refusal(MATRIX, value, zeros(3, 5)) == text


def test_the_device():
    here = Arguments({"name": "f", "params": [buffer("X", ["n"])], "sizes": ["n"], "requires": []}, "cuda")
    name = f"{__name__}.OnTheGpu"
    text = f"argument X: expected an array in CPU memory\n  because: a {name} is on the GPU"
    assert refusal(MATRIX, OnTheGpu((3, 5)), zeros(3, 5)) == text
    assert here.bind((OnTheGpu((7,)),))[0] == [4096, 7]
    with pytest.raises(ArgumentError) as error:
        here.bind((zeros(7),))
    assert error.value.asked == "argument X: expected an array on the GPU"
    assert error.value.because == "a numpy.ndarray is in CPU memory"
    assert refusal(MATRIX, Elsewhere(), zeros(3, 5)).endswith("is on DLPack device 8")


def test_subclasses_and_scalars_without_dimensions():
    assert MATRIX.bind((np.ma.zeros((3, 5), "float32").view(np.ndarray), zeros(3, 5)))
    nothing = taking(buffer("x", []), buffer("out", [], output=True))
    assert nothing.bind((np.float32(3), zeros()))[0]
    assert refusal(nothing, zeros(1), zeros()).startswith("argument x: expected 0 dimensions, got 1")
