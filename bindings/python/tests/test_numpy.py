"""Tests that halfulp's functions mean what numpy's functions of the same names mean.

Small integers make numpy's results exact, so that both have to agree in every bit.
"""

from __future__ import annotations

import copy
import math
import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest

import halfulp as hp

FORMATS = ["f32", "f64", "dd", "mp:60"]


def numbers(x):
    """Returns results as numpy arrays of doubles, truth values or integers."""
    if isinstance(x, (tuple, list)):
        return [numbers(v) for v in x]
    if isinstance(x, (hp.Array, hp.Scalar)):
        return np.asarray(hp.asarray(x).to_numpy(np.float64))
    return np.asarray(x)


def agree(x, y, signs=False):
    """Whether two results have the same shapes and numbers, and if asked the same signs of zeros."""
    x, y = numbers(x), numbers(y)
    if isinstance(x, list):
        return len(x) == len(y) and all(agree(p, q) for p, q in zip(x, y, strict=True))
    if x.shape != y.shape or not np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
        return False
    return not signs or x.dtype.kind != "f" or np.array_equal(np.signbit(x[x == x]), np.signbit(y[y == y]))


# One operand. xp is numpy or halfulp, a an array of 2 dimensions, b one of its shape.
ONE = """
-a
+a
abs(a)
a + 1
2 - a
a * 0.5
a / 4
3 / (a + 100)
a ** 2
a ** 3
(a + 100) ** -1
a @ a.T
a == b
a != b
a < b
a <= b
a > b
a >= b
a[0]
a[-1, 1]
a[::-1, ::2]
a[..., 0]
a[None]
a[:, None, 1:]
a[[1, 0]]
a[a > 0]
a.T
a.reshape(-1)
a.reshape((3, 2))
a.reshape(3, 2)
a.ravel()
a.flatten()
a.sum()
a.sum(0)
a.sum(axis=1)
a.sum(axis=(0, 1))
a.sum(axis=-1, keepdims=True)
a.max(axis=0)
a.min()
a.prod(axis=1)
a.cumsum()
a.cumsum(1)
a.argmax()
a.argmin(axis=0)
a.all()
a.any(axis=0)
a.trace()
a.diagonal(1)
a.swapaxes(0, 1)
a.squeeze()
a.clip(-1, 2)
a.round()
a.take([1, 0], axis=1)
a.repeat(2, axis=0)
a.dot(b.T)
a.astype(int)
a.astype(bool)
len(a)
np.array(a.shape)
a.ndim + a.size
[v for v in a]
3.0 in a
xp.abs(a)
xp.add(a, b)
xp.subtract(a, b)
xp.multiply(a, b)
xp.divide(a, b + 100)
xp.negative(a)
xp.positive(a)
xp.sqrt(xp.abs(a))
xp.square(a)
xp.reciprocal(a + 100)
xp.floor(a / 3)
xp.ceil(a / 3)
xp.trunc(a / 3)
xp.round(a / 2)
xp.sign(a)
xp.signbit(a)
xp.copysign(a, b)
xp.maximum(a, b)
xp.minimum(a, 0)
xp.isnan(a)
xp.isinf(a)
xp.isfinite(a)
xp.equal(a, b)
xp.less(a, 2)
xp.greater_equal(1, b)
xp.logical_and(a, b)
xp.logical_not(a)
xp.where(a > 0, a, b)
xp.where(a > 0, a, 0)
xp.clip(a, 0, 2)
xp.sum(a)
xp.sum(a, 0)
xp.sum(a, axis=(0, 1), keepdims=True)
xp.mean(a)
xp.mean(a, axis=1)
xp.prod(a)
xp.max(a, axis=1)
xp.min(a, axis=0, keepdims=True)
xp.cumsum(a)
xp.cumsum(a, 0)
xp.argmax(a, axis=1)
xp.argsort(a, axis=1)
xp.sort(a)
xp.sort(a, axis=0)
xp.nonzero(a)
xp.count_nonzero(a)
xp.searchsorted(xp.sort(xp.ravel(a)), xp.ravel(b))
xp.all(a)
xp.any(a, axis=1)
xp.dot(a, b.T)
xp.dot(a, 2)
xp.dot(a[None], b.T)
xp.inner(a, b)
xp.vdot(a, b)
xp.outer(a, b)
xp.kron(a, b)
xp.tensordot(a, b)
xp.tensordot(a, b, axes=((0,), (0,)))
xp.tensordot(a, b, 0)
xp.vecdot(a, b)
xp.matmul(a, b.T)
xp.matvec(a, b[0])
xp.vecmat(a[:, 0], b)
xp.trace(a)
xp.trace(xp.stack([a, b]))
xp.trace(a, offset=1)
xp.diagonal(a)
xp.diagonal(xp.stack([a, b]))
xp.diag(a)
xp.diag(a[0])
xp.diag(a[0], -1)
xp.transpose(a)
xp.transpose(xp.stack([a, b]))
xp.transpose(xp.stack([a, b]), (1, 0, 2))
xp.matrix_transpose(xp.stack([a, b]))
xp.permute_dims(xp.stack([a, b]), (2, 0, 1))
xp.reshape(a, (3, 2))
xp.squeeze(a[None])
xp.expand_dims(a, 1)
xp.broadcast_to(a[0], (4, 3))
xp.broadcast_arrays(a, a[0])
xp.concatenate([a, b])
xp.concatenate([a, b], axis=None)
xp.concat([a, b], axis=1)
xp.stack([a, b])
xp.stack([a, b], axis=-1)
xp.vstack([a, b[0]])
xp.hstack([a, b])
xp.hstack([a[0], b[1]])
xp.dstack([a, b])
xp.column_stack([a[0], b[0]])
xp.block([[a, b], [b, a]])
xp.split(a, 2)
xp.array_split(a, 2, axis=1)
xp.append(a, b)
xp.delete(a, 1, axis=1)
xp.unstack(a, axis=1)
xp.atleast_3d(a[0])
xp.flip(a)
xp.flip(a, axis=0)
xp.roll(a, 1)
xp.moveaxis(a, 0, 1)
xp.swapaxes(a, 0, 1)
xp.tile(a, (2, 1))
xp.repeat(a, 2)
xp.take(a, [2, 0], axis=1)
xp.take_along_axis(a, xp.argsort(a), axis=1)
xp.triu(a)
xp.triu(a, 1)
xp.tril(a, k=-1)
xp.meshgrid(a[0], b[1])
xp.meshgrid(a[0], b[1], indexing="ij")
xp.vander(a[0])
xp.vander(a[0], 4, increasing=True)
xp.zeros_like(a)
xp.ones_like(a)
xp.full_like(a, 3)
xp.cov(a)
xp.cov(a, b)
xp.cov(a, rowvar=False, bias=True)
xp.isclose(a, a + 1e-12)
xp.linalg.norm(a)
xp.linalg.norm(a, 1)
xp.linalg.norm(a, -1)
xp.linalg.norm(a, np.inf)
xp.linalg.norm(a, -np.inf)
xp.linalg.norm(a, axis=1)
xp.linalg.norm(a, np.inf, axis=0)
xp.linalg.norm(a, 0, axis=1)
xp.linalg.norm(a, 1, axis=(0, 1), keepdims=True)
xp.linalg.norm(a[0], -np.inf)
xp.linalg.vector_norm(a, axis=0)
xp.linalg.matrix_norm(a, keepdims=True)
xp.linalg.cross(a, b)
xp.linalg.cross(a.T, b[0].reshape(3, 1), axis=0)
xp.linalg.outer(a[0], b[0])
xp.linalg.trace(xp.stack([a, b]))
xp.linalg.diagonal(xp.stack([a, b]), offset=-1)
xp.linalg.matrix_transpose(a)
xp.linalg.matmul(a, b.T)
xp.linalg.vecdot(a, b)
xp.linalg.tensordot(a, b)
xp.linalg.multi_dot([a, b.T, a])
xp.linalg.matrix_rank(a)
xp.linalg.matrix_rank(xp.stack([a, b]))
xp.linalg.norm(a, 2)
xp.linalg.norm(a, -2)
xp.linalg.matrix_norm(xp.stack([a, b]), ord=2, keepdims=True)
xp.linalg.cond(a)
xp.linalg.svdvals(a)
xp.linalg.svdvals(xp.stack([a, b]))
xp.linalg.svd(a, compute_uv=False)
xp.abs(xp.linalg.svd(a).U)
xp.abs(xp.linalg.svd(a, False).Vh)
xp.linalg.pinv(a)
xp.linalg.pinv(xp.stack([a, b]), rtol=None)
""".strip().splitlines()

