"""Eigenvalues and singular values, and what follows from them: ranks, pseudo-inverses, least squares."""

from __future__ import annotations

import operator
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from . import _array, _routines
from ._array import Array, Scalar, asarray
from ._format import Format, FormatLike, float32, float64
from ._library import MisuseError, UndecidedWarning, call, free
from ._routines import Operands, vecdot
from ._stacks import cube, each, leading, matrices_of, record_parts


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any

    def to_mpmath(self) -> tuple[Any, Any]:
        """Returns E and Q as mpmath.eigsy has them: a column of eigenvalues, and eigenvectors as columns."""
        return asarray(self.eigenvalues).to_mpmath(), asarray(self.eigenvectors).to_mpmath()


class SVDResult(NamedTuple):
    """U, the singular values S in descending order, and Vh with A = U diag(S) Vh."""

    U: Any
    S: Any
    Vh: Any

    def to_mpmath(self) -> tuple[Any, Any, Any]:
        """Returns U, S and V as mpmath.svd_r has them: A = U diag(S) V, S a column."""
        return asarray(self.U).to_mpmath(), asarray(self.S).to_mpmath(), asarray(self.Vh).to_mpmath()


class PolarResult(NamedTuple):
    """u with orthonormal columns or rows, and the symmetric positive semidefinite p."""

    u: Any
    p: Any


class LstsqResult(NamedTuple):
    """Solution, sums of squares of residuals, rank of A, and singular values of A (None with weights)."""

    x: Any
    residuals: Any
    rank: int
    s: Any


def warn_undecided(undecided: int, what: str, level: int = 4) -> None:
    """Warns of numbers that were rounded without a proof. level is the number of calls to the user."""
    if undecided:
        warnings.warn(f"{undecided} {what} seem to be 0 or halfway between two numbers, without a proof", UndecidedWarning, stacklevel=level)


