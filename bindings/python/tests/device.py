"""Checks the package on an NVIDIA GPU, with PyTorch: results equal the CPU's, bit for bit.

    python3 tests/device.py RESULT.json [--device cuda:0] [--limit 58]

Every check runs on its own: a failure is noted and the next check follows. RESULT.json, written anew
after each part, has the numbers of checks passed, failed and left out, the failures, and figures.
Checks that would begin after the limit of seconds are left out. With --device cpu the script checks
itself on a machine without a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
import traceback

BEGIN = time.monotonic()

parser = argparse.ArgumentParser(description="checks the package on a GPU")
parser.add_argument("result", help="the file for the results")
parser.add_argument("--device", default="cuda:0")
parser.add_argument("--limit", type=float, default=58.0, help="seconds after which no check begins")
parser.add_argument("--no-torch", action="store_true", help="leave out what needs PyTorch")
ARGS = parser.parse_args()
DEVICE = ARGS.device
GPU = DEVICE != "cpu"

RESULT = {"passed": 0, "failed": 0, "left_out": 0, "seconds": 0.0, "parts": {}, "failures": [], "notes": [], "figures": {}, "machine": {}}


def write():
    RESULT["seconds"] = round(time.monotonic() - BEGIN, 2)
    with open(ARGS.result, "w") as f:
        json.dump(RESULT, f, indent=1)
        f.write("\n")


def left():
    return ARGS.limit - (time.monotonic() - BEGIN)


class Part:
    """The checks of one part."""

    def __init__(self, name):
        self.name, self.counts, self.begin = name, {"passed": 0, "failed": 0, "left_out": 0}, time.monotonic()
        self.slowest = ("", 0.0)

    def count(self, kind, n=1):
        self.counts[kind] += n
        RESULT[kind] += n

    def fail(self, name, error):
        self.count("failed")
        if len(RESULT["failures"]) < 100:
            RESULT["failures"].append({"part": self.name, "check": name, "error": str(error)[-2000:]})

    def check(self, name, f, *args):
        """Runs a check, which fails by an exception or by returning False."""
        if left() < 0:
            self.count("left_out")
            return None
        start = time.monotonic()
        try:
            z = f(*args)
        except Exception:
            self.fail(name, traceback.format_exc())
            z = None
        else:
            if z is False:
                self.fail(name, "the check returned False")
            else:
                self.count("passed")
        if (took := time.monotonic() - start) > self.slowest[1]:
            self.slowest = (name, took)
        return z


@contextlib.contextmanager
def part(name):
    p = Part(name)
    try:
        yield p
    except Exception:
        p.fail("the part as a whole", traceback.format_exc())
    slow, seconds = p.slowest
    RESULT["parts"][name] = {**p.counts, "seconds": round(time.monotonic() - p.begin, 2), "slowest": [slow, round(seconds, 2)]}
    print(f"{name}: {RESULT['parts'][name]}", flush=True)
    write()


write()
try:
    import numpy as np

    import halfulp as hp
    from halfulp._library import call, free, library
except Exception:
    RESULT["failures"].append({"part": "import", "check": "numpy and halfulp", "error": traceback.format_exc()})
    RESULT["failed"] += 1
    write()
    raise
torch = None
if not ARGS.no_torch:
    try:
        import torch

        if GPU and not torch.cuda.is_available():
            raise RuntimeError("torch.cuda is not available")
    except Exception:
        RESULT["failures"].append({"part": "import", "check": "torch", "error": traceback.format_exc()})
        RESULT["failed"] += 1
        torch = None
RESULT["machine"] = {
    "python": sys.version.split()[0],
    "numpy": np.__version__,
    "torch": torch.__version__ if torch else None,
    "halfulp": hp.__version__,
    "processors": os.cpu_count(),
    "import_seconds": round(time.monotonic() - BEGIN, 2),
}
write()


# Comparison.


def bits(x):
    """Returns what a result is made of, whatever holds it: format, shape, and bytes of the numbers."""
    if isinstance(x, hp.Array):
        a = x if x.device == "cpu" else x.to_device("cpu")
        return (a.format.name, a.shape, tuple(p.tobytes() for p in a._parts()))
    if isinstance(x, hp.Scalar):
        return bits(hp.asarray(x))
    if torch is not None and isinstance(x, torch.Tensor):
        return bits(tensor_to_numpy(x))
    if isinstance(x, np.ndarray) and x.dtype in (np.float64, np.float32):
        return ("f64" if x.dtype == np.float64 else "f32", x.shape, (np.ascontiguousarray(x).tobytes(),))
    if isinstance(x, np.ndarray):
        return (x.dtype.str, x.shape, x.tobytes())
    if isinstance(x, np.floating):
        return bits(np.asarray(x))
    if isinstance(x, (tuple, list)):
        return [bits(y) for y in x]
    if hasattr(x, "solve"):  # factors, which a case solves with
        return type(x).__name__
    return repr(x)


def outcome(f, *args):
    """Returns the bits of a result, or the name of the error that it is."""
    try:
        return bits(f(*args))
    except hp.HalfulpError as e:
        return type(e).__name__


def equal(x, y):
    if (a := bits(x)) != (b := bits(y)):
        raise AssertionError(f"{a!r:.400} is not {b!r:.400}")


def tensor_to_numpy(t):
    """Returns the numbers of a tensor, without torch's own bridge to numpy, which old builds lack."""
    t = t.detach().cpu().contiguous()
    return np.array(np.from_dlpack(t))


