"""Functions of numbers, entry by entry, under the names of the Array API."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from . import _array, _entries
from ._array import Array, Scalar, array, asarray, elementwise
from ._format import Format, FormatLike
from ._library import MisuseError, RangeError, call, library
from ._numbers import INFINITY, NAN, Dyadic
from ._routines import Operands

# The largest exponent of power: the exact power has so many times the bits of its base.
_LARGEST_EXPONENT = 1 << 14


def _binary(name: str, x: Any, y: Any) -> Any:
    o = Operands(x, y)
    return o.given(elementwise(name, o.arrays[0], o.arrays[1], o.format), x, y)


def add(x1: Any, x2: Any, /) -> Any:
    """Returns x1 + x2 entry by entry, each rounded once."""
    return _binary("add", x1, x2)


def subtract(x1: Any, x2: Any, /) -> Any:
    """Returns x1 - x2 entry by entry, each rounded once."""
    return _binary("sub", x1, x2)


def multiply(x1: Any, x2: Any, /) -> Any:
    """Returns x1 x2 entry by entry, each rounded once."""
    return _binary("mul", x1, x2)


def divide(x1: Any, x2: Any, /) -> Any:
    """Returns x1 / x2 entry by entry, each rounded once."""
    return _binary("div", x1, x2)


def _unary(name: str, x: Any, *formats: Any) -> Any:
    o = Operands(x)
    a = o.arrays[0]
    return o.given(Array._of(call(name, a._handle, *formats), a.shape, a.format), x)


def negative(x: Any, /) -> Any:
    """Returns -x, exactly."""
    return _unary("neg", x)


def positive(x: Any, /) -> Any:
    """Returns a copy of x."""
    o = Operands(x)
    return o.given(o.arrays[0].copy(), x)


def abs(x: Any, /) -> Any:
    """Returns |x|, exactly."""
    return _unary("abs", x)


absolute = abs


def sqrt(x: Any, /) -> Any:
    """Returns the square root of each entry, rounded once.

    >>> import halfulp as hp
    >>> hp.sqrt(hp.array(2, "mp:100")).item().text(30)
    '1.41421356237309504880168872421'
    """
    o = Operands(x)
    a = o.arrays[0]
    return o.given(Array._of(call("sqrt", a._handle, o.format.code), a.shape, o.format), x)


def square(x: Any, /) -> Any:
    """Returns x² entry by entry, each rounded once."""
    o = Operands(x)
    return o.given(elementwise("mul", o.arrays[0], o.arrays[0], o.format), x)


def reciprocal(x: Any, /) -> Any:
    """Returns 1 / x entry by entry, each rounded once."""
    return divide(1, x)


def pow(x1: Any, x2: Any, /) -> Any:
    """Returns x1 ** x2 entry by entry, each rounded once; the exponents are integers.

    >>> import halfulp as hp
    >>> hp.pow(hp.array([3, "0.5"], "mp:80"), -2)
    array([0.11111111, 4], 'mp:80')
    """
    o = Operands(x1)
    return o.given(power(o.arrays[0], x2, o.format), x1, x2)


def power(a: Array, exponent: Any, f: Format) -> Array:
    """Returns the powers a ** exponent, each rounded once to a format."""
    exponents = _exponents(exponent)
    shape = _array._common_shape(a.shape, exponents.shape)
    z: Array | None = None
    for n in np.unique(exponents).tolist():
        p = _whole_power(a, n, f)
        z = p if z is None else _entries.where(exponents == n, p, z, f)
    if z is None:
        return array(np.zeros(shape), f)
    return z._broadcast(shape)


def _exponents(exponent: Any) -> np.ndarray:
    values = [v if isinstance(v, int) else _whole(v) for v in np.asarray(exponent, object).reshape(-1)]
    if values and max(map(math.fabs, values)) > _LARGEST_EXPONENT:
        raise MisuseError(f"exponents of powers are at most {_LARGEST_EXPONENT} in magnitude")
    return np.array(values, np.int64).reshape(np.shape(exponent))


def _whole(x: Any) -> int:
    try:
        p, q = x.as_integer_ratio()
    except (AttributeError, ValueError, OverflowError):
        p, q = 0, 0
    if q != 1:
        raise MisuseError(f"powers with the exponent {x} are not computed: exponents are integers")
    return int(p)


def _whole_power(a: Array, n: int, f: Format) -> Array:
    one = asarray(Scalar(1.0))
    if n in (0, 1):
        return array(np.ones(a.shape), f) if n == 0 else a if a.format == f else a.astype(f)
    if n == 2:
        return elementwise("mul", a, a, f)
    if n == -1:
        return elementwise("div", one, a, f)
    # A number of p bits has a power of at most |n| p bits. Terms of expansions are 2098 bits apart at most.
    bits = operator.abs(n) * (2200 if a.format.terms else a.format.precision)
    exact = _entries.holding(bits)
    z, square, k = one, a, operator.abs(n)
    while k:
        if k & 1:
            z = elementwise("mul", z, square, exact)
        k >>= 1
        if k:
            square = elementwise("mul", square, square, exact)
    return z.astype(f) if n > 0 else elementwise("div", one, z, f)


# Integers near a number: exact.


def _to_integers(name: str, x: Any, rounded: Callable[[Fraction], int]) -> Any:
    o = Operands(x)
    a = o.arrays[0]
    if a.format.dtype is not None:
        return o.given(asarray(getattr(np, name)(a._parts()[0])), x)

    def one(v: Dyadic) -> Dyadic:
        if v.m <= 0 or v.e >= 0:
            return v
        if v.m.bit_length() + v.e < -1:  # below 1/4
            m = rounded(Fraction(-1 if v.negative else 1, 4))
        else:
            m = rounded(_entries.fraction(v))
        return Dyadic(v.negative, operator.abs(m), 0)

    return o.given(_entries.mapped(a, a.format, one), x)


def floor(x: Any, /) -> Any:
    """Returns the largest integers that are not above x."""
    return _to_integers("floor", x, math.floor)


def ceil(x: Any, /) -> Any:
    """Returns the smallest integers that are not below x."""
    return _to_integers("ceil", x, math.ceil)


def trunc(x: Any, /) -> Any:
    """Returns x without the digits after the point."""
    return _to_integers("trunc", x, math.trunc)


def round(x: Any, /, decimals: int = 0) -> Any:
    """Returns the integers nearest to x, the even one of two; or x rounded to so many decimals.

    With decimals, the result is the number of the format nearest to the rounded decimal number.
    (numpy.round scales by powers of ten and rounds three times.)
    """
    n = operator.index(decimals)
    if n == 0:
        return _to_integers("rint", x, _nearest)
    o = Operands(x)
    a = o.arrays[0]
    values = []
    for v in _entries.dyadics(a):
        values.append(_entries_of(v, n, a.format))
    return o.given(_array.from_dyadics(values, a.shape, a.format), x)


def _nearest(v: Fraction) -> int:
    """Returns the integer nearest to v, the even one of two. (This module's round is not Python's.)"""
    return v.__round__()


def _rounded(v: Fraction, n: int) -> Fraction:
    scale = Fraction(10) ** n
    return _nearest(v * scale) / scale


def _entries_of(v: Dyadic, n: int, f: Format) -> Dyadic:
    from . import _numbers

    if v.m <= 0:
        return v
    if v.m.bit_length() + v.e > 64 * 64 or v.m.bit_length() + v.e < -64 * 64 - 4 * operator.abs(n):
        return v if v.e > 0 else Dyadic(v.negative, 0, 0)
    w = _numbers.exact(_rounded(_entries.fraction(v), n))
    if isinstance(w, Fraction):
        return _numbers.rounded_enough(w, f.precision)
    assert isinstance(w, Dyadic)
    return Dyadic(v.negative, w.m, w.e)


def sign(x: Any, /) -> Any:
    """Returns -1, 0 or 1 as x is negative, zero or positive; NaN for NaN."""
    o = Operands(x)
    a = o.arrays[0]
    kinds = _entries.classes(a)
    z = np.where(kinds == _array._NAN, np.nan, np.where(kinds == _array._ZERO, 0.0, np.where(_entries.negatives(a), -1.0, 1.0)))
    return o.given(array(z, o.format), x)


def copysign(x1: Any, x2: Any, /) -> Any:
    """Returns |x1| with the signs of x2."""
    o = Operands(x1, x2)
    x, y = (v if v.format == o.format else v.astype(o.format) for v in o.arrays)
    return o.given(_entries.where(_entries.negatives(x) == _entries.negatives(y), x, -x, o.format), x1, x2)


def _chosen(x1: Any, x2: Any, order: int) -> Any:
    o = Operands(x1, x2)
    x, y = o.arrays
    c = x._compared(y, lambda z: z)
    nan_first = _entries.classes(x) == _array._NAN
    return o.given(_entries.where((c == order) | (c == 0) | nan_first, x, y, o.format), x1, x2)


def maximum(x1: Any, x2: Any, /) -> Any:
    """Returns the larger of x1 and x2 entry by entry; NaN if one of them is NaN."""
    return _chosen(x1, x2, 1)


def minimum(x1: Any, x2: Any, /) -> Any:
    """Returns the smaller of x1 and x2 entry by entry; NaN if one of them is NaN."""
    return _chosen(x1, x2, -1)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Returns x, where it is below min or above max replaced by them. NaN stays NaN."""
    z = positive(x)
    for bound, choose in ((min, maximum), (max, minimum)):
        if bound is not None:
            z = choose(z, bound)
    return z


