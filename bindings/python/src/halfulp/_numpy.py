"""numpy's functions of halfulp's arrays: numpy.linalg.solve(a, b), numpy.add(a, b), numpy.sum(a, axis=0).

Only functions of these tables, which give what numpy's functions give, are done; others are a
TypeError rather than a number that means something else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _creation, _elementwise, _products, _routines, _shapes, _statistics, linalg
from ._array import Array, Scalar, asarray, elementwise
from ._format import Format
from ._library import MisuseError, library

_ARITHMETIC = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div"}

_UFUNCS: dict[str, Callable[..., Any]] = {
    name: getattr(_elementwise, name)
    for name in (
        "negative positive absolute sqrt square reciprocal floor ceil trunc sign copysign floor_divide remainder hypot maximum minimum isnan isinf isfinite signbit "
        "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not"
    ).split()
}
_UFUNCS |= {
    "fabs": _elementwise.abs,
    "rint": _elementwise.round,
    "power": lambda x, y: asarray(x) ** y,
    "float_power": lambda x, y: asarray(x) ** y,
    "conjugate": _elementwise.conj,
    "matmul": _routines.matmul,
    "vecdot": _routines.vecdot,
    "matvec": _products.matvec,
    "vecmat": _products.vecmat,
}

_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": _routines.sum,
    "multiply": _statistics.prod,
    "maximum": _statistics.max,
    "minimum": _statistics.min,
}


def ufunc_of_arrays(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Computes a universal function of numpy if at least one operand is an Array."""
    name = ufunc.__name__
    out = kwargs.pop("out", None)
    target = out[0] if out else None
    if method == "reduce" and name in _REDUCTIONS and target is None and set(kwargs) <= {"axis", "keepdims"}:
        return _REDUCTIONS[name](inputs[0], axis=kwargs.get("axis", 0), keepdims=kwargs.get("keepdims", False))
    if method != "__call__" or kwargs or not all(_is_operand(x) for x in inputs):
        return NotImplemented
    if target is not None:
        return _stored(name, inputs, target)
    if name in _ARITHMETIC:
        x, y = inputs
        if isinstance(x, (Array, Scalar)):
            return x._binary(_ARITHMETIC[name], y)
        return y._binary(_ARITHMETIC[name], x, True)
    f = _UFUNCS.get(name)
    return NotImplemented if f is None else f(*inputs)


def _is_operand(x: Any) -> bool:
    return isinstance(x, (Array, Scalar, np.ndarray, np.generic, int, float, list, tuple)) or hasattr(x, "as_integer_ratio") or hasattr(x, "_mpf_")


def _stored(name: str, inputs: tuple[Any, ...], target: Any) -> Any:
    """Stores the result of an operation in an array, rounded once to its format."""
    if isinstance(target, np.ndarray):
        f = Format(target.dtype) if target.dtype in (np.dtype(np.float64), np.dtype(np.float32)) else None
    else:
        f = target.format if isinstance(target, Array) else None
    if f is None or name not in _ARITHMETIC and name != "matmul":
        return NotImplemented
    x, y = (asarray(v) for v in inputs)
    z = _routines.matmul(x, y, format=f) if name == "matmul" else elementwise(_ARITHMETIC[name], x, y, f)
    if np.shape(z) != target.shape:
        raise MisuseError(f"the result has the shape {np.shape(z)} and does not fit into the array of shape {target.shape}")
    new = asarray(z)
    if isinstance(target, Array):
        library().matrix_assign(new._handle, target._handle, 0)
    else:
        target[...] = new.to_numpy(target.dtype)
    return target


# numpy's functions with the same arguments and results as halfulp's function of the same name.
_FUNCTIONS: dict[str, Callable[..., Any]] = {}
for module, names in (
    (_shapes, "squeeze expand_dims broadcast_to flip roll moveaxis swapaxes tile repeat rot90 ravel fliplr flipud diagonal transpose matrix_transpose diag take take_along_axis unstack broadcast_arrays meshgrid kron permute_dims atleast_1d atleast_2d atleast_3d vstack hstack dstack column_stack block array_split split append delete"),
    (_elementwise, "where isfinite isnan isinf"),
    (_statistics, "cov corrcoef diff isin nonzero count_nonzero searchsorted unique_values unique_all unique_counts unique_inverse"),
    (_products, "inner vdot"),
    (_routines, "outer vecdot"),
    (_creation, "vander"),
):
    for name in names.split():
        if hasattr(np, name):
            _FUNCTIONS["numpy." + name] = getattr(module, name)
for name in "solve inv det slogdet matrix_rank cond norm matrix_norm vector_norm cholesky eigh eigvalsh svd svdvals pinv qr lstsq matrix_power multi_dot matmul outer cross vecdot trace diagonal matrix_transpose tensordot tensorsolve tensorinv".split():
    if hasattr(np.linalg, name):
        _FUNCTIONS["numpy.linalg." + name] = getattr(linalg, name)


def _numpy(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function with numpy's parameters into the table."""

    def enter(f: Callable[..., Any]) -> Callable[..., Any]:
        for n in name.split():
            _FUNCTIONS["numpy." + n] = f
        return f

    return enter


def _no_out(out: Any) -> None:
    if out is not None:
        raise TypeError("out= is supported by arithmetic only")


@_numpy("sum")
def _sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    _no_out(out)
    return _routines.sum(a, axis, keepdims=keepdims, format=dtype)


@_numpy("mean")
def _mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    _no_out(out)
    return _routines.mean(a, axis, keepdims=keepdims, format=dtype)


@_numpy("prod")
def _prod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    _no_out(out)
    return _statistics.prod(a, axis, keepdims=keepdims, format=dtype)


@_numpy("cumsum")
def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    _no_out(out)
    return _statistics.cumsum(a, axis, format=dtype)


@_numpy("trace")
def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    _no_out(out)
    return _products.trace(a, offset, axis1, axis2, format=dtype)


@_numpy("std")
def _std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = None, keepdims: bool = False, *, correction: Any = None) -> Any:
    _no_out(out)
    return _statistics.std(a, axis, ddof=ddof, keepdims=keepdims, correction=correction, format=dtype)


