"""Tests of the Python package against numpy and exact fractions."""

from __future__ import annotations

import copy
import decimal
import gc
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import halfulp as hp
from halfulp._library import library

FORMATS = ["f32", "f64", "dd", "td", "qd", "mp:2", "mp:53", "mp:64", "mp:65", "mp:300"]
SPECIAL = [0.0, -0.0, 1.0, -1.5, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, math.inf, -math.inf, math.nan]


def same(x, y):
    """Whether two arrays have the same numbers, signs of zeros included."""
    x, y = np.asarray(x), np.asarray(y)
    signs = np.array_equal(np.signbit(x[x == x]), np.signbit(y[y == y]))
    return x.shape == y.shape and x.dtype == y.dtype and np.array_equal(x, y, equal_nan=True) and signs


def fractions(x):
    return [[Fraction(*v.as_integer_ratio()) for v in row] for row in hp.asarray(x).tolist()]


def exact_product(a, b):
    a, b = fractions(a), fractions(b)
    return [[sum((x * y for x, y in zip(row, col, strict=True)), Fraction(0)) for col in zip(*b, strict=True)] for row in a]


# Numbers in and out.


@pytest.mark.parametrize("f", FORMATS)
def test_round_trips(f):
    a = hp.random(5, 3, spread=20, seed=7, format=f)
    assert a.format == f and a.shape == (5, 3)
    for b in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), hp.array(a.tolist(), f), hp.array(a.to_fractions(), f), a.reshape(-1).reshape(5, 3), a.T.T):
        assert b.format == f and bool(np.all(a == b))
    x = a[2, 1]
    y = pickle.loads(pickle.dumps(x))
    assert x == y and x.format == y.format and hash(x) == hash(y) == hash(Fraction(*x.as_integer_ratio()))


def test_doubles():
    x = np.array(SPECIAL)
    assert same(hp.array(x).to_numpy(), x)
    assert same(hp.array(SPECIAL).to_numpy(), x)
    assert same(hp.array([hp.Scalar(v) for v in SPECIAL]).to_numpy(), x)
    assert same(hp.array(x, "mp:80").to_numpy(), x)
    assert [float(v) for v in hp.array(x)[:-1]] == list(x[:-1])


@pytest.mark.parametrize("move", [lambda a: a, lambda a: a.T, lambda a: a[::2, ::-3], lambda a: a[::-1], np.asfortranarray, lambda a: np.broadcast_to(a[0], (4, 7)), lambda a: a[1:1]])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, ">f8", "<i8", ">i2", np.uint64, np.float16, bool])
def test_strides(move, dtype):
    a = np.arange(42, dtype=np.float64).reshape(6, 7).astype(dtype)
    a = move(a)
    if isinstance(a, np.ndarray):
        a.flags.writeable = False
    b = hp.array(a)
    assert b.shape == a.shape and same(b.to_numpy(), a.astype(float))
    ones = np.ones((a.shape[1], 2))
    assert np.array_equal(hp.matmul(a, ones), a.astype(float) @ ones)


def test_integers_are_exact():
    n = 2**53 + 1
    assert hp.array([n])[0] == n and hp.array([n]).format == "mp:54"
    assert hp.array(np.array([n, -1]))[0] == n
    assert hp.array(np.array([2**64 - 1], np.uint64))[0] == 2**64 - 1
    assert hp.sum(np.array([n, -n, 1])) == 1.0
    assert hp.linalg.det(np.array([[n, n - 1], [1, 1]])) == 1.0
    assert isinstance(hp.linalg.det(np.array([[n, n - 1], [1, 1]])), np.float64)


def test_numbers_of_python():
    third = Fraction(1, 3)
    for bad in (third, decimal.Decimal("0.1"), "0.1"):
        with pytest.raises(hp.MisuseError, match="format"):
            hp.array([bad])
    assert hp.array(decimal.Decimal("0.5")).format == "f64"
    assert hp.array(["0.1"], "f64")[0] == 0.1
    assert hp.array(["1e400"], "f64")[0] == math.inf
    for f in FORMATS:
        # A tie of the format and its neighbours: the rounding of fractions is exact.
        s = hp.array(third, f).item()
        text = hp.array("0." + "3" * 2000, f).item()
        assert s == text or f == "mp:2"
    assert hp.array([hp.Scalar("0.1", "mp:200")]).format == "mp:200"
    with pytest.raises(TypeError):
        hp.array([1j])
    with pytest.raises(TypeError):
        hp.array([object()])
    with pytest.raises(hp.MisuseError, match="lengths"):
        hp.array([[1, 2], [3]])
    with pytest.raises(hp.MisuseError, match="no number"):
        hp.array(["abc"], "f64")


