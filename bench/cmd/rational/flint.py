# Times exact matrices in python-flint. Reads commands, one a line, and answers each with one line:
# processor seconds, wall-clock seconds and a hash of the result, or "no" and the reason.
#   version
#   threads N
#   load FILE      lines: the order n; n² + 2n entries of the matrix [A C] by rows; n entries of b
#   time METHOD N  METHOD of the functions below, N times, for A, b and [A C]; the times of one
#   hash METHOD    the hash of the last result of METHOD
import hashlib
import sys
import time

prime = 2**127 - 1


def answer(text):
    print(text, flush=True)


try:
    import flint
except ImportError as e:
    answer("no %s" % e)
    sys.exit()

methods = {
    "solve_fmpz": lambda: a.solve(b),
    "solve_dixon": lambda: qa.solve(qb, algorithm="dixon"),
    "inverse_fmpz": lambda: a.inv(),
    "inverse_fmpq": lambda: qa.inv(),
    "det_fmpz": lambda: a.det(),
    "nullspace_fmpz": lambda: wide.nullspace(),
    "charpoly_fmpz": lambda: a.charpoly(),
}


def residues(method, z):
    """The numbers of a result modulo the prime, by rows."""
    if method == "det_fmpz":
        return [int(z) % prime]
    if method == "charpoly_fmpz":
        return [int(x) % prime for x in z.coeffs()]
    if method == "nullspace_fmpz":  # the entry of each column in its own free row is 1
        x, nullity = z
        n = x.nrows()
        by = [pow(int(x[n - nullity + k, k]), -1, prime) for k in range(nullity)]
        return [int(x[i, k]) * by[k] % prime for i in range(n) for k in range(nullity)]
    return [int(x.p) * pow(int(x.q), -1, prime) % prime for x in z.entries()]


for line in sys.stdin:
    command, _, rest = line.strip().partition(" ")
    try:
        if command == "version":
            answer("python-flint %s, FLINT %s" % (flint.__version__, flint.__FLINT_VERSION__))
        elif command == "threads":
            flint.ctx.threads = int(rest)
            answer("ok")
        elif command == "load":
            with open(rest) as file:
                n = int(file.readline())
                x = [int(y, 16) for y in file]
            m = n + 2
            wide = flint.fmpz_mat(n, m, x[: n * m])
            a = flint.fmpz_mat(n, n, [x[i * m + j] for i in range(n) for j in range(n)])
            b = flint.fmpz_mat(n, 1, x[n * m :])
            qa, qb = flint.fmpq_mat(a), flint.fmpq_mat(b)
            answer("ok")
        elif command == "time":
            name, count = rest.split()
            run, count = methods[name], int(count)
            processor, wall = time.process_time(), time.perf_counter()
            for _ in range(count):
                last = run()
            processor, wall = time.process_time() - processor, time.perf_counter() - wall
            answer("%.9f %.9f" % (processor / count, wall / count))
        elif command == "hash":
            text = " ".join("%x" % x for x in residues(rest, last))
            answer(hashlib.sha256(text.encode()).hexdigest()[:16])
    except Exception as e:
        answer("no %s" % (e or type(e).__name__))
