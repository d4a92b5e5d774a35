"""Tests of numbers as text, and of what errors say."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

import halfulp as hp


def fixed(x: Fraction, digits: int) -> str:
    """Returns a number with so many digits behind the point, by integers alone."""
    n = round(abs(x) * 10**digits)  # ties to even
    text = str(n).rjust(digits + 1, "0")
    return ("-" if x < 0 else "") + text[: len(text) - digits] + "." * (digits > 0) + text[len(text) - digits :]


@pytest.mark.parametrize("f", ["f32", "f64", "dd", "qd", "mp:2", "mp:54", "mp:300"])
def test_format(f):
    numbers = [x for row in hp.random(6, 2, spread=70, seed=11, format=f).tolist() for x in row]
    numbers += [hp.Scalar(t, f) for t in ("0.1", "-0.1", "0.5", "2.5", "-123456789012345678901234567890.123", "1e-30", "0")]
    for x in numbers:
        exact = Fraction(*x.as_integer_ratio())
        for digits in (0, 1, 7, 30, 60):
            assert format(x, f".{digits}f") == fixed(exact, digits), (x, digits)
            mantissa, e = format(x, f".{digits}e").split("e")
            if x != 0 and digits:
                assert mantissa == fixed(exact / Fraction(10) ** int(e), digits), (x, digits)
        assert hp.Scalar(format(x, "50").strip(), f) == x and len(format(x, "400")) == 400
        assert Decimal(format(x, ".4%")[:-1]) == Decimal(fixed(exact * 100, 4))


def test_format_of_large_and_special_numbers():
    big = hp.Scalar("1e100000", "mp:100")
    assert f"{big:.2e} {1 / big:.2e} {1 / big:.3f} {1 / -big:.3f}" == "1.00e+100000 1.00e-100000 0.000 -0.000"
    with pytest.raises(hp.MisuseError, match=r"\.2f"):
        format(big, ".2f")
    assert f"{hp.Scalar(math.inf, 'mp:80'):>5f} {hp.Scalar(math.nan, 'mp:80'):.2e}" == "  inf nan"
    for bad in ("q", ".3d", "x"):
        with pytest.raises(ValueError):
            format(hp.Scalar("0.1", "mp:80"), bad)


def test_indices_count_from_zero():
    with pytest.raises(hp.NotFiniteError, match=r"A\[0, 1\]"):
        hp.linalg.inv([[1.0, math.nan], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"A\[1, 2\] and A\[2, 1\]"):
        hp.linalg.cholesky([[4.0, 0, 0], [0, 4, 1], [0, 2, 4]])


def test_texts_that_are_no_numbers():
    for bad in ("abc", "1/3", "", "1 2"):
        for f in (None, "f64", "mp:100"):
            with pytest.raises(hp.MisuseError, match="no number"):
                hp.array([bad], f)


def test_ranges():
    assert hp.sum(range(10)) == 45 and hp.array(range(3), "mp:100").shape == (3,)
    assert hp.array([range(2), range(2)]).shape == (2, 2)
    assert hp.sum(range(2**53 + 1, 2**53 + 3)) == float(2**54 + 3) and isinstance(hp.sum(range(2**53 + 1, 2**53 + 3)), float)
