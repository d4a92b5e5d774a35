"""Exact numbers of other types: Python's, numpy's, mpmath's, gmpy2's, python-flint's, sympy's."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ._library import MisuseError


class Dyadic(NamedTuple):
    """The number (-1)^negative m 2^e, or with m = -1 infinity, with m = -2 NaN."""

    negative: bool
    m: int
    e: int


INFINITY, NAN = -1, -2

Exact = Dyadic | Fraction | str


def _from_float(x: float) -> Dyadic:
    if math.isnan(x):
        return Dyadic(False, NAN, 0)
    negative = math.copysign(1.0, x) < 0
    if math.isinf(x):
        return Dyadic(negative, INFINITY, 0)
    m, e = math.frexp(abs(x))
    return Dyadic(negative, int(m * 2**53), e - 53)


def _loaded(module: str, name: str) -> Any:
    """Returns a type of a module if the program has imported it, else an empty tuple."""
    return getattr(sys.modules.get(module), name, ())


def exact(x: Any) -> Exact:
    """Returns the exact value of a number of any type, as m 2^e, as a fraction, or as text.

    A ball of python-flint has to have radius 0. Complex numbers are an error.
    """
    if isinstance(x, float):  # numpy.float64 too
        return _from_float(x)
    if isinstance(x, (bool, np.bool_)):
        return Dyadic(False, int(x), 0)
    if isinstance(x, (int, np.integer)):
        return Dyadic(bool(x < 0), abs(int(x)), 0)
    if isinstance(x, str):
        return x
    if isinstance(x, np.floating):
        if isinstance(x, np.longdouble):
            return _from_long_double(x)
        return _from_float(float(x))
    if isinstance(x, Fraction):
        d = x.denominator
        if d & (d - 1) == 0:
            return Dyadic(x < 0, abs(x.numerator), 1 - d.bit_length())
        return x
    if isinstance(x, Decimal):
        return str(x)
    if isinstance(x, (complex, np.complexfloating)):
        raise TypeError("complex numbers are not supported")
    if isinstance(x, _loaded("mpmath", "mpf")):
        return _from_mpf(x._mpf_)
    if isinstance(x, _loaded("gmpy2", "mpfr")):
        return _from_mpfr(x)
    if isinstance(x, (_loaded("gmpy2", "mpz"), _loaded("flint", "fmpz"))):
        return exact(int(x))
    if isinstance(x, _loaded("gmpy2", "mpq")):
        return exact(Fraction(int(x.numerator), int(x.denominator)))
    if isinstance(x, _loaded("flint", "fmpq")):
        return exact(Fraction(int(x.p), int(x.q)))
    if isinstance(x, _loaded("sympy", "Rational")):
        return exact(Fraction(int(x.p), int(x.q)))
    if isinstance(x, _loaded("sympy", "Float")):
        return _from_mpf(x._mpf_)
    if isinstance(x, _loaded("flint", "arf")):
        return _from_arf(x)
    if isinstance(x, _loaded("flint", "arb")):
        if not x.is_exact():
            raise MisuseError(f"{x} is a ball with a radius: give its midpoint, x.mid()")
        return _from_arf(x)
    if hasattr(x, "_dyadic"):  # a Scalar
        return Dyadic(*x._dyadic())
    if hasattr(x, "as_integer_ratio"):
        return exact(Fraction(*(int(i) for i in x.as_integer_ratio())))
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return exact(x[()])
    raise TypeError(f"a number was expected, not {type(x).__name__}")


def _from_long_double(x: Any) -> Dyadic:
    if np.isnan(x):
        return Dyadic(False, NAN, 0)
    negative = bool(np.signbit(x))
    if np.isinf(x):
        return Dyadic(negative, INFINITY, 0)
    p, q = abs(x).as_integer_ratio()
    return Dyadic(negative, p, 1 - q.bit_length())


def _from_mpf(t: tuple[int, Any, Any, int]) -> Dyadic:
    sign, man, e, bits = t
    if man == 0 and e:  # mpmath's codes of special values
        if e == -123:
            return Dyadic(False, NAN, 0)
        return Dyadic(e == -789, INFINITY, 0)
    return Dyadic(bool(sign), int(man), int(e))


def _from_mpfr(x: Any) -> Dyadic:
    gmpy2 = sys.modules["gmpy2"]
    if gmpy2.is_nan(x):
        return Dyadic(False, NAN, 0)
    negative = bool(gmpy2.is_signed(x))
    if gmpy2.is_infinite(x):
        return Dyadic(negative, INFINITY, 0)
    m, e = x.as_mantissa_exp()
    return Dyadic(negative, abs(int(m)), int(e))


def _from_arf(x: Any) -> Dyadic:
    """Returns the value of flint's arf, or of an arb of radius 0."""
    if not x.is_finite():
        return Dyadic(bool(x < 0), INFINITY if x < 0 or x > 0 else NAN, 0)
    m, e = x.man_exp()
    return Dyadic(m < 0, abs(int(m)), int(e))


