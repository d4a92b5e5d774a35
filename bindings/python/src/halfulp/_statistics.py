"""Statistics, products and order of the entries of arrays, along axes."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from . import _array, _entries, _numbers
from ._array import Array, Scalar, array, asarray, split
from ._format import Format, FormatLike
from ._library import MisuseError, call, free, library
from ._numbers import INFINITY, NAN, Dyadic
from ._routines import Operands, _axes, _vector, matmul

_NO_NUMBER = Dyadic(False, NAN, 0)


def _along(o: Operands, a: Array, axis: Any, keepdims: bool, one: Callable[[Array], Dyadic]) -> Any:
    """Applies a function of vectors along axes; its values are rounded once."""
    axes = _axes(axis, a.ndim)
    kept = tuple(k for k in range(a.ndim) if k not in axes)
    shape = tuple(a.shape[k] for k in kept)
    shown = tuple(1 if k in axes else a.shape[k] for k in range(a.ndim)) if keepdims else shape
    inner = math.prod(a.shape[k] for k in axes)
    rows = a._moved(lambda n: n.transpose(kept + axes).reshape(math.prod(shape), inner))
    values = [one(row) for row in split(rows)]
    z = _array.from_dyadics(values, shown, o.format)
    return o.plainly(z) if shown else o.scalar(library().matrix_entry(z._handle, 0, 0))


def _rounding(v: Fraction, f: Format) -> Dyadic:
    """Returns a number m 2^e that rounds to a format as a fraction does."""
    w = _numbers.exact(v)
    if isinstance(w, Fraction):
        return _numbers.rounded_enough(w, f.precision)
    assert isinstance(w, Dyadic)
    return w


def _sum_of_products(x: Array, y: Array | None = None) -> Fraction:
    """Returns Σ x_i y_i, or Σ x_i, of finite entries, exactly."""
    low, high = _entries.span(x)
    bits = high - low + x.size.bit_length() + 2
    if y is not None:
        if y is not x:
            low, high = _entries.span(y)
        bits += high - low
    f = _entries.holding(bits)
    h = call("sum", x._handle, f.code) if y is None else call("dot", x._handle, y._handle, f.code)
    return Fraction(*Scalar._of(h, f).as_integer_ratio())


def _moment(x: Array, y: Array) -> Fraction:
    """Returns n Σ x_i y_i - Σ x_i Σ y_i = n Σ (x_i - mean x)(y_i - mean y), exactly."""
    product = _sum_of_products(x, y)
    s = _sum_of_products(x)
    return x.size * product - s * (s if x is y else _sum_of_products(y))


def _finite(a: Array) -> bool:
    return bool((_entries.classes(a) < _array._INF).all())


def _spread(x: Any, axis: Any, correction: Any, keepdims: bool, format: Any, prec: Any, finish: Callable[[Fraction, Format], Dyadic]) -> Any:
    o = Operands(x, format=format, prec=prec)
    c = _fraction_of(correction)

    def one(v: Array) -> Dyadic:
        n = v.size
        if n == 0 or not _finite(v):
            return _NO_NUMBER
        total, divisor = _moment(v, v) / n, n - c
        if divisor <= 0:
            return Dyadic(False, INFINITY, 0) if total > 0 else _NO_NUMBER
        return finish(total / divisor, o.format)

    return _along(o, o.arrays[0], axis, keepdims, one)


def _fraction_of(correction: Any) -> Fraction:
    try:
        return Fraction(correction)
    except (TypeError, ValueError, OverflowError):
        raise MisuseError(f"the correction {correction!r} is no finite number") from None


def _correction(ddof: Any, correction: Any) -> Any:
    if ddof is not None and correction is not None:
        raise MisuseError("give ddof= or correction=, which are the same, not both")
    return 0 if ddof is None and correction is None else ddof if correction is None else correction


def var(x: Any, /, axis: Any = None, *, keepdims: bool = False, ddof: Any = None, correction: Any = None, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the variance Σ (x_i - m)²/(n - ddof), rounded once; m is the exact mean.

    ddof, which the Array API calls correction, is 0 without it. NaN for infinities and NaN.

    >>> import halfulp as hp
    >>> print(hp.var([1e15 + 1, 1e15 + 2, 1e15 + 3], ddof=1))
    1.0
    """
    return _spread(x, axis, _correction(ddof, correction), keepdims, format, prec, _rounding)


