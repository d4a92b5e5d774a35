"""Times calls of the Python package.

A line "time CALLS NAME" on standard input is answered by the nanoseconds that so many calls take,
of processor time and by the clock; "memory" by the bytes of resident memory and the live handles.
"""

import gc
import sys
import time

import halfulp as hp
from halfulp._library import library


def of(rows, cols, format):
    return hp.random(rows, cols, seed=1 + cols, format=format)


x4, x8, a8, a1000 = (of(*shape, "f64").to_numpy() for shape in ((4, 1), (8, 1), (8, 8), (1000, 1000)))
x4, x8 = x4.ravel(), x8.ravel()
wide4, wide8, wide = of(4, 1, "mp:424").ravel(), of(8, 1, "mp:424").ravel(), of(8, 8, "mp:424")
array4, array8, array = hp.array(x4), hp.array(x8), hp.array(a8)

calls = {
    "dot 4, arrays": lambda: hp.dot(x4, x4),
    "gemv 8, arrays": lambda: hp.matmul(a8, x8),
    "gemm 8, arrays": lambda: hp.matmul(a8, a8),
    "solve 8, arrays": lambda: hp.linalg.solve(a8, x8),
    "dot 4": lambda: hp.dot(array4, array4),
    "gemv 8": lambda: hp.matmul(array, array8),
    "gemm 8": lambda: hp.matmul(array, array),
    "solve 8": lambda: hp.linalg.solve(array, array8),
    "dot 4, mp:424": lambda: hp.dot(wide4, wide4),
    "gemm 8, mp:424": lambda: hp.matmul(wide, wide),
    "solve 8, mp:424": lambda: hp.linalg.solve(wide, wide8),
    "gemm 1000, arrays": lambda: hp.matmul(a1000, a1000),
}


def timed(name, count):
    f = calls[name]
    for _ in range(count // 2):  # caches are filled
        f()
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    for _ in range(count):
        f()
    return time.process_time_ns() - cpu, time.perf_counter_ns() - wall


for line in sys.stdin:
    command, *words = line.split(maxsplit=2)
    if command == "memory":
        gc.collect()
        with open("/proc/self/statm") as file:
            print(int(file.read().split()[1]) * 4096, library().live_handles(), flush=True)
    elif words and words[-1].strip() in calls:
        print(*timed(words[1].strip(), int(words[0])), flush=True)
    else:
        print("no such call", flush=True)
