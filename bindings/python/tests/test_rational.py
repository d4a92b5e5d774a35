"""Tests of rational matrices against elimination with Python's fractions, and of what goes in and out."""

from __future__ import annotations

import copy
import pickle
import random
import signal
import threading
import time
from decimal import Decimal
from fractions import Fraction

import flint
import gmpy2
import mpmath
import numpy as np
import pytest

import halfulp as hp
from halfulp.rational import Matrix

R = hp.rational
F = Fraction


# The oracle.


def eliminated(rows):
    """Returns the reduced row echelon form of lists of fractions, its pivots, and the product of pivots with its sign."""
    a, pivots, factor = [list(r) for r in rows], [], F(1)
    for j in range(len(a[0]) if a else 0):
        i = len(pivots)
        found = next((k for k in range(i, len(a)) if a[k][j]), None)
        if found is None:
            continue
        if found != i:
            a[i], a[found], factor = a[found], a[i], -factor
        factor *= a[i][j]
        a[i] = [x / a[i][j] for x in a[i]]
        for k in range(len(a)):
            if k != i and a[k][j]:
                a[k] = [x - a[k][j] * y for x, y in zip(a[k], a[i], strict=True)]
        pivots.append(j)
    return a, pivots, factor


def product(a, b):
    return [[sum((x * b[k][j] for k, x in enumerate(row)), F(0)) for j in range(len(b[0]))] for row in a]


def unit(n):
    return [[F(i == j) for j in range(n)] for i in range(n)]


def some(r, rows, cols, rank=None, bits=8):
    """Returns lists of random fractions, of a rank if it is given."""

    def one():
        return F(r.getrandbits(bits) - 2 ** (bits - 1), r.choice([1, 1, 2, 3, 5, 6, 7, 1 + r.getrandbits(bits)]))

    if rank is None:
        return [[one() for _ in range(cols)] for _ in range(rows)]
    if rank == 0:
        return [[F(0)] * cols for _ in range(rows)]
    return product(some(r, rows, rank, None, bits), some(r, rank, cols, None, bits))


CASES = [(n, n, None, bits) for n in (1, 2, 3, 5) for bits in (2, 8, 200)] + [(8, 8, None, 8), (13, 13, None, 4)] + [
    (3, 3, 0, 8), (4, 4, 2, 8), (6, 6, 5, 70), (3, 5, None, 8), (5, 3, None, 8), (6, 9, 4, 8), (9, 6, 4, 8), (14, 14, 9, 1), (1, 4, None, 8), (4, 1, None, 8)
]  # fmt: skip


@pytest.mark.parametrize("rows, cols, rank, bits", CASES)
def test_routines(rows, cols, rank, bits):
    r = random.Random(f"{rows} {cols} {rank} {bits}")
    x = some(r, rows, cols, rank, bits)
    a = Matrix(x)
    assert a.tolist() == x and a.shape == (rows, cols) and len(a) == rows
    form, pivots, factor = eliminated(x)
    assert a.rref() == (form, pivots) and a.rank() == len(pivots)
    basis = a.null_space()
    assert basis.shape == (cols, cols - len(pivots)) and basis.is_integer()
    assert basis.rank() == basis.shape[1]
    if basis.shape[1]:
        assert product(x, basis.tolist()) == [[0] * basis.shape[1] for _ in range(rows)]
        for column in basis.T:
            assert gmpy2.gcd(*(v.numerator for v in column)) == 1 and next(v for v in column if v) > 0
    # a right-hand side with solutions
    b = product(x, some(r, cols, 2))
    sol, free = a.solve_all(b)
    assert product(x, sol.tolist()) == b and free == basis and sol.shape == (cols, 2)
    assert all(not any(row) for j, row in enumerate(sol) if j not in pivots)
    if len(pivots) == cols:
        assert a.solve(b) == sol
    else:
        with pytest.raises(hp.SingularMatrixError, match=f"rank {len(pivots)}"):
            a.solve(b)
    if len(pivots) < rows:
        left = eliminated([[*row, *e] for row, e in zip(x, unit(rows), strict=True)])[0]
        bad = [v for v in left[len(pivots)][cols:]]  # bad·A = 0
        assert any(bad)
        with pytest.raises(hp.InconsistentError, match="column 1"):
            a.solve_all([[row[0], v] for row, v in zip(b, bad, strict=True)])
    p, lower, upper = a.lu()
    assert product(lower.tolist(), upper.tolist()) == [x[i] for i in p] and sorted(p) == list(range(rows))
    if rows != cols:
        for f in (a.det, a.inv, a.charpoly, a.minpoly, a.ldl, lambda: a**2):
            with pytest.raises(hp.MisuseError, match="square"):
                f()
        return
    n = rows
    assert a.det() == (factor if len(pivots) == n else 0)
    if len(pivots) == n:
        inverse = [row[n:] for row in eliminated([[*row, *e] for row, e in zip(x, unit(n), strict=True)])[0]]
        assert a.inv() == inverse and a**-1 == inverse
    else:
        with pytest.raises(np.linalg.LinAlgError, match=f"rank {len(pivots)}"):
            a.inv()
    assert a**3 == product(x, product(x, x)) and a**0 == unit(n)
    s = a + a.T
    lower, d, p = s.ldl()
    assert (lower @ d @ lower.T) == s[p, p]
    if n > 8 or bits > 8:
        return
    c, m = a.charpoly(), a.minpoly()
    assert len(c) == n + 1 and c[n] == 1 and c[0] == (-1) ** n * a.det() and c[n - 1] == -sum(x[i][i] for i in range(n))
    for q in (c, m):
        assert q[-1] == 1 and sum((a**k * v for k, v in enumerate(q)), R.zeros(n, n)) == R.zeros(n, n)
    # no polynomial of a lower degree: the powers below are independent
    assert Matrix([[v for row in a**k for v in row] for k in range(len(m) - 1)]).rank() == len(m) - 1


