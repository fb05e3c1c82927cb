"""The shape of the source: which package may import which, no cycles, files and functions of a size one can read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent

LAYERS = (
    ("location", "errors", "absent", "dtype", "target", "artifact"),
    ("ir",),
    ("arith",),
    ("instructions",),
    ("te",),
    ("tir",),
    ("schedule",),
    ("saved",),
    ("bounds",),
    ("lowering",),
    ("passes",),
    ("codegen",),
    ("te_schedule",),
    ("transform",),
    ("checked",),
    ("functions", "module", "nd", "runtime", "testing"),
    ("sim",),
    ("driver",),
)
"""A package imports only what stands before it; the leaves of the first row may import one another."""

FACES = {("tecomp.te", "tecomp.schedule")}
"""te/__init__ is what users import, and `te.create_schedule` belongs to what they expect there."""

DATA_TABLES: set[str] = set()
"""Files that are one table of data, which may be longer."""

VAGUE = {"utils", "util", "common", "base", "helpers", "helper", "misc", "core"}
"""Names that say nothing about what is inside."""

SOURCES = sorted([*(ROOT / "tecomp").rglob("*.py"), *(ROOT / "runtime").rglob("*.py")])


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    parts = parts[parts[0] == "runtime" :]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCES}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports(module: str, *, run_time_only: bool) -> Iterator[str]:
    """Yield the modules of this repository that `module` imports, as full names."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for statement in import_statements(tree(path), run_time_only):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names if alias.name in MODULES)
            continue
        source = statement.module or ""
        if statement.level:
            above = package.split(".")[: len(package.split(".")) - statement.level + 1]
            source = ".".join([*above, *([source] if source else [])])
        for alias in statement.names:
            name = f"{source}.{alias.name}"
            if name in MODULES:
                yield name
            elif source in MODULES:
                yield source


def import_statements(root: ast.AST, run_time_only: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.iter_child_nodes(root):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not (run_time_only and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield from import_statements(node, run_time_only)


def layer(module: str) -> int:
    """Return the row of LAYERS that a module of tecomp belongs to; the face `tecomp` itself stands above all."""
    if module == "tecomp":
        return len(LAYERS)
    name = module.split(".")[1]
    rows = [row for row, names in enumerate(LAYERS) if name in names]
    assert rows, f"{module} stands in no layer: add {name!r} to LAYERS"
    return rows[0]


@pytest.mark.parametrize("module", MODULES)
def test_imports_only_lower_layers(module: str) -> None:
    for other in imports(module, run_time_only=False):
        if module.startswith("tecomp_runtime"):
            assert other.startswith("tecomp_runtime"), f"the runtime must run without the compiler: it imports {other}"
        elif other.startswith("tecomp.") and (module, other.rpartition(".")[0]) not in FACES:
            allowed = (module, other) in FACES or same_package(module, other) or layer(other) < layer(module)
            assert allowed, f"{module} imports {other}, which stands above it"


def same_package(a: str, b: str) -> bool:
    return a.split(".")[1:2] == b.split(".")[1:2] or layer(a) == layer(b) == 0


USERS_OF_THE_RUNTIME = (
    "tecomp.functions",
    "tecomp.module",
    "tecomp.checked",
    "tecomp.nd",
    "tecomp.runtime",
    "tecomp.sim",
    "tecomp.testing",
    "tecomp.ir.interpret_foreign",
)
"""What calls built code or holds its arrays; what gives Python functions the arrays that built code gives them."""


def test_only_modules_and_arrays_know_the_runtime() -> None:
    others = [m for m in MODULES if not m.startswith(("tecomp_runtime", *USERS_OF_THE_RUNTIME))]
    users = {m for m in others for other in imports(m, run_time_only=False) if other.startswith("tecomp_runtime")}
    assert not users, f"what is built is plain data until a Module loads it; {users} import the runtime"


def test_no_import_cycle() -> None:
    graph = nx.DiGraph((m, other) for m in MODULES for other in imports(m, run_time_only=True) if m != other)
    cycles = [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]
    assert not cycles


@pytest.mark.parametrize("module", MODULES)
def test_no_import_inside_a_function(module: str) -> None:
    functions = [n for n in ast.walk(tree(MODULES[module])) if isinstance(n, (ast.FunctionDef, ast.Lambda))]
    inner = [n.lineno for f in functions for n in ast.walk(f) if isinstance(n, (ast.Import, ast.ImportFrom))]
    assert not inner, f"lines {inner}: import at the top (importlib.import_module loads what is optional)"


@pytest.mark.parametrize("module", MODULES)
def test_file_is_short(module: str) -> None:
    path = MODULES[module]
    lines = path.read_text().count("\n")
    limit = 800 if module in DATA_TABLES else 500
    assert lines <= limit, f"{lines} lines: split it by concept"
    assert lines <= 300 or "because" in (ast.get_docstring(tree(path)) or ""), (
        f"{lines} lines: its docstring says why it is one file ('... because ...'), or it is split"
    )


@pytest.mark.parametrize("module", MODULES)
def test_functions_fit_a_screen(module: str) -> None:
    functions = [n for n in ast.walk(tree(MODULES[module])) if isinstance(n, ast.FunctionDef)]
    long = [f"{f.name}: {size} lines" for f in functions if (size := (f.end_lineno or 0) - f.lineno + 1) > 60]
    assert not long


def test_names_say_what_is_inside() -> None:
    parts = {part for path in SOURCES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert not parts & VAGUE


def test_every_file_says_what_it_is() -> None:
    silent = [m for m, path in MODULES.items() if not ast.get_docstring(tree(path))]
    assert not silent, f"no docstring: {silent}"
