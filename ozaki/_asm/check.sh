#!/bin/sh
# Regenerates the assembly into a temporary directory and compares it with what is
# committed. Exits 1 if they differ.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# The generated files name the command that wrote them, so it must run as in go generate:
# from a copy of this directory inside a copy of its parent.
mkdir "$tmp/_asm"
cp go.mod go.sum ./*.go "$tmp/_asm"
cp ../slice_amd64.go "$tmp"
(cd "$tmp" && go generate slice_amd64.go)
status=0
for f in slice_amd64.s stubs_amd64.go; do
	cmp "$tmp/$f" "../$f" || status=1
done
[ $status = 0 ] && echo "ozaki: generated files are fresh"
exit $status
