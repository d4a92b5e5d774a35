"""Making arrays, under the names of numpy and the Array API."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from . import _array, _dlpack, _numbers
from ._array import Array, Scalar
from ._format import Format, FormatLike, asked, float64, promoted
from ._library import MisuseError, library
from ._numbers import Dyadic
from ._routines import Operands, _vector


def _chosen(format: Any, dtype: Any) -> Any:
    """Returns the format, or numpy's type of integers or truth values, of format= or dtype=."""
    if format is not None and dtype is not None:
        raise MisuseError("give format= or dtype=, which are the same, not both")
    wanted = format if dtype is None else dtype
    if wanted is None:
        return None
    integers = _array._integers(wanted)
    return integers if integers is not None else Format(wanted)


def _made(data: Any, format: Any, dtype: Any, device: Any, default: Format | None = float64) -> Any:
    f = _chosen(format, dtype) or default
    if isinstance(f, np.dtype):
        if device not in (None, "cpu"):
            raise MisuseError("arrays of integers and truth values live on the host")
        return np.asarray(data).astype(f)
    return _array.array(data, f, device=device)


def array(data: Any, format: Any = None, *, dtype: Any = None, prec: int | None = None, device: str | None = None, copy: bool | None = True) -> Any:
    """Returns an array with the numbers of data, each rounded once to a format.

    data: a number, nested lists, or an array of numpy, mpmath or python-flint. Numbers may be of
        Python, numpy, mpmath, gmpy2, python-flint, Fraction, Decimal, Scalar, or texts.
    format: a format, such as "mp:424"; prec=424 is the same. Without a format the result has one that
        holds all numbers exactly: float64 (float32 for arrays of it), or a wider one. Numbers that no
        format holds, such as Fraction(1, 3), are an error then.
    dtype: another name of format. With a type of integers or truth values of numpy the result is a
        numpy array.
    device: where the array lives: "cpu" or "cuda:N".
    copy: False is an error where the numbers have to be copied.

    >>> import halfulp as hp
    >>> hp.array([2**53 + 1, 0.5])
    array([9007199254740993, 0.5], 'mp:54')
    >>> hp.array("0.1", "mp:100").item().hex()
    '0x1.999999999999999999999999ap-4'
    """
    f = _chosen(format, dtype)
    if isinstance(f, np.dtype):
        return data.astype(f) if isinstance(data, Array) else np.array(data, f, copy=copy)
    f = asked(f, prec)
    if not copy and isinstance(data, Array) and f in (None, data.format) and device in (None, data.device):
        return data
    if not copy and _array._is_tensor(data):
        a = _dlpack.from_dlpack(data, device=device, copy=copy)
        if f in (None, a.format):
            return a
        if copy is None:
            return a.astype(f)
    if copy is False:
        raise ValueError("the numbers cannot be used without a copy")
    return _array.array(data, f, device=device)


def _truth_values(data: Any) -> bool:
    """Reports whether nested lists, or an array of numpy, hold nothing but truth values."""
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and all(map(_truth_values, data))
    return isinstance(data, (bool, np.bool_)) or isinstance(data, np.ndarray) and data.dtype == np.bool_ and not isinstance(data, np.ma.MaskedArray)


def asarray(x: Any, /, format: Any = None, *, dtype: Any = None, prec: int | None = None, device: str | None = None, copy: bool | None = None) -> Any:
    """Returns x itself if it is an Array of the format and place, else array(x, format).

    Truth values alone make an array of numpy, as in the Array API, if no format is requested. A tensor of PyTorch, CuPy or any other producer of DLPack is used without a copy where from_dlpack
    does.
    """
    if format is None and dtype is None and prec is None and device in (None, "cpu") and _truth_values(x):
        return np.array(x, np.bool_, copy=copy)
    return array(x, format, dtype=dtype, prec=prec, device=device, copy=copy)


