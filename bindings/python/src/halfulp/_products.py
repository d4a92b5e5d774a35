"""Products of arrays of any number of dimensions, and traces."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from . import _array, _routines
from ._array import Array, asarray
from ._format import FormatLike
from ._library import MisuseError, call
from ._routines import Operands, _axes, matmul
from ._shapes import _moved


def tensordot(a: Any, b: Any, /, axes: Any = 2, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the sums of products over some axes of both arrays, each entry rounded once.

    axes: how many of the last axes of a and first ones of b, or two lists of axes. numpy.tensordot.
    """
    o = Operands(a, b, format=format, prec=prec)
    x, y = o.arrays
    if isinstance(axes, (int, np.integer)):
        n = operator.index(axes)
        if not 0 <= n <= min(x.ndim, y.ndim):
            raise MisuseError(f"{n} axes of arrays of {x.ndim} and {y.ndim} dimensions cannot be summed over")
        left, right = tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    else:
        left, right = (_axes(tuple(v) if isinstance(v, (list, tuple)) else v, w.ndim) for v, w in zip(axes, (x, y), strict=True))
    if [x.shape[k] for k in left] != [y.shape[k] for k in right]:
        raise MisuseError(f"tensordot: shapes {x.shape} and {y.shape} do not fit along the axes {left} and {right}")
    p = tuple(k for k in range(x.ndim) if k not in left)
    q = tuple(k for k in range(y.ndim) if k not in right)
    inner = math.prod(x.shape[k] for k in left)
    rows = x._moved(lambda n: n.transpose(p + left).reshape(-1 if inner else math.prod(x.shape[k] for k in p), inner))
    cols = y._moved(lambda n: n.transpose(right + q).reshape(inner, -1 if inner else math.prod(y.shape[k] for k in q)))
    z = asarray(matmul(rows, cols, format=o.format))
    return o.given(z.reshape(tuple(x.shape[k] for k in p) + tuple(y.shape[k] for k in q)), *([a, b] if p + q else []))


def inner(a: Any, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the sums of products over the last axes, each entry rounded once: numpy.inner."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _routines.dot(a, b, format=format, prec=prec)
    return tensordot(a, b, axes=((-1,), (-1,)), format=format, prec=prec)


def vdot(a: Any, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns Σ a_i b_i of all entries, rounded once."""
    o = Operands(a, b, format=format, prec=prec)
    x, y = (v.ravel() for v in o.arrays)
    if x.size != y.size:
        raise MisuseError(f"vdot: {x.size} and {y.size} entries")
    return o.scalar(call("dot", x._handle, y._handle, o.format.code, work=x.size))


def matvec(a: Any, x: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the products A x of stacks of matrices and vectors, each entry rounded once."""
    if np.ndim(a) < 2 or np.ndim(x) < 1:
        raise MisuseError("matvec: a matrix and a vector, or stacks of them, are needed")
    z = matmul(a, _moved(x, lambda n: n[..., None]), format=format, prec=prec)
    return _moved(z, lambda n: n[..., 0])


def vecmat(x: Any, a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the products xᵀ A of stacks of vectors and matrices, each entry rounded once."""
    if np.ndim(a) < 2 or np.ndim(x) < 1:
        raise MisuseError("vecmat: a vector and a matrix, or stacks of them, are needed")
    z = matmul(_moved(x, lambda n: n[..., None, :]), a, format=format, prec=prec)
    return _moved(z, lambda n: n[..., 0, :])


def cross(a: Any, b: Any, /, axis: int = -1, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the cross products of vectors of three entries, each entry a_i b_j - a_j b_i rounded once."""
    o = Operands(a, b, format=format, prec=prec)
    shape = _array._common_shape(*(v.shape for v in o.arrays))
    if not shape:
        raise MisuseError("cross: vectors of three entries are needed")
    (k,) = _axes(operator.index(axis), len(shape))
    x, y = (v._broadcast(shape)._moved(lambda n: np.moveaxis(n, k, -1)) for v in o.arrays)
    if any(v.ndim == 0 or v.shape[axis if axis < 0 else axis - len(shape)] != 3 for v in o.arrays):
        raise MisuseError(f"cross: shapes {o.arrays[0].shape} and {o.arrays[1].shape}: vectors of three entries are needed")
    i, j = [1, 2, 0], [2, 0, 1]
    # a_i b_j - a_j b_i is a dot product of two vectors of two entries.
    left = x._moved(lambda n: np.stack([n[..., i], n[..., j]], -1))
    right = y._moved(lambda n: np.stack([n[..., j], n[..., i]], -1))
    z = asarray(_routines.vecdot(left, _signed(right), format=o.format))
    return o.plainly(z._moved(lambda n: np.moveaxis(n, -1, k)))


def _signed(a: Array) -> Array:
    """Returns pairs (x, -y) of pairs (x, y)."""
    return _array.elementwise("mul", a, _array.array(np.array([1.0, -1.0])), a.format)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the sum of a diagonal, rounded once: numpy.trace.

    linalg.trace, as in numpy and the Array API, takes the last two axes of a stack.
    """
    if np.ndim(a) < 2:
        raise MisuseError("trace needs two dimensions or more")
    return _routines.sum(_moved(a, lambda n: np.diagonal(n, offset, axis1, axis2)), axis=-1, format=format, prec=prec)
