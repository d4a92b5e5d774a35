"""Tests of the names, parameters and results of the Array API standard, 2024.12.

The table has the functions of the standard with their parameters; a name that ends in "=" has to be
a keyword. Functions that halfulp has not are in LEFT_OUT with the reason.
"""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import numpy as np
import pytest

import halfulp as hp

STANDARD = """
__array_namespace_info__:
abs: x
acos: x
acosh: x
add: x1 x2
all: x axis= keepdims=
any: x axis= keepdims=
arange: start stop step dtype= device=
argmax: x axis= keepdims=
argmin: x axis= keepdims=
argsort: x axis= descending= stable=
asarray: obj dtype= device= copy=
asin: x
asinh: x
astype: x dtype copy= device=
atan: x
atan2: x1 x2
atanh: x
bitwise_and: x1 x2
bitwise_invert: x
bitwise_left_shift: x1 x2
bitwise_or: x1 x2
bitwise_right_shift: x1 x2
bitwise_xor: x1 x2
broadcast_arrays: *arrays
broadcast_to: x shape
can_cast: from_ to
ceil: x
clip: x min max
concat: arrays axis=
conj: x
copysign: x1 x2
cos: x
cosh: x
count_nonzero: x axis= keepdims=
cumulative_prod: x axis= dtype= include_initial=
cumulative_sum: x axis= dtype= include_initial=
diff: x axis= n= prepend= append=
divide: x1 x2
empty: shape dtype= device=
empty_like: x dtype= device=
equal: x1 x2
exp: x
expand_dims: x axis
expm1: x
eye: n_rows n_cols k= dtype= device=
finfo: type
flip: x axis=
floor: x
floor_divide: x1 x2
from_dlpack: x device= copy=
full: shape fill_value dtype= device=
full_like: x fill_value dtype= device=
greater: x1 x2
greater_equal: x1 x2
hypot: x1 x2
iinfo: type
imag: x
isdtype: dtype kind
isfinite: x
isinf: x
isnan: x
less: x1 x2
less_equal: x1 x2
linspace: start stop num dtype= device= endpoint=
log: x
log10: x
log1p: x
log2: x
logaddexp: x1 x2
logical_and: x1 x2
logical_not: x
logical_or: x1 x2
logical_xor: x1 x2
matmul: x1 x2
matrix_transpose: x
max: x axis= keepdims=
maximum: x1 x2
mean: x axis= keepdims=
meshgrid: *arrays indexing=
min: x axis= keepdims=
minimum: x1 x2
moveaxis: x source destination
multiply: x1 x2
negative: x
nextafter: x1 x2
nonzero: x
not_equal: x1 x2
ones: shape dtype= device=
ones_like: x dtype= device=
permute_dims: x axes
positive: x
pow: x1 x2
prod: x axis= dtype= keepdims=
real: x
reciprocal: x
remainder: x1 x2
repeat: x repeats axis=
reshape: x shape copy=
result_type: *arrays_and_dtypes
roll: x shift axis=
round: x
searchsorted: x1 x2 side= sorter=
sign: x
signbit: x
sin: x
sinh: x
sort: x axis= descending= stable=
sqrt: x
square: x
squeeze: x axis
stack: arrays axis=
std: x axis= correction= keepdims=
subtract: x1 x2
sum: x axis= dtype= keepdims=
take: x indices axis=
take_along_axis: x indices axis=
tan: x
tanh: x
tensordot: x1 x2 axes=
tile: x repetitions
tril: x k=
triu: x k=
trunc: x
unique_all: x
unique_counts: x
unique_inverse: x
unique_values: x
unstack: x axis=
var: x axis= correction= keepdims=
vecdot: x1 x2 axis=
where: condition x1 x2
zeros: shape dtype= device=
zeros_like: x dtype= device=
linalg.cholesky: x upper=
linalg.cross: x1 x2 axis=
linalg.det: x
linalg.diagonal: x offset=
linalg.eigh: x
linalg.eigvalsh: x
linalg.inv: x
linalg.matmul: x1 x2
linalg.matrix_norm: x keepdims= ord=
linalg.matrix_power: x n
linalg.matrix_rank: x rtol=
linalg.matrix_transpose: x
linalg.outer: x1 x2
linalg.pinv: x rtol=
linalg.qr: x mode=
linalg.slogdet: x
linalg.solve: x1 x2
linalg.svd: x full_matrices=
linalg.svdvals: x
linalg.tensordot: x1 x2 axes=
linalg.trace: x offset= dtype=
linalg.vecdot: x1 x2 axis=
linalg.vector_norm: x axis= keepdims= ord=
fft.fft: x n= axis= norm=
fft.ifft: x n= axis= norm=
fft.fftn: x s= axes= norm=
fft.ifftn: x s= axes= norm=
fft.rfft: x n= axis= norm=
fft.irfft: x n= axis= norm=
fft.rfftn: x s= axes= norm=
fft.irfftn: x s= axes= norm=
fft.hfft: x n= axis= norm=
fft.ihfft: x n= axis= norm=
fft.fftfreq: n d= dtype= device=
fft.rfftfreq: n d= dtype= device=
fft.fftshift: x axes=
fft.ifftshift: x axes=
""".strip().splitlines()

