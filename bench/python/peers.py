"""Measures halfulp's Python package beside mpmath and python-flint, and compares the values.

    python bench/python/peers.py --json FILE

Products, solutions, inverses and determinants of random matrices, each library on one thread, each
method in turn, in processor time. Operands and results are in the library's own representation.

python-flint at a higher precision encloses the exact results: each number of halfulp is proved to
be the correctly rounded one, and the share of a peer's numbers that equal it is counted. The exit
status is 1 if a number of halfulp is wrong.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time

os.environ["GOMAXPROCS"] = "1"  # read when the library is loaded, at the first call

import flint
import gmpy2
import mpmath
import numpy as np

import halfulp as hp

OPERATIONS = ["product", "solve", "inverse", "determinant"]


class Problem:
    """Operands of one order in the representations of all libraries."""

    def __init__(self, n: int, bits: int) -> None:
        self.n, self.bits = n, bits
        self.a, self.b, self.v = (hp.random(n, k, seed=seed, format=f"mp:{bits}") for k, seed in ((n, 1), (n, 2), (1, 3)))
        self.flint = [x.to_flint() for x in (self.a, self.b, self.v)]
        self.mpmath = [x.to_mpmath() for x in (self.a, self.b, self.v)]

    def methods(self, operation: str):
        """Returns the calls of the libraries, by their names."""
        a, b, v = self.flint
        p, q, w = self.mpmath
        return {
            "product": {
                "halfulp": lambda: hp.matmul(self.a, self.b),
                "python-flint": lambda: a * b,
                "mpmath": lambda: p * q,
            },
            "solve": {
                "halfulp": lambda: hp.linalg.solve(self.a, self.v),
                "python-flint": lambda: a.solve(v),
                "python-flint, approx": lambda: a.solve(v, algorithm="approx"),
                "mpmath": lambda: mpmath.lu_solve(p, w),
            },
            "inverse": {
                "halfulp": lambda: hp.linalg.inv(self.a),
                "python-flint": lambda: a.inv(),
                "mpmath": lambda: mpmath.inverse(p),
            },
            "determinant": {
                "halfulp": lambda: hp.linalg.det(self.a),
                "python-flint": lambda: a.det(),
                "mpmath": lambda: mpmath.det(p),
            },
        }[operation]

    def exact(self, operation: str, x: list[tuple[int, int]]) -> int:
        """Returns how many of halfulp's numbers are proved to be correctly rounded."""
        right = 0
        for extra in (64, 256, 1024):
            with flint.ctx.workprec(self.bits + extra):
                z = self.methods(operation)["python-flint"]()
                balls = [z] if isinstance(z, flint.arb) else z.entries()
                right = sum(rounded(m, e, y, self.bits) for (m, e), y in zip(x, balls, strict=True))
            if right == len(x):
                break
        return right


def rounded(m: int, e: int, y: flint.arb, bits: int) -> bool:
    """Reports that m 2^e is proved to be the exact number in y, rounded to bits."""
    if m == 0:
        return bool(y == 0)
    length = abs(m).bit_length()
    half = e + length - bits - 1  # log2 of half an ulp
    if abs(m) == 1 << (length - 1):
        half -= 1  # below a power of two
    return bool(abs(flint.arb((m, e)) - y) < flint.arb((1, half)))


def numbers(z: object) -> list[tuple[int, int]]:
    """Returns the significands and exponents of a result of any library; radii are left out."""
    if isinstance(z, hp.Scalar):
        z = z._mpmath_(0, "n")
    elif isinstance(z, hp.Array):
        z = z.to_mpmath()
    if isinstance(z, flint.arb):
        z = [z]
    elif isinstance(z, flint.arb_mat):
        z = z.entries()
    elif isinstance(z, mpmath.matrix):
        z = list(z)
    elif isinstance(z, mpmath.mpf):
        z = [z]
    found = []
    for x in z:
        if isinstance(x, flint.arb):
            m, e = (int(k) for k in x.mid().man_exp())
        else:
            negative, m, e, _ = (int(k) for k in x._mpf_)
            m = -m if negative else m
        while m and m % 2 == 0:
            m, e = m // 2, e + 1
        found.append((m, e if m else 0))
    return found