def natural_precision(x: Any) -> int:
    """Returns the precision that a multiple-precision number carries; 0 for others."""
    if hasattr(x, "_dyadic"):
        return int(x.format.precision)
    if isinstance(x, _loaded("gmpy2", "mpfr")):
        return int(x.precision)
    if isinstance(x, _loaded("mpmath", "mpf")):
        return int(x.context.prec)
    return 0


def holds_buffer(x: Any) -> bool:
    """Reports whether numpy reads x as an array, such as an array.array, a memoryview or a Series."""
    if isinstance(x, (bytes, bytearray)) or hasattr(x, "_dyadic"):
        return False
    if isinstance(x, (memoryview, sys.modules["array"].array if "array" in sys.modules else memoryview)):
        return True
    return callable(getattr(x, "__array__", None)) and not hasattr(x, "as_integer_ratio") and not type(x).__module__.startswith("halfulp")


def precise(x: Any) -> bool:
    """Reports whether nested lists, or a number, hold numbers of a precision of their own."""
    if isinstance(x, (list, tuple, range)):
        return any(precise(v) for v in x)
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "f" if x.dtype != object else any(precise(v) for v in x.reshape(-1))
    return not isinstance(x, (int, float, np.integer, np.floating, np.bool_)) or isinstance(x, np.longdouble)


def integral(x: Any) -> bool:
    """Reports whether x is an integer, or array of integers, of numpy."""
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "iub"


def rounded_enough(x: Fraction, precision: int) -> Dyadic:
    """Returns a number m 2^e that rounds as x does in all formats of a precision.

    x is no number m 2^e. The last bit of m stands for all that follow. After the bits of a term of
    an expansion, x has at most log2(denominator) zeros before its next one.
    """
    p, q = abs(x.numerator), x.denominator
    bits = precision + 4 * (64 + q.bit_length())
    shift = bits + q.bit_length() - p.bit_length()
    m = (p << shift if shift >= 0 else p) // (q if shift >= 0 else q << -shift)
    return Dyadic(x < 0, 2 * m + 1, -shift - 1)


_ANY = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def formatted(x: Dyadic, spec: str, text: Callable[[int], str]) -> str:
    """Returns a finite number by the rules of format(), rounded once from its exact value.

    text(n) is the number with n significant digits, or for n = 0 the shortest that reads back to it.
    """
    parts = re.fullmatch(r"(.*?)(?:\.(\d+))?([a-zA-Z%]?)", spec, re.DOTALL)
    assert parts is not None
    head, digits, kind = parts[1], int(parts[2] or 6), parts[3]
    if not kind and parts[2] is None:
        return format(Decimal(text(0)), head)
    magnitude = x.m.bit_length() + x.e
    if -20000 < magnitude < 20000:
        m = -x.m if x.negative else x.m
        value = Decimal(m << x.e) if x.e >= 0 else Decimal(m * 5**-x.e).scaleb(x.e, _ANY)
    elif kind not in ("f", "F", "%"):
        value = Decimal(text(digits + (kind in ("e", "E"))))
    elif magnitude < 0 and digits < 5000:
        value = Decimal(text(1))  # which becomes a zero
    else:
        raise MisuseError(f"{text(5)} is not written in the form {spec!r}: use 'e'")
    return format(value, f"{head}.{digits}{kind}")