_TRANSCENDENTAL = "correctly rounded transcendental functions are not computed"
_COMPLEX = "there are no complex numbers"
LEFT_OUT = (
    dict.fromkeys("acos acosh asin asinh atan atan2 atanh cos cosh exp expm1 log log10 log1p log2 logaddexp sin sinh tan tanh".split(), _TRANSCENDENTAL)
    | dict.fromkeys(("fft." + f for f in "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift".split()), _COMPLEX)
    | {"nextafter": "expansions have no next number"}
)


def found(name):
    module = hp
    *modules, last = name.split(".")
    for m in modules:
        module = getattr(module, m, None)
    return getattr(module, last, None)


@pytest.mark.parametrize("line", STANDARD)
def test_signature(line):
    name, _, parameters = line.partition(":")
    f = found(name)
    if name in LEFT_OUT:
        assert f is None, f"{name} is there: it is not left out"
        return
    signature = inspect.signature(f)
    given = signature.parameters.values()
    wanted = parameters.split()
    assert any(p.kind is p.VAR_POSITIONAL for p in given) == any(p.startswith("*") for p in wanted)
    positional = [p for p in wanted if not p.endswith("=") and not p.startswith("*")]
    own = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    assert len(own) >= len(positional) and all(p.default is not p.empty for p in own[len(positional) :])
    for p, want in zip(own, positional, strict=False):
        assert p.kind is p.POSITIONAL_ONLY or p.name == want or name == "tile"  # numpy's name
    keywords = {p.name for p in given if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    assert {p[:-1] for p in wanted if p.endswith("=")} <= keywords
    assert f.__doc__


def test_readme():
    text = (Path(__file__).parents[1] / "README.md").read_text()
    assert f"Of the {len(STANDARD)} functions" in text and f"{len(STANDARD) - len(LEFT_OUT)} are there" in text


def test_numbers():
    for name in ("e", "inf", "nan", "pi"):
        assert getattr(hp, name) == getattr(np, name) or name == "nan"
    assert hp.newaxis is None and hp.__array_api_version__ == "2024.12"
    for x in (hp.ones(3), hp.ones(3)[0]):
        assert x.__array_namespace__() is hp and x.__array_namespace__(api_version="2023.12") is hp
    with pytest.raises(ValueError, match="1999.12"):
        hp.ones(3).__array_namespace__(api_version="1999.12")


def test_info():
    info = hp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True and info.default_device() == "cpu" and "cpu" in info.devices()
    assert info.default_dtypes()["real floating"] == hp.float64 and info.default_dtypes()["complex floating"] is None
    assert info.dtypes(kind="real floating") == {"float32": hp.float32, "float64": hp.float64}
    assert info.dtypes(kind="bool") == {"bool": hp.bool} and info.dtypes(kind="complex floating") == {}
    assert set(info.dtypes(kind=("signed integer", "unsigned integer"))) == set(info.dtypes(kind="integral"))
    assert info.dtypes(kind="numeric").keys() | {"bool"} == info.dtypes().keys()
    for name, d in info.dtypes().items():
        assert getattr(hp, name) == d
        z = hp.zeros((2, 1), dtype=d)
        assert z.dtype == d and z.shape == (2, 1) and isinstance(z, hp.Array) == hp.isdtype(d, "real floating")
    with pytest.raises(ValueError, match="kinds are"):
        hp.isdtype(hp.float64, "float")


def test_types():
    f32, f64, m = hp.float32, hp.float64, hp.mp(100)
    a = hp.ones(2, dtype=f32)
    assert hp.result_type(a, f64) == f64 and hp.result_type(a, 1.0) == f32 and hp.result_type(f64, hp.dd) == hp.dd and hp.result_type(m, f64, 2) == m
    assert hp.result_type(hp.int8, hp.int16) == hp.int16 and hp.result_type(hp.int8, f32) == f64
    assert hp.can_cast(f32, f64) and not hp.can_cast(f64, f32) and hp.can_cast(f64, m) and not hp.can_cast(hp.dd, hp.mp(200)) and hp.can_cast(f64, "qd")
    assert hp.can_cast(hp.int32, f64) and not hp.can_cast(hp.int64, f64) and not hp.can_cast(f64, hp.int64) and hp.can_cast(hp.int8, hp.int16) and hp.can_cast(hp.bool, f32)
    assert hp.isdtype(f64, "real floating") and hp.isdtype(m, ("bool", "numeric")) and not hp.isdtype(f64, "integral") and hp.isdtype(hp.bool, "bool") and hp.isdtype(f64, f64) and not hp.isdtype(f64, f32)
    for f in (f32, f64):
        assert hp.finfo(f).eps == np.finfo(f.dtype).eps and hp.finfo(f).bits == 8 * f.dtype.itemsize and hp.finfo(hp.ones(1, dtype=f)).dtype == f
    z = hp.finfo(m)
    assert z.eps == hp.Scalar(2.0, m) ** -99 and 1 + z.eps != 1 and 1 + z.eps / 2 == 1 and not hp.isinf(z.max) and hp.isinf(z.max * 2) and z.min == -z.max and z.smallest_normal > 0 and z.smallest_normal / 2 == 0
    assert hp.finfo("qd").eps == hp.Scalar(2.0) ** -211 and hp.iinfo(hp.int16).max == 32767
    with pytest.raises(ValueError):
        hp.finfo(hp.int8)
    assert isinstance(hp.astype(hp.ones(2), hp.int32), np.ndarray) and hp.astype(np.ones(2, int), m).format == m and hp.astype(a, f32, copy=False) is a and hp.astype(a, f32) is not a


def test_creation():
    for f in (hp.float32, hp.float64, hp.mp(90), hp.td):
        for z, want in (
            (hp.zeros(3, dtype=f), np.zeros(3)),
            (hp.empty((2, 0), dtype=f), np.zeros((2, 0))),
            (hp.ones((2, 3), dtype=f), np.ones((2, 3))),
            (hp.full((2,), 2.5, dtype=f), np.full(2, 2.5)),
            (hp.full((), 2, dtype=f), np.full((), 2)),
            (hp.eye(3, dtype=f), np.eye(3)),
            (hp.eye(2, 4, k=-1, dtype=f), np.eye(2, 4, -1)),
            (hp.arange(4, dtype=f), np.arange(4)),
            (hp.arange(5, -5, -3, dtype=f), np.arange(5, -5, -3)),
            (hp.arange(5, 1, dtype=f), np.arange(0)),
            (hp.linspace(0, 4, 5, dtype=f), np.linspace(0, 4, 5)),
            (hp.linspace(4, 0, 4, endpoint=False, dtype=f), np.linspace(4, 0, 4, endpoint=False)),
            (hp.linspace(1, 2, 1, dtype=f), np.linspace(1, 2, 1)),
            (hp.linspace(1, 2, 0, dtype=f), np.linspace(1, 2, 0)),
            (hp.asarray([[1, 2], [3, 4]], dtype=f), np.array([[1, 2], [3, 4]])),
            (hp.zeros_like(hp.ones((2, 2), dtype=f)), np.zeros((2, 2))),
            (hp.ones_like(hp.ones(2), dtype=f), np.ones(2)),
            (hp.full_like(hp.ones(2, dtype=f), 7), np.full(2, 7)),
            (hp.empty_like(hp.ones((1, 2), dtype=f)), np.zeros((1, 2))),
            (hp.tril(hp.ones((3, 3), dtype=f), k=1), np.tril(np.ones((3, 3)), 1)),
        ):
            assert z.dtype == f and z.device == "cpu" and z.shape == want.shape and np.array_equal(z.to_numpy(np.float64), want)
    assert hp.zeros(2).dtype == hp.float64 and hp.full(2, True).dtype == np.bool_ and hp.full(2, 3, dtype=hp.int8).dtype == np.int8
    assert hp.linspace(0, 1, 11)[3] == 0.3 and hp.arange(0, 1, 0.1)[3] == float(3 * hp.Scalar(0.1, "mp:200")) and hp.linspace(hp.Scalar(0, "mp:99"), 1).dtype == hp.mp(99)
    x = np.ones(3)
    assert isinstance(hp.zeros_like(x), np.ndarray) and hp.ones_like(x.astype(int)).dtype == int and hp.zeros_like(x, dtype="mp:30").dtype == hp.mp(30)
    a = hp.ones(2)
    assert hp.asarray(a) is a and hp.asarray(a, copy=False) is a and hp.asarray(a, copy=True) is not a and hp.array(a) is not a and hp.asarray(a, dtype="dd").dtype == hp.dd
    assert np.array_equal(hp.from_dlpack(np.ones(2)), a) and np.array_equal(hp.from_dlpack(a), a)
    with pytest.raises(ValueError):
        hp.asarray(a, dtype="dd", copy=False)
    with pytest.raises(TypeError):
        hp.from_dlpack([1.0])


# A program that knows nothing but the standard.


def normalized(a):
    """Solves a least-squares problem by the normal equations and scales it: of any namespace."""
    xp = a.__array_namespace__()
    x = xp.linspace(0, 1, a.shape[0], dtype=a.dtype)
    gram = xp.linalg.matmul(xp.matrix_transpose(a), a)
    lower = xp.linalg.cholesky(gram)
    rhs = xp.linalg.matmul(xp.matrix_transpose(a), x[:, None])
    y = xp.linalg.solve(xp.linalg.matmul(lower, xp.matrix_transpose(lower)), rhs)
    y = xp.where(xp.abs(y) > 1e-12, y, xp.zeros_like(y))
    scale = xp.max(xp.abs(y), axis=0, keepdims=True)
    out = xp.concat([y / scale, xp.expand_dims(xp.sum(y, axis=1), axis=1)], axis=1)
    assert xp.isdtype(out.dtype, "real floating") and bool(xp.all(xp.isfinite(out)))
    q, r = xp.linalg.qr(a)
    signs = xp.sign(xp.linalg.diagonal(r))
    return xp.stack([out, xp.broadcast_to(xp.linalg.vector_norm(out, axis=0, keepdims=True), out.shape)]), xp.abs(q * signs[None, :])


def test_a_program():
    a = np.random.default_rng(1).integers(-5, 6, (6, 4)).astype(float)
    want = normalized(a)
    for f in ("f64", "dd", "mp:300"):
        for got, w in zip(normalized(hp.array(a, f)), want, strict=True):
            assert got.format == f and got.shape == w.shape and np.allclose(got.to_numpy(np.float64), w)


# Special values of the standard's tables, which numpy's results have.

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, 2.0**1000, -(2.0**-1000), math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("name", "add subtract multiply divide floor_divide remainder hypot copysign maximum minimum equal less greater_equal not_equal logical_and logical_xor".split())
def test_special_values(name):
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x, y)
    for f in ("f64", "mp:53", "mp:200"):
        if f == "mp:200" and name in ("add", "subtract", "divide", "hypot", "multiply"):
            continue  # more bits, or a larger range
        z = getattr(hp, name)(hp.array(x, f), hp.array(y, f))
        got = z.to_numpy() if isinstance(z, hp.Array) else z
        if f != "f64":  # without underflow and overflow of float64
            keep = (np.abs(x) != 2.0**1000) & (np.abs(x) != 2.0**-1000) & (np.abs(y) != 2.0**1000) & (np.abs(y) != 2.0**-1000)
        else:
            keep = np.full(x.shape, True)
        same = (got == want) | (got != got) & (want != want)
        if name not in ("maximum", "minimum") and want.dtype != bool:
            same &= (np.signbit(got) == np.signbit(want)) | (want != want)
        assert same[keep].all(), [(p, q) for p, q in zip(x[keep & ~same], y[keep & ~same], strict=True)]


