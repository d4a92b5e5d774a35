#!/usr/bin/env bash
# Builds the C library into FOLDER/lib and its header into FOLDER/include; "make lib" calls it.
#
# usage: scripts/lib.sh [FOLDER]     (default: dist)
#
# It needs Go and a C compiler. What is built again with the same sources is the same.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/dist}
mkdir -p "$out/lib/pkgconfig" "$out/include"
out=$(cd "$out" && pwd)
cd "$root/bindings/c"
flags="-Wl,--version-script=$PWD/exports.map -Wl,-z,nodelete -Wl,-soname,libhalfulp.so"
CGO_ENABLED=1 go build -buildmode=c-shared -trimpath -ldflags "-s -w -extldflags \"$flags\"" -o "$out/lib/libhalfulp.so" .
rm -f "$out/lib/libhalfulp.h" # Go's, which is not for programs
cp halfulp.h "$out/include/"
cp halfulp.pc "$out/lib/pkgconfig/"