def test_other_packages():
    a = hp.random(4, 3, seed=3, format="mp:150")
    mpmath = pytest.importorskip("mpmath")
    assert bool(np.all(hp.array(a.to_mpmath(), "mp:150") == a))
    with mpmath.workprec(150):
        assert mpmath.mpf(a[1, 2]) == a.to_mpmath()[1, 2]
        assert hp.Scalar(mpmath.mpf(1) / 3, prec=150) == mpmath.mpf(1) / 3
    assert mpmath.isinf(mpmath.mpf(hp.Scalar(math.inf)))
    gmpy2 = pytest.importorskip("gmpy2")
    assert bool(np.all(hp.array(a.to_gmpy2()) == a)) and a.to_gmpy2()[0][0].precision == 150
    assert hp.Scalar(gmpy2.mpfr("-inf")) == -math.inf and hp.Scalar(gmpy2.mpz(5)) == 5 and hp.Scalar(gmpy2.mpq(1, 4)) == 0.25
    flint = pytest.importorskip("flint")
    assert bool(np.all(hp.array(a.to_flint(), "mp:150") == a))
    assert hp.Scalar(flint.fmpz(7)) == 7 and hp.Scalar(flint.fmpq(1, 4)) == 0.25
    with pytest.raises(hp.MisuseError, match="radius"):
        hp.array([flint.arb(1) / 3])


def test_arrays():
    a = hp.array(np.arange(24.0).reshape(2, 3, 4), "mp:90")
    n = np.arange(24.0).reshape(2, 3, 4)
    for key in [0, (1, 2), (slice(None), 1), (Ellipsis, -1), (None, 0), (n[..., 0] > 5), ([1, 0], [0, 2]), (slice(None, None, -1), slice(1), slice(0, 4, 2))]:
        assert np.array_equal(np.asarray(hp.asarray(a[key]).to_numpy()), n[key]), key
    assert a[1, 2, 3] == 23 and isinstance(a[1, 2, 3], hp.Scalar)
    a[0] = hp.array(1)
    a[1, :, 2] = ["0.1", "0.2", "0.3"]
    assert a[0].sum() == 12 and a[1, 0, 2] == hp.Scalar("0.1", "mp:90") and a[1, 0, 3] == 15
    with pytest.raises(IndexError):
        hp.array([1.0])[1]
    with pytest.raises(IndexError):
        a[5]
    assert len(a) == 2 and [x.shape for x in a] == [(3, 4)] * 2
    assert a.mT.shape == (2, 4, 3) and a.T.shape == (4, 3, 2)
    assert repr(hp.array([1.5, 2])) == "array([1.5, 2], 'f64')" and str(hp.array([])) == "[]"
    assert "..." in repr(hp.zeros((40, 40)))
    with pytest.raises(TypeError):
        len(hp.array(1.0))


def test_arithmetic():
    x, y = np.random.default_rng(1).standard_normal((2, 4, 3))
    a, b = hp.array(x), hp.array(y)
    for f in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q, lambda p, q: p + q[0], lambda p, q: p[:, :1] * q[0], lambda p, q: 2 / p, lambda p, q: -abs(q), lambda p, q: p - 0.5):
        assert same(f(a, b).to_numpy(), f(x, y))
    assert same(np.add(a, y).to_numpy(), x + y) and same((x + b).to_numpy(), x + y)
    for f in (lambda p, q: p < q, lambda p, q: p >= q, lambda p, q: p == q, lambda p, q: p != q[1], lambda p, q: p > 0, lambda p, q: 0 <= q):
        assert np.array_equal(f(a, b), f(x, y))
    nan = hp.array([math.nan, 1.0])
    assert not (nan == nan)[0] and (nan != nan)[0] and not (nan < 2)[0]
    assert (hp.array([1], "mp:300") + hp.array([2.0**-250], "qd")).format == "mp:300"
    with pytest.raises(hp.MisuseError, match="shapes"):
        a + hp.zeros((2, 2))
    with pytest.raises(TypeError):
        a + "1"
    assert hp.Scalar(0.1) != Fraction(1, 10) and hp.Scalar(0.5) == Fraction(1, 2) and hp.Scalar(math.inf) > Fraction(1, 3)
    assert 1 - hp.Scalar(3) == -2 and hp.Scalar(3) / 2 == 1.5 and 2 * np.float64(3) * hp.Scalar(2) == 12
    assert int(hp.Scalar(-2.5)) == -2 and not hp.Scalar(0) and hp.Scalar(2).sqrt() == math.sqrt(2)
    assert f"{hp.Scalar(1, 'dd') / 3:.20}" == "0.33333333333333333333" and f"{hp.Scalar(0.5):8.3f}" == "   0.500"