# Square matrices with exact results: c has the determinant 1.
SQUARE = """
xp.linalg.det(c)
xp.linalg.inv(c)
xp.linalg.solve(c, d)
xp.linalg.solve(c, d[:, 0])
xp.linalg.matrix_power(c, 3)
xp.linalg.matrix_power(c, 0)
xp.linalg.slogdet(c)
xp.linalg.cond(c, 1)
xp.linalg.cond(c, np.inf)
xp.linalg.cholesky(c @ c.T)
xp.linalg.eigvalsh(c @ c.T)
xp.linalg.eigvalsh(c, UPLO="U")
xp.linalg.eigh(c)[0]
xp.linalg.lstsq(c, d)[0]
xp.linalg.lstsq(c, d, rcond=None)[3]
xp.linalg.cond(c)
xp.linalg.cond(c, 2)
xp.linalg.tensorsolve(c.reshape(3, 3), d[:, 0])
xp.linalg.tensorinv(c, ind=1)
xp.linalg.det(xp.stack([c, c.T]))
xp.linalg.inv(xp.stack([c, c.T]))
xp.linalg.solve(xp.stack([c, c.T]), d)
""".strip().splitlines()

A = np.array([[3.0, -1, 2], [0, 5, -4]])
B = np.array([[1.0, 2, -3], [3, 0, -4]])
C = np.array([[1.0, 2, 0], [0, 1, 3], [0, 0, 1]]) @ np.array([[1.0, 0, 0], [-2, 1, 0], [1, 4, 1]])
D = np.array([[1.0, 2], [3, -1], [0, 4]])

# Whose results numpy rounds: of halves, quotients and roots in other formats than float64.
APPROXIMATE = ("/", "sqrt", "recip", "mean", "norm", "cov", "** -1", "linalg.inv", "solve", "slogdet", "cond", "lstsq", "det", "chol", "eig", "tensorinv", "svd", "pinv", "isclose")


def evaluated(expression, xp, a, b):
    return eval(expression, {"xp": xp, "np": np, "a": a, "b": b, "c": a, "d": b})


