"""Stacks of matrices, and the parts of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from . import _array, _routines
from ._array import Array, Scalar
from ._format import Format
from ._library import library
from ._routines import Operands


def leading(o: Operands, k: int = 0, square: bool = False) -> tuple[int, ...]:
    """Returns the leading shape of operand k, a matrix or a stack of matrices."""
    a = o.arrays[k]
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given: a matrix has two dimensions or more")
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"the matrix is {a.shape[-2]} x {a.shape[-1]}: a square one is needed")
    return a.shape[:-2]


def matrices_of(o: Operands, k: int = 0, square: bool = False) -> tuple[tuple[int, ...], list[Array]]:
    """Returns the leading shape of operand k and its matrices."""
    lead, a = leading(o, k, square), o.arrays[k]
    return lead, [a] if not lead else list(_routines._stack(a, lead))


def each(o: Operands, square: bool, one: Callable[[Array], Any]) -> Any:
    """Applies a function of a matrix, which returns an Array or a Scalar, to all of a stack."""
    lead, matrices = matrices_of(o, square=square)
    results = list(map(one, matrices))
    if lead:
        tail = results[0].shape if results and isinstance(results[0], Array) else ()
        if not results:
            rows, cols = o.arrays[0].shape[-2:]
            probe = one(_array.array(np.eye(rows, cols), o.format))
            tail = probe.shape if isinstance(probe, Array) else ()
        return _routines._stacked(o, results, lead + tail)
    (z,) = results
    if isinstance(z, Scalar):
        return o.scalar(library().scalar_convert(z._handle, o.format.code))
    return o.plainly(z)


def cube(a: Array) -> float:
    return float(a.shape[-1]) ** 3


def record_parts(handle: int, names: str, f: Format) -> list[Any]:
    """Returns the parts of a record: matrices, or lists of integers."""
    lib = library()
    kinds = dict(line.split(" ", 1) for line in lib.record_names(handle).splitlines())
    z: list[Any] = []
    for name in names.split():
        kind = kinds[name]
        if kind == "matrix":
            h = lib.record_matrix(handle, name.encode())
            z.append(Array._of(h, tuple(lib.matrix_shape(h)), f))
        elif kind == "integers":
            count = lib.record_integers(handle, name.encode(), None, 0)
            data = np.empty(count, np.int64)
            lib.record_integers(handle, name.encode(), data.ctypes.data, count)
            z.append(data)
        else:
            z.append(getattr(lib, "record_" + kind)(handle, name.encode()))
    return z
