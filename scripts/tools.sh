#!/usr/bin/env bash
# Builds the linters of the gate into .bin/tools: deadcode, and golangci-lint with only those
# linters that .golangci.yml enables, since it takes long to compile its other hundred. It does
# nothing if both are there already.
#
# usage: scripts/tools.sh
set -euo pipefail
cd "$(dirname "$0")/.."

golangci_lint=github.com/golangci/golangci-lint/v2 version=v2.15.0
deadcode=golang.org/x/tools/cmd/deadcode@v0.52.0
tools=$PWD/.bin/tools
mkdir -p "$tools"

# The linters that are on without being named, and those of the list "enable". An unknown name in
# .golangci.yml fails when golangci-lint reads that file.
linters="errcheck govet ineffassign staticcheck unused gofmt $(sed -n '/^  enable:$/,/^  [a-z]*:$/s/^    - //p' .golangci.yml | tr '\n' ' ')"

stamp="$(go version) $deadcode $version $linters"
[ "$(cat "$tools/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
rm -f "$tools/stamp"
GOBIN=$tools go install "$deadcode"

# few builds golangci-lint without the entries of other linters in its list.
few() {
	local source list=pkg/lint/lintersdb/builder_linter.go
	source=$(go mod download -json "$golangci_lint@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	cp -r "$source/." "$folder" && chmod -R u+w "$folder" && cd "$folder" || return
	awk -v linters="$linters" '
		BEGIN { split(linters, names, " "); for (i in names) wanted[names[i]] = 1 }
		function name(start) { return match($0, start "[a-z0-9]+") ? substr($0, RSTART + length(start), RLENGTH - length(start)) : "" }
		/pkg\/golinters"/ { next }
		/pkg\/golinters\// && !(name("golinters/") in wanted) { next }
		/^\t\tlinter.NewConfig\(/ { left_out = !(name("NewConfig.") in wanted) }
		/^\t}, nil/ { left_out = 0 }
		{ sub(/placeholderReplacer := /, "_ = ") }
		!left_out' "$source/$list" >"$list"
	GOWORK=off go build -o "$tools/golangci-lint" ./cmd/golangci-lint
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(few) || GOBIN=$tools go install "$golangci_lint/cmd/golangci-lint@$version" # as it comes
printf '%s' "$stamp" >"$tools/stamp"
