#!/usr/bin/env bash
# Builds a wheel of the Python package, with the C library and the program, for every Linux of this
# processor whose C library is glibc 2.17 or later. "make wheel" calls it.
#
# usage: scripts/wheel.sh [FOLDER]     (default: dist)
#
# It needs Go, and Python with pip, which installs the compiler: zig's, since it can link with old
# versions of glibc.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/dist}
mkdir -p "$out" "$root/.bin"
out=$(cd "$out" && pwd)
glibc=2.17
venv=$root/.bin/wheel
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check ziglang==0.17.1 hatchling==1.27.0
printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s-linux-gnu.%s "$@"\n' "$venv/bin/python" "$(uname -m)" "$glibc" >"$venv/bin/cc"
chmod +x "$venv/bin/cc"
CC=$venv/bin/cc HALFULP_PLATFORM=manylinux_${glibc/./_}_$(uname -m) "$venv/bin/python" -m pip wheel --quiet \
	--disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$out" "$root/bindings/python"

# The newest version of glibc that the library asks for.
newest=$(objdump -T "$root/bindings/python/build/lib/libhalfulp.so" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
if [ "$(printf '%s\n' "GLIBC_$glibc" "$newest" | sort -V | tail -1)" != "GLIBC_$glibc" ]; then
	echo "the library needs $newest, newer than $glibc" >&2
	exit 1
fi
ls -l "$out"/*.whl