def _classified(x: Any, holds: Callable[[np.ndarray], np.ndarray]) -> Any:
    return holds(_entries.classes(Operands(x).arrays[0]))[()]


def isnan(x: Any, /) -> Any:
    """Returns whether entries are NaN, as numpy's truth values."""
    return _classified(x, lambda k: k == _array._NAN)


def isinf(x: Any, /) -> Any:
    """Returns whether entries are infinities, as numpy's truth values."""
    return _classified(x, lambda k: k == _array._INF)


def isfinite(x: Any, /) -> Any:
    """Returns whether entries are neither infinities nor NaN, as numpy's truth values."""
    return _classified(x, lambda k: k < _array._INF)


def signbit(x: Any, /) -> Any:
    """Returns whether entries are negative or -0, as numpy's truth values."""
    return _entries.negatives(Operands(x).arrays[0])[()]


def real(x: Any, /) -> Any:
    """Returns a copy of x: all numbers are real."""
    return positive(x)


conj = real


def imag(x: Any, /) -> Any:
    """Returns zeros: all numbers are real."""
    o = Operands(x)
    return o.given(array(np.zeros(o.arrays[0].shape), o.format), x)


# Quotients and roots of exact numbers.


def _each_pair(x1: Any, x2: Any, one: Callable[[Dyadic, Dyadic, Format], Dyadic], format: FormatLike | None = None) -> Any:
    """Returns the values of a function of pairs of entries, each rounded once."""
    o = Operands(x1, x2, format=format)
    x, y = o.arrays
    shape = _array._common_shape(x.shape, y.shape)
    pairs = zip(_entries.dyadics(x._broadcast(shape)), _entries.dyadics(y._broadcast(shape)), strict=True)
    return o.given(_array.from_dyadics([one(p, q, o.format) for p, q in pairs], shape, o.format), x1, x2)


