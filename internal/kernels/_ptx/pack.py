#!/usr/bin/env python3
"""Packs ptx.zip, which ptx.py reads and writes, as ptx.pack, which is committed and becomes part of
programs, and unpacks it. Registers and labels of the unpacked texts have new numbers, in the order of
their first use; the programs are the same otherwise.

    pack.py pack      write ptx.pack from ptx.zip
    pack.py unpack    write ptx.zip from ptx.pack

ptx.pack is a zip archive, compressed by Zopfli, with the names and comments of ptx.zip and one entry
more, LINES: the lines that occur twice or more, the most frequent first. In them &r stands for a
register of kind %r, &L for a label, # for a number. Any other entry has these parts, after a line with
their names and lengths:

    lines   0 for the next of "own"; i + 1 for line i of LINES; 240 + h, l for line 239 + 256 h + l
    own     lines that are not in LINES
    #       the numbers, in decimal, in lines
    r, ...  for each kind of registers, and L for labels: 0 for a new one, the number after the last
            new one; otherwise 1 plus the count of others used since; 255, l, h for 256 h + l

Registers begin anew at each kernel and function; the numbers of labels continue, since their names
are unique in a file. kernels.go reads this.
"""

import re
import struct
import sys
import zipfile
import zlib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import ptx

PACKED = ptx.KERNELS / "ptx.pack"
LINES = "lines"

# Zopfli comes from a Python wheel, as the tools of ptx.py do.
ZOPFLI = ("zopfli", "0.4.3")
ZOPFLI_PACKAGE = "zopfli"

PLACES = re.compile(r"%(rd|rs|fd|[rfp])(\d+)\b|\$(L)__BB(\d+_\d+)\b|\$(L)(\d+)\b|(?<![\w%$])-?\d+\b(?!:)")
BEGINS = (".visible", ".weak", ".entry", ".func")
LABEL = "L"
ONE, TWO = 239, 240  # lines of one byte; the first byte of other lines
LONG = 255  # announces two bytes


class Names:
    """The registers of a kind, or the labels, by the order of their last use."""

    def __init__(self):
        self.order, self.count, self.codes = [], 0, bytearray()

    def use(self, name):
        code = self.order.index(name) + 1 if name in self.order else 0
        if code:
            self.order.pop(code - 1)
        self.order.insert(0, name)
        self.codes += bytes([code] if code < LONG else [LONG, code & 255, code >> 8])

    def next(self):
        code = self.codes.pop(0)
        if code == LONG:
            code = self.codes.pop(0) | self.codes.pop(0) << 8
        if code:
            name = self.order.pop(code - 1)
        else:
            self.count += 1
            name = self.count
        self.order.insert(0, name)
        return name


def taken_apart(text):
    """The lines of a text with their places marked, the numbers, and a dictionary of kind: Names."""
    assert "#" not in text and "&" not in text
    names, numbers, lines, hidden = {}, [], [], set()

    def place(m):
        kind, name = m[1] or m[3] or m[5], m[2] or m[4] or m[6]
        if kind is None:
            numbers.append(m[0])
            return "#"
        if m[0] in hidden:
            return m[0]
        names.setdefault(kind, Names()).use(name)
        return "&" + kind

    for line in text.splitlines():
        if line.startswith(BEGINS):
            begin(names)
        if line.startswith("."):
            # a block of inline assembly may declare registers of its own
            if line.startswith(".reg") and "<" not in line:
                hidden |= set(re.findall(r"%\w+", line))
        else:
            line = PLACES.sub(place, line)
        if line == "}":
            hidden.clear()
        lines.append(line)
    return lines, numbers, names


def begin(names):
    """Begins a kernel or function."""
    for kind, n in names.items():
        n.order.clear()
        if kind != LABEL:
            n.count = 0


def common(files):
    """What LINES has, for files that are taken apart."""
    count = Counter(line for lines, _, _ in files for line in lines)
    return [line for line, n in sorted(count.items(), key=lambda c: (-c[1], c[0])) if n > 1]


