"""Linear algebra under numpy's names (numpy.linalg, and scipy.linalg where numpy has none).

All functions take arrays of numpy, of halfulp, or nested lists. The format of results is that of
the more precise operand, or what format= or prec= asks for. numpy's numbers in give numpy's numbers
out, unless another format is asked for. Solutions, inverses, determinants and the like are correctly
rounded whatever the condition of the matrix. Stacks of matrices are computed one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from . import _array, _routines
from ._array import Array, Scalar
from ._format import Format, FormatLike
from ._library import MisuseError, call, free, library
from ._routines import Operands, diagonal, matmul, matrix_transpose, outer, trace, vecdot

__all__ = [
    "LDLResult",
    "LUResult",
    "LinAlgError",
    "LstsqResult",
    "QRResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "det",
    "diagonal",
    "expm",
    "inv",
    "ldl",
    "lstsq",
    "lu",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "null_space",
    "outer",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
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


class LstsqResult(NamedTuple):
    """Solution, sums of squares of residuals, and rank; no singular values are computed, s is None."""

    x: Any
    residuals: Any
    rank: int
    s: None


def _matrices(o: Operands, k: int = 0, square: bool = False) -> tuple[tuple[int, ...], list[Array]]:
    """Returns the leading shape of operand k and its matrices."""
    a = o.arrays[k]
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given: a matrix has two dimensions or more")
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"the matrix is {a.shape[-2]} x {a.shape[-1]}: a square one is needed")
    lead = a.shape[:-2]
    return lead, [a] if not lead else list(_routines._stack(a, lead))


def _each(o: Operands, square: bool, one: Callable[[Array], Any]) -> Any:
    """Applies a function of a matrix, which returns an Array or a Scalar, to all of a stack."""
    lead, matrices = _matrices(o, square=square)
    results = [one(a) for a in matrices]
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


def _cube(a: Array) -> float:
    return float(a.shape[-1]) ** 3


def solve(a: Any, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the solution X of A X = B, each entry correctly rounded.

    b is a vector if it has one dimension, else a matrix or a stack of them. A singular matrix is an
    error, SingularMatrixError, which is a numpy.linalg.LinAlgError; singularity is proved.

    >>> import halfulp as hp
    >>> h = hp.hilbert(12, format="mp:200")
    >>> hp.linalg.solve(h, hp.ones(12))[0].text(12)
    '-12.0000000000'
    """
    o = Operands(a, b, format=format, prec=prec)
    lead, matrices = _matrices(o, square=True)
    n = o.arrays[0].shape[-1]
    y = o.arrays[1]
    if y.ndim == 0:
        raise LinAlgError("the right-hand side is a number: a vector or a matrix is needed")
    vector = y.ndim == 1
    if y.shape[0 if vector else -2] != n:
        raise MisuseError(f"the matrix is {n} x {n} and the right-hand side has {y.shape[0 if vector else -2]} rows")

    def one(m: Array, v: Array) -> Array:
        h = call("solve", m._handle, v._handle, o.format.code, work=_cube(m))
        return Array._of(h, v.shape, o.format)

    if not lead and y.ndim <= 2:
        return o.plainly(one(o.arrays[0], y))
    whole = np.broadcast_shapes(lead, () if vector else y.shape[:-2])
    tail = (n,) if vector else y.shape[-2:]
    pairs = zip(_routines._stack(o.arrays[0], whole), _routines._stack(y, whole), strict=True)
    return _routines._stacked(o, [one(m, v) for m, v in pairs], whole + tail)


