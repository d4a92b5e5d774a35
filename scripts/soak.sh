#!/usr/bin/env bash
# What no gate can afford: "make soak", by hand, before a release. It takes hours on two processors.
# First each of these runs once: the long tests; short tests of all packages at every level
# of instruction sets, on 32 bits, with GOAMD64=v3, without assembly, on arm64 in an emulator, under
# the race detector; all GPU kernels, compiled for the host; fused instructions of all targets; all
# generators. Then the long tests run again and again with fresh seeds, in another order of
# packages each time. A failure ends the script, which prints the command that repeats a round.
#
# usage: scripts/soak.sh [TIME [PACKAGE...]]
#
# TIME is how long the rounds with fresh seeds take, a number with s, m or h, 30m without; the round
# under way when the time is up is broken off. With packages only the rounds run, on these packages.
# The exit status is 1 after a failure, 2 for a wrong TIME.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-30m}
if ! [[ $time =~ ^([0-9]+)([smh])$ ]]; then
	echo "soak.sh: $time is no time: want a number with s, m or h" >&2
	exit 2
fi
declare -A unit=([s]=1 [m]=60 [h]=3600)
length=$((10#${BASH_REMATCH[1]} * ${unit[${BASH_REMATCH[2]}]}))
export HALFULP_TEST=long GOGC=${GOGC:-400}
gotest() { go test -timeout 0 -vet=off "$@"; }
part() { printf '\n=== %s [%d s]\n' "$*" "$SECONDS"; }

# once runs the checks that need no fresh seeds.
once() {
	local level package
	part "long tests"
	gotest ./...
	(cd reproduce && gotest ./...)
	if command -v g++ >/dev/null && [ "$(go env GOOS) $(go env GOARCH)" = "linux amd64" ]; then
		part "all GPU kernels, compiled for the host"
		HALFULP_EMULATE=all gotest -short ./internal/gpu/...
	fi
	for level in portable avx2 avx512 neon; do
		HALFULP_LEVEL=$level gotest ./internal/isa >/dev/null 2>&1 || continue # this processor has others
		part "short tests, HALFULP_LEVEL=$level"
		HALFULP_LEVEL=$level gotest -short ./...
	done
	part "short tests, without assembly"
	gotest -short -tags purego ./...
	if [ "$(go env GOHOSTARCH)" = amd64 ]; then
		part "short tests on 32 bits"
		GOARCH=386 gotest -short ./...
		if grep -qw bmi2 /proc/cpuinfo; then
			part "short tests, GOAMD64=v3"
			GOAMD64=v3 gotest -short ./...
		fi
	fi
	part "fused instructions of all targets"
	scripts/fused.sh all
	part "short tests on arm64"
	scripts/arm64.sh all || [ $? = 3 ]
	part "short tests under the race detector"
	CGO_ENABLED=1 gotest -race -short ./...
	(cd reproduce && CGO_ENABLED=1 gotest -race -short ./...)
	part "all generators"
	scripts/generated.sh all
}

[ $# -gt 1 ] || once
mapfile -t packages < <(go list "${@:2}" $([ $# -gt 1 ] || echo ./...))
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export HALFULP_SEED
end=$((SECONDS + length))
for ((round = 1; SECONDS < end; round++)); do
	HALFULP_SEED=$(od -An -N8 -tu8 /dev/urandom | tr -d ' ')
	mapfile -t packages < <(shuf -e "${packages[@]}")
	part "round $round, HALFULP_SEED=$HALFULP_SEED"
	status=0
	timeout $((end - SECONDS)) go test -count=1 -timeout 0 -vet=off "${packages[@]}" 2>&1 | tee "$log" || status=$?
	if [ "$status" -ne 0 ] && { [ "$status" -ne 124 ] || grep -q '^\(--- \)\?FAIL' "$log"; }; then
		printf '\nTo repeat a failure: HALFULP_SEED=%s HALFULP_TEST=long go test -run TEST PACKAGE\n' "$HALFULP_SEED"
		exit 1
	fi
done