# Routines.


def test_products():
    r = np.random.default_rng(2)
    a, b = r.standard_normal((4, 6)), r.standard_normal((6, 5)) * 1e10
    want = np.array([[float(x) for x in row] for row in exact_product(a, b)])
    assert same(hp.matmul(a, b), want)
    assert same(hp.matmul(hp.array(a), b).to_numpy(), want) and same((a @ hp.array(b)).to_numpy(), want)
    assert same(hp.matmul(a[1], b), want[1]) and same(hp.matmul(a, b[:, 2]), want[:, 2])
    assert hp.matmul(a[1], b[:, 2]) == want[1, 2]
    got = hp.matmul(a, b, prec=2000)
    assert fractions(got) == exact_product(a, b)
    s = r.standard_normal((2, 1, 3, 4))
    t = r.standard_normal((5, 4, 2))
    assert hp.matmul(s, t).shape == np.matmul(s, t).shape and np.allclose(hp.matmul(s, t), np.matmul(s, t))
    assert hp.matmul(np.zeros((0, 3)), np.zeros((3, 2))).shape == (0, 2)
    assert same(hp.matmul(np.zeros((2, 0)), np.zeros((0, 3))), np.zeros((2, 3)))
    assert hp.matmul(a.astype(np.float32), b.astype(np.float32)).dtype == np.float32
    assert hp.matmul(a.astype(np.float32), b).dtype == np.float64
    assert same(hp.outer(a[0], b[0]), np.outer(a[0], b[0]))
    with pytest.raises(ValueError, match="do not fit"):
        hp.matmul(a, a)
    assert np.allclose(hp.vecdot(s, s), np.sum(s * s, -1)) and np.allclose(hp.vecdot(s, s, axis=0), np.sum(s * s, 0))


def test_sums():
    x = np.random.default_rng(3).standard_normal((3, 4, 5)) * 10.0 ** np.arange(5)
    for axis in (None, 0, -1, (0, 2), (1,)):
        for keep in (False, True):
            want = x.sum(axis=axis, keepdims=keep)
            got = hp.sum(x, axis=axis, keepdims=keep)
            assert np.shape(got) == np.shape(want) and np.allclose(got, want)
            assert np.allclose(hp.mean(x, axis=axis, keepdims=keep), x.mean(axis=axis, keepdims=keep))
            for ddof in (0, 1, 2):
                assert np.allclose(hp.std(x, axis=axis, keepdims=keep, ddof=ddof), x.std(axis=axis, keepdims=keep, ddof=ddof))
    assert hp.sum(x) == math.fsum(x.ravel()) and isinstance(hp.sum(x), np.float64)
    assert hp.sum(np.array([])) == 0 and hp.sum(np.zeros((0, 3)), axis=0).shape == (3,)
    assert np.sum(hp.array(x)) == math.fsum(x.ravel())
    with pytest.raises(ValueError, match="axis"):
        hp.sum(x, axis=3)
    assert hp.trace(np.eye(3)) == 3 and hp.trace(x[:, :3, :3]).shape == (3,)


