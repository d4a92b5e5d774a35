# Times spectra in other programs. Reads commands, one a line, and answers each with one line: the
# seconds of a run, or "no" and the reason.
#   load FILE          a float64 matrix, .npy
#   time METHOD BITS SECONDS   METHOD of the functions below; the answer also has the seconds of
#       processor time, and the process ends without an answer once they exceed SECONDS
#   version
import signal
import sys
import time

a = None


def numpy_eigvalsh(bits):
    import numpy
    return lambda: numpy.linalg.eigvalsh(a)


def numpy_eigh(bits):
    import numpy
    return lambda: numpy.linalg.eigh(a)


def numpy_svdvals(bits):
    import numpy
    return lambda: numpy.linalg.svd(a, compute_uv=False)


def numpy_svd(bits):
    import numpy
    return lambda: numpy.linalg.svd(a)


def numpy_matmul(bits):
    return lambda: a @ a


def scipy_eigh_hilbert(bits):
    import scipy.linalg
    b = scipy.linalg.hilbert(len(a))
    return lambda: scipy.linalg.eigh(a, b)


def on_gpu(f):
    import torch
    x = torch.tensor(a, dtype=torch.float64, device="cuda")

    def run():
        f(torch, x)
        torch.cuda.synchronize()
    return run


def torch_eigh(bits):
    return on_gpu(lambda torch, x: torch.linalg.eigh(x))


def torch_eigvalsh(bits):
    return on_gpu(lambda torch, x: torch.linalg.eigvalsh(x))


def torch_matmul(bits):
    return on_gpu(lambda torch, x: x @ x)


def mpmath_matrix(bits):
    import mpmath
    mpmath.mp.prec = bits
    return mpmath, mpmath.matrix(a.tolist())


def mpmath_eigsy(bits):
    mpmath, x = mpmath_matrix(bits)
    return lambda: mpmath.eigsy(x)


def mpmath_eigsy_values(bits):
    mpmath, x = mpmath_matrix(bits)
    return lambda: mpmath.eigsy(x, eigvals_only=True)


def mpmath_svd_r(bits):
    mpmath, x = mpmath_matrix(bits)
    return lambda: mpmath.svd_r(x)


def mpmath_svd_r_values(bits):
    mpmath, x = mpmath_matrix(bits)
    return lambda: mpmath.svd_r(x, compute_uv=False)


def flint_matrix(bits):
    import flint
    flint.ctx.prec = bits
    return flint.acb_mat(a.tolist())


def flint_eig(bits):
    x = flint_matrix(bits)
    return lambda: x.eig(right=True)


def flint_eig_values(bits):
    x = flint_matrix(bits)
    return lambda: x.eig()


def flint_eig_values_approximate(bits):
    x = flint_matrix(bits)
    return lambda: x.eig(algorithm="approx")


def flint_eig_approximate(bits):
    x = flint_matrix(bits)
    return lambda: x.eig(right=True, algorithm="approx")


def version():
    out = []
    for name in "numpy", "mpmath", "flint", "torch":
        try:
            module = __import__(name)
            out.append(name + " " + module.__version__ + (" (" + module.libmp.BACKEND + ")" if name == "mpmath" else ""))
        except ImportError:
            pass
    return ", ".join(out)


for line in sys.stdin:
    words = line.split()
    try:
        if words[0] == "load":
            import numpy
            a = numpy.load(words[1])
            answer = "loaded"
        elif words[0] == "version":
            answer = version()
        else:
            run = globals()[words[1]](int(words[2]))
            if words[1].startswith("torch"):
                run()
            begin, spent = time.perf_counter(), time.process_time()
            signal.setitimer(signal.ITIMER_PROF, float(words[3]))  # the signal ends a process
            run()
            signal.setitimer(signal.ITIMER_PROF, 0)
            answer = "%r %r" % (time.perf_counter() - begin, time.process_time() - spent)
    except Exception as e:
        answer = "no " + type(e).__name__ + ": " + str(e).split("\n")[0]
    print(answer, flush=True)
