#!/usr/bin/env python3
"""Compiles the CUDA sources in folders beside this one to PTX, and checks what is committed.

    ptx.py generate [FOLDER/FILE.cu ...]   write PTX of these, or of all that is stale, into ptx.zip
    ptx.py check [FOLDER/FILE.cu ...]      compare, assemble for all targets, print registers and spills

ptx.zip has FOLDER/FILE.ptx for each FOLDER/FILE.cu; the comment of an entry is the hash of what it was
made from: the source, the headers that it includes, and this program.

The compiler is NVRTC of an old release, so that old drivers accept the PTX; the assembler is
ptxas of a new one, which knows the newest GPUs. Both come from Python wheels, which pip puts
into the folder .ptx of the repository. Exit status 3: they cannot be had here.

FILE_sm90a.cu is compiled for and assembled for sm_90a alone; any other file for sm_80, and
assembled for all targets. Floating-point products and sums are not fused.
"""

import ctypes
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

# NVRTC 12.0 writes PTX 8.0, the first with wgmma: drivers of CUDA 12.0 and later take it.
NVRTC = ("nvidia-cuda-nvrtc-cu12", "12.0.140")
NVRTC_LIBRARY = "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
PTXAS = ("nvidia-cuda-nvcc", "13.5.37")
PTXAS_PROGRAM = "nvidia/cu13/bin/ptxas"

TARGETS = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
TARGETS_90A = ["sm_90a"]

LEFT_OUT = 3

KERNELS = pathlib.Path(__file__).resolve().parent.parent
ARCHIVE = KERNELS / "ptx.zip"
TOOLS = KERNELS.parents[1] / ".ptx"


def tool(wheel, path):
    """The path of a wheel's file, the wheel being installed if it is not."""
    name, version = wheel
    folder = TOOLS / f"{name}-{version}"
    if not (folder / path).exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "--root-user-action=ignore", "--no-deps", "--only-binary=:all:", "--target", str(folder), f"{name}=={version}"]
        try:
            subprocess.run(command, check=True, timeout=600)
        except (OSError, subprocess.SubprocessError) as err:
            print(f"PTX: pip cannot install {name} {version}: {err}", file=sys.stderr)
            sys.exit(LEFT_OUT)
    return folder / path


def is_90a(source):
    return source.stem.endswith("_sm90a")


class Compiler:
    """NVRTC."""

    def __init__(self):
        self.lib = ctypes.CDLL(str(tool(NVRTC, NVRTC_LIBRARY)))

    def text(self, program, what):
        """NVRTC's log or PTX of a program."""
        size = ctypes.c_size_t()
        getattr(self.lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.lib, f"nvrtcGet{what}")(program, buffer)
        return buffer.value.decode()

    def compile(self, source):
        """The PTX of a source file."""
        options = [
            "--gpu-architecture=" + ("compute_90a" if is_90a(source) else "compute_80"),
            "--std=c++17",
            "--fmad=false",
            "--device-int128",
        ]
        name = str(source.relative_to(KERNELS))
        program = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), name.encode(), 0, None, None)
        arguments = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        failed = self.lib.nvrtcCompileProgram(program, len(options), arguments)
        log = self.text(program, "ProgramLog").strip()
        if log:
            print(log, file=sys.stderr)
        if failed:
            sys.exit(f"{source.name}: NVRTC failed")
        ptx = self.text(program, "PTX")
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        if "st.async" in ptx:  # which PTX 8.1 has, of CUDA 12.1
            ptx = ptx.replace(".version 8.0", ".version 8.1")
        return squeezed(ptx)


def squeezed(ptx):
    """PTX without what programs that have it in them need not carry, a twentieth of the archive:
    comments, white space and the constants of <nv/target>, which nothing refers to."""
    lines = (re.sub(r"\s+", " ", line.strip()).replace(", ", ",") for line in ptx.splitlines())
    return "".join(line + "\n" for line in lines if line and not line.startswith("//") and "2nv6target" not in line)


def inputs(file, found):
    """Adds a file and all that it includes."""
    if file not in found:
        found.add(file)
        for name in re.findall(r'^#include "(.*)"', file.read_text("utf-8"), re.MULTILINE):
            inputs((file.parent / name).resolve(), found)
    return found