def std(x: Any, /, axis: Any = None, *, keepdims: bool = False, ddof: Any = None, correction: Any = None, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the standard deviation √(Σ (x_i - m)²/(n - ddof)), rounded once; m is the exact mean.

    ddof, which the Array API calls correction, is 0 without it: 1 gives the sample standard deviation.
    """
    c = _correction(ddof, correction)
    if c == 1:
        from ._routines import _reduced

        return _reduced("stddev", x, axis, keepdims, format, prec)
    return _spread(x, axis, c, keepdims, format, prec, _entries.root)


def _variables(m: Any, y: Any, rowvar: bool, o: Operands) -> list[Array]:
    rows: list[Array] = []
    for a in o.arrays:
        if a.ndim > 2:
            raise MisuseError("variables are the rows, or columns, of a matrix")
        a = a.reshape(1, -1) if a.ndim < 2 else a if rowvar else a.T
        rows += split(a)
    if len({r.size for r in rows}) > 1:
        raise MisuseError("variables have different numbers of observations")
    return rows


def _table(rows: list[Array], f: Format, one: Callable[[int, int], Dyadic]) -> Array:
    """Returns a symmetric matrix of the values of a function of two indices."""
    n = len(rows)
    upper = {(i, j): one(i, j) for i in range(n) for j in range(i, n)}
    entries = [upper[(i, j) if i <= j else (j, i)] for i in range(n) for j in range(n)]
    return _array.from_dyadics(entries, () if n == 1 else (n, n), f)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the covariances Σ (x_i - mean x)(y_i - mean y)/(n - ddof) of the rows of m and y, each rounded once.

    With rowvar False the variables are the columns. ddof is 1 without it, 0 with bias. numpy.cov.
    """
    o = Operands(m, format=format, prec=prec) if y is None else Operands(m, y, format=format, prec=prec)
    rows = _variables(m, y, rowvar, o)
    c = _fraction_of((0 if bias else 1) if ddof is None else ddof)
    finite = [_finite(r) for r in rows]

    def one(i: int, j: int) -> Dyadic:
        n = rows[i].size
        if n == 0 or n - c <= 0 or not (finite[i] and finite[j]):
            return _NO_NUMBER
        return _rounding(_moment(rows[i], rows[j]) / (n * (n - c)), o.format)

    return o.given(_table(rows, o.format, one), m)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns Pearson's correlation coefficients of the rows of x and y, each rounded once: numpy.corrcoef.

    NaN for variables that are constant.
    """
    o = Operands(x, format=format, prec=prec) if y is None else Operands(x, y, format=format, prec=prec)
    rows = _variables(x, y, rowvar, o)
    finite = [_finite(r) for r in rows]
    variances = [_moment(r, r) if ok and r.size else Fraction(0) for r, ok in zip(rows, finite, strict=True)]

    def one(i: int, j: int) -> Dyadic:
        if not variances[i] or not variances[j]:
            return _NO_NUMBER
        c = _moment(rows[i], rows[j])
        z = _entries.root(c * c / (variances[i] * variances[j]), o.format)
        return Dyadic(c < 0, z.m, z.e)

    return o.given(_table(rows, o.format, one), x)


def autocorr1(x: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the lag-1 autocorrelation coefficient Σ (x_i - m)(x_{i+1} - m)/Σ (x_i - m)² of a vector, rounded once.

    m is the exact mean. This is the coefficient of NIST's statistical reference data sets.
    """
    o = Operands(x, format=format, prec=prec)
    return o.scalar(call("autocorr1", _vector(o.arrays[0], "x")._handle, o.format.code))


def prod(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the product of all entries, or along axes, rounded once; 1 for no entries.

    >>> import halfulp as hp
    >>> print(hp.prod([1e200, 1e200, 1e-300, 1e-100]))
    1.0
    """
    o = Operands(x, format=format if dtype is None else dtype, prec=prec)

    def one(v: Array) -> Dyadic:
        entries = _entries.dyadics(v)
        negative = functools.reduce(operator.xor, (e.negative for e in entries), False)
        kinds = {e.m for e in entries if e.m <= 0}
        if NAN in kinds or {0, INFINITY} <= kinds:
            return _NO_NUMBER
        if kinds:
            return Dyadic(negative, kinds.pop(), 0)
        return Dyadic(negative, _product([e.m for e in entries]), sum(e.e for e in entries))

    return _along(o, o.arrays[0], axis, keepdims, one)


def _product(values: list[int]) -> int:
    """Returns the product of integers, of halves of the list first: they are of one size."""
    while len(values) > 1:
        values = [math.prod(values[i : i + 2]) for i in range(0, len(values), 2)]
    return values[0] if values else 1


def cumsum(x: Any, /, axis: Any = None, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the sums x_1 + ... + x_i along an axis, each the exact one rounded once.

    Without an axis the entries are put in one dimension first, as in numpy.
    """
    o = Operands(x, format=format, prec=prec)
    a = o.arrays[0]
    if axis is None:
        a, axis = a.ravel(), 0
    (k,) = _axes(operator.index(axis), a.ndim)
    moved = a._moved(lambda n: np.moveaxis(n, k, -1))
    if not moved.size:
        return o.plainly(a.astype(o.format))
    rows = moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])
    z = [Array._of(call("cumsum", r._handle, o.format.code), r.shape, o.format) for r in split(rows)]
    parts = tuple(np.stack(p) for p in zip(*(v._parts() for v in z), strict=True))
    joined = _array.from_parts(parts, o.format, rows.shape).reshape(moved.shape)
    return o.plainly(joined._moved(lambda n: np.moveaxis(n, -1, k)))


