"""Functions of numbers, entry by entry, under the names of the Array API."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from . import _array, _entries, _numbers
from ._array import Array, Scalar, array, asarray, elementwise
from ._format import Format, FormatLike, promoted
from ._library import MisuseError, RangeError, call, library
from ._numbers import INFINITY, NAN, Dyadic
from ._routines import Operands

# The largest magnitude of an exponent in pow: the exact power has up to this many times the bits of
# its base.
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
    if _array.discrete(x):
        return np.array(x)[()]
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

    Other exponents are an error, unless the power is 0, 1, an infinity or NaN by the rules of IEEE 754:
    0 ** 0.5, inf ** -0.5, (-2) ** 0.5, 1 ** nan, 0.5 ** inf and the like.

    >>> import halfulp as hp
    >>> hp.pow(hp.array([3, "0.5"], "mp:80"), -2)
    array([0.11111111, 4], 'mp:80')
    """
    o = Operands(x1)
    if isinstance(x2, (Array, Scalar)):
        o.plain = False
    f = x2.format if isinstance(x2, (Array, Scalar)) and type(x1) in (int, float) else power_format(o.format, x2)
    o.format = f
    return o.given(power(o.arrays[0], x2, f), x1, x2)


def power_format(f: Format, exponent: Any) -> Format:
    """Returns the format of powers of a base of format f. Integers of Python and numpy leave it."""
    if isinstance(exponent, (Array, Scalar)):
        return promoted(f, exponent.format)
    if isinstance(exponent, (np.ndarray, np.generic)) and exponent.dtype in (np.float32, np.float64):
        return promoted(f, Format(exponent.dtype))
    return f


def power(a: Array, exponent: Any, f: Format) -> Array:
    """Returns the powers a ** exponent, each rounded once to a format."""
    exponents, others = _exponents(exponent)
    shape = _array._common_shape(a.shape, exponents.shape)
    z: Array | None = None
    for n in np.unique(exponents).tolist():
        p = _whole_power(a, n, f)
        z = p if z is None else _entries.where(exponents == n, p, z, f)
    if z is None:
        return array(np.zeros(shape), f)
    z = z._broadcast(shape)
    if not any(others != None):  # noqa: E711 - entry by entry
        return z
    pairs = zip(_entries.dyadics(a._broadcast(shape)), np.broadcast_to(others, shape).reshape(-1), strict=True)
    limits = [Dyadic(False, 0, 0) if y is None else _limit(v, y) for v, y in pairs]
    return _entries.where(np.broadcast_to(others != None, shape), _array.from_dyadics(limits, shape, f), z, f)  # noqa: E711


