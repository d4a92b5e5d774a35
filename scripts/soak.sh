#!/usr/bin/env bash
# Runs the long tests again and again with fresh seeds, in another order of packages each time, and
# prints the command that repeats a failure.
#
# usage: scripts/soak.sh [TIME [PACKAGE...]]
#
# TIME is a number with s, m or h, 30m without; without packages all are tested. The round under way
# when the time is up is broken off. The exit status is 1 after a failure, 2 for a wrong TIME.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-30m}
if ! [[ $time =~ ^([0-9]+)([smh])$ ]]; then
	echo "soak.sh: $time is no time: want a number with s, m or h" >&2
	exit 2
fi
declare -A seconds=([s]=1 [m]=60 [h]=3600)
end=$((SECONDS + 10#${BASH_REMATCH[1]} * ${seconds[${BASH_REMATCH[2]}]}))
mapfile -t packages < <(go list "${@:2}" $([ $# -gt 1 ] || echo ./...))

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export HALFULP_SEED HALFULP_TEST=long
for ((round = 1; SECONDS < end; round++)); do
	HALFULP_SEED=$(od -An -N8 -tu8 /dev/urandom | tr -d ' ')
	mapfile -t packages < <(shuf -e "${packages[@]}")
	printf '=== round %d, HALFULP_SEED=%s\n' "$round" "$HALFULP_SEED"
	status=0
	timeout $((end - SECONDS)) go test -count=1 -timeout 0 -vet=off "${packages[@]}" 2>&1 | tee "$log" || status=$?
	if [ "$status" -ne 0 ] && { [ "$status" -ne 124 ] || grep -q '^\(--- \)\?FAIL' "$log"; }; then
		printf '\nTo repeat a failure: HALFULP_SEED=%s HALFULP_TEST=long go test -run TEST PACKAGE\n' "$HALFULP_SEED"
		exit 1
	fi
done
