"""Builds the C library and the program, and puts them into the wheel. It needs Go and a C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg, misc]
    """The build hook of hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds both and names the platform of the wheel.

        HALFULP_PLATFORM replaces the name of this machine's platform, for example by
        manylinux_2_28_x86_64 if the C library of the compiler (in CC) is old enough.
        """
        here = Path(self.root)
        checkout = here.parent.parent
        built = here / "build"
        if shutil.which("go") is None:
            raise SystemExit("halfulp is built by Go: install Go 1.26.8 or later, and a C compiler, or install a wheel")
        if not (checkout / "scripts" / "lib.sh").is_file():
            raise SystemExit(f"halfulp is built in a clone of its repository, which {checkout} is not")
        if "musl" in f"{sysconfig.get_config_var('HOST_GNU_TYPE')} {sysconfig.get_config_var('SOABI')}":
            raise SystemExit("this Python runs on musl, which cannot load libraries of Go: use a Python of a Linux with glibc")
        subprocess.run([checkout / "scripts" / "lib.sh", built], check=True)
        # Identifiers of the build and debugging data of the C library are left out: they differ
        # between folders. The C linker writes the versions of glibc's functions that the program
        # needs. Go's own linker leaves their section empty, which auditwheel cannot read.
        program = built / "bin" / "halfulp"
        subprocess.run(
            ["go", "build", "-trimpath", "-ldflags=-s -w -buildid= -B none -extldflags=-Wl,--strip-all", "-o", program, "./cmd/halfulp"],
            cwd=checkout,
            env={**os.environ, "CGO_ENABLED": "1"},
            check=True,
        )
        platform = os.environ.get("HALFULP_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False
        if version == "editable":
            shutil.copy(built / "lib" / "libhalfulp.so", here / "src" / "halfulp")
        else:
            build_data["force_include"][str(built / "lib" / "libhalfulp.so")] = "halfulp/libhalfulp.so"
        for name in ("LICENSE", "licenses.txt"):
            build_data["force_include"][str(built / "share" / "doc" / "halfulp" / name)] = f"halfulp/{name}"
        build_data["shared_scripts"][str(program)] = "halfulp"
