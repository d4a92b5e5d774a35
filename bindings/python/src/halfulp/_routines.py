"""Sums and products under numpy's names."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any, Union

import numpy as np

from . import _array, _direct
from ._array import Array, Scalar, asarray
from ._format import Format, FormatLike, asked, float32, float64, promoted
from ._library import MisuseError, call, free, library

# The results of routines: numpy's numbers if the operands are numpy's, unless another format is
# requested.
Numbers = Union[Array, "np.ndarray"]
Number = Union[Scalar, "np.floating[Any]"]


class Operands:
    """Operands of one call as arrays, and what the results are: their format, numpy's or not."""

    def __init__(self, *values: Any, format: FormatLike | None = None, prec: int | None = None) -> None:
        self.arrays: list[Array] = []
        formats: list[Format] = []
        self.plain = True
        for value in values:
            a, f = self._taken(value)
            self.arrays.append(a)
            # A Python number takes the format of the other operands.
            if len(values) == 1 or type(value) not in (int, float, bool):
                formats.append(f)
        self.format: Format = asked(format, prec) or functools.reduce(promoted, formats or [float64])
        self.plain = self.plain and self.format.dtype is not None
        # Results on a GPU stay there and are never numpy's arrays.
        self.device = self._joined()

    def _taken(self, value: Any) -> tuple[Array, Format]:
        """Returns an operand and the format that it wants results in."""
        if isinstance(value, Array):
            self.plain = False
            return value, value.format
        if isinstance(value, Scalar):
            self.plain = False
            a = asarray(value)
            return a, a.format
        if isinstance(value, np.ndarray) and (a_or_none := wrapped(value)) is not None:
            return a_or_none, a_or_none.format
        a = asarray(value)
        return a, _array._wanted(value, a)

    def _joined(self) -> str:
        """Returns where the operands live, and brings single numbers of the host there."""
        device = "cpu"
        for a in self.arrays:
            if (other := a.device) == "cpu":
                continue
            if device not in ("cpu", other):
                raise MisuseError(f"operands live on {device} and on {other}: copy them to one device by to_device")
            device = other
        if device != "cpu":
            for k, a in enumerate(self.arrays):
                if a.device == "cpu" and a.size != 1:
                    raise MisuseError(f"operands live on {device} and on the CPU: copy them to one of these by to_device")
                self.arrays[k] = a.placed(device)
        return device

    def result(self, handle: int, shape: tuple[int, ...]) -> Any:
        """Returns the array of a new handle."""
        return self.plainly(Array._of(handle, shape, self.format))

    def plainly(self, a: Array) -> Any:
        """Returns an array as numpy's where numpy's numbers came in, else where the operands live."""
        if self.device != "cpu":
            return a.placed(self.device)
        if not self.plain:
            return a
        return (a if a.format == self.format else a.astype(self.format))._parts()[0]

    def given(self, a: Array, *values: Any) -> Any:
        """Returns an array of entry by entry results: a number if operands are numbers, not arrays."""
        z = self.plainly(a)
        if z.ndim or any(isinstance(v, Array) for v in values):
            return z
        return z[()]

    def scalar(self, handle: int) -> Any:
        """Returns the number of a new handle."""
        s = Scalar._of(handle, self.format)
        if not self.plain:
            return s
        return np.float64(float(s)) if self.format == float64 else np.float32(float(s))


