#!/usr/bin/env bash
# Compiles packages for targets whose compilers fuse x*y + z, and fails if a fused
# multiply-add comes from a line that does not ask for it by math.FMA.
#
# usage: scripts/fused.sh PACKAGE...
set -euo pipefail

# fused prints the lines (FILE:LINE) that fused instructions come from.
fused() {
	env GOOS=linux "$1" go build -gcflags=-S "${@:2}" 2>&1 |
		sed -nE 's/.*\(([^()]+\.go:[0-9]+)\)[[:space:]]+(FN?M(ADD|SUB)D|VFN?M(ADD|SUB)[0-9]+SD)[[:space:]].*/\1/p' | sort -u
}

status=0
for target in GOARCH=arm64 GOAMD64=v3; do
	[ "$target" = GOARCH=arm64 ] || export GOARCH=amd64
	lines=$(fused "$target" "$@")
	if [ -z "$lines" ]; then
		echo "$target: no fused multiply-add found at all; has the compiler's listing changed?"
		exit 1
	fi
	while IFS=: read -r file line; do
		if ! sed -n "${line}p" "$file" | grep -q 'math\.FMA('; then
			printf '%s: %s:%s is fused: %s\n' "$target" "$file" "$line" "$(sed -n "${line}p" "$file" | tr -d '\t')"
			status=1
		fi
	done <<<"$lines"
done
exit $status