@pytest.mark.parametrize("expression", ONE + SQUARE)
def test_expression(expression):
    p, q = (C, D) if expression in SQUARE else (A, B)
    want = evaluated(expression, np, p, q)
    approximate = any(text in expression for text in APPROXIMATE)

    def check(got, exact=True):
        if exact and not approximate:
            assert agree(got, want), (got, want)
            return
        x, y = numbers(got), numbers(want)
        for v, w in zip(x, y, strict=True) if isinstance(x, list) else [(x, y)]:
            assert v.shape == w.shape and np.allclose(v, w, rtol=1e-5 if not exact else 1e-13, atol=1e-12)

    for f in FORMATS:
        a, b = hp.array(p, f), hp.array(q, f)
        got = evaluated(expression, hp, a, b)
        check(got, f != "f32")
        for v in got if isinstance(got, (tuple, list)) else [got]:
            assert not isinstance(v, (hp.Array, hp.Scalar)) or v.format == f, expression
        if "xp." in expression:  # numpy's function of halfulp's arrays
            check(evaluated(expression, np, a, b), f != "f32")
    if "xp." in expression:  # halfulp's function of numpy's arrays
        got = evaluated(expression, hp, p, q)
        check(got)
        for v, w in zip(got, want, strict=True) if isinstance(got, (tuple, list)) else [(got, want)]:
            assert isinstance(v, (np.ndarray, np.generic, int)) and np.asarray(v).dtype == np.asarray(w).dtype, expression
        single = evaluated(expression, hp, p.astype(np.float32), q.astype(np.float32))
        for v in single if isinstance(single, (tuple, list)) else [single]:
            assert np.asarray(v).dtype in (np.float32, np.bool_, np.int64), expression
        check(single, False)


# Layouts of memory and types of numbers.

LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "inner": lambda a: np.pad(a, 1)[1:-1, 1:-1],
    "unaligned": lambda a: _unaligned(a),
}


def _unaligned(a):
    raw = np.zeros(a.nbytes + 1, np.uint8)
    z = raw[1:].view(a.dtype).reshape(a.shape) if a.nbytes else a
    z[...] = a
    return z


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f4", "<i8", ">i4", "i1", "u2", "?", "f2", "O"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, dtype):
    if dtype == "O" and layout == "unaligned":
        return
    base = np.array([[3, 0, 1], [2, 5, 0], [0, 1, 4]]).astype(dtype)
    x = LAYOUTS[layout](base)
    assert np.array_equal(x, base)
    x.flags.writeable = False
    plain = base.astype(float)
    float32 = x.dtype.kind == "f" and x.dtype.itemsize <= 4
    want_dtype = np.float32 if float32 else np.float64
    for got, want in (
        (hp.matmul(x, x), plain @ plain),
        (hp.sum(x, axis=0), plain.sum(0)),
        (hp.add(x, x.T), plain + plain.T),
        (hp.linalg.det(x), np.round(np.linalg.det(plain))),
        (hp.linalg.solve(x, plain @ [1, 2, 3]), np.array([1.0, 2, 3])),
        (hp.dot(x[0], x[:, 1]), plain[0] @ plain[:, 1]),
        (hp.outer(x[1], x[::-1, 0]), np.outer(plain[1], plain[::-1, 0])),
    ):
        assert isinstance(got, (np.ndarray, np.generic)) and agree(got, want), (got, want)
        assert got.dtype == want_dtype or want is not None and got.dtype == np.float64
        assert got.dtype.isnative
    largest = hp.max(x, axis=1)  # some of the entries
    assert isinstance(largest, np.ndarray) and agree(largest, plain.max(1)) and largest.dtype == (x.dtype.newbyteorder("=") if x.dtype.kind in "iub" else want_dtype)
    for a in (hp.array(x), hp.asarray(x, None if x.dtype != bool else "f64")):
        assert agree(a, plain) and a.format in ("f64", "f32") and np.array_equal(x, base)
    a = hp.array(plain, "mp:70")
    for got in (a + x, x + a, a @ x, x @ a, np.add(x, a), np.matmul(x, a)):
        assert isinstance(got, hp.Array) and got.format == "mp:70"
    assert agree(x @ a, plain @ plain) and agree(x - a, plain - plain)
    a[...] = x
    assert agree(a, plain)


def test_input_is_not_changed_or_kept():
    x = np.eye(3)
    a = hp.array(x)
    b = hp.asarray(x)
    x[0, 0] = 5
    assert a[0, 0] == 1 and b[0, 0] == 1
    y = hp.reshape(x, (9,))
    y[0] = 7
    assert x[0, 0] == 5
    n = a.to_numpy()
    n[0, 0] = 9
    assert a[0, 0] == 1
    m = np.asarray(a)
    m[0, 0] = 9
    assert a[0, 0] == 1


# Broadcasting, no dimensions, no entries.

SHAPES = [(), (1,), (3,), (0,), (1, 3), (2, 3), (2, 1), (0, 3), (2, 0), (4, 2, 3), (4, 1, 1), (1, 1, 1, 1)]


@pytest.mark.parametrize("p", SHAPES)
@pytest.mark.parametrize("q", SHAPES)
def test_broadcasting(p, q):
    x = np.arange(math.prod(p), dtype=float).reshape(p) - 2
    y = np.arange(math.prod(q), dtype=float).reshape(q) + 1
    for f in ("f64", "mp:90"):
        a, b = hp.array(x, f), hp.array(y, f)
        for op in (operator.add, operator.sub, operator.mul, operator.truediv, operator.eq, operator.lt, operator.ge, np.maximum, np.copysign):
            try:
                want = op(x, y)
            except ValueError:
                for u, v in ((a, b), (a, y), (x, b)):
                    with pytest.raises(ValueError, match="shapes|broadcast"):
                        op(u, v)
                continue
            for u, v in ((a, b), (a, y), (x, b)):
                got = op(u, v)
                assert np.shape(got) == want.shape and (f != "f64" and op is operator.truediv or agree(got, want)), (op, u, v)
    try:
        want = np.matmul(x, y)
    except ValueError:
        with pytest.raises(ValueError, match="matmul"):
            hp.matmul(x, y)
        with pytest.raises(ValueError, match="matmul"):
            hp.array(x) @ hp.array(y)
    else:
        assert agree(hp.matmul(x, y), want) and agree(hp.array(x, "dd") @ y, want)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("f", ["f32", "td", "mp:33"])