def tensor(x):
    """Returns a tensor on the device with the numbers of a numpy array."""
    return torch.from_dlpack(np.ascontiguousarray(x)).clone().to(DEVICE)


def address(a):
    """Returns where the numbers of an array lie, and of what GPU (-1: the host)."""
    h, where, _, _, _, gpu = library().matrix_share(a._handle)
    free(h)
    return where, gpu


def refuses(error, f, *args):
    try:
        f(*args)
    except error:
        return True
    raise AssertionError(f"no {error.__name__} was raised")


def numbers(*shape, seed=0, dtype=np.float64):
    r = np.random.default_rng(seed)
    return (r.standard_normal(shape) * 2.0 ** r.integers(-30, 30, shape)).astype(dtype)


# Tensors in and out.


def views(dtype):
    """Yields names, tensors that are used without a copy, and numpy arrays of the same numbers."""
    x = numbers(40, 50, dtype=dtype)
    t = tensor(x)
    stack = numbers(3, 4, 5, dtype=dtype)
    yield "whole", t, x
    yield "transposed", t.T, x.T
    yield "part of rows", t[3:20, 7:31], x[3:20, 7:31]
    yield "part of columns", t.T[3:20, 7:31], x.T[3:20, 7:31]
    yield "row", t[3], x[3]
    yield "column", t[:, 3], x[:, 3]
    yield "strided vector", t[3, 1::3], x[3, 1::3]
    yield "one row", t[4:5], x[4:5]
    yield "one column", t[:, 4:5], x[:, 4:5]
    yield "one number", t[2, 3], x[2, 3]
    yield "stack", tensor(stack), stack


def copied_views(dtype):
    x = numbers(24, 30, dtype=dtype)
    t = tensor(x)
    stack = numbers(3, 4, 6, dtype=dtype)
    s = tensor(stack)
    yield "strided matrix", t[:, ::2], x[:, ::2]
    yield "strided both ways", t[1::2, 1::3], x[1::2, 1::3]
    yield "repeated rows", t[:1].expand(5, 30), np.broadcast_to(x[:1], (5, 30))
    yield "permuted stack", s.permute(1, 0, 2), stack.transpose(1, 0, 2)
    yield "strided stack", s[:, ::2, 1::2], stack[:, ::2, 1::2]


def check_shared(t, x):
    a = hp.from_dlpack(t)
    assert a.device == DEVICE and a.shape == x.shape, (a.device, a.shape)
    assert address(a)[0] == t.data_ptr(), "the numbers were copied"
    equal(a, x)
    back = torch.from_dlpack(a)
    assert back.data_ptr() == t.data_ptr() and tuple(back.shape) == x.shape
    equal(hp.asarray(t), x)
    t.mul_(2)  # in the default stream, without waiting
    equal(a, x * 2)
    t.div_(2)
    before = float(t.reshape(-1)[0])
    a[(0,) * a.ndim if a.ndim else ...] = 4.5
    assert float(t.reshape(-1)[0]) == 4.5, "what is assigned to the array is not seen in the tensor"
    t.reshape(-1)[0:1] = before if t.is_contiguous() else t.reshape(-1)[0:1]
    a[(0,) * a.ndim if a.ndim else ...] = before


def check_copied(t, x):
    a = hp.from_dlpack(t)
    assert a.device == DEVICE and a.shape == x.shape, (a.device, a.shape)
    equal(a, x)
    refuses(BufferError, lambda: hp.from_dlpack(t, copy=False))


def check_exported(shape, f):
    x = np.asarray(numbers(*shape), hp.Format(f).dtype)
    a = hp.array(x, device=DEVICE)
    t = torch.from_dlpack(a)
    assert str(t.device) == DEVICE and tuple(t.shape) == shape, (t.device, t.shape)
    equal(t, x)
    if x.size:
        assert t.data_ptr() == address(a)[0], "the numbers were copied"
        t.add_(1)
        equal(a, x + 1)


def check_freed():
    """The memory of a tensor outlives the tensor, and the memory of an array outlives the array."""
    x = numbers(300, 300)
    t = tensor(x)
    a = hp.from_dlpack(t)
    where = t.data_ptr()
    del t
    gc.collect()
    others = [torch.full((300, 300), 7.0, dtype=torch.float64, device=DEVICE) for _ in range(20)]
    assert all(o.data_ptr() != where for o in others), "the memory was given to another tensor"
    equal(a, x)
    product = hp.matmul(a, a)
    want = hp.matmul(x, x)
    y = torch.from_dlpack(product)
    del a, product
    gc.collect()
    for k in range(20):  # which would take memory that is free
        hp.matmul(others[k], others[k])
    equal(y, want)


