#!/usr/bin/env python3
"""Compresses the entries of ptx.zip by Zopfli, a tenth more than what "ptx.py generate" writes, which
programs that have kernels in them are smaller by. Entries that are in git's archive of the last commit
stay as they are there, unless arguments name them, or "all". Exit status 3: Zopfli cannot be had here.
"""

import io
import multiprocessing
import struct
import subprocess
import sys
import zipfile

import ptx

ZOPFLI = ("zopfli", "0.4.3")


def raw(z, e):
    """An entry's compressed bytes."""
    z.fp.seek(e.header_offset + 26)
    name, extra = struct.unpack("<HH", z.fp.read(4))
    z.fp.seek(name + extra, 1)
    return z.fp.read(e.compress_size)


def committed():
    """The compressed bytes of the last commit's entries, by what they say."""
    show = subprocess.run(["git", "show", "HEAD:./" + ptx.ARCHIVE.name], cwd=ptx.KERNELS, capture_output=True)
    if show.returncode != 0:
        return {}
    with zipfile.ZipFile(io.BytesIO(show.stdout)) as z:
        return {(e.filename, e.file_size, e.CRC): raw(z, e) for e in z.infolist()}


def compressed(text):
    import zopfli.zlib

    return zopfli.zlib.compress(text)[2:-4]  # without zlib's frame


def write(entries):
    """Writes the archive, of (ZipInfo, compressed bytes)."""
    body, directory = b"", b""
    for e, data in entries:
        name, comment = e.filename.encode(), e.comment
        head = struct.pack("<HHHHHIII", 20, 0, zipfile.ZIP_DEFLATED, 0, 0x21, e.CRC, len(data), e.file_size)  # of 1980
        directory += struct.pack("<IBB", 0x02014b50, 20, 3) + head
        directory += struct.pack("<HHHHHII", len(name), 0, len(comment), 0, 0, 0o600 << 16, len(body)) + name + comment
        body += struct.pack("<I", 0x04034b50) + head + struct.pack("<HH", len(name), 0) + name + data
    end = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    ptx.ARCHIVE.write_bytes(body + directory + end)


def main():
    named = sys.argv[1:]
    known = {k: data for k, data in committed().items() if k[0] not in named and "all" not in named}
    with zipfile.ZipFile(ptx.ARCHIVE) as z:
        entries = z.infolist()
        now = [raw(z, e) for e in entries]
        fresh = [i for i, e in enumerate(entries) if now[i] != known.get((e.filename, e.file_size, e.CRC))]
        texts = [z.read(entries[i]) for i in fresh]
    if not fresh:
        return
    new, again = {}, []
    for i, text in zip(fresh, texts):
        e = entries[i]
        if (e.filename, e.file_size, e.CRC) in known:
            new[i] = known[e.filename, e.file_size, e.CRC]
        else:
            again.append((i, text))
    if again:
        sys.path.insert(0, str(ptx.tool(ZOPFLI, "zopfli").parent))
        with multiprocessing.Pool() as pool:
            new |= zip([i for i, _ in again], pool.map(compressed, [text for _, text in again], 1))
    write([(e, min(now[i], new.get(i, now[i]), key=len)) for i, e in enumerate(entries)])


if __name__ == "__main__":
    main()