def test_shapes(shape, f):
    x = np.arange(math.prod(shape), dtype=float).reshape(shape)
    a = hp.array(x, f)
    assert a.shape == shape and a.size == x.size and a.ndim == x.ndim
    for b in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(a, 5)), a.T.T, a.copy(), a + 0, hp.array(a.tolist(), f) if a.size else a):
        assert b.shape == shape and b.format == f and np.all(a == b) and b is not a or b.size == 0
    assert np.asarray(a).shape == shape and np.asarray(a, np.float32).dtype == np.float32
    assert np.asarray(a.to_numpy(object), float).shape == shape
    for axis in [None, *range(-x.ndim, x.ndim)]:
        for keep in (False, True):
            assert agree(hp.sum(a, axis=axis, keepdims=keep), x.sum(axis=axis, keepdims=keep))
            assert agree(hp.prod(a, axis=axis, keepdims=keep), x.prod(axis=axis, keepdims=keep))
            if x.shape[axis] if axis is not None else x.size:
                assert agree(hp.max(a, axis=axis, keepdims=keep), x.max(axis=axis, keepdims=keep))
                assert np.allclose(numbers(hp.var(a, axis=axis, keepdims=keep)), x.var(axis=axis, keepdims=keep))
            else:
                with pytest.raises(ValueError, match="no entries"):
                    hp.max(a, axis=axis, keepdims=keep)
    for bad in (x.ndim, -x.ndim - 1):
        with pytest.raises(ValueError, match="out of bounds"):
            hp.sum(a, axis=bad)
    assert repr(a).endswith(f"'{f}')") and str(a) and f"{a}"
    if x.ndim:
        assert len(a) == len(x) and len(list(a)) == len(x)
    else:
        for bad in (len, iter):
            with pytest.raises(TypeError, match="0-dim"):
                bad(a)


def test_empty_systems():
    z = np.zeros((0, 0))
    assert hp.linalg.det(z) == 1 and agree(hp.linalg.inv(z), z) and agree(hp.linalg.solve(z, np.zeros((0, 2))), np.zeros((0, 2)))
    for shape in ((0, 2, 2), (2, 0, 0), (3, 0, 2, 2)):
        for name in ("inv", "det", "cholesky"):
            assert agree(getattr(hp.linalg, name)(np.zeros(shape)), getattr(np.linalg, name)(np.zeros(shape))), (name, shape)
    assert hp.linalg.solve(np.zeros((0, 2, 2)), np.zeros(2)).shape == np.linalg.solve(np.zeros((0, 2, 2)), np.zeros(2)).shape
    assert hp.matmul(np.zeros((0, 2, 3)), np.zeros((3, 4))).shape == (0, 2, 4)
    assert hp.linalg.norm(np.zeros((0, 3))) == 0 and hp.mean(np.zeros((2, 0)), axis=0).shape == (0,)
    assert math.isnan(hp.mean(np.zeros(0))) and math.isnan(hp.var(np.zeros(0))) and hp.prod(np.zeros(0)) == 1


# Types of results.


def test_types_of_results():
    x, y = np.ones((2, 2), np.float32), np.ones((2, 2))
    n = np.array([[2**60 + 1, 2], [3, 4]])
    for got, dtype in ((x, "f4"), (y, "f8"), (n, "f8"), (n.astype(np.uint8), "f8"), (x.astype(np.float16), "f4"), (n > 2, "f8"), ([[1, 2], [3, 4]], "f8")):
        for f in (hp.matmul, hp.add, hp.multiply):
            assert f(got, got).dtype == np.dtype(dtype), (f, got)
        for f in (hp.sum, hp.abs, hp.sqrt, hp.negative, hp.square, hp.prod, hp.cumsum, hp.linalg.norm, hp.mean):
            assert f(got).dtype == np.dtype(dtype), (f, got)
    assert hp.add(x, y).dtype == np.float64 and hp.add(x, 2).dtype == np.float32 and hp.multiply(0.5, x).dtype == np.float32
    assert hp.add(x, np.float64(2)).dtype == np.float64 and hp.add(x, np.float32(2)).dtype == np.float32
    assert isinstance(hp.sum(y), np.float64) and isinstance(hp.sum(x), np.float32) and isinstance(hp.add(1, 2), np.float64)
    a = hp.array(x)
    assert (a + 1).format == "f32" and (a + np.float64(1)).format == "f64" and (a + np.float32(1)).format == "f32" and (a + y).format == "f64"
    assert (a + n).format == "f64" and (a * np.int64(2)).format == "f64" and (a + [1.5, 2]).format == "f64"
    assert (a + hp.Scalar(1, "mp:99")).format == "mp:99" and (a + Fraction(1, 3)).format == "f32"
    assert (hp.array(y) + n).format == "f64" and (hp.array(y, "mp:70") + n).format == "mp:70"
    # Integers are exact operands, and functions that move entries keep them.
    assert hp.abs(n)[0, 0] == float(2**60 + 1) and hp.sum(np.array([2**60 + 1, -(2**60)])) == 1
    for moved in (hp.reshape(n, (4,)), hp.flip(n), hp.stack([n, n]), hp.concat([n, n]), hp.transpose(n), hp.triu(n), hp.take(n, [0]), hp.sort(n), hp.maximum(n, 2), hp.max(n, axis=0), hp.round(n), hp.unique_values(n), hp.clip(n, max=n)):
        assert moved.dtype == np.int64 and 2**60 + 1 in moved.ravel().tolist()