def check_chain():
    """Products of tensors, without a copy between them."""
    x, y = numbers(200, 150), numbers(150, 170)
    c = hp.matmul(tensor(x), tensor(y))
    c = c if GPU else hp.asarray(c)  # numpy's numbers of the CPU's
    assert isinstance(c, hp.Array) and c.device == DEVICE
    want = hp.matmul(x, y)
    equal(c, want)
    t = torch.from_dlpack(c)
    assert t.data_ptr() == address(c)[0]
    equal(hp.matmul(t, tensor(y.T)), hp.matmul(want, np.ascontiguousarray(y.T)))
    equal(hp.matmul(tensor(x), tensor(y), prec=200), hp.matmul(hp.array(x), hp.array(y), prec=200))
    equal(hp.matmul(tensor(x).T, tensor(x)), hp.matmul(x.T, x))
    equal(hp.sum(tensor(x)), hp.sum(x))


def check_threads():
    x = [numbers(60, 60, seed=k) for k in range(4)]
    want = [hp.matmul(a, a) for a in x]
    tensors = [tensor(a) for a in x]
    wrong = []

    def work(k):
        try:
            for _ in range(25):
                equal(torch.from_dlpack(hp.matmul(tensors[k], tensors[k])), want[k])
        except Exception:
            wrong.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong[0]


def check_versions():
    a = hp.array(numbers(3, 3), device=DEVICE)
    assert a.__dlpack_device__() == ((2, int(DEVICE.split(":")[1])) if GPU else (1, 0))
    streams = (None, -1, 1, 2, torch.cuda.current_stream().cuda_stream or 1) if GPU else (None,)
    for stream in streams:
        for version in (None, (1, 0)):
            a.__dlpack__(stream=stream, max_version=version)  # nobody takes it
    if GPU:
        refuses(BufferError, lambda: a.__dlpack__(stream=0))
        h = a.__dlpack__(max_version=(1, 0), dl_device=(1, 0))
        del h
        if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
            equal(np.from_dlpack(a, device="cpu"), a)


def check_refusals():
    t = tensor(numbers(4, 4))
    if GPU:
        refuses(BufferError, lambda: hp.asarray(torch.ones(3, dtype=torch.int64, device=DEVICE)))
        refuses(BufferError, lambda: hp.asarray(torch.ones(3, dtype=torch.float16, device=DEVICE)))
        refuses(hp.MisuseError, lambda: hp.matmul(t, np.ones((4, 4))))
        refuses(hp.MisuseError, lambda: hp.linalg.solve(t, np.ones(4)))
    refuses((RuntimeError, BufferError), lambda: hp.asarray(t.requires_grad_()))  # torch says what to do
    refuses(BufferError, lambda: hp.array([1, 2], "dd", device=DEVICE).__dlpack__())
    equal(hp.array(tensor(numbers(2, 2)), device="cpu"), numbers(2, 2))


def tensors():
    with part("tensors") as p:
        for dtype in (np.float64, np.float32):
            for name, t, x in views(dtype):
                p.check(f"{name} {np.dtype(dtype)} without a copy", check_shared, t, x)
            for name, t, x in copied_views(dtype):
                p.check(f"{name} {np.dtype(dtype)} with a copy", check_copied, t, x)
        for shape in ((), (5,), (4, 6), (1, 7), (7, 1), (2, 3, 4), (0,), (0, 3)):
            for f in ("f64", "f32"):
                p.check(f"array of shape {shape} in {f} to torch", check_exported, shape, f)
        p.check("memory that was freed", check_freed)
        p.check("products of tensors", check_chain)
        p.check("four threads", check_threads)
        p.check("versions and streams", check_versions)
        p.check("refusals", check_refusals)


# Streams.

N = 256


def busy(cycles=300_000_000):
    """Puts work of some tenths of a second into torch's current stream."""
    torch.cuda._sleep(cycles)


def check_producer_stream():
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        t = torch.zeros((N, N), dtype=torch.float64, device=DEVICE)
        s.synchronize()
        busy()
        t.fill_(3.0)
        assert not s.query(), "nothing is in flight"
        total = hp.sum(t)
    assert total == 3.0 * N * N, total


def check_default_stream_after_import():
    t = torch.zeros((N, N), dtype=torch.float64, device=DEVICE)
    a = hp.from_dlpack(t)
    torch.cuda.synchronize()
    busy()
    t.fill_(3.0)
    assert not torch.cuda.current_stream().query(), "nothing is in flight"
    assert float(hp.sum(a)) == 3.0 * N * N


