"""Tests of DLPack: numpy as producer and consumer, and stubs that stand for tensors on a GPU."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import halfulp as hp
from halfulp import _array, _dlpack
from halfulp._library import DeviceError, library


def address(a):
    """Returns where the numbers of an array lie, by DLPack."""
    return np.from_dlpack(a).ctypes.data


def equal(a, b):
    """Whether arrays of halfulp and numpy have the same shape and numbers."""
    return np.array_equal(np.array(a, float), np.array(b, float))


class Producer:
    """A tensor of numpy's numbers that notes how it is asked and whether it is freed."""

    def __init__(self, x, device=(1, 0), versioned=True):
        self.x, self.device, self.versioned, self.asked = x, device, versioned, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **arguments):
        self.asked.append(arguments)
        if not self.versioned and "max_version" in arguments:
            raise TypeError("unexpected argument max_version")
        version = {"max_version": (1, 0)} if self.versioned else {}
        capsule = self.x.__dlpack__(**version)
        name = _dlpack._get_name(capsule)
        kind = _dlpack._Versioned if self.versioned else _dlpack._Managed
        tensor = kind.from_address(_dlpack._get_pointer(capsule, name)).tensor
        tensor.device_type, tensor.device_id = self.device
        return capsule


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numpy_in_without_a_copy(dtype):
    x = np.arange(24, dtype=dtype)
    m, stack = x.reshape(4, 6), x.reshape(2, 3, 4)
    for view in (x, x[3:], x[::2], x[::-1], m, m.T, m[1:, 2:5], stack, stack[:, :, 1:3], x[:1].reshape(1, 1), x[0:1].reshape(())):
        a = hp.from_dlpack(view)
        assert a.shape == view.shape and a.format == view.dtype and equal(a, view)
        view[...] += 1  # seen in both
        assert equal(a, view)
        if a.ndim:
            a[(0,) * a.ndim] = 100.5
            assert view[(0,) * a.ndim] == 100.5


def test_numpy_in_with_a_copy():
    x = np.arange(24.0)
    m, stack = x.reshape(4, 6), x.reshape(2, 3, 4)
    others = np.arange(5), np.ones(3, np.float16), np.ones((2, 0))
    for view in (m[:, ::2], m[::-1], np.broadcast_to(x[:4], (3, 4)), stack.transpose(1, 0, 2), *others):
        a = hp.from_dlpack(view)
        assert a.shape == view.shape and equal(a, view) and a._keep is None
        if view.size:
            with pytest.raises(BufferError, match="without a copy"):
                hp.from_dlpack(view, copy=False)
    a = hp.from_dlpack(x, copy=True)
    x[0] = 7
    assert a[0] == 0
    b = hp.array(Producer(x))
    x[0] = 8
    assert b[0] == 7
    c = hp.asarray(Producer(x), "mp:100")
    assert c.format == "mp:100" and c[0] == 8
    with pytest.raises(TypeError, match="complex"):
        hp.from_dlpack(np.ones(2, complex))


def test_asarray_takes_tensors_without_a_copy():
    x = np.arange(6.0).reshape(2, 3)
    a = hp.asarray(Producer(x))
    x[1, 2] = -1
    assert a[1, 2] == -1
    z = hp.matmul(Producer(x), x.T)
    assert isinstance(z, np.ndarray) and equal(z, x @ x.T)


@pytest.mark.parametrize("versioned", [True, False])
def test_memory_stays_until_the_array_is_gone(versioned):
    x = np.arange(1000.0)
    before = sys.getrefcount(x)
    p = Producer(x, versioned=versioned)
    a = hp.asarray(p)
    del p
    gc.collect()
    assert sys.getrefcount(x) > before
    assert hp.sum(a) == 499500
    del a
    gc.collect()
    assert sys.getrefcount(x) == before


