"""Calls that must leave nothing behind: python tests/growth.py [CALLS [CASE...]] makes many of each kind.

It prints the memory of the process after each tenth of the calls, and ends with status 1 if handles
are left, or if the second half of the calls has taken more than 8 MB.
"""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable

import numpy as np

import halfulp as hp
from halfulp._library import library

_a = np.array([[4.0, 1.0], [2.0, 3.0]])
_x = np.array([1.0, 2.0, 3.0, 4.0])


def _refused(f: Callable[[], object]) -> None:
    try:
        f()
    except hp.HalfulpError:
        return
    raise AssertionError("there is no error")


def _stops(done: float) -> bool:
    return False


def _views() -> None:
    a = hp.array(_a, "mp:100")
    row, column = a[0], a.T[1:, ::-1]
    del a
    assert row.shape == (2,) and column.shape == (1, 2)


def _progress() -> None:
    with hp.options(progress=lambda done: True, threads=1):
        hp.linalg.inv(_a)


def _cycle() -> None:
    scalars: list[object] = [hp.Scalar("0.1", "mp:90"), hp.array(_x, "dd")]
    scalars.append(scalars)


CASES: dict[str, Callable[[], object]] = {
    "dot": lambda: hp.dot(_x, _x),
    "sum": lambda: hp.sum(_x),
    "matmul": lambda: hp.matmul(_a, _a),
    "integers": lambda: hp.matmul(np.arange(4).reshape(2, 2), _a),
    "multiple precision": lambda: hp.matmul(_a, _a, prec=200),
    "solve": lambda: hp.linalg.solve(_a, _x[:2]),
    "operators": lambda: (hp.array(_x, "qd") * 2 - 1) / 3,
    "scalars": lambda: float(hp.Scalar(1) / 3),
    "views": _views,
    "text": lambda: str(hp.array(_x, "mp:300")),
    "lists": lambda: hp.array([0.5, 2**70], "mp:80").tolist(),
    "pickles": lambda: pickle.loads(pickle.dumps(hp.array(_a, "td"))),
    "an axis": lambda: hp.sum(hp.array(_a), axis=0),
    "rational matrices": lambda: hp.rational.Matrix([[1, "1/2"], [0.5, 2]]).solve_all(hp.rational.identity(2))[0].rref(),
    "a rational system without a solution": lambda: _refused(lambda: hp.rational.solve([[1], [1]], [1, "2/3"])),
    "shapes that do not fit": lambda: _refused(lambda: hp.matmul(hp.array(_a), hp.array(_x))),
    "a singular matrix": lambda: _refused(lambda: hp.linalg.inv(np.ones((2, 2)))),
    "a text that is no number": lambda: _refused(lambda: hp.array("seven", "mp:80")),
    "a format that does not exist": lambda: _refused(lambda: hp.array(_x, "mp:0")),
    "progress": _progress,
    "cycles of references": _cycle,
}


def live() -> int:
    """Returns the number of handles that are not freed."""
    gc.collect()
    return int(library().live_handles())


def resident() -> int:
    """Returns the bytes of memory that this process has now (Linux)."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def main(calls: int, names: list[str]) -> int:
    grown = 0
    for name in names or CASES:
        f = CASES[name]
        for _ in range(200):
            f()
        before, memory = live(), []
        for _ in range(10):
            for _ in range(calls // 10):
                f()
            gc.collect()
            memory.append(resident())
        left, more = live() - before, memory[-1] - memory[4]
        print(f"{name:30}{left:8d} handles {more / 2**20:8.1f} MB   " + " ".join(f"{m / 2**20:.0f}" for m in memory), flush=True)
        grown += left != 0 or more > 8 << 20
    return int(grown > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, sys.argv[2:]))
