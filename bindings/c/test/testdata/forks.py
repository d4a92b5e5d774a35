"""Processes of multiprocessing that are forked after the first call of the BLAS."""
import concurrent.futures
import multiprocessing
import sys

import numpy as np


def products(seed):
    a, b = np.random.default_rng(seed).standard_normal((2, 60, 60))
    return a @ b, np.linalg.solve(a, b), (a[0] * 1e16) @ b[0], (a.astype(np.float32)[1:] @ b[1])[::3]


def same(p, q):
    return all(x.tobytes() == y.tobytes() for x, y in zip(p, q, strict=True))


def main():
    with open("/proc/self/maps") as maps:
        if "libhalfulpblas" not in maps.read():
            print("this NumPy has a BLAS of its own")
            sys.exit(3)
    x = np.array([1e16, 1.0, -1e16])
    assert x @ np.ones(3) == 1.0
    want = [products(seed) for seed in range(8)]
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        got = pool.map(products, range(8))
    assert all(map(same, got, want)), "Pool"
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        got = list(pool.map(products, range(8)))
    assert all(map(same, got, want)), "ProcessPoolExecutor"
    try:
        import joblib
    except ImportError:
        pass
    else:
        got = joblib.Parallel(n_jobs=2, backend="multiprocessing")(joblib.delayed(products)(seed) for seed in range(4))
        assert all(map(same, got, want[:4])), "joblib"
    print("passed")


if __name__ == "__main__":
    main()