def test_operators():
    x, y = Matrix([[1, "1/2"], ["-1/3", 4]]), Matrix([[0, 1], ["2/3", 5]])
    assert x + y == [[1, "3/2"], ["1/3", 9]] and x - y == [[1, "-1/2"], [-1, -1]]
    assert [[1, 1], [1, 1]] - x == 1 * (np.ones((2, 2)) - x) == [[0, "1/2"], ["4/3", -3]]
    assert x @ y == [["1/3", "7/2"], ["8/3", "59/3"]] and x @ [1, 2] == [[2], ["23/3"]]
    assert np.array([[1.0, 0.0]]) @ x == hp.array([[1.0, 0.0]], "mp:70") @ x == x[:1]
    assert hp.array([[1.0, 0.0], [0.0, 1.0]]) + x == x + hp.array([[1.0, 0.0], [0.0, 1.0]]) == x + R.identity(2)
    assert -x == x * -1 == F(-1) * x == x / -1 == np.float64(-1) * x and +x == x
    assert x * "1/3" == x / 3 == x * flint.fmpq(1, 3) == x * gmpy2.mpq(1, 3) == F(1, 3) * x
    assert x * 0.1 == x * F(0.1) != x * "0.1"
    assert x != y and x == x.T.T and x != [1, 2] and x != [["a", "b"], ["c", "d"]] and x != 5 and not x == None  # noqa: E711
    assert hash(x) == hash(Matrix(x.tolist())) and {x: 1}[Matrix(x.tolist())] == 1
    assert copy.deepcopy(x) == pickle.loads(pickle.dumps(x)) == x and pickle.loads(pickle.dumps(R.zeros(2, 0))).shape == (2, 0)
    for f in (lambda: x * y, lambda: x * [[1, 2], [3, 4]], lambda: y / x, lambda: x + 1, lambda: x @ 2, lambda: x**0.5, lambda: x * None, lambda: x < y):
        with pytest.raises(TypeError):
            f()
    for f in (lambda: x + x[:1], lambda: x @ [1, 2, 3], lambda: x ** 10**30):
        with pytest.raises(hp.MisuseError):
            f()
    with pytest.raises(ZeroDivisionError):
        x / 0
    with pytest.raises(hp.NotFiniteError, match="divisor"):
        x / float("inf")
    with pytest.raises(hp.MisuseError, match=r"x\[0\]|factor: 'one'"):
        x * "one"


def test_selection():
    rows = some(random.Random(1), 4, 5)
    a, b = Matrix(rows), np.array(rows, object)
    assert a[1, 2] == rows[1][2] and a[-1, -5] == rows[3][0] and a[2] == rows[2] and a[2][1] == rows[2][1]
    assert list(a) == rows and [v for row in a for v in row] == [v for row in rows for v in row]
    for key in (np.s_[1:], np.s_[:, ::-2], np.s_[3:0:-1, 1:4], np.s_[:, :], np.s_[4:, 1:], ...):
        assert a[key].tolist() == b[key].tolist(), key
    assert a[[2, 0], 1:3] == b[[2, 0], 1:3] and a[[0, 0], [1, -1]] == b[[0, 0]][:, [1, -1]] and a[np.array([True, False, True, False])] == b[[0, 2]]
    assert a[1, :] == [rows[1]] and a[:, 1] == [[row[1]] for row in rows]
    for key in (4, (0, 5), (0, 0, 0), "a", 1.5, (slice(None), [7]), np.array([True]), [True, False]):
        with pytest.raises(IndexError):
            a[key]


