"""Names and signatures: the user's own, legal, and no two alike."""

import json

import pytest

from tecomp.codegen.names import PYTHON_RESERVED, Names
from tecomp.codegen.signature import signature
from tecomp.dtype import FLOAT32, INDEX, DType
from tecomp.errors import InternalError
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.func import Func, Level
from tecomp.ir.stmt import Buffer, Seq


@pytest.mark.parametrize(
    ("wanted", "python", "llvm"),
    [
        ("A", "A", "A"),
        ("A.shared", "A_shared", "A.shared"),
        ("2x", "_2x", "_2x"),
        ("", "v", "v"),
        ("é x", "__x", "__x"),
    ],
)
def test_names_are_legal(wanted, python, llvm):
    assert Names().fresh(wanted) == python
    assert Names(dots=True).fresh(wanted) == llvm


def test_names_are_given_once():
    names = Names(PYTHON_RESERVED)
    assert [names.fresh("A") for _ in range(3)] == ["A", "A_1", "A_2"]
    assert names.fresh("A_1") == "A_1_1"
    assert [names.fresh("lambda") for _ in range(2)] == ["lambda_", "lambda__1"]
    assert names.fresh("lambda_") == "lambda__2"
    assert names.fresh("min") == "min_"


def test_many_equal_names_are_quick():
    names = Names()
    assert len({names.fresh("t") for _ in range(20_000)}) == 20_000


def described(*params, outputs=()):
    return signature(Func("f", params, outputs, Seq(()), Level.FLAT))


def test_a_signature_is_plain_data():
    m, n = E.Var("m", INDEX), E.Var("n", DType("int64"))
    a = E.Var("alpha", FLOAT32)
    x = Buffer("X", (m, make.add(make.mul(n, 2), 1)), DType("bfloat16"), align=16)
    out = Buffer("out", (make.const(4, INDEX), m), FLOAT32, strides=(E.Var("s", INDEX), make.const(1, INDEX)))
    found = described(x, a, out, outputs=(out,))
    assert json.loads(json.dumps(found)) == found
    assert found["params"] == [
        {"name": "X", "kind": "buffer", "dtype": "bfloat16", "shape": ["m", "(n * 2) + 1"], "strides": None,
         "output": False, "align": 16},
        {"name": "alpha", "kind": "scalar", "dtype": "float32"},
        {"name": "out", "kind": "buffer", "dtype": "float32", "shape": [4, "m"], "strides": ["s", 1],
         "output": True, "align": 4},
    ]  # fmt: skip
    assert found["sizes"] == ["m", "n", "s"]


def test_equal_names_in_a_signature():
    first, second = E.Var("n", INDEX), E.Var("n", INDEX)
    word = E.Var("class", INDEX)
    found = described(Buffer("n", (first, second), FLOAT32), Buffer("n", (second, word), FLOAT32))
    assert [param["name"] for param in found["params"]] == ["n", "n_1"]
    assert found["sizes"] == ["n_2", "n_3", "class_"]
    assert [param["shape"] for param in found["params"]] == [["n_2", "n_3"], ["n_3", "class_"]]


def test_a_scalar_that_is_an_extent_is_no_size():
    count = E.Var("count", DType("int32"))
    found = described(count, Buffer("X", (make.index(count),), FLOAT32))
    assert found["sizes"] == []
    assert found["params"][1]["shape"] == ["count"]


def test_extents_as_text():
    n, m = E.Var("n", INDEX), E.Var("m", INDEX)
    shape = (
        make.floordiv(make.add(n, 3), 4),
        make.maximum(n, make.sub(m, 1)),
        make.mul(make.add(n, 1), make.floormod(m, 8)),
        make.cast("int64", make.minimum(n, m)),
    )
    texts = described(Buffer("X", shape, FLOAT32))["params"][0]["shape"]
    assert texts == ["(n + 3) // 4", "max(n, (m - 1))", "(n + 1) * (m % 8)", "min(n, m)"]


def test_vectors_are_a_last_dimension():
    lanes = Buffer("X", (E.Var("n", INDEX),), DType("float32x4"), strides=(E.Var("s", INDEX),))
    (param,) = described(lanes)["params"]
    assert (param["dtype"], param["shape"], param["strides"]) == ("float32", ["n", 4], ["(s) * 4", 1])


def test_what_no_call_could_evaluate():
    buffer = Buffer("Y", (make.const(1, INDEX),), DType("int32"))
    shape = (make.index(make.load(buffer, [make.const(0, INDEX)])),)
    with pytest.raises(InternalError) as error:
        described(Buffer("X", shape, FLOAT32), buffer)
    assert error.value.asked == "an extent has no text in a signature"
    assert error.value.because == "it holds a Load"