def check_overwritten_after_call():
    x, y = numbers(N, N), numbers(N, N, seed=1)
    want = hp.matmul(x, y)
    t, u = tensor(x), tensor(y)
    s = torch.cuda.Stream()
    torch.cuda.synchronize()
    for _ in range(5):
        c = hp.matmul(t, u)
        with torch.cuda.stream(s):
            t.zero_()
        equal(c, want)
        with torch.cuda.stream(s):
            t.copy_(tensor(x))
        torch.cuda.synchronize()


def check_consumer_stream():
    x = numbers(N, N)
    want = hp.matmul(x, x)
    t = tensor(x)
    torch.cuda.synchronize()
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        y = torch.from_dlpack(hp.matmul(t, t))
        z = y * 2
    s.synchronize()
    equal(z, want * 2)


def check_freed_with_reads_in_flight():
    x, other = numbers(N, N), numbers(N, N, seed=5)
    want = hp.matmul(x, x)
    t, u = tensor(x), tensor(other)
    torch.cuda.synchronize()
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        y = torch.from_dlpack(hp.matmul(t, t))
        busy()
        z = y.clone()
        assert not s.query(), "nothing is in flight"
        del y
    gc.collect()
    for _ in range(10):  # which would take the memory
        hp.matmul(u, u)
    s.synchronize()
    equal(z, want)


def streams():
    with part("streams") as p:
        p.check("work in flight in the producer's stream", check_producer_stream)
        p.check("work in flight in the default stream at a later call", check_default_stream_after_import)
        p.check("a tensor overwritten right after a call", check_overwritten_after_call)
        p.check("a consumer with a stream of its own", check_consumer_stream)
        p.check("an array freed with reads in flight", check_freed_with_reads_in_flight)


# Speed.


def medians(f, times=5):
    f()
    took = []
    for _ in range(times):
        synchronize()
        start = time.perf_counter()
        f()
        synchronize()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def synchronize():
    if GPU:
        torch.cuda.synchronize()


def speed(n=4096):
    with part("speed") as p:
        if GPU:
            a, b = (torch.randn((n, n), dtype=torch.float64, device=DEVICE) for _ in range(2))
        else:
            a, b = (tensor(numbers(n, n, seed=k)) for k in range(2))

        def rows():
            c = torch.from_dlpack(hp.matmul(a, b))
            equal(tensor_to_numpy(c[:2]), hp.matmul(tensor_to_numpy(a[:2]), tensor_to_numpy(b)))

        def clocked():
            mine, theirs = medians(lambda: hp.matmul(a, b)), medians(lambda: torch.matmul(a, b))
            RESULT["figures"][f"matmul float64 {n} x {n}"] = {"halfulp_s": mine, "torch_s": theirs, "ratio": mine / theirs}

        def small():
            t = tensor(numbers(8, 8))
            RESULT["figures"]["matmul float64 8 x 8 of tensors"] = {"halfulp_s": medians(lambda: [hp.matmul(t, t) for _ in range(100)]) / 100}
            RESULT["figures"]["from_dlpack"] = {"halfulp_s": medians(lambda: [hp.from_dlpack(t) for _ in range(100)]) / 100}

        p.check(f"rows of a product of order {n}", rows)
        p.check(f"times of a product of order {n}", clocked)
        p.check("times of small calls", small)


# Memory.


def memory(calls=10_000, seconds=12.0):
    with part("memory") as p:
        t = tensor(numbers(8, 8))
        a = hp.array(numbers(8, 8), device=DEVICE)
        x = numbers(8, 8)
        want = bits(hp.matmul(x, x))
        wanted = {"tensor": bits(hp.matmul(t, t)), "array": bits(a @ a)}

        def once(k):
            if k % 4 == 0:
                z = torch.from_dlpack(hp.matmul(t, t))
                assert k % 1000 or bits(z) == wanted["tensor"]
            elif k % 4 == 1:
                z = a @ a
                assert k % 1000 != 1 or bits(z) == wanted["array"]
            elif k % 4 == 2:
                hp.sum(t), hp.from_dlpack(t), hp.linalg.norm(a)
            else:
                with hp.options(device=DEVICE):
                    z = hp.matmul(x, x)
                assert k % 1000 != 3 or bits(z) == want

        def grows():
            for k in range(200):
                once(k)
            gc.collect()
            synchronize()
            before, handles = (torch.cuda.mem_get_info()[0] if GPU else 0), library().live_handles()
            start, done = time.monotonic(), 0
            while done < calls and time.monotonic() - start < seconds and left() > 0:
                once(done)
                done += 1
            gc.collect()
            synchronize()
            after, handles_after = (torch.cuda.mem_get_info()[0] if GPU else 0), library().live_handles()
            RESULT["figures"]["small calls"] = {
                "calls": done,
                "seconds": time.monotonic() - start,
                "free_before": before,
                "free_after": after,
                "handles_before": handles,
                "handles_after": handles_after,
            }
            assert before - after <= 4 << 20, f"{before - after} bytes of device memory are gone after {done} calls"
            assert handles_after == handles, f"{handles} handles became {handles_after}"
            if done < calls:
                RESULT["notes"].append(f"memory: {done} of {calls} calls in {seconds} s")

        def large():
            u = tensor(numbers(512, 512))
            for _ in range(20):
                torch.from_dlpack(hp.matmul(u, u))
            synchronize()
            before = torch.cuda.mem_get_info()[0] if GPU else 0
            for _ in range(100):
                torch.from_dlpack(hp.matmul(u, u))
            synchronize()
            after = torch.cuda.mem_get_info()[0] if GPU else 0
            assert before - after <= 4 << 20, f"{before - after} bytes of device memory are gone"

        p.check(f"{calls} small calls", grows)
        p.check("100 products of order 512", large)


