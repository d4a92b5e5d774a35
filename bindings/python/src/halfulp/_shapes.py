"""Functions that move entries: nothing is rounded. numpy's arrays go to numpy's own functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _array
from ._array import Array, Scalar, asarray
from ._library import MisuseError
from ._routines import Operands, _axes, _stacked


def _moved(x: Any, move: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Applies a function of numpy that moves the entries of an array."""
    if isinstance(x, (np.ndarray, np.generic)):
        return move(np.asarray(x)).copy()
    o = Operands(x)
    return o.plainly(o.arrays[0]._moved(move))


def _moving(name: str, parameters: str, doc: str) -> Any:
    """Returns a function of arrays with numpy's name and parameters."""
    function = getattr(np, name)

    def move(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        return _moved(x, lambda n: function(n, *args, **kwargs))

    move.__name__ = move.__qualname__ = name
    move.__doc__ = f"{doc}\n\nIts arguments are as for numpy.{name}: x, {parameters}."
    return move


def squeeze(x: Any, /, axis: Any = None) -> Any:
    """Returns an array without dimensions of 1: without the given axes, or without all of them."""
    return _moved(x, lambda n: np.squeeze(n, axis))


def expand_dims(x: Any, /, axis: Any) -> Any:
    """Returns an array with a dimension of 1 more."""
    return _moved(x, lambda n: np.expand_dims(n, axis))


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """Returns an array repeated to a shape."""
    return _moved(x, lambda n: np.broadcast_to(n, shape))


def flip(x: Any, /, axis: Any = None) -> Any:
    """Returns an array whose entries are reversed, along all axes or some."""
    return _moved(x, lambda n: np.flip(n, axis))


def roll(x: Any, /, shift: Any, axis: Any = None) -> Any:
    """Returns an array whose entries are shifted, the last ones to the front."""
    return _moved(x, lambda n: np.roll(n, shift, axis))


def moveaxis(x: Any, /, source: Any, destination: Any) -> Any:
    """Returns an array whose axes are moved."""
    return _moved(x, lambda n: np.moveaxis(n, source, destination))


def swapaxes(x: Any, /, axis1: int, axis2: int) -> Any:
    """Returns an array with two axes exchanged."""
    return _moved(x, lambda n: np.swapaxes(n, axis1, axis2))


def tile(x: Any, /, reps: Any) -> Any:
    """Returns an array repeated along its axes."""
    return _moved(x, lambda n: np.tile(n, reps))


def repeat(x: Any, /, repeats: Any, axis: int | None = None) -> Any:
    """Returns an array whose entries are repeated, without an axis in one dimension."""
    return _moved(x, lambda n: np.repeat(n, np.asarray(repeats), axis))


rot90 = _moving("rot90", "k=1, axes=(0, 1)", "Returns an array turned by 90 degrees.")
ravel = _moving("ravel", "order='C'", "Returns the entries in one dimension.")
fliplr = _moving("fliplr", "", "Returns an array whose columns are reversed.")
flipud = _moving("flipud", "", "Returns an array whose rows are reversed.")
diagonal = _moving("diagonal", "offset=0, axis1=0, axis2=1", "Returns a diagonal.")


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """Returns an array in another shape, the entries in the order of rows; a copy.

    copy=False is an error.
    """
    if copy is False:
        raise ValueError("halfulp.reshape copies always: copy=False cannot be done")
    return _moved(x, lambda n: n.reshape(shape))


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """Returns an array whose dimensions are permuted."""
    return _moved(x, lambda n: n.transpose(axes))


def transpose(x: Any, /, axes: Any = None) -> Any:
    """Returns an array whose dimensions are permuted, or without axes reversed."""
    return _moved(x, lambda n: np.transpose(n, axes))


def matrix_transpose(x: Any, /) -> Any:
    """Returns the transpose of a matrix, or of each matrix of a stack."""
    if np.ndim(x) < 2:
        raise MisuseError("matrix_transpose needs two dimensions or more")
    return _moved(x, lambda n: n.swapaxes(-1, -2))


def diag(x: Any, /, k: int = 0) -> Any:
    """Returns diagonal k of a matrix, or the matrix with a vector on diagonal k."""
    if np.ndim(x) == 1:
        return _masked(_moved(x, lambda n: _on_diagonal(n, k)), lambda rows, cols: cols - rows == k)
    if np.ndim(x) != 2:
        raise MisuseError("diag takes a vector or a matrix")
    return _moved(x, lambda n: np.diagonal(n, k))


def _on_diagonal(n: np.ndarray, k: int) -> np.ndarray:
    """Returns the matrix with the numbers of a vector in the places of diagonal k, and others elsewhere."""
    size = n.size + operator.abs(k)
    at = np.minimum(np.add.outer(np.arange(size), np.zeros(size, int)) - max(-k, 0), n.size - 1)
    return n[np.maximum(at, 0)] if n.size else np.zeros((size, size), n.dtype)


def _masked(x: Any, holds: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Any:
    """Returns matrices with entries set to 0 where a relation of row and column does not hold."""
    if np.ndim(x) < 2:
        raise MisuseError("a matrix, or a stack of them, is needed")
    rows, cols = np.shape(x)[-2:]
    mask = holds(np.arange(rows)[:, None], np.arange(cols)[None, :])
    if isinstance(x, np.ndarray):
        return np.where(mask, x, np.zeros(1, x.dtype))
    from . import _entries

    o = Operands(x)
    a = o.arrays[0]
    return o.plainly(_entries.where(mask, a, asarray(Scalar(0.0)), a.format))


def tril(x: Any, /, k: int = 0) -> Any:
    """Returns the entries on and below diagonal k of matrices, zeros elsewhere."""
    return _masked(x, lambda rows, cols: cols - rows <= k)


def triu(x: Any, /, k: int = 0) -> Any:
    """Returns the entries on and above diagonal k of matrices, zeros elsewhere."""
    return _masked(x, lambda rows, cols: cols - rows >= k)


def take(x: Any, indices: Any, /, axis: int | None = None) -> Any:
    """Returns the entries, or along an axis the parts, of some indices."""
    return _moved(x, lambda n: np.take(n, np.asarray(indices), axis=axis))


def take_along_axis(x: Any, indices: Any, /, axis: int = -1) -> Any:
    """Returns entries along an axis, an index for each of them."""
    return _moved(x, lambda n: np.take_along_axis(n, np.asarray(indices), axis))


def unstack(x: Any, /, axis: int = 0) -> tuple[Any, ...]:
    """Returns the parts of an array along an axis."""
    n = np.shape(x)[axis]
    return tuple(take(x, i, axis=axis) for i in range(n))


def stack(arrays: Any, /, axis: int = 0) -> Any:
    """Returns arrays of one shape side by side along a new axis, in the most precise format."""
    arrays = list(arrays)
    if arrays and _of_numpy(arrays):
        return np.stack(arrays, axis=axis)
    if len({np.shape(a) for a in arrays}) != 1:
        raise MisuseError("arrays to be stacked have one shape, and there is at least one")
    o = Operands(*arrays)
    same = [a if a.format == o.format else a.astype(o.format) for a in o.arrays]
    z = asarray(_stacked(o, same, (len(same), *same[0].shape)))
    return o.plainly(z._moved(lambda n: np.moveaxis(n, 0, axis)))


def concat(arrays: Any, /, axis: int | None = 0) -> Any:
    """Returns arrays one after the other along an axis, in the most precise format.

    With axis=None their entries are put in one dimension first.
    """
    arrays = list(arrays)
    if arrays and _of_numpy(arrays):
        return np.concatenate(arrays, axis=axis)
    if not arrays:
        raise MisuseError("there has to be at least one array")
    o = Operands(*arrays)
    same = [a if a.format == o.format else a.astype(o.format) for a in o.arrays]
    if axis is None:
        same, axis = [a.ravel() for a in same], 0
    if any(a.ndim != same[0].ndim or a.ndim == 0 for a in same):
        raise MisuseError("arrays have as many dimensions, at least one")
    (k,) = _axes(axis, same[0].ndim)
    parts = tuple(np.concatenate(p, axis=k) for p in zip(*(a._parts() for a in same), strict=True))
    words = 1 if len(parts) == 4 or o.format.terms else 0
    return o.plainly(_array.from_parts(parts, o.format, parts[0].shape[: parts[0].ndim - words]))


def _of_numpy(arrays: Sequence[Any]) -> bool:
    return all(isinstance(a, (np.ndarray, np.generic)) for a in arrays)


concatenate = concat


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Returns the shape to which arrays of some shapes are repeated."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """Returns arrays repeated to one shape."""
    shape: tuple[int, ...] = ()
    for a in arrays:
        shape = _array._common_shape(shape, np.shape(a))
    return [broadcast_to(a, shape) for a in arrays]


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """Returns matrices with the coordinates of a grid: see numpy.meshgrid."""
    if indexing not in ("xy", "ij"):
        raise MisuseError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    n = len(arrays)
    z = []
    shape = tuple(math.prod(np.shape(a)) for a in arrays)
    for i, a in enumerate(arrays):
        z.append(broadcast_to(reshape(a, (1,) * i + (-1,) + (1,) * (n - 1 - i)), shape))
    return [swapaxes(v, 0, 1) for v in z] if indexing == "xy" and n > 1 else z


def kron(a: Any, b: Any, /) -> Any:
    """Returns the Kronecker product: the products of all pairs of entries, each rounded once."""
    from ._elementwise import multiply

    x, y = (v if isinstance(v, (Array, np.ndarray)) else asarray(v) for v in (a, b))
    n = max(np.ndim(x), np.ndim(y))
    p = (1,) * (n - np.ndim(x)) + np.shape(x)
    q = (1,) * (n - np.ndim(y)) + np.shape(y)
    outer = multiply(
        reshape(x, tuple(k for d in p for k in (d, 1))),
        reshape(y, tuple(k for d in q for k in (1, d))),
    )
    return reshape(outer, tuple(c * d for c, d in zip(p, q, strict=True)))


def _filled_up(x: Any, n: int) -> Any:
    """Returns an array with n dimensions at least, as numpy.atleast_1d, _2d and _3d do."""
    shape = np.shape(x)
    if len(shape) >= n:
        return x
    to = {1: (1,) + shape if not shape else shape, 2: (1,) * (2 - len(shape)) + shape}.get(n)
    if to is None:
        to = {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
    return reshape(x, to)


def _at_least(n: int) -> Callable[..., Any]:
    def function(*arrays: Any) -> Any:
        z = tuple(_filled_up(a, n) for a in arrays)
        return z[0] if len(z) == 1 else z

    function.__name__ = function.__qualname__ = f"atleast_{n}d"
    function.__doc__ = f"Returns arrays with {n} dimensions at least: numpy.atleast_{n}d."
    return function


atleast_1d, atleast_2d, atleast_3d = map(_at_least, (1, 2, 3))


def vstack(arrays: Any, /) -> Any:
    """Returns arrays one below the other, vectors as rows."""
    return concat([_filled_up(a, 2) for a in arrays])


def hstack(arrays: Any, /) -> Any:
    """Returns arrays one beside the other, vectors one after the other."""
    arrays = [_filled_up(a, 1) for a in arrays]
    return concat(arrays, axis=0 if arrays and np.ndim(arrays[0]) == 1 else 1)


def dstack(arrays: Any, /) -> Any:
    """Returns arrays one after the other along the third axis."""
    return concat([_filled_up(a, 3) for a in arrays], axis=2)


def column_stack(arrays: Any, /) -> Any:
    """Returns matrices, and vectors as columns, one beside the other."""
    return concat([_filled_up(a, 2) if np.ndim(a) != 1 else reshape(a, (-1, 1)) for a in arrays], axis=1)


def block(arrays: Any, /) -> Any:
    """Returns the matrix of blocks in nested lists: numpy.block."""

    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) and x else 0

    def least(x: Any) -> int:
        return max(map(least, x)) if isinstance(x, list) else np.ndim(x)

    levels = depth(arrays)
    dims = max(levels, least(arrays))

    def joined(x: Any, level: int) -> Any:
        if isinstance(x, list):
            if not x:
                raise MisuseError("a list of blocks is empty")
            return concat([joined(y, level - 1) for y in x], axis=-level)
        if level:
            raise MisuseError("lists of blocks are nested to different depths")
        return reshape(x, (1,) * (dims - np.ndim(x)) + np.shape(x))

    return joined(arrays, levels)


def array_split(x: Any, indices_or_sections: Any, /, axis: int = 0) -> list[Any]:
    """Returns the parts of an array along an axis: numpy.array_split."""
    places = np.array_split(np.arange(np.shape(x)[axis]), indices_or_sections)
    return [take(x, at, axis=axis) for at in places]


def split(x: Any, indices_or_sections: Any, /, axis: int = 0) -> list[Any]:
    """Returns the parts of an array along an axis, of one size if their number is given."""
    places = np.split(np.arange(np.shape(x)[axis]), indices_or_sections)
    return [take(x, at, axis=axis) for at in places]


def append(x: Any, values: Any, /, axis: int | None = None) -> Any:
    """Returns an array followed by values along an axis, without one all entries in one dimension."""
    return concat([x, values], axis=axis)


def delete(x: Any, places: Any, /, axis: int | None = None) -> Any:
    """Returns an array without some of its entries or, along an axis, parts."""
    return _moved(x, lambda n: np.delete(n, places, axis))