def joined(lines):
    return "".join(line + "\n" for line in lines).encode()


def pack(file, shared):
    """The entry of a file that is taken apart; shared is a dictionary of line: place in LINES."""
    lines, numbers, names = file
    codes, own = bytearray(), []
    for line in lines:
        i = shared.get(line)
        if i is None:
            own.append(line)
            codes.append(0)
        else:
            codes += bytes([i + 1] if i < ONE else [TWO + (i - ONE >> 8), i - ONE & 255])
    parts = {"lines": bytes(codes), "own": joined(own), "#": joined(numbers)} | {kind: bytes(names[kind].codes) for kind in sorted(names)}
    return " ".join(f"{name} {len(part)}" for name, part in parts.items()).encode() + b"\n" + b"".join(parts.values())


def unpack(data, shared):
    """The text of an entry; shared lists LINES."""
    head, rest = data.split(b"\n", 1)
    parts, fields = {}, head.decode().split()
    for name, length in zip(fields[::2], map(int, fields[1::2])):
        parts[name], rest = rest[:length], rest[length:]
    codes, own, numbers = iter(parts.pop("lines")), iter(parts.pop("own").decode().splitlines()), iter(parts.pop("#").decode().split())
    names = {kind: Names() for kind in parts}
    for kind in parts:
        names[kind].codes += parts[kind]

    def place(m):
        if m[0] == "#":
            return next(numbers)
        return ("$" if m[1] == LABEL else "%") + f"{m[1]}{names[m[1]].next()}"

    lines = []
    for code in codes:
        line = next(own) if code == 0 else shared[code - 1 if code <= ONE else (code - TWO << 8) + next(codes) + ONE]
        if line.startswith(BEGINS):
            begin(names)
        lines.append(re.sub(r"&(rd|rs|fd|[rfpL])|#", place, line))
    return joined(lines).decode()


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
    known = streams()
    with ProcessPoolExecutor() as pool:
        files = list(pool.map(taken_apart, [text for _, (text, _) in entries]))
        lines = common(files)
        assert len(lines) <= ONE + 256 * (256 - TWO)
        shared = {line: i for i, line in enumerate(lines)}
        packed = [joined(lines)] + [pack(f, shared) for f in files]
        for file, data in zip(files, packed[1:]):
            # the same program: the same lines, numbers and uses of names
            text = unpack(data, lines)
            again = taken_apart(text)
            assert again[:2] == file[:2] and pack(again, shared) == data
        entries.insert(0, (LINES, ("", "")))
        new = [data for data in packed if data not in known]
        if new:
            ptx.tool(ZOPFLI, ZOPFLI_PACKAGE)
        known.update(zip(new, pool.map(deflated, new)))
    body, directory = b"", b""
    for (name, (_, comment)), data in zip(entries, packed):
        name, comment, stream = name.encode(), comment.encode(), known[data]
        # as of 1980: version, flags, method, time, date, sum, sizes, lengths
        fields = struct.pack("<HHHHHLLLHH", 20, 0, zipfile.ZIP_DEFLATED, 0, 0x21, zlib.crc32(data), len(stream), len(data), len(name), 0)
        directory += struct.pack("<4sH", b"PK\x01\x02", 3 << 8 | 20) + fields
        directory += struct.pack("<HHHLL", len(comment), 0, 0, 0o600 << 16, len(body)) + name + comment
        body += b"PK\x03\x04" + fields + name + stream
    end = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    PACKED.write_bytes(body + directory + end)


def write_zip():
    with zipfile.ZipFile(PACKED) as z:
        lines = z.read(LINES).decode().splitlines()
        ptx.write({e.filename: (unpack(z.read(e), lines), e.comment.decode()) for e in z.infolist() if e.filename != LINES})


if __name__ == "__main__":
    verbs = {"pack": write_pack, "unpack": write_zip}
    if len(sys.argv) != 2 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    verbs[sys.argv[1]]()
