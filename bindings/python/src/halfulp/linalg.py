"""Linear algebra under numpy's names (numpy.linalg, and scipy.linalg where numpy has none).

All functions take arrays of numpy, of halfulp, or nested lists. Results have the format of the more
precise operand, or the format that format= or prec= requests. Arrays of numpy give arrays of numpy,
unless another format is requested. Solutions, inverses, determinants and the like are correctly
rounded whatever the condition of the matrix. Stacks of matrices are computed one after the other.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from . import _array, _direct, _elementwise, _entries, _products, _routines, _shapes, _statistics
from ._array import Array, Scalar, asarray
from ._format import Format, FormatLike, promoted
from ._library import MisuseError, NotFiniteError, UndecidedWarning, call, free, library
from ._products import cross, tensordot
from ._routines import Operands, matmul, vecdot
from ._shapes import matrix_transpose
from ._spectra import (
    ORDERS,
    EighResult,
    LstsqResult,
    PolarResult,
    SVDResult,
    cond,
    eigh,
    eigvalsh,
    eigvalsh_tridiagonal,
    lstsq,
    matrix_rank,
    pinv,
    polar,
    svd,
    svdvals,
    symfunc,
    warn_undecided,
)
from ._stacks import cube, each, leading, matrices_of, record_parts

__all__ = [
    "EighResult",
    "Enclosure",
    "Factors",
    "LDLResult",
    "LUResult",
    "LinAlgError",
    "LstsqResult",
    "PivotedQRResult",
    "PolarResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "eigvalsh_tridiagonal",
    "enclose",
    "enclose_set",
    "expm",
    "inv",
    "ldl",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "null_space",
    "outer",
    "pinv",
    "polar",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "symfunc",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the natural logarithm of its magnitude."""

    sign: Any
    logabsdet: Any


class QRResult(NamedTuple):
    """Q with orthonormal columns, and R upper triangular with a positive diagonal."""

    Q: Any
    R: Any


class PivotedQRResult(NamedTuple):
    """Q, R and the permutation p of A[:, p] = Q R."""

    Q: Any
    R: Any
    P: Any


class LUResult(NamedTuple):
    """P, L and U with A = P L U, as scipy.linalg.lu has them."""

    P: Any
    L: Any
    U: Any


class LDLResult(NamedTuple):
    """L, D and the permutation p of A[p][:, p] = L D Lᵀ."""

    L: Any
    D: Any
    perm: Any