def test_read_only():
    x = np.arange(3.0)
    x.flags.writeable = False
    a = hp.from_dlpack(x)
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        a[:2] = [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        a += 1
    assert equal(x, [0, 1, 2])
    b = a.copy()
    b[0] = 1
    assert equal(b, [1, 1, 2]) and x[0] == 0


def test_numpy_out():
    for f in ("f64", "f32"):
        for shape in ((), (4,), (3, 4), (2, 3, 4), (1, 3), (3, 1), (0,), (0, 3), (2, 0, 3)):
            want = np.arange(np.prod(shape, dtype=int), dtype=hp.Format(f).dtype).reshape(shape)
            a = hp.array(want)
            x = np.from_dlpack(a)
            assert x.shape == shape and x.dtype == want.dtype and equal(x, want)
            if x.size:
                assert address(a) == x.ctypes.data
                x[...] += 1
                assert equal(a, want + 1)
    a = hp.random(5, 7)  # lies by columns
    assert equal(np.from_dlpack(a), a.to_numpy())
    assert equal(np.from_dlpack(a.T), a.to_numpy().T)
    assert np.asarray(a, copy=False).ctypes.data == address(a)
    assert equal(np.asarray(a), a.to_numpy()) and np.asarray(a).ctypes.data != address(a)


def divided(capsule):
    """Raises an exception, with which the last reference to a capsule goes."""
    return [capsule, 1 // 0]


def test_numbers_stay_until_the_consumer_is_gone():
    gc.collect()
    before = library().live_handles()
    a = hp.random(300, 300)
    want, x = a.to_numpy(), np.from_dlpack(a)
    del a
    gc.collect()
    library().collect()
    fill = [hp.random(300, 300, seed=k) for k in range(5)]
    assert equal(x, want)
    del x, fill
    gc.collect()
    assert library().live_handles() == before
    a = hp.random(3, 3)
    a.__dlpack__(), a.__dlpack__(max_version=(1, 0))  # capsules that nobody takes
    for version in (None, (1, 0)):
        with pytest.raises(ZeroDivisionError):
            divided(a.__dlpack__(max_version=version))
    del a
    gc.collect()
    assert library().live_handles() == before


def test_versions_and_flags():
    a = hp.random(2, 2)

    def flags(**arguments):
        capsule = a.__dlpack__(max_version=(1, 1), **arguments)
        assert _dlpack._get_name(capsule) == b"dltensor_versioned"
        return _dlpack._Versioned.from_address(_dlpack._get_pointer(capsule, b"dltensor_versioned")).flags

    assert _dlpack._get_name(a.__dlpack__()) == b"dltensor"
    assert _dlpack._get_name(a.__dlpack__(max_version=(0, 8))) == b"dltensor"
    assert flags() == 0 and flags(copy=False) == 0 and flags(copy=True) == _dlpack._COPIED
    assert flags(dl_device=(1, 0)) == 0
    with pytest.raises(BufferError, match="to_device"):
        a.__dlpack__(dl_device=(2, 0))
    assert np.from_dlpack(a, copy=True).ctypes.data != address(a)


def test_refusals():
    with pytest.raises(BufferError, match="astype"):
        hp.random(2, 2, format="dd").__dlpack__()
    for stream, error in ((1, BufferError), (0, BufferError), ("x", TypeError)):
        with pytest.raises(error):
            hp.random(2, 2).__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="type 4"):
        hp.from_dlpack(Producer(np.ones(3), device=(4, 0)))
    try:
        hp.gpus()
    except DeviceError:
        with pytest.raises(DeviceError):
            hp.from_dlpack(Producer(np.ones(3), device=(2, 0)))


def test_what_came_by_dlpack_goes_on_to_others():
    x = np.arange(6.0).reshape(2, 3)
    a = hp.from_dlpack(x)
    y = np.from_dlpack(a)
    assert y.ctypes.data == x.ctypes.data and y.shape == x.shape
    z = np.from_dlpack(a, copy=True)
    assert z.ctypes.data != x.ctypes.data and equal(x, z)


class Machine:
    """A library whose GPU is the host: it notes what is asked of the GPU."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return getattr(library(), name)

    def cuda_stream(self, device):
        self.calls.append(("cuda_stream", device))
        return 4242

    def _wrapped(self, name, address, args):
        *layout, device = args
        self.calls.append((name, tuple(layout), device))
        return getattr(library(), name.replace("cuda_", ""))(address, *layout, *([None] if "from" in name else []))

    def matrix_wrap_cuda_f64(self, address, *args):
        return self._wrapped("matrix_wrap_cuda_f64", address, args)

    def matrix_from_cuda_f64(self, address, *args):
        return self._wrapped("matrix_from_cuda_f64", address, args)

    def matrix_device(self, handle):
        return "cuda:0"

    def matrix_to_device(self, handle, device):
        self.calls.append(("matrix_to_device", device))
        return library().matrix_clone(handle)

    def matrix_new(self, f, rows, cols, device):
        self.calls.append(("matrix_new", rows, cols, device))
        return library().matrix_new(f, rows, cols, None)


@pytest.fixture
def machine(monkeypatch):
    m = Machine()
    monkeypatch.setattr(_dlpack, "library", lambda: m)
    monkeypatch.setattr(_array, "library", lambda: m)
    return m


def test_tensors_of_a_gpu(machine):
    x = np.arange(24.0).reshape(4, 6)
    for view, layout in (
        (x, (4, 6, 6, 1)),
        (x.T, (6, 4, 1, 6)),
        (x[1:, 2:], (3, 4, 6, 1)),
        (x[0, ::2], (3, 1, 2, 1)),
        (x.reshape(2, 2, 6), (4, 6, 6, 1)),
    ):
        p = Producer(view, (2, 3))
        a = hp.from_dlpack(p)
        assert p.asked == [{"stream": 4242, "max_version": (1, 0)}]  # the producer has this stream wait
        assert machine.calls == [("cuda_stream", b"cuda:3"), ("matrix_wrap_cuda_f64", layout, b"cuda:3")]
        assert a.shape == view.shape and equal(a, view) and a.device == "cuda:3"
        machine.calls.clear()
    old = Producer(x, (2, 0), versioned=False)
    hp.from_dlpack(old)
    assert old.asked == [{"stream": 4242, "max_version": (1, 0)}, {"stream": 4242}]


def test_tensors_of_a_gpu_that_are_copied_there(machine):
    x = np.arange(48.0)
    m, stack, four = x.reshape(6, 8), x.reshape(2, 4, 6), x.reshape(2, 2, 3, 4)
    for view in (m[:, ::2], np.broadcast_to(x[:4], (3, 4)), stack.transpose(1, 0, 2), four[:, :, ::2, ::3]):
        a = hp.from_dlpack(Producer(view, (2, 0)))
        assert a.shape == view.shape and equal(a, view) and a._keep is None
        assert any(c[0] == "matrix_from_cuda_f64" for c in machine.calls)
    assert equal(hp.from_dlpack(Producer(x, (2, 0)), copy=True), x)
    assert hp.from_dlpack(Producer(x[:0], (2, 0))).shape == (0,)
    with pytest.raises(BufferError, match="convert it there"):
        hp.from_dlpack(Producer(np.arange(3), (2, 0)))


def test_results_of_a_gpu_stay_there(machine):
    x = np.arange(6.0).reshape(2, 3)
    p = Producer(x, (2, 0))
    z = hp.matmul(p, Producer(np.ascontiguousarray(x.T), (2, 0)))
    assert isinstance(z, hp.Array) and equal(z, x @ x.T)
    for a, b in ((x, x[0]), (x[:, 0], x)):
        v = hp.matmul(Producer(a, (2, 0)), Producer(b, (2, 0)))
        assert isinstance(v, hp.Array) and equal(v, a @ b)
    assert type(hp.sum(p)) is np.float64
    assert not any(c[0] == "matrix_to_device" for c in machine.calls)
    one = hp.add(p, 1.0)
    assert isinstance(one, hp.Array) and equal(one, x + 1) and ("matrix_to_device", b"cuda:0") in machine.calls
    machine.calls.clear()
    assert equal(hp.from_dlpack(p).reshape(3, 2), x.reshape(3, 2))
    assert machine.calls[-1] == ("matrix_to_device", b"cuda:0")
    with pytest.raises(hp.MisuseError, match="cuda:0 and on the CPU"):
        hp.matmul(p, np.ones((3, 1)))
    with pytest.raises(hp.MisuseError, match="cuda:0 and on cuda:1"):
        hp.matmul(p, Producer(np.ones((3, 2)), (2, 1)))


def test_streams_of_consumers(monkeypatch):
    a = hp.random(2, 2)
    monkeypatch.setattr(_dlpack, "device_of", lambda a: (2, 0))
    for stream in (None, -1, 1, 2, 77, np.int64(5)):
        assert _dlpack._get_name(a.__dlpack__(stream=stream)) == b"dltensor"
    for stream, error in ((0, BufferError), (-2, BufferError), ("1", TypeError), (True, TypeError)):
        with pytest.raises(error):
            a.__dlpack__(stream=stream)
    assert flags_of(a.__dlpack__(dl_device=(1, 0), max_version=(1, 0))) == _dlpack._COPIED
    with pytest.raises(BufferError, match="are a copy"):
        a.__dlpack__(dl_device=(1, 0), copy=False)


def flags_of(capsule):
    return _dlpack._Versioned.from_address(_dlpack._get_pointer(capsule, b"dltensor_versioned")).flags


def test_the_end_of_the_interpreter():
    text = (
        "import numpy as np, halfulp as hp\nx = np.arange(3.0)\na = hp.from_dlpack(x)\nb = np.from_dlpack(hp.random(3, 3))\n"
        "c = hp.random(2, 2).__dlpack__()\nd = hp.random(2, 2).__dlpack__(max_version=(1, 0))\nkeep = [a, b, c, d]\nkeep.append(keep)\nprint('done')"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(q for q in sys.path if q)}
    p = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=env)
    assert (p.returncode, p.stdout, p.stderr) == (0, "done\n", "")


def test_the_structures_are_those_of_dlpack():
    assert (ctypes.sizeof(_dlpack._Tensor), ctypes.sizeof(_dlpack._Managed), ctypes.sizeof(_dlpack._Versioned)) == (48, 64, 80)