def test_scalars_of_numpy():
    a = hp.array([1.0, 2.0], "mp:100")
    s = a[1]
    for z in (np.float64(3), np.float32(3), np.int64(3), np.uint8(3), np.float16(3), np.array(3.0), 3, 3.0, Fraction(3), True + 2):
        for got, want in ((z + a, [4, 5]), (a + z, [4, 5]), (z - a, [2, 1]), (a / z * z, [1, 2]), (z * a, [3, 6]), (z / a, [3, 1.5])):
            assert isinstance(got, hp.Array) and got.format == "mp:100" and list(got) == want, z
        for got, want in ((z + s, 5), (s + z, 5), (z - s, 1), (z * s, 6), (s - z, -1)):
            assert isinstance(got, (hp.Scalar, hp.Array)) and got == want, z
        assert list(z > a) == [True, True] and list(a == z) == [False, False] and (z > s) and not (s > z) and (z != s)
    v = np.array([1.0, 2.0])
    for got, want in ((v + s, [3, 4]), (s + v, [3, 4]), (v * s, [2, 4]), (s / v, [2, 1]), (v - s, [-1, 0])):
        assert isinstance(got, hp.Array) and got.format == "mp:100" and list(got) == want
    assert list(v < s) == [True, False] and list(s == v) == [False, True]
    with pytest.raises(ValueError, match="dimension"):
        np.float64(2) @ a
    assert float(np.float64(s)) == 2.0 and np.float64(2) == s and hash(s) == hash(2)
    assert {s: 1}[2] == 1 and s in [2] and math.floor(hp.Scalar(-1.5)) == -2 and math.ceil(hp.Scalar(-1.5)) == -1
    assert round(hp.Scalar(2.5)) == 2 and round(hp.Scalar("0.125", "mp:60"), 2) == hp.Scalar("0.12", "mp:60") and s**-2 == 0.25 and complex(s) == 2
    with pytest.raises(TypeError):
        a + None
    with pytest.raises(TypeError):
        a + 1j
    with pytest.raises(TypeError):
        np.array([1j]) + a
    assert list(2**a) == [2, 4] and 2**s == 4 and (2**a).format == "mp:100"
    with pytest.raises(TypeError):
        "2" ** a


def test_not_a_number():
    x = np.array([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0])
    for f in ("f32", "f64", "dd", "mp:80"):
        a = hp.array(x, f)
        for name in "isnan isinf isfinite signbit abs negative square sign floor ceil trunc round sqrt max min argmax argmin any all nonzero argsort sort".split():
            with np.errstate(all="ignore"):
                want = getattr(np, name)(x)
            got = numbers(getattr(hp, name)(a))
            if name == "signbit":
                got, want = got[1:], want[1:]
            assert agree(got, want, name != "sort"), (name, got, want)
        for name in "maximum minimum add multiply copysign equal less".split():
            for y in (math.nan, 0.0, 1.0, -math.inf):
                with np.errstate(all="ignore"):
                    assert agree(getattr(hp, name)(a[1:], y), getattr(np, name)(x[1:], y), name in ("add", "multiply", "copysign")), (name, y)
        for y in (math.nan, np.nan, np.float64("nan"), hp.Scalar(math.nan)):
            assert not (a == y).any() and (a != y).all() and not (a < y).any() and not (a >= y).any()
        assert not np.array_equal(a, a) and np.array_equal(a, a, equal_nan=True)
        assert math.isnan(a.sum()) and hp.isnan(hp.var(a)) and hp.isnan(hp.mean(a))
        assert np.isclose(a, x, equal_nan=True).all()
        for function in (hp.linalg.det, hp.linalg.inv):
            with pytest.raises(np.linalg.LinAlgError, match="infinity or NaN"):
                function(hp.array([[math.nan, 1], [1, 1]], f))


# What Python asks of objects.


def test_protocols():
    a = hp.array([[4.0, 1], [2, 3]], "mp:100")
    with pytest.raises(ValueError, match="true nor false"):
        bool(a)
    with pytest.raises(ValueError, match="true nor false"):
        bool(hp.array([]))
    assert bool(hp.array([[2.0]])) and not bool(hp.array(0.0)) and bool(hp.array(math.nan))
    for convert in (float, int, complex):
        assert convert(hp.array([[2.0]])) == 2
        with pytest.raises(TypeError, match="4 entries"):
            convert(a)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    with pytest.raises(TypeError):
        operator.index(hp.array(1.0))
    with pytest.raises(AttributeError):
        a.there_is_no_such_name = 1
    with pytest.raises(AttributeError):
        a.shape = (4,)
    assert (a == None) is False and (a != "x") is True  # noqa: E711
    assert [row.shape for row in a] == [(2,), (2,)] and [float(v) for row in a for v in row] == [4, 1, 2, 3]
    row, other = a
    assert isinstance(row, hp.Array) and row[0] == 4 and other.tolist() == [2, 3]
    assert a in [a] and 3 in a and 7 not in a
    assert np.shape(a) == (2, 2) and np.ndim(a) == 2 and np.size(a) == 4
    assert np.asarray(a).dtype == object and np.asarray(a, float).tolist() == [[4, 1], [2, 3]]
    with pytest.raises(ValueError, match="copy"):
        np.array(a, copy=False)
    for call in (lambda: np.exp(a), lambda: np.sin(a[0, 0]), lambda: np.bitwise_and(a, a), lambda: np.arctan2(a, a), lambda: np.modf(a)):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: np.einsum("ij,jk", a, a), lambda: np.linalg.eigvals(a), lambda: np.fft.fft(a), lambda: np.add.accumulate(a), lambda: np.median(a)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="norm -2"):
        np.linalg.cond(a, -2)


