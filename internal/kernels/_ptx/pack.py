#!/usr/bin/env python3
"""Packs ptx.zip, which ptx.py reads and writes, as ptx.pack, which is committed and becomes part of
programs, and unpacks it. Registers and labels of the unpacked texts have new numbers, in the order of
their first use; the programs are the same otherwise.

    pack.py pack      write ptx.pack from ptx.zip
    pack.py unpack    write ptx.zip from ptx.pack

ptx.pack is a zip archive, compressed by LZMA. Its entry "lines" has the lines that occur twice or
more, the most frequent first. In them &r stands for a register of kind %r, &L for a label, # for a
number. Any other file has these parts:

    lines   0 for the next of "own"; i + 1 for line i of the entry "lines"; 240 + h, l for line 239 + 256 h + l
    own     lines that are not there
    #       the numbers, in decimal, in lines
    r, ...  for each kind of registers, and L for labels: 0 for a new one, the number after the last
            new one; otherwise 1 plus the count of others used since; 255, l, h for 256 h + l

The entry of a folder has the parts of its files, part after part: "lines" of all files, "own" of all
files, and so on. The entry "index" has a line for each file: its name, the hash of its sources, and
the names and lengths of its parts, in the order in which they lie in the entry of its folder.

Registers begin anew at each kernel and function; the numbers of labels continue, since their names
are unique in a file. kernels.go reads this.
"""

import re
import sys
import zipfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import ptx

PACKED = ptx.KERNELS / "ptx.pack"
LINES, INDEX = "lines", "index"

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
    """The parts of a file that is taken apart; shared is a dictionary of line: place in LINES."""
    lines, numbers, names = file
    codes, own = bytearray(), []
    for line in lines:
        i = shared.get(line)
        if i is None:
            own.append(line)
            codes.append(0)
        else:
            codes += bytes([i + 1] if i < ONE else [TWO + (i - ONE >> 8), i - ONE & 255])
    return {"lines": bytes(codes), "own": joined(own), "#": joined(numbers)} | {kind: bytes(names[kind].codes) for kind in sorted(names)}


def unpack(parts, shared):
    """The text of a file; shared lists the lines of LINES."""
    parts = dict(parts)
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


def write_pack():
    entries = sorted(ptx.read().items())
    with ProcessPoolExecutor() as pool:
        files = list(pool.map(taken_apart, [text for _, (text, _) in entries]))
    lines = common(files)
    assert len(lines) <= ONE + 256 * (256 - TWO)
    shared = {line: i for i, line in enumerate(lines)}
    packed = [pack(f, shared) for f in files]
    index, folders = [], {}
    for (name, (_, digest)), file, parts in zip(entries, files, packed):
        # the same program: the same lines, numbers and uses of names
        again = taken_apart(unpack(parts, lines))
        assert again[:2] == file[:2] and pack(again, shared) == parts
        index.append(" ".join([name, digest] + [f"{part} {len(data)}" for part, data in parts.items()]))
        folders.setdefault(folder(name), []).append(parts)
    content = {INDEX: joined(index), LINES: joined(lines)}
    for name, list_of_parts in folders.items():
        content[name] = b"".join(parts.get(part, b"") for part in kinds(list_of_parts) for parts in list_of_parts)
    with zipfile.ZipFile(PACKED, "w") as z:
        for name, data in content.items():
            e = zipfile.ZipInfo(name)  # of 1980
            e.create_system = 3
            z.writestr(e, data, zipfile.ZIP_LZMA)


def folder(name):
    return name.split("/")[0]


def kinds(list_of_parts):
    """The names of the parts of the files of a folder, in the order in which they lie there."""
    first = ["lines", "own", "#"]
    return first + sorted({part for parts in list_of_parts for part in parts} - set(first))


def write_zip():
    with zipfile.ZipFile(PACKED) as z:
        lines = z.read(LINES).decode().splitlines()
        files = []
        for line in z.read(INDEX).decode().splitlines():
            name, digest, *fields = line.split()
            files.append((name, digest, dict(zip(fields[::2], map(int, fields[1::2])))))
        entries = {}
        for name in dict.fromkeys(folder(f[0]) for f in files):
            here, data = [f for f in files if folder(f[0]) == name], z.read(name)
            parts = {f[0]: {} for f in here}
            for part in kinds([f[2] for f in here]):
                for file, _, lengths in here:
                    if part in lengths:
                        parts[file][part], data = data[:lengths[part]], data[lengths[part]:]
            for file, digest, _ in here:
                entries[file] = (unpack(parts[file], lines), digest)
    ptx.write(entries)


if __name__ == "__main__":
    verbs = {"pack": write_pack, "unpack": write_zip}
    if len(sys.argv) != 2 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    verbs[sys.argv[1]]()
