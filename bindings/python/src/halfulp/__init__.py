"""Linear algebra at any precision, every result correctly rounded, the same bits everywhere.

halfulp computes what numpy computes, but each result is the number nearest to the exact value, of
float64 or of any requested format:

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

import builtins as _builtins

from . import blas, linalg, polynomial, rational, verify
from ._array import Array, Scalar
from ._creation import (
    arange,
    array,
    asarray,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    hilbert,
    identity,
    linspace,
    ones,
    ones_like,
    random,
    vander,
    zeros,
    zeros_like,
)
from ._dlpack import from_dlpack
from ._elementwise import (
    abs,
    absolute,
    add,
    all,
    any,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    conj,
    copysign,
    divide,
    equal,
    floor,
    floor_divide,
    fma,
    greater,
    greater_equal,
    hypot,
    imag,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mod,
    multiply,
    negative,
    not_equal,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    round,
    sign,
    signbit,
    sqrt,
    square,
    subtract,
    trunc,
    where,
)
from ._fit import Fit, polyfit, polynomial_regression, polyval, regression
from ._format import Format, dd, float32, float64, mp, qd, td
from ._library import (
    CancelledError,
    DeviceError,
    FileError,
    ForkedError,
    HalfulpError,
    HardwareError,
    InconsistentError,
    InternalError,
    MisuseError,
    NotFiniteError,
    NotPositiveDefiniteError,
    OutOfMemoryError,
    RangeError,
    SingularMatrixError,
    UndecidedWarning,
    gpus,
    options,
    version,
)
from ._numpy import isclose
from ._products import cross, inner, matvec, tensordot, trace, vdot, vecmat
from ._routines import dot, load, matmul, mean, outer, save, sum, vecdot
from ._shapes import (
    append,
    array_split,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    column_stack,
    concat,
    concatenate,
    delete,
    diag,
    diagonal,
    dstack,
    expand_dims,
    flip,
    hstack,
    kron,
    matrix_transpose,
    meshgrid,
    moveaxis,
    permute_dims,
    ravel,
    repeat,
    reshape,
    roll,
    split,
    squeeze,
    stack,
    swapaxes,
    take,
    take_along_axis,
    tile,
    transpose,
    tril,
    triu,
    unstack,
    vstack,
)
from ._statistics import (
    argmax,
    argmin,
    argsort,
    autocorr1,
    corrcoef,
    count_nonzero,
    cov,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    diff,
    isin,
    max,
    min,
    nonzero,
    prod,
    searchsorted,
    sort,
    std,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    var,
)
from ._types import (
    __array_namespace_info__,
    astype,
    bool,
    can_cast,
    e,
    inf,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    iinfo,
    nan,
    newaxis,
    pi,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._types import _finfo as finfo

__version__ = "0.1.0.dev0"
__array_api_version__ = "2024.12"

# A star import does not replace Python's built-in functions that share a name with one of numpy's.
__all__ = [name for name in dir() if not name.startswith("_") and name not in dir(_builtins)]
