"""DLPack: numbers that halfulp shares with numpy, PyTorch, CuPy and others, without a copy."""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from ctypes import PYFUNCTYPE, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, py_object
from typing import Any

import numpy as np

from . import _array
from ._array import Array
from ._format import Format, float32, float64
from ._library import MisuseError, free, library

CPU, CUDA, CUDA_HOST = 1, 2, 3  # DLPack's types of devices
_FLOAT = 2  # DLPack's code of a type
_READ_ONLY, _COPIED = 1, 2  # DLPack's flags
_VERSION = (1, 0)  # the version that is asked for and given


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Managed(ctypes.Structure):
    """DLManagedTensor of dlpack.h."""

    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h."""

    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", c_void_p), ("flags", c_uint64), ("tensor", _Tensor)]


_DELETER = ctypes.CFUNCTYPE(None, c_void_p)

# Functions of Python itself.
_new = PYFUNCTYPE(py_object, c_void_p, c_void_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_get_name = PYFUNCTYPE(c_char_p, py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_get_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_set_name = PYFUNCTYPE(c_int, py_object, c_void_p)(("PyCapsule_SetName", ctypes.pythonapi))
_keep_for_ever = PYFUNCTYPE(None, py_object)(("Py_IncRef", ctypes.pythonapi))


def _name(text: bytes) -> Any:
    """Returns the name of capsules, which refer to it as long as they live."""
    name = ctypes.create_string_buffer(text)
    _keep_for_ever(name)
    return name


_PLAIN, _VERSIONED = b"dltensor", b"dltensor_versioned"
_NAMES = {n: _name(n) for n in (_PLAIN, _VERSIONED)}
_USED = {n: _name(b"used_" + n) for n in (_PLAIN, _VERSIONED)}


@functools.cache
def _destructor() -> Any:
    """Returns the C function that destroys capsules, also while an exception is set and at the end of
    the interpreter."""
    dll = library().dll
    dll.halfulp_dlpack_python(*(ctypes.cast(f, c_void_p) for f in (ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer)))
    return ctypes.cast(dll.halfulp_dlpack_unused, c_void_p)


class Borrowed:
    """Numbers of another package, which stay as long as this object."""

    __slots__ = ("_address", "_deleter", "producer", "readonly")

    def __init__(self, producer: Any, address: int, deleter: int | None, readonly: bool) -> None:
        self.producer, self.readonly = producer, readonly
        self._address, self._deleter = address, deleter

    def __del__(self) -> None:
        if not sys.is_finalizing() and self._deleter:
            _DELETER(self._deleter)(self._address)


def _asked(x: Any, **arguments: Any) -> Any:
    """Returns x.__dlpack__(**arguments), without those that an older producer does not know."""
    try:
        return x.__dlpack__(**arguments)
    except TypeError:
        stream = {"stream": arguments["stream"]} if arguments.get("stream") is not None else {}
        if arguments.keys() == stream.keys():
            raise
        return x.__dlpack__(**stream)


def _matrix(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int, int, int] | None:
    """Returns rows, columns and strides of the matrix that stores an array; None if none does."""
    rows, cols = _array._matrix_shape(shape)
    if len(shape) <= 1:
        return rows, cols, strides[0] if strides else 1, 1
    step = None  # from row to row
    span = 0
    for n, s in zip(shape[-2::-1], strides[-2::-1], strict=True):
        if n == 1:
            continue
        if step is None:
            step = s
        elif s != span:
            return None
        span = s * n
    return rows, cols, max(cols, 1) if step is None else step, strides[-1]


def _view(t: _Tensor, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """Returns a numpy array of the numbers of a tensor on the host."""
    letter = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}.get(t.code, "")
    size = t.bits // 8
    if t.lanes != 1 or t.bits % 8 or not letter or (letter == "f" and size not in (2, 4, 8)) or size not in (1, 2, 4, 8, 16):
        raise BufferError(f"the tensor has numbers of DLPack's type {t.code} of {t.bits} bits: convert it to float64 or float32")
    dtype = np.dtype(bool if letter == "b" else f"{letter}{size}")
    if 0 in shape:
        return np.empty(shape, dtype)
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
    high = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
    buffer = (ctypes.c_char * ((high - low + 1) * size)).from_address(t.data + t.byte_offset + low * size)
    return np.ndarray(shape, dtype, buffer, -low * size, tuple(s * size for s in strides))


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Any:
    """Returns an Array of the numbers of a tensor of numpy, PyTorch, CuPy or any other producer of DLPack.

    Numbers of float64 and float32 are used where they lie, on the host or on an NVIDIA GPU: what is
    written to either is seen in both, and the tensor's memory stays as long as the Array. This needs
    adjacent numbers in each row, or in each column, of each matrix of a stack; vectors may have any
    stride but 0. Other tensors are copied once, on their device. numpy's truth values stay an array of
    numpy.

    device: where the result lives; another device than the tensor's takes a copy.
    copy: True makes a copy in any case, False makes BufferError of one that would be needed.

    >>> import halfulp as hp, numpy as np
    >>> x = np.array([1e16, 1.0, -1e16])
    >>> a = hp.from_dlpack(x)
    >>> x[0] = 3
    >>> a[0]
    Scalar('3', 'f64')
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"{type(x).__name__} has no numbers for DLPack")
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype == np.bool_ and device in (None, "cpu"):
        return np.array(x) if copy else np.asarray(x)
    if isinstance(x, Array):
        a = x.copy() if copy else x
    else:
        a = _taken(x, copy)
    if device is None or device == a.device:
        return a
    if copy is False:
        raise BufferError(f"the numbers live on {a.device}: {device} needs a copy")
    return a.to_device(device)


