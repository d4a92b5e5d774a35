"""Arrays and scalars of any format."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from . import _numbers
from ._format import Format, FormatLike, asked, float64, mp, promoted
from ._library import MisuseError, call, free, library
from ._numbers import INFINITY, NAN, Dyadic

# The numbers of an Array as numpy arrays, so that numpy can move entries. For f32 and f64 there is
# one array of the numbers, for expansions one array with the terms in a last dimension. For mp
# formats there are four arrays, as in halfulp's .npz files: limbs (in a last dimension), exponents,
# signs and classes.
Parts = tuple[np.ndarray, ...]

_ZERO, _FINITE, _INF, _NAN = 0, 1, 2, 3

_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Returns the shape of the matrix that stores an array: a vector is a column."""
    if len(shape) <= 1:
        return math.prod(shape), 1
    return math.prod(shape[:-1]), shape[-1]


def _strides(rows: int, cols: int) -> tuple[int, int]:
    return max(cols, 1), 1


def parts_of(handle: int, f: Format, shape: tuple[int, ...]) -> Parts:
    """Returns copies of the numbers of a matrix."""
    lib = library()
    rows, cols = _matrix_shape(shape)
    steps = _strides(rows, cols)
    if f.dtype is not None:
        data = np.empty(shape, f.dtype)
        if data.size:
            getattr(lib, "matrix_get_" + f.kind)(handle, data.ctypes.data, *steps)
        return (data,)
    if t := f.terms:
        data = np.empty((*shape, t))
        if data.size:
            lib.matrix_get_terms(handle, data.ctypes.data, t, steps[0] * t, t, 1)
        return (data,)
    words = -(-f.precision // 64)
    limbs = np.empty((*shape, words), np.uint64)
    exponents, signs, classes = np.empty(shape, np.int64), np.empty(shape, np.int8), np.empty(shape, np.uint8)
    if exponents.size:
        assert words == lib.matrix_limb_count(handle)
        lib.matrix_get_limbs(handle, *(a.ctypes.data for a in (limbs, exponents, signs, classes)), *steps)
    return limbs, exponents, signs, classes


def from_parts(parts: Parts, f: Format, shape: tuple[int, ...], target: Format | None = None) -> Array:
    """Returns the array of such numbers, stored in format f, rounded to the target."""
    lib = library()
    rows, cols = _matrix_shape(shape)
    steps = _strides(rows, cols)
    code = (target or f).code
    kept = [np.ascontiguousarray(p) for p in parts]
    if f.dtype is not None:
        h = getattr(lib, "matrix_from_" + f.kind)(kept[0].ctypes.data, rows, cols, *steps, code)
    elif t := f.terms:
        h = lib.matrix_from_terms(kept[0].ctypes.data, t, rows, cols, steps[0] * t, t, 1, code)
    else:
        limbs, exponents, signs, classes = kept
        h = lib.matrix_from_limbs(
            limbs.ctypes.data, limbs.shape[-1], exponents.ctypes.data, signs.ctypes.data, classes.ctypes.data, rows, cols, *steps, code
        )
    return Array._of(h, shape, target or f, None, "cpu")


def split(a: Array) -> list[Array]:
    """Returns copies of the parts of an array along its first dimension."""
    parts = a._parts()
    return [from_parts(tuple(p[i] for p in parts), a.format, a._shape[1:]) for i in range(a._shape[0])]


class Scalar:
    """A number of some format.

    Arithmetic with Python's numbers and other scalars rounds once, to the more precise of the two
    formats; Python's numbers take the format of the scalar. Comparisons are exact.

    >>> import halfulp as hp
    >>> hp.Scalar("0.1", "mp:200") * 10 == 1
    True
    >>> hp.Scalar(1) / 3
    Scalar('0.3333333333333333', 'f64')
    """

    __slots__ = ("_handle", "format")
    __array_priority__ = 1000.0

    _handle: int
    format: Format

    def __new__(cls, value: Any = 0, format: FormatLike | None = None, *, prec: int | None = None) -> Scalar:
        f = asked(format, prec)
        if isinstance(value, Scalar) and f in (None, value.format):
            return value
        return array(value, f).item()

    @classmethod
    def _of(cls, handle: int, f: Format | None = None) -> Scalar:
        s = object.__new__(cls)
        s._handle = handle
        s.format = f or Format(library().scalar_format(handle))
        return s

    def __del__(self) -> None:
        if not sys.is_finalizing():
            free(getattr(self, "_handle", 0))

    def _dyadic(self) -> Dyadic:
        h = library().matrix_from_scalar(self._handle)
        try:
            parts = parts_of(h, self.format, ())
        finally:
            free(h)
        if len(parts) == 4:
            limbs, exponent, sign, kind = parts
            negative = int(sign) < 0
            if kind == _NAN:
                return Dyadic(False, NAN, 0)
            if kind == _INF:
                return Dyadic(negative, INFINITY, 0)
            if kind == _ZERO:
                return Dyadic(negative, 0, 0)
            m, p = int.from_bytes(limbs.astype("<u8").tobytes(), "little"), self.format.precision
            return Dyadic(negative, m >> (64 * limbs.size - p), int(exponent) - p)
        first, *rest = (float(t) for t in np.ravel(parts[0]))
        head = _numbers._from_float(first)
        if head.m in (INFINITY, NAN, 0):
            return head
        total = sum((Fraction(t) for t in rest), Fraction(first))
        return Dyadic(total < 0, abs(total.numerator), 1 - total.denominator.bit_length())

    # A Scalar has the attributes of an array without dimensions, for callers that take both.

    @property
    def shape(self) -> tuple[()]:
        """The shape of a number: ()."""
        return ()

    @property
    def ndim(self) -> int:
        """The number of dimensions: 0."""
        return 0

    @property
    def size(self) -> int:
        """The number of entries: 1."""
        return 1

    @property
    def dtype(self) -> Format:
        """The format, under numpy's name."""
        return self.format

    @property
    def device(self) -> str:
        """Where the number lives: "cpu"."""
        return "cpu"

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return asarray(self).__array_namespace__(api_version=api_version)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from ._numpy import ufunc_of_arrays

        return ufunc_of_arrays(ufunc, method, inputs, kwargs)

    def to_device(self, device: str, *, stream: Any = None) -> Any:
        """Returns the number itself for "cpu", else an array of no dimensions on a device."""
        return self if device == "cpu" else asarray(self).to_device(device, stream=stream)

    def __getitem__(self, key: Any) -> Any:
        """Returns the selection of a key from an array of no dimensions: the number for () or ...."""
        return self if isinstance(key, tuple) and key in ((), (Ellipsis,)) or key is Ellipsis else asarray(self)[key]

    __iter__ = None  # a number has no parts

    def item(self) -> Scalar:
        """Returns the number."""
        return self

    def as_integer_ratio(self) -> tuple[int, int]:
        """Returns the number as a fraction in lowest terms."""
        negative, m, e = self._dyadic()
        if m == NAN:
            raise ValueError("cannot convert NaN to integer ratio")
        if m == INFINITY:
            raise OverflowError("cannot convert Infinity to integer ratio")
        m = -m if negative else m
        if e >= 0:
            return m << e, 1
        shift = min(-e, (m & -m).bit_length() - 1) if m else -e
        return m >> shift, 1 << (-e - shift)

    def __float__(self) -> float:
        return float(library().scalar_get_f64(self._handle))

    def __int__(self) -> int:
        p, q = self.as_integer_ratio()
        return p // q if p >= 0 else -(-p // q)

    __trunc__ = __int__

    def __bool__(self) -> bool:
        return library().scalar_sign(self._handle) != 0 or self.isnan()

    def __hash__(self) -> int:
        negative, m, e = self._dyadic()
        if m == NAN:
            return object.__hash__(self)
        if m == INFINITY:
            h = sys.hash_info.inf
        else:
            h = m * pow(2, e, sys.hash_info.modulus) % sys.hash_info.modulus
        h = -h if negative else h
        return -2 if h == -1 else h

    def isnan(self) -> bool:
        """Returns whether this is NaN."""
        return bool(library().scalar_is_nan(self._handle))

    def isinf(self) -> bool:
        """Returns whether this is an infinity."""
        return bool(library().scalar_is_inf(self._handle))

    def text(self, digits: int = 0) -> str:
        """Returns decimal text: the shortest that reads back to the same number, or with the given digits."""
        return str(library().scalar_get_text(self._handle, digits))

    def hex(self) -> str:
        """Returns exact hexadecimal text."""
        return str(library().scalar_get_text(self._handle, -1))

    def __repr__(self) -> str:
        return f"Scalar({self.text()!r}, {self.format.name!r})"

    def __str__(self) -> str:
        return self.text()

    def __format__(self, spec: str) -> str:
        if not spec:
            return self.text()
        if spec.startswith(".") and spec[1:].rstrip("g").isdigit():
            return self.text(int(spec[1:].rstrip("g")))
        if self.isnan() or self.isinf() or (self == float(self) and not spec.endswith("%")):
            return format(float(self), spec)
        return _numbers.formatted(self._dyadic(), spec, self.text)

    def astype(self, format: Any) -> Any:
        """Returns the number rounded once to a format, or truncated to a type of integers of numpy."""
        if (kind := _integers(format)) is not None:
            return asarray(self).astype(kind)[()]
        f = Format(format)
        return Scalar._of(library().scalar_convert(self._handle, f.code), f)

    def _mpmath_(self, prec: int, rounding: str) -> Any:
        import mpmath

        negative, m, e = self._dyadic()
        if m < 0:
            return mpmath.mpf("nan" if m == NAN else "-inf" if negative else "inf")
        return mpmath.mp.make_mpf(mpmath.libmp.from_man_exp(-m if negative else m, e))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled_scalar, (asarray(self),)

    def _operand(self, other: Any) -> tuple[Scalar, Format] | None:
        """Returns another operand and the format of results; None for what is no number."""
        if isinstance(other, Scalar):
            return other, promoted(self.format, other.format)
        if isinstance(other, (Array, np.ndarray)):
            return None
        if isinstance(other, np.generic):
            y = asarray(other)
            return y.item(), promoted(self.format, _wanted(other, y))
        try:
            return weak(other, self.format), self.format
        except TypeError:
            return None

    def _binary(self, name: str, other: Any, reflected: bool = False) -> Any:
        if isinstance(other, np.ndarray):
            return asarray(self)._binary(name, other, reflected)
        pair = self._operand(other)
        if pair is None:
            return NotImplemented
        y, f = pair
        x, y = (y, self) if reflected else (self, y)
        return Scalar._of(getattr(library(), "scalar_" + name)(x._handle, y._handle, f.code), f)

    def __add__(self, other: Any) -> Any:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._binary("add", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._binary("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("sub", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._binary("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("mul", other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._binary("div", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary("div", other, True)

    def __pow__(self, exponent: Any) -> Any:
        from ._elementwise import power, power_format

        if isinstance(exponent, (Array, np.ndarray, str)):
            return NotImplemented
        return power(asarray(self), exponent, power_format(self.format, exponent)).item()

    def __rpow__(self, base: Any) -> Any:
        z = asarray(self).__rpow__(base)
        return z if z is NotImplemented else z.item()

    def _divided(self, name: str, other: Any) -> Any:
        if isinstance(other, (Array, str)):
            return NotImplemented
        z = getattr(asarray(self), f"__{name}__")(other)
        return z if z is NotImplemented or z.ndim or isinstance(other, np.ndarray) else z.item()

    def __floordiv__(self, other: Any) -> Any:
        return self._divided("floordiv", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._divided("rfloordiv", other)

    def __mod__(self, other: Any) -> Any:
        return self._divided("mod", other)

    def __rmod__(self, other: Any) -> Any:
        return self._divided("rmod", other)

    def __floor__(self) -> int:
        p, q = self.as_integer_ratio()
        return p // q

    def __ceil__(self) -> int:
        p, q = self.as_integer_ratio()
        return -(-p // q)

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None:
            return round(Fraction(*self.as_integer_ratio()))
        if self.isnan() or self.isinf():
            return self
        rounded = array(round(Fraction(*self.as_integer_ratio()), ndigits), self.format).item()
        return -rounded if rounded == 0 and library().scalar_signbit(self._handle) else rounded

    def __neg__(self) -> Scalar:
        return Scalar._of(library().scalar_neg(self._handle), self.format)

    def __pos__(self) -> Scalar:
        return self

    def __abs__(self) -> Scalar:
        return Scalar._of(library().scalar_abs(self._handle), self.format)

    def sqrt(self) -> Scalar:
        """Returns the square root, rounded once."""
        return Scalar._of(library().scalar_sqrt(self._handle, self.format.code), self.format)

    def _compared(self, other: Any) -> int | None:
        """Returns -1, 0, 1, or 2 for NaN, exactly; None for what is no number."""
        if not isinstance(other, Scalar):
            try:
                v = _numbers.exact(other)
            except TypeError:
                return None
            if not isinstance(v, Dyadic):
                if isinstance(v, str) and not hasattr(other, "as_integer_ratio"):
                    return None  # text is no number
                if self.isnan():
                    return 2
                if self.isinf():
                    return 1 if self > 0 else -1
                x, y = Fraction(*self.as_integer_ratio()), Fraction(*other.as_integer_ratio())
                return (x > y) - (x < y)
            other = from_dyadics([v], (), mp(max(v.m.bit_length(), 2))).item()
        return int(library().scalar_compare(self._handle, other._handle))

    def _holds(self, other: Any, compare: Callable[[Any, Any], Any], *orders: int) -> Any:
        if isinstance(other, np.ndarray):
            return compare(asarray(self), other)
        c = self._compared(other)
        return NotImplemented if c is None else c in orders

    def __eq__(self, other: object) -> Any:
        return self._holds(other, operator.eq, 0)

    def __ne__(self, other: object) -> Any:
        return self._holds(other, operator.ne, -1, 1, 2)

    def __lt__(self, other: Any) -> Any:
        return self._holds(other, operator.lt, -1)

    def __le__(self, other: Any) -> Any:
        return self._holds(other, operator.le, -1, 0)

    def __gt__(self, other: Any) -> Any:
        return self._holds(other, operator.gt, 1)

    def __ge__(self, other: Any) -> Any:
        return self._holds(other, operator.ge, 0, 1)


def _unpickled_scalar(a: Array) -> Scalar:
    return a.item()


def weak(x: Any, f: Format) -> Scalar:
    """Returns an operand beside one of format f: exactly if m 2^e is its value, else rounded to f."""
    v = _numbers.exact(x)
    if isinstance(v, str):
        raise TypeError("text is no operand")
    if isinstance(v, Fraction):
        return array(v, f).item()
    return from_dyadics([v], (), mp(max(v.m.bit_length(), 2))).item()


def _shortened(v: Dyadic, f: Format) -> Dyadic:
    """Returns a number that rounds to a format as v does: its first bits, then a 1 for all others."""
    # Numbers of expansions are multiples of 2^-1074 and less than 2^1024 in magnitude.
    drop = v.m.bit_length() - (4096 if f.terms else f.precision + 64)
    if drop <= 0:
        return v
    m = v.m >> drop
    return Dyadic(v.negative, 2 * m + (m << drop != v.m), v.e + drop - 1)


def from_dyadics(values: Sequence[Dyadic], shape: tuple[int, ...], f: Format) -> Array:
    """Returns the array of numbers m 2^e, each rounded once to a format."""
    values = [_shortened(v, f) if v.m.bit_length() > 4096 else v for v in values]
    words = max(1, max((-(-v.m.bit_length() // 64) for v in values if v.m > 0), default=1))
    n = len(values)
    raw = bytearray(8 * words * n)
    exponents, signs, classes = np.zeros(n, np.int64), np.ones(n, np.int8), np.zeros(n, np.uint8)
    for i, (negative, m, e) in enumerate(values):
        signs[i] = -1 if negative else 1
        if m > 0:
            raw[8 * words * i : 8 * words * (i + 1)] = m.to_bytes(8 * words, "little")
            exponents[i] = e + 64 * words
            classes[i] = _FINITE
        elif m == INFINITY:
            classes[i] = _INF
        elif m == NAN:
            classes[i] = _NAN
    limbs = np.frombuffer(bytes(raw), "<u8").astype(np.uint64).reshape(*shape, words)
    parts = (limbs, exponents.reshape(shape), signs.reshape(shape), classes.reshape(shape))
    return from_parts(parts, mp(64 * words), shape, f)


class Array:
    """An array of numbers of one format, of any number of dimensions.

    Results are rounded once, to the nearest number of the more precise operand's format. Only
    assignment to entries and the operators += and the like change an array; the latter round once to
    its format. Everything else returns a new array: none is a view of another.

    >>> import halfulp as hp
    >>> a = hp.array([["0.1", "0.2"], ["0.3", "0.4"]], "mp:100")
    >>> (a @ a)[0, 1]
    Scalar('0.1', 'mp:100')
    >>> a.T.shape, a.format
    ((2, 2), Format('mp:100'))
    """

    __slots__ = ("_handle", "_keep", "_shape", "_where", "format")
    __array_priority__ = 1000.0

    _handle: int
    _shape: tuple[int, ...]
    _keep: Any
    _where: str | None  # the device, None if it is not known yet
    format: Format

    def __init__(self) -> None:
        raise TypeError("arrays are made by halfulp.array")

    @classmethod
    def _of(cls, handle: int, shape: tuple[int, ...], f: Format, keep: Any = None, where: str | None = None) -> Array:
        a = object.__new__(cls)
        a._handle, a._shape, a.format, a._keep, a._where = handle, shape, f, keep, where
        return a

    def __del__(self) -> None:
        if not sys.is_finalizing():
            free(getattr(self, "_handle", 0))

    # Attributes.

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, as numpy's."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self._shape)

    @property
    def dtype(self) -> Format:
        """The format, under numpy's name."""
        return self.format

    @property
    def device(self) -> str:
        """Where the numbers live: "cpu" or "cuda:N"."""
        if self._where is None:
            self._where = str(library().matrix_device(self._handle))
        return self._where

    def to_device(self, device: str, *, stream: Any = None) -> Array:
        """Returns a copy that lives on a device. The copy is done on return, whatever the stream."""
        return Array._of(library().matrix_to_device(self._handle, device.encode()), self._shape, self.format)

    def placed(self, device: str) -> Array:
        """Returns the array itself if it lives on a device, else a copy that does."""
        return self if self.device == device else self.to_device(device)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-dimensional array")
        return self._shape[0]

    def __contains__(self, x: Any) -> bool:
        return bool(np.any(self == x))

    # Copies in other shapes and formats.

    def _parts(self) -> Parts:
        return parts_of(self._handle, self.format, self._shape)

    def _moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Array:
        """Returns an array of entries of this one, moved by a function of numpy's arrays.

        The function gets arrays of the shape of this one. For numbers of several words it gets the
        indices of the entries.
        """
        if self.format.dtype is not None:
            z = move(self._parts()[0])
            return from_parts((z,), self.format, z.shape).placed(self.device)
        where = move(np.arange(self.size).reshape(self._shape))
        parts = (p.reshape((self.size, *p.shape[len(self._shape) :]))[where] for p in self._parts())
        return from_parts(tuple(parts), self.format, where.shape).placed(self.device)

    def astype(self, format: Any) -> Any:
        """Returns a copy whose entries are rounded once to a format.

        For a type of integers of numpy it returns a numpy array of the entries without the digits
        after the point; numbers that the type does not hold are an error. bool stands for x != 0.
        """
        if (kind := _integers(format)) is not None:
            return self.to_numpy(kind)
        f = Format(format)
        return Array._of(call("matrix_convert", self._handle, f.code), self._shape, f)

    def copy(self) -> Array:
        """Returns a copy."""
        return Array._of(library().matrix_clone(self._handle), self._shape, self.format)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def reshape(self, *shape: Any) -> Array:
        """Returns a copy in another shape, the entries in the order of rows."""
        to = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        return self._moved(lambda a: a.reshape(to))

    def ravel(self) -> Array:
        """Returns the entries in one dimension, in the order of rows."""
        return self.reshape(-1)

    flatten = ravel

    def _flat(self) -> Array:
        """Returns the entries in one dimension, in any order, without a copy where they lie so."""
        h = library().matrix_entries(self._handle)
        return Array._of(h, (self.size,), self.format, self._keep, self._where)

    def transpose(self, *axes: Any) -> Array:
        """Returns a copy whose dimensions are permuted, or reversed."""
        if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)):
            axes = tuple(axes[0]) if axes[0] is not None else ()
        if self.ndim == 2 and axes in ((), (1, 0)):
            view = library().matrix_transpose(self._handle)
            try:
                return Array._of(library().matrix_clone(view), self._shape[::-1], self.format)
            finally:
                free(view)
        return self._moved(lambda a: a.transpose(*axes))

    @property
    def T(self) -> Array:  # noqa: N802
        """The transpose, a copy."""
        return self.transpose()

    @property
    def mT(self) -> Array:  # noqa: N802
        """The transpose of the last two dimensions, a copy."""
        if self.ndim < 2:
            raise MisuseError("mT needs two dimensions or more")
        return self.transpose() if self.ndim == 2 else self._moved(lambda a: a.swapaxes(-1, -2))

    # Entries.

    def __getitem__(self, key: Any) -> Any:
        if (place := self._place(key)) is not None:
            return Scalar._of(library().matrix_entry(self._handle, *place), self.format)
        if isinstance(key, Array):
            raise IndexError("indices are integers, slices, numpy arrays, None and ...")
        z = self._moved(lambda a: np.asarray(a[key]))
        whole = key if isinstance(key, tuple) else (key,)
        if z.ndim == 0 and not any(k is Ellipsis for k in whole):
            return z.item()
        return z

    def _place(self, key: Any) -> tuple[int, int] | None:
        """Returns row and column of one entry; None for other keys."""
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self._shape) or not 1 <= len(keys) <= 2:
            return None
        z = []
        for k, n in zip(keys, self._shape, strict=True):
            if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
                return None
            if not -n <= k < n:
                raise IndexError(f"index {k} is out of bounds for a dimension of {n}")
            z.append(int(k) % n)
        return (z[0], z[1]) if len(z) == 2 else (z[0], 0)

    def _check_writable(self) -> None:
        if getattr(self._keep, "readonly", False):
            raise ValueError("the array shares the memory of a read-only tensor: assign to a copy")

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_writable()
        if (place := self._place(key)) is not None and not isinstance(value, (Array, np.ndarray, list, tuple)):
            entry = value if isinstance(value, Scalar) else array(value, self.format).item()
            library().matrix_set_entry(self._handle, *place, entry._handle)
            return
        new = array(value, self.format)
        indices = np.arange(self.size).reshape(self._shape)[key]
        while new.ndim > np.ndim(indices) and new._shape[0] == 1:  # as numpy does
            new = new.reshape(new._shape[1:])
        from_ = np.broadcast_to(np.arange(new.size).reshape(new._shape), np.shape(indices))
        mine, theirs = self._parts(), new._parts()
        for a, b in zip(mine, theirs, strict=True):
            flat = a.reshape((self.size, *a.shape[len(self._shape) :]))
            flat[indices] = b.reshape((new.size, *b.shape[len(new._shape) :]))[from_]
        z = from_parts(mine, self.format, self._shape)
        library().matrix_assign(z._handle, self._handle, 0)

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("iteration over a 0-dimensional array")
        return iter(split(self)) if len(self._shape) > 1 else (self[i] for i in range(len(self)))

    def item(self, *index: int) -> Scalar:
        """Returns one entry as a Scalar: the only entry, or the entry at an index."""
        if index:
            return self[index[0] if len(index) == 1 else index]  # type: ignore[no-any-return]
        if self.size != 1:
            raise MisuseError(f"an array of {self.size} entries is no scalar")
        return Scalar._of(library().matrix_entry(self._handle, 0, 0), self.format)

    def tolist(self) -> Any:
        """Returns nested lists of Scalars."""
        if not self._shape:
            return self.item()
        rows, cols = _matrix_shape(self._shape)
        entry = library().matrix_entry
        flat = np.empty(self.size, object)
        for i in range(rows):
            for j in range(cols):
                flat[i * cols + j] = Scalar._of(entry(self._handle, i, j), self.format)
        return flat.reshape(self._shape).tolist()

    def to_numpy(self, dtype: Any = np.float64) -> np.ndarray:
        """Returns the entries as a numpy array, each rounded once.

        With dtype=object the entries are Scalars, with types of integers they are truncated, and
        numbers that the type does not hold are an error.
        """
        if dtype is object:
            z = np.empty(self._shape, object)
            if self.size:
                z[...] = np.array(self.tolist(), object)
            return z
        if (other := _other_dtype(self, dtype)) is not None:
            return other
        f = Format(dtype)
        if f.dtype is None:
            raise MisuseError(f"numpy has no numbers of format {f}")
        source = self if self.format == f else self.astype(f)
        return source._parts()[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            if self.format.dtype is None or dtype is not None and np.dtype(dtype) != self.format.dtype or self.device != "cpu":
                raise ValueError("these numbers of a halfulp array cannot be used without a copy")
            return np.from_dlpack(self)
        if dtype is None:  # without loss
            return self.to_numpy(self.format.dtype if self.format.dtype is not None else object)
        return self.to_numpy(object if np.dtype(dtype) == np.dtype(object) else dtype).astype(dtype, copy=False)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        """Returns a capsule of DLPack with the numbers of an array of format f64 or f32, without a copy.

        numpy.from_dlpack, torch.from_dlpack and others call this. The array's memory stays as long as
        theirs; what is written to either is seen in both. On a GPU all work that writes the numbers is
        done, whatever the stream. Other formats are a BufferError.
        """
        from . import _dlpack

        return _dlpack.exported(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns DLPack's type and number of the device: (1, 0) for the CPU, (2, N) for cuda:N."""
        from . import _dlpack

        return _dlpack.device_of(self)

    # Numbers of other packages.

    def to_fractions(self) -> Any:
        """Returns nested lists of fractions.Fraction, exactly."""
        return _mapped(self.tolist(), lambda s: Fraction(*s.as_integer_ratio()))

    def to_mpmath(self) -> Any:
        """Returns an mpmath.matrix with the same numbers; a vector becomes a column."""
        import mpmath

        if self.ndim not in (1, 2):
            raise MisuseError("mpmath has matrices of two dimensions only")
        rows = self.tolist() if self.ndim == 2 else [[x] for x in self.tolist()]
        z = mpmath.matrix(*_matrix_shape(self._shape))
        for i, row in enumerate(rows):
            for j, x in enumerate(row):
                z[i, j] = x._mpmath_(0, "n")
        return z

    def to_gmpy2(self) -> Any:
        """Returns nested lists of gmpy2.mpfr with the same numbers."""
        import gmpy2

        def one(s: Scalar) -> Any:
            negative, m, e = s._dyadic()
            p = max(s.format.precision, m.bit_length(), 2)
            # The exponent range of gmpy2's contexts is narrower than MPFR's.
            with gmpy2.context(precision=p, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
                if m < 0:
                    return gmpy2.mpfr("nan" if m == NAN else "-inf" if negative else "inf")
                z = gmpy2.mul_2exp(gmpy2.mpfr(m), e) if e >= 0 else gmpy2.div_2exp(gmpy2.mpfr(m), -e)
                return -z if negative else z

        return _mapped(self.tolist(), one)

    def to_flint(self) -> Any:
        """Returns a flint.arb_mat with the same numbers, of radius 0; a vector becomes a column."""
        import flint

        if self.ndim not in (1, 2):
            raise MisuseError("python-flint has matrices of two dimensions only")

        def one(s: Scalar) -> Any:
            negative, m, e = s._dyadic()
            if m < 0:
                return flint.arb(flint.arf("nan" if m == NAN else "-inf" if negative else "inf"))
            return flint.arb(flint.arf((-m if negative else m, e)))

        rows = self.tolist() if self.ndim == 2 else [[x] for x in self.tolist()]
        return flint.arb_mat([[one(x) for x in row] for row in rows])

    # Text.

    def _text(self, separator: str, prefix: str) -> str:
        def entry(k: int) -> str:
            rows_cols = divmod(int(k), _matrix_shape(self._shape)[1])
            s = Scalar._of(library().matrix_entry(self._handle, *rows_cols), self.format)
            text = s.text()
            return text if len(text) <= 20 else s.text(min(digits, 17))

        digits = np.get_printoptions()["precision"]
        places = np.arange(self.size).reshape(self._shape)
        formatter: Any = {"int_kind": entry}
        return str(np.array2string(places, separator=separator, prefix=prefix, formatter=formatter))

    def __repr__(self) -> str:
        prefix = "array("
        return f"{prefix}{self._text(', ', prefix)}, {self.format.name!r})"

    def __str__(self) -> str:
        return self._text(" ", "")

    # Pickles.

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (library().matrix_get_bytes(self._handle), self._shape)

    # Operators.

    def _binary(self, name: str, other: Any, reflected: bool = False) -> Any:
        pair = _operands(self, other)
        if pair is None:
            return NotImplemented
        x, y, f = pair
        x, y = (y, x) if reflected else (x, y)
        return elementwise(name, x, y, f)

    def __add__(self, other: Any) -> Any:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._binary("add", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._binary("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("sub", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._binary("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("mul", other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._binary("div", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary("div", other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._divided("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._divided("floor_divide", other, self)

    def __mod__(self, other: Any) -> Any:
        return self._divided("remainder", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._divided("remainder", other, self)

    def __divmod__(self, other: Any) -> Any:
        q = self // other
        return q if q is NotImplemented else (q, self % other)

    def __ifloordiv__(self, other: Any) -> Any:
        return self._stored(self // other)

    def __imod__(self, other: Any) -> Any:
        return self._stored(self % other)

    def _divided(self, name: str, x: Any, y: Any) -> Any:
        from . import _elementwise

        pair = _operands(self, y if x is self else x)
        if pair is None:
            return NotImplemented
        return getattr(_elementwise, name)(*(pair[:2] if x is self else pair[1::-1]), format=pair[2])

    def __neg__(self) -> Array:
        return Array._of(call("neg", self._handle), self._shape, self.format)

    def __pos__(self) -> Array:
        return self.copy()

    def __abs__(self) -> Array:
        return Array._of(call("abs", self._handle), self._shape, self.format)

    def sqrt(self) -> Array:
        """Returns the square root of each entry, rounded once."""
        return Array._of(call("sqrt", self._handle, self.format.code), self._shape, self.format)

    def __pow__(self, exponent: Any) -> Any:
        from ._elementwise import power, power_format

        return NotImplemented if isinstance(exponent, str) else power(self, exponent, power_format(self.format, exponent))

    def __rpow__(self, base: Any) -> Any:
        from ._elementwise import power

        try:
            x = weak(base, self.format)
        except TypeError:
            return NotImplemented
        return power(asarray(x), self, self.format)

    def _no_bits(self, other: Any = None) -> Any:
        """Stands for operators of integers and truth values, which Python then reports as a TypeError."""
        return NotImplemented

    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _no_bits

    def __invert__(self) -> Any:
        raise TypeError("~ is an operator of integers and truth values")

    def __matmul__(self, other: Any) -> Any:
        from . import _routines

        if hasattr(other, "_fractions"):  # a rational Matrix, whose products are exact
            return NotImplemented

        return _routines.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        from . import _routines

        return _routines.matmul(other, self)

    def _stored(self, z: Any) -> Any:
        """Stores the result of an operator such as += and returns this array."""
        if z is NotImplemented:
            return z
        self._check_writable()
        if np.shape(z) != self._shape:
            raise MisuseError(f"the result has the shape {np.shape(z)} and does not fit into the array of shape {self._shape}")
        new = asarray(z)
        library().matrix_assign(new._handle, self._handle, 0)
        return self

    def _in_place(self, name: str, other: Any) -> Any:
        pair = _operands(self, other)
        return NotImplemented if pair is None else self._stored(elementwise(name, pair[0], pair[1], self.format))

    def __iadd__(self, other: Any) -> Any:
        return self._in_place("add", other)

    def __isub__(self, other: Any) -> Any:
        return self._in_place("sub", other)

    def __imul__(self, other: Any) -> Any:
        return self._in_place("mul", other)

    def __itruediv__(self, other: Any) -> Any:
        return self._in_place("div", other)

    def __ipow__(self, exponent: Any) -> Any:
        from ._elementwise import power

        return NotImplemented if isinstance(exponent, str) else self._stored(power(self, exponent, self.format))

    def __imatmul__(self, other: Any) -> Any:
        from . import _routines

        return self._stored(_routines.matmul(self, other, format=self.format))

    def _compared(self, other: Any, holds: Callable[[np.ndarray], np.ndarray]) -> Any:
        pair = _operands(self, other)
        if pair is None:
            return NotImplemented
        x, y, _ = pair
        shape = _common_shape(x._shape, y._shape)
        x, y = x._broadcast(shape), y._broadcast(shape)
        z = np.empty(shape, np.int8)
        if z.size:
            library().compare(x._handle, y._handle, z.ctypes.data, *_strides(*_matrix_shape(shape)))
        return holds(z)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda c: c == 0)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, lambda c: c != 0)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda c: c == -1)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda c: c <= 0)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda c: c == 1)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda c: (c == 0) | (c == 1))

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise MisuseError(f"an array of {self.size} entries is neither true nor false: use halfulp.any or halfulp.all")
        return bool(self.item())

    def _number(self) -> Scalar:
        if self.size != 1:
            raise TypeError(f"an array of {self.size} entries is no number")
        return self.item()

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(float(self._number()))

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._number(), ndigits) if ndigits is not None else round(self._number())

    def __index__(self) -> int:
        raise TypeError("only integer arrays can be an index")

    def _broadcast(self, shape: tuple[int, ...]) -> Array:
        if shape == self._shape:
            return self
        try:
            return self._moved(lambda a: np.broadcast_to(a, shape))
        except ValueError:
            raise MisuseError(f"an array of shape {self._shape} cannot be broadcast to {shape}") from None

    # numpy's functions of these arrays.

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        import halfulp

        if api_version is not None and api_version not in _API_VERSIONS:
            raise MisuseError(f"version {api_version} of the Array API is not known: versions are {', '.join(_API_VERSIONS)}")
        return halfulp

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from ._numpy import ufunc_of_arrays

        return ufunc_of_arrays(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from ._numpy import function_of_arrays

        return function_of_arrays(func, types, args, kwargs)

    # numpy's methods.

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the sum of the entries, rounded once: see halfulp.sum."""
        from . import _routines

        return _routines.sum(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the mean of the entries, rounded once: see halfulp.mean."""
        from . import _routines

        return _routines.mean(self, axis=axis, keepdims=keepdims)

    def std(self, axis: Any = None, *, ddof: Any = None, correction: Any = None, keepdims: bool = False) -> Any:
        """Returns the standard deviation, rounded once: see halfulp.std."""
        from . import _statistics

        return _statistics.std(self, axis=axis, keepdims=keepdims, ddof=ddof, correction=correction)

    def var(self, axis: Any = None, *, ddof: Any = None, correction: Any = None, keepdims: bool = False) -> Any:
        """Returns the variance, rounded once: see halfulp.var."""
        from . import _statistics

        return _statistics.var(self, axis=axis, keepdims=keepdims, ddof=ddof, correction=correction)

    def prod(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the product of the entries, rounded once: see halfulp.prod."""
        from . import _statistics

        return _statistics.prod(self, axis=axis, keepdims=keepdims)

    def cumsum(self, axis: Any = None) -> Any:
        """Returns the prefix sums, each rounded once: see halfulp.cumsum."""
        from . import _statistics

        return _statistics.cumsum(self, axis)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the largest entry: see halfulp.max."""
        from . import _statistics

        return _statistics.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the smallest entry: see halfulp.min."""
        from . import _statistics

        return _statistics.min(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the index of the largest entry: see halfulp.argmax."""
        from . import _statistics

        return _statistics.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the index of the smallest entry: see halfulp.argmin."""
        from . import _statistics

        return _statistics.argmin(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns whether all entries are not 0."""
        return (self != 0).all(axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Returns whether an entry is not 0."""
        return (self != 0).any(axis=axis, keepdims=keepdims)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Returns the sum of a diagonal, rounded once: see halfulp.trace."""
        from . import _products

        return _products.trace(self, offset, axis1, axis2)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """Returns a diagonal, a copy: see halfulp.diagonal."""
        return self._moved(lambda a: np.diagonal(a, offset, axis1, axis2))

    def round(self, decimals: int = 0) -> Any:
        """Returns the entries rounded to integers, or decimals: see halfulp.round."""
        from . import _elementwise

        return _elementwise.round(self, decimals)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Returns the entries between bounds: see halfulp.clip."""
        from . import _elementwise

        return _elementwise.clip(self, min, max)

    def squeeze(self, axis: Any = None) -> Array:
        """Returns a copy without dimensions of 1."""
        return self._moved(lambda a: np.squeeze(a, axis))

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """Returns a copy with two axes exchanged."""
        return self._moved(lambda a: a.swapaxes(axis1, axis2))

    def repeat(self, repeats: Any, axis: int | None = None) -> Array:
        """Returns a copy whose entries are repeated."""
        return self._moved(lambda a: np.repeat(a, repeats, axis))

    def take(self, indices: Any, axis: int | None = None) -> Any:
        """Returns the entries, or the parts along an axis, of some indices."""
        return self._moved(lambda a: np.asarray(np.take(a, indices, axis)))

    def conj(self) -> Array:
        """Returns a copy: all numbers are real."""
        return self.copy()

    conjugate = conj

    @property
    def real(self) -> Array:
        """The real parts, a copy."""
        return self.copy()

    @property
    def imag(self) -> Array:
        """The imaginary parts: zeros."""
        return array(np.zeros(self._shape), self.format)

    def dot(self, other: Any) -> Any:
        """Returns the product with another array: see halfulp.dot."""
        from . import _routines

        return _routines.dot(self, other)


def _integers(dtype: Any) -> np.dtype[Any] | None:
    """Returns numpy's type of integers or of truth values; None for other types."""
    if dtype is None or isinstance(dtype, Format):
        return None
    try:
        d = np.dtype(dtype)
    except TypeError:
        return None
    return d if d.kind in "iub" else None


def discrete(x: Any) -> bool:
    """Reports whether x is an array, or a number, of numpy's integers or truth values."""
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "iub"


def all_discrete(*values: Any) -> bool:
    """Reports whether values are numpy's integers or truth values, beside integers of Python that
    their types hold: results that are one of them are numpy's as well."""
    types = [x.dtype for x in values if discrete(x)]
    if not types:
        return False
    kind = np.result_type(*types)
    if kind.kind not in "iub":  # int64 and uint64
        return False

    def held(x: Any) -> bool:
        if isinstance(x, bool) or kind.kind == "b":
            return isinstance(x, bool)
        return isinstance(x, int) and bool(np.iinfo(kind).min <= x <= np.iinfo(kind).max)

    return all(discrete(x) or held(x) for x in values)


def _other_dtype(a: Array, dtype: Any) -> np.ndarray | None:
    """Returns the entries in a type of numpy that is no format; None for formats and no types."""
    try:
        d = np.dtype(None if isinstance(dtype, Format) else dtype)
    except TypeError:
        return None
    if d.kind == "b":
        return a != 0  # type: ignore[no-any-return]
    if d.kind in "iu":
        return _truncated(a, d)
    if d.kind == "c":
        if d.itemsize > 16:
            return a.to_numpy(np.longdouble).astype(d)
        return a.to_numpy(np.float32 if d.itemsize == 8 else np.float64).astype(d)
    if d.kind == "f" and d.itemsize == 2:
        return _half(a)
    if d.kind == "f" and d.itemsize > 8:
        if a.format.dtype is not None:
            return a._parts()[0].astype(d)
        digits = np.finfo(np.longdouble).nmant + 1
        if digits == 53:
            return a.to_numpy(np.float64).astype(d)
        z = [np.longdouble(s.text(40)) for s in a.ravel().astype(mp(digits)).tolist()]
        return np.array(z, d).reshape(a.shape)
    return None


def _truncated(a: Array, dtype: np.dtype[Any]) -> np.ndarray:
    from ._entries import dyadics

    bounds = np.iinfo(dtype)
    z = np.zeros(a.size, dtype)
    for i, (negative, m, e) in enumerate(dyadics(a)):
        if m < 0 or m.bit_length() + e > 65:
            raise MisuseError(f"{dtype} does not hold {a.ravel()[i]}")
        n = m << e if e >= 0 else m >> -e
        n = -n if negative else n
        if not bounds.min <= n <= bounds.max:
            raise MisuseError(f"{dtype} does not hold {a.ravel()[i]}")
        z[i] = n
    return z.reshape(a.shape)


def _half(a: Array) -> np.ndarray:
    """Returns the entries as numbers of 16 bits, each rounded once."""
    x = a.to_numpy(np.float64)
    if a.format.dtype is None:
        # x is rounded to odd first. Rounding it to float16 then gives the same number as rounding
        # the exact value once.
        bits = x.view(np.int64)
        rest = a._compared(x, lambda c: c)
        inexact = np.isfinite(x) & (np.abs(rest) == 1)
        even = inexact & (bits & 1 == 0)
        toward = np.where(rest == 1, np.inf, -np.inf)
        x = np.where(even, np.nextafter(x, toward), x)
    with np.errstate(over="ignore"):
        return x.astype(np.float16)


def _mapped(x: Any, f: Callable[[Any], Any]) -> Any:
    return [_mapped(y, f) for y in x] if isinstance(x, list) else f(x)


def _unpickled(data: bytes, shape: tuple[int, ...]) -> Array:
    lib = library()
    buffer = np.frombuffer(data, np.uint8)
    h = lib.matrix_from_bytes(buffer.ctypes.data, len(data))
    return Array._of(h, shape, Format(lib.matrix_format(h)))


def _wanted(x: Any, a: Array) -> Format:
    """Returns the format that an operand x, converted to a, requests for results.

    Integers of numpy and Python are exact operands, and request float64.
    """
    if isinstance(x, (Array, Scalar)) or a.format.kind != "mp" and not _numbers.integral(x):
        return a.format
    return float64 if not _numbers.precise(x) else a.format


def _operands(a: Array, other: Any) -> tuple[Array, Array, Format] | None:
    """Returns two operands and the format of results; None if the other one is none."""
    if isinstance(other, Array):
        return a, other, promoted(a.format, other.format)
    if isinstance(other, (np.ndarray, np.generic)):
        y = asarray(other)
        return a, y, promoted(a.format, _wanted(other, y))
    if isinstance(other, Scalar):
        return a, asarray(other), promoted(a.format, other.format)
    if isinstance(other, (list, tuple)):
        y = asarray(other)
        return a, y, promoted(a.format, _wanted(other, y))
    try:
        s = weak(other, a.format)
    except TypeError:
        return None
    return a, asarray(s), a.format


def _common_shape(p: tuple[int, ...], q: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(p, q)
    except ValueError:
        raise MisuseError(f"shapes {p} and {q} do not fit: they cannot be broadcast together") from None


def elementwise(name: str, x: Array, y: Array, f: Format) -> Array:
    """Returns an operation entry by entry, with numpy's rules of broadcasting."""
    shape = _common_shape(x._shape, y._shape)
    # The library broadcasts single numbers itself.
    x = x if x.size == 1 else x._broadcast(shape)
    y = y if y.size == 1 else y._broadcast(shape)
    if x.size == 1 and y.size == 1:
        x = x._broadcast(shape)
    if x.device != y.device:
        if x.size == 1:
            x = x.placed(y.device)
        elif y.size == 1:
            y = y.placed(x.device)
    return Array._of(call(name, x._handle, y._handle, f.code), shape, f)


# Making arrays.


def asarray(x: Any, format: FormatLike | None = None, *, prec: int | None = None) -> Array:
    """Returns x itself if it is an Array of the format, otherwise array(x, format).

    A tensor of PyTorch, CuPy or any other producer of DLPack is used without a copy where from_dlpack
    does.
    """
    f = asked(format, prec)
    if _is_tensor(x):
        from . import _dlpack

        x = _dlpack.from_dlpack(x)
    if isinstance(x, Array) and f in (None, x.format):
        return x
    if isinstance(x, Scalar) and f in (None, x.format):
        return Array._of(library().matrix_from_scalar(x._handle), (), x.format, None, "cpu")
    return array(x, f)


def array(data: Any, format: FormatLike | None = None, *, prec: int | None = None, device: str | None = None) -> Array:
    """Returns an array with the numbers of data, each rounded once to a format.

    data: a number, nested lists, or an array of numpy, mpmath or python-flint. Numbers may be of
        Python, numpy, mpmath, gmpy2, python-flint, Fraction, Decimal, Scalar, or texts.
    format: a format, such as "mp:424"; prec=424 is the same. Without a format the result has one that
        holds all numbers exactly: float64 (float32 for arrays of it), or a wider one. Numbers that no
        format holds, such as Fraction(1, 3), are an error then.
    device: where the array lives: "cpu" or "cuda:N".

    >>> import halfulp as hp
    >>> hp.array([2**53 + 1, 0.5])
    array([9007199254740993, 0.5], 'mp:54')
    >>> hp.array("0.1", "mp:100").item().hex()
    '0x1.999999999999999999999999ap-4'
    """
    a = _array(data, asked(format, prec))
    return a if device is None or device == a.device else a.to_device(str(device))


def _is_tensor(x: Any) -> bool:
    """Reports whether x is a tensor of another package than numpy, by DLPack."""
    return hasattr(x, "__dlpack__") and not isinstance(x, (Array, np.ndarray, np.generic))


def _array(data: Any, f: Format | None) -> Array:
    if isinstance(data, Array):
        return data.copy() if f in (None, data.format) else data.astype(f)
    if isinstance(data, Scalar):
        return asarray(data) if f in (None, data.format) else asarray(data.astype(f))
    if hasattr(data, "_fractions"):  # a rational Matrix
        if f is not None:
            return data.round(f)  # type: ignore[no-any-return]
        try:
            return _from_objects(np.asarray(data), None)
        except MisuseError:
            raise MisuseError("float64 does not hold all entries of a rational matrix: round it, a.round('mp:200') or a.round(), or use halfulp.rational") from None
    if not isinstance(data, np.ndarray):
        if type(data).__name__ == "matrix" and type(data).__module__.startswith("mpmath"):
            data = data.tolist()
        elif type(data).__module__.startswith("flint") and hasattr(data, "nrows"):
            data = data.table()
        elif _is_tensor(data):
            from . import _dlpack

            a: Array = _dlpack.from_dlpack(data, copy=True)
            return a if f in (None, a.format) else a.astype(f)
    if isinstance(data, np.generic):
        data = np.asarray(data)
    elif not isinstance(data, (np.ndarray, str)) and _numbers.holds_buffer(data):
        data = np.asarray(data)
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("masked arrays are not supported")
    if isinstance(data, range):
        data = list(data)
    if isinstance(data, np.ndarray) and data.dtype != object:
        return _from_numpy(data, f)
    if isinstance(data, (float, int)) and not isinstance(data, bool):
        entries = np.empty((), object)
        entries[()] = data
    else:
        entries = _entries(data)
        if entries.dtype != object:
            return _from_numpy(entries, f)
    return _from_objects(entries, f)


def _entries(data: Any) -> np.ndarray:
    """Returns nested lists as a numpy array: of doubles if all numbers are floats, else of objects."""
    if isinstance(data, np.ndarray):
        return data
    shape: list[int] = []
    level = data
    while isinstance(level, (list, tuple, range, Array)) or isinstance(level, np.ndarray) and level.ndim:
        shape.append(len(level))
        if not len(level):
            break
        level = level[0]
    z = np.empty(shape, object)
    flat: list[Any] = []

    def fill(x: Any, depth: int) -> None:
        inner = isinstance(x, (list, tuple, range, Array)) or isinstance(x, np.ndarray) and x.ndim > 0
        if depth == len(shape) or not inner:
            if inner or depth != len(shape):
                raise MisuseError("rows have different lengths")
            flat.append(x)
            return
        if len(x) != shape[depth]:
            raise MisuseError(f"rows have different lengths: {len(x)} after {shape[depth]}")
        for y in x:
            fill(y, depth + 1)

    fill(data, 0)
    if flat and all(type(x) is float for x in flat):
        return np.array(flat, float).reshape(shape)
    if not flat:
        return np.empty(shape)
    z.reshape(-1)[:] = flat
    return z


def _from_numpy(a: np.ndarray, f: Format | None) -> Array:
    kind, size = a.dtype.kind, a.dtype.itemsize
    if kind == "c":
        raise TypeError("complex numbers are not supported")
    if kind in "US":
        return _from_objects(a.astype(object), f)
    if kind not in "fiub":
        raise TypeError(f"arrays of {a.dtype} have no numbers")
    if kind == "f" and size > 8:
        return _from_objects(a.astype(object) if a.ndim else np.array(a[()], object), f)
    to: Any = {"i": np.int64, "u": np.uint64, "b": np.int64}.get(kind, np.float32 if size <= 4 else np.float64)
    a = np.ascontiguousarray(a, dtype=to).reshape(a.shape)  # native order of bytes; exact
    lib = library()
    rows, cols = _matrix_shape(a.shape)
    name = {np.int64: "i64", np.uint64: "u64", np.float32: "f32", np.float64: "f64"}[to]
    target = f.code if f else (name.encode() if kind == "f" else None)
    h = getattr(lib, "matrix_from_" + name)(a.ctypes.data, rows, cols, *_strides(rows, cols), target)
    return Array._of(h, a.shape, f or Format(lib.matrix_format(h)), None, "cpu")


def _from_objects(entries: np.ndarray, f: Format | None) -> Array:
    flat = [_numbers.exact(x) for x in entries.reshape(-1)]
    if f is None:
        f = _holding(flat, entries)
    values: list[Dyadic] = []
    for v in flat:
        if isinstance(v, str):
            v = _parsed(v, f)
        elif isinstance(v, Fraction):
            v = _numbers.rounded_enough(v, f.precision)
        values.append(v)
    return from_dyadics(values, entries.shape, f)


def _parsed(text: str, f: Format) -> Dyadic:
    try:
        return Scalar._of(library().scalar_from_text(text.strip().encode(), f.code), f)._dyadic()
    except MisuseError:
        raise MisuseError(f"{text!r} is no number: decimals are texts such as '0.1' and '1e-5', fractions are Fraction(1, 3)") from None


def _holding(flat: list[Any], entries: np.ndarray) -> Format:
    """Returns the format that holds all numbers: float64, or mp with the bits they need."""
    need = 0
    for i, v in enumerate(flat):
        if isinstance(v, str):
            _parsed(v, float64)  # an error if it is no number
            try:
                v = _numbers.exact(Fraction(v)) if len(v) < 400 and abs(_exponent(v)) < 400 else v
            except ValueError:
                parsed = _parsed(v, float64)  # or an error
                v = parsed if v.strip().lower().lstrip("+-") in ("inf", "infinity", "nan") else v
        if not isinstance(v, Dyadic):
            shown = repr(entries.reshape(-1)[i])
            raise MisuseError(f"float64 does not hold {shown} exactly: give a format, such as format='mp:200', or format='f64' to round")
        flat[i] = v
        if v.m > 0:
            m = v.m >> ((v.m & -v.m).bit_length() - 1)
            bits, top = m.bit_length(), v.m.bit_length() + v.e
            if bits > 53 or top > 1024 or top - bits < -1074:
                need = max(need, bits, 2)
    carried = max((_numbers.natural_precision(x) for x in entries.reshape(-1)), default=0)
    if need == 0 and carried <= 53:
        return float64
    return mp(max(need, carried, 53))


def _exponent(text: str) -> int:
    _, e, digits = text.lower().partition("e")
    try:
        return int(digits) if e else 0
    except ValueError:
        return 1 << 30
