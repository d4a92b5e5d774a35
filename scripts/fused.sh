#!/usr/bin/env bash
# Compiles packages for targets whose compilers fuse x*y + z, and fails if a fused
# multiply-add comes from a line that does not ask for it by math.FMA, unless a comment
# that begins with "may fuse" stands in the line, or above it: its bits reach no result. In a file
# with a line "// may fuse throughout" that holds for all of it.
# It fails as well if such a comment stands where nothing is fused any more.
#
# usage: scripts/fused.sh [all | PACKAGE...]
#
# Without arguments it compiles all packages for arm64, whose compiler fuses every form that the one
# for GOAMD64=v3 fuses; with all, or packages, for both.
set -euo pipefail
cd "$(dirname "$0")/.."

module=$(go list -m)
# In a workspace the module reproduce takes the packages that are compiled here: alone it would
# compile halfulp once more.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOWORK=$work/go.work
go work init . ./reproduce
targets=(GOARCH=arm64)
[ $# -eq 0 ] || targets+=(GOAMD64=v3)
[ "${1:-}" != all ] || shift

# fused prints the lines (FILE:LINE) of this module that fused instructions come from.
fused() {
	env GOOS=linux GOFLAGS="${GOFLAGS:-} -trimpath" "$1" go list -export -gcflags=-S "${@:2}" 2>&1 | sed -nE "s|.*\\($module/([^()]+\\.go:[0-9]+)\\)[[:space:]]+(FN?M(ADD\|SUB)[DS]\|VFN?M(ADD\|SUB)[0-9]+S[DS])[[:space:]].*|\\1|p" | sort -u
}

# excused reports whether line $2 of file $1 may be fused.
excused() {
	grep -q '^// may fuse throughout' "$1" || sed -n "$2p" "$1" | grep -qE 'math\.FMA\(|// may fuse' ||
		sed -n "$(($2 - 1))p" "$1" | grep -qE '^\s*// may fuse'
}

packages=("$@")
[ $# -gt 0 ] || packages=(./... ./reproduce/...)
status=0
all=
for target in "${targets[@]}"; do
	[ "$target" = GOARCH=arm64 ] || export GOARCH=amd64
	lines=$(fused "$target" "${packages[@]}")
	if [ -z "$lines" ]; then
		echo "$target: no fused multiply-add found at all; has the compiler's listing changed?"
		exit 1
	fi
	all+=$lines$'\n'
	while IFS=: read -r file line; do
		if ! excused "$file" "$line"; then
			printf '%s: %s:%s is fused: %s\n' "$target" "$file" "$line" "$(sed -n "${line}p" "$file" | tr -d '\t')"
			status=1
		fi
	done <<<"$lines"
done
if [ $# -eq 0 ]; then
	while IFS=: read -r file line _; do
		if ! grep -qxE "$file:($line|$((line + 1)))" <<<"$all"; then
			echo "$file:$line: nothing is fused here"
			status=1
		fi
	done < <(grep -rn --include='*.go' '// may fuse' -- * | grep -v 'may fuse throughout' | cut -d: -f1,2)
fi
exit $status
