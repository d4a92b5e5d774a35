"""Entries of arrays as exact numbers: values, signs, order, and the bits that exact sums need."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from . import _array, _numbers
from ._array import Array
from ._format import Format, mp
from ._library import RangeError
from ._numbers import INFINITY, NAN, Dyadic

# The largest precision P of a format mp:P.
MAX_PRECISION = 1 << 20


def dyadics(a: Array) -> list[Dyadic]:
    """Returns the entries, in the order of rows, as numbers m 2^e."""
    parts = a._parts()
    f = a.format
    if f.dtype is not None:
        return [_numbers._from_float(x) for x in parts[0].reshape(-1).tolist()]
    if f.terms:
        return [_sum_of_terms(row) for row in parts[0].reshape(-1, f.terms).tolist()]
    limbs, exponents, signs, classes = parts
    words = limbs.shape[-1]
    raw = limbs.astype("<u8").tobytes()
    unused = 64 * words - f.precision  # zeros below the significand
    z = []
    for i, (e, sign, kind) in enumerate(zip(exponents.reshape(-1).tolist(), signs.reshape(-1).tolist(), classes.reshape(-1).tolist(), strict=True)):
        if kind == _array._FINITE:
            m = int.from_bytes(raw[8 * words * i : 8 * words * (i + 1)], "little") >> unused
            z.append(Dyadic(sign < 0, m, e - f.precision))
        elif kind == _array._NAN:
            z.append(Dyadic(False, NAN, 0))
        else:
            z.append(Dyadic(sign < 0, INFINITY if kind == _array._INF else 0, 0))
    return z


def _sum_of_terms(terms: list[float]) -> Dyadic:
    head = _numbers._from_float(terms[0])
    if head.m in (INFINITY, NAN, 0):
        return head
    total = sum((Fraction(t) for t in terms[1:]), Fraction(terms[0]))
    return Dyadic(total < 0, abs(total.numerator), 1 - total.denominator.bit_length())


def mapped(a: Array, f: Format, function: Callable[[Dyadic], Dyadic]) -> Array:
    """Returns the array of the values of a function, each rounded once to a format."""
    return _array.from_dyadics([function(v) for v in dyadics(a)], a.shape, f)


def negatives(a: Array) -> np.ndarray:
    """Returns whether each entry is negative or -0; False for NaN of mp formats."""
    parts = a._parts()
    if a.format.dtype is not None:
        return np.asarray(np.signbit(parts[0]))
    if a.format.terms:
        return np.asarray(np.signbit(parts[0][..., 0]))
    return np.asarray((parts[2] < 0) & (parts[3] != _array._NAN))


def classes(a: Array) -> np.ndarray:
    """Returns the class of each entry: 0 zero, 1 finite, 2 infinite, 3 NaN."""
    parts = a._parts()
    if len(parts) == 4:
        return parts[3]
    first = parts[0] if a.format.dtype is not None else parts[0][..., 0]
    kinds = [np.isnan(first), np.isinf(first), first == 0]
    return np.asarray(np.select(kinds, [_array._NAN, _array._INF, _array._ZERO], _array._FINITE)).astype(np.uint8)


def ranks(a: Array) -> np.ndarray:
    """Returns numbers of numpy in the order of the entries; NaN for NaN, equal ones for equal ones."""
    if a.format.dtype is not None:
        return a._parts()[0]
    entries = dyadics(a)
    width = max((v.m.bit_length() for v in entries if v.m > 0), default=0)

    def key(v: Dyadic) -> tuple[int, float, int]:
        sign = -1 if v.negative else 1
        if v.m == INFINITY:
            return sign, sign * math.inf, 0
        if v.m == 0:
            return 0, 0, 0
        bits = v.m.bit_length()
        return sign, sign * (bits + v.e), sign * (v.m << (width - bits))

    keys = [key(v) if v.m != NAN else None for v in entries]
    place = {k: i for i, k in enumerate(sorted({k for k in keys if k is not None}))}
    z = np.array([math.nan if k is None else place[k] for k in keys], float)
    return z.reshape(a.shape)


def where(condition: Any, x: Array, y: Array, f: Format) -> Array:
    """Returns entries of x where a condition holds and of y elsewhere, rounded once to a format."""
    c = np.asarray(condition)
    shape = np.broadcast_shapes(c.shape, x.shape, y.shape)
    c = np.broadcast_to(c, shape)
    x, y = (v if v.format == f else v.astype(f) for v in (x, y))
    parts = []
    for p, q in zip(x._broadcast(shape)._parts(), y._broadcast(shape)._parts(), strict=True):
        parts.append(np.where(c.reshape(shape + (1,) * (p.ndim - c.ndim)), p, q))
    return _array.from_parts(tuple(parts), f, shape)


def span(a: Array) -> tuple[int, int]:
    """Returns integers low ≤ high such that each finite entry is a multiple of 2^low below 2^high."""
    if a.format.dtype is not None or a.format.terms:
        data = np.abs(a._parts()[0])
        data = data[np.isfinite(data) & (data > 0)]
        if not data.size:
            return 0, 0
        digits = 24 if a.format.kind == "f32" else 53
        low = int(np.frexp(data.min())[1]) - digits
        return low, int(np.frexp(data.max())[1]) + 1  # terms may add up to a power of two
    _, exponents, _, kinds = a._parts()
    exponents = exponents[kinds == _array._FINITE]
    if not exponents.size:
        return 0, 0
    return int(exponents.min()) - a.format.precision, int(exponents.max())


def holding(bits: int) -> Format:
    """Returns the mp format with enough bits for an exact sum or product."""
    if bits > MAX_PRECISION:
        raise RangeError(f"the exact value needs {bits} bits, more than the {MAX_PRECISION} of the widest format: the magnitudes lie too far apart")
    return mp(max(bits, 2))


def exact_product_format(factors: list[Array]) -> Format:
    """Returns a format in which the product of matrices or vectors, and its partial sums, are exact."""
    low = high = 0
    for i, a in enumerate(factors):
        least, largest = span(a)
        inner = a.shape[0] if i and a.ndim else 1
        low, high = low + least, high + largest + max(inner, 1).bit_length()
    if low < -(2**31) or high >= 2**31:
        raise RangeError("the exact product is beyond the exponents of every format")
    return holding(high - low + 1)


def fraction(v: Dyadic) -> Fraction:
    """Returns a finite number as a fraction."""
    m = -v.m if v.negative else v.m
    return Fraction(m << v.e) if v.e >= 0 else Fraction(m, 1 << -v.e)


def root(x: Fraction, f: Format) -> Dyadic:
    """Returns a number m 2^e that rounds to a format as √x does, x ≥ 0.

    The last bit of m is 1 where √x has more bits. After k bits of √x at most k + log2(denominator)
    zeros follow, or ones, so the terms of an expansion are within the bits taken for its format.
    """
    p, q = x.numerator, x.denominator
    if p == 0:
        return Dyadic(False, 0, 0)
    bits = f.precision + 8 if not f.terms else 2**f.terms * (2 * f.precision + p.bit_length() + q.bit_length() + 64)
    # √(p/q) = √(p 4^s / q) 2^-s.
    s = bits - (p.bit_length() - q.bit_length()) // 2
    shifted, rest = divmod(p << 2 * s, q) if s >= 0 else divmod(p, q << -2 * s)
    m = math.isqrt(shifted)
    inexact = bool(rest) or m * m != shifted
    return Dyadic(False, 2 * m + inexact, -s - 1)