# Other processes.

WORK = """
import hashlib, sys, time
import halfulp as hp
device = sys.argv[1]
def work(device):
    h = hashlib.sha256()
    with hp.options(device=device):
        for k in range(30):
            a = hp.random(160, 160, seed=k, spread=20)
            h.update((a @ a).to_numpy().tobytes())
            h.update(hp.linalg.solve(a[:40, :40], a[:40, 0]).to_numpy().tobytes())
            b = a.to_device(device)
            h.update((b @ b).to_numpy().tobytes())
    return h.hexdigest()
if __name__ == "__main__":
    work(device)
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.time()
    digest = work(device)
    print(digest, start, time.time(), flush=True)
"""

INTERRUPTED = """
import sys, time
import halfulp as hp
device = sys.argv[1]
with hp.options(device=device):
    a = hp.random(400, 400, format="mp:30000")
    hp.sum(a)
    print("ready", flush=True)
    calls, begun = 0, time.time()
    try:
        while True:
            begun = time.time()
            hp.linalg.inv(a)
            calls += 1
    except KeyboardInterrupt:
        print("interrupted", time.time(), calls, time.time() - begun, flush=True)
    b = hp.random(20, 20, seed=3)
    print((b @ b).to_numpy().tobytes() == hp.matmul(b, b).to_numpy().tobytes(), flush=True)
"""

FIRST = """
import sys
import numpy as np
import halfulp as hp
device = sys.argv[1]
a = hp.array(np.arange(12.0).reshape(3, 4), device=device)  # halfulp makes the context
b = a @ hp.array(np.ones((4, 2)), device=device)
import torch
t = torch.from_dlpack(b)
u = t @ torch.ones((2, 2), dtype=torch.float64, device=device)
c = hp.asarray(hp.matmul(u, t.T))
print(c.to_numpy().tolist() == (2 * np.arange(12.0).reshape(3, 4).sum(1)[:, None] * np.arange(12.0).reshape(3, 4).sum(1) * 2).tolist())
"""


class Child:
    """Another process of Python."""

    def __init__(self, text):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", text, DEVICE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )

    def end(self):
        """Returns what the process has printed since, within the time that is left."""
        try:
            out, err = self.process.communicate(timeout=min(15.0, max(1.0, left() + 8)))
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"the process did not end: {out} {err}") from None
        assert self.process.returncode == 0, f"status {self.process.returncode}: {out} {err}"
        return out.split("\n")


class Processes:
    """Processes that use the GPU at the same time as this one."""

    def __init__(self):
        self.pair = [Child(WORK) for _ in range(2)]
        self.first = Child(FIRST) if torch is not None else None
        self.interrupted = Child(INTERRUPTED)
        self.sent = 0.0
        self.threads = [threading.Thread(target=self._release, daemon=True), threading.Thread(target=self._interrupt, daemon=True)]
        for t in self.threads:
            t.start()

    def _release(self):
        for c in self.pair:
            c.process.stdout.readline()
        for c in self.pair:
            with contextlib.suppress(OSError):
                c.process.stdin.write("go\n")
                c.process.stdin.flush()

    def _interrupt(self):
        if self.interrupted.process.stdout.readline() == "ready\n":
            time.sleep(1.5)
            self.sent = time.time()
            self.interrupted.process.send_signal(signal.SIGINT)

    def collect(self):
        with part("processes") as p:
            for t in self.threads:
                t.join(timeout=max(1.0, left() + 5))

            def at_once():
                namespace = {"__name__": "work"}
                argv, sys.argv = sys.argv, ["work", "cpu"]
                try:
                    exec(WORK, namespace)
                    want = namespace["work"]("cpu")
                finally:
                    sys.argv = argv
                spans = []
                for c in self.pair:
                    digest, start, end = c.end()[0].split()
                    assert digest == want, f"the bits differ: {digest}, {want}"
                    spans.append((float(start), float(end)))
                together = min(e for _, e in spans) - max(s for s, _ in spans)
                RESULT["figures"]["two processes"] = {"seconds_together": together, "spans": [e - s for s, e in spans]}
                assert together > 0, "the processes did not run at the same time"

            def interrupt():
                out = self.interrupted.end()
                word, when, calls, after = out[0].split()
                RESULT["figures"]["Ctrl-C"] = {"seconds_until_raised": float(when) - self.sent, "calls_before": int(calls), "in_call_for_s": float(after)}
                assert word == "interrupted" and out[1] == "True", out
                assert float(when) - self.sent < 3, f"the call went on for {float(when) - self.sent} s"

            p.check("two processes at once", at_once)
            p.check("Ctrl-C in a long call", interrupt)
            if self.first is not None:
                p.check("halfulp before torch", lambda: self.first.end()[0] == "True")

    def kill(self):
        for c in (*self.pair, self.interrupted, self.first):
            if c is not None and c.process.poll() is None:
                c.process.kill()