def _taken(x: Any, copy: bool | None) -> Array:
    kind, number = (int(k) for k in x.__dlpack_device__())
    lib = library()
    if kind == CUDA:
        place = f"cuda:{number}"
        # The producer makes this stream wait for the producer's work.
        capsule = _asked(x, stream=lib.cuda_stream(place.encode()), max_version=_VERSION)
    elif kind in (CPU, CUDA_HOST):
        place = "cpu"
        capsule = _asked(x, max_version=_VERSION)
    else:
        raise BufferError(f"the numbers live on a device of DLPack's type {kind}: only the CPU and CUDA are supported")
    name = _get_name(capsule)
    if name not in _NAMES:
        raise BufferError(f"the capsule is named {name!r}: one of dltensor and dltensor_versioned is needed")
    address = _get_pointer(capsule, name)
    managed: Any = (_Versioned if name == _VERSIONED else _Managed).from_address(address)
    if name == _VERSIONED and managed.major > _VERSION[0]:
        raise BufferError(f"the tensor is of DLPack {managed.major}.{managed.minor}: version 1 is needed")
    t: _Tensor = managed.tensor
    shape = tuple(t.shape[: t.ndim])
    strides = tuple(t.strides[: t.ndim]) if t.strides else tuple(math.prod(shape[k + 1 :]) for k in range(t.ndim))
    f = {32: float32, 64: float64}.get(t.bits) if t.code == _FLOAT and t.lanes == 1 else None
    if not copy and f is not None and 0 not in shape and (a := _shared(t, shape, strides, f, place)) is not None:
        _set_name(capsule, ctypes.addressof(_USED[name]))
        readonly = name == _VERSIONED and bool(managed.flags & _READ_ONLY)
        a._keep = Borrowed(x, address, managed.deleter, readonly)
        return a
    if copy is False:
        raise BufferError(f"a tensor of shape {shape}, strides {strides} and DLPack's type {t.code} of {t.bits} bits cannot be used without a copy")
    if place == "cpu":
        return _array._from_numpy(_view(t, shape, strides), None)
    if f is None:
        raise BufferError("a tensor on a GPU has numbers of float64 or float32: convert it there, or copy it to the CPU")
    return _copied(t, shape, strides, f, place)


