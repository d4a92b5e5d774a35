#!/usr/bin/env python3
"""Compiles the CUDA sources of this folder's parent to PTX, and checks what is committed.

    ptx.py generate [FILE.cu ...]   write FILE.ptx beside each FILE.cu
    ptx.py check [FILE.cu ...]      compare, assemble for all targets, print registers and spills

The compiler is NVRTC of an old release, so that old drivers accept the PTX; the assembler is
ptxas of a new one, which knows the newest GPUs. Both come from Python wheels, which pip puts
into the folder .ptx of the repository. Exit status 3: they cannot be had here.

FILE_sm90a.cu is compiled for and assembled for sm_90a alone; any other file for sm_80, and
assembled for all targets. Floating-point products and sums are not fused.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
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
TOOLS = KERNELS.parents[2] / ".ptx"


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
            "--include-path=.",
        ]
        program = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
        arguments = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        failed = self.lib.nvrtcCompileProgram(program, len(options), arguments)
        log = self.text(program, "ProgramLog").strip()
        if log:
            print(log, file=sys.stderr)
        if failed:
            sys.exit(f"{source.name}: NVRTC failed")
        ptx = self.text(program, "PTX")
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return ptx


def generate(sources):
    compiler = Compiler()
    for source in sources:
        target = source.with_suffix(".ptx")
        target.write_text(compiler.compile(source))
        print(target.name)


def check(sources):
    stale = [p.name for p in KERNELS.glob("*.ptx") if not p.with_suffix(".cu").exists()]
    compiler = Compiler()
    for source in sources:
        committed = source.with_suffix(".ptx")
        if not committed.exists() or not same(committed.read_text(), compiler.compile(source)):
            stale.append(committed.name)
    if stale:
        sys.exit("PTX that is not what its source gives: " + " ".join(stale) + "; go generate ./internal/gpu/kernels")
    ptxas = tool(PTXAS, PTXAS_PROGRAM)
    known = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    print("registers of each kernel; + bytes spilled")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for source in sources:
            report(pool, ptxas, source, known)
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


def report(pool, ptxas, source, known):
    """Assembles a file's PTX for its targets and prints a table of its kernels."""
    targets = [t for t in (TARGETS_90A if is_90a(source) else TARGETS) if f"'{t}'" in known]
    table = {}  # kernel -> list of texts, one a target

    def assemble(target):
        return subprocess.run([ptxas, "-v", f"-arch={target}", "-o", "/dev/null", source.with_suffix(".ptx")],
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
    print(f"{source.name:40}" + "".join(f"{t:>10}" for t in targets))
    for kernel, texts in table.items():
        print(f"  {kernel:38}" + "".join(f"{t:>10}" for t in texts))


def main(arguments):
    verbs = {"generate": generate, "check": check}
    if not arguments or arguments[0] not in verbs:
        sys.exit(__doc__)
    names = arguments[1:]
    os.chdir(KERNELS)  # no path of this machine gets into the PTX
    verbs[arguments[0]]([KERNELS / n for n in names] if names else sorted(KERNELS.glob("*.cu")))


if __name__ == "__main__":
    main(sys.argv[1:])