@_numpy("var")
def _var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = None, keepdims: bool = False, *, correction: Any = None) -> Any:
    _no_out(out)
    return _statistics.var(a, axis, ddof=ddof, keepdims=keepdims, correction=correction, format=dtype)


def _along_axes(name: str, f: Callable[..., Any]) -> None:
    """Enters a function with numpy's parameters a, axis, out and keepdims."""

    def function(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        _no_out(out)
        return f(a, axis=axis, keepdims=keepdims)

    _numpy(name)(function)


_along_axes("max amax", _statistics.max)
_along_axes("min amin", _statistics.min)
_along_axes("all", _elementwise.all)
_along_axes("any", _elementwise.any)
_along_axes("argmax", _statistics.argmax)
_along_axes("argmin", _statistics.argmin)


@_numpy("sort")
def _sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    return _statistics.sort(_shapes.ravel(a), axis=0) if axis is None else _statistics.sort(a, axis=axis)


@_numpy("argsort")
def _argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    return _statistics.argsort(_shapes.ravel(a), axis=0) if axis is None else _statistics.argsort(a, axis=axis)


@_numpy("round around")
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    _no_out(out)
    return _elementwise.round(a, decimals)


@_numpy("clip")
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    _no_out(out)
    return _elementwise.clip(a, a_min if min is None else min, a_max if max is None else max)


@_numpy("dot")
def _dot(a: Any, b: Any) -> Any:
    return _routines.dot(a, b)


@_numpy("cross")
def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    z = _products.cross(_shapes.moveaxis(a, axisa, -1), _shapes.moveaxis(b, axisb, -1))
    return _shapes.moveaxis(z, -1, axisc)


@_numpy("tensordot")
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return _products.tensordot(a, b, axes=axes)


@_numpy("triu")
def _triu(m: Any, k: int = 0) -> Any:
    return _shapes.triu(m, k=k)


@_numpy("tril")
def _tril(m: Any, k: int = 0) -> Any:
    return _shapes.tril(m, k=k)


@_numpy("concatenate concat")
def _concatenate(arrays: Any, axis: Any = 0) -> Any:
    return _shapes.concat(arrays, axis=axis)


@_numpy("stack")
def _stack(arrays: Any, axis: int = 0) -> Any:
    return _shapes.stack(arrays, axis=axis)


@_numpy("reshape")
def _reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    return _shapes.reshape(a, shape, copy=copy) if order in "CA" else _shapes._moved(a, lambda n: n.reshape(shape, order="F"))


@_numpy("copy")
def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return a.copy()


@_numpy("zeros_like empty_like")
def _zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> Any:
    return _creation._like(a, 0, None, dtype, device, shape)


@_numpy("ones_like")
def _ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> Any:
    return _creation._like(a, 1, None, dtype, device, shape)


@_numpy("full_like")
def _full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> Any:
    return _creation._like(a, fill_value, None, dtype, device, shape)


@_numpy("shape")
def _shape(a: Any) -> tuple[int, ...]:
    return a.shape  # type: ignore[no-any-return]


@_numpy("ndim")
def _ndim(a: Any) -> int:
    return len(a.shape)


@_numpy("size")
def _size(a: Any, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[axis]  # type: ignore[no-any-return]


@_numpy("real real_if_close")
def _real(a: Any) -> Any:
    return a.copy()


@_numpy("imag")
def _imag(a: Any) -> Any:
    return _elementwise.imag(a)


@_numpy("iscomplexobj")
def _iscomplexobj(x: Any) -> bool:
    return False


@_numpy("isrealobj")
def _isrealobj(x: Any) -> bool:
    return True


@_numpy("polyfit")
def _polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    from ._fit import polyfit

    return polyfit(x, y, deg, rcond, full, w, cov)


@_numpy("isclose")
def _isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    return isclose(a, b, rtol, atol, equal_nan)


@_numpy("allclose")
def _allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


@_numpy("array_equal")
def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    x, y = asarray(a1), asarray(a2)
    if x.shape != y.shape:
        return False
    same = x == y
    if equal_nan:
        same = same | (_elementwise.isnan(x) & _elementwise.isnan(y))
    return bool(np.all(same))


@_numpy("array_equiv")
def _array_equiv(a1: Any, a2: Any) -> bool:
    x, y = asarray(a1), asarray(a2)
    try:
        return bool(np.all(x == y))
    except MisuseError:
        return False


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Returns whether |a - b| ≤ atol + rtol |b|, entry by entry, as numpy's truth values; each term is rounded once."""
    x, y = asarray(a), asarray(b)
    both = _elementwise.isfinite(x) & _elementwise.isfinite(y)
    z = np.where(both, abs(x - y) <= atol + rtol * abs(y), x == y)
    if equal_nan:
        z = z | (_elementwise.isnan(x) & _elementwise.isnan(y))
    return z[()]


def function_of_arrays(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Calls a function of numpy, with an Array among its arguments."""
    name = f"{func.__module__}.{func.__name__}"
    mine = _FUNCTIONS.get(name)
    return NotImplemented if mine is None else mine(*args, **{k: v for k, v in kwargs.items() if k != "out" or v is not None})