def _exponents(exponent: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns the exponents as integers; and those that are none, or too large, whose integer is 0."""
    given = np.empty(np.shape(exponent), object)
    given[...] = np.asarray(exponent, object)
    whole, others = np.zeros(given.shape, np.int64), np.full(given.shape, None, object)
    for k, x in np.ndenumerate(given):
        try:
            v = _numbers.exact(x)
        except TypeError:
            v = ""
        if isinstance(v, str):
            raise MisuseError(f"the exponent {x!r} is no number")
        zeros = (v.m & -v.m).bit_length() - 1 if isinstance(v, Dyadic) and v.m > 0 else 0
        if isinstance(v, Dyadic) and v.m > 0 and v.e + zeros >= 0 and v.m.bit_length() + v.e <= _LARGEST_EXPONENT.bit_length():
            n = (v.m >> zeros) << (v.e + zeros)
            whole[k] = -n if v.negative else n
        if isinstance(v, Fraction) or v.m < 0 or v.m > 0 and (whole[k] == 0 or operator.abs(whole[k]) > _LARGEST_EXPONENT):
            whole[k], others[k] = 0, v
    return whole, others


def _limit(x: Dyadic, y: Dyadic | Fraction) -> Dyadic:
    """Returns x ** y where that is 0, 1, an infinity or NaN whatever the digits of x and y; y is not 0.

    These are the special cases of IEEE 754's pow and of the Array API.
    """
    if isinstance(y, Fraction):  # with a denominator that is no power of two
        y = Dyadic(y < 0, 1, -1)
    magnitude = _entries.fraction(Dyadic(False, x.m, x.e)) if x.m > 0 and -2 < x.m.bit_length() + x.e < 3 else None
    if magnitude == 1 and not x.negative:
        return Dyadic(False, 1, 0)
    if NAN in (x.m, y.m):
        return _NO_NUMBER
    if y.m == INFINITY:
        if magnitude == 1:
            return Dyadic(False, 1, 0)
        large = x.m == INFINITY or x.m > 0 and x.m.bit_length() + x.e > 0
        return Dyadic(False, INFINITY if large != y.negative else 0, 0)
    zeros = (y.m & -y.m).bit_length() - 1
    integer, odd = y.e + zeros >= 0, y.e + zeros == 0
    if x.m in (0, INFINITY):
        return Dyadic(x.negative and odd, INFINITY if (x.m == INFINITY) != y.negative else 0, 0)
    if x.negative and not integer:
        return _NO_NUMBER
    if magnitude == 1:  # -1
        return Dyadic(odd, 1, 0)
    if integer:
        raise MisuseError(f"exponents of powers are at most {_LARGEST_EXPONENT} in magnitude")
    raise MisuseError("powers with exponents that are no integers are not computed")


def _whole_power(a: Array, n: int, f: Format) -> Array:
    one = asarray(Scalar(1.0))
    if n in (0, 1):
        return array(np.ones(a.shape), f) if n == 0 else a if a.format == f else a.astype(f)
    if n == 2:
        return elementwise("mul", a, a, f)
    if n == -1:
        return elementwise("div", one, a, f)
    # The n-th power of a number of p bits has at most |n| p bits. The first and the last bit of an
    # expansion are at most 2098 bits apart.
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
    if _array.discrete(x):
        return np.array(x)[()]
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
    """Returns the integers nearest to x, ties to even; or x rounded to the given number of decimals.

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
    if _array.discrete(x):
        return np.sign(x)
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
    if _array.all_discrete(x1, x2):
        return (np.maximum if order > 0 else np.minimum)(x1, x2)
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


# Comparisons: exact, whatever the formats; the results are numpy's booleans.


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


# Booleans.


def _truth(x: Any) -> Any:
    if isinstance(x, (Array, Scalar)):
        return asarray(x) != 0
    return np.asarray(x)


def logical_and(x1: Any, x2: Any, /) -> Any:
    """Returns whether both operands are true (not 0), as numpy's truth values."""
    return np.logical_and(_truth(x1), _truth(x2))


def logical_or(x1: Any, x2: Any, /) -> Any:
    """Returns whether one of the operands is true (not 0), as numpy's truth values."""
    return np.logical_or(_truth(x1), _truth(x2))


def logical_xor(x1: Any, x2: Any, /) -> Any:
    """Returns whether exactly one operand is true (not 0), as numpy's truth values."""
    return np.logical_xor(_truth(x1), _truth(x2))


def logical_not(x: Any, /) -> Any:
    """Returns whether the operand is false (0), as numpy's truth values."""
    return np.logical_not(_truth(x))


# Bitwise operations on numpy's integers and booleans.


def _bitwise(name: str, x1: Any, x2: Any) -> Any:
    for v in (x1, x2):
        if not _array.discrete(v) and not isinstance(v, int):
            raise TypeError(f"{name} is a function of integers and truth values, not of {type(v).__name__}")
    return getattr(np, name)(x1, x2)


def bitwise_and(x1: Any, x2: Any, /) -> Any:
    """Returns the bits that both of numpy's integers or truth values have."""
    return _bitwise("bitwise_and", x1, x2)


def bitwise_or(x1: Any, x2: Any, /) -> Any:
    """Returns the bits that one of numpy's integers or truth values has."""
    return _bitwise("bitwise_or", x1, x2)


def bitwise_xor(x1: Any, x2: Any, /) -> Any:
    """Returns the bits that exactly one of numpy's integers or truth values has."""
    return _bitwise("bitwise_xor", x1, x2)


def bitwise_left_shift(x1: Any, x2: Any, /) -> Any:
    """Returns numpy's integers with their bits shifted to the left."""
    return _bitwise("left_shift", x1, x2)


def bitwise_right_shift(x1: Any, x2: Any, /) -> Any:
    """Returns numpy's integers with their bits shifted to the right."""
    return _bitwise("right_shift", x1, x2)


def bitwise_invert(x: Any, /) -> Any:
    """Returns numpy's integers or truth values with all bits inverted."""
    if not _array.discrete(x):
        raise TypeError(f"bitwise_invert is a function of integers and truth values, not of {type(x).__name__}")
    return np.invert(x)


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