# Every routine.


def operands(f, n):
    """Returns operands of a format by their names."""
    exact = lambda x: hp.array(np.asarray(x, float), f)  # noqa: E731
    a, b = hp.random(n, n, seed=1, spread=3, format=f), hp.random(n, n + 3, seed=2, spread=3, format=f)
    symmetric = np.random.default_rng(7).integers(-9, 9, (n, n))
    symmetric = symmetric + symmetric.T
    wide = np.random.default_rng(8).integers(-3, 4, (n // 2, n))
    triangle = np.tril(np.random.default_rng(9).integers(1, 9, (n, n)))
    special = np.resize([0.0, -0.0, 1.5, -2.25, np.inf, 3.0, -1e-5], (4, 7))
    return {
        "a": a, "b": b, "a2": hp.random(n, n, seed=3, spread=3, format=f), "v": hp.random(n, 1, seed=4, format=f).reshape(n),
        "w": hp.random(n, 1, seed=5, format=f).reshape(n), "tall": hp.random(2 * n, n // 2, seed=6, format=f),
        "c": hp.random(2 * n, 1, seed=7, format=f).reshape(2 * n), "s": exact(symmetric), "p": exact(symmetric @ symmetric + np.eye(n)),
        "wide": exact(wide), "l": exact(triangle), "singular": exact(np.vstack([wide, wide])), "k": hp.random(6, 4, seed=8, format=f).reshape(2, 3, 4),
        "q": hp.random(8, 4, seed=9, format=f).reshape(2, 4, 4), "x": exact(special), "positive": exact(np.arange(1.0, 13).reshape(3, 4)),
        "small": exact(np.random.default_rng(10).integers(-4, 5, (6, 6)) / 8),
    }  # fmt: skip


def cases():
    """Returns names of cases, functions of operands, and the names of these."""
    la = hp.linalg
    z = [
        ("sum", hp.sum, "a"), ("sum of axis 0", lambda a: hp.sum(a, axis=0), "a"), ("sum of axis 1", lambda a: hp.sum(a, axis=1, keepdims=True), "a"),
        ("sum of infinities", hp.sum, "x"), ("sum of a stack", hp.sum, "k"), ("mean", hp.mean, "a"), ("std", lambda v: hp.std(v, ddof=1), "v"),
        ("dot", hp.dot, "v w"), ("vecdot", hp.vecdot, "a a2"), ("outer", hp.outer, "v w"), ("trace", hp.trace, "a"), ("diagonal", hp.diagonal, "a"),
        ("matmul", hp.matmul, "a b"), ("matmul of a vector", hp.matmul, "a v"), ("a vector times a matrix", hp.matmul, "v a"),
        ("matmul of vectors", hp.matmul, "v w"), ("matmul of stacks", hp.matmul, "k q"), ("matmul of transposes", lambda a, b: hp.matmul(a.T, b), "a b"),
        ("matmul in dd", lambda a, b: hp.matmul(a, b, format="dd"), "a b"), ("matmul in f32", lambda a, b: hp.matmul(a, b, format="f32"), "a b"),
        ("matmul in 200 bits", lambda a, b: hp.matmul(a, b, prec=200), "a b"), ("matmul of infinities", lambda x, p: hp.matmul(x.T, x), "x p"),
        ("add", hp.add, "a a2"), ("subtract", hp.subtract, "a a2"), ("multiply", hp.multiply, "a a2"), ("divide", hp.divide, "a a2"),
        ("add a number", lambda a: hp.add(a, 1.5), "a"), ("add a row", hp.add, "a v"), ("negative", hp.negative, "a"), ("abs", hp.abs, "a"),
        ("sqrt", hp.sqrt, "positive"), ("reshape", lambda k: hp.reshape(k, (4, 6)), "k"), ("permute_dims", lambda k: hp.permute_dims(k, (2, 0, 1)), "k"),
        ("flip", hp.flip, "a"), ("roll", lambda a: hp.roll(a, 2), "a"), ("concat", lambda a, b: hp.concat([a, b], axis=1), "a b"),
        ("stack", lambda a, b: hp.stack([a, b]), "a a2"), ("matrix_transpose", hp.matrix_transpose, "a"), ("broadcast_to", lambda v: hp.broadcast_to(v, (3, v.shape[0])), "v"),
        ("squeeze", lambda a: hp.squeeze(hp.expand_dims(a, axis=0)), "a"), ("moveaxis", lambda k: hp.moveaxis(k, 0, 2), "k"),
        ("vander", lambda v: hp.vander(v, 5), "v"),
        ("solve", la.solve, "a b"), ("solve of a vector", la.solve, "a v"), ("solve of a singular system", la.solve, "singular v"),
        ("solve in 300 bits", lambda a, v: la.solve(a, v, prec=300), "a v"), ("solve of stacks", la.solve, "q q"), ("inv", la.inv, "a"),
        ("inv of a stack", la.inv, "q"), ("inv of a singular matrix", la.inv, "singular"), ("det", la.det, "a"), ("det of a singular matrix", la.det, "singular"),
        ("det of a stack", la.det, "q"), ("slogdet", la.slogdet, "a"), ("lstsq", la.lstsq, "tall c"), ("lstsq with weights", lambda t, c: la.lstsq(t, c, weights=hp.abs(c)), "tall c"),
        ("lstsq of a wide matrix", lambda t, v: la.lstsq(t.T, v[: t.shape[1]]), "tall v"), ("cholesky", la.cholesky, "p"),
        ("cholesky upper", lambda p: la.cholesky(p, upper=True), "p"), ("cholesky of an indefinite matrix", la.cholesky, "s"), ("qr", la.qr, "tall"), ("lu", la.lu, "a"),
        ("eigh", la.eigh, "s"), ("eigh of a triangle", lambda a: la.eigh(a, "U", subset_by_index=(1, 2)), "a"), ("eigvalsh", la.eigvalsh, "s"),
        ("eigh of two matrices", la.eigh, "s p"), ("svd", la.svd, "tall"), ("thin svd", lambda t: la.svd(t, False), "tall"), ("part of svd", lambda t: la.svd(t.T, k=2), "tall"), ("svdvals", la.svdvals, "wide"),
        ("pinv", la.pinv, "tall"), ("pinv exactly", lambda a: la.pinv(a, 0), "singular"), ("pinv of a tolerance", lambda a: la.pinv(a, 0.3), "tall"), ("polar", la.polar, "a"),
        ("polar left", lambda t: la.polar(t.T, "left"), "tall"), ("symfunc", lambda p: la.symfunc("sqrt", p), "p"), ("lstsq of a tolerance", lambda t, c: la.lstsq(t, c, 0.3), "tall c"),
        ("norm 2", lambda a: la.norm(a, 2), "a"), ("norm -2", lambda a: la.norm(a, -2), "a"), ("cond 2", la.cond, "a"), ("exact rank", lambda a: la.matrix_rank(a, 0), "singular"),
        ("rank of a bound", lambda a: la.matrix_rank(a, 0.5), "a"), ("eigvalsh_tridiagonal", lambda v: la.eigvalsh_tridiagonal(v, v[1:]), "v"), ("polyroots_real", hp.polynomial.polyroots_real, "v"),
        ("ldl", la.ldl, "s"), ("matrix_power", lambda a: la.matrix_power(a, 5), "a"), ("expm", la.expm, "small"), ("null_space", la.null_space, "wide"),
        ("norm", la.norm, "a"), ("norm 1", lambda a: la.norm(a, 1), "a"), ("norm inf", lambda a: la.norm(a, np.inf), "a"), ("vector_norm", la.vector_norm, "v"),
        ("vector_norm 1", lambda v: la.vector_norm(v, ord=1), "v"), ("norms of columns", lambda a: la.vector_norm(a, axis=0), "a"),
        ("cond", lambda a: la.cond(a, 1), "a"), ("cond inf", lambda a: la.cond(a, np.inf), "a"), ("matrix_rank", la.matrix_rank, "singular"),
        ("solve_triangular", lambda m, v: la.solve_triangular(m, v, lower=True), "l b"), ("solve_triangular transposed", lambda m, v: la.solve_triangular(m, v, lower=True, trans="T"), "l v"),
        ("multi_dot", lambda a, b: la.multi_dot([a, b]), "a b"), ("verify.product", lambda a, b: hp.verify.product(a, b, hp.matmul(a, b)), "a b"),
        ("verify.solution", lambda a, b: hp.verify.solution(a, b, b), "a b"),
    ]  # fmt: skip
    arrays = [
        ("operators", lambda a, b: [a + b, a - b, a * b, a / b, -a, abs(a), a @ b], "a a2"), ("comparisons", lambda a, b: [a == b, a < b, a >= b], "a a2"),
        ("transpose", lambda a: a.T, "a"), ("entries", lambda a: [a[1, 2], a[1], a[:, 2], a[1:3, ::2]], "a"), ("astype", lambda a: [a.astype("dd"), a.astype("f32"), a.astype("mp:77")], "a"),
        ("copy", lambda a: a.copy(), "a"), ("tolist", lambda a: a.tolist(), "small"), ("text", lambda a: repr(a), "x"), ("assignment", assigned, "a"),
        ("factors", lambda a, v: la.lu_factor(a).solve(v), "a v"), ("factors of Cholesky", lambda p, v: la.cho_factor(p).solve(v), "p v"),
        ("pickle", lambda a: __import__("pickle").loads(__import__("pickle").dumps(a)), "a"),
    ]  # fmt: skip
    return z, arrays


def assigned(a):
    b = a.copy()
    b[0, 1] = 3
    b[2] = 5
    b[1:3, 1:3] = [[1, 2], [3, 4]]
    return b


def others(o):
    """Yields functions of the package that no case has, which take one operand or two of these."""
    covered = set(
        """sum mean std dot vecdot outer trace diagonal matmul add subtract multiply divide negative abs sqrt reshape permute_dims flip
        roll concat stack matrix_transpose broadcast_to squeeze expand_dims moveaxis vander solve inv det slogdet lstsq cholesky eigh eigvalsh eigvalsh_tridiagonal svd svdvals pinv polar symfunc qr lu ldl
        matrix_power expm null_space norm vector_norm matrix_norm cond matrix_rank solve_triangular multi_dot concatenate transpose
        array asarray from_dlpack eye full hilbert load save ones random zeros gpus options version mp""".split()
    )
    for prefix, module in (("", hp), ("linalg.", hp.linalg)):
        for name in sorted(module.__all__):
            f = getattr(module, name, None)
            if name.startswith("_") or name in covered or not callable(f) or isinstance(f, type) or "random" in name:
                continue
            covered.add(name)
            for names in ("positive", "small", "v", "a", "p", "v w", "positive positive", "p v", "k"):
                args = [o[k] for k in names.split()]
                try:
                    f(*args)
                except Exception:
                    continue
                yield prefix + name, f, names
                break
            else:
                RESULT["notes"].append(f"no operands are known for {prefix}{name}")


def on_device(f, *args):
    with hp.options(device=DEVICE):
        return f(*args)


def moved(a):
    return a.to_device(DEVICE)


def plain(a):
    """Returns a numpy array of the same numbers."""
    return a.to_numpy(a.format.dtype)


def routine(f, args):
    """Compares a routine of arrays with the CPU's: operands of the host computed on the device, and operands that live there."""
    want = outcome(f, *args)
    errors = []
    for what, got in (("operands of the host", outcome(on_device, f, *args)), ("operands of the device", outcome(f, *(moved(a) for a in args)))):
        if got != want:
            errors.append(f"{what}: {got!r:.700}\nwant {want!r:.700}")
    assert not errors, "\n".join(errors)


def of_tensors(f, args):
    """Compares a routine on tensors with the routine on numpy's arrays."""
    want = outcome(f, *(plain(a) for a in args))
    got = outcome(f, *(tensor(plain(a)) for a in args))
    assert got == want, f"{got!r:.700}\nwant {want!r:.700}"


FIRST_ORDERS = (("f64", 24), ("mp:200", 16), ("f32", 16))
MORE_ORDERS = (("dd", 12), ("qd", 10), ("td", 8), ("f64", 160), ("mp:1000", 20))


def routines(orders):
    first, arrays = cases()
    for f, n in orders:
        with part(f"routines in {f}, order {n}") as p:
            if left() < 0:
                p.count("left_out", len(first) + len(arrays))
                continue
            o = operands(f, n)
            more = list(others(o)) if (f, n) == FIRST_ORDERS[0] else []
            for name, g, names in first + arrays + more:
                p.check(f"{name} ({names}) in {f}, order {n}", routine, g, [o[k] for k in names.split()])
            if torch is None or f not in ("f64", "f32"):
                continue
            for name, g, names in first:
                p.check(f"{name} ({names}) of tensors in {f}, order {n}", of_tensors, g, [o[k] for k in names.split()])


def main():
    if GPU:
        with part("the GPU") as p:
            RESULT["machine"]["gpus"] = p.check("hp.gpus", hp.gpus)
            p.check("first use", lambda: equal(hp.array(np.ones((3, 3)), device=DEVICE), np.ones((3, 3))))
    if torch is not None:
        tensors()
        if GPU:
            streams()
            speed()
        else:
            speed(300)
        memory(calls=10_000 if GPU else 2000)
    processes = Processes()
    try:
        routines(FIRST_ORDERS)
        processes.collect()
        routines(MORE_ORDERS)
    finally:
        processes.kill()
    write()
    print(json.dumps({k: RESULT[k] for k in ("passed", "failed", "left_out", "seconds", "figures", "notes")}, indent=1))
    for f in RESULT["failures"][:20]:
        print(f"FAILED {f['part']}: {f['check']}\n{f['error']}", flush=True)
    return 1 if RESULT["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
