"""Tests of functions against exact fractions: each result is the exact number rounded once."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import halfulp as hp

FORMATS = ["f32", "f64", "dd", "td", "qd", "mp:2", "mp:24", "mp:53", "mp:113", "mp:500"]


def fractions(x):
    return [Fraction(*v.as_integer_ratio()) for v in hp.asarray(x).ravel().tolist()]


def nearest(v, f):
    """Returns the number of a format nearest to a fraction."""
    return hp.array(v, f).item()


def is_root(s, v, f):
    """Whether s is √v rounded to a format: no number of the format lies nearer."""
    if v == 0:
        return s == 0
    s = Fraction(*s.as_integer_ratio())
    low, high = (nearest(s * (1 + sign * Fraction(1, 2 ** (hp.Format(f).precision + 1))), f) for sign in (-3, 3))
    ends = [(s + Fraction(*x.as_integer_ratio())) / 2 for x in (low, high)]
    return ends[0] ** 2 <= v <= ends[1] ** 2


def samples(f, n=7, seed=1):
    """Returns vectors: random, of close numbers, of numbers far apart, integers, and equal ones."""
    a = hp.random(5, n, seed=seed, spread=3, format=f)
    one = hp.ones(n, format=f)
    yield a[0]
    yield one * 1000 + a[1]
    yield hp.random(1, n, seed=seed, spread=30, format=f)[0]
    yield hp.array(np.arange(n) - 2, f)
    yield one * a[3, 0]


@pytest.mark.parametrize("f", FORMATS)
def test_variance(f):
    for x in samples(f):
        v = fractions(x)
        n, m = len(v), sum(v) / len(v)
        total = sum((t - m) ** 2 for t in v)
        for ddof in (0, 1, 2, Fraction(1, 2)):
            assert hp.var(x, ddof=ddof) == nearest(total / (n - ddof), f)
            s = hp.std(x, ddof=ddof)
            assert s.format == f and (f in ("dd", "td", "qd") or is_root(s, total / (n - ddof), f)), (ddof, s)
            # Expansions: the result of twice the bits rounds to the same number.
            assert f not in ("dd", "td", "qd") or s == hp.std(x, ddof=ddof, prec=900).astype(f)
        assert hp.mean(x) == nearest(m, f)
        assert hp.prod(x) == nearest(math.prod(v), f)
        assert hp.var(x, prec=77) == nearest(total / n, "mp:77")
    with pytest.raises(ValueError, match="finite"):
        hp.var([1.0], ddof=math.nan)
    assert math.isinf(hp.var([1.0, 2.0], ddof=2)) and math.isnan(hp.var([1.0, 1.0], ddof=2)) and math.isnan(hp.std([]))
    assert hp.var([5.0]) == 0 and math.isnan(hp.var([1.0, math.inf]))


@pytest.mark.parametrize("f", ["f32", "f64", "dd", "mp:100"])
def test_covariance(f):
    rows = list(samples(f))
    m = hp.stack(rows)
    v = [fractions(r) for r in rows]
    n = m.shape[1]
    centered = [[t - sum(r) / n for t in r] for r in v]
    for ddof in (0, 1):
        c = hp.cov(m, ddof=ddof)
        assert c.shape == (5, 5) and c.format == f
        for i in range(5):
            for j in range(5):
                assert c[i, j] == nearest(sum(p * q for p, q in zip(centered[i], centered[j], strict=True)) / (n - ddof), f)
    r = hp.corrcoef(m[:4])
    for i in range(4):
        assert r[i, i] == 1
        for j in range(4):
            product = sum(p * q for p, q in zip(centered[i], centered[j], strict=True))
            square = product**2 / (sum(p * p for p in centered[i]) * sum(q * q for q in centered[j]))
            assert (r[i, j] < 0) == (product < 0) and (f == "dd" or is_root(abs(r[i, j]), square, f))
    assert hp.isnan(hp.corrcoef(m)[4]).all() and hp.cov(rows[0]).shape == () and hp.cov(m, rowvar=False).shape == (n, n)
    assert hp.cov(rows[0], rows[1])[0, 1] == hp.cov(m)[0, 1] and hp.isnan(hp.cov([[1.0, math.inf], [1.0, 2.0]])).tolist() == [[True, True], [True, False]]


def test_ranges():
    tiny = hp.array([5e-324, 5e-324, 1e308, -1e308])
    assert hp.var(tiny) == nearest((lambda v: sum((t - sum(v) / 4) ** 2 for t in v) / 4)(fractions(tiny)), "f64") or math.isinf(hp.var(tiny))
    assert hp.var(tiny, format="mp:60") == nearest((lambda v: sum((t - sum(v) / 4) ** 2 for t in v) / 4)(fractions(tiny)), "mp:60")
    far = hp.array(["1e-200000000", "1e200000000"], "mp:53")
    with pytest.raises(hp.RangeError, match="bits"):
        hp.var(far)
    with pytest.raises(hp.RangeError, match="bits"):
        hp.linalg.multi_dot([hp.diag(far), hp.diag(far), hp.diag(far)])
    assert hp.prod(far) == 1
    assert hp.prod([1e300, 1e300]) == math.inf and hp.prod([1e-300, -1e-300]) == 0
    assert math.isnan(hp.prod([0.0, math.inf])) and hp.prod([-2.0, math.inf]) == -math.inf and math.copysign(1, hp.prod([-2.0, 0.0])) == -1


@pytest.mark.parametrize("f", FORMATS)
def test_long_numbers(f):
    half = Fraction(1, 2 ** hp.Format(f).precision)
    for tail in (0, 1, -1):
        for head in (1 + half, 1 + 3 * half, Fraction(3)):
            x = head + Fraction(tail, 2**9000)
            near = hp.array(head + Fraction(tail, 2**3000), f).item()
            assert hp.array([x, -x], f).tolist() == [near, -near], (tail, head)


def test_product_of_more_bits_than_a_format_has():
    n = 2**53 - 1
    z = hp.prod(np.full(20000, float(n)), format="mp:90")
    p = n**20000
    top = p >> (p.bit_length() - 91)
    want = (top + 1) >> 1  # the bits that follow decide no tie
    assert p.bit_length() > 1 << 20 and z.as_integer_ratio() == (want << (p.bit_length() - 90), 1)


@pytest.mark.parametrize("f", FORMATS)
def test_cumulative_sums(f):
    a = hp.random(3, 5, seed=4, spread=40, format=f)
    z = hp.cumsum(a, 1)
    for row, sums in zip(a, z, strict=True):
        v = fractions(row)
        assert list(sums) == [nearest(sum(v[: i + 1]), f) for i in range(5)]
    assert np.array_equal(hp.cumsum(a), hp.cumulative_sum(a.ravel())) and hp.cumulative_sum(a, axis=0, include_initial=True).shape == (4, 5)
    with pytest.raises(ValueError, match="axis"):
        hp.cumulative_sum(a)


@pytest.mark.parametrize("f", FORMATS)
def test_powers(f):
    a = hp.random(2, 3, seed=5, spread=4, format=f)
    v = fractions(a)
    for n in (-7, -2, -1, 0, 1, 2, 3, 10):
        assert (a**n).ravel().tolist() == [nearest(t**n, f) for t in v], n
        assert (a.ravel()[0] ** n) == nearest(v[0] ** n, f)
    exponents = np.array([[2, -1, 0], [5, 3, -2]])
    assert hp.pow(a, exponents).ravel().tolist() == [nearest(t**n, f) for t, n in zip(v, exponents.ravel().tolist(), strict=True)]
    assert hp.pow(a, exponents.astype(float)).shape == (2, 3) and (hp.array([2.0], f) ** hp.array([3.0], f))[0] == 8
    zero = hp.array([0.0, -0.0, math.inf, -math.inf, math.nan], f)
    for n in (-3, -2, 0, 2, 3):
        with np.errstate(all="ignore"):
            want = np.array([0.0, -0.0, math.inf, -math.inf, math.nan]) ** n
        assert np.array_equal((zero**n).to_numpy(), want, equal_nan=True), n
    for bad in (0.5, 1 << 20, "2", None):
        with pytest.raises((ValueError, TypeError)):
            a**bad


@pytest.mark.parametrize("f", FORMATS)
def test_integers_nearby(f):
    values = hp.concat([hp.random(1, 20, seed=6, spread=6, format=f)[0], hp.random(1, 5, seed=7, spread=400 if f != "f32" else 100, format=f)[0], hp.array([0.5, 1.5, 2.5, -0.5, -1.5, 3, -0.25, 0.75], f)])
    v = fractions(values)
    for name, exact in (("floor", math.floor), ("ceil", math.ceil), ("trunc", math.trunc), ("round", round)):
        got = getattr(hp, name)(values)
        assert got.format == f and fractions(got) == [exact(t) for t in v], name
    assert [hp.signbit(x) for x in hp.ceil(hp.array([-0.5, -0.0, 0.5], f))] == [True, True, False]
    for n in (1, 3, -1):
        assert list(hp.round(values, n)) == [nearest(round(t, n), f) for t in v]
    if f not in ("dd", "td", "qd", "mp:2"):
        gap = hp.array([1 + Fraction(1, 2 ** (hp.Format(f).precision - 1))], f)
        assert hp.floor(gap)[0] == 1 and hp.ceil(gap)[0] == 2
    far = hp.array([1 + Fraction(1, 2**300)], "dd")
    assert hp.ceil(far)[0] == 2 and hp.floor(-far)[0] == -2 and hp.ceil(hp.array(["1e-100000000"], "mp:53"))[0] == 1


@pytest.mark.parametrize("f", FORMATS)
def test_order(f):
    a = hp.random(4, 6, seed=8, spread=3, format=f)
    v = fractions(a)
    assert fractions(hp.sort(a.ravel())) == sorted(v) and hp.max(a) == max(v) and hp.min(a) == min(v)
    assert fractions(hp.sort(a.ravel(), descending=True)) == sorted(v, reverse=True)
    assert hp.argmax(a) == v.index(max(v)) and hp.argmin(a) == v.index(min(v))
    assert fractions(hp.unique_values(hp.concat([a, a]))) == sorted(set(v))
    near = hp.array([1, 1 + Fraction(1, 2**150), 1 - Fraction(1, 2**150), 1], "mp:200")
    assert hp.argsort(near).tolist() == [2, 0, 3, 1] and hp.argmax(near) == 1 and hp.maximum(near, 1)[2] == 1 and hp.sort(near)[0] == near[2]
    assert hp.searchsorted(hp.sort(near), near, side="left").tolist() == [1, 3, 0, 1]


def test_products_rounded_once():
    x, y = hp.array([1e16, 1.0, -1e16]), hp.array([[1.0, 2], [1, 3], [1, 4]])
    assert list(hp.tensordot(x, y, 1)) == [1.0, -2e16 + 3] and hp.inner(x, y.T).shape == (2,)
    assert hp.vdot(x, y[:, 0]) == 1.0 and list(hp.vecmat(x, y)) == [1.0, -2e16 + 3]
    a = hp.array([1 + 2.0**-30, 1, 1])
    b = hp.array([1, 1 - 2.0**-30, 1])
    assert hp.cross(a, b)[2] == nearest(fractions(a)[0] * fractions(b)[1] - 1, "f64") == -(2.0**-60)
    r = [hp.random(3, 4, seed=9, spread=20), hp.random(4, 5, seed=10, spread=20), hp.random(5, 2, seed=11, spread=20), hp.random(1, 2, seed=12)[0]]

    def product(p, q):
        return [[sum(s * t for s, t in zip(row, col, strict=True)) for col in zip(*q, strict=True)] for row in p]

    exact = [[Fraction(*v.as_integer_ratio()) for v in row] for row in r[0].tolist()]
    for m in r[1:3]:
        exact = product(exact, [[Fraction(*v.as_integer_ratio()) for v in row] for row in m.tolist()])
    z = hp.linalg.multi_dot(r[:3])
    assert z.format == "f64" and z.tolist() == [[nearest(v, "f64") for v in row] for row in exact]
    last = fractions(r[3])
    assert list(hp.linalg.multi_dot(r)) == [nearest(sum(s * t for s, t in zip(row, last, strict=True)), "f64") for row in exact]
    m = hp.random(3, 3, seed=13, spread=10)
    for n in (-1, -2, -3):
        wide = hp.linalg.inv(hp.linalg.matrix_power(m, -n, prec=4000), prec=4000).astype("f64")
        assert np.array_equal(hp.linalg.matrix_power(m, n), wide)
    assert hp.fma(1 + 2.0**-52, 1 - 2.0**-52, -1) == -(2.0**-104) and isinstance(hp.fma(1.0, 2.0, 3.0), np.float64)
    assert hp.linalg.norm(hp.array([[1e200, 1e200], [0, 1]])) == nearest(Fraction(math.isqrt(2 * 10**800), 10**200), "f64")


def test_many_systems():
    a = hp.random(6, 6, seed=14, spread=8)
    b = hp.random(6, 3, seed=15)
    spd = a @ a.T + hp.eye(6)
    for factor, solve, m in ((hp.linalg.lu_factor, hp.linalg.lu_solve, a), (hp.linalg.cho_factor, hp.linalg.cho_solve, spd)):
        f = factor(m)
        assert np.array_equal(solve(f, b), hp.linalg.solve(m, b)) and np.array_equal(solve(f, b[:, 0]), hp.linalg.solve(m, b[:, 0]))
        assert np.array_equal(solve(f, b, prec=300), hp.linalg.solve(m, b, prec=300)) and f.order == 6
        x = solve(factor(m.to_numpy()), b.to_numpy())
        assert isinstance(x, np.ndarray) and np.array_equal(x, hp.linalg.solve(m, b).to_numpy())
        with pytest.raises(ValueError, match="6 x 6"):
            solve(f, hp.ones(5))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        hp.linalg.cho_factor(-np.eye(3))
    q, r, p = hp.linalg.qr(a[:, :3], pivoting=True)
    assert np.allclose((q @ r).to_numpy(), a.to_numpy()[:, :3][:, p]) and p.dtype == np.int64
    assert np.all(np.diff(np.diag(r.to_numpy())) <= 0) and np.array_equal(hp.linalg.qr(a, "r"), hp.linalg.qr(a).R)


def test_enclosures():
    a, b = hp.hilbert(6), hp.ones(6)
    x = hp.linalg.solve(a, b, prec=200)
    for f in (None, "dd", "mp:100"):
        lower, upper = hp.linalg.enclose(a, b, format=f)
        assert lower.shape == (6,) and np.all(lower <= x) and np.all(x <= upper)
    narrow = hp.linalg.enclose(a, hp.ones((6, 2)), steps=3)
    assert narrow.lower.shape == (6, 2) and isinstance(hp.linalg.enclose(np.eye(2), np.ones(2)).lower, np.ndarray)
    m, d = np.array([[4.0, 1], [1, 3]]), np.full((2, 2), 2.0**-10)
    lower, upper = hp.linalg.enclose_set(m, [1.0, 2], da=d, db=[0.0, 2.0**-8])
    for signs in range(8):
        corner = m + d * np.array([[1, -1], [1, -1]]) * (-1) ** signs
        x = hp.linalg.solve(corner, [1.0, 2 + (signs & 2 and 2.0**-8)])
        assert np.all(lower <= x) and np.all(x <= upper)
    exact = hp.linalg.enclose_set(m, [1.0, 2])
    assert np.all(exact.lower <= hp.linalg.solve(m, [1.0, 2]))
    with pytest.raises(hp.RangeError):
        hp.linalg.enclose_set(np.eye(2), np.ones(2), da=np.ones((2, 2)))
    with pytest.raises(ValueError, match="da has the shape"):
        hp.linalg.enclose_set(np.eye(2), np.ones(2), da=np.ones(2))
    with pytest.raises(np.linalg.LinAlgError):
        hp.linalg.enclose(np.ones((2, 3)), np.ones(2))


# Fits.


def test_regression():
    x = [1, 2, 4, 5]
    a = [[1, t] for t in x]
    fit = hp.regression(a, [1.0, 2.0, 3.0, 6.0])
    # y = -1/5 + 16/15... by hand: the normal equations of small integers.
    n, sx, sxx, sy, sxy, syy = 4, 12, 46, 12, 47, 50
    slope = Fraction(n * sxy - sx * sy, n * sxx - sx * sx)
    start = (sy - slope * sx) / n
    assert [float(v) for v in fit.coefficients] == [float(start), float(slope)] and isinstance(fit.coefficients, np.ndarray)
    ss = syy - start * sy - slope * sxy
    total = syy - Fraction(sy * sy, n)
    assert fit.residual_ss == float(ss) and fit.residual_ms == float(ss / 2) and fit.r_squared == float(1 - ss / total) and fit.f == float((total - ss) / (ss / 2))
    assert (fit.observations, fit.degrees_of_freedom, fit.centered, fit.covariance) == (4, 2, True, None) and isinstance(fit.r_squared, np.float64)
    wide = hp.regression(a, hp.array([1, 2, 3, 6], "mp:200"), covariance=True)
    assert wide.coefficients.tolist() == [nearest(start, "mp:200"), nearest(slope, "mp:200")] and wide.covariance.shape == (2, 2)
    assert wide.covariance[1, 1] == nearest(ss / 2 / (sxx - Fraction(sx * sx, n)), "mp:200")
    decimal = hp.regression(a, [10, 20, 30, 60], unit="1/10")
    assert np.array_equal(decimal.coefficients, fit.coefficients)
    assert hp.regression([[1, 10], [1, 20], [1, 40], [1, 50]], [1.0, 2, 3, 6], column_units=[1, Fraction(1, 10)]).coefficients[1] == fit.coefficients[1]
    weighted = hp.regression(a, [1.0, 2, 3, 6], weights=[1, 1, 1, 0])
    assert weighted.observations == 3
    two = hp.regression(a, [[1.0, 1], [2, 0], [3, 2], [6, 5]], covariance=True)
    assert two.coefficients.shape == (2, 2) and two.covariance.shape == (2, 2, 2) and two.residual_ss.shape == (2,) and two.residual_ss[0] == fit.residual_ss
    with pytest.raises(np.linalg.LinAlgError):
        hp.regression([[1, 1], [1, 1], [1, 1]], [1, 2, 3])
    with pytest.raises(ValueError, match="shapes"):
        hp.regression(a, [1, 2, 3])
    poly = hp.polynomial_regression(x, [1, 2, 3, 6], 1)
    assert np.array_equal(poly.coefficients, fit.coefficients) and poly.f == fit.f


def test_polynomials():
    x = np.arange(7.0) - 2
    y = 3 * x**3 - x + 0.5
    assert hp.polyfit(x, y, 3).tolist() == [3, 0, -1, 0.5]
    noise = np.array([1.0, -1, 2, 0, 3, -2, 1])
    w = np.array([1.0, 2, 1, 1, 3, 1, 0.5])
    for kwargs in ({}, {"w": w}):
        want, cov = np.polyfit(x, y + noise, 2, cov=True, **kwargs)
        got, table = hp.polyfit(x, y + noise, 2, cov=True, **kwargs)
        assert np.allclose(got, want) and np.allclose(table, cov) and got.dtype == np.float64
        both = hp.polyfit(x, np.stack([y, y + noise], 1), 2, **kwargs)
        assert np.allclose(both, np.polyfit(x, np.stack([y, y + noise], 1), 2, **kwargs))
        assert np.allclose(np.polyfit(hp.array(x, "mp:80"), hp.array(y + noise), 2, **kwargs).to_numpy(), want)
    with pytest.raises(ValueError, match="full"):
        hp.polyfit(x, y, 1, full=True)
    p = hp.array(["0.1", -2, 3], "mp:90")
    at = fractions(hp.random(2, 3, seed=16, format="mp:90"))
    c = fractions(p)
    assert hp.polyval(p, hp.array(at, "mp:90")).tolist() == [nearest(c[0] * t**2 + c[1] * t + c[2], "mp:90") for t in at]
    assert hp.polyval([1, 2], 3.0) == 5 and hp.polyval(np.array([1.0, 2]), np.array([[1.0]])).tolist() == [[3]]
    assert hp.autocorr1([1.0, 2, 3, 4]) == 0.25


# The BLAS.


def test_blas():
    b = hp.blas
    r = np.random.default_rng(17)

    def some(*shape):
        return r.integers(-4, 5, shape).astype(float)

    x, y, z = some(4), some(4), some(3)
    a, c, s = some(4, 3), some(4, 4), some(4, 4)
    up, low = np.triu(c), np.tril(c)
    symmetric = {0: up + np.triu(c, 1).T, 1: low + np.tril(c, -1).T}
    other = {0: np.tril(s, -1), 1: np.triu(s, 1)}

    def half(m, lower):
        return (np.tril if lower else np.triu)(m)

    cases = [
        (b.axpy, (x, y), {"a": 3}, 3 * x + y),
        (b.axpy, (x, y), {}, x + y),
        (b.scal, (0.5, x), {}, x / 2),
        (b.gemv, (2, a, z), {}, 2 * a @ z),
        (b.gemv, (2, a, x, -1, z), {"trans": 1}, 2 * a.T @ x - z),
        (b.ger, (2, x, z), {}, 2 * np.outer(x, z)),
        (b.ger, (2, x, z, a), {}, 2 * np.outer(x, z) + a),
        (b.gemm, (2, a, some(3, 4)), {"format": "f64"}, None),
        (b.gemm, (2, a, c, 3, some(3, 4)), {"trans_a": 1}, None),
        (b.gemm, (1, a, some(2, 3)), {"trans_b": 1}, None),
    ]
    for lower in (0, 1):
        sym, kept, tri = symmetric[lower], other[lower], (low if lower else up)
        unit = tri - np.diag(np.diag(tri)) + np.eye(4)
        band = np.array([[sym[i, j] if abs(i - j) <= 1 else 0 for j in range(4)] for i in range(4)])
        packed = np.concatenate([sym[j:, j] if lower else sym[: j + 1, j] for j in range(4)])
        stored = np.array([[band[j + k, j] if 0 <= j + k < 4 else 0 for j in range(4)] for k in ((0, 1) if lower else (-1, 0))])
        cases += [
            (b.symv, (2, c, x, 3, y), {"lower": lower}, 2 * sym @ x + 3 * y),
            (b.sbmv, (1, 2, stored, x), {"lower": lower}, 2 * band @ x),
            (b.spmv, (4, 2, packed, x, 1, y), {"lower": lower}, 2 * sym @ x + y),
            (b.syr, (2, x), {"lower": lower, "a": s}, half(2 * np.outer(x, x) + s, lower) + kept),
            (b.syr2, (2, x, y), {"lower": lower, "a": s}, half(2 * np.outer(x, y) + 2 * np.outer(y, x) + s, lower) + kept),
            (b.symm, (2, c, a, 1, a), {"lower": lower}, 2 * sym @ a + a),
            (b.symm, (2, c, a.T), {"lower": lower, "side": 1}, 2 * a.T @ sym),
            (b.syrk, (2, a, 3, s), {"lower": lower}, half(2 * a @ a.T + 3 * s, lower) + kept),
            (b.syrk, (2, a), {"lower": lower, "trans": 1}, half(2 * a.T @ a, lower)),
            (b.syr2k, (2, a, a + 1, 3, s), {"lower": lower}, half(2 * a @ (a + 1).T + 2 * (a + 1) @ a.T + 3 * s, lower) + kept),
            (b.syr2k, (1, a, a + 1), {"lower": lower, "trans": 1}, half(a.T @ (a + 1) + (a + 1).T @ a, lower)),
        ]
        for diag, m in ((0, tri), (1, unit)):
            for trans, t in ((0, m), (1, m.T)):
                kwargs = {"lower": lower, "diag": diag, "trans": trans}
                wide = {"lower": lower, "diag": diag, "trans_a": trans}
                cases += [
                    (b.trmv, (c, x), kwargs, t @ x),
                    (b.trmm, (2, c, a), wide, 2 * t @ a),
                    (b.trmm, (2, c, a.T), wide | {"side": 1}, 2 * a.T @ t),
                ]
                if diag:
                    cases += [(b.trsv, (c, t @ x), kwargs, x), (b.trsm, (2, c, t @ a), wide, 2 * a), (b.trsm, (2, c, a.T @ t), wide | {"side": 1}, 2 * a.T)]
    full = np.array([[c[i, j] if -1 <= i - j <= 2 else 0 for j in range(3)] for i in range(4)])
    stored = np.array([[full[j + k, j] if 0 <= j + k < 4 else 0 for j in range(3)] for k in (-1, 0, 1, 2)])
    cases += [(b.gbmv, (4, 3, 2, 1, 2, stored, z, 1, x), {}, 2 * full @ z + x), (b.gbmv, (4, 3, 2, 1, 2, stored, x), {"trans": 1}, 2 * full.T @ x)]
    for f, args, kwargs, want in cases:
        if want is None:
            p, q = args[1].T if kwargs.get("trans_a") else args[1], args[2].T if kwargs.get("trans_b") else args[2]
            want = args[0] * p @ q + (args[3] * args[4] if len(args) > 3 else 0)
        before = [np.copy(v) for v in args]
        got = f(*args, **kwargs)
        assert isinstance(got, np.ndarray) and got.shape == want.shape and np.array_equal(got, want), (f.__name__, kwargs)
        assert all(np.array_equal(p, q) for p, q in zip(before, args, strict=True))
        wide = f(*(hp.array(v, "mp:90") if isinstance(v, np.ndarray) else v for v in args), **{k: hp.array(v, "mp:90") if isinstance(v, np.ndarray) else v for k, v in kwargs.items() if k != "format"})
        assert wide.format == "mp:90" and np.array_equal(wide.to_numpy(), want), (f.__name__, kwargs)
    assert b.asum(x) == abs(x).sum() and b.nrm2([3.0, 4.0]) == 5 and b.dot(x, y) == x @ y and b.iamax([1.0, -5, 5]) == 1 and b.iamax([]) == -1
    p, q = b.rot(x, y, 2, 3)
    assert np.array_equal(p, 2 * x + 3 * y) and np.array_equal(q, 2 * y - 3 * x)
    g = b.rotg(3.0, 4.0)
    assert (g.c, g.s) == (0.6, 0.8) and b.rotg(hp.Scalar(3, "mp:100"), 4).c == nearest(Fraction(3, 5), "mp:100")
    p, q = b.rotm(x, y, [-1, 2, 3, 4, 5])
    assert np.array_equal(p, 2 * x + 4 * y) and np.array_equal(q, 3 * x + 5 * y)
    assert b.rotmg(1.0, 1.0, 2.0, 1.0).tolist() == [0, 0, -0.5, 0.5, 0]
    for bad in (lambda: b.gemm(1, a, a), lambda: b.gemm(1, a, c, 1, a), lambda: b.gemm(1, x, a), lambda: b.symv(1, c, x, lower=2), lambda: b.trmv(a, x), lambda: b.gemv(1, a, z, trans=5), lambda: b.gbmv(4, 3, 1, 1, 1, a, z), lambda: b.rotm(x, y, [1]), lambda: b.spmv(4, 1, x, x), lambda: b.axpy(x, z), lambda: b.sbmv(1, 1, a, z)):
        with pytest.raises(ValueError):
            bad()
