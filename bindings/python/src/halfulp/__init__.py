"""Linear algebra at any precision, every result correctly rounded, the same bits everywhere.

halfulp computes what numpy computes, but each result is the number nearest to the exact value, of
float64 or of any format that is asked for:

>>> import halfulp as hp
>>> print(hp.sum([1e16, 1, -1e16]))
1.0
>>> hp.linalg.inv(hp.hilbert(3, format="mp:200"), format="f64")
array([[9, -36, 30],
       [-36, 192, -180],
       [30, -180, 180]], 'f64')

numpy's arrays come in and numpy's arrays come out; format="mp:424" or prec=424 gives halfulp.Array,
whose numbers have 424 bits. Names are numpy's: sum, dot, matmul, linalg.solve, linalg.inv, and so on.
"""

from . import linalg, verify
from ._array import Array, Scalar, array, asarray
from ._dlpack import from_dlpack
from ._format import Format, dd, float32, float64, mp, qd, td
from ._library import (
    CancelledError,
    DeviceError,
    FileError,
    ForkedError,
    HalfulpError,
    HardwareError,
    InternalError,
    MisuseError,
    NotFiniteError,
    NotPositiveDefiniteError,
    OutOfMemoryError,
    RangeError,
    SingularMatrixError,
    gpus,
    options,
    version,
)
from ._routines import (
    abs,
    add,
    broadcast_to,
    concat,
    concatenate,
    diagonal,
    divide,
    dot,
    expand_dims,
    eye,
    flip,
    full,
    hilbert,
    load,
    matmul,
    matrix_transpose,
    mean,
    moveaxis,
    multiply,
    negative,
    ones,
    outer,
    permute_dims,
    random,
    reshape,
    roll,
    save,
    sqrt,
    squeeze,
    stack,
    std,
    subtract,
    sum,
    trace,
    transpose,
    vander,
    vecdot,
    zeros,
)

__version__ = "0.1.0.dev0"

__all__ = [name for name in dir() if not name.startswith("_")]
