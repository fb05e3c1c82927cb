"""How often a program stores to a tensor, found by running it."""

from __future__ import annotations

import numpy as np

from tecomp.dtype import INT32
from tecomp.ir import interpret, make
from tecomp.ir.func import Func
from tecomp.ir.stmt import Buffer, Seq, Stmt, Store


def stores(func: Func, name: str, *arrays: np.ndarray) -> int:
    """Return how many times `func`, run on `arrays`, stores to its buffer `name`."""
    count = Buffer("count", (), INT32)
    more = Store(count, (), make.add(make.load(count, ()), 1), make.TRUE)

    def counted(stmt: Stmt) -> Stmt:
        new = stmt.map(counted, lambda expr: expr)
        return Seq((new, more)) if isinstance(new, Store) and new.buffer.name == name else new

    total = np.zeros((), "int32")
    params, outputs = (*func.params, count), (*func.outputs, count)
    interpret(Func(func.name, params, outputs, counted(func.body), func.level, func.requires), *arrays, total)
    return int(total)