def test_functions_of_the_standard():
    a, n = hp.array([[3.0, -1, 2], [2, 5, -4]], "mp:70"), np.array([[3.0, -1, 2], [2, 5, -4]])

    def same(x, y):
        x = x.to_numpy() if isinstance(x, hp.Array) else np.asarray(float(x)) if isinstance(x, hp.Scalar) else x
        return np.shape(x) == np.shape(y) and np.array_equal(x, y)

    for order in range(4):
        assert same(hp.diff(a, n=order), np.diff(n, order)) and same(hp.diff(a, axis=0, n=order), np.diff(n, order, 0))
    assert same(hp.diff(a, prepend=hp.zeros((2, 1)), append=a), np.diff(n, prepend=np.zeros((2, 1)), append=n))
    assert same(hp.cumulative_prod(a, axis=1), np.cumprod(n, 1)) and same(hp.cumulative_prod(a[0], include_initial=True), np.array([1.0, 3, -3, -6]))
    assert same(hp.cumulative_sum(a[0], include_initial=True), np.array([0.0, 3, 2, 4]))
    for got, want in zip(hp.unique_all(a), np.unique_all(n), strict=True):
        assert same(got, want)
    assert same(hp.unique_counts(a).counts, np.unique_counts(n).counts) and same(hp.unique_inverse(a).inverse_indices, np.unique_inverse(n).inverse_indices)
    assert hp.unique_values(hp.array([math.nan, math.nan])).size == 2
    assert hp.isin(a, [2, 7]).tolist() == np.isin(n, [2, 7]).tolist() and not hp.isin(a, []).any()
    assert same(hp.vecdot(a, a, axis=0), (n * n).sum(0)) and same(hp.var(a, correction=1, axis=1), n.var(axis=1, ddof=1).round(12)) or np.allclose(hp.var(a, correction=1, axis=1).to_numpy(), n.var(axis=1, ddof=1))
    assert same(hp.linalg.vector_norm(a, ord=math.inf, keepdims=True), np.array([[5.0]])) and same(hp.count_nonzero(a > 0, axis=0), np.array([2, 1, 1]))
    assert [v.shape for v in hp.meshgrid(a[0], a[1], a[0])] == [v.shape for v in np.meshgrid(n[0], n[1], n[0])]
    assert same(hp.sort(a, descending=True), np.array([[3.0, 2, -1], [5, 2, -4]])) and hp.argsort(a, descending=True).tolist() == [[0, 2, 1], [1, 0, 2]]
    assert hp.broadcast_shapes((2, 1), (3,)) == (2, 3) and same(hp.sum(a, dtype="f32"), np.float64(7)) and hp.sum(a, dtype="f32").format == "f32"


