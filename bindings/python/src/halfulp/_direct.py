"""Products, sums and solutions of small arrays of numpy, without handles.

The functions return None for operands that they do not support: other arrays, long calls, which have to look
at signals, and calls inside options(). The general functions give the same bits.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._library import default, direct, library

# The largest number of multiplications of a direct call. Longer calls must check for signals.
_MOST = 1_000_000

_F64, _F32 = np.dtype(np.float64), np.dtype(np.float32)


_taken: Any = ctypes.c_char.from_buffer


def address(a: np.ndarray) -> int:
    """Returns the address of the first number of an array, which is not empty."""
    flags = a.flags
    if flags.c_contiguous and flags.writeable:  # several times as fast
        return ctypes.addressof(_taken(a))
    return int(a.ctypes.data)


def _letter(a: Any) -> str:
    """Returns the letter of the BLAS for the numbers of an array, "" for other types."""
    if type(a) is not np.ndarray:
        return ""
    return "d" if a.dtype is _F64 else "s" if a.dtype is _F32 else ""


def _matrix(a: np.ndarray, size: int) -> tuple[int, bytes, int, int, int] | None:
    """Returns the address, op for an array whose rows lie in line, the leading dimension, the shape.

    A vector is a column.
    """
    if a.ndim == 2:
        rows, cols = a.shape
        down, right = a.strides
    else:
        (rows,), cols = a.shape, 1
        (down,), right = a.strides, size
    if right == size or cols == 1:
        op, step, least = b"N", down if rows > 1 else cols * size, cols
    elif down == size or rows == 1:
        op, step, least = b"T", right, rows
    else:
        return None
    if least < 1 or rows * cols == 0:
        return None
    p = address(a)
    if step < least * size or (step | p) % size:
        return None
    return p, op, step // size, rows, cols


def matmul(a: Any, b: Any) -> Any:
    """Returns the product of two matrices or vectors."""
    letter = _letter(a)
    if not letter or letter != _letter(b) or not 0 < a.ndim <= 2 or not 0 < b.ndim <= 2:
        return None
    size = a.itemsize
    if a.ndim == 1 and b.ndim == 1:
        return _dot(letter, a, b, size)
    x, y = _matrix(a, size), _matrix(b, size)
    if x is None or y is None:
        return None
    p, op_a, lda, m, k = x
    q, op_b, ldb, inner, n = y
    shape: tuple[int, ...] = (m, n)
    if a.ndim == 1:  # a row
        op_a, m, k, shape = b"T", 1, m, (n,)
    elif b.ndim == 1:
        shape = (m,)
    if k != inner or not 0 < m * n * k <= _MOST or (call := direct(letter + "gemm")) is None:
        return None
    z = np.empty(shape, a.dtype)
    # gemm is called by columns, with the transposed matrices: their columns are the rows stored
    # here.
    call(op_b, op_a, n, m, k, 1.0, q, ldb, p, lda, 0.0, address(z), n, 0)
    return z


def solve(a: Any, b: Any) -> Any:
    """Returns the solution of a system of float64."""
    if _letter(a) != "d" or _letter(b) != "d" or a.ndim != 2 or not 0 < b.ndim <= 2:
        return None
    x, y = _matrix(a, 8), _matrix(b, 8)
    if x is None or y is None:
        return None
    p, op_a, lda, n, cols = x
    q, op_b, ldb, rows, k = y
    if n != cols or n != rows or n * n * (n + k) > _MOST or not default():
        return None
    z = np.empty(b.shape)
    strides = [(ld, 1) if op == b"N" else (1, ld) for op, ld in ((op_a, lda), (op_b, ldb))]
    library().solve_f64(n, k, p, *strides[0], q, *strides[1], address(z), k, 1, 0)
    return z


def _dot(letter: str, a: np.ndarray, b: np.ndarray, size: int) -> Any:
    (n,), (da,), (db,) = a.shape, a.strides, b.strides
    if b.shape[0] != n or not 0 < n <= _MOST:
        return None
    p = address(a)
    q = p if b is a else address(b)
    if da < size or db < size or (da | db | p | q) % size:
        return None
    call = direct(letter + "dot")
    return None if call is None else a.dtype.type(call(n, p, da // size, q, db // size, 0))


def sum(x: Any) -> Any:
    """Returns the sum of all entries."""
    if not (letter := _letter(x)) or not 0 < x.size <= _MOST:
        return None
    size = x.itemsize
    if x.ndim == 1:
        (step,) = x.strides
    elif x.flags.c_contiguous or x.flags.f_contiguous:
        step = size
    else:
        return None
    p = address(x)
    if step < size or (step | p) % size:
        return None
    call = direct(letter + "sum")
    return None if call is None else x.dtype.type(call(x.size, p, step // size, 0))