def _aligned(x: Dyadic, y: Dyadic) -> tuple[int, int, int]:
    """Returns integers m, n and e with x = m 2^e and y = n 2^e."""
    e = min(x.e, y.e)
    if max(x.e, y.e) - e > _entries.MAX_PRECISION:
        raise RangeError("the exact quotient has too many bits: the magnitudes lie too far apart")
    m, n = x.m << (x.e - e), y.m << (y.e - e)
    return -m if x.negative else m, -n if y.negative else n, e


_NO_NUMBER = Dyadic(False, NAN, 0)


def _floor_quotient(x: Dyadic, y: Dyadic, f: Format) -> Dyadic:
    negative = x.negative != y.negative
    if NAN in (x.m, y.m) or x.m == y.m == 0 or x.m == INFINITY and y.m != 0:
        return _NO_NUMBER
    if y.m == 0:
        return Dyadic(negative, INFINITY, 0)
    if x.m == 0 or y.m == INFINITY:
        return Dyadic(negative, int(negative and x.m != 0), 0)
    m, n, _ = _aligned(x, y)
    return Dyadic(negative, operator.abs(m // n), 0)


def _remainder(x: Dyadic, y: Dyadic, f: Format) -> Dyadic:
    if NAN in (x.m, y.m) or x.m == INFINITY or y.m == 0:
        return _NO_NUMBER
    if x.m == 0 or y.m == INFINITY:
        return x._replace(negative=y.negative) if x.m == 0 or x.negative == y.negative else y
    m, n, e = _aligned(x, y)
    return Dyadic(y.negative, operator.abs(m % n), e)


def floor_divide(x1: Any, x2: Any, /, *, format: FormatLike | None = None) -> Any:
    """Returns ⌊x1 / x2⌋ of the exact quotients, each rounded once."""
    return _each_pair(x1, x2, _floor_quotient, format)


def remainder(x1: Any, x2: Any, /, *, format: FormatLike | None = None) -> Any:
    """Returns x1 - x2 ⌊x1 / x2⌋, each rounded once; it has the sign of x2."""
    return _each_pair(x1, x2, _remainder, format)


mod = remainder


def hypot(x1: Any, x2: Any, /) -> Any:
    """Returns √(x1² + x2²) entry by entry, each rounded once."""

    def one(x: Dyadic, y: Dyadic, f: Format) -> Dyadic:
        if INFINITY in (x.m, y.m):
            return Dyadic(False, INFINITY, 0)
        if NAN in (x.m, y.m):
            return _NO_NUMBER
        m, n, e = _aligned(x, y) if x.m and y.m else (x.m or y.m, 0, x.e if x.m else y.e)
        z = _entries.root(Fraction(m * m + n * n), f)
        return Dyadic(False, z.m, z.e + e)

    return _each_pair(x1, x2, one)


# Comparisons: exact, whatever the formats; the results are numpy's truth values.


def _comparison(name: str, compare: Callable[[Any, Any], Any], doc: str) -> Callable[[Any, Any], Any]:
    def function(x1: Any, x2: Any, /) -> Any:
        x, y = (asarray(v) for v in (x1, x2))
        return compare(x, y)[()]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


equal = _comparison("equal", operator.eq, "Returns whether x1 = x2, entry by entry and exactly, whatever the formats.")
not_equal = _comparison("not_equal", operator.ne, "Returns whether x1 ≠ x2, entry by entry and exactly.")
less = _comparison("less", operator.lt, "Returns whether x1 < x2, entry by entry and exactly.")
less_equal = _comparison("less_equal", operator.le, "Returns whether x1 ≤ x2, entry by entry and exactly.")
greater = _comparison("greater", operator.gt, "Returns whether x1 > x2, entry by entry and exactly.")
greater_equal = _comparison("greater_equal", operator.ge, "Returns whether x1 ≥ x2, entry by entry and exactly.")


# Truth values.


def _truth(x: Any) -> Any:
    if isinstance(x, (Array, Scalar)):
        return asarray(x) != 0
    return np.asarray(x)


def _logical(name: str, doc: str) -> Callable[..., Any]:
    def function(*x: Any) -> Any:
        return getattr(np, name)(*map(_truth, x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


logical_and = _logical("logical_and", "Returns whether both operands are true (not 0), as numpy's truth values.")
logical_or = _logical("logical_or", "Returns whether one of the operands is true (not 0), as numpy's truth values.")
logical_xor = _logical("logical_xor", "Returns whether exactly one operand is true (not 0), as numpy's truth values.")
logical_not = _logical("logical_not", "Returns whether the operand is false (0), as numpy's truth values.")


def all(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Returns whether all entries, or all along axes, are true: not 0."""
    return np.all(_truth(x), axis=axis, keepdims=keepdims)


def any(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Returns whether an entry, or one along axes, is true: not 0."""
    return np.any(_truth(x), axis=axis, keepdims=keepdims)


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Returns the entries of x1 where the condition holds, and of x2 elsewhere."""
    if not isinstance(x1, (Array, Scalar)) and not isinstance(x2, (Array, Scalar)):
        return np.where(_truth(condition), x1, x2)
    o = Operands(x1, x2)
    x, y = o.arrays
    return o.given(_entries.where(_truth(condition), x, y, o.format), x1, x2)


def fma(x1: Any, x2: Any, x3: Any, /) -> Any:
    """Returns x1 x2 + x3 entry by entry, each rounded once."""
    o = Operands(x1, x2, x3)
    x, y, z = o.arrays
    shape = _array._common_shape(_array._common_shape(x.shape, y.shape), z.shape)
    x, y, z = (v._broadcast(shape).ravel() for v in (x, y, z))
    results = []
    for p, q, r in zip(x.tolist(), y.tolist(), z.tolist(), strict=True):
        results.append(Scalar._of(library().scalar_fma(p._handle, q._handle, r._handle, o.format.code), o.format))
    if not results:
        return o.given(array(np.zeros(shape), o.format), x1, x2, x3)
    return o.given(array(results, o.format).reshape(shape), x1, x2, x3)