def wrapped(value: np.ndarray) -> Array | None:
    """Returns an array that reads the memory of a numpy array; None where it has to be copied."""
    if value.dtype == np.float64:
        f = float64
    elif value.dtype == np.float32:
        f = float32
    else:
        return None
    shape, size = value.shape, value.dtype.itemsize
    if len(shape) > 2 or value.size == 0 or not value.flags.aligned:
        return None
    rows, cols = _array._matrix_shape(shape)
    steps = [s // size for s in value.strides] + [1, 1]
    if any(s % size for s in value.strides):
        return None
    row_step, col_step = steps[0], steps[1] if len(shape) == 2 else 1
    if len(shape) == 2:
        by_rows = (col_step == 1 or cols == 1) and row_step >= cols
        by_columns = (row_step == 1 or rows == 1) and col_step >= rows
        if not by_rows and not by_columns:
            return None
    elif row_step == 0:
        return None
    try:
        h = getattr(library(), "matrix_wrap_" + f.kind)(_direct.address(value), rows, cols, row_step, col_step)
    except MisuseError:
        return None
    return Array._of(h, shape, f, value, "cpu")


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    z = []
    for k in axes:
        if not -ndim <= k < ndim:
            raise MisuseError(f"axis {k} is out of bounds for an array of {ndim} dimensions")
        z.append(k % ndim)
    if len(set(z)) != len(z):
        raise MisuseError("duplicate value in 'axis'")
    return tuple(z)


def _reduced(name: str, x: Any, axis: Any, keepdims: bool, format: FormatLike | None, prec: int | None) -> Any:
    """Applies a function of vectors along axes."""
    o = Operands(x, format=format, prec=prec)
    (a,) = o.arrays
    axes = _axes(axis, a.ndim)
    kept = tuple(k for k in range(a.ndim) if k not in axes)
    shape = tuple(a.shape[k] for k in kept)
    shown = tuple(1 if k in axes else a.shape[k] for k in range(a.ndim)) if keepdims else shape
    if not kept:
        vector = a if a.ndim <= 1 else a._flat()
        s = call(name, vector._handle, o.format.code, work=a.size)
        if not shown:
            return o.scalar(s)
        return o.plainly(asarray(Scalar._of(s, o.format)).reshape(shown))
    inner = math.prod(a.shape[k] for k in axes)
    rows = a._moved(lambda n: n.transpose(kept + axes).reshape(math.prod(shape), inner))
    z = _array.array(np.zeros(math.prod(shape)), o.format)
    lib = library()
    for i in range(rows.shape[0]):
        row = lib.matrix_slice(rows._handle, i, i + 1, 0, rows.shape[1])
        try:
            s = Scalar._of(call(name, row, o.format.code), o.format)
        finally:
            free(row)
        lib.matrix_set_entry(z._handle, i, 0, s._handle)
    return o.plainly(z.reshape(shown))


def sum(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the sum of all entries, or along axes, rounded once.

    >>> import halfulp as hp
    >>> print(hp.sum([1e16, 1, -1e16]))
    1.0
    """
    if axis is None and dtype is None and format is None and prec is None and not keepdims and (s := _direct.sum(x)) is not None:
        return s
    return _reduced("sum", x, axis, keepdims, format if dtype is None else dtype, prec)


def mean(x: Any, /, axis: Any = None, *, keepdims: bool = False, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the mean of all entries, or along axes, rounded once."""
    return _reduced("mean", x, axis, keepdims, format, prec)


def _vector(a: Array, what: str) -> Array:
    if a.ndim != 1:
        raise MisuseError(f"{what} has {a.ndim} dimensions: a vector was expected")
    return a


def matmul(a: Any, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the product A B of matrices, vectors, or stacks of matrices, with numpy's rules.

    Each entry is the exact one, rounded once to the format: the more precise operand's by default.

    >>> import halfulp as hp, numpy as np
    >>> hp.matmul(np.array([[1e16, 1.0, -1e16]]), np.ones((3, 1)))
    array([[1.]])
    """
    if format is None and prec is None and (z := _direct.matmul(a, b)) is not None:
        return z
    o = Operands(a, b, format=format, prec=prec)
    x, y = o.arrays
    if x.ndim == 0 or y.ndim == 0:
        raise MisuseError("matmul: operands have one dimension or more; use * for numbers")
    inner = y.shape[-2] if y.ndim > 1 else y.shape[0]
    if x.shape[-1] != inner:
        raise MisuseError(f"matmul: shapes {x.shape} and {y.shape} do not fit: {x.shape[-1]} and {inner} differ")
    if x.ndim == 1 and y.ndim == 1:
        return o.scalar(call("dot", x._handle, y._handle, o.format.code, work=x.size))
    if x.ndim <= 2 and y.ndim <= 2:
        return _product(o, x, y)
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    shape = (x.shape[-2:-1] if x.ndim > 1 else ()) + (y.shape[-1:] if y.ndim > 1 else ())
    count, whole = math.prod(lead), lead + shape
    if not count:
        return o.plainly(_array.array(np.zeros(whole), o.format))
    if y.ndim <= 2:  # all rows of the stack times one matrix
        h = call("matmul", x._handle, y._handle, o.format.code, work=count * math.prod(shape) * inner)
    else:
        if x.ndim == 1:
            x = x._moved(lambda n: n[None, :])
        xs, ys = (v._broadcast(lead + v.shape[-2:]) for v in (x, y))
        h = call("matmul_stack", xs._handle, ys._handle, count, o.format.code, work=count * math.prod(shape) * inner)
    if y.ndim == 1:
        return o.plainly(Array._of(h, (*whole, 1), o.format).reshape(whole))
    return o.plainly(Array._of(h, whole, o.format))


def _product(o: Operands, x: Array, y: Array) -> Any:
    """Multiplies matrices, of which one may be a vector."""
    lib = library()
    m, k = x.shape if x.ndim == 2 else (1, x.shape[0])
    n = y.shape[1] if y.ndim == 2 else 1
    shape = (x.shape[:1] if x.ndim == 2 else ()) + (y.shape[1:] if y.ndim == 2 else ())
    view = lib.matrix_transpose(x._handle) if x.ndim == 1 else 0
    try:
        if o.plain and o.device == "cpu" and m * n and o.format.dtype is not None:
            z = np.empty((m, n), o.format.dtype)
            d = wrapped(z)
            assert d is not None
            call("gemm_to", b"N", b"N", _one()._handle, view or x._handle, y._handle, _zero()._handle, 0, d._handle, work=m * n * k)
            return z.reshape(shape)
        h = call("matmul", view or x._handle, y._handle, o.format.code, work=m * n * k)
        if x.ndim == 1 and y.ndim == 2:  # a vector is a column
            row, h = h, lib.matrix_transpose(h)
            free(row)
        return o.plainly(Array._of(h, shape, o.format))
    finally:
        free(view)


_constants: list[Scalar] = []


def _one() -> Scalar:
    if not _constants:
        _constants.extend((Scalar(1.0), Scalar(0.0)))
    return _constants[0]


def _zero() -> Scalar:
    return _constants[1] if _constants else Scalar(0.0)


def _stack(a: Array, lead: tuple[int, ...]) -> Iterable[Array]:
    """Returns the matrices of a stack, repeated by numpy's rules."""
    tail = a.shape[-2:]
    return _array.split(a._broadcast(lead + tail).reshape((math.prod(lead), *tail)))


def _stacked(o: Operands, results: list[Any], shape: tuple[int, ...]) -> Any:
    """Returns arrays, or numbers, of one format side by side."""
    if not results:
        return o.plainly(_array.array(np.zeros(shape), o.format))
    arrays = [asarray(r)._parts() for r in results]
    parts = tuple(np.stack(p) for p in zip(*arrays, strict=True))
    words = 1 if len(parts) == 4 or o.format.terms else 0
    first = parts[0].reshape(shape + parts[0].shape[parts[0].ndim - words :])
    z = _array.from_parts((first, *(p.reshape(shape) for p in parts[1:])), o.format, shape)
    return o.plainly(z)


def dot(a: Any, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns Σ a_i b_i of vectors, the product of matrices, or of a number and an array."""
    if format is None and prec is None and (z := _direct.matmul(a, b)) is not None:
        return z
    if isinstance(a, Array) and isinstance(b, Array) and 0 < a.ndim <= 2 and 0 < b.ndim <= 2:
        return matmul(a, b, format=format, prec=prec)
    o = Operands(a, b, format=format, prec=prec)
    x, y = o.arrays
    if x.ndim == 0 or y.ndim == 0:
        z = _array.elementwise("mul", x, y, o.format)
        return o.plainly(z) if z.ndim else o.plainly(z)[()]
    if x.ndim > 2 or y.ndim > 2:
        from ._products import tensordot

        return tensordot(a, b, axes=((-1,), (-2 if y.ndim > 1 else -1,)), format=o.format)
    return matmul(a, b, format=o.format if format is not None or prec is not None else None)


def vecdot(a: Any, b: Any, /, axis: int = -1, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns Σ a_i b_i along an axis, each rounded once."""
    o = Operands(a, b, format=format, prec=prec)
    x, y = o.arrays
    if x.ndim == 0 or y.ndim == 0:
        raise MisuseError("vecdot: operands have one dimension or more")
    shape = _array._common_shape(x.shape, y.shape)
    (k,) = _axes(axis, len(shape))
    lead = shape[:k] + shape[k + 1 :]
    sizes = [v.shape[k - len(shape)] if k - len(shape) >= -v.ndim else 1 for v in (x, y)]
    if sizes[0] != sizes[1]:
        raise MisuseError(f"vecdot: vectors of {sizes[0]} and {sizes[1]} entries along axis {axis}")

    def rows(v: Array) -> Array:
        return v._broadcast(shape)._moved(lambda n: np.moveaxis(n, k, -1).reshape(math.prod(lead), shape[k]))

    p, q = _array.split(rows(x)), _array.split(rows(y))
    results = [Scalar._of(call("dot", u._handle, v._handle, o.format.code), o.format) for u, v in zip(p, q, strict=True)]
    if not lead:
        return o.scalar(library().scalar_convert(results[0]._handle, o.format.code))
    return _stacked(o, results, lead)


def outer(a: Any, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the products a_i b_j of all pairs of entries, each rounded once."""
    o = Operands(a, b, format=format, prec=prec)
    x, y = (v.reshape(-1) for v in o.arrays)
    return o.plainly(_array.elementwise("mul", x.reshape(-1, 1), y.reshape(1, -1), o.format))


# Files.


def load(file: Any, *, format: FormatLike | None = None) -> Array:
    """Reads a matrix from a Matrix Market, .npy or .npz file or a table of numbers, without loss."""
    import os

    lib = library()
    f = asked(format, None)
    h = call("read", os.fsencode(file), f.code if f else None)
    return Array._of(h, tuple(lib.matrix_shape(h)), Format(lib.matrix_format(h)))


def save(file: Any, x: Any, *, digits: int = 0) -> None:
    """Writes a matrix to a file whose name says its kind: .mtx, .npy, .npz, .csv, .tsv, .txt.

    digits: the digits of decimal numbers; 0 writes the shortest that read back to the same numbers.
    """
    import os

    a = Operands(x).arrays[0]
    call("write", a._handle, os.fsencode(file), digits)