def cumulative_sum(x: Any, /, axis: int | None = None, *, dtype: Any = None, include_initial: bool = False) -> Any:
    """Returns cumsum(x) under the name of the Array API; with include_initial a 0 comes first."""
    if axis is None:
        if np.ndim(x) != 1:
            raise MisuseError("an array of several dimensions needs an axis")
        axis = 0
    z = cumsum(x, axis, format=dtype)
    if not include_initial:
        return z
    from ._creation import zeros_like
    from ._shapes import concat, take

    start = z if np.shape(z)[axis] else None
    if start is None:
        raise MisuseError("include_initial of no entries is not supported")
    return concat([zeros_like(take(z, [0], axis=axis)), z], axis=axis)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Returns the products x_1 ... x_i along an axis, each the exact one rounded once.

    With include_initial a 1 comes first.
    """
    o = Operands(x, format=dtype)
    a = o.arrays[0]
    if axis is None and a.ndim != 1:
        raise MisuseError("an array of several dimensions needs an axis")
    (k,) = _axes(0 if axis is None else operator.index(axis), a.ndim)
    moved = a._moved(lambda n: np.moveaxis(n, k, -1))
    n = moved.shape[-1]
    values: list[Dyadic] = []
    for row in split(moved.reshape(math.prod(moved.shape[:-1]), n)):
        products = [Dyadic(False, 1, 0)]
        for e in _entries.dyadics(row):
            products.append(_times(products[-1], e))
        values += products if include_initial else products[1:]
    shape = (*moved.shape[:-1], n + include_initial)
    return o.plainly(_array.from_dyadics(values, shape, o.format)._moved(lambda v: np.moveaxis(v, -1, k)))


def _times(x: Dyadic, y: Dyadic) -> Dyadic:
    negative = x.negative != y.negative
    kinds = {v.m for v in (x, y) if v.m <= 0}
    if NAN in kinds or {0, INFINITY} <= kinds:
        return _NO_NUMBER
    return Dyadic(negative, kinds.pop(), 0) if kinds else Dyadic(negative, x.m * y.m, x.e + y.e)


def diff(x: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the n-th differences along an axis, each Σ (-1)^(n-k) C(n, k) x_{i+k} rounded once."""
    from ._shapes import concat

    parts = [v for v in (prepend, x, append) if v is not None]
    if len(parts) > 1:
        x = concat(parts, axis=axis)
    o = Operands(x, format=format, prec=prec)
    a = o.arrays[0]
    (k,) = _axes(operator.index(axis), a.ndim)
    order = operator.index(n)
    if order < 0:
        raise MisuseError(f"the order of the differences is {order}: it is at least 0")
    size = a.shape[k]
    count = size - order if size > order else 0
    steps = np.zeros((size, count))
    for i in range(count):
        for j in range(order + 1):
            steps[i + j, i] = (-1) ** (order - j) * math.comb(order, j)
    if order > 50:
        raise MisuseError("differences of orders above 50 are not computed")
    z = asarray(matmul(a._moved(lambda v: np.moveaxis(v, k, -1)), asarray(steps).placed(o.device), format=o.format))
    return o.plainly(z._moved(lambda v: np.moveaxis(v, -1, k)))


# Order.


def _order(x: Any) -> np.ndarray:
    """Returns numbers in the order of the entries; NaN for NaN, equal ones for equal ones."""
    if _array.discrete(x):
        return np.asarray(np.unique(x, return_inverse=True)[1]).reshape(np.shape(x))
    return _entries.ranks(Operands(x).arrays[0])