def measure(p: Problem, operation: str, o: argparse.Namespace, expected: dict[str, float]) -> list[dict]:
    methods, figures = p.methods(operation), []
    samples: dict[str, list[float]] = {}
    results, skipped = {}, {}
    for name, call in methods.items():  # the first run of each gives its result
        guess = expected.get(name, 0) * p.n**3
        if guess > o.most:
            skipped[name] = f"it would take about {guess:.0f} s"
            continue
        start = time.process_time()
        results[name] = call()
        samples[name] = [time.process_time() - start]
        expected[name] = samples[name][0] / p.n**3
    runs = {name: max(1, int(0.01 / times[0])) for name, times in samples.items()}
    for _ in range(o.repeat):
        for name, times in samples.items():
            if sum(times) < o.seconds or name == "halfulp":
                call = methods[name]
                start = time.process_time()
                for _ in range(runs[name]):
                    call()
                times.append((time.process_time() - start) / runs[name])
    own = numbers(results["halfulp"])
    for name in methods:
        f: dict = {"operation": operation, "n": p.n, "bits": p.bits, "method": name}
        if name in skipped:
            f["skipped"] = skipped[name]
        else:
            times = samples[name][1:] or samples[name]
            f |= {"median": statistics.median(times), "min": min(times), "max": max(times), "repeats": len(times), "runs": runs[name]}
            if name == "halfulp":
                right = p.exact(operation, own)
            else:
                right = sum(x == y for x, y in zip(numbers(results[name]), own, strict=True))
            f |= {"entries": len(own), "correctly_rounded": right}
        figures.append(f)
        print(json.dumps(f), flush=True)
    return figures


def machine() -> dict:
    """Describes the machine as the other benchmarks do."""
    entry: dict[str, str] = {}
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        for line in file.read().split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            entry[key.strip()] = value.strip()
    known = ["avx2", "fma", "bmi2", "adx", "avx512f", "avx512bw", "avx512ifma", "avx512_vnni", "avx_vnni", "amx_int8"]
    flags = (entry.get("flags", "") + " " + entry.get("Features", "")).split()
    cpu = entry.get("model name", "unknown")
    if "cpu family" in entry:
        cpu += f", family {entry['cpu family']} model {entry['model']}"
    return {"system": f"{platform.system().lower()}/{platform.machine()}", "cpu": cpu, "cores": len(os.sched_getaffinity(0)), "features": [x for x in known if x in flags]}


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()


def table(figures: list[dict]) -> str:
    """Returns the figures as a table of Markdown: times, and how much longer the peers take."""
    names = list(dict.fromkeys(f["method"] for f in figures))
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for operation, n in dict.fromkeys((f["operation"], f["n"]) for f in figures):
        row = {f["method"]: f for f in figures if f["operation"] == operation and f["n"] == n}
        cells = []
        for name in names:
            f = row.get(name)
            if f is None or "skipped" in f:
                cells.append("")
                continue
            cell = milliseconds(f["median"])
            if name != "halfulp":
                ratio = f["median"] / row["halfulp"]["median"]
                cell += f" ({ratio:.{0 if ratio >= 10 else 1}f}), {100 * f['correctly_rounded'] / f['entries']:.0f}%"
            cells.append(cell)
        lines.append(f"| {operation}, n = {n} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def milliseconds(seconds: float) -> str:
    """Returns a time in milliseconds with three digits."""
    x = 1e3 * seconds
    return f"{x:.{2 if x < 10 else 1 if x < 100 else 0}f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures halfulp beside mpmath and python-flint.")
    parser.add_argument("--n", default="30,100,300", help="orders")
    parser.add_argument("--bits", type=int, default=424, help="bits of the significands")
    parser.add_argument("--repeat", type=int, default=15, help="timings of a method")
    parser.add_argument("--seconds", type=float, default=5, help="time for the timings of a peer, after the first")
    parser.add_argument("--most", type=float, default=100, help="a method that is expected to take longer is left out")
    parser.add_argument("--json", default="", help="file for the figures")
    o = parser.parse_args()
    flint.ctx.prec, flint.ctx.threads = o.bits, 1
    mpmath.mp.prec = o.bits
    with open("/proc/loadavg", encoding="ascii") as file:
        load = file.read().strip()
    record: dict = {
        "command": "python bench/python/peers.py " + " ".join("FILE" if x == o.json and x else x for x in sys.argv[1:]),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": git("rev-parse", "HEAD"),
        "dirty": git("status", "--porcelain") != "",
        "machine": machine(),
        "load": load,  # averages when it began: others use the machine
        "threads": 1,
        "unit": "seconds of processor time",
        "libraries": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "mpmath": f"{mpmath.__version__}, backend {mpmath.libmp.BACKEND}",
            "gmpy2": gmpy2.version(),
            "python-flint": f"{flint.__version__}, FLINT {flint.__FLINT_VERSION__}",
        },
        "figures": [],
    }
    expected: dict[str, dict[str, float]] = {x: {} for x in OPERATIONS}
    for n in map(int, o.n.split(",")):
        p = Problem(n, o.bits)
        for operation in OPERATIONS:
            record["figures"] += measure(p, operation, o, expected[operation])
    if o.json:
        with open(o.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent="\t", ensure_ascii=False)
            file.write("\n")
    print(table(record["figures"]))
    wrong = [f for f in record["figures"] if f["method"] == "halfulp" and f["correctly_rounded"] != f["entries"]]
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
