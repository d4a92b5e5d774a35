"""Tests of calls without handles, and of calls by programs that round in another way."""

from __future__ import annotations

import ctypes
import ctypes.util

import numpy as np
import pytest

import halfulp as hp
from halfulp import _direct


def bits(x):
    x = np.asarray(x)
    return x.dtype, x.shape, x.tobytes()


def views(shape, dtype, seed):
    """Yields arrays of a shape that lie in memory in many ways."""
    r = np.random.default_rng(seed)
    a = (r.integers(-3, 4, shape) * np.ldexp(1.0, r.integers(-30, 30, shape)) + r.normal(size=shape)).astype(dtype)
    yield a
    yield np.asfortranarray(a)
    wide = np.zeros([2 * n + 1 for n in shape], dtype)
    for sparse in (wide[tuple(slice(0, n) for n in shape)], wide[tuple(slice(1, None, 2) for _ in shape)], wide[..., : shape[-1]][-shape[0] :]):
        sparse = sparse[tuple(slice(0, n) for n in shape)]
        sparse[...] = a
        sparse.flags.writeable = False
        yield sparse
    yield a[::-1]
    yield np.broadcast_to(a[:1], shape)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shapes", [((4,), (4,)), ((1, 1), (1, 1)), ((3, 4), (4,)), ((4,), (4, 3)), ((2, 5), (5, 3)), ((1, 7), (7, 1)), ((6, 1), (1, 2)), ((17, 16), (16, 19))])
def test_products(shapes, dtype):
    used = 0
    for a in views(shapes[0], dtype, 1):
        for b in views(shapes[1], dtype, 2):
            want = hp.matmul(hp.array(a), hp.array(b))
            want = want.to_numpy().astype(dtype) if isinstance(want, hp.Array) else np.array(float(want), dtype)
            assert bits(hp.matmul(a, b)) == bits(want) == bits(hp.dot(a, b))
            used += _direct.matmul(a, b) is not None
    assert used >= 16


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1,), (4,), (33,), (3, 5), (2, 3, 4)])
def test_sums(shape, dtype):
    for a in views(shape, dtype, 3):
        assert bits(hp.sum(a)) == bits(np.array(float(hp.sum(hp.array(a))), dtype)[()])
    assert _direct.sum(np.ones(shape, dtype)) == np.prod(shape)


@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 3)])
def test_solutions(shape):
    used = 0
    for a in views((4, 4), np.float64, 1):
        for b in views(shape, np.float64, 2):
            try:
                want = hp.linalg.solve(hp.array(a), hp.array(b)).to_numpy()
            except hp.SingularMatrixError as e:
                with pytest.raises(hp.SingularMatrixError) as got:
                    hp.linalg.solve(a, b)
                assert str(got.value) == str(e)
                continue
            assert bits(hp.linalg.solve(a, b)) == bits(want)
            used += _direct.solve(a, b) is not None
    assert used >= 12
    a = np.array([[1.0, np.nan], [0.0, 1.0]])
    with pytest.raises(hp.NotFiniteError):
        hp.linalg.solve(a, np.ones(2))
    for b in (np.ones(3), np.ones((3, 4)), np.ones((2, 3, 4))):
        assert _direct.solve(np.eye(4), b) is None
    assert _direct.solve(np.ones((3, 4)), np.ones(3)) is None and _direct.solve(np.eye(100), np.ones(100)) is None
    with hp.options(threads=1):
        assert _direct.solve(np.eye(2), np.ones(2)) is None


@pytest.mark.parametrize(
    "a, b",
    [
        (np.ones((2, 3)), np.ones((2, 3))),  # do not fit
        (np.ones(3), np.ones(4)),
        (np.ones((0, 3)), np.ones((3, 2))),
        (np.ones((2, 0)), np.ones((0, 2))),
        (np.ones(0), np.ones(0)),
        (np.ones((2, 2), ">f8"), np.ones((2, 2))),
        (np.ones((2, 2), np.float32), np.ones((2, 2))),
        (np.ones((2, 2, 2)), np.ones((2, 2))),
        (np.ma.ones((2, 2)), np.ones((2, 2))),
        (np.ones((200, 200)), np.ones((200, 200))),  # long
        (np.frombuffer(b"\0" * 33, np.uint8)[1:].view("f8").reshape(2, 2), np.ones((2, 2))),  # not aligned
    ],
)
def test_left_to_the_general_functions(a, b):
    assert _direct.matmul(a, b) is None


def test_options_are_heeded():
    with hp.options(threads=1):
        assert _direct.matmul(np.ones((2, 2)), np.ones((2, 2))) is None
        assert _direct.sum(np.ones(2)) is None


@pytest.mark.parametrize("direction", [0x400, 0x800, 0xC00])  # x86-64: down, up, to zero
def test_rounding_of_the_program(direction):
    name = ctypes.util.find_library("m")
    if name is None or not hasattr(ctypes.CDLL(name), "fesetround"):
        pytest.skip("the C library has no fesetround")
    libm = ctypes.CDLL(name)
    x, y = np.array([1.0, 2.0**-60, -(2.0**-70)]), np.array([1.0, 1.0, 1.0])
    a = np.random.default_rng(4).normal(size=(40, 40))
    want = hp.dot(x, y), bits(hp.matmul(a, a)), bits(hp.linalg.inv(a)), bits(hp.array("0.1", "mp:80").to_numpy())
    before = libm.fegetround()
    try:
        if libm.fesetround(direction) != 0:
            pytest.skip("this processor has no such rounding")
        got = hp.dot(x, y), bits(hp.matmul(a, a)), bits(hp.linalg.inv(a)), bits(hp.array("0.1", "mp:80").to_numpy())
        kept = libm.fegetround()
    finally:
        libm.fesetround(before)
    assert got == want and kept == direction
