"""Least squares with statistics: regression and polynomials."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from . import _routines, _shapes
from ._array import Array, asarray, elementwise
from ._creation import vander
from ._entries import holding, span
from ._format import FormatLike
from ._library import MisuseError, UndecidedWarning, call, free, library
from ._routines import Operands


class Fit(NamedTuple):
    """A linear model b = A x + e, fitted by least squares; each number is the exact one rounded once.

    With k right-hand sides, coefficients and standard_errors have k columns and statistics k entries.
    r is the residual sum of squares, TSS the total one, about the mean if there is an intercept.
    """

    coefficients: Any
    """The estimates x."""
    standard_errors: Any
    """The standard deviations of the estimates; NaN for as many observations as coefficients."""
    residual_ss: Any
    """r = Σ w_i (b - A x)_i²."""
    residual_ms: Any
    """r divided by the degrees of freedom."""
    residual_sd: Any
    """The residual standard deviation, the square root of residual_ms."""
    regression_ss: Any
    """TSS - r."""
    r_squared: Any
    """1 - r/TSS."""
    f: Any
    """The F statistic."""
    observations: int
    """The rows of A whose weight is not 0."""
    degrees_of_freedom: int
    """Observations less coefficients."""
    centered: bool
    """Whether a column of A is constant, an intercept."""
    covariance: Any
    """The covariance matrix of the estimates, or one for each right-hand side; None if not requested."""
    lower: Any = None
    """The lower limits x - t s of the confidence intervals of the estimates; None if not requested.

    s is the standard error of x, and t the number that a Student's t of as many degrees of freedom
    exceeds in magnitude with a probability of 1 less the level.
    """
    upper: Any = None
    """The upper limits x + t s."""
    t: Any = None
    """The estimates divided by their standard errors; None unless p_values are requested."""
    p_values: Any = None
    """The probability of a magnitude of t at least as large if the parameter is 0 (two-sided, Student's t)."""
    f_p_value: Any = None
    """The probability of an F at least as large if all parameters but the intercept are 0."""


def _unit(u: Any) -> bytes | None:
    if u is None:
        return None
    if isinstance(u, (list, tuple)):
        return ",".join(str(Fraction(v)) for v in u).encode()
    return str(Fraction(u)).encode()


def _level(confidence: Any) -> bytes | None:
    """Returns the level of confidence intervals; a float stands for its shortest decimal."""
    return None if confidence is None else str(Fraction(str(confidence))).encode()


def regression(
    a: Any, b: Any, /, *, weights: Any = None, covariance: bool = False, p_values: bool = False, confidence: Any = None, unit: Any = None, column_units: Sequence[Any] | None = None, weight_unit: Any = None, format: FormatLike | None = None, prec: int | None = None
) -> Fit:
    """Fits B = A X + E by least squares and returns the estimates with their statistics.

    a: m x n with m ≥ n and independent columns, else SingularMatrixError. b: m numbers, or m x k.
    weights: w_i ≥ 0 of the rows: Σ w_i (b - A x)_i² is minimized.
    unit: the exact number that one unit of b stands for, a Fraction or a text such as "1/1000", so that
        decimals are exact: 1234 with this unit is 1.234. column_units has one for each column of a.
    confidence: the level of confidence intervals of the estimates, such as 0.95 or Fraction(19, 20);
        their limits are lower and upper of the result, each the exact one rounded once. UndecidedWarning
        counts limits that lie halfway between two numbers, or seem to.
    p_values: whether t, p_values and f_p_value are computed, each the exact one rounded once, unless
        UndecidedWarning counts it; the fit is then computed twice.

    >>> import halfulp as hp
    >>> fit = hp.regression([[1.0, 1], [1, 2], [1, 3]], [1.0, 2, 4])
    >>> print(fit.coefficients, fit.r_squared)
    [-0.66666667  1.5       ] 0.9642857142857143
    >>> print(hp.regression([[1.0, 1], [1, 2], [1, 3]], [1.0, 2, 4], p_values=True).p_values)
    [0.47876359 0.12103772]
    """
    operands = (a, b) if weights is None else (a, b, weights)
    o = Operands(*operands, format=format, prec=prec)
    m, y = o.arrays[:2]
    if m.ndim != 2 or y.ndim not in (1, 2) or y.shape[0] != m.shape[0]:
        raise MisuseError(f"a matrix and as many observations as it has rows are needed, not the shapes {m.shape} and {y.shape}")
    w = _routines._vector(o.arrays[2], "weights")._handle if weights is not None else 0
    work = float(m.shape[0]) * m.shape[1] ** 2
    h = call("regression", m._handle, y._handle, w, _unit(unit), _unit(column_units), _unit(weight_unit), int(covariance), int(p_values), _level(confidence), o.format.code, work=work)
    return _fit(h, o, y.ndim == 1, covariance, confidence is not None, p_values)


def polynomial_regression(
    x: Any, y: Any, deg: int, /, *, weights: Any = None, covariance: bool = False, p_values: bool = False, confidence: Any = None, unit: Any = None, x_unit: Any = None, weight_unit: Any = None, format: FormatLike | None = None, prec: int | None = None
) -> Fit:
    """Fits a polynomial to points (x_i, y_i) and returns the coefficients of 1, x, x² and so on, with statistics.

    The arguments are as for regression; the powers of x are exact.
    """
    operands = (x, y) if weights is None else (x, y, weights)
    o = Operands(*operands, format=format, prec=prec)
    p, q = (_routines._vector(v, name) for v, name in zip(o.arrays[:2], "xy", strict=True))
    w = _routines._vector(o.arrays[2], "weights")._handle if weights is not None else 0
    d = operator.index(deg)
    work = float(p.size) * (d + 1.0) ** 2
    h = call("polyfit", p._handle, q._handle, d, w, _unit(unit), _unit(x_unit), _unit(weight_unit), int(covariance), int(p_values), _level(confidence), o.format.code, work=work)
    return _fit(h, o, True, covariance, confidence is not None, p_values)


def _fit(h: int, o: Operands, vector: bool, covariance: bool, limits: bool, tests: bool) -> Fit:
    lib = library()

    def matrix(name: str) -> Any:
        z = lib.record_matrix(h, name.encode())
        a = Array._of(z, tuple(lib.matrix_shape(z)), o.format)
        if not vector or name.startswith("covariance"):
            return a
        return a.reshape(-1)

    try:
        statistics = []
        for name in ("residual_ss", "residual_ms", "residual_sd", "regression_ss", "r_squared", "f", *(["f_p"] if tests else [])):
            row = matrix(name).reshape(-1)
            statistics.append(o.plainly(row)[0] if vector else o.plainly(row))
        x, errors = matrix("X"), matrix("standard_errors")
        count = 1 if vector else x.shape[1]
        tables = [matrix(f"covariance_{j}") for j in range(count)] if covariance else []
        ends = [matrix("lower"), matrix("upper")] if limits else []
        undecided = lib.record_integer(h, b"undecided") if limits else 0
        significance = [matrix("t"), matrix("p")] if tests else [None, None]
        undecided_tests = lib.record_integer(h, b"undecided_tests") if tests else 0
        integers = [lib.record_integer(h, name) for name in (b"observations", b"degrees_of_freedom", b"centered")]
    finally:
        free(h)
    table: Any = None
    if tables:
        table = o.plainly(tables[0]) if vector else o.plainly(asarray(_shapes.stack(tables)))
    if undecided:
        warnings.warn(f"{undecided} limits of confidence intervals lie halfway between two numbers, or seem to", UndecidedWarning, stacklevel=3)
    if undecided_tests:
        warnings.warn(f"{undecided_tests} t or p-values lie halfway between two numbers, or seem to", UndecidedWarning, stacklevel=3)
    ss, ms, sd, explained, r_squared, f, *f_p = statistics
    lower, upper, t, p = (None if e is None else o.plainly(e) for e in (*(ends or [None, None]), *significance))
    return Fit(o.plainly(x), o.plainly(errors), ss, ms, sd, explained, r_squared, f, integers[0], integers[1], bool(integers[2]), table, lower, upper, t, p, *f_p)


def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns the coefficients of the polynomial of a degree that fits points best, the highest power first.

    The arguments are as for numpy.polyfit: w_i multiplies the residual y_i - p(x_i), so that
    Σ w_i² (y_i - p(x_i))² is minimized; y may have several columns. With cov=True the result is a pair
    of the coefficients and their covariance matrix. Each number is the exact one rounded once. full is
    an error: no singular values are computed. polynomial_regression returns more statistics.

    >>> import halfulp as hp
    >>> hp.polyfit([0, 1, 2, 3], [1, 2, 5, 10], 2)
    array([1., 0., 1.])
    """
    if full or cov not in (False, True):
        raise MisuseError("full and cov='unscaled' are not computed")
    operands = (x, y) if w is None else (x, y, w)
    o = Operands(*operands, format=format, prec=prec)
    ys = o.arrays[1]
    if ys.ndim not in (1, 2):
        raise TypeError("y is a vector or a matrix")
    weights = None
    if w is not None:
        v = o.arrays[2]
        weights = elementwise("mul", v, v, holding(2 * (2200 if v.format.terms else v.format.precision)))
    columns = [ys] if ys.ndim == 1 else [ys[:, j] for j in range(ys.shape[1])]
    fits = [polynomial_regression(o.arrays[0], c, deg, weights=weights, covariance=bool(cov), format=o.format) for c in columns]

    def joined(parts: list[Any]) -> Any:
        return o.plainly(parts[0] if ys.ndim == 1 else asarray(_shapes.stack(parts, axis=-1)))

    p = joined([_shapes.flip(f.coefficients) for f in fits])
    return (p, joined([_shapes.flip(f.covariance) for f in fits])) if cov else p


def polyval(p: Any, x: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns p[0] x^(n-1) + ... + p[n-1] entry by entry, each rounded once: numpy.polyval."""
    o = Operands(p, x, format=format, prec=prec)
    c, at = o.arrays
    c = _routines._vector(c, "p")
    # The powers of x in a format in which they are exact.
    low, high = span(at)
    bits = max((high - low) * max(c.size - 1, 1) + 2, 2)
    powers = vander(at.reshape(-1), c.size, format=holding(bits))
    z = asarray(_routines.matmul(powers, c, format=o.format)).reshape(at.shape)
    return o.given(z, x)