def digest(source):
    """The hash of all that PTX is made from: SHA-256 of names and hashes, as sha256sum prints them."""
    files = {str(f.relative_to(KERNELS)): f for f in inputs(source, {pathlib.Path(__file__).resolve()})}
    lines = [f"{hashlib.sha256(files[name].read_bytes()).hexdigest()}  {name}\n" for name in sorted(files)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def entry(source):
    """The name of a source's entry in the archive."""
    return str(source.relative_to(KERNELS).with_suffix(".ptx"))


def read():
    """The archive: a dictionary of name: (text, hash)."""
    if not ARCHIVE.exists():
        return {}
    with zipfile.ZipFile(ARCHIVE) as z:
        return {e.filename: (z.read(e).decode(), e.comment.decode()) for e in z.infolist()}


def write(entries):
    """Writes the archive, with the same bytes for the same entries."""
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, (text, comment) in sorted(entries.items()):
            e = zipfile.ZipInfo(name)  # of 1980
            e.create_system = 3
            e.comment = comment.encode()
            z.writestr(e, text, zipfile.ZIP_DEFLATED, 9)


def generate(sources, named):
    old = read()
    new = {entry(s): old[entry(s)] for s in everything() if entry(s) in old}
    compiler = None
    for source in sources:
        name, made_from = entry(source), digest(source)
        if named or name not in new or new[name][1] != made_from:
            compiler = compiler or Compiler()
            new[name] = compiler.compile(source), made_from
            print(name)
    if new != old:
        write(new)


def check(sources, named):
    entries = read()
    missing = {entry(s) for s in everything()} ^ entries.keys()
    stale = sorted(missing)
    compiler = Compiler()
    for source in sources:
        name = entry(source)
        if name not in missing and not (entries[name][1] == digest(source) and same(entries[name][0], compiler.compile(source))):
            stale.append(name)
    if stale:
        sys.exit("PTX that is not what its source gives: " + " ".join(stale) + "; go generate ./internal/kernels")
    ptxas = tool(PTXAS, PTXAS_PROGRAM)
    known = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    print("registers of each kernel; + bytes spilled")
    with ThreadPoolExecutor(os.cpu_count()) as pool, tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        for source in sources:
            file.seek(0)
            file.truncate()
            file.write(entries[entry(source)][0])
            file.flush()
            report(pool, ptxas, source, file.name, known)
    print("PTX is fresh")


def same(a, b):
    """Whether two texts of PTX are the same program. NVRTC does not always place the copies
    between registers of large kernels alike, so these and the registers' names do not count."""
    return a == b or instructions(a) == instructions(b)


def instructions(ptx):
    """How many instructions of each kind, with their constants and offsets, each kernel has."""
    kernels = []
    for part in re.split(r"\n\.visible \.entry ", ptx):
        found = Counter()
        for line in part.split("\n"):
            match = re.match(r"\s*(?:@!?%p\d+\s+)?([a-z][\w.]*)\s", line)
            if match and not match[1].startswith("mov"):
                found[match[1], *re.findall(r"0[df][0-9A-Fa-f]{8,16}|\+-?\d+\]", line)] += 1
        constants = frozenset(re.findall(r"\b0[df][0-9A-Fa-f]{8,16}", part))
        kernels.append((part.split("(")[0] if kernels else "", found, constants))
    return kernels


def report(pool, ptxas, source, file, known):
    """Assembles a file's PTX for its targets and prints a table of its kernels."""
    targets = [t for t in (TARGETS_90A if is_90a(source) else TARGETS) if f"'{t}'" in known]
    table = {}  # kernel -> list of texts, one a target

    def assemble(target):
        return subprocess.run([ptxas, "-v", f"-arch={target}", "-o", "/dev/null", file],
                              capture_output=True, text=True)

    for target, run in zip(targets, pool.map(assemble, targets)):
        if run.returncode:
            sys.exit(f"{source.name} for {target}:\n{run.stdout}{run.stderr}")
        kernel, spill = "", 0
        for line in (run.stdout + run.stderr).splitlines():
            if m := re.search(r"Compiling entry function '(\w+)'", line):
                kernel, spill = m[1], 0
            elif m := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
                spill = max(int(m[1]), int(m[2]))
            elif m := re.search(r"Used (\d+) registers", line):
                table.setdefault(kernel, []).append(m[1] + (f"+{spill}" if spill else ""))
            elif "warning" in line:
                print(line)
    print(f"{entry(source):40}" + "".join(f"{t:>10}" for t in targets))
    for kernel, texts in table.items():
        print(f"  {kernel:38}" + "".join(f"{t:>10}" for t in texts))


def everything():
    return sorted(KERNELS.glob("*/*.cu"))


def main(arguments):
    verbs = {"generate": generate, "check": check}
    if not arguments or arguments[0] not in verbs:
        sys.exit(__doc__)
    names = arguments[1:]
    os.chdir(KERNELS)  # no path of this machine gets into the PTX
    verbs[arguments[0]]([KERNELS / n for n in names] or everything(), bool(names))


if __name__ == "__main__":
    main(sys.argv[1:])