def solve(a: Any, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the solution X of A X = B, each entry correctly rounded.

    b is a vector if it has one dimension, else a matrix or a stack of them. A singular matrix is an
    error, SingularMatrixError, which is a numpy.linalg.LinAlgError; singularity is proved.

    >>> import halfulp as hp
    >>> h = hp.hilbert(12, format="mp:200")
    >>> hp.linalg.solve(h, hp.ones(12))[0].text(12)
    '-12.0000000000'
    """
    if format is None and prec is None and (z := _direct.solve(a, b)) is not None:
        return z
    o = Operands(a, b, format=format, prec=prec)
    lead = leading(o, square=True)
    m, y = o.arrays
    n = m.shape[-1]
    if y.ndim == 0:
        raise LinAlgError("the right-hand side is a number: a vector or a matrix is needed")
    vector = y.ndim == 1
    if y.shape[0 if vector else -2] != n:
        raise MisuseError(f"the matrix is {n} x {n} and the right-hand side has {y.shape[0 if vector else -2]} rows")

    if not lead and y.ndim <= 2:
        return o.plainly(Array._of(call("solve", m._handle, y._handle, o.format.code, work=cube(m)), y.shape, o.format))
    whole = _array._common_shape(lead, () if vector else y.shape[:-2])
    tail = (n,) if vector else y.shape[-2:]
    count = math.prod(whole)
    if not count:
        return o.plainly(_array.array(np.zeros(whole + tail), o.format))
    ms, vs = m._broadcast(whole + (n, n)), y._broadcast(whole + tail)
    if vector:
        vs = vs.reshape((*whole, n, 1))
    h = call("solve_stack", ms._handle, vs._handle, count, o.format.code, work=count * cube(m))
    return o.plainly(Array._of(h, vs.shape, o.format).reshape(whole + tail))


def inv(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the inverse, each entry correctly rounded. Errors as solve's."""
    o = Operands(a, format=format, prec=prec)
    return each(o, True, lambda m: Array._of(call("inverse", m._handle, o.format.code, work=cube(m)), m.shape, o.format))


def det(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the determinant, correctly rounded: 0 exactly for singular matrices.

    One beyond the range of the format is an infinity or 0: slogdet, or an mp format, holds all.
    """
    o = Operands(a, format=format, prec=prec)
    return each(o, True, lambda m: Scalar._of(call("det", m._handle, o.format.code, work=cube(m)), o.format))


def slogdet(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> SlogdetResult:
    """Returns the sign of the determinant and log |det A|, correctly rounded: 0 and -inf if singular."""
    o = Operands(a, format=format, prec=prec)
    lead, matrices = matrices_of(o, square=True)
    pairs = [call("slogdet", m._handle, o.format.code, work=cube(m)) for m in matrices]
    logs = [Scalar._of(h, o.format) for _, h in pairs]
    signs = _array.array(np.array([float(s) for s, _ in pairs]).reshape(lead), o.format)
    if not lead:
        return SlogdetResult(o.given(signs), o.scalar(library().scalar_convert(logs[0]._handle, o.format.code)))
    return SlogdetResult(o.plainly(signs), _routines._stacked(o, logs, lead))


def matrix_norm(a: Any, /, *, ord: Any = "fro", keepdims: bool = False, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a norm of a matrix, or of each of a stack, rounded once.

    ord is "fro" (√Σ a_ij²), 2 (the largest singular value), 1 (the largest Σ_i |a_ij|), numpy.inf (the
    largest Σ_j |a_ij|), -2 (the smallest singular value), or -1 and -numpy.inf (the smallest such sums).
    For 2 and -2 infinities and NaN are errors.
    """
    if isinstance(ord, str) and ord != "fro" or not isinstance(ord, str) and ord not in (1, -1, 2, -2, np.inf, -np.inf):
        raise MisuseError(f"the matrix norm {ord!r} is not computed: give 'fro', 1, -1, 2, -2, numpy.inf or -numpy.inf")
    o = Operands(a, format=format, prec=prec)
    if ord in (-1, -np.inf):
        matrices_of(o)
        sums = vector_norm(o.arrays[0], axis=-2 if ord == -1 else -1, ord=1, format=o.format)
        z = _statistics.min(sums, axis=-1)
        z = o.given(asarray(z))
    elif ord == -2:
        values = asarray(svdvals(o.arrays[0], format=o.format))
        z = o.given(asarray(values[..., -1] if values.shape[-1] else _statistics.prod(values, axis=-1) * 0))
    else:
        z = each(o, False, lambda m: Scalar._of(call("norm", ORDERS[ord], m._handle, o.format.code, work=cube(m) if ord == 2 else 0), o.format))
    return _shapes.reshape(z, (*np.shape(z), 1, 1)) if keepdims else z


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a norm of vectors, rounded once.

    ord is 2 (√Σ x_i²), 1 (Σ |x_i|), numpy.inf and -numpy.inf (the largest and smallest |x_i|), or 0 (how
    many x_i are not 0).
    """
    if ord in (1, 2):
        return _routines._reduced("nrm2" if ord == 2 else "asum", x, axis, keepdims, format, prec)
    if ord not in (0, np.inf, -np.inf):
        raise MisuseError(f"the vector norm {ord!r} is not computed: give 1, 2, 0, numpy.inf or -numpy.inf")
    o = Operands(x, format=format, prec=prec)
    a = o.arrays[0]
    axis = tuple(axis) if isinstance(axis, list) else axis
    if ord == 0:
        z = _array.array(np.asarray(_statistics.count_nonzero(a, axis=axis, keepdims=keepdims)), o.format)
    else:
        extreme = _statistics.max if ord == np.inf else _statistics.min
        z = asarray(extreme(abs(a), axis=axis, keepdims=keepdims)).astype(o.format)
    return o.given(z)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a norm of a vector or matrix, rounded once: numpy.linalg.norm.

    The norms of vectors are None, 1, 2, inf, -inf and 0, those of matrices None, "fro", 1, -1, 2, -2, inf
    and -inf: see vector_norm and matrix_norm. The default, None, is √Σ x_i² of all entries.
    """
    dims = _routines.Operands(x).arrays[0].ndim
    axes = axis if axis is None or isinstance(axis, (tuple, list)) else (operator.index(axis),)
    if ord is None or (axes is None and dims <= 1) or (axes is not None and len(axes) == 1):
        order = 2 if ord is None else ord
        return vector_norm(x, axis=axis, keepdims=keepdims, ord=order, format=format, prec=prec)
    if dims < 2 or axes is not None and len(axes) != 2 or axes is None and dims != 2:
        raise MisuseError("norm is defined for vectors and matrices: give one or two axes")
    if axes is not None:
        axes = _routines._axes(tuple(axes), dims)
        x = _shapes.moveaxis(x, axes, (-2, -1))
    z = matrix_norm(x, ord=ord, keepdims=keepdims, format=format, prec=prec)
    return _shapes.moveaxis(z, (-2, -1), axes) if keepdims and axes is not None else z


def cholesky(a: Any, /, *, upper: bool = False, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns L of A = L Lᵀ, or Lᵀ if upper, each entry correctly rounded.

    Raises NotPositiveDefiniteError, a numpy.linalg.LinAlgError, if A is not positive definite, which
    is proved.
    """
    o = Operands(a, format=format, prec=prec)

    def one(m: Array) -> Array:
        h = call("cholesky", m._handle, o.format.code, work=cube(m))
        try:
            (lower,) = record_parts(h, "L", o.format)
        finally:
            free(h)
        return lower.T if upper else lower  # type: ignore[no-any-return]

    return each(o, True, one)


def qr(a: Any, /, mode: str = "reduced", *, pivoting: bool = False, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns Q and R of A = Q R, each entry correctly rounded; A has independent columns.

    The diagonal of R is positive, so the factors are unique; numpy's signs differ. With mode="r" the
    result is R alone. With pivoting the columns are exchanged so that the diagonal of R decreases:
    A[:, P] = Q R, as scipy.linalg.qr(a, mode="economic", pivoting=True) has it.
    """
    if mode not in ("reduced", "economic", "r"):
        raise MisuseError(f"mode {mode!r} is not computed: there are 'reduced' and 'r'")
    o = Operands(a, format=format, prec=prec)
    lead, matrices = matrices_of(o)
    results = []
    for m in matrices:
        h = call("qr", m._handle, int(pivoting), o.format.code, work=cube(m))
        try:
            results.append(record_parts(h, "Q R P" if pivoting else "Q R", o.format))
        finally:
            free(h)
    rows, cols = o.arrays[0].shape[-2:]
    shapes = ((rows, cols), (cols, cols))
    parts = [o.plainly(results[0][k]) if not lead else _routines._stacked(o, [p[k] for p in results], lead + shapes[k]) for k in range(2)]
    if mode == "r":
        return parts[1]
    if not pivoting:
        return QRResult(*parts)
    order = np.array([p[2] for p in results], np.int64).reshape(*lead, cols)
    return PivotedQRResult(parts[0], parts[1], order)


def lu(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> LUResult:
    """Returns P, L and U of A = P L U with partial pivoting, each entry correctly rounded."""
    o = Operands(a, format=format, prec=prec)
    leading(o)
    m = o.arrays[0]
    if m.ndim != 2:
        raise LinAlgError(f"{m.ndim}-dimensional array given: lu takes one matrix")
    h = call("lu", m._handle, o.format.code, work=cube(m))
    try:
        lower, upper, order = record_parts(h, "L U P", o.format)
    finally:
        free(h)
    p = np.zeros((m.shape[0], m.shape[0]))
    p[order, np.arange(m.shape[0])] = 1
    return LUResult(o.plainly(_array.array(p, o.format)), o.plainly(lower), o.plainly(upper))


class Factors:
    """Factors of a matrix A that solve A X = B many times: see lu_factor and cho_factor."""

    __slots__ = ("_handle", "_plain", "format", "order")

    def __init__(self, handle: int, o: Operands) -> None:
        self._handle = handle
        self._plain = o.plain
        self.format = o.format
        self.order: int = o.arrays[0].shape[0]

    def __del__(self) -> None:
        if not sys.is_finalizing():
            free(getattr(self, "_handle", 0))

    def solve(self, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
        """Returns the solution X of A X = B, each entry the exact one of A itself rounded once."""
        o = Operands(b, format=format, prec=prec)
        y = o.arrays[0]
        if y.ndim not in (1, 2) or y.shape[0] != self.order:
            raise MisuseError(f"the matrix is {self.order} x {self.order} and the right-hand side has the shape {y.shape}")
        f = o.format if format is not None or prec is not None else promoted(self.format, o.format)
        o.format, o.plain = f, self._plain and o.plain and f.dtype is not None
        return o.result(call("factors_solve", self._handle, y._handle, f.code, work=float(self.order) ** 2), y.shape)


def _factors(name: str, a: Any, format: FormatLike | None, prec: int | None) -> Factors:
    o = Operands(a, format=format, prec=prec)
    leading(o, square=True)
    m = o.arrays[0]
    if m.ndim != 2:
        raise LinAlgError(f"{m.ndim}-dimensional array given: one matrix is needed")
    return Factors(call(name, m._handle, o.format.code, work=cube(m)), o)


def lu_factor(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Factors:
    """Returns factors of a square matrix with which lu_solve solves many systems.

    >>> import halfulp as hp
    >>> f = hp.linalg.lu_factor(hp.hilbert(3))
    >>> hp.linalg.lu_solve(f, [1, 0, 0]).format
    Format('f64')
    """
    return _factors("lu", a, format, prec)


def lu_solve(factors: Factors, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the solution X of A X = B for the factors of A, each entry correctly rounded."""
    return factors.solve(b, format=format, prec=prec)


def cho_factor(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Factors:
    """Returns factors of a symmetric positive definite matrix with which cho_solve solves many systems.

    NotPositiveDefiniteError where there are none; this is proved.
    """
    return _factors("cholesky", a, format, prec)


cho_solve = lu_solve


def ldl(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> LDLResult:
    """Returns L, D and p of A[p][:, p] = L D Lᵀ, A symmetric; D has blocks of order 1 and 2."""
    o = Operands(a, format=format, prec=prec)
    leading(o, square=True)
    h = call("ldlt", o.arrays[0]._handle, o.format.code, work=cube(o.arrays[0]))
    try:
        lower, d, order = record_parts(h, "L D P", o.format)
    finally:
        free(h)
    return LDLResult(o.plainly(lower), o.plainly(d), order)


def matrix_power(a: Any, n: int, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns A^n, each entry correctly rounded; n may be negative for matrices with an inverse."""
    o = Operands(a, format=format, prec=prec)
    k = operator.index(n)

    def one(m: Array) -> Array:
        if k >= 0:
            return Array._of(call("matrix_power", m._handle, k, o.format.code, work=cube(m)), m.shape, o.format)
        if k < -1:  # the power in a format in which it is exact, then its inverse
            exact = _entries.exact_product_format([m] * -k)
            m = Array._of(call("matrix_power", m._handle, -k, exact.code, work=cube(m)), m.shape, exact)
        return Array._of(call("inverse", m._handle, o.format.code, work=cube(m)), m.shape, o.format)

    return each(o, True, one)


def expm(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the exponential Σ A^k/k!, each entry correctly rounded."""
    o = Operands(a, format=format, prec=prec)
    return each(o, True, lambda m: Array._of(call("expm", m._handle, o.format.code, work=cube(m)), m.shape, o.format))


def null_space(a: Any, /, rcond: Any = None, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a basis of the null space in the columns of a matrix, each entry correctly rounded.

    By default, and for rcond=0, the rank is the exact one of the matrix as stored, which is proved, and the
    basis comes from the reduced row echelon form. With rcond > 0 the basis is an orthonormal one of the right
    singular vectors whose singular values are at most rcond times the largest one, as in
    scipy.linalg.null_space, whose default is max(m, n) eps. It depends on their span alone. UndecidedWarning
    then counts entries that seem to be 0 or halfway between two numbers, without a proof.

    >>> import halfulp as hp
    >>> a = [[0.1, 0.3], [0.3, 0.9]]
    >>> hp.linalg.null_space(a).shape
    (2, 0)
    >>> hp.linalg.null_space(a, 1e-15)
    array([[ 0.9486833 ],
           [-0.31622777]])
    """
    o = Operands(a, format=format, prec=prec)
    leading(o)
    m = o.arrays[0]
    c = Scalar(0.0 if rcond is None else rcond)
    h, undecided = call("null_space", m._handle, c._handle, o.format.code, work=30 * cube(m))
    warn_undecided(undecided, "entries of a null space", 3)
    return o.result(h, tuple(library().matrix_shape(h)))


def solve_triangular(
    a: Any, b: Any, /, *, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, format: FormatLike | None = None, prec: int | None = None
) -> Any:
    """Returns the solution of a triangular system by substitution, as BLAS's trsm defines it.

    Each entry is the exact quotient that the rounded entries before it make, rounded once. solve
    returns the correctly rounded solution.
    """
    o = Operands(a, b, format=format, prec=prec)
    leading(o, square=True)
    m, y = o.arrays
    if y.ndim not in (1, 2) or y.shape[0] != m.shape[0]:
        raise MisuseError(f"shapes {m.shape} and {y.shape} do not fit")
    z = y.astype(o.format)
    op = {0: b"N", 1: b"T", 2: b"C"}.get(trans, b"") if isinstance(trans, int) else trans.encode()
    call("trsm", b"L", b"L" if lower else b"U", op, b"U" if unit_diagonal else b"N", _routines._one()._handle, m._handle, z._handle)
    return o.plainly(z)


def multi_dot(arrays: Any, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the product of matrices, each entry the exact one rounded once.

    The first array may be a row vector and the last one a column vector, of one dimension. The
    products between are exact, in a format with as many bits as that needs.
    """
    arrays = list(arrays)
    if len(arrays) < 2:
        raise MisuseError("multi_dot takes two arrays or more")
    o = Operands(*arrays, format=format, prec=prec)
    dims = [a.ndim for a in o.arrays]
    if any(d != 2 for d in dims[1:-1]) or dims[0] not in (1, 2) or dims[-1] not in (1, 2):
        raise LinAlgError("multi_dot takes matrices; the first and the last array may be vectors")
    return _exact_product(o, o.arrays, dims)


def _exact_product(o: Operands, factors: list[Array], dims: list[int]) -> Any:
    exact = _entries.exact_product_format(factors)
    if any(not bool((_entries.classes(a) < _array._INF).all()) for a in factors):
        raise NotFiniteError("a factor has infinities or NaN")
    product = functools.reduce(lambda x, y: asarray(matmul(x, y, format=exact)), factors)
    z = product.astype(o.format)
    return o.plainly(z) if z.ndim else o.given(z)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Returns a diagonal of a matrix, or of each matrix of a stack."""
    return _shapes.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the sum of a diagonal, rounded once, or of each matrix of a stack."""
    return _products.trace(x, offset, -2, -1, format=format if dtype is None else dtype, prec=prec)


def outer(x1: Any, x2: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the products a_i b_j of all pairs of entries of two vectors, each rounded once."""
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise MisuseError(f"outer: operands have {np.ndim(x1)} and {np.ndim(x2)} dimensions: vectors were expected")
    return _routines.outer(x1, x2, format=format, prec=prec)


def tensorsolve(a: Any, b: Any, /, axes: Any = None, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the x of tensordot(a, x, axes=x.ndim) = b, each entry correctly rounded: numpy.linalg.tensorsolve."""
    if axes is not None:
        axes = _routines._axes(tuple(axes), np.ndim(a))
        a = _shapes.moveaxis(a, axes, tuple(range(np.ndim(a) - len(axes), np.ndim(a))))
    tail = np.shape(a)[np.ndim(b) :]
    n = math.prod(tail)
    if np.shape(a)[: np.ndim(b)] != np.shape(b) or math.prod(np.shape(b)) != n:
        raise LinAlgError(f"tensorsolve: shapes {np.shape(a)} and {np.shape(b)} do not fit")
    x = solve(_shapes.reshape(a, (n, n)), _shapes.reshape(b, (n,)), format=format, prec=prec)
    return _shapes.reshape(x, tail)


def tensorinv(a: Any, /, ind: int = 2, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the inverse of a for tensordot over ind axes, each entry correctly rounded: numpy.linalg.tensorinv."""
    k = operator.index(ind)
    if k <= 0:
        raise MisuseError(f"ind is {k}: it is at least 1")
    first, last = np.shape(a)[:k], np.shape(a)[k:]
    if math.prod(first) != math.prod(last):
        raise LinAlgError(f"tensorinv: the shape {np.shape(a)} is no square matrix for ind={k}")
    return _shapes.reshape(inv(_shapes.reshape(a, (math.prod(first), -1)), format=format, prec=prec), last + first)


class Enclosure(NamedTuple):
    """Proved bounds of a solution."""

    lower: Any
    upper: Any


def _bounds(name: str, operands: list[Any], steps: int, format: FormatLike | None, prec: int | None) -> Enclosure:
    o = Operands(*(v for v in operands if v is not None), format=format, prec=prec)
    arrays = iter(o.arrays)
    handles = [0 if v is None else next(arrays)._handle for v in operands]
    a = o.arrays[0]
    y = o.arrays[1 if len(operands) == 2 or operands[1] is None else 2]
    if a.ndim != 2 or a.shape[0] != a.shape[1] or y.ndim not in (1, 2) or y.shape[0] != a.shape[0]:
        raise LinAlgError(f"a square matrix and a right-hand side of as many rows are needed, not the shapes {a.shape} and {y.shape}")
    lower, upper = call(name, *handles, operator.index(steps), o.format.code, work=cube(a))
    return Enclosure(o.result(lower, y.shape), o.result(upper, y.shape))


def enclose(a: Any, b: Any, /, *, steps: int = 1, format: FormatLike | None = None, prec: int | None = None) -> Enclosure:
    """Returns proved bounds L ≤ X ≤ U of the solution of A X = B after some steps of refinement.

    The bounds are rounded outwards. They depend on the machine: solve gives the same bits everywhere.

    >>> import halfulp as hp
    >>> lower, upper = hp.linalg.enclose([[3.0, 1], [1, 2]], [1.0, 0])
    >>> bool((lower <= hp.linalg.solve([[3.0, 1], [1, 2]], [1.0, 0])).all())
    True
    """
    return _bounds("enclose", [a, b], steps, format, prec)


def enclose_set(a: Any, b: Any, /, *, da: Any = None, db: Any = None, steps: int = 1, format: FormatLike | None = None, prec: int | None = None) -> Enclosure:
    """Returns proved bounds of the solutions of all systems whose entries are within da of a and db of b.

    da and db have the shapes of a and b; None stands for zeros. RangeError where matrices in the
    intervals are not proved regular.
    """
    for what, d, of in (("da", da, a), ("db", db, b)):
        if d is not None and np.shape(d) != np.shape(of):
            raise MisuseError(f"{what} has the shape {np.shape(d)}, not {np.shape(of)}")
    return _bounds("enclose_set", [a, da, b, db], steps, format, prec)
