"""The C library: loading, calls, errors, options.

The library is loaded at the first call, not at the import: a program may fork before that.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import os
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import _functions as table


class HalfulpError(Exception):
    """The base class of the errors of halfulp."""


class MisuseError(HalfulpError, ValueError):
    """Arguments do not fit: shapes, formats, names."""


class UndecidedWarning(UserWarning):
    """Entries of a result seem to be 0, or halfway between two numbers of the format, without a proof."""


class SingularMatrixError(HalfulpError, np.linalg.LinAlgError):
    """The matrix is singular, or its columns are linearly dependent. This is proved."""


class InconsistentError(HalfulpError, np.linalg.LinAlgError):
    """The system of equations has no solution. This is proved."""


class NotPositiveDefiniteError(HalfulpError, np.linalg.LinAlgError):
    """The matrix is not positive definite. This is proved."""


class NotFiniteError(HalfulpError, np.linalg.LinAlgError):
    """An operand contains infinities or NaN where none may stand."""


class RangeError(HalfulpError, OverflowError):
    """Exponents lie so far apart, or are so large, that no format holds what is needed."""


class OutOfMemoryError(HalfulpError, MemoryError):
    """The memory that exists, or that is allowed, does not suffice."""


class DeviceError(HalfulpError, RuntimeError):
    """There is no such device, or the device failed."""


class CancelledError(HalfulpError, RuntimeError):
    """The progress function cancelled the call."""


class FileError(HalfulpError, OSError):
    """A file cannot be read or written."""


class ForkedError(HalfulpError, RuntimeError):
    """This process is a fork of a process that had used halfulp. Start processes with "spawn"."""


class HardwareError(HalfulpError, RuntimeError):
    """A product contradicts its redundant modulus: the hardware computed a wrong number."""


class InternalError(HalfulpError, RuntimeError):
    """A defect of halfulp."""


_ERRORS: dict[int, type[HalfulpError]] = {
    table.MISUSE: MisuseError,
    table.SINGULAR: SingularMatrixError,
    table.NOT_POSITIVE_DEFINITE: NotPositiveDefiniteError,
    table.NOT_FINITE: NotFiniteError,
    table.RANGE: RangeError,
    table.MEMORY: OutOfMemoryError,
    table.DEVICE: DeviceError,
    table.CANCELLED: CancelledError,
    table.FILE: FileError,
    table.FORKED: ForkedError,
    table.HARDWARE: HardwareError,
    table.INTERNAL: InternalError,
    table.INCONSISTENT: InconsistentError,
}
for _error in (HalfulpError, UndecidedWarning, *_ERRORS.values()):
    _error.__module__ = "halfulp"  # the name that tracebacks show


def _path() -> Path:
    """Returns the file name of the C library: HALFULP_LIBRARY, or the file in this package."""
    if named := os.environ.get("HALFULP_LIBRARY"):
        return Path(named)
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    return Path(__file__).parent / f"libhalfulp{suffix}"


_OUT: dict[str, Any] = {
    "matrix": ctypes.c_uint64,
    "rational": ctypes.c_uint64,
    "view": ctypes.c_uint64,
    "scalar": ctypes.c_uint64,
    "record": ctypes.c_uint64,
    "options": ctypes.c_uint64,
    "int": ctypes.c_int64,
    "count": ctypes.c_int64,
    "bool": ctypes.c_int,
    "real": ctypes.c_double,
    "text": ctypes.c_void_p,
    "bytes": ctypes.c_void_p,
}


class _Library:
    """The functions of the C library as methods: lib.solve(a, b, format, options)."""

    def __init__(self) -> None:
        path = _path()
        try:
            self.dll = ctypes.CDLL(str(path))
        except OSError as e:
            raise ImportError(f"halfulp's C library cannot be loaded: {e}") from e
        table.declare(self.dll)
        for name, (_, kinds, results) in table.FUNCTIONS.items():
            setattr(self, name, self._bind(name, kinds.split(), results))

    def _bind(self, name: str, kinds: list[str], results: int) -> Callable[..., Any]:
        function = getattr(self.dll, "halfulp_" + name)
        out = [kind.partition(":")[2] for kind in kinds[len(kinds) - results :]]
        if "bytes" in out:  # pointer and size
            return lambda *args: self._bytes(function, args)
        if "text" in out:
            return lambda *args: self._text(function, args)
        if not out:

            def plain(*args: Any) -> None:
                if status := function(*args):
                    self.fail(status)

            return plain
        types = [_OUT[kind] for kind in out]
        if len(types) == 1:
            (only,) = types
            byref = ctypes.byref
            flag = out[0] == "bool"

            def one(*args: Any) -> Any:
                z = only()
                if status := function(*args, byref(z)):
                    self.fail(status)
                return bool(z.value) if flag else z.value

            return one

        def several(*args: Any) -> tuple[Any, ...]:
            z = [t() for t in types]
            if status := function(*args, *(ctypes.byref(v) for v in z)):
                self.fail(status)
            return tuple(v.value for v in z)

        return several

    def _text(self, function: Callable[..., int], args: tuple[Any, ...]) -> str:
        z = ctypes.c_void_p()
        if status := function(*args, ctypes.byref(z)):
            self.fail(status)
        try:
            return ctypes.string_at(z.value or 0).decode()
        finally:
            self.dll.halfulp_text_free(z)

    def _bytes(self, function: Callable[..., int], args: tuple[Any, ...]) -> bytes:
        z, size = ctypes.c_void_p(), ctypes.c_int64()
        if status := function(*args, ctypes.byref(z), ctypes.byref(size)):
            self.fail(status)
        try:
            return ctypes.string_at(z.value or 0, size.value)
        finally:
            self.dll.halfulp_text_free(z)

    def fail(self, status: int) -> None:
        """Raises the error of a status with the text of the library."""
        text = self.dll.halfulp_last_error().decode(errors="replace")
        # The name of the C function is removed, and indices are written as in Python.
        text = re.sub(r"\b([A-Z])\[(\d+),(\d+)\]", r"\1[\2, \3]", text)
        _, colon, reason = text.partition(": ")
        raise _ERRORS.get(status, InternalError)(reason if colon else text)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(f"this build of libhalfulp has no function halfulp_{name}")


_library: _Library | None = None
_loading = threading.Lock()


def library() -> Any:
    """Returns the C library, which the first call loads."""
    global _library
    if _library is None:
        with _loading:
            if _library is None:
                _library = _Library()
    return _library


def free(handle: int) -> None:
    """Frees a handle. It does nothing in a forked child and at the end of the interpreter."""
    if _library is not None and handle:
        _library.dll.halfulp_free(handle)


# Options.

# The type halfulp_progress without its last argument, which is not used.
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double)

# The interval, in milliseconds, at which signals are checked and a progress function is called.
_INTERVAL = 50


class _Options:
    """Options of calls: see options()."""

    def __init__(self, settings: dict[str, str], progress: Callable[[float], object] | None) -> None:
        self.settings = settings
        self.progress = progress


_DEFAULT = _Options({}, None)
_current: contextvars.ContextVar[_Options] = contextvars.ContextVar("halfulp options", default=_DEFAULT)

_NAMES = {"device", "threads", "method", "memory", "check"}


@contextlib.contextmanager
def options(
    *,
    device: str | None = None,
    threads: int | None = None,
    method: str | None = None,
    memory: int | None = None,
    check: bool | None = None,
    progress: Callable[[float], object] | None = None,
) -> Iterator[None]:
    """Sets how the calls in a with statement run. Options never change a bit of a result.

    device: where operands of the host are computed: "cpu", "auto" or "cuda:N".
    threads: the number of threads; 0 is one a processor.
    method: "auto", "residue" or "direct".
    memory: the bytes that a routine may take beside its operands; 0 is half of the machine's.
    check: products are compared modulo a redundant modulus, which finds faults of the hardware.
    progress: a function that is called with the share of the work done, from 0 to 1. The call ends
        with its exception if it raises one, and with CancelledError if it returns False.

    >>> import halfulp as hp
    >>> with hp.options(threads=1):
    ...     print(hp.sum([1e16, 1, -1e16]))
    1.0
    """
    before = _current.get()
    settings = dict(before.settings)
    for name, value in (("device", device), ("threads", threads), ("method", method), ("memory", memory), ("check", check)):
        if value is not None:
            settings[name] = str(int(value)) if isinstance(value, (bool, int)) else value
    token = _current.set(_Options(settings, progress or before.progress))
    try:
        yield
    finally:
        _current.reset(token)


class _Call:
    """The options of one call, and what its progress function raised."""

    __slots__ = ("_function", "_reports", "handle", "raised", "user")

    def __init__(self, lib: Any, watch: bool) -> None:
        current = _current.get()
        self.user = current.progress
        self.raised: BaseException | None = None
        self.handle: int = lib.options_new()
        try:
            for name, value in current.settings.items():
                lib.options_set(self.handle, name.encode(), value.encode())
            if watch or self.user is not None:
                self._reports = self._report()
                next(self._reports)
                self._function = _PROGRESS(self._reports.send)
                lib.options_set_progress(self.handle, self._function, None, _INTERVAL)
        except BaseException:
            free(self.handle)
            raise

    def _report(self) -> Generator[int, float, None]:
        """Takes shares of the work that is done, and yields 1 to end the call, else 0.

        Python raises the exceptions of signal handlers where a function begins, before any try: a
        generator goes on within one.
        """
        end = 0
        while True:
            try:
                done = yield end
                if threading.current_thread() is threading.main_thread():
                    ctypes.pythonapi.PyErr_CheckSignals()
                if self.raised is None:
                    end = int(self.user is not None and self.user(done) is False)
            except GeneratorExit:
                return
            except BaseException as e:  # such as KeyboardInterrupt: raised again after the call
                self.raised, end = e, 1


def call(name: str, *args: Any, work: float = 0) -> Any:
    """Calls a function of the library whose last argument before its results is options.

    work estimates the multiplications of numbers: long calls look at signals, so that Ctrl-C ends
    them.
    """
    lib = library()
    if work <= 1e6 and _current.get() is _DEFAULT:
        return getattr(lib, name)(*args, 0)
    c = _Call(lib, work > 1e6)
    try:
        return getattr(lib, name)(*args, c.handle)
    except CancelledError:
        if c.raised is not None:
            raise c.raised from None
        raise
    finally:
        free(c.handle)


def default() -> bool:
    """Reports that no options are set: the call is not inside options()."""
    return _current.get() is _DEFAULT


def direct(name: str) -> Callable[..., Any] | None:
    """Returns a function of the BLAS on arrays; None inside options()."""
    return getattr(library(), "blas_" + name) if default() else None


def version() -> str:
    """Returns the version of the C library."""
    return str(library().version())


def gpus() -> list[dict[str, Any]]:
    """Returns the GPUs of this machine: their devices ("cuda:0"), models and memory in bytes.

    DeviceError says why there are none.
    """
    import json  # which takes a while

    found = json.loads(library().devices())
    if found.get("error") and not found.get("gpus"):
        raise DeviceError(found["error"])
    return list(found.get("gpus") or [])