def _extreme(x: Any, axis: Any, keepdims: bool, largest: bool) -> Any:
    if _array.discrete(x) and np.size(x):
        return (np.max if largest else np.min)(x, axis=axis, keepdims=keepdims)
    o = Operands(x)
    a = o.arrays[0]
    axes = _axes(axis, a.ndim)
    inner = math.prod(a.shape[k] for k in axes)
    if inner == 0:
        raise MisuseError("the largest and smallest of no entries are not defined")
    kept = tuple(k for k in range(a.ndim) if k not in axes)
    shape = tuple(a.shape[k] for k in kept)
    order = _entries.ranks(a).transpose(kept + axes).reshape(*shape, inner)
    at = np.asarray((np.argmax if largest else np.argmin)(order, axis=-1))  # the first NaN, if there is one
    rows = a._moved(lambda n: np.take_along_axis(n.transpose(kept + axes).reshape(*shape, inner), at[..., None], -1)[..., 0])
    if keepdims:
        rows = rows.reshape(tuple(1 if k in axes else a.shape[k] for k in range(a.ndim)))
    return o.given(rows)


def max(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Returns the largest entry, or the largest ones along axes; NaN if one of them is NaN."""
    return _extreme(x, axis, keepdims, True)


def min(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Returns the smallest entry, or the smallest ones along axes; NaN if one of them is NaN."""
    return _extreme(x, axis, keepdims, False)


amax, amin = max, min


def argmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Returns the index of the largest entry, of the first one of several, as numpy's integers."""
    return np.argmax(_order(x), axis=axis, keepdims=keepdims)


def argmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Returns the index of the smallest entry, of the first one of several, as numpy's integers."""
    return np.argmin(_order(x), axis=axis, keepdims=keepdims)


def argsort(x: Any, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Any:
    """Returns the indices that sort entries along an axis, NaN last; equal entries keep their order."""
    order = _order(x)
    if descending:
        order = np.where(np.isnan(order), np.nan, -order)
    return np.argsort(order, axis=axis, kind="stable")


def sort(x: Any, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Any:
    """Returns the entries in order along an axis, NaN last."""
    if _array.discrete(x):
        return np.take_along_axis(x, argsort(x, axis=axis, descending=descending), axis)
    o = Operands(x)
    at = argsort(x, axis=axis, descending=descending)
    return o.plainly(o.arrays[0]._moved(lambda n: np.take_along_axis(n, at, axis)))


def nonzero(x: Any, /) -> Any:
    """Returns the indices of the entries that are not 0, for each dimension."""
    return np.nonzero(_entries.classes(Operands(x).arrays[0]) != _array._ZERO)


def count_nonzero(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Returns how many entries are not 0."""
    return np.count_nonzero(_entries.classes(Operands(x).arrays[0]) != _array._ZERO, axis=axis, keepdims=keepdims)


def searchsorted(x1: Any, x2: Any, /, side: Any = "left", sorter: Any = None) -> Any:
    """Returns the indices where entries of x2 would be inserted into the sorted vector x1."""
    x, y = asarray(x1), asarray(x2)
    together = _entries.ranks(array([*x.ravel().tolist(), *y.ravel().tolist()]) if x.size + y.size else x)
    return np.searchsorted(together[: x.size], together[x.size :].reshape(y.shape), side=side, sorter=sorter)


class UniqueAll(NamedTuple):
    """The different entries in order, where they come first, where they are, and how often."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """The different entries in order, and how often they come."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """The different entries in order, and the index among them of each entry."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /) -> UniqueAll:
    """Returns the different entries in order, where they come first, where they are, and how often. No NaN is equal to another."""
    if _array.discrete(x):
        values, at, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        return UniqueAll(values, at, inverse.reshape(np.shape(x)), counts)
    o = Operands(x)
    a = o.arrays[0]
    _, at, inverse, counts = np.unique(_entries.ranks(a).reshape(-1), return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    return UniqueAll(o.plainly(a._moved(lambda n: n.reshape(-1)[at])), at, inverse.reshape(a.shape), counts)


def unique_values(x: Any, /) -> Any:
    """Returns the different entries in order."""
    return unique_all(x).values


def unique_counts(x: Any, /) -> UniqueCounts:
    """Returns the different entries in order, and how often they come."""
    z = unique_all(x)
    return UniqueCounts(z.values, z.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Returns the different entries in order, and the index among them of each entry."""
    z = unique_all(x)
    return UniqueInverse(z.values, z.inverse_indices)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Returns for each entry of x1 whether it is an entry of x2, as an array of numpy's truth values."""
    x, y = asarray(x1), asarray(x2)
    if not x.size or not y.size:
        return np.full(x.shape, invert)
    values = array([*x.ravel().tolist(), *y.ravel().tolist()])
    together = _entries.ranks(values)
    return np.isin(together[: x.size].reshape(x.shape), together[x.size :], invert=invert)
