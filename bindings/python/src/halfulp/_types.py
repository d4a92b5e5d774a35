"""Formats and numpy's types under the names of the Array API, and what this namespace can do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from . import _array
from ._array import Array, Scalar
from ._format import Format, float32, float64, promoted
from ._library import DeviceError, MisuseError, gpus

# Arrays of booleans and of integers are numpy's arrays.
bool = np.dtype(np.bool_)
int8, int16, int32, int64 = (np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64))
uint8, uint16, uint32, uint64 = (np.dtype(t) for t in (np.uint8, np.uint16, np.uint32, np.uint64))

e, inf, nan, newaxis, pi = np.e, np.inf, np.nan, None, np.pi

_SIGNED, _UNSIGNED = (int8, int16, int32, int64), (uint8, uint16, uint32, uint64)


def _of(x: Any) -> Any:
    """Returns the format, or numpy's type, of an array, of a number or of a name."""
    if isinstance(x, (Array, Scalar)):
        return x.format
    if isinstance(x, (np.ndarray, np.generic)):
        x = x.dtype
    integers = _array._integers(x)
    return integers if integers is not None else Format(x)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Returns the format of results of operands, or numpy's type if all are integers or truth values."""
    weak = [x for x in arrays_and_dtypes if type(x) in (int, float, complex, type(True))]
    kinds = [_of(x) for x in arrays_and_dtypes if type(x) not in (int, float, complex, type(True))]
    if not kinds:
        raise MisuseError("an array or a type is needed")
    formats = [k for k in kinds if isinstance(k, Format)]
    if any(isinstance(x, complex) for x in weak):
        raise TypeError("complex numbers are not supported")
    if not formats:
        return np.result_type(*kinds, *weak)
    if len(formats) < len(kinds):
        formats.append(float64)  # integers want it
    z = formats[0]
    for f in formats[1:]:
        z = promoted(z, f)
    return z


def can_cast(from_: Any, to: Any, /) -> Any:
    """Returns whether all numbers of one format, or type of numpy, are numbers of another."""
    f, g = _of(from_), _of(to)
    if isinstance(f, Format) and isinstance(g, Format):
        return f == g or promoted(f, g) == g and not (f.terms and g.kind == "mp") and not (g.terms and f.kind == "mp")
    if isinstance(f, Format):
        return False
    if isinstance(g, Format):
        return f == bool or 8 * f.itemsize - (f.kind == "i") <= g.precision
    return np.can_cast(f, g)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Returns whether a format, or type of numpy, is of a kind of the Array API."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    d = _of(dtype)
    if isinstance(kind, str):
        real = isinstance(d, Format)
        integer = {"signed integer": d in _SIGNED, "unsigned integer": d in _UNSIGNED} if not real else {}
        table = {"bool": not real and d == bool, "real floating": real, "complex floating": False, "integral": any(integer.values()), "numeric": real or any(integer.values())}
        table |= {"signed integer": False, "unsigned integer": False} | integer
        if kind not in table:
            raise MisuseError(f"unknown kind {kind!r}: kinds are {', '.join(table)}")
        return table[kind]
    return type(_of(kind)) is type(d) and _of(kind) == d


class finfo(NamedTuple):  # noqa: N801
    """What a format holds: the bits of a number, the distance of 1 from the next one, and its range.

    For formats other than float32 and float64 the numbers are Scalars. Expansions hold 1 + 2^-300 as
    well; eps refers to their nominal number of bits.
    """

    bits: int
    eps: Any
    max: Any
    min: Any
    smallest_normal: Any
    dtype: Any


def _finfo(type: Any, /) -> finfo:
    """Returns what a format holds, or the format of an array: see the class of the result."""
    f = _of(type)
    if not isinstance(f, Format):
        raise MisuseError(f"{f} has no floating-point numbers")
    if f.dtype is not None:
        z = np.finfo(f.dtype)
        return finfo(z.bits, float(z.eps), float(z.max), float(z.min), float(z.smallest_normal), f)
    eps = Scalar(2.0, f) ** (1 - f.precision)
    if f.terms:
        largest = Scalar(np.finfo(np.float64).max, f)
        return finfo(64 * f.terms, eps, largest, -largest, Scalar(np.finfo(np.float64).smallest_normal, f), f)
    from ._numbers import Dyadic

    one = _array.from_dyadics([Dyadic(False, (1 << f.precision) - 1, 2**31 - 1 - f.precision), Dyadic(False, 1, -(2**31) - 1)], (2,), f)
    return finfo(f.precision + 33, eps, one[0], -one[0], one[1], f)


def iinfo(type: Any, /) -> Any:
    """Returns what a type of integers holds: numpy.iinfo."""
    return np.iinfo(_of(type))


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """Returns an array whose entries are rounded once to a format, or truncated to a type of integers."""
    if isinstance(x, (np.ndarray, np.generic)):
        integers = _array._integers(dtype)
        if integers is not None:
            return np.asarray(x).astype(integers)
        f = Format(dtype)
        return np.asarray(x).astype(f.dtype) if f.dtype is not None else _array.array(np.asarray(x), f)
    z = x if not copy and isinstance(x, Array) and _of(dtype) == x.format else x.astype(dtype)
    return z if device is None or not isinstance(z, Array) else z.to_device(device)


class Info:
    """What the namespace can do, as the Array API asks."""

    def capabilities(self) -> dict[str, Any]:
        """Returns what indexing and shapes may depend on."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Returns where arrays are made."""
        return "cpu"

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Returns the default types of results. There are no complex numbers."""
        return {"real floating": float64, "complex floating": None, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Returns formats and numpy's types by name. mp:P has a format for each P, and is not listed."""
        names: dict[str, Any] = {"float32": float32, "float64": float64}
        if device in (None, "cpu"):
            names = {"bool": bool} | {d.name: d for d in _SIGNED + _UNSIGNED} | names
        return names if kind is None else {name: d for name, d in names.items() if isdtype(d, tuple(kind) if isinstance(kind, Iterable) and not isinstance(kind, str) else kind)}

    def devices(self) -> list[str]:
        """Returns where arrays can live: "cpu" and the GPUs of this machine."""
        try:
            return ["cpu", *(str(g["device"]) for g in gpus())]
        except DeviceError:
            return ["cpu"]


def __array_namespace_info__() -> Info:  # noqa: N807
    """Returns what this namespace can do, as the Array API asks."""
    return Info()
