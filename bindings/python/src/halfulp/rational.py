"""Exact linear algebra with rational numbers: no result is rounded.

A Matrix takes integers, fractions, decimals and floats as the rational numbers that they are. Results
are proved, whatever the size of the numbers; they grow with the order of the matrix.

>>> from fractions import Fraction
>>> import halfulp as hp
>>> a = hp.rational.Matrix([["1/3", "0.1"], [2, Fraction(7, 15)]])
>>> a.det()
Fraction(-2, 45)
>>> a.inv()
Matrix([['-21/2',   '9/4'],
        [     45, '-15/2']])

A float is the binary number that it is: write "0.1" or Fraction(1, 10) for a tenth.
"""

from __future__ import annotations

import ctypes
import operator
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from . import _array, _numbers
from ._array import Array, Scalar
from ._format import FormatLike, asked, float64
from ._library import HalfulpError, MisuseError, NotFiniteError, OutOfMemoryError, call, free, library

__all__ = [
    "LDLResult",
    "LUResult",
    "Matrix",
    "RREFResult",
    "SolutionSet",
    "charpoly",
    "det",
    "identity",
    "inv",
    "ldl",
    "lu",
    "minpoly",
    "null_space",
    "rank",
    "rref",
    "solve",
    "solve_all",
    "zeros",
]

# The most bits of an integer that a power of two in a floating-point number may make: 128 MB.
_LONGEST = 1 << 30

# The most entries of a matrix that is printed as a whole.
_SHOWN = 1000

# Matrices with more entries are computed while signals are looked at, so that Ctrl-C ends the call.
_QUICK = 16


class RREFResult(NamedTuple):
    """The reduced row echelon form of a matrix, and the columns of its pivots, whose number is the rank."""

    matrix: Matrix
    pivots: list[int]


class LUResult(NamedTuple):
    """Factors of A[p] = L U: L has a unit diagonal, U is upper triangular."""

    p: list[int]
    L: Matrix
    U: Matrix


class LDLResult(NamedTuple):
    """Factors of A[p][:, p] = L D Lᵀ: L has a unit diagonal, D has diagonal blocks of order 1 and 2."""

    L: Matrix
    D: Matrix
    p: list[int]


class SolutionSet(NamedTuple):
    """All solutions of A X = B: a column of x plus any combination of the columns of null_space."""

    x: Matrix
    null_space: Matrix