def _eigh(
    a: Any, b: Any, vectors: bool, uplo: Any, lower: Any, kind: Any, by_index: Any, by_value: Any, format: FormatLike | None, prec: int | None
) -> tuple[Any, Any]:
    """Returns eigenvalues and eigenvectors, or None for these."""
    if isinstance(b, str):  # numpy's second argument
        b, uplo = None, b
    if lower is not None:  # scipy's
        uplo = "L" if lower else "U"
    if uplo not in ("L", "U", "l", "u"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    if kind != 1:
        raise MisuseError(f"type={kind!r} is not computed: type=1 is A x = w B x")
    if by_index is not None and by_value is not None:
        raise MisuseError("subset_by_index and subset_by_value cannot be combined")
    first, last = (0, -1) if by_index is None else map(operator.index, by_index)
    o = Operands(a, format=format, prec=prec) if b is None else Operands(a, b, format=format, prec=prec)
    lead, matrices = matrices_of(o, square=True)
    n = o.arrays[0].shape[-1]
    operands: list[tuple[int, ...]] = [(m._handle,) for m in matrices]
    if b is not None:
        other, right = matrices_of(o, 1, square=True)
        if o.arrays[1].shape[-1] != n:
            raise LinAlgError(f"a is {n} x {n} and b is {o.arrays[1].shape[-1]} x {o.arrays[1].shape[-1]}: they need the same shape")
        lead = _array._common_shape(lead, other)
        if lead:
            matrices, right = (list(_routines._stack(v, lead)) for v in o.arrays)
        operands = [(m._handle, r._handle) for m, r in zip(matrices, right, strict=True)]
    if by_index is not None and not 0 <= first <= last < n:
        raise MisuseError(f"subset_by_index: there are no eigenvalues {first} to {last} of {n}")
    if lead and by_value is not None:
        raise MisuseError("subset_by_value takes one matrix: those of a stack may have different numbers of eigenvalues in an interval")
    ends = [Scalar(x) for x in by_value] if by_value is not None else []
    if by_value is not None and len(ends) != 2:
        raise MisuseError("subset_by_value has a lower and an upper bound")
    above, up_to = (e._handle for e in ends) if ends else (0, 0)
    values, columns = [], []
    for handles in operands:
        name = "eigh" if b is None else "geigh"
        h = call(name, uplo.encode(), *handles, int(vectors), first, last, above, up_to, o.format.code, work=10.0 * n**3)
        try:
            w, *v, undecided = record_parts(h, "w V undecided" if vectors else "w undecided", o.format)
        finally:
            free(h)
        values.append(w.reshape(-1))
        columns.extend(v)
        warn_undecided(undecided, "entries of eigenvectors")
    if not lead:
        return o.plainly(values[0]), o.plainly(columns[0]) if vectors else None
    k = last - first + 1 if by_index is not None else n
    w = _routines._stacked(o, values, (*lead, k))
    return w, _routines._stacked(o, columns, (*lead, n, k)) if vectors else None


def eigh(
    a: Any, /, b: Any = None, UPLO: str = "L", *, lower: bool | None = None, type: int = 1, subset_by_index: Any = None, subset_by_value: Any = None,
    format: FormatLike | None = None, prec: int | None = None,
) -> EighResult:
    """Returns the eigenvalues w of a symmetric matrix in ascending order, and the eigenvectors V.

    Only the lower triangle of A is read, or with UPLO="U", or lower=False, the upper one. Each
    eigenvalue is the exact one, rounded once, whatever the condition of A. The columns of V have norm
    1, A V = V diag(w), and in each column the first entry whose magnitude exceeds π/4 of the largest is
    positive. Entries of V are correctly rounded; UndecidedWarning counts entries that seem to be 0 or
    halfway between two numbers, without a proof.

    With a symmetric positive definite matrix b, A V = B V diag(w) and VᵀB V = I, as scipy.linalg.eigh
    has them for type=1; NotPositiveDefiniteError if b is not positive definite, which is proved. As in
    numpy, the second argument may also be UPLO.

    subset_by_index=(i, j) selects the eigenvalues i to j, both included, counted from 0;
    subset_by_value=(a, b) selects those with a < w <= b, as in scipy.linalg.eigh.

    >>> import halfulp as hp, numpy as np
    >>> hp.linalg.eigh(np.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    array([1., 3.])
    >>> hp.linalg.eigh([[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.5, 1.0]]).eigenvalues
    array([-2.,  2.])
    """
    return EighResult(*_eigh(a, b, True, UPLO, lower, type, subset_by_index, subset_by_value, format, prec))


def eigvalsh(
    a: Any, /, b: Any = None, UPLO: str = "L", *, lower: bool | None = None, type: int = 1, subset_by_index: Any = None, subset_by_value: Any = None,
    format: FormatLike | None = None, prec: int | None = None,
) -> Any:
    """Returns the eigenvalues of a symmetric matrix in ascending order, each correctly rounded: see eigh.

    >>> import halfulp as hp
    >>> hp.linalg.eigvalsh(hp.hilbert(12, format="mp:200"), format="f64")[0]
    Scalar('1.0479463979622267e-16', 'f64')
    """
    return _eigh(a, b, False, UPLO, lower, type, subset_by_index, subset_by_value, format, prec)[0]


def eigvalsh_tridiagonal(d: Any, e: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the eigenvalues of a symmetric tridiagonal matrix in ascending order, each correctly rounded.

    d is the diagonal of n numbers, and e has the n - 1 numbers beside it: scipy.linalg.eigvalsh_tridiagonal.

    >>> import halfulp as hp
    >>> hp.linalg.eigvalsh_tridiagonal([2, 2, 2], [1, 1])
    array([0.58578644, 2.        , 3.41421356])
    """
    o = Operands(d, e, format=format, prec=prec)
    p, q = (_routines._vector(v, name) for v, name in zip(o.arrays, "de", strict=True))
    return o.result(call("eigh_tridiagonal", p._handle, q._handle, o.format.code, work=100.0 * p.size**2), p.shape)


def _check_hermitian(hermitian: bool, a: Array) -> None:
    """Raises an error unless a matrix that is said to be symmetric is: then hermitian changes nothing."""
    if hermitian and not (a.ndim >= 2 and a.shape[-1] == a.shape[-2] and bool(np.all(np.asarray(a == a.swapaxes(-1, -2))))):
        raise LinAlgError("hermitian=True: the matrix is not symmetric")


def _svd(o: Operands, vectors: bool, full: bool, k: int | None) -> list[Any]:
    """Returns the singular values, and if requested U and Vh."""
    lead, matrices = matrices_of(o)
    m, n = o.arrays[0].shape[-2:]
    most = min(m, n)
    if k is not None:
        k = operator.index(k)
        if not 1 <= k <= most:
            raise MisuseError(f"k is {k}: the matrix has {most} singular values")
    names = ["s", "U", "Vt"] if vectors else ["s"]
    results = []
    for a in matrices:
        h = call("svd", a._handle, int(vectors), int(full), k or 0, o.format.code, work=20.0 * m * n * most)
        try:
            s, *uv, undecided = record_parts(h, " ".join([*names, "undecided"]), o.format)
        finally:
            free(h)
        warn_undecided(undecided, "entries of singular vectors")
        results.append([s.reshape(-1), *uv])
    count = most if k is None else k
    shapes = [(count,), (m, m if full else count), (n if full else count, n)]
    if not lead:
        return [o.plainly(v) for v in results[0]]
    return [_routines._stacked(o, [r[i] for r in results], lead + shapes[i]) for i in range(len(names))]


def svd(
    a: Any, /, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, *, k: int | None = None,
    format: FormatLike | None = None, prec: int | None = None,
) -> Any:
    """Returns U, S and Vh of A = U diag(S) Vh, or S alone unless compute_uv: numpy.linalg.svd.

    S is in descending order, and each singular value is the exact one rounded once, whatever the
    condition of A. For an m x n matrix U is m x m and Vh n x n; unless full_matrices, U has min(m, n)
    columns and Vh as many rows. k selects the k largest singular values and their vectors. The signs of
    vectors are unique: in each row of Vh (for m < n in each column of U) the first entry whose
    magnitude exceeds π/4 of the largest is positive. UndecidedWarning counts entries of vectors that
    seem to be 0 or halfway between two numbers, without a proof.

    hermitian=True is an error for a matrix that is not symmetric, and changes nothing for others.

    >>> import halfulp as hp, numpy as np
    >>> U, S, Vh = hp.linalg.svd(np.array([[1.0, 2.0], [2.0, 4.0], [2.0, 4.0]]), full_matrices=False)
    >>> S
    array([6.70820393, 0.        ])
    """
    o = Operands(a, format=format, prec=prec)
    _check_hermitian(hermitian, o.arrays[0])
    s, *uv = _svd(o, compute_uv, bool(full_matrices and compute_uv and k is None), k)
    return SVDResult(uv[0], s, uv[1]) if compute_uv else s


def svdvals(x: Any, /, *, k: int | None = None, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the singular values in descending order, or the k largest, each correctly rounded.

    >>> import halfulp as hp
    >>> hp.linalg.svdvals(hp.hilbert(12, format="mp:200"), k=1)[0].text(30)
    '1.79537205956199730872514724919'
    """
    return _svd(Operands(x, format=format, prec=prec), False, False, k)[0]


# Tolerances.


class _Unset:
    """The type of a default that differs from None."""

    def __repr__(self) -> str:
        return "<unset>"


_UNSET = _Unset()


def _eps(a: Array) -> Scalar:
    """Returns the distance of 1 from the next number of a matrix's format, by its number of bits."""
    z: Scalar = Scalar(2.0, "mp:64") ** (1 - a.format.precision)
    return z


def _unit(a: Array) -> Scalar:
    """Returns max(m, n) eps for an m x n matrix, numpy's tolerance, exactly."""
    z: Scalar = max(a.shape[-2:]) * _eps(a)
    return z


def _numbers(name: str, value: Any, lead: tuple[int, ...]) -> list[Scalar]:
    """Returns a tolerance for each matrix of a stack, from one number or an array."""
    a = asarray(value)
    if a.ndim > len(lead):
        raise MisuseError(f"{name} has the shape {a.shape}: one number, or one for each matrix of the stack, is needed")
    return list(a._broadcast(lead).reshape(-1)) if lead else [a.item()]


def matrix_rank(a: Any, /, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Returns the number of singular values above a tolerance: numpy.linalg.matrix_rank.

    The default is numpy's: singular values above max(m, n) eps times the largest one count, with eps the
    distance of 1 from the next number of A's format. rtol replaces max(m, n) eps, and tol is a bound of
    the singular values themselves. tol=0 or rtol=0 is the exact rank of the matrix as stored, which is
    proved. tol and rtol may have one number for each matrix of a stack. The singular values are correctly
    rounded before they are compared.

    >>> import halfulp as hp
    >>> hp.linalg.matrix_rank(hp.hilbert(20)), hp.linalg.matrix_rank(hp.hilbert(20), tol=0)
    (13, 20)
    """
    if tol is not None and rtol is not None:
        raise MisuseError("tol and rtol cannot be combined")
    o = Operands(a)
    if o.arrays[0].ndim < 2:
        return int(any(bool(x) for x in o.arrays[0].reshape(-1)))
    _check_hermitian(hermitian, o.arrays[0])
    lead, matrices = matrices_of(o)
    relative = _numbers("rtol", _unit(o.arrays[0]) if rtol is None else rtol, lead)
    bounds = _numbers("tol", tol, lead) if tol is not None else [None] * len(matrices)

    def one(m: Array, c: Scalar, bound: Scalar | None) -> int:
        if bound is not None and not bound >= 0:
            raise MisuseError(f"tol is {bound}: at least 0 is needed")
        if bound is None or bound == 0:
            return int(call("rank", m._handle, c._handle if bound is None else 0, work=10 * cube(m)))
        values = svdvals(m, format=Format(f"mp:{m.format.precision}"))  # none becomes infinite or 0
        return int(np.sum(np.asarray(values > bound)))

    ranks = list(map(one, matrices, relative, bounds))
    return np.array(ranks, np.int64).reshape(lead) if lead else ranks[0]


def pinv(
    a: Any, /, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _UNSET, format: FormatLike | None = None, prec: int | None = None
) -> Any:
    """Returns the pseudo-inverse of Moore and Penrose, each entry correctly rounded: numpy.linalg.pinv.

    Singular values up to rcond times the largest one are treated as 0. The default is numpy's, 1e-15 for
    matrices in float64 and float32. With rtol=None, and for other formats, it is max(m, n) eps, with eps
    the distance of 1 from the next number of A's format. rtol is another name of rcond, and
    both may have one number for each matrix of a stack. rcond=0 is the
    exact pseudo-inverse of the matrix as stored: rounded matrices mostly have full rank, and
    pseudo-inverses with entries of 1e16.

    UndecidedWarning counts entries that seem to be 0 or halfway between two numbers, without a proof. It
    occurs only if a singular value that is not 0 is treated as 0.

    >>> import halfulp as hp, numpy as np
    >>> a = np.array([[0.1, 0.3], [0.3, 0.9]])
    >>> hp.linalg.pinv(a)
    array([[0.1, 0.3],
           [0.3, 0.9]])
    >>> print(hp.linalg.pinv(a, rcond=0)[0, 0])
    6.4851834634135144e+16
    """
    if rcond is not None and rtol is not _UNSET:
        raise MisuseError("rcond and rtol cannot be combined")
    o = Operands(a, format=format, prec=prec)
    lead, matrices = matrices_of(o)
    whole = o.arrays[0]
    _check_hermitian(hermitian, whole)
    given = rcond if rtol is _UNSET else rtol
    if given is None:
        given = Scalar(1e-15) if rtol is _UNSET and whole.format in (float64, float32) else _unit(whole)
    results = []
    for m, c in zip(matrices, _numbers("rcond", given, lead), strict=True):
        z, undecided = call("pinv", m._handle, c._handle, o.format.code, work=30 * cube(m))
        results.append(Array._of(z, m.shape[::-1], o.format))
        warn_undecided(undecided, "entries of a pseudo-inverse", 3)
    return _routines._stacked(o, results, (*lead, *whole.shape[:-3:-1])) if lead else o.plainly(results[0])


def lstsq(a: Any, b: Any, /, rcond: Any = None, *, weights: Any = None, format: FormatLike | None = None, prec: int | None = None) -> LstsqResult:
    """Returns the X of least norm among all of min ‖B - A X‖₂, each entry correctly rounded: numpy.linalg.lstsq.

    A has any shape and rank. Singular values up to rcond times the largest one are treated as 0. The
    default is numpy's: max(m, n) eps, with eps the distance of 1 from the next number of A's format; -1 is
    eps. rcond=0 is the exact rank of the matrix as stored, which is proved. The rank is also the exact one
    if there are weights w_i ≥ 0 of the rows, for which Σ w_i (b - A x)_i² is minimized.

    The result has the rank, and the singular values s, correctly rounded; s is None with weights. The
    residuals, for m > n and rank n, are Σ (b - A x)_i² of the rounded solution, computed with twice the
    bits and then rounded; they are empty otherwise, and with weights. UndecidedWarning counts entries of
    X that seem to be 0 or halfway between two numbers, without a proof. It occurs only if a singular value
    that is not 0 is treated as 0.
    """
    operands = (a, b) if weights is None else (a, b, weights)
    o = Operands(*operands, format=format, prec=prec)
    m, y = o.arrays[:2]
    if m.ndim != 2 or y.ndim not in (1, 2):
        raise LinAlgError("a is a matrix, b a vector or a matrix")
    if m.shape[0] != y.shape[0]:
        raise MisuseError(f"a has {m.shape[0]} rows and b has {y.shape[0]}")
    shape = (m.shape[1], *y.shape[1:])
    empty = o.plainly(_array.array(np.empty(0), o.format))
    if weights is not None:
        w = _routines._vector(o.arrays[2], "weights")
        (c,) = _numbers("rcond", 0 if rcond is None else rcond, ())
        h, _ = call("lstsq", m._handle, y._handle, w._handle, c._handle, o.format.code, work=10 * cube(m))
        return LstsqResult(o.plainly(Array._of(h, shape, o.format)), empty, _weighted_rank(m, w), None)
    (c,) = _numbers("rcond", _unit(m) if rcond is None else rcond, ())
    c = _eps(m) if c == -1 else c
    h = call("lstsq_rank", m._handle, y._handle, c._handle, o.format.code, work=10 * cube(m))
    try:
        x, s, rank, undecided = record_parts(h, "X s rank undecided", o.format)
    finally:
        free(h)
    warn_undecided(undecided, "entries of a solution", 3)
    x = x.reshape(shape)
    residuals = o.plainly(_residuals(m, y, x, o.format)) if m.shape[0] > m.shape[1] == rank else empty
    return LstsqResult(o.plainly(x), residuals, rank, o.plainly(s.reshape(-1)))


def _weighted_rank(a: Array, w: Array) -> int:
    """Returns the rank of the rows whose weight is not 0."""
    rows = np.flatnonzero(np.asarray(w != 0))
    kept = a if len(rows) == a.shape[0] else a[rows]
    return int(call("rank", kept._handle, 0, work=cube(a)))


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
    z: Array = asarray(vecdot(r, r, axis=0)).astype(f)
    return z


# The letters of the C library for norms of matrices.
ORDERS: dict[Any, bytes] = {1: b"1", 2: b"2", np.inf: b"I", "fro": b"F"}


def cond(a: Any, p: Any = None, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the condition number, correctly rounded, in the 2-norm (p=None or 2), 1-norm or infinity norm.

    In the 2-norm, numpy's default, it is the largest singular value over the smallest one, and A may have
    any shape. For p=1 and p=numpy.inf it is ‖A‖ ‖A⁻¹‖. Singular matrices, and others of deficient rank,
    have inf, which is proved.

    >>> import halfulp as hp
    >>> hp.linalg.cond(hp.hilbert(12, format="mp:200")).text(20)
    '17132289046970049.626'
    """
    if p is None:
        p = 2
    if isinstance(p, str) or p not in (1, 2, np.inf):
        raise MisuseError(f"cond in the norm {p!r} is not computed: give p=None, 1, 2 or numpy.inf")
    o = Operands(a, format=format, prec=prec)

    def one(m: Array) -> Scalar:
        z, undecided = call("cond", ORDERS[p], m._handle, o.format.code, work=10 * cube(m))
        warn_undecided(undecided, "condition numbers", 5)
        return Scalar._of(z, o.format)

    return each(o, p != 2, one)


def polar(a: Any, /, side: str = "right", *, format: FormatLike | None = None, prec: int | None = None) -> PolarResult:
    """Returns u and p of A = u p, or with side="left" of A = p u: scipy.linalg.polar.

    p is symmetric positive semidefinite. For independent columns (rows for side="left") those of u are
    orthonormal, and u is the nearest such matrix to A. UndecidedWarning counts entries that seem to be 0
    or halfway between two numbers, without a proof.

    >>> import halfulp as hp
    >>> u, p = hp.linalg.polar([[4.0, 0.0], [3.0, 5.0]])
    >>> print(p)
    [[4.74341649 1.58113883]
     [1.58113883 4.74341649]]
    """
    if side not in ("left", "right"):
        raise MisuseError(f"side is {side!r}: give 'right' or 'left'")
    o = Operands(a, format=format, prec=prec)
    leading(o)
    m = o.arrays[0]
    if m.ndim != 2:
        raise LinAlgError(f"{m.ndim}-dimensional array given: polar takes one matrix")
    m = m if side == "right" else m.T
    h = call("polar", m._handle, o.format.code, work=30 * cube(m))
    try:
        u, p, undecided = record_parts(h, "U H undecided", o.format)
    finally:
        free(h)
    warn_undecided(undecided, "entries of a polar decomposition", 3)
    return PolarResult(o.plainly(u if side == "right" else u.T), o.plainly(p))


def symfunc(name: str, a: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns f(A) = X diag(f(w)) Xᵀ for a symmetric matrix with eigenvalues w and eigenvectors X.

    name: "sqrt", "invsqrt" (1/√x), "exp", "log", "abs", "sign" or "positive" (max(x, 0), which gives the
    nearest positive semidefinite matrix). Entries are correctly rounded; UndecidedWarning counts
    entries that seem to be 0 or halfway between two numbers, without a proof. expm takes matrices that
    are not symmetric.

    A has to be symmetric, else MisuseError. NotPositiveDefiniteError if an eigenvalue is outside of the
    domain of f, which is proved.

    >>> import halfulp as hp, numpy as np
    >>> hp.linalg.symfunc("sqrt", np.array([[5.0, 4.0], [4.0, 5.0]]))
    array([[2., 1.],
           [1., 2.]])
    """
    o = Operands(a, format=format, prec=prec)

    def one(m: Array) -> Array:
        z, undecided = call("symfunc", name.encode(), m._handle, o.format.code, work=30 * cube(m))
        warn_undecided(undecided, "entries of a function of a matrix", 5)
        return Array._of(z, m.shape, o.format)

    return each(o, True, one)
