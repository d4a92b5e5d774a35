#!/usr/bin/env bash
# Everything that a change must pass; "make check" and .ci/run call it. It stops at
# the first step that fails. Steps that need something beyond Go (a network, a C
# compiler, Debian packages) say so and are left out where that is not to be had;
# in continuous integration, with CI=true and as root, missing packages are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

golangci_lint=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

step() { printf '\n=== %s [%d s]\n' "$*" "$SECONDS"; }
left_out() { printf '%s: LEFT OUT\n' "$*"; }
has_flags() {
	local flag
	for flag in "$@"; do
		grep -qw -- "$flag" /proc/cpuinfo 2>/dev/null || return 1
	done
}

step "go build ./... && go test ./..."
go version
go build ./...
go test ./...

step "gofmt"
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
	printf 'gofmt would change:\n%s\n' "$unformatted"
	exit 1
fi

step "go vet; go mod tidy"
go vet ./...
go mod tidy -diff

step "the lower levels of instruction sets"
# The conformance suite runs under all of them by itself; the engine on GPUs has none.
levels=(. $(go list ./internal/... | grep -v '/internal/gpu$') ./rns/... ./expansion/... ./ozaki/...)
HALFULP_LEVEL=portable go test -short "${levels[@]}"
if has_flags avx2 fma; then
	HALFULP_LEVEL=avx2 go test -short "${levels[@]}"
else
	left_out "HALFULP_LEVEL=avx2: this processor has no AVX2"
fi
go vet -tags purego ./...
go test -short -tags purego "${levels[@]:1}"

step "other targets: arm64, 32 bits, compilers that fuse x*y + z"
GOARCH=arm64 go vet ./...
if [ "$(go env GOHOSTARCH)" = amd64 ]; then
	GOARCH=386 go test -short ./internal/num/... ./internal/decimal/... ./internal/direct/... ./internal/sgemm/... ./rns/... ./expansion/... ./ozaki/...
else
	GOARCH=386 go vet ./...
fi
if has_flags avx2 bmi2 fma; then
	GOAMD64=v3 go test -short . ./internal/... ./conformance/... ./rns/... ./expansion/... ./ozaki/...
else
	GOARCH=amd64 GOAMD64=v3 go vet ./...
	left_out "tests with GOAMD64=v3: this processor is older"
fi

scripts/fused.sh ./expansion

step "race detector"
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
	go test -race -short ./cuda/... ./internal/par/... ./internal/exact/... ./internal/files/... ./rns/... ./ozaki/...
	go test -race -short -run 'Parts|Progress|Cancel|Several' ./internal/gpu
else
	left_out "go test -race: no C compiler"
fi

step "generated assembly"
generators=(internal/*/_asm rns/_asm expansion/_asm ozaki/_asm)
scripts/check-asm.sh "${generators[@]%/_asm}"

step "PTX: generated anew, assembled for all GPUs"
have_pip() { command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1; }
if ! have_pip && [ "${CI:-}" = true ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	if ! { apt-get update && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install --yes --no-install-recommends python3-pip; }; then
		echo "python3-pip cannot be installed"
	fi
fi
if have_pip; then
	status=0
	internal/gpu/kernels/_ptx/ptx.py check || status=$?
	case $status in
	0) ;;
	3) left_out "PTX: the compiler's Python wheels cannot be had here" ;;
	*) exit "$status" ;;
	esac
else
	left_out "PTX: no Python with pip"
fi

step "bench: the peers' libraries"
have_peers() {
	command -v g++ >/dev/null && g++ -E -x c++ - >/dev/null 2>&1 <<'HEADERS'
#include <gmp.h>
#include <mpfr.h>
#include <arb.h>
#include <qd/qd_real.h>
#include <openblas-pthread/cblas.h>
HEADERS
}
if ! have_peers && [ "${CI:-}" = true ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	DEBIAN_FRONTEND=noninteractive timeout 300 bench/setup.sh || echo "bench/setup.sh failed"
fi
if have_peers; then
	(cd bench && go vet ./... && go test -short ./...)
else
	left_out "bench: its C libraries are not here; bench/setup.sh installs them on Debian 12"
fi

step "golangci-lint"
if timeout 600 go run "$golangci_lint" version; then
	go run "$golangci_lint" run ./...
	if have_peers; then
		(cd bench && go run "$golangci_lint" run ./...)
	fi
else
	left_out "golangci-lint: it cannot be built here"
fi

step "passed"
