"""A referee for results of any program: how many entries are correctly rounded."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._library import call, free, library
from ._routines import Operands


class Verdict(NamedTuple):
    """What a comparison with the exact result found."""

    entries: int
    """How many entries there are."""
    correct: int
    """How many of them are correctly rounded."""
    faithful: int
    """How many of the others err by less than an ulp."""
    wrong: int
    """How many err by an ulp or more."""
    largest: float
    """The largest error, in ulps."""


def _verdict(handle: int) -> Verdict:
    lib = library()
    try:
        kinds = dict(line.split(" ", 1) for line in lib.record_names(handle).splitlines())

        def value(name: str) -> Any:
            return getattr(lib, "record_" + kinds[name])(handle, name.encode())

        return Verdict(*(value(name) for name in Verdict._fields))
    finally:
        free(handle)


def product(a: Any, b: Any, c: Any, /) -> Verdict:
    """Compares C, from any program, with the exact product A B rounded to the format of C.

    >>> import halfulp as hp, numpy as np
    >>> a = np.array([[1e16, 1.0, -1e16]])
    >>> hp.verify.product(a, np.ones((3, 1)), np.array([[0.0]])).wrong
    1
    """
    o = Operands(a, b, c)
    x, y, z = o.arrays
    return _verdict(call("verify_product", x._handle, y._handle, z._handle, work=1e7))


def solution(a: Any, b: Any, x: Any, /) -> Verdict:
    """Compares X, from any program, with the exact solution of A X = B rounded to the format of X."""
    o = Operands(a, b, x)
    m, y, z = o.arrays
    return _verdict(call("verify_solution", m._handle, y._handle, z._handle, work=1e7))
