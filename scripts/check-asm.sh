#!/bin/sh
# Generates the assembly of packages, folders of this repository, anew and compares it with what
# is committed. Exits 1 if it differs.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/internal" # where the go.mod of generators look for it
cp -r internal/_neon "$tmp/internal"
(cd "$tmp/internal/_neon" && go test .)
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
	if [ $fresh = 1 ]; then
		echo "$package: generated files are fresh"
	else
		status=1
	fi
done
exit $status
