"""Prints the shape and the numbers, by rows, exactly, in hexadecimal, of files that halfulp wrote,
read by NumPy alone."""

import pathlib
import sys
from fractions import Fraction

import numpy as np

sys.argv, files = sys.argv[:1] + ["/nonexistent"], sys.argv[1:]
source = (pathlib.Path(__file__).parent / "make.py").read_text()
exec(source[source.index("def exact") : source.index("def add")])


def plain(values):
    return [[exact(x) for x in row] for row in values]


def sums(terms):
    rows = []
    for row in terms:
        rows.append([])
        for t in row:
            if np.isfinite(t[0]) and t[0] != 0:
                f = sum(Fraction(float(x)) for x in t)
                rows[-1].append(hexadecimal(abs(f), f < 0))
            else:
                rows[-1].append(exact(t[0]))
    return rows


def mp(z):
    rows = []
    for i, j in np.ndindex(z["signs"].shape):
        if j == 0:
            rows.append([])
        negative = z["signs"][i, j] < 0
        words = z["limbs"][i, j]
        match int(z["classes"][i, j]):
            case 3:
                rows[-1].append("nan")
            case 2:
                rows[-1].append("-inf" if negative else "inf")
            case 1 | 0:
                n = sum(int(w) << (64 * k) for k, w in enumerate(words))
                f = Fraction(n) * Fraction(2) ** (int(z["exponents"][i, j]) - 64 * len(words))
                rows[-1].append(hexadecimal(f, negative))
    return rows


for name in files:
    z = np.load(name)
    if name.endswith(".npy"):
        rows = plain(z) if z.ndim == 2 else sums(z)
    elif "values" in z:
        rows = plain(z["values"])
    elif "terms" in z:
        rows = sums(z["terms"])
    else:
        rows = mp(z)
    print(len(rows), len(rows[0]), *[x for row in rows for x in row])