def inv(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the inverse, each entry correctly rounded. Errors as solve's."""
    o = Operands(a, format=format, prec=prec)
    return _each(o, True, lambda m: Array._of(call("inverse", m._handle, o.format.code, work=_cube(m)), m.shape, o.format))


def det(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the determinant, correctly rounded: 0 exactly for singular matrices.

    One beyond the range of the format is an infinity or 0: slogdet, or an mp format, holds all.
    """
    o = Operands(a, format=format, prec=prec)
    return _each(o, True, lambda m: Scalar._of(call("det", m._handle, o.format.code, work=_cube(m)), o.format))


def slogdet(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> SlogdetResult:
    """Returns the sign of the determinant and log |det A|, correctly rounded: 0 and -inf if singular."""
    o = Operands(a, format=format, prec=prec)
    lead, matrices = _matrices(o, square=True)
    pairs = [call("slogdet", m._handle, o.format.code, work=_cube(m)) for m in matrices]
    logs = [Scalar._of(h, o.format) for _, h in pairs]
    signs = np.array([float(s) for s, _ in pairs])
    if not lead:
        return SlogdetResult(signs[0], o.scalar(library().scalar_convert(logs[0]._handle, o.format.code)))
    return SlogdetResult(signs.reshape(lead), _routines._stacked(o, logs, lead))


def matrix_rank(a: Any, /, *, tol: Any = None, rtol: Any = None) -> Any:
    """Returns the exact rank of the matrix as stored, which is proved.

    numpy counts singular values above a tolerance; here there is none, so tol and rtol are errors.
    """
    if tol is not None or rtol is not None:
        raise MisuseError("the rank is the exact one: there is no tolerance")
    o = Operands(a)
    if o.arrays[0].ndim < 2:
        return int(any(bool(x) for x in o.arrays[0].reshape(-1)))
    lead, matrices = _matrices(o)
    ranks = [call("rank", m._handle, work=_cube(m)) for m in matrices]
    return np.array(ranks, np.int64).reshape(lead) if lead else ranks[0]


_ORDERS: dict[Any, bytes] = {1: b"1", np.inf: b"I", "fro": b"F"}


def cond(a: Any, p: Any = 1, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the condition number ‖A‖ ‖A⁻¹‖ in the 1-norm (p=1) or infinity norm (p=numpy.inf).

    numpy's default is the 2-norm, which halfulp does not compute yet. Singular matrices have inf.
    """
    if p is None or p not in (1, np.inf):
        raise MisuseError(f"cond in the norm {p!r} is not computed: give p=1 or p=numpy.inf")
    o = Operands(a, format=format, prec=prec)
    code = _ORDERS[p]
    return _each(o, True, lambda m: Scalar._of(call("cond", code, m._handle, o.format.code, work=_cube(m)), o.format))


def matrix_norm(a: Any, /, *, ord: Any = "fro", keepdims: bool = False, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a norm of a matrix, or of each of a stack, rounded once: ord "fro", 1 or numpy.inf."""
    if isinstance(ord, str) and ord != "fro" or not isinstance(ord, str) and ord not in (1, np.inf):
        raise MisuseError(f"the matrix norm {ord!r} is not computed: give 'fro', 1 or numpy.inf")
    o = Operands(a, format=format, prec=prec)
    z = _each(o, False, lambda m: Scalar._of(call("norm", _ORDERS[ord], m._handle, o.format.code), o.format))
    return _routines.reshape(z, (*np.shape(z), 1, 1)) if keepdims else z


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a norm of vectors, rounded once: ord 2 or 1."""
    if ord not in (1, 2):
        raise MisuseError(f"the vector norm {ord!r} is not computed: give 1 or 2")
    return _routines._reduced("nrm2" if ord == 2 else "asum", x, axis, keepdims, format, prec)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a norm of a vector or matrix, rounded once: numpy.linalg.norm for ord None, "fro", 1, inf, 2.

    For matrices, ord=2 (the largest singular value) is not computed yet.
    """
    dims = _routines.Operands(x).arrays[0].ndim
    axes = (axis,) if isinstance(axis, int) else axis
    if ord is None or (axes is None and dims <= 1) or (axes is not None and len(axes) == 1):
        order = 2 if ord is None else ord
        return vector_norm(x, axis=axis, keepdims=keepdims, ord=order, format=format, prec=prec)
    if dims < 2 or axes is not None and len(axes) != 2 or axes is None and dims != 2:
        raise MisuseError("norms are those of vectors or matrices: give one or two axes")
    if axes is not None:
        x = _routines.moveaxis(x, axes, (-2, -1))
    return matrix_norm(x, ord=ord, keepdims=keepdims, format=format, prec=prec)


def _record(handle: int, names: str, f: Format) -> list[Any]:
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


def cholesky(a: Any, /, *, upper: bool = False, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns L of A = L Lᵀ, or Lᵀ if upper, each entry correctly rounded.

    NotPositiveDefiniteError, a numpy.linalg.LinAlgError, where there is none; this is proved.
    """
    o = Operands(a, format=format, prec=prec)

    def one(m: Array) -> Array:
        h = call("cholesky", m._handle, o.format.code, work=_cube(m))
        try:
            (lower,) = _record(h, "L", o.format)
        finally:
            free(h)
        return lower.T if upper else lower  # type: ignore[no-any-return]

    return _each(o, True, one)


def qr(a: Any, /, *, mode: str = "reduced", format: FormatLike | None = None, prec: int | None = None) -> QRResult:
    """Returns Q and R of A = Q R, each entry correctly rounded; A has independent columns.

    The diagonal of R is positive, so the factors are unique; numpy's signs differ.
    """
    if mode != "reduced":
        raise MisuseError(f"mode {mode!r} is not computed: there is 'reduced'")
    o = Operands(a, format=format, prec=prec)
    lead, matrices = _matrices(o)
    pairs = []
    for m in matrices:
        h = call("qr", m._handle, 0, o.format.code, work=_cube(m))
        try:
            pairs.append(_record(h, "Q R", o.format))
        finally:
            free(h)
    if not lead:
        return QRResult(*(o.plainly(z) for z in pairs[0]))
    rows, cols = o.arrays[0].shape[-2:]
    shapes = ((rows, cols), (cols, cols))
    return QRResult(*(_routines._stacked(o, [p[k] for p in pairs], lead + shapes[k]) for k in range(2)))


def lu(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> LUResult:
    """Returns P, L and U of A = P L U with partial pivoting, each entry correctly rounded."""
    o = Operands(a, format=format, prec=prec)
    _matrices(o)
    m = o.arrays[0]
    h = call("lu", m._handle, o.format.code, work=_cube(m))
    try:
        lower, upper, order = _record(h, "L U P", o.format)
    finally:
        free(h)
    p = np.zeros((m.shape[0], m.shape[0]))
    p[order, np.arange(m.shape[0])] = 1
    return LUResult(o.plainly(_array.array(p, o.format)), o.plainly(lower), o.plainly(upper))


def ldl(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> LDLResult:
    """Returns L, D and p of A[p][:, p] = L D Lᵀ, A symmetric; D has blocks of order 1 and 2."""
    o = Operands(a, format=format, prec=prec)
    _matrices(o, square=True)
    h = call("ldlt", o.arrays[0]._handle, o.format.code, work=_cube(o.arrays[0]))
    try:
        lower, d, order = _record(h, "L D P", o.format)
    finally:
        free(h)
    return LDLResult(o.plainly(lower), o.plainly(d), order)


def lstsq(a: Any, b: Any, /, rcond: Any = None, *, weights: Any = None, format: FormatLike | None = None, prec: int | None = None) -> LstsqResult:
    """Returns the X of min ‖B - A X‖₂, each entry correctly rounded, with the rank of A.

    A has independent columns or independent rows, which is proved; then rcond, numpy's tolerance,
    has no meaning and is not used. The residuals, for more rows than columns, are Σ (b - A x)_i² of
    the rounded solution, computed with twice the bits and then rounded. The singular values s are None.
    """
    operands = (a, b) if weights is None else (a, b, weights)
    o = Operands(*operands, format=format, prec=prec)
    m, y = o.arrays[:2]
    if m.ndim != 2 or y.ndim not in (1, 2):
        raise LinAlgError("a is a matrix, b a vector or a matrix")
    if m.shape[0] != y.shape[0]:
        raise MisuseError(f"a has {m.shape[0]} rows and b has {y.shape[0]}")
    w = _routines._vector(o.arrays[2], "weights")._handle if weights is not None else 0
    h = call("lstsq", m._handle, y._handle, w, o.format.code, work=_cube(m))
    shape = (m.shape[1], *y.shape[1:])
    x = Array._of(h, shape, o.format)
    residuals: Any = np.empty(0)
    if m.shape[0] > m.shape[1] and weights is None:
        residuals = o.plainly(_residuals(m, y, x, o.format))
    return LstsqResult(o.plainly(x), residuals, min(m.shape), None)


def _residuals(a: Array, b: Array, x: Array, f: Format) -> Array:
    """Returns Σ (b - A x)_i² of each column, rounded once after the residuals, which are rounded once.

    The format of the residuals has more than twice the bits of the result.
    """
    wide = Format(f"mp:{2 * f.precision + 64}")
    columns = b if b.ndim == 2 else b.reshape(-1, 1)
    x = x if x.ndim == 2 else x.reshape(-1, 1)
    r = columns.astype(wide)
    minus, one = Scalar(-1.0), Scalar(1.0)
    call("gemm", b"N", b"N", minus._handle, a._handle, x._handle, one._handle, r._handle)
    return _array.asarray(vecdot(r, r, axis=0)).astype(f)


def matrix_power(a: Any, n: int, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns A^n, each entry correctly rounded; n may be negative for matrices with an inverse."""
    o = Operands(a, format=format, prec=prec)
    if n < 0:
        raise MisuseError("a negative power would round twice: take inv, then matrix_power")
    return _each(o, True, lambda m: Array._of(call("matrix_power", m._handle, n, o.format.code, work=_cube(m)), m.shape, o.format))


def expm(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the exponential Σ A^k/k!, each entry correctly rounded."""
    o = Operands(a, format=format, prec=prec)
    return _each(o, True, lambda m: Array._of(call("expm", m._handle, o.format.code, work=_cube(m)), m.shape, o.format))


def null_space(a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a basis of the null space in the columns of a matrix, each entry correctly rounded.

    scipy's basis is orthonormal; this one comes from the reduced row echelon form.
    """
    o = Operands(a, format=format, prec=prec)
    _matrices(o)
    h = call("null_space", o.arrays[0]._handle, o.format.code, work=_cube(o.arrays[0]))
    return o.result(h, tuple(library().matrix_shape(h)))


def solve_triangular(
    a: Any, b: Any, /, *, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, format: FormatLike | None = None, prec: int | None = None
) -> Any:
    """Returns the solution of a triangular system by substitution, as BLAS's trsm defines it.

    Each entry is the exact quotient that the rounded entries before it make, rounded once. solve
    returns the correctly rounded solution.
    """
    o = Operands(a, b, format=format, prec=prec)
    _matrices(o, square=True)
    m, y = o.arrays
    if y.ndim not in (1, 2) or y.shape[0] != m.shape[0]:
        raise MisuseError(f"shapes {m.shape} and {y.shape} do not fit")
    z = y.astype(o.format)
    op = {0: b"N", 1: b"T", 2: b"C"}.get(trans, b"") if isinstance(trans, int) else trans.encode()
    call("trsm", b"L", b"L" if lower else b"U", op, b"U" if unit_diagonal else b"N", _routines._one()._handle, m._handle, z._handle)
    return o.plainly(z)


def multi_dot(arrays: Any, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the product of two matrices or vectors; for more, round each product yourself."""
    if len(arrays) != 2:
        raise MisuseError("multi_dot of more than two arrays would round between the products: use @")
    return matmul(*arrays, format=format, prec=prec)