TENTH = F(1, 10)


@pytest.mark.parametrize(
    "value, want",
    [
        (3, 3), (True, 1), (-(2**200), -(2**200)), (F(-1, 3), F(-1, 3)), (0.1, F(0.1)), (5e-324, F(5e-324)), (-0.0, 0), (Decimal("0.1"), TENTH), (Decimal("-1E+3"), -1000),
        ("0.1", TENTH), (" -7/15 ", F(-7, 15)), ("1e-3", F(1, 1000)), ("0x1.8p3", 12), ("010", 10), ("1" * 5000, (10**5000 - 1) // 9), (np.int8(-3), -3), (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float32(0.1), F(float(np.float32(0.1)))), (np.longdouble(2) ** 100, 2**100), (np.str_("1/3"), F(1, 3)), (np.array(3), 3), (gmpy2.mpz(5), 5), (gmpy2.mpq(1, 3), F(1, 3)), (gmpy2.mpfr("0.5"), F(1, 2)),
        (mpmath.mpf(0.1), F(0.1)), (flint.fmpz(7), 7), (flint.fmpq(7, 15), F(7, 15)), (flint.arb(0.5), F(1, 2)),
        (hp.Scalar("0.1", "mp:200"), F(*hp.Scalar("0.1", "mp:200").as_integer_ratio())), (hp.Scalar("0.1", "dd"), F(*hp.Scalar("0.1", "dd").as_integer_ratio())),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_numbers(value, want):
    for z in (Matrix([[1, value], ["1/2", 0.25]])[0, 1], Matrix([[value]])[0, 0], (Matrix([1]) * value)[0, 0]):
        assert z == want and type(z) is Fraction


def test_arrays():
    a = np.array([[0.1, -2.5e-300], [2.0**1000, 0.0]])
    want = [[F(v) for v in row] for row in a.tolist()]
    for data in (a, a.tolist(), a.astype(object), a.astype(np.longdouble), hp.array(a), hp.array(a, "mp:90"), hp.array(a).T.T, a[::-1][::-1], mpmath.matrix(a.tolist()), iter(a.tolist()), Matrix(a)):
        assert Matrix(data).tolist() == want
    assert Matrix(a.T) == Matrix(a).T == Matrix(hp.array(a).T)
    for kind in (np.int8, np.uint64, np.float16, np.float32, bool):
        assert Matrix(np.array([[1, 0]], kind)) == [[1, 0]]
    assert Matrix(np.array([[2**63 - 1, -(2**63)]])) == [[2**63 - 1, -(2**63)]]
    assert Matrix(np.array([["1/3", "2"]])) == [[F(1, 3), 2]]
    assert Matrix(hp.array([["0.1", "0.3"]], "qd"))[0, 1] == F(*hp.Scalar("0.3", "qd").as_integer_ratio())
    assert Matrix([1, "1/2"]).shape == Matrix(np.arange(2)).shape == Matrix(hp.arange(2)).shape == (2, 1)
    assert Matrix([]).shape == (0, 0) and Matrix([[], []]).shape == (2, 0) and Matrix(np.zeros((0, 3))).shape == (0, 3)
    big = flint.fmpz_mat([[2**100, -1], [0, 5]])
    assert Matrix(big) == [[2**100, -1], [0, 5]] and Matrix(flint.fmpq_mat(big) / 3)[0, 0] == F(2**100, 3)
    assert Matrix(flint.fmpq_mat(2, 0)).shape == (2, 0)


def test_sympy():
    sympy = pytest.importorskip("sympy")  # 1.14 needs an mpmath older than the one of other tests
    third = sympy.Rational(1, 3)
    assert Matrix(sympy.Matrix([[third, 2]])) == Matrix(sympy.ImmutableMatrix([[third, 2]])) == [["1/3", 2]]
    assert Matrix(sympy.polys.matrices.DomainMatrix.from_Matrix(sympy.Matrix([[1, 2]]))) == [[1, 2]]
    assert Matrix([[third, sympy.Integer(3), sympy.Float("0.5")]]) == [["1/3", 3, 0.5]] and Matrix([[1]]) * third == third * Matrix([[1]]) == [["1/3"]]
    for shape in ((2, 3), (1, 1), (0, 2), (2, 0)):
        a = Matrix(some(random.Random(3), *shape, None, 90)) if 0 not in shape else R.zeros(*shape)
        assert tuple(a.to_sympy().shape) == shape and Matrix(a.to_sympy()) == a
    for bad in ([[sympy.Symbol("x")]], sympy.Matrix([[sympy.sqrt(2)]])):
        with pytest.raises(TypeError, match="row 0, column 0: a number was expected"):
            Matrix(bad)


@pytest.mark.parametrize(
    "data, error, words",
    [
        ([[1, 2], [3]], hp.MisuseError, "row 1 has 1 entries and row 0 has 2"),
        ([[1, 2], 3], hp.MisuseError, "row 1 is 3"),
        ([[1, "1/0"]], hp.MisuseError, "row 0, column 1: '1/0' has the denominator 0"),
        ([[1], ["x"]], hp.MisuseError, "row 1, column 0: 'x' is no rational number"),
        ([["1\x002"]], hp.MisuseError, "row 0, column 0"),
        ([["1_000"]], hp.MisuseError, "row 0, column 0"),
        ([["1e9999999"]], hp.MisuseError, "exponent exceeds 1000000"),
        ([[1, float("nan")]], hp.NotFiniteError, "data: row 0, column 1: nan"),
        ([[Decimal("-Infinity")]], hp.NotFiniteError, "-Infinity is no rational"),
        ([["inf"]], hp.NotFiniteError, "inf is no rational"),
        (np.array([[1.0], [np.inf]]), hp.NotFiniteError, "data: row 1, column 0: inf"),
        (hp.array([[1.0, np.nan]], "mp:80"), hp.NotFiniteError, "data: row 0, column 1: nan"),
        (np.zeros((2, 2, 2)), hp.MisuseError, r"shape \(2, 2, 2\)"),
        (np.array([[1j]]), TypeError, "complex128"),
        ([[1j]], TypeError, "complex"),
        ([[None]], TypeError, "row 0, column 0: a number was expected, not NoneType"),
        ([[[1]]], TypeError, "row 0, column 0: a number was expected, not list"),
        ("12", TypeError, "no matrix"),
        (5, TypeError, "no matrix"),
        ({1: 2}, TypeError, "no matrix"),
        ([[mpmath.mpf(2) ** (10**12)]], hp.OutOfMemoryError, "too many digits"),
        (np.ma.masked_array([[1.0]]), TypeError, "masked"),
    ],
)
def test_refused(data, error, words):
    with pytest.raises(error, match=words):
        Matrix(data)


def test_arguments_are_named():
    with pytest.raises(hp.MisuseError, match="^b: row 1, column 0: 'y'"):
        R.solve([[1, 0], [0, 1]], [1, "y"])
    with pytest.raises(hp.MisuseError, match="^a: row 0, column 0: 'y'"):
        R.det([["y"]])
    with pytest.raises(hp.MisuseError, match="a is 2 x 2 and b is 3 x 1"):
        R.solve(R.identity(2), [1, 2, 3])
    with pytest.raises(hp.MisuseError, match="n is -1"):
        R.identity(-1)
    with pytest.raises(hp.MisuseError, match="symmetric"):
        R.ldl([[1, 2], [3, 4]])


def test_round():
    r = random.Random(2)
    for bits in (3, 60, 2000):
        a = Matrix(some(r, 3, 4, None, bits))
        for f in ("f32", "f64", "dd", "qd", "mp:7", "mp:300"):
            assert (a.round(f) == hp.array(a.tolist(), f)).all() and a.round(f).format == f
    assert a.round().format == "f64" and a.round(prec=90).format == "mp:90"
    tie = Matrix([[2**53 + 1, 2**53 + 3, F(2**54 + 3, 2), 10**400]])
    assert tie.to_numpy(float).tolist() == [[2.0**53, 2.0**53 + 4, 2.0**53 + 2, np.inf]]
    assert (np.asarray(Matrix([["1/3", 2]])) == np.array([[F(1, 3), F(2)]])).all()
    assert np.asarray(Matrix([["1/3", 2]]), float).tolist() == [[1 / 3, 2.0]]
    assert Matrix([[300, -2]]).to_numpy(np.int64).tolist() == [[300, -2]]
    assert hp.array(Matrix([["1/3"]]), "mp:80")[0, 0].text(20) == "0.33333333333333333333" and hp.array(Matrix([["1/2"]])).format == "f64"
    assert (hp.linalg.inv(Matrix([["1/2"]])) == [[2]]).all()
    for f in (hp.array, hp.linalg.det):
        with pytest.raises(hp.MisuseError, match=r"a\.round\('mp:200'\)"):
            f(Matrix([["1/3"]]))
    for kind, error in ((np.int8, OverflowError), (complex, hp.MisuseError), ("U3", hp.MisuseError)):
        with pytest.raises(error):
            Matrix([[300]]).to_numpy(kind)
    with pytest.raises(hp.MisuseError, match="row 0, column 1: 1/2 is no integer"):
        Matrix([[300, "1/2"]]).to_numpy(int)


def test_other_packages():
    for shape in ((2, 3), (1, 1), (0, 2), (2, 0)):
        a = Matrix(some(random.Random(3), *shape, None, 90)) if 0 not in shape else R.zeros(*shape)
        q = a.to_flint()
        assert isinstance(q, flint.fmpq_mat) and (q.nrows(), q.ncols()) == shape and Matrix(q) == a
    a = Matrix([[1, "-1/2"], [3, 4]])
    assert a.to_pari() == "[1, -1/2; 3, 4]" and a.to_mathematica() == "{{1, -1/2}, {3, 4}}"
    assert R.zeros(0, 3).to_pari() == "matrix(0, 3)" and R.zeros(2, 0).to_pari() == "matrix(2, 0)"
    assert R.zeros(0, 3).to_mathematica() == "{}" and R.zeros(2, 0).to_mathematica() == "{{}, {}}"


def test_against_flint():
    r = random.Random(4)
    for n, bits in ((20, 10), (24, 100)):
        a = Matrix([[r.getrandbits(bits) - 2 ** (bits - 1) for _ in range(n)] for _ in range(n)])
        q = a.to_flint()
        assert a.inv() == Matrix(q.inv()) and a.det() == Matrix([[q.det()]])[0, 0] and a @ a == Matrix(q * q)
        assert a.charpoly() == [F(int(c.p), int(c.q)) for c in q.charpoly().coeffs()]


def test_text():
    a = Matrix([["1/3", 10], [-2, "-7/15"]])
    assert repr(a) == "Matrix([['1/3',      10],\n        [   -2, '-7/15']])" and eval(repr(a)) == a
    assert str(a) == "[[1/3    10]\n [ -2 -7/15]]" and a.text() == "1/3    10\n -2 -7/15"
    assert repr(R.zeros(0, 3)) == str(R.zeros(0, 3)) == "zeros(0, 3)"
    long = 10**5000 + 7  # longer than Python's limit for int and str
    b = Matrix([[long, F(1, long)]])
    assert str(b) == "[[10000000...00000007 1/10000000...00000007]]" and len(b.text()) == 2 * 5001 + 3
    assert Matrix([[b.text().split()[0]]])[0, 0] == long
    c = R.identity(50)
    assert str(c).splitlines()[0] == "[[1 0 0 ... 0 0 0]" and len(str(c).splitlines()) == 7


def test_threads_and_options():
    a = Matrix(some(random.Random(5), 12, 12))
    want = a.inv()
    wrong = []

    def work():
        if a.inv() != want:
            wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    shares = []
    with hp.options(threads=1, progress=shares.append):
        assert a.inv() == want
    assert all(0 <= share <= 1 for share in shares)
    with hp.options(memory=1000), pytest.raises(hp.OutOfMemoryError, match="bytes"):  # at least 4 MB are allowed
        Matrix([[3, "1/2"], [1, 1]]) ** 10**7


def long_work():
    r = random.Random(6)
    return Matrix([[r.getrandbits(2000) for _ in range(90)] for _ in range(90)]).charpoly()


def test_interrupted():
    main = threading.main_thread().ident

    def interrupt():
        time.sleep(0.3)
        signal.pthread_kill(main, signal.SIGINT)

    t = threading.Thread(target=interrupt)
    t.start()
    with pytest.raises(KeyboardInterrupt):
        long_work()
    t.join()


def test_released():
    """Other threads of Python run while a call does."""
    seen = []
    ended = threading.Event()

    def watch():
        while not ended.is_set():
            seen.append(1)
            time.sleep(0.001)

    t = threading.Thread(target=watch)
    t.start()
    with hp.options(progress=lambda done: len(seen) < 20), pytest.raises(hp.CancelledError):
        long_work()
    ended.set()
    t.join()
    assert len(seen) >= 20