class Matrix:
    """A matrix of rational numbers. It never changes; operations return new matrices.

    data: nested lists, one list a row, or a flat list, which is a column. Numbers are int, Fraction,
        Decimal, float, and the numbers of numpy, gmpy2, mpmath, python-flint, sympy and halfulp; texts
        are integers ("-12"), fractions ("7/15"), decimals ("0.1", "2.5e-3") and hexadecimal floats
        ("0x1.8p3"). Or an array of numpy, of halfulp or of any package that supports DLPack, a
        flint.fmpq_mat or fmpz_mat, or a Matrix of sympy.

    Every number is taken exactly. MisuseError for rows of different lengths and for a text that is no
    rational number, NotFiniteError for infinities and NaN, TypeError for what is no number: the text names
    row and column, which count from 0.

    a + b, a - b, a @ b, a ** k, and x * a and a / x for a number x, are exact. a == b tells whether shapes and
    entries are equal. a[i, j] is a Fraction, a[i] the list of the Fractions of a row, and a[1:, [0, 2]] a Matrix.

    >>> import halfulp as hp
    >>> a = hp.rational.Matrix([[".1", ".2", ".3"], [".4", ".5", ".6"], [".7", ".8", ".9"]])
    >>> a.det(), a.rank(), a.null_space().T
    (Fraction(0, 1), 2, Matrix([[1, -2, 1]]))
    >>> 10 * a[:2, :2] @ [[1, 0], [0, "1/3"]]
    Matrix([[1, '2/3'],
            [4, '5/3']])
    """

    __slots__ = ("_handle", "_shape")
    __array_ufunc__ = None  # operators with arrays of numpy are those of this class

    _handle: int
    _shape: tuple[int, int]

    def __new__(cls, data: Any) -> Matrix:
        return _taken(data, "data")

    @classmethod
    def _of(cls, handle: int, shape: tuple[int, int] | None = None) -> Matrix:
        a = object.__new__(cls)
        a._handle = handle
        a._shape = shape if shape is not None else tuple(library().rational_shape(handle))
        return a

    def __del__(self) -> None:
        if not sys.is_finalizing():
            free(getattr(self, "_handle", 0))

    def _run(self, name: str, *args: Any) -> Any:
        """Calls a function of the library with this matrix first and options last."""
        work = 1e9 if self._shape[0] * self._shape[1] > _QUICK else 0
        return call("rational_" + name, self._handle, *args, work=work)

    # Attributes and entries.

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self._shape

    @property
    def T(self) -> Matrix:  # noqa: N802
        """The transpose."""
        return Matrix._of(library().rational_transpose(self._handle), self._shape[::-1])

    def __len__(self) -> int:
        return self._shape[0]

    def _words(self) -> tuple[bytes, np.ndarray]:
        """Returns the words of the numerators, then of the denominators, and the numbers of words."""
        sizes = np.empty(2 * self._shape[0] * self._shape[1], np.int64)
        return library().rational_get_words(self._handle, sizes.ctypes.data), sizes

    def _fractions(self) -> list[Fraction]:
        """Returns the entries row by row."""
        raw, sizes = self._words()
        integers, at = [], 0
        for size in sizes.tolist():
            end = at + 8 * abs(size)
            x = int.from_bytes(raw[at:end], sys.byteorder)
            integers.append(-x if size < 0 else x)
            at = end
        n = len(integers) // 2
        return list(map(Fraction, integers[:n], integers[n:]))

    def tolist(self) -> list[list[Fraction]]:
        """Returns the rows as lists of Fractions.

        >>> import halfulp as hp
        >>> hp.rational.Matrix([[1, "0.5"]]).tolist()
        [[Fraction(1, 1), Fraction(1, 2)]]
        """
        flat, cols = self._fractions(), self._shape[1]
        return [flat[i * cols : (i + 1) * cols] for i in range(self._shape[0])]

    def _take(self, rows: Sequence[int], cols: Sequence[int]) -> Matrix:
        r, c = np.array(rows, np.int64), np.array(cols, np.int64)
        return Matrix._of(library().rational_take(self._handle, r.ctypes.data, r.size, c.ctypes.data, c.size), (r.size, c.size))

    def __getitem__(self, key: Any) -> Any:
        """Returns an entry for two integers, the list of a row for one, else a Matrix."""
        row, col = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        if isinstance(key, tuple) and len(key) != 2:
            raise IndexError(f"{len(key)} indices: a matrix has rows and columns")
        rows, one_row = _indices(row, self._shape[0], "row")
        cols, one_col = _indices(col, self._shape[1], "column")
        z = self._take(rows, cols)
        if one_row and (one_col or not isinstance(key, tuple)):
            flat = z._fractions()
            return flat[0] if one_col else flat
        return z

    def __iter__(self) -> Iterator[list[Fraction]]:
        """Iterates over the rows, lists of Fractions."""
        return iter(self.tolist())

    def __eq__(self, other: object) -> Any:
        try:
            b = _operand(other, "other")
        except HalfulpError:
            return False
        if b is None:
            return NotImplemented
        return self._shape == b._shape and bool(library().rational_equal(self._handle, b._handle))

    def __hash__(self) -> int:
        return hash((self._shape, tuple(self._fractions())))

    def __reduce__(self) -> tuple[Any, ...]:
        raw, sizes = self._words()
        return _unpickled, (raw, sizes.tobytes(), self._shape)

    def is_integer(self) -> bool:
        """Returns whether all entries are integers."""
        return all(x.denominator == 1 for x in self._fractions())

    # Operators.

    def _sum(self, name: str, other: Any, reflected: bool = False) -> Any:
        b = _operand(other, "operand")
        if b is None:
            return NotImplemented
        x, y = (b, self) if reflected else (self, b)
        if x._shape != y._shape:
            raise MisuseError(f"shapes {_by(x)} and {_by(y)} differ: a sum has matrices of the same shape")
        return Matrix._of(getattr(library(), "rational_" + name)(x._handle, y._handle), x._shape)

    def __add__(self, other: Any) -> Matrix:
        return self._sum("add", other)  # type: ignore[no-any-return]

    def __radd__(self, other: Any) -> Matrix:
        return self._sum("add", other, True)  # type: ignore[no-any-return]

    def __sub__(self, other: Any) -> Matrix:
        return self._sum("sub", other)  # type: ignore[no-any-return]

    def __rsub__(self, other: Any) -> Matrix:
        return self._sum("sub", other, True)  # type: ignore[no-any-return]

    def __neg__(self) -> Matrix:
        return self * -1

    def __pos__(self) -> Matrix:
        return self

    def _scaled(self, x: tuple[int, int]) -> Matrix:
        alpha = Matrix._of(_packed([x[0]], [x[1]], (1, 1)), (1, 1))
        return Matrix._of(library().rational_scale(alpha._handle, self._handle), self._shape)

    def __mul__(self, x: Any) -> Matrix:
        if isinstance(x, Matrix) or _is_matrix(x):
            raise TypeError("a * b is the product with a number: write a @ b for the product of two matrices")
        return self._scaled(_number(x, "factor"))

    __rmul__ = __mul__

    def __truediv__(self, x: Any) -> Matrix:
        if isinstance(x, Matrix) or _is_matrix(x):
            raise TypeError("a / b is the quotient by a number: write b.solve(a) for the X with b X = a")
        p, q = _number(x, "divisor")
        if p == 0:
            raise ZeroDivisionError("division of a matrix by zero")
        return self._scaled((q, p))

    def _product(self, other: Any, reflected: bool) -> Any:
        b = _operand(other, "operand")
        if b is None:
            return NotImplemented
        x, y = (b, self) if reflected else (self, b)
        if x._shape[1] != y._shape[0]:
            raise MisuseError(f"{_by(x)} times {_by(y)}: the left matrix needs as many columns as the right one has rows")
        return Matrix._of(x._run("mul", y._handle), (x._shape[0], y._shape[1]))

    def __matmul__(self, other: Any) -> Matrix:
        return self._product(other, False)  # type: ignore[no-any-return]

    def __rmatmul__(self, other: Any) -> Matrix:
        return self._product(other, True)  # type: ignore[no-any-return]

    def __pow__(self, exponent: Any) -> Matrix:
        k = operator.index(exponent)
        if not -(2**63) <= k < 2**63:
            raise MisuseError(f"exponent {_short(str(k))}: exponents have 64 bits")
        return Matrix._of(_square(self)._run("power", k), self._shape)

    # Routines.

    def solve(self, b: Any) -> Matrix:
        """Returns the X with A X = B: see solve."""
        return solve(self, b)

    def solve_all(self, b: Any) -> SolutionSet:
        """Returns all X with A X = B: see solve_all."""
        return solve_all(self, b)

    def inv(self) -> Matrix:
        """Returns the inverse: see inv."""
        return inv(self)

    def det(self) -> Fraction:
        """Returns the determinant: see det."""
        return det(self)

    def rank(self) -> int:
        """Returns the rank: see rank."""
        return rank(self)

    def null_space(self) -> Matrix:
        """Returns a basis of the x with A x = 0 in the columns of a matrix of integers: see null_space."""
        return null_space(self)

    def rref(self) -> RREFResult:
        """Returns the reduced row echelon form and the columns of its pivots: see rref."""
        return rref(self)

    def lu(self) -> LUResult:
        """Returns factors of the matrix with exchanged rows: see lu."""
        return lu(self)

    def ldl(self) -> LDLResult:
        """Returns factors of a symmetric matrix: see ldl."""
        return ldl(self)

    def charpoly(self) -> list[Fraction]:
        """Returns the coefficients of det(x I - A), of ascending powers: see charpoly."""
        return charpoly(self)

    def minpoly(self) -> list[Fraction]:
        """Returns the coefficients of the minimal polynomial, of ascending powers: see minpoly."""
        return minpoly(self)

    # Other packages, and text.

    def round(self, format: FormatLike | None = None, *, prec: int | None = None) -> Array:
        """Returns a halfulp.Array in a format, float64 by default, every entry rounded once to nearest.

        >>> import halfulp as hp
        >>> a = hp.rational.Matrix([["1/3", "2/3"]])
        >>> a.round()
        array([[0.3333333333333333, 0.6666666666666666]], 'f64')
        >>> a.round("mp:100")[0, 0].text(30)
        '0.333333333333333333333333333333'
        """
        f = asked(format, prec) or float64
        return Array._of(library().rational_round(self._handle, f.code), self._shape, f)

    def to_numpy(self, dtype: Any = object) -> np.ndarray:
        """Returns a numpy array of Fractions, or of a floating-point type, every entry rounded once.

        For a type of integers the entries have to be integers, else MisuseError.

        >>> import halfulp as hp
        >>> hp.rational.Matrix([["1/3", 2]]).to_numpy(float)
        array([[0.33333333, 2.        ]])
        """
        kind = np.dtype(dtype)
        if kind.kind in "iu":
            flat = self._fractions()
            for k, x in enumerate(flat):
                if x.denominator != 1:
                    raise MisuseError(f"{_at(k, self._shape)}: {_short(self._text(k))} is no integer")
            return np.array([x.numerator for x in flat], kind).reshape(self._shape)
        if kind.kind == "f":
            return self.round(kind).to_numpy(kind)
        if kind != np.dtype(object):
            raise MisuseError(f"an array of {kind} has no rational numbers: dtype is object, or a type of floats or integers")
        z = np.empty(self._shape, object)
        z.reshape(-1)[:] = self._fractions()
        return z

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the numbers of a rational matrix cannot be used without a copy")
        return self.to_numpy(object if dtype is None else dtype)

    def to_flint(self) -> Any:
        """Returns a flint.fmpq_mat with the same numbers."""
        import flint

        flat = [flint.fmpq(x.numerator, x.denominator) for x in self._fractions()]
        return flint.fmpq_mat(*self._shape, flat)

    def to_sympy(self) -> Any:
        """Returns a Matrix of sympy with the same numbers."""
        import sympy

        return sympy.Matrix(*self._shape, [sympy.Rational(x.numerator, x.denominator) for x in self._fractions()])

    def text(self) -> str:
        """Returns the entries in full, a line for each row, columns aligned.

        >>> import halfulp as hp
        >>> print(hp.rational.Matrix([["0.5", 2], [-3, "1/3"]]).text())
        1/2   2
         -3 1/3
        """
        return str(library().rational_get_text(self._handle))

    def _joined(self, separator: str, between: str) -> str:
        """Returns the entries with separators between them and between rows."""
        lines = self.text().splitlines() if self._shape[1] else [""] * self._shape[0]
        return between.join(separator.join(line.split()) for line in lines)

    def to_pari(self) -> str:
        """Returns the matrix as PARI/GP reads it.

        >>> import halfulp as hp
        >>> hp.rational.Matrix([["0.5", 2], [-3, "1/3"]]).to_pari()
        '[1/2, 2; -3, 1/3]'
        """
        return f"[{self._joined(', ', '; ')}]" if self._shape[0] and self._shape[1] else f"matrix({self._shape[0]}, {self._shape[1]})"

    def to_mathematica(self) -> str:
        """Returns the matrix as Mathematica reads it.

        >>> import halfulp as hp
        >>> hp.rational.Matrix([["0.5", 2], [-3, "1/3"]]).to_mathematica()
        '{{1/2, 2}, {-3, 1/3}}'
        """
        return f"{{{{{self._joined(', ', '}, {')}}}}}" if self._shape[0] else "{}"

    def _text(self, k: int) -> str:
        """Returns the text of an entry by its place in the order of rows."""
        return self._take([k // self._shape[1]], [k % self._shape[1]]).text()

    def _shown(self, separator: str, indent: int, quote: str) -> str:
        """Returns nested brackets with the entries, columns aligned; like numpy, without the middle of large matrices."""
        small = self._shape[0] * self._shape[1] <= _SHOWN

        def kept(n: int) -> list[int]:
            return list(range(n)) if small or n <= 6 else [0, 1, 2, n - 3, n - 2, n - 1]

        rows, cols = map(kept, self._shape)
        cells = [[_short(t) for t in line.split()] for line in self._take(rows, cols).text().splitlines()]
        cells = [[f"{quote}{t}{quote}" if "/" in t else t for t in row] for row in cells]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            padded = [t.rjust(w) for t, w in zip(row, widths, strict=True)]
            if len(cols) < self._shape[1]:
                padded.insert(3, "...")
            lines.append(f"[{separator.join(padded)}]")
        if len(rows) < self._shape[0]:
            lines.insert(3, "...")
        return "[" + (separator.rstrip() + "\n" + " " * (indent + 1)).join(lines) + "]"

    def __repr__(self) -> str:
        if not (self._shape[0] and self._shape[1]):
            return f"zeros({self._shape[0]}, {self._shape[1]})"
        return f"Matrix({self._shown(', ', 7, chr(39))})"

    def __str__(self) -> str:
        return self._shown(" ", 0, "") if self._shape[0] and self._shape[1] else repr(self)


# Numbers and matrices of other types.


def _short(text: str) -> str:
    """Returns a text, or if it is long its first and last characters; for a fraction those of both integers."""
    if len(text) <= 40:
        return text
    return "/".join(t if len(t) <= 20 else f"{t[:8]}...{t[-8:]}" for t in text.split("/", 1))


def _by(a: Matrix) -> str:
    return f"{a._shape[0]} x {a._shape[1]}"


def _at(k: int, shape: tuple[int, int]) -> str:
    return f"row {k // shape[1]}, column {k % shape[1]}"


def _indices(key: Any, n: int, what: str) -> tuple[list[int], bool]:
    """Returns the indices that a key selects of n, and whether it selects one by its number."""
    if isinstance(key, slice):
        return list(range(n)[key]), False
    if key is Ellipsis:
        return list(range(n)), False
    if isinstance(key, np.ndarray) and key.dtype == bool:
        if key.shape != (n,):
            raise IndexError(f"{what}s: a mask of the shape {key.shape} for {n} {what}s")
        return [int(i) for i in np.flatnonzero(key)], False
    one = not isinstance(key, (list, tuple, range, np.ndarray)) or isinstance(key, np.ndarray) and key.ndim == 0
    z = []
    for i in [key] if one else key:
        if isinstance(i, (bool, np.bool_)):
            raise IndexError(f"{what}s: a list of booleans is no index: give an array of numpy")
        try:
            k = operator.index(i)
        except TypeError:
            raise IndexError(f"{what} {i!r}: an index is an integer, a slice or a list of integers") from None
        if not -n <= k < n:
            raise IndexError(f"{what} {k} is out of bounds: there are {n}, from 0")
        z.append(k % n)
    return z, one


def _ratio(x: Any) -> tuple[int, int] | str:
    """Returns a number as numerator and denominator, or the text that denotes it."""
    kind = type(x)
    if kind is int:
        return x, 1
    if kind is Fraction:
        return x.numerator, x.denominator
    v = _numbers.exact(x)
    if isinstance(v, str):
        if v.strip().lower().lstrip("+-") in ("inf", "infinity", "nan", "snan"):
            raise NotFiniteError(f"{v.strip()} is no rational number")
        if "\0" in v:
            raise MisuseError(f"{_short(repr(v))} is no rational number")
        return v
    if isinstance(v, Fraction):
        return v.numerator, v.denominator
    if v.m < 0:
        raise NotFiniteError(f"{'nan' if v.m == _numbers.NAN else '-inf' if v.negative else 'inf'} is no rational number")
    if abs(v.e) > _LONGEST:
        raise OutOfMemoryError(f"a number of the order 2^{v.e + v.m.bit_length()} has too many digits")
    m = -v.m if v.negative else v.m
    return (m << v.e, 1) if v.e >= 0 else Fraction(m, 1 << -v.e).as_integer_ratio()


def _parsed(texts: Sequence[str]) -> Matrix:
    """Returns a column of the numbers of texts."""
    n = len(texts)
    data = (ctypes.c_char_p * n)(*(t.encode() for t in texts))
    return Matrix._of(library().rational_from_texts(data, n, 1, 1, 1), (n, 1))


def _refused(text: str) -> str:
    """Returns why a text is no rational number."""
    numerator, slash, denominator = text.partition("/")
    if slash and denominator.strip().lstrip("0") == "" and denominator.strip():
        return f"{_short(text)!r} has the denominator 0"
    return f"{_short(text)!r} is no rational number: texts are such as '-12', '7/15', '0.1', '2.5e-3' and '0x1.8p3'"


def _number(x: Any, name: str) -> tuple[int, int]:
    """Returns one number as numerator and denominator."""
    try:
        r = _ratio(x)
    except (TypeError, HalfulpError) as e:
        raise type(e)(f"{name}: {e}") from None
    if not isinstance(r, str):
        return r
    try:
        return _parsed([r])._fractions()[0].as_integer_ratio()
    except MisuseError as e:
        raise _reason(e, name, r) from None


def _reason(e: MisuseError, where: str, text: str) -> MisuseError:
    """Returns the error for a text that the library has refused."""
    reason = str(e) if "exponent" in str(e) else ""
    return MisuseError(f"{where}: {reason.partition(': ')[2] or _refused(text)}")


def _packed(numerators: Sequence[int], denominators: Sequence[int], shape: tuple[int, int]) -> int:
    """Returns the handle of the matrix of quotients of integers, row by row."""
    if all(q == 1 for q in denominators):
        denominators = ()
    words, sizes = [], []
    for x in (*numerators, *denominators):
        n = (x.bit_length() + 63) // 64
        words.append(abs(x).to_bytes(8 * n, sys.byteorder))
        sizes.append(-n if x < 0 else n)
    data, counts = b"".join(words), np.array(sizes, np.int64)
    return int(library().rational_from_words(data, counts.ctypes.data, *shape, len(denominators)))


def _from_entries(entries: Sequence[Any], shape: tuple[int, int], name: str) -> Matrix:
    """Returns the matrix of numbers, row by row. name is the argument's, for errors."""
    ratios: list[tuple[int, int]] = []
    texts: dict[int, str] = {}
    for k, x in enumerate(entries):
        try:
            r = _ratio(x)
        except (TypeError, HalfulpError) as e:
            raise type(e)(f"{name}: {_at(k, shape)}: {e}") from None
        if isinstance(r, str):
            texts[k] = r
            r = 0, 1
        ratios.append(r)
    if texts:
        try:
            found = _parsed(list(texts.values()))._fractions()
        except MisuseError:
            for k, text in texts.items():
                _number(text, f"{name}: {_at(k, shape)}")
            raise
        for k, f in zip(texts, found, strict=True):
            ratios[k] = f.numerator, f.denominator
    return Matrix._of(_packed([p for p, _ in ratios], [q for _, q in ratios], shape), shape)


def _from_lists(data: Iterable[Any], name: str) -> Matrix:
    rows = list(data)
    if not any(_is_sequence(r) for r in rows):
        return _from_entries(rows, (len(rows), 1 if rows else 0), name)
    entries: list[Any] = []
    cols = -1
    for i, r in enumerate(rows):
        if not _is_sequence(r):
            raise MisuseError(f"{name}: row {i} is {_short(repr(r))}: a list of numbers is needed")
        row = list(r)
        if cols < 0:
            cols = len(row)
        if len(row) != cols:
            raise MisuseError(f"{name}: row {i} has {len(row)} entries and row 0 has {cols}")
        entries.extend(row)
    return _from_entries(entries, (len(rows), cols), name)


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Iterable) and not isinstance(x, (str, bytes, bytearray, Mapping, Set, Scalar)) and getattr(x, "ndim", 1) > 0


def _is_matrix(x: Any) -> bool:
    """Reports whether x is a matrix, or list of numbers, of some type."""
    return _is_sequence(x) or _package(x) in ("flint", "sympy", "mpmath") and any(hasattr(x, n) for n in ("nrows", "tolist", "rows"))


def _package(x: Any) -> str:
    return type(x).__module__.partition(".")[0]


def _from_array(a: Array, name: str) -> Matrix:
    if a.ndim not in (1, 2):
        raise MisuseError(f"{name} has the shape {a.shape}: a matrix has two dimensions")
    shape = _array._matrix_shape(a.shape)
    try:
        return Matrix._of(library().rational_from_matrix(a._handle), shape)
    except NotFiniteError:
        for k, x in enumerate(a.reshape(-1)):
            if x.isnan() or x.isinf():
                raise NotFiniteError(f"{name}: {_at(k, shape)}: {x} is no rational number") from None
        raise


def _from_numpy(a: np.ndarray, name: str) -> Matrix:
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError(f"{name}: masked arrays are not supported")
    if a.ndim not in (1, 2):
        raise MisuseError(f"{name} has the shape {a.shape}: a matrix has two dimensions")
    if a.dtype.kind in "iub" or a.dtype.kind == "f" and a.dtype.itemsize <= 8:
        return _from_array(_array.asarray(a), name)
    if a.dtype.kind not in "fOUT":
        raise TypeError(f"{name}: an array of {a.dtype} has no rational numbers")
    return _from_entries(list(a.reshape(-1)), _array._matrix_shape(a.shape), name)


def _taken(data: Any, name: str) -> Matrix:
    """Returns data as a Matrix. name is the argument's, for errors."""
    if isinstance(data, Matrix):
        return data
    if isinstance(data, Array):
        return _from_array(data, name)
    package = _package(data)
    if package == "flint" and hasattr(data, "nrows"):
        return _from_entries([x for row in data.table() for x in row], (data.nrows(), data.ncols()), name)
    if package == "sympy":
        if hasattr(data, "to_Matrix"):  # a DomainMatrix
            data = data.to_Matrix()
        if hasattr(data, "tolist") and len(getattr(data, "shape", ())) == 2:
            return _from_entries([x for row in data.tolist() for x in row] if data.shape[1] else [], tuple(data.shape), name)
    if package == "mpmath" and hasattr(data, "rows"):
        return _from_entries(list(data), (data.rows, data.cols), name)
    if _array._is_tensor(data):
        return _from_array(_array.asarray(data), name)
    if isinstance(data, np.ndarray) or _numbers.holds_buffer(data):
        return _from_numpy(np.asanyarray(data), name)
    if not _is_sequence(data):
        raise TypeError(f"{name}: {_short(repr(data))} is no matrix: a list of rows, or an array, is needed")
    return _from_lists(data, name)


def _operand(x: Any, name: str) -> Matrix | None:
    """Returns an operand of an operator, None for what is no matrix."""
    if isinstance(x, Matrix):
        return x
    return _taken(x, name) if _is_matrix(x) else None


def _unpickled(raw: bytes, sizes: bytes, shape: tuple[int, int]) -> Matrix:
    counts = np.frombuffer(sizes, np.int64)
    return Matrix._of(library().rational_from_words(raw, counts.ctypes.data, *shape, counts.size // 2), shape)


# Constructors.


def _checked_order(n: Any, name: str) -> int:
    k = operator.index(n)
    if k < 0:
        raise MisuseError(f"{name} is {k}: at least 0 is needed")
    return k


def identity(n: int) -> Matrix:
    """Returns the unit matrix of order n.

    >>> import halfulp as hp
    >>> hp.rational.identity(2) * "1/2"
    Matrix([['1/2',     0],
            [    0, '1/2']])
    """
    k = _checked_order(n, "n")
    return _from_array(_array.asarray(np.eye(k)), "n")


def zeros(rows: int, cols: int) -> Matrix:
    """Returns a matrix of zeros."""
    shape = _checked_order(rows, "rows"), _checked_order(cols, "cols")
    sizes = np.zeros(shape[0] * shape[1], np.int64)
    return Matrix._of(library().rational_from_words(None, sizes.ctypes.data, *shape, 0), shape)


# Routines.


def _square(a: Any) -> Matrix:
    m = _taken(a, "a")
    if m._shape[0] != m._shape[1]:
        raise MisuseError(f"the matrix is {_by(m)}: a square one is needed")
    return m


def _system(a: Any, b: Any) -> tuple[Matrix, Matrix]:
    m, y = _taken(a, "a"), _taken(b, "b")
    if m._shape[0] != y._shape[0]:
        raise MisuseError(f"a is {_by(m)} and b is {_by(y)}: they need as many rows")
    return m, y


def solve(a: Any, b: Any, /) -> Matrix:
    """Returns the X with A X = B, exactly.

    a: m x n with m ≥ n and independent columns. b: m x k, or a flat list of m numbers, which is a column.
    The result is n x k.

    SingularMatrixError, a numpy.linalg.LinAlgError, if the columns of A are dependent; the text has the rank.
    InconsistentError, a LinAlgError too, if A X = B has no solution. Both are proved.

    >>> import halfulp as hp
    >>> hp.rational.solve([[2, 1], [1, "1/3"]], [1, 0])
    Matrix([[-1],
            [ 3]])
    """
    m, y = _system(a, b)
    return Matrix._of(m._run("solve", y._handle), (m._shape[1], y._shape[1]))


def solve_all(a: Any, b: Any, /) -> SolutionSet:
    """Returns all solutions of A X = B, for A of any shape and rank.

    a: m x n. b: m x k, or a flat list of m numbers. The result has x, n x k, one solution for each column of
    B, and null_space: all solutions are a column of x plus any combination of the columns of null_space. x is
    0 in the rows of the columns of A that are combinations of columns before them.

    InconsistentError, a numpy.linalg.LinAlgError, if there is no solution, which is proved.

    >>> import halfulp as hp
    >>> x, z = hp.rational.solve_all([[1, 2, 3], [4, 5, 6]], [6, 15])
    >>> x.T, z.T
    (Matrix([[0, 3, 0]]), Matrix([[1, -2, 1]]))
    """
    m, y = _system(a, b)
    x, z = m._run("solve_all", y._handle)
    return SolutionSet(Matrix._of(x), Matrix._of(z))


def inv(a: Any, /) -> Matrix:
    """Returns the inverse A⁻¹ of a square matrix.

    SingularMatrixError, a numpy.linalg.LinAlgError, if there is none, which is proved; the text has the rank.

    >>> import halfulp as hp
    >>> hp.rational.inv([[1, "1/2"], ["1/2", "1/3"]])
    Matrix([[ 4, -6],
            [-6, 12]])
    """
    m = _square(a)
    return Matrix._of(m._run("inverse"), m._shape)


def det(a: Any, /) -> Fraction:
    """Returns the determinant of a square matrix; 1 for order 0.

    >>> import halfulp as hp
    >>> hp.rational.det([[1, "1/2"], ["1/2", "1/3"]])
    Fraction(1, 12)
    """
    return Matrix._of(_square(a)._run("det"))._fractions()[0]


def rank(a: Any, /) -> int:
    """Returns the rank, which is proved.

    >>> import halfulp as hp
    >>> hp.rational.rank([[".1", ".2"], [".3", ".6"]])
    1
    """
    return int(_taken(a, "a")._run("rank"))


def null_space(a: Any, /) -> Matrix:
    """Returns a basis of the x with A x = 0 as the columns of a matrix of integers.

    For an m x n matrix of rank r the result is n x (n - r). The integers of a column have no common
    factor, and the first one that is not 0 is positive.

    >>> import halfulp as hp
    >>> hp.rational.null_space([["1/2", "1/3", 0], [0, 0, 1]]).T
    Matrix([[2, -3, 0]])
    """
    return Matrix._of(_taken(a, "a")._run("null_space"))


def rref(a: Any, /) -> RREFResult:
    """Returns the reduced row echelon form of a matrix, and the columns of its pivots.

    >>> import halfulp as hp
    >>> hp.rational.rref([[2, 4, 1], [1, 2, 0]])
    RREFResult(matrix=Matrix([[1, 2, 0],
            [0, 0, 1]]), pivots=[0, 2])
    """
    m = _taken(a, "a")
    pivots = np.zeros(min(m._shape), np.int64)
    z, count = m._run("rref", pivots.ctypes.data)
    return RREFResult(Matrix._of(z, m._shape), pivots[:count].tolist())


def lu(a: Any, /) -> LUResult:
    """Returns p, L and U of A[p, :] = L U for a matrix of any shape and rank.

    For A of m x n and k = min(m, n), L is m x k with a unit diagonal and U is k x n. The pivot of a column is
    its first entry on or below the diagonal that is not 0; without one no row moves. OutOfMemoryError if the
    factors, whose numbers grow fast with the order, may take more memory than is allowed.

    >>> import halfulp as hp
    >>> p, L, U = hp.rational.lu([[0, 1], [2, 3]])
    >>> p, L, U
    ([1, 0], Matrix([[1, 0],
            [0, 1]]), Matrix([[2, 3],
            [0, 1]]))
    """
    m = _taken(a, "a")
    p = np.zeros(m._shape[0], np.int64)
    lower, upper = m._run("lu", p.ctypes.data)
    return LUResult(p.tolist(), Matrix._of(lower), Matrix._of(upper))


def ldl(a: Any, /) -> LDLResult:
    """Returns L, D and p of A[p, :][:, p] = L D Lᵀ for a symmetric matrix, regular or not.

    L has a unit diagonal, and D has diagonal blocks of order 1 and 2. If no leading minor is 0, for instance
    for definite matrices, p is 0, 1, 2, ... and D is diagonal. The matrix is positive semidefinite if and only
    if D is diagonal and no entry is negative. MisuseError if A is not symmetric.

    >>> import halfulp as hp
    >>> hp.rational.ldl([[1, "1/2"], ["1/2", "1/3"]]).D
    Matrix([[1,      0],
            [0, '1/12']])
    """
    m = _square(a)
    p = np.zeros(m._shape[0], np.int64)
    lower, d = m._run("ldlt", p.ctypes.data)
    return LDLResult(Matrix._of(lower, m._shape), Matrix._of(d, m._shape), p.tolist())


def charpoly(a: Any, /) -> list[Fraction]:
    """Returns the coefficients c[0], ..., c[n] of det(x I - A) = c[0] + c[1] x + ... + c[n] xⁿ; c[n] is 1.

    >>> import halfulp as hp
    >>> [str(c) for c in hp.rational.charpoly([[2, 1], [1, "1/2"]])]
    ['0', '-5/2', '1']
    """
    return Matrix._of(_square(a)._run("charpoly"))._fractions()


def minpoly(a: Any, /) -> list[Fraction]:
    """Returns the coefficients of the minimal polynomial of a square matrix, of ascending powers.

    It is the polynomial of least degree with m(A) = 0 whose last coefficient is 1.

    >>> import halfulp as hp
    >>> [str(c) for c in hp.rational.minpoly([["1/2", 0], [0, "1/2"]])]
    ['-1/2', '1']
    """
    return Matrix._of(_square(a)._run("minpoly"))._fractions()