def zeros(shape: Any, *, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns an array of zeros, in float64 without a format.

    dtype= is another name of format= here and in the functions below; with a type of integers or
    truth values of numpy the result is a numpy array.
    """
    return _made(np.zeros(shape), format, dtype, device)


empty = zeros


def ones(shape: Any, *, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns an array of ones, in float64 without a format."""
    return _made(np.ones(shape), format, dtype, device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns an array whose entries are one number, without a format in one that holds it."""
    to = (operator.index(shape),) if not isinstance(shape, (tuple, list)) else tuple(map(operator.index, shape))
    if dtype is None and format is None and isinstance(fill_value, (bool, np.bool_)):
        return np.full(to, fill_value)
    z = _made(fill_value, format, dtype, None, None)
    if isinstance(z, np.ndarray):
        return np.broadcast_to(z, to).copy()
    z = z._broadcast(to)
    return z if device in (None, "cpu") else z.to_device(device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns a matrix of zeros with ones on a diagonal."""
    return _made(np.eye(operator.index(n_rows), n_cols, k), format, dtype, device)


def identity(n: int, /, *, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns the identity matrix."""
    return eye(n, dtype=dtype, format=format, device=device)


def _like(x: Any, value: Any, format: Any, dtype: Any, device: Any, shape: Any = None) -> Any:
    f = _chosen(format, dtype)
    to = np.shape(x) if shape is None else shape
    if isinstance(x, (np.ndarray, np.generic)):
        if f is None:
            return np.full(to, value, x.dtype)
        numpy_type = f if isinstance(f, np.dtype) else f.dtype
        return np.full(to, value, numpy_type) if numpy_type is not None else full(to, value, format=f, device=device)
    place = device if device is not None else x.device if isinstance(x, Array) else None
    return full(to, value, format=f or Operands(x).format, device=None if isinstance(f, np.dtype) else place)


def zeros_like(x: Any, /, *, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns zeros in the shape, format and place of x."""
    return _like(x, 0, format, dtype, device)


empty_like = zeros_like


def ones_like(x: Any, /, *, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns ones in the shape, format and place of x."""
    return _like(x, 1, format, dtype, device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns an array of one number, in the shape, format and place of x."""
    return _like(x, fill_value, format, dtype, device)


def _exact(x: Any, name: str) -> Fraction:
    v = _numbers.exact(x)
    if isinstance(v, str):
        v = _numbers.exact(Fraction(v))
    if isinstance(v, Dyadic):
        if v.m < 0:
            raise MisuseError(f"{name} is {x}: a finite number is needed")
        m = -v.m if v.negative else v.m
        return Fraction(m << v.e) if v.e >= 0 else Fraction(m, 1 << -v.e)
    assert isinstance(v, Fraction)
    return v


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns start + i step < stop, i from 0 on, each exact number rounded once.

    Numbers may be Fractions and texts. The default format is float64, or the format of Scalars among
    the arguments. numpy rounds its additions, and may return one number too many.

    >>> import halfulp as hp
    >>> hp.arange("0", "0.3", "0.1", format="mp:80")
    array([0, 0.1, 0.2], 'mp:80')
    """
    if stop is None:
        start, stop = 0, start
    given = [v.format for v in (start, stop, step) if isinstance(v, Scalar)]
    first, last, by = (_exact(v, n) for v, n in ((start, "start"), (stop, "stop"), (step, "step")))
    if by == 0:
        raise MisuseError("step is 0")
    n = max(0, math.ceil((last - first) / by))
    return _numbers_of([first + i * by for i in range(n)], given, format, dtype, device)


def linspace(start: Any, stop: Any, /, num: int = 50, *, endpoint: bool = True, dtype: Any = None, format: FormatLike | None = None, device: str | None = None) -> Any:
    """Returns num numbers at equal distances from start to stop, each exact number rounded once.

    Without endpoint, stop is the number that would follow.
    """
    given = [v.format for v in (start, stop) if isinstance(v, Scalar)]
    first, last = _exact(start, "start"), _exact(stop, "stop")
    n = operator.index(num)
    if n < 0:
        raise MisuseError(f"num is {n}: it is at least 0")
    parts = max(n - 1 if endpoint else n, 1)
    return _numbers_of([first + (last - first) * i / parts for i in range(n)], given, format, dtype, device)


def _numbers_of(values: list[Fraction], given: list[Format], format: Any, dtype: Any, device: Any) -> Any:
    f = _chosen(format, dtype)
    if isinstance(f, np.dtype):
        return np.array([int(v) for v in values], f)
    if f is None:
        f = float64
        for g in given:
            f = promoted(f, g)
    return _array.array(values, f, device=device) if values else array(np.zeros(0), f, device=device)


def hilbert(n: int, *, format: FormatLike = "f64") -> Array:
    """Returns the Hilbert matrix 1/(i + j + 1), i, j from 0 on, each entry rounded once."""
    f = Format(format)
    return Array._of(library().hilbert(operator.index(n), f.code), (n, n), f)


def random(rows: int, cols: int, *, seed: int = 1, spread: int = 0, format: FormatLike = "f64") -> Array:
    """Returns random numbers 2^u x, x uniform in (-1, 1), u an integer uniform in [-spread, spread].

    The same arguments give the same numbers everywhere.
    """
    f = Format(format)
    return Array._of(library().random(*map(operator.index, (rows, cols, spread, seed)), f.code), (rows, cols), f)


def vander(x: Any, N: int | None = None, increasing: bool = False, *, format: FormatLike | None = None, prec: int | None = None) -> Any:  # noqa: N803
    """Returns the powers x_i^j of a vector, each rounded once, j from N - 1 down to 0, as numpy does.

    With increasing, j goes from 0 up to N - 1. N is the number of columns, by default the length of x.
    """
    o = Operands(x, format=format, prec=prec)
    a = _vector(o.arrays[0], "x")
    n = a.size if N is None else operator.index(N)
    nodes = a.placed("cpu")
    z = Array._of(library().vandermonde(nodes._handle, n, o.format.code), (a.size, n), o.format)
    return o.plainly(z if increasing else z._moved(lambda v: v[:, ::-1]))