def test_indices():
    n = np.arange(24.0).reshape(2, 3, 4)
    a = hp.array(n, "mp:64")
    for key in (0, -1, (0, 1), (1, 2, 3), (..., 1), (slice(None), 0), (slice(None, None, -1),), (None, 0), [1, 0], ([0, 1], [1, 2]), np.array([True, False]), n > 5, np.int64(1), (np.int8(1), 0), slice(5, 9), (0, slice(None), [0, 3])):
        assert agree(a[key], n[key]), key
        m, b = n.copy(), a.copy()
        m[key], b[key] = -1, -1
        assert agree(b, m), key
    for key in (2, (0, 3), 1.0, "x", (0, 0, 0, 0), [2], np.array([True, False, True]), hp.array([0])):
        with pytest.raises(IndexError):
            a[key]
    for key in (2, (0, 3), [2]):
        with pytest.raises(IndexError):
            a[key] = 0
    with pytest.raises(ValueError):
        a[0] = [1, 2, 3]
    b = a.copy()
    b[0] = n[1]
    b[1] += 1
    assert agree(b[0], n[1]) and agree(b[1], n[1] + 1) and agree(a, n)
    row = a[0]
    row[0, 0] = 99
    assert a[0, 0, 0] == 0  # a copy


def test_operators_in_place():
    for f in ("f64", "mp:70"):
        n, a = np.array([[1.0, 2], [3, 4]]), hp.array([[1.0, 2], [3, 4]], f)
        same, handle = a, id(a)
        for op, y in ((operator.iadd, 2), (operator.imul, np.array([2.0, 4])), (operator.isub, hp.array([1.0, 1])), (operator.itruediv, 2), (operator.ipow, 2), (operator.imatmul, np.eye(2) * 2)):
            n = op(n, np.asarray(y, float) if not isinstance(y, int) else y) if op is not operator.imatmul else n @ y
            a = op(a, y)
            assert a is same and id(a) == handle and agree(a, n) and a.format == f
        with pytest.raises(ValueError, match="does not fit"):
            a += np.ones((3, 2, 2))
        with pytest.raises(ValueError, match="does not fit"):
            v = hp.ones(2)
            v += np.ones((2, 2))
        with pytest.raises(TypeError):
            a += None
    a = hp.array([1.0, 2.0])
    a += hp.array(["0.1", "0.2"], "mp:200")  # one rounding, to float64
    assert a.format == "f64" and list(a) == [float(Fraction(11, 10)), float(Fraction(22, 10))]
    n = np.array([1.0, 2.0])
    n += hp.array(["0.1", "0.2"], "mp:200")
    assert n.dtype == np.float64 and n.tolist() == [1.1, 2.2]
    out = np.zeros(2, np.float32)
    assert np.multiply(hp.array([1.0, 3], "mp:80"), 0.1, out=out) is out and out.tolist() == [np.float32(0.1), np.float32(float(Fraction(0.1) * 3))]
    with pytest.raises(TypeError):
        np.add(a, a, out=np.zeros(2, int))
    with pytest.raises(ValueError, match="does not fit"):
        np.add(a, a, out=np.zeros(3))
    with pytest.raises(TypeError):
        np.add(a, a, where=[True, False])


def test_other_types_of_numpy():
    tie = 1 + Fraction(1, 2**11)  # between two numbers of 16 bits
    values = [tie + Fraction(1, 2**90), tie - Fraction(1, 2**90), tie, Fraction(65519), Fraction(65520), -Fraction(1, 2**25) - Fraction(1, 2**120)]
    a = hp.array(values, "mp:200")
    assert np.asarray(a, np.float16).tolist() == [1 + 2.0**-10, 1, 1, 65504, math.inf, -(2.0**-24)]
    big = 2**62 + 1
    b = hp.array([big, -big, 0.5, -0.5], "mp:70")
    assert np.asarray(b, np.int64).tolist() == [big, -big, 0, 0] and b.astype(int).dtype == np.int64
    assert np.asarray(b[:1], np.longdouble)[0] == np.longdouble(big) or np.finfo(np.longdouble).nmant < 63
    for bad in (2**63, -(2**63) - 1, math.inf, math.nan):
        with pytest.raises(ValueError, match="does not hold"):
            hp.array([bad], "mp:70").astype(np.int64)
    assert hp.array([3, 0, math.nan]).astype(bool).tolist() == [True, False, True]
    assert np.asarray(b, np.complex128).dtype == np.complex128


def test_inputs():
    import array

    for x in (range(3), (0, 1, 2), [0, 1.0, np.float32(2)], array.array("d", [0, 1, 2]), memoryview(array.array("i", [0, 1, 2])), np.arange(3), [hp.Scalar(i) for i in range(3)], ["0", "1", "2"], np.array(["0", "1", "2"])):
        a = hp.array(x)
        assert a.shape == (3,) and list(a) == [0, 1, 2] and a.format == "f64"

    class Table:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2], [3, 4]])

    assert hp.array(Table()).shape == (2, 2) and hp.sum(Table()) == 10
    assert hp.array([hp.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]] and hp.array([[], []]).shape == (2, 0)
    assert hp.array(np.float32(0.1)).format == "f32" and hp.array(np.float64(0.1)).format == "f64"
    for bad in (None, {}, [None], object(), [1j], np.array([1j]), np.array([object()]), np.datetime64("2020-01-01"), b"12", (x for x in [1]), np.ma.array([1.0], mask=[True]), {1, 2}):
        with pytest.raises(TypeError):
            hp.array(bad)
    for bad in ([[1, 2], [3]], [[1], 2], [1, [2]], "abc", ["1", "x"], np.array(["x"])):
        with pytest.raises(ValueError):
            hp.array(bad)
    assert hp.array([1, 2], dtype=np.float32).format == "f32" and hp.array([1, 2], dtype="mp:40").format == "mp:40"
    assert isinstance(hp.array([1, 2], dtype=int), np.ndarray) and hp.zeros(3, dtype=bool).dtype == np.bool_
    with pytest.raises(ValueError, match="not both"):
        hp.zeros(3, dtype="f32", format="f64")
    with pytest.raises(ValueError, match="copy"):
        hp.array(np.ones(2), copy=False)


