"""The routines of the BLAS, with the names and arguments of scipy.linalg.blas without the letter of the type.

Operands are arrays of numpy or halfulp or nested lists, of any formats; results are new arrays, each
entry rounded once to the format of the most precise operand or to the one that format= or prec= asks
for. A matrix that is passed as c, y or a to be added to is not changed.

>>> import halfulp as hp, numpy as np
>>> hp.blas.gemm(2.0, np.eye(2), np.array([[1.0, 2], [3, 4]]), beta=-1, c=np.ones((2, 2)))
array([[1., 3.],
       [5., 7.]])
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from . import _array
from ._array import Array, Scalar, asarray
from ._format import FormatLike
from ._library import MisuseError, call, free, library
from ._routines import Operands, _vector, dot

__all__ = "asum axpy dot gbmv gemm gemv ger iamax nrm2 rot rotg rotm rotmg sbmv scal spmv symm symv syr syr2 syr2k syrk trmm trmv trsm trsv".split()


class RotgResult(NamedTuple):
    """The plane rotation that takes (a, b) to (r, 0)."""

    c: Any
    s: Any


_OPERATIONS = {0: b"N", 1: b"T", 2: b"C"}


def _letter(flag: Any, letters: bytes) -> bytes:
    """Returns the letter that an argument such as lower=1 stands for."""
    if flag not in (0, 1):
        raise MisuseError(f"an argument is {flag!r}: it is 0 or 1")
    return letters[int(flag) : int(flag) + 1]


def _op(trans: Any) -> bytes:
    if trans not in _OPERATIONS:
        raise MisuseError(f"trans is {trans!r}: it is 0, 1 or 2")
    return _OPERATIONS[trans]


def _number(x: Any) -> Scalar:
    """Returns a coefficient, exactly."""
    return x if isinstance(x, Scalar) else asarray(x).item()


class _Call(Operands):
    """Operands of a routine; some may be missing."""

    def __init__(self, *values: Any, format: FormatLike | None, prec: int | None) -> None:
        super().__init__(*(v for v in values if v is not None), format=format, prec=prec)
        found = iter(self.arrays)
        self.given_arrays = [None if v is None else next(found) for v in values]

    def target(self, k: int, shape: tuple[int, ...]) -> Array:
        """Returns a copy of operand k in the format of results, or zeros if it is missing."""
        a = self.given_arrays[k]
        if a is None:
            return _array.array(np.zeros(shape), self.format)
        if a.shape != shape:
            raise MisuseError(f"the shape {a.shape} of the array to be added to does not fit: {shape} is needed")
        return a.copy() if a.format == self.format else a.astype(self.format)


def _matrix(a: Array | None, what: str) -> Array:
    if a is None or a.ndim != 2:
        raise MisuseError(f"{what} is no matrix")
    return a


def _needs(v: Array | None, what: str) -> Array:
    assert v is not None
    return _vector(v, what)


# Level 1.


def asum(x: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns Σ |x_i|, rounded once."""
    o = Operands(x, format=format, prec=prec)
    return o.scalar(call("asum", _vector(o.arrays[0], "x")._handle, o.format.code))


