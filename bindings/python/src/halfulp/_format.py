"""Formats of numbers: how they are stored, hence what rounding means."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Union

import numpy as np

from ._library import MisuseError


class Format:
    """How one number is stored. Results are rounded once, to the nearest number of a format.

    "f32" and "f64" are IEEE 754's; "dd", "td" and "qd" are sums of two to four doubles; "mp:P" is
    binary floating point with P bits and exponents of 32 bits.

    >>> import halfulp as hp
    >>> hp.Format("mp:424")
    Format('mp:424')
    >>> hp.Format("f64").precision
    53
    """

    __slots__ = ("kind", "name", "precision")
    _cache: dict[str, Format] = {}

    name: str
    kind: str
    precision: int

    def __new__(cls, name: Any) -> Format:
        if isinstance(name, Format):
            return name
        if isinstance(name, str) and (found := cls._cache.get(name)):
            return found
        text = _NAMES.get(name, name) if isinstance(name, str) else _dtype(name)
        text = text.lower()
        if text not in _PRECISION and not text.startswith("mp:"):
            text = _dtype_name(text) or text
        if text in _PRECISION:
            kind, precision = text, _PRECISION[text]
        elif m := re.fullmatch(r"mp:(\d{1,9})", text):
            kind, precision = "mp", int(m[1])
        else:
            raise MisuseError(f"unknown format {name!r}: formats are f32, f64, dd, td, qd and mp:P, such as mp:424")
        f = cls._cache.get(text)
        if f is None:
            f = object.__new__(cls)
            f.name, f.kind, f.precision = text, kind, precision
            cls._cache[text] = f
        return f

    def __repr__(self) -> str:
        return f"Format({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Format):
            return self.name == other.name
        if isinstance(other, (str, type, np.dtype)):
            try:
                return self.name == Format(other).name
            except (MisuseError, TypeError):
                return False
        return NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return Format, (self.name,)

    @property
    def code(self) -> bytes:
        """The name as the C library wants it."""
        return self.name.encode()

    @property
    def terms(self) -> int:
        """The number of doubles of an expansion; 0 for other formats."""
        return {"dd": 2, "td": 3, "qd": 4}.get(self.kind, 0)

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """numpy's type of the same numbers, or None."""
        if self.kind == "f64":
            return np.dtype(np.float64)
        return np.dtype(np.float32) if self.kind == "f32" else None


FormatLike = Union[Format, str, type, "np.dtype[Any]"]

_NAMES = {"float64": "f64", "float32": "f32", "double": "f64", "single": "f32", "float": "f64"}
# For expansions this is the least precision: 1 + 2^-300 is also a number of format dd.
_PRECISION = {"f32": 24, "f64": 53, "dd": 106, "td": 159, "qd": 212}


def _dtype(t: Any) -> str:
    if t is float:
        return "f64"
    try:
        name = np.dtype(t).name
    except TypeError:
        name = str(t)
    if name not in ("float64", "float32"):
        raise MisuseError(f"no format has the numbers of {name}: formats are f32, f64, dd, td, qd and mp:P")
    return _NAMES[name]


def _dtype_name(text: str) -> str | None:
    """Returns the format of numpy's name of a type, such as "<f8"; None for other texts."""
    try:
        return _NAMES.get(np.dtype(text).name)
    except (TypeError, ValueError, SyntaxError):  # as numpy finds fault with a text
        return None


float32, float64 = Format("f32"), Format("f64")
dd, td, qd = Format("dd"), Format("td"), Format("qd")


def mp(precision: int) -> Format:
    """Returns the format of binary floating point with the given bits."""
    return Format(f"mp:{int(precision)}")


@lru_cache(maxsize=256)
def promoted(f: Format, g: Format) -> Format:
    """Returns the format of results of two operands: the more precise of theirs.

    f32 with f64 is f64. Two formats of which one is an expansion and the other mp:P, or f64 and
    mp:P, give mp with the larger precision, so the result may be rounded.
    """
    if f is g or f == g:
        return f
    if "mp" in (f.kind, g.kind):
        return mp(max(f.precision, g.precision))
    return f if f.precision > g.precision else g


def asked(format: FormatLike | None, prec: int | None) -> Format | None:
    """Returns the format that the arguments format= and prec= request, or None."""
    if prec is not None:
        if format is not None:
            raise MisuseError("give format= or prec=, not both")
        return mp(prec)
    return None if format is None else Format(format)
