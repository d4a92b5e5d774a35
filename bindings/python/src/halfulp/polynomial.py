"""Real roots of polynomials, and quadrature rules of Gauss, under numpy's names (numpy.polynomial).

Every root, node and weight is the exact one rounded once. Rules are arrays of numpy in float64, unless
format= or prec= requests another format.
"""

from __future__ import annotations

import operator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from . import _routines
from ._array import Array, Scalar
from ._format import FormatLike
from ._library import MisuseError, call, library
from ._routines import Operands
from ._spectra import warn_undecided

__all__ = [
    "chebgauss",
    "hermgauss",
    "laggauss",
    "leggauss",
    "polyroots_real",
    "roots_chebyu",
    "roots_gegenbauer",
    "roots_genlaguerre",
    "roots_jacobi",
]


def _rule(name: str, deg: Any, descending: bool, format: FormatLike | None, prec: int | None, *exponents: Any) -> tuple[Any, Any]:
    n = operator.index(deg)
    if n < 1:
        raise MisuseError(f"{n} points: at least 1 is needed")
    o = Operands(0.0, format=format, prec=prec)
    numbers = [Scalar(x, o.format) if isinstance(x, (str, Fraction, Decimal)) else Scalar(x) for x in exponents]
    alpha, beta = [x._handle for x in numbers] + [0] * (2 - len(numbers))
    x, w, undecided = call("quadrature", name.encode(), n, alpha, beta, o.format.code, work=100.0 * n * n)
    nodes, weights = (Array._of(h, (n,), o.format) for h in (x, w))
    warn_undecided(undecided, "weights")
    if descending:
        nodes, weights = nodes[::-1], weights[::-1]
    return o.plainly(nodes), o.plainly(weights)


def leggauss(deg: int, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns nodes and weights of Gauss-Legendre quadrature: ∫ g(x) dx on [-1, 1] is Σ w_i g(x_i).

    The rule is exact for polynomials of degree up to 2 deg - 1. Each number is correctly rounded.

    >>> import halfulp as hp
    >>> x, w = hp.polynomial.leggauss(3)
    >>> x
    array([-0.77459667,  0.        ,  0.77459667])
    >>> hp.polynomial.leggauss(3, prec=100)[1][0].text(25)
    '0.5555555555555555555555556'
    """
    return _rule("legendre", deg, False, format, prec)


def hermgauss(deg: int, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns nodes and weights of Gauss-Hermite quadrature, ∫ exp(-x²) g(x) dx: see leggauss."""
    return _rule("hermite", deg, False, format, prec)


def laggauss(deg: int, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns nodes and weights of Gauss-Laguerre quadrature, ∫ exp(-x) g(x) dx from 0 on: see leggauss."""
    return _rule("laguerre", deg, False, format, prec)


def chebgauss(deg: int, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns nodes and weights of Gauss-Chebyshev quadrature, ∫ g(x)/√(1 - x²) dx on [-1, 1]: see leggauss.

    The nodes are in descending order, as numpy's.
    """
    return _rule("chebyshev1", deg, True, format, prec)


def roots_chebyu(n: int, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns nodes and weights for ∫ g(x) √(1 - x²) dx on [-1, 1]: scipy.special.roots_chebyu. See leggauss."""
    return _rule("chebyshev2", n, False, format, prec)


def roots_genlaguerre(n: int, alpha: Any, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns nodes and weights for ∫ x^alpha exp(-x) g(x) dx from 0 on, alpha > -1: scipy.special.roots_genlaguerre.

    Numbers are taken exactly; texts, Fractions and Decimals are rounded once to the format of the result.

    >>> import halfulp as hp
    >>> hp.polynomial.roots_genlaguerre(2, 1)[0]
    array([1.26794919, 4.73205081])
    """
    return _rule("genlaguerre", n, False, format, prec, alpha)


def roots_jacobi(n: int, alpha: Any, beta: Any, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns nodes and weights for ∫ (1 - x)^alpha (1 + x)^beta g(x) dx on [-1, 1]: scipy.special.roots_jacobi.

    alpha, beta > -1 are taken as by roots_genlaguerre.

    >>> import halfulp as hp
    >>> hp.polynomial.roots_jacobi(2, 0.5, -0.25)[0]
    array([-0.72246527,  0.3695241 ])
    """
    return _rule("jacobi", n, False, format, prec, alpha, beta)


def roots_gegenbauer(n: int, alpha: Any, *, format: FormatLike | None = None, prec: int | None = None) -> tuple[Any, Any]:
    """Returns nodes and weights for ∫ (1 - x²)^(alpha - 1/2) g(x) dx on [-1, 1]: scipy.special.roots_gegenbauer.

    alpha > -1/2 is taken as by roots_genlaguerre.

    >>> import halfulp as hp
    >>> hp.polynomial.roots_gegenbauer(2, 1)[0]
    array([-0.5,  0.5])
    """
    return _rule("gegenbauer", n, False, format, prec, alpha)


def polyroots_real(c: Any, /, *, format: FormatLike | None = None, prec: int | None = None) -> Any:
    """Returns all real roots of c[0] + c[1] x + c[2] x² + ... in ascending order, each correctly rounded.

    The coefficients are in ascending powers, as for numpy.polynomial.polynomial.polyroots. A root of
    multiplicity k stands k times. Roots that are not real are left out: their number is the degree less
    the number of results.

    >>> import halfulp as hp
    >>> hp.polynomial.polyroots_real([-2, 0, 1])
    array([-1.41421356,  1.41421356])
    """
    o = Operands(c, format=format, prec=prec)
    p = _routines._vector(o.arrays[0], "c")
    h = call("real_roots", p._handle, o.format.code, work=float(p.size) ** 4)
    return o.result(h, (int(library().matrix_shape(h)[0]),))
