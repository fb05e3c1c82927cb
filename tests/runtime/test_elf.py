"""Object code loaded without a linker: constants, calls inside and outside, what is refused."""

import ctypes
import struct
import sys

import llvmlite.binding as llvm
import pytest

from tecomp.codegen import llvm_compile
from tecomp_runtime import LaunchError, cpu
from tecomp_runtime.elf import Loaded
from tecomp_runtime.jit import Jitted

SOURCE = """
@table = internal constant [4 x double] [double 1.0, double 2.5, double -3.0, double 1024.0]
@names = internal constant [2 x ptr] [ptr @inner, ptr @outer]

define internal i32 @inner(i32 %x) noinline nounwind {
  %y = mul i32 %x, 3
  ret i32 %y
}

define i32 @outer(i32 %x) nounwind {
  %y = call i32 @inner(i32 %x)
  ret i32 %y
}

define double @look(i64 %i) nounwind {
  %p = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %x = load volatile double, ptr %p
  %y = call double @cbrt(double %x)
  ret double %y
}

define i32 @by_name(i64 %i, i32 %x) nounwind {
  %p = getelementptr [2 x ptr], ptr @names, i64 0, i64 %i
  %f = load volatile ptr, ptr %p
  %y = call i32 %f(i32 %x)
  ret i32 %y
}

define ptr @where() nounwind {
  ret ptr @hypot
}

define i32 @choose(i32 %x) nounwind {
  switch i32 %x, label %other [ i32 0, label %a
    i32 1, label %b
    i32 2, label %c
    i32 3, label %d
    i32 4, label %e ]
a:
  %ra = call i32 @inner(i32 7)
  br label %end
b:
  %rb = call i32 @inner(i32 70)
  br label %end
c:
  %rc = call i32 @outer(i32 %x)
  br label %end
d:
  br label %end
e:
  br label %end
other:
  br label %end
end:
  %r = phi i32 [ %ra, %a ], [ %rb, %b ], [ %rc, %c ], [ 44, %d ], [ 55, %e ], [ -1, %other ]
  ret i32 %r
}

declare double @cbrt(double)
declare double @hypot(double, double)
"""


def function(loaded, name, result, *args):
    return ctypes.CFUNCTYPE(result, *args)(loaded.functions[name])


@pytest.fixture(scope="module")
def loaded():
    return Loaded(llvm_compile.compiled(SOURCE, llvm_compile.cpu()))


def test_constants_and_functions_of_the_system(loaded):
    look = function(loaded, "look", ctypes.c_double, ctypes.c_int64)
    assert [look(i) for i in range(4)] == pytest.approx([1.0, 2.5 ** (1 / 3), -(3 ** (1 / 3)), 1024 ** (1 / 3)])


def test_functions_of_its_own(loaded):
    assert function(loaded, "outer", ctypes.c_int, ctypes.c_int)(5) == 15
    by_name = function(loaded, "by_name", ctypes.c_int, ctypes.c_int64, ctypes.c_int)
    assert [by_name(i, 4) for i in (0, 1)] == [12, 12]


def test_addresses_and_tables_of_jumps(loaded):
    where = function(loaded, "where", ctypes.c_void_p)()
    hypot = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(where)
    assert hypot(3, 4) == 5
    choose = function(loaded, "choose", ctypes.c_int, ctypes.c_int)
    assert [choose(x) for x in range(-1, 6)] == [-1, 21, 210, 6, 44, 55, -1]


def test_unoptimised_code_loads_too():
    target = llvm_compile.machine(llvm_compile.cpu())
    module = llvm.parse_assembly(SOURCE)
    module.triple, module.data_layout = llvm_compile.triple(), str(target.target_data)
    loaded = Loaded(target.emit_object(module))
    assert function(loaded, "look", ctypes.c_double, ctypes.c_int64)(0) == 1.0


def test_a_function_that_nothing_has():
    text = "define i32 @f() nounwind {\n  %x = call i32 @no_such_function_anywhere()\n  ret i32 %x\n}\n"
    code = llvm_compile.compiled(text + "declare i32 @no_such_function_anywhere()\n", llvm_compile.cpu())
    with pytest.raises(LaunchError) as error:
        Loaded(code)
    assert error.value.asked == "no library here has 'no_such_function_anywhere'"
    assert error.value.because == "neither the C library nor anything else in this process has it"


def test_what_is_no_object_code():
    with pytest.raises(LaunchError, match="it is no ELF file"):
        Loaded(b"MZ" + bytes(100))
    other = bytearray(llvm_compile.compiled(SOURCE, llvm_compile.cpu()))
    struct.pack_into("<H", other, 18, 183)
    with pytest.raises(LaunchError, match="it is for ELF machine 183"):
        Loaded(bytes(other))


@pytest.mark.parametrize("loader", [Loaded, Jitted])
def test_both_loaders(loader):
    """The one for other machines is LLVM's; here it can be tried too."""
    text = "define double @te.f(double %x) nounwind {\n  %y = call double @cbrt(double %x)\n  ret double %y\n}\n"
    loaded = loader(llvm_compile.compiled(text + "declare double @cbrt(double)\n", llvm_compile.cpu()))
    assert function(loaded, "te.f", ctypes.c_double, ctypes.c_double)(27) == pytest.approx(3)


def test_machines_with_another_loader(monkeypatch):
    assert cpu.loader() is Loaded
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert cpu.loader() is Jitted
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    with pytest.raises(LaunchError) as error:
        Jitted(llvm_compile.compiled("", llvm_compile.cpu()))
    assert error.value.because.startswith("on aarch64 LLVM's loader is needed: ")
    assert error.value.legal == "pip install llvmlite"


def test_an_empty_module():
    assert Loaded(llvm_compile.compiled("", llvm_compile.cpu())).functions == {}