def nrm2(x: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns √Σ x_i², rounded once."""
    o = Operands(x, format=format, prec=prec)
    return o.scalar(call("nrm2", _vector(o.arrays[0], "x")._handle, o.format.code))


def iamax(x: Any, /) -> int:
    """Returns the index of the first entry of the largest magnitude, NaN before all; -1 for no numbers."""
    v = _vector(Operands(x).arrays[0], "x")
    return int(call("iamax", v._handle))


def axpy(x: Any, y: Any, /, a: Any = 1.0, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a x + y, each entry rounded once."""
    o = _Call(x, y, format=format, prec=prec)
    v, alpha = _vector(o.arrays[0], "x"), _number(a)
    z = o.target(1, v.shape)
    call("axpy", alpha._handle, v._handle, z._handle)
    return o.plainly(z)


def scal(a: Any, x: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns a x, each entry rounded once."""
    o = Operands(x, format=format, prec=prec)
    return o.plainly(_array.elementwise("mul", _vector(o.arrays[0], "x"), asarray(_number(a)), o.format))


def rot(x: Any, y: Any, c: Any, s: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns (c x + s y, c y - s x), each entry rounded once."""
    o = _Call(x, y, format=format, prec=prec)
    p = o.target(0, _vector(o.arrays[0], "x").shape)
    q = o.target(1, p.shape)
    cosine, sine = _number(c), _number(s)
    call("rot", p._handle, q._handle, cosine._handle, sine._handle)
    return o.plainly(p), o.plainly(q)


def rotg(a: Any, b: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> RotgResult:
    """Returns c and s of the plane rotation that takes (a, b) to (r, 0), each rounded once."""
    o = Operands(a, b, format=format, prec=prec)
    p, q = (v.item() for v in o.arrays)
    h = library().rotg(p._handle, q._handle, o.format.code, 0)
    try:
        return RotgResult(*(o.scalar(library().record_scalar(h, name)) for name in (b"c", b"s")))
    finally:
        free(h)


def rotmg(d1: Any, d2: Any, x1: Any, y1: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the parameters [flag, h11, h21, h12, h22] of the modified Givens rotation, each rounded once: see rotm."""
    o = Operands(d1, d2, x1, y1, format=format, prec=prec)
    numbers = [v.item() for v in o.arrays]
    h = library().rotmg(*(v._handle for v in numbers), o.format.code, 0)
    try:
        flag = library().record_integer(h, b"flag")
        entries = [Scalar._of(library().record_scalar(h, name), o.format) for name in (b"h11", b"h21", b"h12", b"h22")]
    finally:
        free(h)
    return o.plainly(_array.array([flag, *entries], o.format))


def rotm(x: Any, y: Any, param: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns (h11 x + h12 y, h21 x + h22 y) for the parameters [flag, h11, h21, h12, h22], each entry rounded once.

    The flag is -2 for the identity, -1 for all four numbers, 0 for h11 = h22 = 1, and 1 for h21 = -1
    and h12 = 1.
    """
    o = _Call(x, y, format=format, prec=prec)
    p = o.target(0, _vector(o.arrays[0], "x").shape)
    q = o.target(1, p.shape)
    numbers = asarray(param).ravel().tolist()
    if len(numbers) != 5:
        raise MisuseError(f"param has {len(numbers)} numbers: five are needed")
    call("rotm", p._handle, q._handle, int(numbers[0]), *(v._handle for v in numbers[1:]))
    return o.plainly(p), o.plainly(q)


# Level 2.


def gemv(alpha: Any, a: Any, x: Any, /, beta: Any = 0.0, y: Any = None, *, trans: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α op(A) x + β y, each entry rounded once; trans is 0 for A and 1 for Aᵀ."""
    o = _Call(a, x, y, format=format, prec=prec)
    m, v = _matrix(o.given_arrays[0], "a"), _needs(o.given_arrays[1], "x")
    z = o.target(2, (m.shape[1 if trans else 0],))
    p, q = _number(alpha), _number(beta)
    call("gemv", _op(trans), p._handle, m._handle, v._handle, q._handle, z._handle, work=m.size)
    return o.plainly(z)


def gbmv(m: int, n: int, kl: int, ku: int, alpha: Any, a: Any, x: Any, /, beta: Any = 0.0, y: Any = None, *, trans: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α op(A) x + β y for a band matrix of m rows with kl diagonals below and ku above the main one.

    Entry (i, j) of A is entry (ku + i - j, j) of a.
    """
    o = _Call(a, x, y, format=format, prec=prec)
    band, v = _matrix(o.given_arrays[0], "a"), _needs(o.given_arrays[1], "x")
    rows, cols, below, above = map(operator.index, (m, n, kl, ku))
    if band.shape != (below + above + 1, cols):
        raise MisuseError(f"a has the shape {band.shape}: {(below + above + 1, cols)} is needed")
    z = o.target(2, (cols if trans else rows,))
    p, q = _number(alpha), _number(beta)
    call("gbmv", _op(trans), rows, below, above, p._handle, band._handle, v._handle, q._handle, z._handle)
    return o.plainly(z)


def symv(alpha: Any, a: Any, x: Any, /, beta: Any = 0.0, y: Any = None, *, lower: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α A x + β y for a symmetric matrix. Only one triangle is read."""
    o = _Call(a, x, y, format=format, prec=prec)
    m, v = _matrix(o.given_arrays[0], "a"), _needs(o.given_arrays[1], "x")
    z = o.target(2, (m.shape[0],))
    p, q = _number(alpha), _number(beta)
    call("symv", _letter(lower, b"UL"), p._handle, m._handle, v._handle, q._handle, z._handle, work=m.size)
    return o.plainly(z)


def sbmv(k: int, alpha: Any, a: Any, x: Any, /, beta: Any = 0.0, y: Any = None, *, lower: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α A x + β y for a symmetric band matrix with k diagonals on each side.

    Entry (i, j) of A is entry (k + i - j, j) of a, or with lower (i - j, j).
    """
    o = _Call(a, x, y, format=format, prec=prec)
    band, v = _matrix(o.given_arrays[0], "a"), _needs(o.given_arrays[1], "x")
    z = o.target(2, (band.shape[1],))
    p, q = _number(alpha), _number(beta)
    call("sbmv", _letter(lower, b"UL"), operator.index(k), p._handle, band._handle, v._handle, q._handle, z._handle)
    return o.plainly(z)


def spmv(n: int, alpha: Any, ap: Any, x: Any, /, beta: Any = 0.0, y: Any = None, *, lower: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α A x + β y for a symmetric matrix with one triangle in ap, column after column."""
    o = _Call(ap, x, y, format=format, prec=prec)
    packed, v = _needs(o.given_arrays[0], "ap"), _needs(o.given_arrays[1], "x")
    z = o.target(2, (operator.index(n),))
    p, q = _number(alpha), _number(beta)
    call("spmv", _letter(lower, b"UL"), p._handle, packed._handle, v._handle, q._handle, z._handle)
    return o.plainly(z)


def _triangular(name: str, a: Any, x: Any, lower: Any, trans: Any, diag: Any, format: Any, prec: Any) -> Any:
    o = _Call(a, x, format=format, prec=prec)
    m = _matrix(o.given_arrays[0], "a")
    z = o.target(1, _needs(o.given_arrays[1], "x").shape)
    call(name, _letter(lower, b"UL"), _op(trans), _letter(diag, b"NU"), m._handle, z._handle, work=m.size)
    return o.plainly(z)


def trmv(a: Any, x: Any, /, *, lower: Any = 0, trans: Any = 0, diag: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns op(A) x for a triangular matrix, each entry rounded once; diag=1 stands for a diagonal of ones."""
    return _triangular("trmv", a, x, lower, trans, diag, format, prec)


def trsv(a: Any, x: Any, /, *, lower: Any = 0, trans: Any = 0, diag: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the solution of op(A) z = x by substitution, each quotient rounded once: see linalg.solve_triangular."""
    return _triangular("trsv", a, x, lower, trans, diag, format, prec)


def ger(alpha: Any, x: Any, y: Any, /, a: Any = None, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α x yᵀ + A, each entry rounded once."""
    o = _Call(x, y, a, format=format, prec=prec)
    v, w = _needs(o.given_arrays[0], "x"), _needs(o.given_arrays[1], "y")
    z = o.target(2, (v.size, w.size))
    p = _number(alpha)
    call("ger", p._handle, v._handle, w._handle, z._handle, work=z.size)
    return o.plainly(z)


def syr(alpha: Any, x: Any, /, *, lower: Any = 0, a: Any = None, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α x xᵀ + A in a triangle, and A in the other one."""
    o = _Call(x, a, format=format, prec=prec)
    v = _needs(o.given_arrays[0], "x")
    z = o.target(1, (v.size, v.size))
    p = _number(alpha)
    call("syr", _letter(lower, b"UL"), p._handle, v._handle, z._handle, work=z.size)
    return o.plainly(z)


def syr2(alpha: Any, x: Any, y: Any, /, *, lower: Any = 0, a: Any = None, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α x yᵀ + α y xᵀ + A in a triangle, and A in the other one."""
    o = _Call(x, y, a, format=format, prec=prec)
    v, w = _needs(o.given_arrays[0], "x"), _needs(o.given_arrays[1], "y")
    z = o.target(2, (v.size, v.size))
    p = _number(alpha)
    call("syr2", _letter(lower, b"UL"), p._handle, v._handle, w._handle, z._handle, work=z.size)
    return o.plainly(z)


# Level 3.


def gemm(alpha: Any, a: Any, b: Any, /, beta: Any = 0.0, c: Any = None, *, trans_a: Any = 0, trans_b: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α op(A) op(B) + β C, each entry rounded once; trans is 0 for X and 1 for Xᵀ."""
    o = _Call(a, b, c, format=format, prec=prec)
    x, y = _matrix(o.given_arrays[0], "a"), _matrix(o.given_arrays[1], "b")
    z = o.target(2, (x.shape[1 if trans_a else 0], y.shape[0 if trans_b else 1]))
    p, q = _number(alpha), _number(beta)
    call("gemm", _op(trans_a), _op(trans_b), p._handle, x._handle, y._handle, q._handle, z._handle, work=float(x.size) * z.shape[1])
    return o.plainly(z)


def symm(alpha: Any, a: Any, b: Any, /, beta: Any = 0.0, c: Any = None, *, side: Any = 0, lower: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α A B + β C, or with side=1 α B A + β C, for a symmetric matrix A. Only one triangle is read."""
    o = _Call(a, b, c, format=format, prec=prec)
    x, y = _matrix(o.given_arrays[0], "a"), _matrix(o.given_arrays[1], "b")
    z = o.target(2, y.shape)
    p, q = _number(alpha), _number(beta)
    call("symm", _letter(side, b"LR"), _letter(lower, b"UL"), p._handle, x._handle, y._handle, q._handle, z._handle, work=float(y.size) * x.shape[0])
    return o.plainly(z)


def syrk(alpha: Any, a: Any, /, beta: Any = 0.0, c: Any = None, *, trans: Any = 0, lower: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α A Aᵀ + β C, or with trans=1 α Aᵀ A + β C, in a triangle, and C in the other one."""
    o = _Call(a, c, format=format, prec=prec)
    x = _matrix(o.given_arrays[0], "a")
    n = x.shape[1 if trans else 0]
    z = o.target(1, (n, n))
    p, q = _number(alpha), _number(beta)
    call("syrk", _letter(lower, b"UL"), _op(trans), p._handle, x._handle, q._handle, z._handle, work=float(x.size) * n)
    return o.plainly(z)


def syr2k(alpha: Any, a: Any, b: Any, /, beta: Any = 0.0, c: Any = None, *, trans: Any = 0, lower: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α A Bᵀ + α B Aᵀ + β C, or with trans=1 α Aᵀ B + α Bᵀ A + β C, in a triangle, and C in the other one."""
    o = _Call(a, b, c, format=format, prec=prec)
    x, y = _matrix(o.given_arrays[0], "a"), _matrix(o.given_arrays[1], "b")
    n = x.shape[1 if trans else 0]
    z = o.target(2, (n, n))
    p, q = _number(alpha), _number(beta)
    call("syr2k", _letter(lower, b"UL"), _op(trans), p._handle, x._handle, y._handle, q._handle, z._handle, work=float(x.size) * n)
    return o.plainly(z)


def _triangular_product(name: str, alpha: Any, a: Any, b: Any, side: Any, lower: Any, trans_a: Any, diag: Any, format: Any, prec: Any) -> Any:
    o = _Call(a, b, format=format, prec=prec)
    x = _matrix(o.given_arrays[0], "a")
    z = o.target(1, _matrix(o.given_arrays[1], "b").shape)
    p = _number(alpha)
    call(name, _letter(side, b"LR"), _letter(lower, b"UL"), _op(trans_a), _letter(diag, b"NU"), p._handle, x._handle, z._handle, work=float(z.size) * x.shape[0])
    return o.plainly(z)


def trmm(alpha: Any, a: Any, b: Any, /, *, side: Any = 0, lower: Any = 0, trans_a: Any = 0, diag: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns α op(A) B, or with side=1 α B op(A), for a triangular matrix A, each entry rounded once."""
    return _triangular_product("trmm", alpha, a, b, side, lower, trans_a, diag, format, prec)


def trsm(alpha: Any, a: Any, b: Any, /, *, side: Any = 0, lower: Any = 0, trans_a: Any = 0, diag: Any = 0, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the solution X of op(A) X = α B, or with side=1 X op(A) = α B, by substitution, each quotient rounded once."""
    return _triangular_product("trsm", alpha, a, b, side, lower, trans_a, diag, format, prec)
