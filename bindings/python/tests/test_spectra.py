"""Tests of eigenvalues, singular values and what follows from them, against mpmath, exact fractions and numpy."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import halfulp as hp

la = hp.linalg


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(60):
        yield


def exact(a):
    """Returns the numbers of a matrix as fractions."""
    return [[Fraction(*v.as_integer_ratio()) for v in row] for row in hp.asarray(a).tolist()]


def wide(a):
    return hp.asarray(a).to_mpmath()


def rounded(m, f="f64"):
    """Returns numbers of mpmath, of 60 digits, rounded to a format."""
    rows = [[m[i, j] for j in range(m.cols)] for i in range(m.rows)] if isinstance(m, mpmath.matrix) else list(m)
    return hp.array(rows, "mp:200").astype(f)


def equal(x, m, f="f64"):
    """Whether x has the numbers of mpmath, correctly rounded."""
    x, want = hp.asarray(x), rounded(m, f)
    if x.ndim == 1 and want.ndim == 2:
        want = want.reshape(-1)
    return x.format == f and x.shape == want.shape and bool((x == want).all())


def some(rows, cols, seed=0, spread=0.0):
    """Returns a random matrix, its columns scaled by powers of 2."""
    r = np.random.default_rng(seed)
    return r.standard_normal((rows, cols)) * 2.0 ** np.round(r.uniform(-spread, spread, cols))


# Singular values.


@pytest.mark.parametrize("shape", [(5, 5), (7, 4), (3, 6), (1, 4), (4, 1), (1, 1)])
@pytest.mark.parametrize("spread", [0, 12])
def test_svd(shape, spread):
    a = some(*shape, seed=sum(shape), spread=spread)
    m, n = shape
    k = min(m, n)
    z = la.svd(a)
    assert type(z.U) is np.ndarray and (z.U.shape, z.S.shape, z.Vh.shape) == ((m, m), (k,), (n, n))
    thin = la.svd(a, full_matrices=False)
    assert (thin.U.shape, thin.Vh.shape) == ((m, k), (k, n))
    want = mpmath.svd_r(wide(a), compute_uv=False)
    assert equal(z.S, want) and np.array_equal(thin.S, z.S)
    assert np.array_equal(la.svdvals(a), z.S) and np.array_equal(la.svd(a, compute_uv=False), z.S)
    assert np.array_equal(thin.U, z.U[:, :k]) and np.array_equal(thin.Vh, z.Vh[:k])
    assert np.allclose(thin.U * thin.S @ thin.Vh, a, rtol=0, atol=1e-14 * z.S[0])
    assert np.allclose(z.U.T @ z.U, np.eye(m), atol=1e-15 * m) and np.allclose(z.Vh @ z.Vh.T, np.eye(n), atol=1e-15 * n)
    assert np.allclose(z.S, np.linalg.svd(a, compute_uv=False), rtol=1e-14, atol=1e-14 * z.S[0])
    for row in thin.Vh if m >= n else thin.U.T:  # the rule of signs
        assert row[np.argmax(abs(row) > math.pi / 4 * abs(row).max())] > 0
    part = la.svd(a, k=1)
    assert np.array_equal(part.S, z.S[:1]) and np.array_equal(part.U, z.U[:, :1]) and np.array_equal(part.Vh, z.Vh[:1]) and np.array_equal(la.svdvals(a, k=1), z.S[:1])
    # Vectors are the ones of 60 digits, rounded.
    u, s, v = mpmath.svd_r(wide(a), full_matrices=False)
    for j in range(k):
        sign = mpmath.sign(u[:, j].T[0, 0]) * mpmath.sign(thin.U[0, j])
        assert equal(thin.U[:, j], [sign * x for x in u[:, j]]) and equal(thin.Vh[j], [sign * v[j, i] for i in range(n)])


def test_formats_of_singular_values():
    a = some(4, 3, seed=1)
    want = mpmath.svd_r(wide(a), compute_uv=False)
    for f in ("f32", "dd", "td", "mp:24", "mp:53", "mp:170"):
        assert equal(la.svdvals(a, format=f), want, f), f
    wanted = la.svd(hp.array(a, "mp:170"), False)
    assert wanted.U.format == "mp:170" and abs(wanted.U * wanted.S @ wanted.Vh - a).max() < 2.0**-165
    u, s, v = wanted.to_mpmath()
    assert (u.rows, u.cols, s.rows, s.cols, v.rows, v.cols) == (4, 3, 3, 1, 3, 3)
    assert mpmath.norm(u * mpmath.diag(list(s)) * v - wide(a), mpmath.inf) < mpmath.mpf(2) ** -160
    assert la.svdvals(a.astype(np.float32)).dtype == np.float32
    assert [hp.asarray(la.svdvals(np.diag([3.0, 4.0]), format=f)).tolist() for f in ("f32", "dd", "mp:2")] == [[4, 3]] * 3


def test_stacks_and_empty_matrices():
    stack = np.stack([some(3, 2, seed=k) for k in range(4)]).reshape(2, 2, 3, 2)
    for full in (True, False):
        z, want = la.svd(stack, full), np.linalg.svd(stack, full)
        assert [v.shape for v in z] == [v.shape for v in want] and np.allclose(z.S, want[1])
        assert np.array_equal(z.Vh[1, 0], la.svd(stack[1, 0], full).Vh)
    assert la.svdvals(stack, k=1).shape == (2, 2, 1)
    p = la.pinv(stack)
    assert p.shape == (2, 2, 2, 3) and np.array_equal(p[0, 1], la.pinv(stack[0, 1]))
    for shape in ((0, 0), (0, 3), (3, 0), (2, 0, 3), (0, 2, 3)):
        a = np.zeros(shape)
        for full in (True, False):
            assert [v.shape for v in la.svd(a, full)] == [v.shape for v in np.linalg.svd(a, full)], shape
        assert la.svdvals(a).shape == np.linalg.svdvals(a).shape and la.pinv(a).shape == np.linalg.pinv(a).shape
        if len(shape) == 2:
            assert la.norm(a, 2) == 0 and la.norm(a, -2) == 0 and la.cond(a) == 0 and la.matrix_rank(a) == 0 and la.matrix_rank(a, 0) == 0
    for shape in ((0, 0), (2, 0, 0), (0, 2, 2)):
        e = la.eigh(np.zeros(shape), np.zeros(shape))
        assert e.eigenvalues.shape == shape[:-1] and e.eigenvectors.shape == shape


def test_norms_and_condition_numbers():
    for seed, shape in enumerate([(4, 4), (5, 3), (2, 6)]):
        a = some(*shape, seed=seed, spread=20)
        s = mpmath.svd_r(wide(a), compute_uv=False)
        last = s[min(shape) - 1]
        for f in ("f64", "mp:130", "f32"):
            assert la.norm(a, 2, format=f) == rounded([s[0]], f)[0] and la.norm(a, -2, format=f) == rounded([last], f)[0]
            assert la.cond(a, format=f) == rounded([s[0] / last], f)[0] and la.cond(a, 2, format=f) == la.cond(a, format=f)
    a = some(3, 3, seed=9)
    assert type(la.norm(a, 2)) is np.float64 and type(la.cond(a)) is np.float64
    assert la.cond(np.diag([5.0, 4.0])) == 1.25 and la.cond([[1, 2], [2, 4]]) == math.inf and la.cond(np.zeros((2, 2))) == math.inf
    assert np.array_equal(la.matrix_norm(np.stack([a, a.T]), ord=2, keepdims=True), np.full((2, 1, 1), la.norm(a, 2)))
    assert np.array_equal(la.cond(np.stack([a, a])), [la.cond(a)] * 2) and la.norm(np.stack([a, a]), -2, axis=(1, 2)).tolist() == [la.norm(a, -2)] * 2
    # The condition number of the Hilbert matrix of order 12, which numpy misses.
    h = hp.hilbert(12, format="mp:200")
    s = mpmath.svd_r(h.to_mpmath(), compute_uv=False)
    assert la.cond(h, format="f64") == rounded([s[0] / s[11]])[0]


# Ranks and pseudo-inverses.


def product(p, q):
    return [[sum(s * t for s, t in zip(row, col, strict=True)) for col in zip(*q, strict=True)] for row in p]


def inverse(m):
    """Returns the inverse of a matrix of fractions."""
    n = len(m)
    rows = [list(r) + [Fraction(int(i == j)) for j in range(n)] for i, r in enumerate(m)]
    for c in range(n):
        p = next(i for i in range(c, n) if rows[i][c])
        rows[c], rows[p] = rows[p], rows[c]
        rows[c] = [v / rows[c][c] for v in rows[c]]
        for i in range(n):
            if i != c:
                rows[i] = [v - rows[i][c] * w for v, w in zip(rows[i], rows[c], strict=True)]
    return [r[n:] for r in rows]


def transposed(m):
    return [list(c) for c in zip(*m, strict=True)]


def pseudo_inverse(c, f):
    """Returns the pseudo-inverse of C F, for independent columns of C and rows of F."""
    ct, ft = transposed(c), transposed(f)
    return product(product(ft, inverse(product(f, ft))), product(inverse(product(ct, c)), ct))


@pytest.mark.parametrize("m, n, rank", [(4, 4, 2), (6, 3, 2), (3, 5, 1), (4, 4, 4), (5, 3, 3), (2, 5, 2), (3, 3, 0)])
def test_pseudo_inverses(m, n, rank):
    r = np.random.default_rng(m * n + rank)
    c, f = (r.integers(-9, 10, s).astype(float) for s in ((m, rank), (rank, n)))
    a = c @ f
    want = pseudo_inverse(exact(c), exact(f)) if rank else [[Fraction(0)] * m for _ in range(n)]
    for kwargs in ({}, {"rcond": 0}, {"rtol": None}, {"rtol": 0}, {"rcond": 1e-10}):
        for form in ("f64", "mp:120"):
            z = la.pinv(a, format=form, **kwargs)
            assert z.shape == (n, m) and np.array_equal(hp.asarray(z), hp.array(want, form)), (kwargs, form)
    assert np.allclose(la.pinv(a), np.linalg.pinv(a))
    assert la.matrix_rank(a) == la.matrix_rank(a, tol=0) == la.matrix_rank(a, rtol=0) == la.matrix_rank(a, tol=1e-9) == rank
    b = r.standard_normal((m, 2))
    for rcond in (None, 0, -1):
        z, w = la.lstsq(a, b, rcond), np.linalg.lstsq(a, b, rcond=None)
        assert np.array_equal(z.x, hp.array(product(want, exact(b)), "f64").to_numpy()) and z.rank == rank == w[2]
        assert np.allclose(z.x, w[0]) and z.residuals.shape == w[1].shape and np.allclose(z.residuals, w[1])
        assert np.array_equal(z.s, la.svdvals(a)) and np.allclose(z.s, w[3])
    assert np.array_equal(la.lstsq(a, b[:, 0]).x, z.x[:, 0]) and la.lstsq(a, b, prec=300).x.format == "mp:300"


def test_tolerances():
    a = np.array([[0.1, 0.3, 0.5], [0.3, 0.9, 1.5], [1.0, 2.0, 5.0]])
    assert np.linalg.matrix_rank(a) == 2
    assert la.matrix_rank(a) == 2 and la.matrix_rank(a, 0) == 3 and la.matrix_rank(a, rtol=0) == 3
    assert la.matrix_rank(a, 1.0) == np.linalg.matrix_rank(a, 1.0) == 1 and la.matrix_rank(a, rtol=0.9) == 1 and la.matrix_rank(a, 1e9) == 0
    assert np.allclose(la.pinv(a), np.linalg.pinv(a)) and np.allclose(la.lstsq(a, np.ones(3)).x, np.linalg.lstsq(a, np.ones(3), rcond=None)[0])
    assert np.array_equal(la.pinv(a, 0), la.inv(a)) and np.array_equal(la.lstsq(a, [1, 0, 0], 0).x, la.solve(a, [1, 0, 0]))
    # The tolerance is of the format of A, not of the result.
    assert la.matrix_rank(hp.array(a, "mp:200")) == 3 and la.lstsq(a, [1, 0, 0], prec=200).rank == 2 and la.lstsq(hp.array(a, "mp:200"), [1, 0, 0], format="f64").rank == 3
    assert np.array_equal(la.pinv(hp.array(a, "mp:200"), format="f64"), hp.array(la.inv(a)))
    # A truncated pseudo-inverse beside one of 60 digits.
    u, s, v = mpmath.svd_r(wide(a))
    want = mpmath.zeros(3)
    for k in range(2):
        want += v[k, :].T * u[:, k].T / s[k]
    assert equal(la.pinv(a), want) and equal(la.pinv(a, 1e-12, format="mp:100"), want, "mp:100") and equal(la.lstsq(a, [0, 0, 1]).x, want[:, 2])
    # A singular value that is the tolerance is not above it.
    d = np.diag([8.0, 2.0, 1.0])
    assert [la.matrix_rank(d, t) for t in (0, 0.5, 1, 2, 7.9, 8)] == [3, 3, 2, 1, 1, 0] and [la.matrix_rank(d, rtol=t) for t in (0.125, 0.25, 0.2499, 1)] == [2, 1, 2, 0]
    with pytest.warns(hp.UndecidedWarning):
        assert la.pinv(d, 0.125).tolist() == [[0.125, 0, 0], [0, 0.5, 0], [0, 0, 0]]
    with pytest.warns(hp.UndecidedWarning):
        assert la.lstsq(d, [8, 8, 8], 0.25).x.tolist() == [1, 0, 0]
    stack = np.stack([d, d])
    assert la.matrix_rank(stack, [1, 3]).tolist() == [2, 1] and la.matrix_rank(stack, rtol=[0.25, 0]).tolist() == [1, 3] and la.matrix_rank(np.empty((0, 2, 2)), rtol=[]).shape == (0,)
    assert np.array_equal(la.pinv(np.stack([a, a]), rtol=np.array([0, 1e-12])), np.stack([la.pinv(a, 0), la.pinv(a)]))
    assert la.pinv(np.empty((0, 2, 3)), rtol=np.empty(0)).shape == (0, 3, 2)
    # Ranges: 1e-400 is no double, but a singular value of numbers that are.
    tiny = np.array([[1e-300, 1e-300], [1e-300, 1e-300 * (1 + 2.0**-52)]])
    assert la.matrix_rank(tiny, 0) == 2 and la.matrix_rank(tiny) == 1 and la.matrix_rank(tiny, 1e-315) == 1 and la.matrix_rank(tiny, 1e-317) == 2
    near = np.array([[5e-324, 0], [0, 1e300]])
    z = la.lstsq(near, [5e-324, 1e300], 0)
    assert z.x.tolist() == [1, 1] and z.s.tolist() == [1e300, 5e-324] and z.rank == 2
    for f in ("f32", "dd", "mp:80"):
        z = la.lstsq(hp.array(a, f), hp.array([1, 2, 3], f))
        assert z.s.format == f and (z.s == la.svdvals(hp.array(a, f))).all()
    w = la.lstsq(a, [1, 2, 3], weights=[1, 1, 0])
    assert w.s is None and w.rank == 2 and w.residuals.shape == (0,)
    assert la.lstsq(np.ones((3, 2)), [1, 2, 6], weights=[1, 1, 1]).x.tolist() == [1.5, 1.5]


def test_numpy_has_the_same_arguments():
    a = some(4, 3, seed=11)
    s = a.T @ a
    x = hp.array(a)
    assert np.array_equal(np.linalg.svd(x, False)[1], la.svd(x, False)[1]) and np.array_equal(np.linalg.pinv(x, rcond=0.1), la.pinv(x, 0.1))
    assert np.linalg.matrix_rank(x, 1e-3) == 3 and np.linalg.cond(x) == la.cond(a) and np.linalg.norm(x, 2) == la.norm(a, 2)
    assert np.array_equal(np.linalg.svdvals(x), la.svdvals(x)) and np.array_equal(np.linalg.lstsq(x, hp.ones(4), rcond=None)[3], la.svdvals(x))
    assert np.array_equal(la.pinv(s, hermitian=True), la.pinv(s)) and la.svd(s, True, True, True).S.shape == (3,) and la.matrix_rank(s, None, True) == 3
    for call in (lambda: la.pinv(a, hermitian=True), lambda: la.svd(np.triu(s), hermitian=True), lambda: la.matrix_rank(np.triu(s), hermitian=True)):
        with pytest.raises(np.linalg.LinAlgError, match="not symmetric"):
            call()


# Eigenvalues.


def test_general_eigenvalues():
    n = 5
    a, c = some(n, n, seed=3), some(n, n, seed=4)
    a, b = a + a.T, c @ c.T + np.eye(n)
    b = (b + b.T) / 2
    lower = mpmath.cholesky(wide(b))
    inverted = mpmath.inverse(lower)
    w, q = mpmath.eigsy(inverted * wide(a) * inverted.T)
    x = inverted.T * q
    for f in ("f64", "f32", "mp:120"):
        z = la.eigh(a, b, format=f)
        assert equal(z.eigenvalues, w, f) and equal(la.eigvalsh(a, b, format=f), w, f)
        for j in range(n):
            sign = mpmath.sign(x[0, j]) * mpmath.sign(float(hp.asarray(z.eigenvectors)[0, j]))
            assert equal(z.eigenvectors[:, j], [sign * x[i, j] for i in range(n)], f)
    z = la.eigh(a, b)
    v = z.eigenvectors
    assert type(v) is np.ndarray and np.allclose(v.T @ b @ v, np.eye(n)) and np.allclose(a @ v, b @ v * z.eigenvalues)
    # One triangle of each is read.
    for mine, half in ((lambda p, q: la.eigh(p, q), np.tril), (lambda p, q: la.eigh(p, q, "U"), np.triu), (lambda p, q: la.eigh(p, b=q, lower=False), np.triu), (lambda p, q: la.eigh(p, q, lower=True), np.tril)):
        assert np.array_equal(mine(half(a), half(b)).eigenvectors, v)
    assert np.array_equal(la.eigvalsh(a, b, subset_by_index=(1, 2)), z.eigenvalues[1:3])
    assert np.array_equal(la.eigvalsh(a, b, subset_by_value=np.convolve(z.eigenvalues, [0.5, 0.5])[[1, 4]]), z.eigenvalues[1:4])
    stack = la.eigh(np.stack([a, 2 * a]), b)
    assert np.array_equal(stack.eigenvalues, [z.eigenvalues, 2 * z.eigenvalues]) and np.array_equal(stack.eigenvectors, [v, v])
    h = hp.hilbert(12)  # its condition is beyond 1e16
    assert abs(la.eigvalsh(h, h, prec=100) - 1).max() == 0
    for error, what, call in (
        (hp.NotPositiveDefiniteError, "positive definite", lambda: la.eigh(a, -b)),
        (np.linalg.LinAlgError, "the same shape", lambda: la.eigh(a, np.eye(2))),
        (np.linalg.LinAlgError, "square", lambda: la.eigh(a, np.ones((n, 2)))),
        (ValueError, "type=2", lambda: la.eigh(a, b, type=2)),
        (hp.NotFiniteError, None, lambda: la.eigh(a, np.full((n, n), math.nan))),
    ):
        with pytest.raises(error, match=what):
            call()


def test_shapes_of_mpmath():
    a = some(4, 4, seed=5)
    a = a + a.T
    e, q = la.eigh(a, prec=190).to_mpmath()
    want_e, want_q = mpmath.eigsy(wide(a))
    assert (e.rows, e.cols, q.rows, q.cols) == (want_e.rows, want_e.cols, want_q.rows, want_q.cols) == (4, 1, 4, 4)
    tiny = mpmath.mpf(2) ** -180
    for j in range(4):
        assert abs(e[j] - want_e[j]) < tiny and min(mpmath.norm(q[:, j] - s * want_q[:, j]) for s in (1, -1)) < tiny
    e, q = la.eigh(a).to_mpmath()  # of numpy's arrays
    assert e.rows == 4 and e[0] == la.eigvalsh(a)[0]
    values = la.eigvalsh(hp.array(a)).to_mpmath()
    assert (values.rows, values.cols) == (4, 1)


def test_tridiagonal_matrices():
    r = np.random.default_rng(6)
    d, e = r.standard_normal(9), r.standard_normal(8)
    full = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    for f in ("f64", "f32", "mp:200"):
        assert np.array_equal(la.eigvalsh_tridiagonal(d, e, format=f), la.eigvalsh(full, format=f))
    assert equal(la.eigvalsh_tridiagonal(d, e), mpmath.eigsy(wide(full), eigvals_only=True))
    assert la.eigvalsh_tridiagonal([3.0], []).tolist() == [3] and la.eigvalsh_tridiagonal([], []).shape == (0,)
    for bad in ((d, d), (full, e)):
        with pytest.raises(ValueError):
            la.eigvalsh_tridiagonal(*bad)


# Functions of matrices.


def test_functions_of_matrices():
    a = some(4, 4, seed=7)
    s = a + a.T
    p = a @ a.T + np.eye(4)
    p = (p + p.T) / 2
    functions = {"sqrt": mpmath.sqrt, "invsqrt": lambda x: 1 / mpmath.sqrt(x), "exp": mpmath.exp, "log": mpmath.log, "abs": abs, "sign": mpmath.sign, "positive": lambda x: max(x, 0)}
    for name, f in functions.items():
        m = p if name in ("sqrt", "invsqrt", "log") else s
        w, q = mpmath.eigsy(wide(m))
        want = q * mpmath.diag([f(x) for x in w]) * q.T
        for form in ("f64", "f32", "mp:110"):
            z = la.symfunc(name, m, format=form)
            assert equal(z, want, form), (name, form)
        assert type(la.symfunc(name, m)) is np.ndarray and la.symfunc(name, np.stack([m, m])).shape == (2, 4, 4)
    assert np.array_equal(la.symfunc("exp", s), la.expm(s)) and la.symfunc("sqrt", np.zeros((2, 2))).tolist() == [[0, 0], [0, 0]]
    for error, what, call in (
        (hp.NotPositiveDefiniteError, "domain", lambda: la.symfunc("log", s)),
        (np.linalg.LinAlgError, "domain", lambda: la.symfunc("sqrt", -np.eye(2))),
        (ValueError, "symmetric", lambda: la.symfunc("exp", a)),
        (ValueError, "invsqrt", lambda: la.symfunc("cos", s)),
        (np.linalg.LinAlgError, "2 x 3", lambda: la.symfunc("exp", np.ones((2, 3)))),
        (hp.NotFiniteError, None, lambda: la.symfunc("abs", [[math.inf]])),
    ):
        with pytest.raises(error, match=what):
            call()


def test_polar_decompositions():
    for shape in ((4, 4), (5, 3), (3, 5)):
        a = some(*shape, seed=8)
        u, s, v = mpmath.svd_r(wide(a))
        for f in ("f64", "mp:90"):
            z = la.polar(a, format=f)
            assert equal(z.u, u * v, f) and equal(z.p, v.T * mpmath.diag(list(s)) * v, f)
            z = la.polar(a, side="left", format=f)
            assert equal(z.u, u * v, f) and equal(z.p, u * mpmath.diag(list(s)) * u.T, f)
    with pytest.raises(ValueError, match="side"):
        la.polar(a, "up")
    with pytest.raises(np.linalg.LinAlgError, match="one matrix"):
        la.polar(np.ones((2, 2, 2)))


def test_undecided_entries_are_counted():
    singular = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1]])  # vectors with zeros that no enclosure proves
    for what, call in (
        ("entries of singular vectors", lambda: la.svd(singular)),
        ("entries of a function", lambda: la.symfunc("abs", np.array([[2.0, 1], [1, -2]]))),
        ("entries of a polar", lambda: la.polar(np.array([[2.0, -1], [1, 2]]))),
        ("entries of a pseudo", lambda: la.pinv(np.diag([8.0, 2, 1]), 0.2)),
        ("entries of a solution", lambda: la.lstsq(np.diag([8.0, 2, 1]), [8, 8, 8], 0.2)),
    ):
        with pytest.warns(hp.UndecidedWarning, match=what) as seen:
            call()
        assert seen[0].filename == __file__, what


# Errors.


def test_errors_of_singular_values():
    bad = np.array([[1.0, math.nan], [0, 1]])
    for call in (la.svd, la.svdvals, la.pinv, la.matrix_rank, la.cond, la.polar, lambda x: la.norm(x, 2), lambda x: la.norm(x, -2), lambda x: la.lstsq(x, [1, 2]), lambda x: la.matrix_rank(x, 0), lambda x: la.svdvals(-x / 0)):
        with pytest.raises(hp.NotFiniteError), np.errstate(all="ignore"):
            call(bad)
    a = np.eye(2)
    for error, what, call in (
        (np.linalg.LinAlgError, "dimension", lambda: la.svd([1.0])),
        (np.linalg.LinAlgError, "dimension", lambda: la.pinv([1.0])),
        (ValueError, "k is 3", lambda: la.svd(a, k=3)),
        (ValueError, "k is 0", lambda: la.svdvals(a, k=0)),
        (ValueError, "RCond", lambda: la.pinv(a, -1)),
        (ValueError, "RCond", lambda: la.pinv(a, math.nan)),
        (ValueError, "RCond", lambda: la.lstsq(a, [1, 2], math.inf)),
        (ValueError, "RCond", lambda: la.lstsq(a, [1, 2], 0.1, weights=[1, 1])),
        (ValueError, "RCond", lambda: la.matrix_rank(a, rtol=-1)),
        (ValueError, "at least 0", lambda: la.matrix_rank(a, -1)),
        (ValueError, "at least 0", lambda: la.matrix_rank(a, math.nan)),
        (ValueError, "one number", lambda: la.pinv(a, [1, 2])),
        (ValueError, "broadcast", lambda: la.pinv(np.stack([a, a]), [1, 2, 3])),
        (ValueError, "one number", lambda: la.lstsq(a, [1, 2], [0.1, 0.2])),
        (ValueError, "combined", lambda: la.pinv(a, 0, rtol=0)),
        (ValueError, "combined", lambda: la.matrix_rank(a, 0, rtol=0)),
        (ValueError, "b has 3", lambda: la.lstsq(a, [1, 2, 3])),
        (TypeError, None, lambda: la.svd(a, k="2")),
    ):
        with pytest.raises(error, match=what):
            call()


# Roots and quadrature.


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_rules(n):
    p = hp.polynomial
    x = [mpmath.findroot(lambda t: mpmath.legendre(n, t), mpmath.cos(mpmath.pi * (4 * n - 4 * k - 1) / (4 * n + 2)), solver="newton", df=lambda t: n * (t * mpmath.legendre(n, t) - mpmath.legendre(n - 1, t)) / (t * t - 1)) if 2 * k + 1 != n else mpmath.mpf(0) for k in range(n)]
    w = [2 * (1 - t * t) / (n * mpmath.legendre(n - 1, t)) ** 2 for t in x]
    for f in ("f64", "f32", "mp:120"):
        nodes, weights = p.leggauss(n, format=f)
        assert equal(nodes, x, f) and equal(weights, w, f), f
        nodes, weights = p.chebgauss(n, format=f)
        angles = [mpmath.pi * (2 * k + 1) / (2 * n) for k in range(n)]
        assert equal(nodes, [mpmath.cos(t) if 2 * k + 1 != n else 0 for k, t in enumerate(angles)], f) and equal(weights, [mpmath.pi / n] * n, f)
        nodes, weights = p.roots_chebyu(n, format=f)
        angles = [mpmath.pi * (n - k) / (n + 1) for k in range(n)]
        assert equal(nodes, [mpmath.cos(t) if 2 * k + 1 != n else 0 for k, t in enumerate(angles)], f)
        assert equal(weights, [mpmath.pi / (n + 1) * mpmath.sin(t) ** 2 for t in angles], f)
    for mine, theirs in ((p.leggauss, np.polynomial.legendre.leggauss), (p.hermgauss, np.polynomial.hermite.hermgauss), (p.laggauss, np.polynomial.laguerre.laggauss), (p.chebgauss, np.polynomial.chebyshev.chebgauss)):
        z, want = mine(n), theirs(n)
        assert all(type(v) is np.ndarray for v in z) and np.allclose(z[0], want[0], rtol=1e-12, atol=1e-15) and np.allclose(z[1], want[1], rtol=1e-12)
    # Moments, in many bits: ∫ x^k exp(-x) dx = k!, and ∫ x^(2k) exp(-x²) dx = Γ(k + 1/2).
    for rule, moment in ((p.laggauss, mpmath.factorial), (p.hermgauss, lambda k: 0 if k % 2 else mpmath.gamma(mpmath.mpf(k + 1) / 2))):
        nodes, weights = rule(n, prec=190)
        for k in range(2 * n):
            got = sum((v * t**k for t, v in zip(nodes, weights, strict=True)), hp.Scalar(0, "mp:190"))
            size = sum((v * abs(t) ** k for t, v in zip(nodes, weights, strict=True)), hp.Scalar(0, "mp:190"))
            assert abs(hp.array([got]).to_mpmath()[0] - moment(k)) <= mpmath.mpf(2) ** -180 * hp.array([size]).to_mpmath()[0], k
    for bad in (0, -1):
        with pytest.raises(ValueError, match="points"):
            p.leggauss(bad)
    with pytest.raises(TypeError):
        p.hermgauss(2.5)


def test_rules_with_exponents():
    p = hp.polynomial

    def value(s):
        return hp.array([s]).to_mpmath()[0]

    # In many bits: ∫ x^(a+k) exp(-x) dx = Γ(a+k+1), and
    # ∫ (1-x)^a (1+x)^(b+k) dx = 2^(a+b+k+1) B(a+1, b+k+1).
    for n in (1, 4, 7):
        for a, b in ((0.5, -0.25), (2.0, 3.0), (-0.75, 0.0)):
            ma, mb = mpmath.mpf(a), mpmath.mpf(b)
            jacobi = lambda k: 2 ** (ma + mb + k + 1) * mpmath.beta(ma + 1, mb + k + 1)  # noqa: B023, E731
            gegenbauer = lambda k: 2 ** (2 * mb + k + 1) * mpmath.beta(mb + 1, mb + k + 1)  # noqa: B023, E731
            for (nodes, weights), moment, shift in (
                (p.roots_genlaguerre(n, a, prec=190), lambda k: mpmath.gamma(ma + k + 1), 0),  # noqa: B023
                (p.roots_jacobi(n, a, b, prec=190), jacobi, 1),
                (p.roots_gegenbauer(n, b + 0.5, prec=190), gegenbauer, 1),
            ):
                x, w = ([value(s) for s in v] for v in (nodes, weights))
                assert sorted(x) == x and len(x) == n
                for k in range(2 * n):
                    size = moment(k)
                    assert abs(sum(v * (t + shift) ** k for t, v in zip(x, w, strict=True)) - size) <= mpmath.mpf(2) ** -170 * size, (n, a, b, k)
    for f in ("f64", "mp:100"):
        for one, other in ((p.roots_jacobi(5, 0, 0, format=f), p.leggauss(5, format=f)), (p.roots_genlaguerre(5, 0, format=f), p.laggauss(5, format=f)), (p.roots_gegenbauer(5, 1, format=f), p.roots_chebyu(5, format=f))):
            assert all((u == v).all() and type(u) is type(v) for u, v in zip(one, other, strict=True))
    tenth = p.roots_genlaguerre(3, "0.1", prec=200)[0]
    assert (tenth == p.roots_genlaguerre(3, Fraction(1, 10), prec=200)[0]).all() and (tenth == p.roots_genlaguerre(3, hp.Scalar("0.1", "mp:200"), prec=200)[0]).all()
    assert (tenth != p.roots_genlaguerre(3, 0.1, prec=200)[0]).all()
    for call in (lambda: p.roots_genlaguerre(3, -1), lambda: p.roots_jacobi(3, 1, math.nan), lambda: p.roots_gegenbauer(3, -0.5), lambda: p.roots_jacobi(0, 1, 1)):
        with pytest.raises(ValueError):
            call()


def test_null_space_with_tolerance():
    a = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9 + 2.0**-40]])
    assert la.null_space(a).shape == la.null_space(a, 0).shape == (3, 0)
    for f in ("f64", "mp:120"):
        z = la.null_space(a, rcond=1e-10, format=f)
        # the right singular vector, with the sign that makes its first largest entry positive
        v = la.svd(a, format="mp:300").Vh[2]
        v = v if v[1] * z[1, 0] > 0 else -v
        assert (hp.asarray(z).reshape(-1) == v.astype(f)).all() and z.shape == (3, 1)
    z = la.null_space([[1.0, 1e-20, 0]], 1e-10, prec=60)  # two vectors, one of them rounded away from an axis
    assert z.shape == (3, 2) and abs(z.T @ z - np.eye(2)).max() < 1e-17
    for bad in (-1, math.nan):
        with pytest.raises(ValueError):
            la.null_space(a, bad)


def test_real_roots():
    roots = hp.polynomial.polyroots_real
    assert roots([6, -5, -2, 1]).tolist() == [-2, 1, 3] and roots([4, -4, 1]).tolist() == [2, 2] and roots([1, 0, 1]).shape == (0,) and roots([5]).shape == (0,)
    assert roots([0, 0, 1, 0]).tolist() == [0, 0] and type(roots(np.array([-1.0, 1]))) is np.ndarray
    wilkinson = np.array([1], dtype=object)
    for k in range(1, 21):
        wilkinson = np.convolve(wilkinson, np.array([-k, 1], dtype=object))
    exact_coefficients = hp.array([Fraction(int(v)) for v in wilkinson], "mp:100")
    assert roots(exact_coefficients, format="f64").tolist() == list(range(1, 21))
    c = np.random.default_rng(12).standard_normal(8)
    want = sorted((z.real for z in mpmath.polyroots([mpmath.mpf(v) for v in c], asc=True, maxsteps=500, extraprec=400) if abs(z.imag) < mpmath.mpf(10) ** -50), key=float)
    for f in ("f64", "f32", "mp:150"):
        assert equal(roots(c, format=f), want, f)
    for error, bad in ((ValueError, [0.0, 0]), (ValueError, [[1.0]]), (hp.NotFiniteError, [1, math.nan])):
        with pytest.raises(error):
            roots(bad)


# Confidence intervals.


def test_confidence_intervals():
    a, b = [[1, 0], [1, 1], [1, 2]], [1.0, 2, 4]
    # One degree of freedom: t = tan(π c / 2). By hand, x = (5/6, 3/2) and s² = 1/6, and the
    # diagonal of the inverse of AᵀA is (5/6, 1/2).
    for level, c in ((0.95, Fraction(19, 20)), ("0.5", Fraction(1, 2)), (Fraction(1, 3), Fraction(1, 3))):
        t = mpmath.tan(mpmath.pi * c.numerator / c.denominator / 2)
        errors = [mpmath.sqrt(mpmath.mpf(5) / 36), mpmath.sqrt(mpmath.mpf(1) / 12)]
        x = [mpmath.mpf(5) / 6, mpmath.mpf(3) / 2]
        for f in ("f64", "mp:130"):
            for fit in (hp.regression(a, b, confidence=level, format=f), hp.polynomial_regression([0, 1, 2], b, 1, confidence=level, format=f)):
                assert equal(fit.lower, [p - t * e for p, e in zip(x, errors, strict=True)], f) and equal(fit.upper, [p + t * e for p, e in zip(x, errors, strict=True)], f)
    assert type(hp.regression(a, b, confidence=0.9).lower) is np.ndarray and hp.regression(a, b).lower is None and hp.regression(a, b).upper is None
    two = hp.regression(a, [[1.0, 2], [2, 1], [4, 4]], confidence=0.95, covariance=True)
    assert two.lower.shape == (2, 2) and np.array_equal(two.lower[:, 0], hp.regression(a, b, confidence=0.95).lower) and two.covariance.shape == (2, 2, 2)
    for bad in (0, 1, 2, -0.5, "x"):
        with pytest.raises(ValueError):
            hp.regression(a, b, confidence=bad)


def test_p_values():
    # As above: one degree of freedom, where Student's t is Cauchy's distribution, and F = t² of the
    # slope.
    a, b = [[1, 0], [1, 1], [1, 2]], [1.0, 2, 4]
    t = [mpmath.sqrt(5), 3 * mpmath.sqrt(3)]
    p = [2 * mpmath.atan(1 / v) / mpmath.pi for v in t]
    for f in ("f64", "f32", "dd", "mp:130"):
        for fit in (hp.regression(a, b, p_values=True, format=f), hp.polynomial_regression([0, 1, 2], b, 1, p_values=True, format=f)):
            assert equal(fit.t, t, f) and equal(fit.p_values, p, f) and fit.f_p_value == hp.asarray(fit.p_values)[1]
            assert fit.lower is None
    # three degrees of freedom: 1 - (2/π)(θ + sin θ cos θ) with tan θ = t/√3
    x, y = [0, 1, 2, 3, 5], [1.0, 0.5, 3, 2, 4]
    both = hp.polynomial_regression(x, y, 1, p_values=True, confidence=0.9, prec=150)
    for v, q in zip(both.t.to_mpmath(), both.p_values.to_mpmath(), strict=True):
        theta = mpmath.atan(abs(v) / mpmath.sqrt(3))
        assert abs(q - (1 - 2 / mpmath.pi * (theta + mpmath.sin(theta) * mpmath.cos(theta)))) < mpmath.mpf(10) ** -40
    assert both.lower is not None and (both.lower == hp.polynomial_regression(x, y, 1, confidence=0.9, prec=150).lower).all()
    two = hp.regression(a, [[1.0, 3], [2, 3], [4, 3]], p_values=True)
    assert two.t.shape == two.p_values.shape == (2, 2) and two.f_p_value.shape == (2,) and type(two.p_values) is np.ndarray
    assert two.t[0, 1] == math.inf and two.p_values[0, 1] == 0 and math.isnan(two.p_values[1, 1]) and hp.regression(a, b).p_values is None
    with pytest.raises(hp.MisuseError, match="131072"):
        hp.regression(a, b, p_values=True, prec=200000)
