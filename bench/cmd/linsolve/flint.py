"""Runs solvers of python-flint: a command a line on standard input, an answer a line.

version          the versions
load FILE        order, bits, then a line "significand exponent" (hexadecimal, decimal) for each
                 entry of A by rows, and of b
time NAME        the processor time of one run in seconds, or "no" and why
"""
import sys
import time


def answer(text):
    print(text, flush=True)


try:
    import flint
except ImportError as e:
    answer("no %s" % e)
    sys.exit()

methods = {
    "product": lambda: a * a,
    "solve": lambda: a.solve(b),
    "approx": lambda: a.solve(b, algorithm="approx"),
    "inverse": lambda: a.inv(),
    "det": lambda: a.det(),
}
for line in sys.stdin:
    command, _, rest = line.strip().partition(" ")
    try:
        if command == "version":
            answer("%s, FLINT %s" % (flint.__version__, flint.__FLINT_VERSION__))
        elif command == "load":
            with open(rest) as file:
                n, bits = (int(x) for x in file.readline().split())
                flint.ctx.prec = bits
                flint.ctx.threads = 1
                number = lambda x: flint.arb((int(x[0], 16), int(x[1])))
                entries = [number(x.split()) for x in file]
            a, b = flint.arb_mat(n, n, entries[: n * n]), flint.arb_mat(n, 1, entries[n * n :])
            del entries
            answer("ok")
        elif command == "time":
            start = time.process_time()
            methods[rest]()
            answer("%.9f" % (time.process_time() - start))
    except Exception as e:  # of FLINT: no enclosure at this precision
        answer("no %s" % (e or type(e).__name__))
