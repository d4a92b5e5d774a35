#!/usr/bin/env python3
"""Packs ptx.zip, which ptx.py reads and writes, as ptx.pack, which is committed and becomes part of
programs, and unpacks it. The texts are the same.

    pack.py pack      write ptx.pack from ptx.zip
    pack.py unpack    write ptx.zip from ptx.pack

ptx.pack is a zip archive, compressed by Zopfli, with the names and comments of ptx.zip. Registers
and numbers of PTX take most of the space, so each entry has four parts, after a line with the
lengths of the first three: the text, in which &r stands for a register %r1 and # for a number; the
registers; the numbers, separated by line ends; the jumps, too. A register is the place, plus 2, that
it has in a list of its kind, from the last one used; 0 is the first unused register after the last
new one, and 1 is a new register whose distance from the last new one is the next jump. Places from
255 on have two more bytes. Lists begin anew at each kernel and function. unpack of kernels.go
reads this.
"""

import re
import struct
import sys
import zipfile
import zlib
from concurrent.futures import ProcessPoolExecutor

import ptx

PACKED = ptx.KERNELS / "ptx.pack"

# Zopfli comes from a Python wheel, as the tools of ptx.py do.
ZOPFLI = ("zopfli", "0.4.3")
ZOPFLI_PACKAGE = "zopfli"

PLACES = re.compile(r"%([a-z]+)(\d+)\b|(?<![\w%$])-?\d+\b(?!:)")
BEGINS = (".visible", ".weak", ".entry", ".func")


class Registers:
    """The registers of a kind in a kernel."""

    def __init__(self):
        self.order, self.used, self.top = [], set(), 0

    def following(self):
        n = self.top + 1
        while n in self.used:
            n += 1
        return n

    def add(self, n):
        self.used.add(n)
        self.top = n
        self.order.insert(0, n)

    def take(self, place):
        n = self.order.pop(place)
        self.order.insert(0, n)
        return n


def pack(text):
    assert "#" not in text and "&" not in text
    kinds, codes, numbers, jumps = {}, bytearray(), [], []

    def place(m):
        if m[1] is None:
            numbers.append(m[0])
            return "#"
        n, r = int(m[2]), kinds.setdefault(m[1], Registers())
        assert str(n) == m[2]
        if n in r.used:
            code = r.order.index(n) + 2
            r.take(code - 2)
        else:
            code = 0 if n == r.following() else 1
            if code:
                jumps.append(str(n - r.top))
            r.add(n)
        codes.extend([code] if code < 255 else [255, code & 255, code >> 8])
        return "&" + m[1]

    lines = []
    for line in text.splitlines(keepends=True):
        if line.startswith(BEGINS):
            kinds.clear()
        lines.append(line if line.startswith(".") else PLACES.sub(place, line))
    parts = ["".join(lines).encode(), bytes(codes), "".join(n + "\n" for n in numbers).encode(), "".join(j + "\n" for j in jumps).encode()]
    return b"%d %d %d\n" % tuple(len(p) for p in parts[:3]) + b"".join(parts)


def unpack(data):
    head, rest = data.split(b"\n", 1)
    parts = []
    for n in map(int, head.split()):
        parts.append(rest[:n])
        rest = rest[n:]
    text, codes, numbers, jumps = parts[0].decode(), iter(parts[1]), iter(parts[2].decode().split()), iter(rest.decode().split())
    kinds = {}

    def place(m):
        if m[0] == "#":
            return next(numbers)
        r, code = kinds.setdefault(m[1], Registers()), next(codes)
        if code == 255:
            code = next(codes) | next(codes) << 8
        if code >= 2:
            n = r.take(code - 2)
        else:
            n = r.following() if code == 0 else r.top + int(next(jumps))
            r.add(n)
        return f"%{m[1]}{n}"

    lines = []
    for line in text.splitlines(keepends=True):
        if line.startswith(BEGINS):
            kinds.clear()
        lines.append(re.sub(r"&([a-z]+)|#", place, line))
    return "".join(lines)


def deflated(data):
    """The data as Zopfli deflates it."""
    sys.path.insert(0, str(ptx.tool(ZOPFLI, ZOPFLI_PACKAGE).parent))
    import zopfli.zlib
    return zopfli.zlib.compress(data, numiterations=5)[2:-4]  # without what zlib has around it


def streams():
    """What ptx.pack has now: a dictionary of data: deflated data."""
    if not PACKED.exists():
        return {}
    archive, found = PACKED.read_bytes(), {}
    with zipfile.ZipFile(PACKED) as z:
        for e in z.infolist():
            name, extra = struct.unpack("<HH", archive[e.header_offset + 26:e.header_offset + 30])
            begin = e.header_offset + 30 + name + extra
            found[z.read(e)] = archive[begin:begin + e.compress_size]
    return found


def write_pack():
    entries = sorted(ptx.read().items())
    texts = [text for _, (text, _) in entries]
    known = streams()
    with ProcessPoolExecutor() as pool:
        packed = list(pool.map(pack, texts))
        for text, data in zip(texts, packed):
            assert unpack(data) == text
        new = [data for data in packed if data not in known]
        if new:
            ptx.tool(ZOPFLI, ZOPFLI_PACKAGE)
        known.update(zip(new, pool.map(deflated, new)))
    body, directory = b"", b""
    for (name, (_, comment)), data in zip(entries, packed):
        name, comment, stream = name.encode(), comment.encode(), known[data]
        # as of 1980: version, flags, method, time, date, sum, sizes, lengths
        common = struct.pack("<HHHHHLLLHH", 20, 0, zipfile.ZIP_DEFLATED, 0, 0x21, zlib.crc32(data), len(stream), len(data), len(name), 0)
        directory += struct.pack("<4sH", b"PK\x01\x02", 3 << 8 | 20) + common
        directory += struct.pack("<HHHLL", len(comment), 0, 0, 0o600 << 16, len(body)) + name + comment
        body += b"PK\x03\x04" + common + name + stream
    end = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    PACKED.write_bytes(body + directory + end)


def write_zip():
    with zipfile.ZipFile(PACKED) as z:
        ptx.write({e.filename: (unpack(z.read(e)), e.comment.decode()) for e in z.infolist()})


if __name__ == "__main__":
    verbs = {"pack": write_pack, "unpack": write_zip}
    if len(sys.argv) != 2 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    verbs[sys.argv[1]]()
