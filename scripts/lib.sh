#!/usr/bin/env bash
# Builds the C library, the drop-in BLAS and its program for processes that fork into FOLDER/lib,
# the header into FOLDER/include, and the licences of all that they contain into FOLDER/share.
# "make lib" calls it.
#
# usage: scripts/lib.sh [FOLDER]     (default: dist)
#
# It needs Go and a C compiler. What is built again with the same sources is the same.
set -euo pipefail
export GOWORK=off # what is built depends on this module alone
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/dist}
mkdir -p "$out/lib/pkgconfig" "$out/include" "$out/share/doc/halfulp"
out=$(cd "$out" && pwd)
cd "$root/bindings/c"
flags="-Wl,--version-script=$PWD/exports.map -Wl,-z,nodelete -Wl,-soname,libhalfulp.so -Wl,--strip-all"
CGO_ENABLED=1 go build -buildmode=c-shared -trimpath -ldflags "-s -w -buildid= -B none -extldflags \"$flags\"" -o "$out/lib/libhalfulp.so" .
rm -f "$out/lib/libhalfulp.h" # Go's, which is not for programs
cp halfulp.h "$out/include/"
cp halfulp.pc "$out/lib/pkgconfig/"

# The licences are the program's, which contains all modules that the library contains.
licenses=$root/cmd/halfulp/licenses.txt
cp "$root/LICENSE" "$licenses" "$out/share/doc/halfulp/"
go list -deps -f '{{with .Module}}{{if and .Version (not .Replace)}}======== {{.Path}} {{.Version}}{{end}}{{end}}' . | grep . | sort -u |
	while read -r title; do
		grep -qxF "$title" "$licenses" || { echo "lib.sh: $licenses lacks $title" >&2; exit 1; }
	done

# The drop-in BLAS, for integers of 32 and of 64 bits: C without Go. It has no SONAME: of a link
# libblas.so.3 to a library with another one, ldconfig would make a link by that name beside.
cd "$root/bindings/blas"
generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT
(cd "$root" && go run ./bindings/blas/generate) >"$generated/routines.inc"
build=0x$(cat shim.c fork.c fork.h "$root/bindings/c/mode.h" "$generated/routines.inc" | sha256sum | cut -c 1-16)
compile() { ${CC:-gcc} -std=gnu11 -O2 -g0 -Wall -Wextra -Werror -ffp-contract=off -s "$@"; }
for bits in "" 64; do
	compile -fPIC -fvisibility=hidden -shared ${bits:+-DILP64} "-DBUILD=$build" -I"$generated" -I"$out/include" -I"$root/bindings/c" shim.c fork.c \
		-o "$out/lib/libhalfulpblas$bits.so" -Wl,-z,nodelete -Wl,-z,defs -Wl,-z,now -ldl -lm -lpthread
done
compile helper.c -o "$out/lib/halfulpblas-helper" -ldl