def test_systems():
    n = 8
    h = hp.hilbert(n, format="mp:100")
    exact = fractions(hp.linalg.inv(h, prec=3000))
    product = exact_product(h, hp.array(exact, "mp:3000"))
    assert max(abs(product[i][j] - (i == j)) for i in range(n) for j in range(n)) < Fraction(1, 2**2900)
    assert same(hp.linalg.inv(h, format="f64").to_numpy(), np.array([[float(x) for x in row] for row in exact]))
    r = np.random.default_rng(4)
    a, b = r.standard_normal((5, 5)), r.standard_normal((5, 2))
    x = hp.linalg.solve(a, b)
    assert hp.verify.solution(a, b, x) == hp.verify.Verdict(10, 10, 0, 0, hp.verify.solution(a, b, x).largest, *hp.verify.solution(a, b, x)[5:])
    assert np.allclose(x, np.linalg.solve(a, b)) and same(hp.linalg.solve(a, b[:, 0]), x[:, 0])
    assert same(np.linalg.solve(hp.array(a), hp.array(b)).to_numpy(), x)
    stack = r.standard_normal((2, 3, 4, 4))
    rhs = r.standard_normal((3, 4, 1))
    assert np.allclose(hp.linalg.solve(stack, rhs), np.linalg.solve(stack, rhs))
    assert np.allclose(hp.linalg.inv(stack), np.linalg.inv(stack)) and np.allclose(hp.linalg.det(stack), np.linalg.det(stack))
    sign, log = hp.linalg.slogdet(stack)
    assert np.array_equal(sign, np.linalg.slogdet(stack)[0]) and np.allclose(log, np.linalg.slogdet(stack)[1])
    spd = a @ a.T + np.eye(5)
    assert np.allclose(hp.linalg.cholesky(spd), np.linalg.cholesky(spd))
    assert np.allclose(hp.linalg.cholesky(spd, upper=True), np.linalg.cholesky(spd).T)
    q, upper = hp.linalg.qr(r.standard_normal((6, 4)))
    assert np.allclose(q.T @ q, np.eye(4)) and np.all(np.diag(upper) > 0)
    p, lower, upper = hp.linalg.lu(a)
    assert np.allclose(p @ lower @ upper, a)
    sym = a + a.T
    lower, d, perm = hp.linalg.ldl(sym)
    assert np.allclose(lower @ d @ lower.T, sym[perm][:, perm])
    assert np.allclose(hp.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, 3))
    assert hp.linalg.expm(np.zeros((2, 2))).tolist() == [[1, 0], [0, 1]]
    assert hp.linalg.null_space(np.ones((2, 3))).shape == (3, 2)
    tri = np.triu(a)
    assert np.allclose(tri @ hp.linalg.solve_triangular(tri, b), b)
    fit = hp.linalg.lstsq(a[:, :2], b)
    want = np.linalg.lstsq(a[:, :2], b, rcond=None)
    assert np.allclose(fit.x, want[0]) and np.allclose(fit.residuals, want[1]) and fit.rank == 2
    for order in (None, "fro", 1, -1, 2, -2, np.inf):
        assert np.allclose(hp.linalg.norm(a, order), np.linalg.norm(a, order))
    for order in (None, 1, 2):
        assert np.allclose(hp.linalg.norm(a[0], order), np.linalg.norm(a[0], order))
        assert np.allclose(hp.linalg.norm(stack, order, axis=1), np.linalg.norm(stack, order, axis=1))
    for p in (None, 1, 2, np.inf):
        assert np.allclose(hp.linalg.cond(a, p), np.linalg.cond(a, p))
    assert hp.linalg.matrix_rank(np.ones((3, 3))) == 1 and list(hp.linalg.matrix_rank(np.zeros((2, 3, 3)))) == [0, 0]
    assert hp.linalg.det(np.zeros((0, 0))) == 1 and hp.linalg.inv(np.zeros((0, 0))).shape == (0, 0)