# What the public suite array-api-tests found.


def test_types_are_compared_with_any_text():
    for text in ("1 of", "a test\nof two lines:", "(,", "f64,", ""):
        assert hp.float64 != text and hp.float32 != text
    assert hp.float64 == "float64"


@pytest.mark.parametrize("f", ["f32", "f64", "dd", "mp:90"])
def test_a_number_is_an_array_of_no_dimensions(f):
    s = hp.sum(hp.array([3.0, 4.5], f))
    assert isinstance(s, hp.Scalar) and s[()] is s and s[...] is s and s[None].shape == (1,) and s.to_device("cpu") is s
    assert hp.astype(s, hp.int16) == 7 and hp.astype(s, hp.int16).dtype == hp.int16 and hp.astype(s, hp.bool) is np.True_ and hp.astype(s, hp.float32).dtype == hp.float32
    with pytest.raises(IndexError):
        s[0]
    with pytest.raises(TypeError):
        list(s)
    assert (s // 2, s % 2, 16 // s, 16 % s, 2 ** hp.Scalar(5, f), s**2) == (3, 1.5, 2, 1, 32, 56.25)
    assert all(isinstance(z, hp.Scalar) and z.format == f for z in (s // 2, 16 % s, 2 ** hp.Scalar(5, f)))
    assert (s // hp.array([2.0, 3.0], f)).shape == (2,) and (s % np.array([2.0, 3.0])).shape == (2,)


def test_asarray_of_truth_values():
    for data in (True, [True, False], [[True], [False]], np.array([False, True]), np.bool_(True)):
        z = hp.asarray(data)
        assert isinstance(z, np.ndarray) and z.dtype == hp.bool and np.array_equal(z, data)
    assert hp.asarray([True, 2]).dtype == hp.float64 and hp.asarray([True], dtype="f32").dtype == hp.float32 and hp.array([True]).dtype == hp.float64
    x = np.array([True, False])
    assert np.shares_memory(hp.from_dlpack(x, copy=False), x) and hp.from_dlpack(x).dtype == hp.bool and not np.shares_memory(hp.from_dlpack(x, copy=True), x)


@pytest.mark.parametrize("dtype", [hp.int8, hp.uint16, hp.int64, hp.uint64, hp.bool])
def test_functions_that_choose_entries_keep_integers(dtype):
    x = np.array([[3, 0, 1], [2, 3, 1]], dtype)
    if dtype == hp.int64:
        x = x + 2**62
    for f in ("positive", "sort", "unique_values"):
        z = getattr(hp, f)(x)
        assert z.dtype == dtype and np.array_equal(z, {"positive": x, "sort": np.sort(x), "unique_values": np.unique(x)}[f])
    assert hp.max(x, axis=0).dtype == dtype and np.array_equal(hp.min(x, axis=1, keepdims=True), x.min(axis=1, keepdims=True))
    for f in ("maximum", "minimum"):
        z = getattr(hp, f)(x, x[:, ::-1])
        assert z.dtype == dtype and np.array_equal(z, getattr(np, f)(x, x[:, ::-1]))
    values, at, inverse, counts = hp.unique_all(x)
    assert values.dtype == dtype and np.array_equal(values[inverse], x) and np.array_equal(x.ravel()[at], values) and counts.sum() == 6
    assert np.array_equal(hp.argsort(x, descending=True), np.argsort(-x.astype(object), kind="stable")) and np.array_equal(hp.argmax(x, axis=1), x.argmax(axis=1))
    for f in (hp.zeros_like, hp.ones_like, hp.empty_like):
        assert f(x).dtype == dtype and f(x[0, 0]).dtype == dtype and f(x[0, 0]).shape == ()
    if dtype != hp.bool:
        for f in (hp.floor, hp.ceil, hp.trunc, hp.round, hp.sign):
            z = f(x)
            assert z.dtype == dtype and (f is hp.sign or np.array_equal(z, x))
        assert hp.clip(x, 1, 2).dtype == dtype and np.array_equal(hp.maximum(x, 1), np.maximum(x, 1))
        assert hp.maximum(x, 1.5).dtype == hp.float64 and hp.maximum(x, hp.Scalar(0.5)).dtype == hp.float64
    if dtype == hp.int8:
        assert hp.maximum(x, 300).dtype == hp.float64 and hp.maximum(x, 300)[0, 0] == 300
        assert hp.add(x, 127)[0, 0] == 130  # integers do not overflow


def test_bits():
    x, y = np.array([6, 5], np.int16), np.array([3, 1], np.int8)
    for f, want in (("bitwise_and", x & y), ("bitwise_or", x | y), ("bitwise_xor", x ^ y), ("bitwise_left_shift", x << y), ("bitwise_right_shift", x >> y)):
        z = getattr(hp, f)(x, y)
        assert z.dtype == np.int16 and np.array_equal(z, want)
        with pytest.raises(TypeError, match="integers"):
            getattr(hp, f)(hp.ones(2), y)
    assert np.array_equal(hp.bitwise_invert(x), ~x) and np.array_equal(hp.bitwise_and(x > 5, y > 0), [True, False])
    a = hp.ones(2)
    for call in (lambda: a & 1, lambda: a | a, lambda: a ^ x, lambda: a << 1, lambda: a >> 1, lambda: ~a, lambda: hp.bitwise_invert(a), lambda: hp.bitwise_or(1.5, x)):
        with pytest.raises(TypeError):
            call()


POWERS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("f", ["f32", "f64", "td", "mp:60"])
def test_special_powers(f):
    x, y = np.meshgrid(POWERS, [math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, -1.0, 3.0, -4.0])
    with np.errstate(all="ignore"):
        want = np.power(x, y)
    a, b = hp.array(x, f), hp.array(y, f)
    for got in (hp.pow(a, b), a**b, a**y, hp.array(np.vectorize(lambda p, q: float(hp.Scalar(p, f) ** q))(x, y))):
        near = np.float32 if f == "f32" else np.float64
        got = got.to_numpy(near)
        assert np.array_equal(got, want.astype(near), equal_nan=True) and np.array_equal(np.signbit(got) & (got == got), np.signbit(want) & (want == want))
    # Exponents that are no integers, and large ones, where the base decides.
    base = np.array([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan])
    for e in (0.5, -0.25, 2.0**80, -(2.0**80), 2.0**40 + 1, -(2.0**40) - 1):
        with np.errstate(all="ignore"):
            want = np.power(base, np.full(7, e))  # with one exponent numpy takes a square root
        got = (hp.array(base, f) ** hp.array(e)).to_numpy(np.float64)
        assert np.array_equal(got, want, equal_nan=True) and np.array_equal(np.signbit(got) & (got == got), np.signbit(want) & (want == want)), e
    assert hp.pow(hp.array(-2.0, f), 0.5).item().isnan()
    for e in (0.5, 2.0**80, -(2.0**40) - 1):
        with pytest.raises(ValueError, match="exponents"):
            hp.pow(hp.array([1.0, 2.0], f), e)


def test_types_of_powers():
    x, y = hp.ones(2, dtype="f32"), hp.ones(2)
    assert (x**y).dtype == hp.float64 and hp.pow(x, y).dtype == hp.float64 and (x**2).dtype == hp.float32 and (x**2.0).dtype == hp.float32
    assert hp.pow(2.0, x).dtype == hp.float32 and (2**x).dtype == hp.float32 and isinstance(hp.pow(np.ones(2), y), hp.Array) and isinstance(hp.pow(np.ones(2), 3), np.ndarray)
    z = hp.array([3.0], "f32")
    z **= hp.array([20.0], "mp:100")
    assert z.dtype == hp.float32 and z[0] == np.float32(3.0**20)


def test_lists_of_arrays():
    a, b = hp.ones(2), hp.ones((3, 1))
    assert type(hp.meshgrid(a, a)) is list and type(hp.broadcast_arrays(a, b)) is list
    assert [v.shape for v in hp.broadcast_arrays(a, b)] == [(3, 2), (3, 2)]