# Errors in words of the program, of numpy's kinds.


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: hp.linalg.inv(np.ones((2, 2))), np.linalg.LinAlgError, "singular matrix: its rank is 1, its order 2 .proved."),
        (lambda: hp.linalg.solve(np.zeros((3, 3)), np.ones(3)), np.linalg.LinAlgError, "singular"),
        (lambda: np.linalg.solve(hp.zeros((2, 2)), hp.ones(2)), np.linalg.LinAlgError, "singular"),
        (lambda: hp.linalg.inv(np.ones((2, 3))), np.linalg.LinAlgError, "2 x 3"),
        (lambda: hp.linalg.inv(np.ones(3)), np.linalg.LinAlgError, "1-dimensional"),
        (lambda: hp.linalg.det(5.0), np.linalg.LinAlgError, "0-dimensional"),
        (lambda: hp.linalg.cholesky(-np.eye(2)), np.linalg.LinAlgError, "not positive definite"),
        (lambda: hp.linalg.qr(np.ones((3, 2))), np.linalg.LinAlgError, "the rank .* is 1 .proved."),
        (lambda: hp.linalg.matrix_power(np.ones((2, 2)), -1), np.linalg.LinAlgError, "singular"),
        (lambda: hp.linalg.matrix_power(np.eye(2), 1.5), TypeError, "integer"),
        (lambda: hp.linalg.solve(np.eye(3), np.ones(2)), ValueError, "3 x 3 .* 2 rows"),
        (lambda: hp.linalg.solve(np.ones((2, 3, 3)), np.ones((4, 3, 1))), ValueError, "broadcast"),
        (lambda: hp.matmul(np.ones((2, 3)), np.ones((2, 3))), ValueError, "matmul: shapes"),
        (lambda: hp.matmul(np.ones((2, 2, 3)), np.ones((4, 3, 2))), ValueError, "broadcast"),
        (lambda: hp.matmul(2.0, np.ones(3)), ValueError, "one dimension or more"),
        (lambda: hp.vecdot(np.ones(3), np.ones(1)), ValueError, "3 and 1"),
        (lambda: hp.vecdot(1.0, 2.0), ValueError, "dimension"),
        (lambda: hp.dot(np.ones(2), np.ones(3)), ValueError, "2 and 3"),
        (lambda: hp.inner(np.ones(2), np.ones(3)), ValueError, "do not fit"),
        (lambda: hp.add(np.ones(2), np.ones(3)), ValueError, "broadcast"),
        (lambda: hp.sum(np.ones(2), axis=1), ValueError, "axis 1 is out of bounds"),
        (lambda: hp.sum(np.ones((2, 2)), axis=(0, 0)), ValueError, "duplicate"),
        (lambda: hp.sum(np.ones(2), axis=0.5), TypeError, None),
        (lambda: hp.concat([np.ones(2), hp.ones((2, 2))]), ValueError, "dimensions"),
        (lambda: hp.concat([hp.ones((2, 2)), hp.ones((3, 3))]), ValueError, None),
        (lambda: hp.concat([]), ValueError, "at least one"),
        (lambda: hp.stack([hp.ones(2), hp.ones(3)]), ValueError, "one shape"),
        (lambda: hp.ones(4).reshape(3), ValueError, "reshape"),
        (lambda: hp.broadcast_to(hp.ones(3), (2, 2)), ValueError, "broadcast"),
        (lambda: hp.squeeze(hp.ones((2, 1)), axis=0), ValueError, None),
        (lambda: hp.linalg.cross(np.ones(2), np.ones(2)), ValueError, "three"),
        (lambda: hp.linalg.outer(np.ones((2, 2)), np.ones(2)), ValueError, "vectors"),
        (lambda: hp.linalg.matrix_rank(np.eye(2), 0, rtol=1e-3), ValueError, "combined"),
        (lambda: hp.linalg.norm(np.eye(2), "nuc"), ValueError, "nuc"),
        (lambda: hp.linalg.norm(np.ones((2, 2, 2)), 1), ValueError, "axes"),
        (lambda: hp.linalg.cond(np.eye(2), "fro"), ValueError, "p=None"),
        (lambda: hp.pow(hp.full(2, 2.0), 0.5), ValueError, "integers"),
        (lambda: hp.diag(hp.ones((2, 2, 2))), ValueError, "vector or a matrix"),
        (lambda: hp.arange(0, 1, 0), ValueError, "step"),
        (lambda: hp.linspace(0, math.inf), ValueError, "finite"),
        (lambda: hp.var(hp.ones(3), ddof=1, correction=1), ValueError, "not both"),
        (lambda: hp.polyfit([1, 2], [1, 2], 2), ValueError, "degree 2"),
        (lambda: hp.zeros(-1), ValueError, None),
        (lambda: hp.eye(2.5), TypeError, None),
        (lambda: hp.hilbert(2.5), TypeError, None),
    ],
)
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


# Random arrays of small integers: numpy's results are exact.