def _shared(t: _Tensor, shape: tuple[int, ...], strides: tuple[int, ...], f: Format, place: str) -> Array | None:
    """Returns an array in the memory of a tensor; None where that takes a copy."""
    address, matrix = t.data + t.byte_offset, _matrix(shape, strides)
    if matrix is None or address % (t.bits // 8):
        return None
    lib = library()
    try:
        if place == "cpu":
            h = getattr(lib, "matrix_wrap_" + f.kind)(address, *matrix)
        else:
            h = getattr(lib, "matrix_wrap_cuda_" + f.kind)(address, *matrix, place.encode())
    except MisuseError:
        return None
    return Array._of(h, shape, f, None, place)


def _copied(t: _Tensor, shape: tuple[int, ...], strides: tuple[int, ...], f: Format, place: str) -> Array:
    """Returns a copy of a tensor on its GPU."""
    lib = library()
    address, where, copy = t.data + t.byte_offset, place.encode(), getattr(lib, "matrix_from_cuda_" + f.kind)
    if 0 in shape:
        return Array._of(lib.matrix_new(f.code, *_array._matrix_shape(shape), where), shape, f)
    if address % (t.bits // 8):
        raise BufferError(f"the address {address:#x} of the tensor is no multiple of {t.bits // 8}")
    if (matrix := _matrix(shape, strides)) is not None:
        return Array._of(copy(address, *matrix, where), shape, f)
    a = Array._of(lib.matrix_new(f.code, *_array._matrix_shape(shape), where), shape, f)
    rows, cols = shape[-2:]
    for k, index in enumerate(np.ndindex(*shape[:-2])):
        offset = sum(i * s for i, s in zip(index, strides, strict=False))
        one = copy(address + offset * (t.bits // 8), rows, cols, *strides[-2:], where)
        try:
            view = lib.matrix_slice(a._handle, k * rows, (k + 1) * rows, 0, cols)
            try:
                lib.matrix_assign(one, view, 0)
            finally:
                free(view)
        finally:
            free(one)
    return a


def device_of(a: Array) -> tuple[int, int]:
    """Returns DLPack's type and number of the device where an array lives."""
    kind, _, number = a.device.partition(":")
    if kind == "cuda" and number.isdigit():
        return CUDA, int(number)
    if kind != "cpu":
        raise BufferError(f"DLPack has no device {a.device}: copy the array to one GPU or to the CPU by to_device")
    return CPU, 0


def exported(a: Array, stream: Any, max_version: Any, dl_device: Any, copy: bool | None) -> Any:
    """Returns a capsule with the numbers of an array: see Array.__dlpack__."""
    if a.format.dtype is None:
        raise BufferError(f"DLPack has no numbers of format {a.format}: round them by astype")
    device = device_of(a)
    if stream is not None:
        if isinstance(stream, bool) or not isinstance(stream, (int, np.integer)):
            raise TypeError(f"stream is an integer or None, not {stream!r}")
        if device[0] == CPU and int(stream) != -1:
            raise BufferError("the array lives on the CPU, which has no streams: stream is None")
        if int(stream) == 0 or int(stream) < -1:
            raise BufferError(f"{stream} is no stream of CUDA: 1 is the default stream, 2 the default stream of a thread")
    made = bool(copy)
    if dl_device is not None and tuple(int(k) for k in dl_device) != device:
        if tuple(int(k) for k in dl_device) != (CPU, 0):
            raise BufferError(f"the array lives on {a.device}: copy it to another device by to_device")
        if copy is False:
            raise BufferError(f"the array lives on {a.device}: numbers on the CPU are a copy")
        a, made = a.to_device("cpu"), True
    elif copy:
        a = a.copy()
    if isinstance(a._keep, Borrowed):  # the tensor's memory is not this package's to give away
        arguments = {"stream": stream, "max_version": max_version} if stream is not None else {"max_version": max_version}
        return _asked(a._keep.producer, **arguments)
    if a._keep is not None:  # numpy's
        a, made = a.copy(), True
    lib = library()
    versioned = max_version is not None and tuple(max_version)[0] >= _VERSION[0]
    shape = (c_int64 * len(a._shape))(*a._shape)
    tensor = c_void_p()
    if status := lib.dll.halfulp_dlpack(a._handle, len(a._shape), shape, versioned, _COPIED if made else 0, ctypes.byref(tensor)):
        lib.fail(status)
    return _new(tensor, ctypes.addressof(_NAMES[_VERSIONED if versioned else _PLAIN]), _destructor())
