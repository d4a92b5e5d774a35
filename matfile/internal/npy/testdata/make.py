"""Writes arrays of every type, order and byte order that NumPy has, as .npy and .npz files, and sparse
matrices of SciPy, if that is installed, into the folder given (default: that of this file), and values.txt, which says for each the format that it is
read in, its shape and its numbers, by rows, exactly, in hexadecimal."""

import pathlib
import sys
from fractions import Fraction

import numpy as np

try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
lines = []


def exact(x):
    """x as Go's %x would have it, with as many digits as it takes."""
    if isinstance(x, (np.integer, np.bool_)):
        f, negative = Fraction(int(x)), int(x) < 0
    else:
        negative = bool(np.signbit(x))
        if np.isnan(x):
            return "nan"
        if np.isinf(x):
            return "-inf" if negative else "inf"
        m, e = np.frexp(np.longdouble(x))
        f = Fraction(0)
        for _ in range(5):  # 16 bits at a time: of a long double, too
            m = m * 65536
            e -= 16
            digit = np.trunc(m)
            f += Fraction(int(digit)) * Fraction(2) ** int(e)
            m -= digit
        assert m == 0
    return hexadecimal(abs(f), negative)


def hexadecimal(f, negative):
    sign = "-" if negative else ""
    if f == 0:
        return sign + "0x0p+0"
    e = f.numerator.bit_length() - f.denominator.bit_length()
    if Fraction(2) ** e > f:
        e -= 1
    f /= Fraction(2) ** e
    digits, f = "", f - 1
    while f:
        f *= 16
        digits += "0123456789abcdef"[int(f)]
        f -= int(f)
    return f"{sign}0x1{'.' if digits else ''}{digits}p{e:+d}"


def add(name, format, array, numbers=None):
    if name.endswith(".npz"):
        np.savez_compressed(folder / name, array)
    else:
        np.save(folder / name, array)
    a = np.asarray(array)
    rows, cols = (a.shape + (1, 1))[:2]
    if numbers is None:
        numbers = [exact(x) for x in a.reshape(-1)]
    lines.append(" ".join([name, format, str(rows), str(cols)] + numbers))


floats = [1, -2.5, np.inf, 0.0, -0.0, np.nan]
for order, byte in (("C", "<"), ("F", "<"), ("C", ">"), ("F", ">")):
    tag = order.lower() + ("l" if byte == "<" else "b")
    for kind, format in (("f2", "f32"), ("f4", "f32"), ("f8", "f64")):
        a = np.array(floats, dtype=byte + kind).reshape(2, 3)
        a[1, 0] = np.finfo(kind).smallest_subnormal
        a[0, 1] = -np.finfo(kind).max
        add(f"{kind}{tag}.npy", format, np.asarray(a, order=order))
    for kind in ("i2", "i4", "i8", "u2", "u4", "u8"):
        info = np.iinfo(kind)
        a = np.array([[info.min, 1, 2], [3, 4, info.max]], dtype=byte + kind)
        add(f"{kind}{tag}.npy", "mp:64" if kind == "u8" or kind == "i8" else "f64", np.asarray(a, order=order))
for kind in ("i1", "u1"):
    info = np.iinfo(kind)
    add(f"{kind}.npy", "f64", np.array([info.min, -1 if kind == "i1" else 5, info.max], dtype=kind))
add("bool.npy", "f64", np.array([[True, False], [False, True]]))
add("small.npy", "f64", np.array([2**53, -(2**60)], dtype="i8"))
add("scalar.npy", "f64", np.float64(0.1))
add("empty.npy", "f64", np.zeros((0, 3)))
add("one.npz", "f64", np.array([[0.1, 0.2]]))
if np.finfo(np.longdouble).nmant == 63:  # x86
    a = np.sqrt(np.arange(6, dtype=np.longdouble)).reshape(2, 3)
    a[0, 0] = -np.finfo(np.longdouble).max
    a[1, 0] = np.finfo(np.longdouble).smallest_subnormal
    a[1, 1] = -np.inf
    a = np.positive(a, out=np.zeros_like(a))  # with zeros between the numbers
    add("longdouble.npy", "mp:64", a)
    add("longdoublefb.npy", "mp:64", np.asarray(a.byteswap().view(a.dtype.newbyteorder(">")), order="F"))
hi = np.array([[1.0, 0.1], [-3.0, 0.0]])
lo = np.array([[2.0**-60, 0.0], [2.0**-54, 0.0]])
numbers = [hexadecimal(abs(Fraction(h) + Fraction(l)), h < 0) for h, l in zip(hi.reshape(-1), lo.reshape(-1))]
add("dd.npy", "dd", np.stack([hi, lo], axis=2), numbers)
if sparse:
    places = [1, 3, 0, 0, 3, 1, 2, 3], [0, 5, 2, 0, 1, 0, 2, 5]  # (1, 0) and (3, 5) twice
    a = sparse.coo_array(([1.5, -2, 0.1, 3, 0, 0.25, 1e300, 7], places), shape=(4, 6))
    for format in ("coo", "csr", "csc", "bsr", "dia"):
        name = f"scipy-{format}.npz"
        sparse.save_npz(folder / name, sparse.bsr_array(a, blocksize=(2, 3)) if format == "bsr" else a.asformat(format))
        dense = a.toarray()
        lines.append(" ".join([name, "f64", "4", "6"] + [exact(x) for x in dense.reshape(-1)]))
    name = "scipy-vector.npz"
    sparse.save_npz(folder / name, sparse.coo_array((np.array([2, -3, 4], dtype="i2"), (np.array([0, 3, 3]),)), shape=(5,)))
    lines.append(" ".join([name, "f64", "5", "1"] + [exact(np.int64(x)) for x in (2, 0, 0, 1, 0)]))
(folder / "values.txt").write_text("\n".join(lines) + "\n")