def test_eigenvalues():
    a = np.random.default_rng(5).standard_normal((6, 6))
    s = a + a.T
    for uplo, triangle in (("L", np.tril(a) + np.tril(a, -1).T), ("U", np.triu(a) + np.triu(a, 1).T)):
        z, want = hp.linalg.eigh(a, uplo), np.linalg.eigh(a, uplo)
        assert type(z.eigenvalues) is np.ndarray and np.allclose(z.eigenvalues, want.eigenvalues, rtol=1e-12)
        assert np.allclose(abs(z.eigenvectors), abs(want.eigenvectors)) and np.allclose(triangle @ z.eigenvectors, z.eigenvectors * z.eigenvalues)
        assert same(hp.linalg.eigvalsh(a, UPLO=uplo.lower()), z.eigenvalues)
    w, v = hp.linalg.eigh(s)
    for j in range(6):  # the rule of signs
        column = v[:, j]
        assert column[np.argmax(abs(column) > math.pi / 4 * abs(column).max())] > 0
    # Hilbert's matrix, beside FLINT's value of 60 digits.
    assert hp.linalg.eigvalsh(hp.hilbert(12, format="mp:200"))[0].text(30) == "1.04794639796222669192599476180e-16"
    wide = hp.linalg.eigh(hp.array(s, "mp:200"))
    assert same(np.array(wide.eigenvalues.astype("f64")), w) and wide.eigenvectors.format == "mp:200"
    # Parts of the spectrum.
    part = hp.linalg.eigh(s, subset_by_index=(2, 3))
    assert same(part.eigenvalues, w[2:4]) and same(part.eigenvectors, v[:, 2:4])
    between = (w[1:] + w[:-1]) / 2
    assert same(hp.linalg.eigvalsh(s, subset_by_value=(between[1], between[4])), w[2:5])
    assert same(hp.linalg.eigvalsh(s, subset_by_value=(-np.inf, between[0])), w[:1])
    assert hp.linalg.eigvalsh(np.diag([1.0, 2, 3]), subset_by_value=(1, "2")).tolist() == [2]
    none = hp.linalg.eigh(s, subset_by_value=(w[5] + 1, np.inf))
    assert none.eigenvalues.shape == (0,) and none.eigenvectors.shape == (6, 0)
    # Stacks, numpy's dispatch, empty and float32 operands.
    stack = np.stack([s, s @ s])
    w2, v2 = hp.linalg.eigh(stack)
    assert w2.shape == (2, 6) and v2.shape == (2, 6, 6) and same(w2[0], w) and same(v2[0], v)
    assert hp.linalg.eigvalsh(stack, subset_by_index=(0, 1)).shape == (2, 2)
    assert same(np.linalg.eigh(hp.array(s)).eigenvalues.to_numpy(), w) and same(np.linalg.eigvalsh(hp.array(a), "U").to_numpy(), hp.linalg.eigvalsh(a, "U"))
    for shape in ((0, 0), (2, 0, 0), (0, 2, 2)):
        e, n = hp.linalg.eigh(np.zeros(shape)), np.linalg.eigh(np.zeros(shape))
        assert e.eigenvalues.shape == n.eigenvalues.shape and e.eigenvectors.shape == n.eigenvectors.shape
    assert hp.linalg.eigvalsh(s.astype(np.float32)).dtype == np.float32
    with pytest.warns(hp.UndecidedWarning, match="entries of eigenvectors seem to be 0"):
        hp.linalg.eigh(np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1]]))  # an antisymmetric vector
    for error, what, call in (
        (np.linalg.LinAlgError, "2 x 3", lambda: hp.linalg.eigh(np.ones((2, 3)))),
        (np.linalg.LinAlgError, "dimension", lambda: hp.linalg.eigvalsh(np.ones(3))),
        (np.linalg.LinAlgError, "finite|infinit|NaN", lambda: hp.linalg.eigvalsh(np.array([[math.nan]]))),
        (ValueError, "UPLO", lambda: hp.linalg.eigh(s, "X")),
        (ValueError, "no eigenvalues 2 to 6 of 6", lambda: hp.linalg.eigh(s, subset_by_index=(2, 6))),
        (ValueError, "combined", lambda: hp.linalg.eigh(s, subset_by_index=(2, 3), subset_by_value=(0, 1))),
        (ValueError, "a lower and an upper bound", lambda: hp.linalg.eigh(s, subset_by_value=(0,))),
        (ValueError, "compared", lambda: hp.linalg.eigh(s, subset_by_value=(math.nan, 1))),
        (ValueError, "one matrix", lambda: hp.linalg.eigh(stack, subset_by_value=(0, 1))),
    ):
        with pytest.raises(error, match=what):
            call()


