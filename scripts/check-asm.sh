#!/bin/sh
# Generates the assembly of packages, folders of this repository, anew and compares it with what
# is committed. Exits 1 if it differs.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/internal" # where the go.mod of generators look for it
cp -r internal/_neon internal/_compact internal/amx "$tmp/internal"
cp go.mod "$tmp" # of internal/amx
(cd "$tmp/internal/_neon" && go test .)
(cd "$tmp/internal/_compact" && go test .)
status=0
for package in "$@"; do
	# The generated files name the command that wrote them, so it must run as in go generate:
	# from _asm in a copy of the package. Some generators read the package's Go.
	copy="$tmp/$package"
	mkdir -p "$copy/_asm"
	cp "$package"/_asm/go.mod "$package"/_asm/go.sum "$package"/_asm/*.go "$copy/_asm"
	cp "$package"/*.go "$copy"
	rm -f "$copy"/stubs_*.go
	(cd "$copy" && go generate $(grep -l '^//go:generate go -C _asm' ./*.go))
	fresh=1
	for f in "$package"/*_amd64.s "$package"/*_arm64.s "$package"/stubs_*.go; do
		[ -e "$f" ] || continue # an architecture without assembly
		cmp "$copy/$(basename "$f")" "$f" || fresh=0
	done
	tiles=$package/amx_amd64.s
	if [ -e "$tiles" ] && command -v objdump >/dev/null && [ "$(go env GOARCH)" = amd64 ]; then
		# The assembler sees tile instructions as bytes: do they mean what their comments say?
		go test -c -o "$tmp/test" "./$package"
		objdump -d -M intel --no-show-raw-insn "$tmp/test" | sed -E 's/^ *[0-9a-f]+:[[:space:]]*//' | grep -E '^(ld)?tile|^tdpb' | sed 's| ||g; s|riz\*1+||' >"$tmp/meant"
		grep -oE '// (LDTILE|TILE|TDPB).*' "$tiles" | cut -c4- | tr 'A-Z' 'a-z' | tr -d ' ' | diff - "$tmp/meant" || fresh=0
	fi
	if [ $fresh = 1 ]; then
		echo "$package: generated files are fresh"
	else
		status=1
	fi
done
exit $status