@pytest.mark.parametrize("seed", range(12))
def test_random(seed):
    r = np.random.default_rng(seed)
    dtypes = [np.float64, np.float32, np.int64, np.int8, ">f8", ">i4"]

    def some(shape):
        x = r.integers(-9, 10, tuple(2 * d for d in shape)).astype(dtypes[r.integers(len(dtypes))])
        x = x[tuple(slice(None, None, [2, -2][r.integers(2)]) for _ in shape)]
        return np.asfortranarray(x) if r.integers(2) else x

    def wrapped(x):
        kind = r.integers(4)
        return x if kind == 0 else hp.array(x, ["f64", "dd", "mp:64"][kind - 1])

    for _ in range(12):
        m, k, n = r.integers(0, 5, 3)
        lead = tuple(r.integers(1, 3, r.integers(0, 3)))
        x, y = some((*lead, m, k)), some((k, n) if r.integers(2) else (*lead, k, n))
        p, q = x.astype(float), y.astype(float)
        assert agree(hp.matmul(wrapped(x), wrapped(y)), p @ q)
        v = some((k,))
        assert agree(hp.matmul(wrapped(x), wrapped(v)), p @ v.astype(float))
        assert agree(hp.matvec(wrapped(x), wrapped(v)), p @ v.astype(float))
        shape = tuple(d if r.integers(2) else 1 for d in x.shape)[r.integers(0, x.ndim) :]
        z = some(shape)
        for name in ("add", "subtract", "multiply", "maximum", "minimum", "less", "equal"):
            assert agree(getattr(hp, name)(wrapped(x), wrapped(z)), getattr(np, name)(p, z.astype(float))), (name, x.shape, z.shape)
        axes = tuple(k for k in range(x.ndim) if r.integers(2))
        for name in ("sum", "prod") + (("max", "min") if x.size else ()):
            assert agree(getattr(hp, name)(wrapped(x), axis=axes, keepdims=True), getattr(np, name)(p, axis=axes, keepdims=True)), (name, axes)
        axis = int(r.integers(x.ndim))
        assert agree(hp.cumsum(wrapped(x), axis), np.cumsum(p, axis))
        assert agree(hp.sort(wrapped(x), axis=axis), np.sort(p, axis=axis))
        assert agree(hp.argsort(wrapped(x), axis=axis), np.argsort(p, axis=axis, stable=True))
        order = tuple(r.permutation(x.ndim))
        assert agree(hp.permute_dims(wrapped(x), order), p.transpose(order))


def test_positional_arguments():
    n = np.array([[1.0, 2, 4], [3, 5, 9]])
    a = hp.array(n)
    for call in (
        lambda x: np.sum(x, 0, None, None, True),
        lambda x: np.sum(x, 1, np.float64),
        lambda x: np.prod(x, None, None, None, True),
        lambda x: np.max(x, 0, None, True),
        lambda x: np.argmin(x, 1, None),
        lambda x: np.all(x, 0, None, True),
        lambda x: np.std(x, 0, None, None, 1, True),
        lambda x: np.cumsum(x, 1, None, None),
        lambda x: np.trace(x, 0, 0, 1, None, None),
        lambda x: np.clip(x, 2, 4),
        lambda x: np.round(x / 2, 0),
        lambda x: np.searchsorted(x[0], x[1], "right"),
        lambda x: np.linalg.norm(x, None, np.int64(1), True),
        lambda x: np.linalg.norm(x, 1, (0, 1)),
        lambda x: np.diff(x, 1, 0),
        lambda x: np.sqrt(np.square(x[0, 1])),
        lambda x: np.maximum(x[0, 1], x),
        lambda x: np.add(x[0, 0], 1),
        lambda x: np.less(x[0, 0], 2),
    ):
        assert agree(call(a), call(n)) or np.allclose(numbers(call(a)), call(n), rtol=1e-14)
    assert np.sum(a, 0, np.float32).format == "f32" and isinstance(np.sqrt(hp.Scalar(2, "dd")), hp.Scalar)
    for call in (lambda: np.sum(a, where=n > 1), lambda: np.sum(a, out=n), lambda: np.max(a, 0, n[0]), lambda: np.sum(a, initial=1), lambda: np.cov(a, fweights=[1, 1, 1]), lambda: np.meshgrid(a[0], a[1], sparse=True)):
        with pytest.raises(TypeError):
            call()
    m = n.copy()
    m -= a[0, 1]
    assert m.tolist() == (n - 2).tolist()
    b = a.copy()
    b[0] = n[None, None, 1]
    assert agree(b[0], n[1])


@pytest.mark.parametrize("seed", range(6))
def test_random_indices(seed):
    r = np.random.default_rng(seed)

    def some(d):
        kind = r.integers(7)
        if kind == 0:
            return int(r.integers(-3, 3))
        if kind == 1:
            return slice(*(None if r.integers(2) else int(r.integers(-4, 5)) for _ in range(2)), [None, 1, -1, 2, -2][r.integers(5)])
        if kind == 2:
            return r.integers(0, 2, d).astype(bool)
        if kind == 3:
            return r.integers(-2, 2, r.integers(1, 3)).tolist()
        return [None, Ellipsis, np.int64(r.integers(-2, 2))][kind - 4]

    def tried(f):
        try:
            return f()
        except (IndexError, ValueError):
            return None

    for k in range(60):
        shape = tuple(r.integers(0, 4, r.integers(1, 4)))
        n = np.arange(math.prod(shape), dtype=float).reshape(shape)
        a = hp.array(n, ["f64", "dd", "mp:64"][k % 3])
        key = tuple(some(shape[min(i, len(shape) - 1)]) for i in range(r.integers(0, len(shape) + 2)))
        want, got = tried(lambda: n[key]), tried(lambda: a[key])
        assert (want is None) == (got is None) and (want is None or agree(got, want)), (shape, key)
        if want is not None:
            value = r.integers(-9, 9, np.shape(want)).astype(float)
            n[key] = value
            a[key] = value
            assert agree(a, n), (shape, key)