def test_errors():
    for matrix, what in ((np.ones((2, 2)), "singular"), (np.ones((2, 3)), "2 x 3"), (np.ones(3), "dimension")):
        with pytest.raises(np.linalg.LinAlgError, match=what):
            hp.linalg.inv(matrix)
    with pytest.raises(np.linalg.LinAlgError):
        hp.linalg.cholesky(np.array([[1.0, 2], [2, 1]]))
    with pytest.raises(np.linalg.LinAlgError):
        hp.linalg.inv(np.array([[math.nan]]))
    with pytest.raises(ValueError, match="rows"):
        hp.linalg.solve(np.eye(3), np.ones(2))
    for bad in ("double-double", "mp:1", "mp:x", "f16", np.complex128):
        with pytest.raises(ValueError):
            hp.zeros(2, format=bad)
    with pytest.raises(ValueError, match="not both"):
        hp.sum([1.0], format="f64", prec=53)
    with hp.options(device="gpu7"), pytest.raises(hp.DeviceError, match="gpu7"):
        hp.sum(np.ones(3))
    with pytest.raises(hp.FileError):
        hp.load("there-is-no-such-file.mtx")
    with pytest.raises(ValueError, match="norm"):
        hp.linalg.norm(np.eye(2), 3)


def test_files(tmp_path: Path):
    a = hp.random(3, 2, format="mp:200")
    for name in ("a.mtx", "a.npz", "a.csv"):
        hp.save(tmp_path / name, a)
        b = hp.load(tmp_path / name, format="mp:200")
        assert b.shape == (3, 2) and bool(np.all(a == b))


# Processes, threads, signals.


def test_threads():
    a = np.random.default_rng(5).standard_normal((40, 40))
    want = hp.linalg.inv(a)
    wrong: list[object] = []

    def work():
        try:
            for _ in range(3):
                if not same(hp.linalg.inv(a), want):
                    wrong.append("differs")
        except BaseException as e:
            wrong.append(e)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_progress():
    a = hp.random(120, 120, format="mp:3000")
    shares: list[float] = []
    with hp.options(progress=lambda share: shares.append(share) or len(shares) < 2, threads=1), pytest.raises(hp.CancelledError):
        while True:
            a @ a

    def fails(share: float) -> None:
        raise KeyError("mine")

    with hp.options(progress=fails, threads=1), pytest.raises(KeyError, match="mine"):
        while True:
            a @ a


def python(text: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def test_interrupt():
    text = (  # the tests may run where the signal is ignored, as in the background of a shell
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import halfulp as hp\na = hp.random(200, 200, format='mp:8000')\n"
        "try:\n    print('ready', flush=True)\n    while True: a @ a\nexcept KeyboardInterrupt: print('interrupted')"
    )
    p = python(text)
    assert p.stdout is not None and p.stdout.readline() == "ready\n"
    p.send_signal(signal.SIGINT)
    assert p.communicate() == ("interrupted\n", "")


def test_fork():
    p = python(
        "import os, warnings\nwarnings.simplefilter('ignore')\nimport halfulp as hp\n"
        "child = os.fork()\n"  # the library is not loaded yet
        "if child == 0:\n    print(hp.sum([1.0, 2.0]), flush=True)\n    os._exit(0)\n"
        "os.waitpid(child, 0)\nhp.sum([1.0])\nchild = os.fork()\n"
        "if child == 0:\n    try:\n        hp.sum([1.0])\n    except hp.ForkedError as e:\n        print('fork' in str(e), flush=True)\n    os._exit(0)\n"
        "os.waitpid(child, 0)\nprint(hp.sum([1.0, 3.0]))"
    )
    out, err = p.communicate()
    assert out == "3.0\nTrue\n4.0\n", err


def test_nothing_leaks():
    a = hp.random(5, 5, format="mp:100")
    for _ in range(3):  # results, errors, iteration, exceptions
        hp.linalg.inv(a), a[0], a @ a, a.tolist(), hp.sum(a, axis=0)
        with pytest.raises(ValueError):
            hp.linalg.solve(a, hp.ones(4))
    del a
    gc.collect()
    before = library().live_handles()
    b = hp.random(5, 5, format="mp:100")
    hp.linalg.lu(b), b.sum(), hp.linalg.qr(b), hp.linalg.slogdet(b)
    del b
    gc.collect()
    assert library().live_handles() == before


def test_import_is_light():
    p = python("import sys, halfulp\nprint(halfulp._library._library is None, 'mpmath' in sys.modules)")
    assert p.communicate()[0] == "True False\n"


def test_program():
    p = subprocess.run([sys.executable, "-m", "halfulp", "--help"], capture_output=True, text=True)
    assert p.returncode == 0 and "gemm" in p.stdout or "is not installed" in p.stderr
